"""What does an answer count as, for each brand? Unbranded visibility, branded, or only "also mentioned" (DESIGN §9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from brandvane.catalogue import BRAND_SLOT, Catalogue, Question
from brandvane.task import prompt_hash_of


class Role(StrEnum):
    """Under which heading an answer is counted for a brand."""

    UNBRANDED = "unbranded"  # a question the brand tracks and that does not name it
    BRANDED = "branded"  # a question asked with the brand's name in it: always apart
    ALSO = "also"  # a question the brand does not track: shown, in no rate


@dataclass(frozen=True, slots=True)
class Slice:
    """What a prompt is about: the language it is asked in and its topics, sorted. Counts are kept apart by it."""

    language: str = ""
    topics: tuple[str, ...] = ()


class Roles:
    """The roles of every prompt of one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._tracking: dict[str, tuple[str, ...]] = {}
        self._asked_for: dict[tuple[str, str], list[str]] = {}
        self._texts: dict[str, str] = {}
        # Questions share few distinct sets of brands, which can be long.
        self._known: dict[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]], Mapping[str, Role]] = {}
        self._slices = {q.id: Slice(language_of(q), tuple(sorted(set(q.topics)))) for q in catalogue.questions}
        names = {brand.id: brand.name for brand in catalogue.brands}
        for question in catalogue.questions:
            if not question.branded:
                self._tracking[question.id] = question.brands
                self._texts[prompt_hash_of(question.text.strip())] = question.text.strip()
                continue
            for brand in question.brands:
                text = question.text.replace(BRAND_SLOT, names[brand]).strip()
                prompt = prompt_hash_of(text)
                self._asked_for.setdefault((question.id, prompt), []).append(brand)
                self._texts[prompt] = text

    def of(self, prompt_hash: str, question_ids: tuple[str, ...]) -> Mapping[str, Role]:
        """Brand id -> role, for the brands that one of these questions was asked for; all others are ``ALSO``.

        One prompt may stand for several questions; where it is branded for a brand, it is nothing else for that brand.
        """
        tracking = tuple(dict.fromkeys(self._tracking.get(question, ()) for question in question_ids))
        asked = tuple(b for question in question_ids for b in self._asked_for.get((question, prompt_hash), ()))
        roles = self._known.get((tracking, asked))
        if roles is None:
            tracked = {brand: Role.UNBRANDED for brands in tracking for brand in brands}
            roles = self._known[tracking, asked] = {**tracked, **dict.fromkeys(asked, Role.BRANDED)}
        return roles

    def named(self, roles: Mapping[str, Role], brands: Iterable[str]) -> Mapping[str, Role]:
        """``roles`` of a prompt that names ``brands`` in plain words: it is branded for those of them that track it."""
        found = {brand: Role.BRANDED for brand in brands if roles.get(brand) is Role.UNBRANDED}
        return {**roles, **found} if found else roles

    def slice(self, question_ids: tuple[str, ...]) -> Slice:
        """Language (of the first question) and topics (of all) of the prompt that stands for these questions."""
        slices = [self._slices[question] for question in question_ids if question in self._slices]
        if len(slices) < 2:
            return slices[0] if slices else Slice()
        return Slice(slices[0].language, tuple(sorted({topic for each in slices for topic in each.topics})))

    def text(self, prompt_hash: str) -> str:
        """The prompt's text; empty where the catalogue does not know it."""
        return self._texts.get(prompt_hash, "")


def language_of(question: Question) -> str:
    """The question's language as the catalogue states it, in lower case; ``zh`` for an unstated one with Chinese characters."""
    stated = question.language.strip().lower()
    return stated or ("zh" if any("\u4e00" <= character <= "\u9fff" for character in question.text) else "")
