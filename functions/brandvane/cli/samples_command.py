"""``brandvane mentions samples``: how often must questions be asked so that a figure is as sure as it should be?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from brandvane.catalogue import Catalogue
from brandvane.catalogue_files.folder import read_folder
from brandvane.catalogue_files.monitor import SAMPLES_MAX
from brandvane.cli.catalogue_output import FaultsFound, print_findings
from brandvane.cli.errors import CliError
from brandvane.cli.view import number, say, say_json, table
from brandvane.mentions.statistics import answers_for, samples_for, score_interval

WIDTH_MIN = 0.01  # points; far below what any number of answers is worth


@click.command()
@click.option(
    "--catalogue", "folder", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The catalogue."
)
@click.option("--width", default=10.0, show_default=True, metavar="POINTS", help="How wide the 95 % interval may be.")
@click.option(
    "--share", default=50.0, show_default=True, metavar="PERCENT", help="The visibility expected; 50 is the worst."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def samples(folder: Path, width: float, share: float, as_json: bool) -> None:
    """Say, for each brand, how many samples of each question one target takes until its visibility is as sure as asked.

    Refused, failed and empty answers are in no rate; ask some more where there are many.
    """
    if not WIDTH_MIN <= width < 100:
        raise CliError(
            f"--width: {width:g} points is no width to ask for; say at least {WIDTH_MIN:g} and less than 100", 2
        )
    if not 0 <= share <= 100:
        raise CliError(f"--share: {share:g} % is no share; say 0 to 100", 2)
    reading = read_folder(folder)
    if reading.catalogue is None:
        raise FaultsFound(reading.faults, reading.warnings, as_json=as_json, consequence="Nothing can be reckoned")
    print_findings(reading.warnings, "warning")
    catalogue = reading.catalogue
    need = answers_for(width / 100, share / 100)
    rows: list[dict[str, Any]] = []
    for brand, questions in questions_tracked(catalogue).items():
        now = questions * catalogue.monitor.samples
        rows.append(
            {
                "brand": brand,
                "questions": questions,
                "samples": catalogue.monitor.samples,
                "answers": now,
                "width_points": round(100 * score_interval(share / 100, now).width, 1) if now else None,
                "samples_needed": samples_for(width / 100, questions, share / 100) if questions else None,
            }
        )
    if as_json:
        say_json({"width_points": width, "share_percent": share, "answers_needed": need, "brands": rows})
        return
    say(f"an interval of {width:g} points at a visibility of {share:g} % takes {need:,} counted answers a target")
    cells = [
        (
            row["brand"],
            row["questions"],
            row["samples"],
            "–" if row["width_points"] is None else row["width_points"],
            row["samples_needed"] or "no question",
        )
        for row in rows
    ]
    header = ("BRAND", "QUESTIONS", "SAMPLES NOW", "POINTS WIDE NOW", "SAMPLES NEEDED")
    say(*table(header, cells, right=frozenset({1, 2, 3, 4})))
    beyond = sum((row["samples_needed"] or 0) > SAMPLES_MAX for row in rows)
    if beyond:
        say(
            f"samples is at most {SAMPLES_MAX} in monitor.yaml: {number(beyond, 'brand needs', 'brands need')} more questions, "
            "or a greater width"
        )


def questions_tracked(catalogue: Catalogue) -> dict[str, int]:
    """Brand id → how many unbranded questions it tracks."""
    found = {brand.id: 0 for brand in catalogue.brands}
    for question in catalogue.questions:
        if not question.branded:
            for brand in question.brands:
                found[brand] += 1
    return found
