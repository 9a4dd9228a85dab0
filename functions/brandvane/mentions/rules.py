"""What does a catalogue say about how a brand's names are to be matched? ``Brand.rules`` read, with every fault at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.mentions.folding import fold_term

KEYS = ("case_sensitive", "exclude_phrases", "require_context", "exclude_context", "exclude_aliases")
ENTRIES_MAX = 200
LENGTH_MAX = 100


@dataclass(frozen=True, slots=True)
class RuleFault:
    """What is wrong with a rule: its key, the value, what the problem is and what to do."""

    key: str
    value: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class BrandRules:
    """The rules of one brand, folded. Names are folded aliases; the name "" stands for all of them.

    ``case_sensitive``: names that count only as the catalogue spells them. ``exclude_phrases``: phrases around a name in which
    it is none. ``require_context``: name -> words of which one must stand nearer than any of ``exclude_context``.
    ``exclude_aliases``: names that are not looked for. None of them is about letter case but the first.
    """

    case_sensitive: frozenset[str] = frozenset()
    case_free: bool = False  # "case_sensitive: false": lower case counts even for an everyday word
    exclude_phrases: tuple[str, ...] = ()
    require_context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude_context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude_aliases: frozenset[str] = frozenset()

    def minds_case(self, name: str) -> bool:
        """Does a name count only as the catalogue spells it?"""
        return name in self.case_sensitive or "" in self.case_sensitive

    def required(self, name: str) -> tuple[str, ...]:
        """Words of context that speak for a name."""
        return (*self.require_context.get("", ()), *self.require_context.get(name, ()))

    def excluded(self, name: str) -> tuple[str, ...]:
        """Words of context that speak against a name."""
        return (*self.exclude_context.get("", ()), *self.exclude_context.get(name, ()))


def read_rules(raw: Mapping[str, Any], terms: Iterable[str]) -> tuple[BrandRules, list[RuleFault]]:
    """The rules of a brand with these names, and everything that is wrong with them; what is wrong is left out."""
    reader = _Reader(tuple(dict.fromkeys(fold_term(term) for term in terms)))
    for key in raw:
        if key not in KEYS:
            reader.fault(str(key), "", "not a rule", f"There are {', '.join(KEYS)}")
    case = raw.get("case_sensitive")
    rules = BrandRules(
        case_sensitive=reader.case(case),
        case_free=_flag(case) is False,
        exclude_phrases=reader.phrases(raw.get("exclude_phrases")),
        require_context=reader.context("require_context", raw.get("require_context")),
        exclude_context=reader.context("exclude_context", raw.get("exclude_context")),
        exclude_aliases=frozenset(reader.names("exclude_aliases", raw.get("exclude_aliases"))),
    )
    if rules.exclude_aliases >= set(reader.known) and reader.known:
        reader.fault("exclude_aliases", "", "nothing is left to look for", "Keep at least one name or alias")
    return rules, reader.faults


def _flag(value: object) -> bool | None:
    """True, False, or None for what is neither; catalogues hold them as texts too."""
    if isinstance(value, bool):
        return value
    return {"true": True, "yes": True, "false": False, "no": False}.get(str(value).lower())


class _Reader:
    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known
        self.faults: list[RuleFault] = []

    def fault(self, key: str, value: object, message: str, remedy: str) -> None:
        self.faults.append(RuleFault(key, str(value), message, remedy))

    def case(self, value: object) -> frozenset[str]:
        flag = _flag(value)
        if value is None or flag is False:
            return frozenset()
        if flag:
            return frozenset([""])
        if isinstance(value, list | tuple):
            return frozenset(self.names("case_sensitive", value))
        self.fault("case_sensitive", value, "neither true or false nor a list", "Write true, or the names it holds for")
        return frozenset()

    def names(self, key: str, value: object) -> list[str]:
        good = []
        for text in self._texts(key, value):
            if fold_term(text) in self.known:
                good.append(fold_term(text))
            else:
                self.fault(key, text, "not a name or alias of this brand", "Write it as in name or aliases")
        return good

    def phrases(self, value: object) -> tuple[str, ...]:
        good = []
        for text in self._texts("exclude_phrases", value):
            folded = fold_term(text)
            inside = [name for name in self.known if name in folded]
            if not inside:
                remedy = "Write a phrase that holds one, or use exclude_context"
                self.fault("exclude_phrases", text, "holds none of the brand's names", remedy)
            elif folded in self.known:
                self.fault("exclude_phrases", text, "is itself a name of the brand", "Use exclude_aliases for it")
            else:
                good.append(folded)
        return tuple(dict.fromkeys(good))

    def context(self, key: str, value: object) -> dict[str, tuple[str, ...]]:
        if isinstance(value, Mapping):
            found = {}
            for name, words in value.items():
                if fold_term(str(name)) not in self.known:
                    self.fault(key, name, "not a name or alias of this brand", "Write it as in name or aliases")
                    continue
                found[fold_term(str(name))] = self._words(key, words)
            return {name: words for name, words in found.items() if words}
        words = self._words(key, value)
        return {"": words} if words else {}

    def _words(self, key: str, value: object) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fold_term(text) for text in self._texts(key, value)))

    def _texts(self, key: str, value: object) -> list[str]:
        if value is None or value == "":
            return []
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list | tuple):
            self.fault(key, value, "not a list", "Write [one, two]")
            return []
        good = []
        for text in value[:ENTRIES_MAX]:
            if not isinstance(text, str | int | float) or not fold_term(str(text)):
                self.fault(key, text, "an entry that is empty or no text", "Remove it, or write a word or phrase")
            elif len(str(text)) > LENGTH_MAX:
                self.fault(key, text, f"longer than {LENGTH_MAX} characters", "Shorten it")
            else:
                good.append(str(text))
        if len(value) > ENTRIES_MAX:
            self.fault(key, "", f"more than {ENTRIES_MAX} entries", "Keep those that matter")
        return good
