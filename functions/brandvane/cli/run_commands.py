"""``brandvane run``: start runs, see how they stand, end them, fetch what they found."""

from __future__ import annotations

import click

from brandvane.cli.retry_command import retry_failed
from brandvane.cli.run_end import cancel, deadline
from brandvane.cli.run_files import report, results
from brandvane.cli.run_show import list_runs, status, watch
from brandvane.cli.run_start import start


@click.group()
def run() -> None:
    """Start, watch and end runs."""


for _command in (start, status, watch, list_runs, cancel, deadline, retry_failed, report, results):
    run.add_command(_command)
