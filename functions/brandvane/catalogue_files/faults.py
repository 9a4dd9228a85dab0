"""What is wrong in a catalogue's files, where, and what to do about it?

Faults are gathered, never raised: whoever writes a catalogue sees all of them at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

SHOWN_MAX = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. ``row`` is the line of the file, from 1 (None: the file as a whole); ``field`` and ``value`` as written there."""

    file: str
    message: str
    remedy: str
    row: int | None = None
    field: str = ""
    value: str = ""

    def to_json(self) -> dict[str, Any]:
        """All parts by name."""
        return asdict(self)

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        subject = " ".join(part for part in (self.field, f"'{self.value}'" if self.value else "") if part)
        return f"{place}: {subject + ': ' if subject else ''}{self.message}. {self.remedy}."


class Findings:
    """Gathers faults (nothing may be imported) and warnings (it may, but look)."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._warnings: list[Fault] = []
        self._unreadable: set[str] = set()

    def unreadable(self, file: str) -> None:
        """The file's content is not known (fully): what refers to it cannot be judged."""
        self._unreadable.add(file)

    def readable(self, *files: str) -> bool:
        """Is the content of all these files known?"""
        return self._unreadable.isdisjoint(files)

    def fault(
        self, file: str, message: str, remedy: str, *, row: int | None = None, field: str = "", value: object = ""
    ) -> None:
        """Something that must be changed."""
        self._faults.append(Fault(file, message, remedy, row, field, shown(value)))

    def warn(
        self, file: str, message: str, remedy: str, *, row: int | None = None, field: str = "", value: object = ""
    ) -> None:
        """Something that may not be what was meant."""
        self._warnings.append(Fault(file, message, remedy, row, field, shown(value)))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """By file and row; faults of whole files first."""
        return _sorted(self._faults)

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """By file and row."""
        return _sorted(self._warnings)

    def __len__(self) -> int:
        return len(self._faults)


def _sorted(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(dict.fromkeys(faults), key=lambda f: (f.file, f.row or 0)))


def shown(value: object) -> str:
    """A value as it is shown to people: on one line, control characters escaped, cut at 60 characters."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """``Did you mean 'x'`` when one of ``names`` is close, else ``otherwise``."""
    close = difflib.get_close_matches(name.casefold(), list(names), n=1, cutoff=0.7)
    return f"Did you mean '{close[0]}'" if close else otherwise
