"""``brandvane estimate``: what will a day of this catalogue take, and what will it cost? Asks nobody, unless told to look at a stack."""

from __future__ import annotations

import time
from pathlib import Path

import click

from brandvane.catalogue_files.folder import read_folder
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.aws_cost import cost_lines
from brandvane.cli.catalogue_output import FaultsFound, print_findings
from brandvane.cli.day_plan import day_plan
from brandvane.cli.errors import CliError
from brandvane.cli.estimate_view import estimate_document, estimate_lines
from brandvane.cli.price_list import price_list
from brandvane.cli.view import say, say_json


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--deployed", is_flag=True, help="Reckon with the workers of --stack, not with what may be in flight.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@aws_options
def estimate(folder: Path, deployed: bool, as_json: bool, aws: AwsContext) -> None:
    """Estimate a day of the catalogue in DIR: calls, hours, dollars.

    Hours follow from rates and slots; the models' cost from platforms.toml, AWS's from a price list that comes with the
    product. Needs no AWS, but for --deployed. Exit code 1 says that a plan does not fit before its deadline.
    """
    reading = read_folder(folder)
    if reading.catalogue is None:
        raise FaultsFound(reading.faults, reading.warnings, as_json=as_json, consequence="Nothing can be estimated")
    print_findings(reading.warnings, "warning")
    workers = {each.platform: each for each in aws.platforms()} if deployed else None
    plan, prices = day_plan(reading.catalogue, time.time(), workers), price_list()
    lines = cost_lines(plan.usage, len(reading.catalogue.monitor.platforms), plan.busy, prices)
    if as_json:
        say_json(estimate_document(plan, lines, prices))
    else:
        say(*estimate_lines(plan, lines, prices))
    late = [run.schedule.id for run in plan.runs if run.late_by]
    if late:
        raise CliError(
            f"{', '.join(late)} would not be through before the deadline: widen the window, or raise rate or in_flight"
        )
