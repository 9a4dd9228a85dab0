"""How are failed tasks asked again: what is told before, what after, and what as JSON? For one run or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from brandvane.cli.asking_cost import cost_in, price_text
from brandvane.cli.consent import Consent
from brandvane.cli.desk import Desk
from brandvane.cli.errors import CliError
from brandvane.cli.estimate import Estimate
from brandvane.cli.lookup import instant_given, run_named
from brandvane.cli.run_plan_view import estimate_document
from brandvane.cli.view import number, say
from brandvane.cli.when import iso, local
from brandvane.engine.reopen_failed import NEW_DEADLINE_S, Candidate, Ending, Finding, Found, Reopened, Wanted

LISTED_MAX = 20
REASONS: Mapping[Finding, str] = {
    Finding.GONE: "its record is gone (finished records are kept for some days only): it cannot be asked again",
    Finding.ANSWERED: "has an answer",
    Finding.UNFINISHED: "is not finished, or is being asked again already",
    Finding.UNKNOWN: "is no failed task of this run that the given filters take",
    Finding.NEWER: "was written by a newer release",
}
ENDINGS: Mapping[Ending, str] = {
    Ending.CHANGED: "was changed by somebody else in the meantime",
    Ending.UNSURE: "may or may not have been reopened, for a table did not answer: the same command again is safe",
}


@dataclass(frozen=True, slots=True)
class Again:
    """A run's tasks that are to be asked again, and what that will cost."""

    found: Found
    cost: Estimate
    time_zone: str
    deadline: float | None  # as given

    @property
    def run_id(self) -> str:
        """The run."""
        return self.found.run.run_id


def looked_up(desk: Desk, run_id: str, wanted: Wanted, deadline: str | None) -> Again:
    """Find the tasks of a run; changes nothing.

    Raises:
        CliError: the deadline is none or past (2), or the run refuses.
    """
    run = desk.run(run_named(desk, run_id))
    catalogue = desk.run(desk.catalogues.load(run.catalogue_version))
    zone = catalogue.monitor.time_zone
    until = None if deadline is None else instant_given(deadline, "--deadline", desk.clock.now(), zone)
    found = desk.run(desk.failed_tasks.find(run_id, wanted))
    rows = [each.row for each in found.ready if each.row is not None]
    return Again(found, cost_in(catalogue, rows), zone, until)


def asked_again(desk: Desk, every: Sequence[Again], consent: Consent, *, quiet: bool) -> list[Reopened]:
    """Tell what would be asked again, ask, and reopen exactly these; how each run ended, in their order.

    Raises:
        CliError: nobody agreed.
    """
    ready = [again for again in every if again.found.ready]
    agreed = False
    if ready:
        for again in ready:
            tell_others(again.found.others)
        order = f"ask {' and '.join(_what(again) for again in ready)}"
        details = " ".join(_deadline(again, desk.clock.now()) for again in ready)
        agreed = consent.given(order, details, interactive=desk.interactive, quiet=quiet)
    done = []
    for again in every:
        reopens = agreed and bool(again.found.ready)
        done.append(
            desk.run(desk.failed_tasks.reopen(again.found, again.deadline)) if reopens else Reopened(again.found.run)
        )
    return done


def _what(again: Again) -> str:
    ready = again.found.ready
    kinds = Counter(str(each.row.outcome) for each in ready if each.row is not None)
    which = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"{number(len(ready), 'task')} of {again.run_id} again ({which}), {price_text(again.cost)}"


def _deadline(again: Again, now: float) -> str:
    until = max(again.found.run.deadline, now + NEW_DEADLINE_S if again.deadline is None else again.deadline)
    return f"Deadline of {again.run_id}: {local(until, again.time_zone)}."


def tell_others(others: Sequence[Candidate]) -> None:
    """One line for every task that cannot be reopened; beyond the first few, how many there are of each kind."""
    for each in others[:LISTED_MAX]:
        click.echo(f"{each.task_id}: {REASONS[each.finding]}", err=True)
    rest = Counter(each.finding for each in others[LISTED_MAX:])
    for finding, count in rest.items():
        click.echo(f"{number(count, 'more task')}: {REASONS[finding]}", err=True)


def tell(again: Again, done: Reopened) -> None:
    """How it went, for people."""
    found, run_id = again.found, again.run_id
    if not found.ready:
        tell_others(found.others)
        say(f"run {run_id} has no failed task that can be asked again{' with these filters' * bool(found.others)}")
        return
    for task_id, ending in done.endings.items():
        if ending in ENDINGS:
            click.echo(f"{task_id}: {ENDINGS[ending]}", err=True)
    if done.count:
        say(
            f"{number(done.count, 'task')} of {run_id} will be asked again, deadline"
            f" {local(done.run.deadline, again.time_zone)}; the run is {done.run.state} again and gets a new report",
            f"brandvane run watch {run_id}",
        )


def again_document(again: Again, done: Reopened, consent: Consent) -> dict[str, Any]:
    """How it went, as JSON."""
    return {
        "run_id": again.run_id,
        "dry_run": consent.dry_run,
        "found": len(again.found.ready),
        "reopened": done.count,
        "tasks": dict(done.endings),
        "left_out": {each.task_id: each.finding for each in again.found.others},
        "deadline": iso(done.run.deadline),
        "state": done.run.state,
        "pass": done.run.pass_no,
        "estimate": estimate_document(again.cost),
    }


def judged(every: Sequence[Again], done: Sequence[Reopened], named: Sequence[str], consent: Consent) -> None:
    """A dry run has nothing to judge.

    Raises:
        CliError: a task that was ready, or named, was not reopened.
    """
    short = any(ended.count < len(again.found.ready) for again, ended in zip(every, done, strict=True))
    in_vain = any(each.task_id in named for again in every for each in again.found.others)
    if not consent.dry_run and (short or in_vain):
        raise CliError("not every task that was asked for could be reopened")
