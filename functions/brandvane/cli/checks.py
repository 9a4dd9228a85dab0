"""What does a check say? OK, WARN or FAIL, one sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from brandvane.cli.errors import CliError, explain
from brandvane.cli.view import table


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


def check_lines(checks: Sequence[Check]) -> list[str]:
    """For people: a line a check, what to do below it, the sum at the end."""
    lines: list[str] = []
    rows = table(("", "check", "says"), [(each.verdict, each.name, each.says) for each in checks])[1:]
    for row, each in zip(rows, checks, strict=True):
        lines.append(row)
        if each.remedy:
            lines.append(f"      → {each.remedy}")
    counts = {verdict: sum(each.verdict is verdict for each in checks) for verdict in Verdict}
    return [*lines, ", ".join(f"{count} {verdict}" for verdict, count in counts.items())]


def check_document(checks: Sequence[Check]) -> dict[str, object]:
    """For scripts."""
    return {
        "ok": not any(each.verdict is Verdict.FAIL for each in checks),
        "checks": [
            {"check": each.name, "verdict": each.verdict, "says": each.says, "remedy": each.remedy or None}
            for each in checks
        ],
    }
