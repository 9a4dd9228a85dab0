"""What does a check say? OK, WARN or FAIL, one sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from brandvane.cli.errors import CliError, explain
from brandvane.cli.view import GAP, table

REMEDY_INDENT = 6
LEAST_TEXT = 20  # cells for a sentence, however narrow the screen is


class Verdict(StrEnum):
    """How it stands."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """``name`` is for scripts; ``remedy`` is empty when nothing is to be done."""

    name: str
    verdict: Verdict
    says: str
    remedy: str = ""


def ok(name: str, says: str) -> Check:
    """All is well."""
    return Check(name, Verdict.OK, says)


def warn(name: str, says: str, remedy: str) -> Check:
    """Somebody should look at it."""
    return Check(name, Verdict.WARN, says, remedy)


def fail(name: str, says: str, remedy: str) -> Check:
    """It will not work like this."""
    return Check(name, Verdict.FAIL, says, remedy)


Looks = Sequence[tuple[str, Callable[[], Iterable[Check]]]]


def carried_out(looks: Looks) -> Iterator[Check]:
    """Every check in turn; one that cannot look is a warning, and the others go on."""
    for name, look in looks:
        try:
            yield from look()
        except Exception as error:
            explained = error if isinstance(error, CliError) else explain(error)
            if explained is None:
                raise
            yield warn(name, f"could not be looked at: {explained.message}", "use credentials that may read it")


def check_lines(checks: Sequence[Check], width: int | None = None) -> list[str]:
    """For people: a line a check, what to do below it, the sum at the end; no line wider than ``width`` cells (None: uncut)."""
    lines: list[str] = []
    heads = table(("", ""), [(each.verdict, each.name) for each in checks])[1:]
    indent = max((cell_len(head) for head in heads), default=0) + len(GAP)
    for head, each in zip(heads, checks, strict=True):
        first, *more = _wrapped(each.says, width, indent)
        lines.append(head + " " * (indent - cell_len(head)) + first)
        lines += [" " * indent + part for part in more]
        remedies = _wrapped(f"→ {each.remedy}", width, REMEDY_INDENT) if each.remedy else []
        lines += [" " * REMEDY_INDENT + part for part in remedies]
    counts = {verdict: sum(each.verdict is verdict for each in checks) for verdict in Verdict}
    return [*lines, ", ".join(f"{count} {verdict}" for verdict, count in counts.items())]


def _wrapped(text: str, width: int | None, indent: int) -> list[str]:
    if width is None:
        return [text]
    return [part.plain.rstrip() for part in Text(text).wrap(Console(width=width), max(width - indent, LEAST_TEXT))]


def check_document(checks: Sequence[Check]) -> dict[str, object]:
    """For scripts."""
    return {
        "ok": not any(each.verdict is Verdict.FAIL for each in checks),
        "checks": [
            {"check": each.name, "verdict": each.verdict, "says": each.says, "remedy": each.remedy or None}
            for each in checks
        ],
    }
