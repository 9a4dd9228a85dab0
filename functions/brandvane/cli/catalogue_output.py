"""How do catalogues, their faults and their differences look on a terminal?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from brandvane.catalogue import Catalogue, Selection, prompts
from brandvane.catalogue_files.difference import Difference
from brandvane.catalogue_files.faults import Fault
from brandvane.cli.errors import CliError, writable
from brandvane.cli.view import number


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    click.echo(writable(json.dumps(document, ensure_ascii=False, indent=2)))


def print_findings(findings: Sequence[Fault], what: str) -> None:
    """Faults or warnings on stderr, file by file: row, field and value, what is wrong, what to do."""
    file = None
    for fault in findings:
        if fault.file != file:
            file = fault.file
            click.secho(file, bold=True, err=True)
        row = "" if fault.row is None else f"row {fault.row}"
        value = f"'{fault.value}'" if fault.value else ""
        subject = " ".join(part for part in (row, fault.field, value) if part)
        click.echo(f"  {subject or 'the file'}: {fault.message}", err=True)
        click.echo(f"      {fault.remedy}.", err=True)
    if findings:
        click.echo(f"{len(findings):,} {what}{'' if len(findings) == 1 else 's'}", err=True)


class FaultsFound(CliError):
    """Wrong input: exit 2. With ``as_json`` the faults are a document on stdout, else a list on stderr."""

    def __init__(self, faults: Sequence[Fault], warnings: Sequence[Fault], *, as_json: bool, consequence: str) -> None:
        super().__init__(f"{consequence}: {len(faults)} to mend", 2)
        self._faults = faults
        self._warnings = warnings
        self._as_json = as_json
        self._consequence = consequence

    def show(self, file: Any = None) -> None:
        """Print them."""
        if self._as_json:
            print_json(
                {
                    "ok": False,
                    "faults": [fault.to_json() for fault in self._faults],
                    "warnings": [fault.to_json() for fault in self._warnings],
                }
            )
            return
        print_findings(self._warnings, "warning")
        print_findings(self._faults, "fault")
        click.echo(f"{self._consequence}.", err=True)


def summary(catalogue: Catalogue) -> dict[str, Any]:
    """Counts, and what each schedule asks in a day: prompts × targets × samples = tasks."""
    targets = [target for platform in catalogue.monitor.platforms for target in platform.targets]
    schedules = []
    for schedule in catalogue.monitor.schedules:
        asked = len(prompts(catalogue, Selection(brands=schedule.brands), schedule.priority))
        schedules.append(
            {
                "id": schedule.id,
                "window": f"{schedule.start}-{schedule.end}",
                "deadline": schedule.deadline,
                "time_zone": schedule.time_zone,
                "prompts": asked,
                "tasks": asked * len(targets) * catalogue.monitor.samples,
            }
        )
    return {
        "version": catalogue.version,
        "brands": len(catalogue.brands),
        "questions": len(catalogue.questions),
        "branded": sum(question.branded for question in catalogue.questions),
        "targets": targets,
        "samples": catalogue.monitor.samples,
        "schedules": schedules,
    }


def summary_lines(facts: dict[str, Any]) -> Iterator[str]:
    """A summary for people."""
    brands, questions = number(facts["brands"], "brand"), number(facts["questions"], "question")
    yield f"{brands}, {questions} ({facts['branded']:,} of them branded)"
    yield f"asked of {', '.join(facts['targets'])}"
    for row in facts["schedules"]:
        sums = f"{number(row['prompts'], 'prompt')} x {number(len(facts['targets']), 'target')} x {facts['samples']}"
        sums += f" = {number(row['tasks'], 'task')}"
        yield f"{row['id']}: {row['window']} {row['time_zone']}, by {row['deadline']}: {sums}"


def print_difference(found: Difference) -> None:
    """One line a change."""
    if found.empty:
        click.echo("no difference")
    for line in found.lines():
        click.echo(line)
