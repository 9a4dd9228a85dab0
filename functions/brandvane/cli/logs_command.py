"""``brandvane logs``: what have the functions written, about which run, task or platform?"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.errors import CliError
from brandvane.cli.log_reader import LEVELS, Line, LogReader, Wanted
from brandvane.cli.view import json_line, say, shown
from brandvane.cli.when import iso

SINCE = "15m"
FOLLOW_S = 3.0
OVERLAP_S = 60.0  # lines come in out of order, and some seconds late
# What every line carries and nobody reads.
QUIET = frozenset({"location", "timestamp", "service", "xray_trace_id", "cold_start", "function_memory_size",
                   "function_arn", "function_name", "function_request_id"})  # fmt: skip
_AGO = re.compile(r"(\d{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@click.command()
@click.option("--run", "run", metavar="RUN", help="Only lines about this run.")
@click.option("--task", "task", metavar="TASK", help="Only lines about this task.")
@click.option("--platform", "platform", metavar="NAME", help="Only lines about this platform, and its worker's.")
@click.option(
    "--level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="INFO",
    show_default=True,
    help="Only lines at least as grave as this.",
)
@click.option(
    "--since", default=SINCE, show_default=True, metavar="WHEN", help="Such as 30s, 15m, 2h, 1d, or an ISO time (UTC)."
)
@click.option("--follow", "-f", is_flag=True, help="Go on with new lines; Ctrl-C ends it.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document a line.")
@aws_options
def logs(
    run: str | None,
    task: str | None,
    platform: str | None,
    level: str,
    since: str,
    follow: bool,
    as_json: bool,
    aws: AwsContext,
) -> None:
    """Show the log lines of all functions in the order of time.

    Lines never hold answers or keys. Times are UTC.
    """
    wanted = Wanted(run, task, platform, level.upper())
    start = since_of(since, time.time())
    reader = LogReader(aws.client("logs"), aws.stack, wanted, patterns=aws.endpoint is None)
    show = _show_json if as_json else _show
    if follow:
        followed(reader, show, start, time.time, time.sleep)
        return
    lines = reader.read(start)
    for line in lines:
        show(line)
    if not lines and not as_json:
        click.echo(f"no such lines since {iso(start)}", err=True)


def since_of(text: str, now: float) -> float:
    """The instant that ``--since`` means.

    Raises:
        CliError: it means none (2).
    """
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise CliError(
            f"--since: '{text}' is no time: write such as 30s, 15m, 2h, 1d, or 2026-11-29T06:30", 2
        ) from None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def followed(
    reader: LogReader,
    show: Callable[[Line], None],
    start: float,
    now: Callable[[], float],
    sleep: Callable[[float], Any],
) -> None:
    """Show lines as they come in, until ``sleep`` raises what ends it."""
    while True:
        asked = now()
        for line in reader.read(start):
            show(line)
        sys.stdout.flush()
        start = max(start, asked - OVERLAP_S)
        sleep(FOLLOW_S)


def _show(line: Line) -> None:
    moment = datetime.fromtimestamp(line.at, UTC)
    told = [f"{name}={shown(_text(value))}" for name, value in line.fields.items() if name not in QUIET]
    at = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    say(" ".join([at, f"{line.level:<7}", line.function, shown(line.message), *told]))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_line(value)


def _show_json(line: Line) -> None:
    document = {"at": datetime.fromtimestamp(line.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")}
    say(json_line({**line.fields, **document, "function": line.function, "level": line.level, "message": line.message}))
