"""What does one answer say? Its mentions, corrected; its sources; and what it counts as for each brand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from brandvane.answer import Answer
from brandvane.catalogue import Brand, Catalogue
from brandvane.engine.answers import ReadRow
from brandvane.mentions.citations import NOTHING_CITED, SourceReader, Sources
from brandvane.mentions.corrections import Corrected, Correction, corrected
from brandvane.mentions.matcher import Matcher, matcher_for
from brandvane.mentions.mention import Reading
from brandvane.mentions.roles import Role, Roles, Slice
from brandvane.result import ResultRow

_NOTHING = Corrected(Reading())


@dataclass(frozen=True, slots=True)
class Said:
    """What is known of one row. ``fault`` says why its answer cannot be read; then ``found`` and ``sources`` are empty."""

    roles: Mapping[str, Role]
    about: Slice
    found: Corrected = _NOTHING
    sources: Sources = NOTHING_CITED
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """What a run's answers are read with. ``corrections``: task id -> those that stand."""

    matcher: Matcher
    roles: Roles
    sources: SourceReader
    corrections: Mapping[str, tuple[Correction, ...]] = field(default_factory=dict)
    _named: dict[str, frozenset[str]] = field(default_factory=dict)  # prompt -> brands that it names

    @classmethod
    def of(
        cls,
        catalogue: Catalogue,
        make: Callable[[Iterable[Brand]], Matcher] = matcher_for,
        corrections: Mapping[str, tuple[Correction, ...]] | None = None,
    ) -> Reader:
        """The reader of one catalogue."""
        return cls(make(catalogue.brands), Roles(catalogue), SourceReader(catalogue.brands), corrections or {})

    def read(self, read: ReadRow) -> Said:
        """Read a row's answer. Never raises for what it holds: what stumbles over it makes a fault of this row alone."""
        row = read.row
        named = self._names(self.roles.text(row.prompt_hash))
        roles = self.roles.named(self.roles.of(row.prompt_hash, row.question_ids), named)
        about = self.roles.slice(row.question_ids)
        if read.answer is None:
            return Said(roles, about, fault=read.fault)
        try:
            found = self.read_answer(row, read.answer)
        except Exception as error:  # an answer that a matcher stumbles over is recorded; the bucket goes on
            return Said(roles, about, fault=f"{type(error).__name__} in matcher {self.matcher.version}")
        try:
            sources = self.sources.read(read.answer.citations)
        except Exception as error:  # as above: platforms send whatever they like as an address
            return Said(roles, about, fault=f"{type(error).__name__} in the answer's citations")
        return Said(roles, about, found, sources)

    def read_answer(self, row: ResultRow, answer: Answer) -> Corrected:
        """The mentions of an answer, corrected."""
        prompt = self.roles.text(row.prompt_hash)
        reading = self.matcher.read(answer.text, prompt=prompt, platform=row.platform)
        those = self.corrections.get(row.task_id, ())
        return corrected(reading, answer.text, those) if those else Corrected(reading)

    def _names(self, prompt: str) -> frozenset[str]:
        """Brands that a prompt names: an answer repeats them whether it thinks of them or not.

        A doubtful name counts as named. A question is short, so little around "小米好还是华为好？" can decide; taken for a word, the
        question's own name would be counted as visibility.
        """
        known = self._named.get(prompt)
        if known is None:
            try:
                mentions = self.matcher.read(prompt).mentions
            except Exception:  # as for an answer; the prompt then counts as naming nobody
                mentions = ()
            known = self._named[prompt] = frozenset(m.brand for m in mentions)
        return known
