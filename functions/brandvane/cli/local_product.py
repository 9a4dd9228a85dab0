"""How does this machine's own program use the product? Through its command line, in the local stack's environment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from brandvane.catalogue_files.faults import Fault
from brandvane.cli.errors import CliError
from brandvane.cli.local_process import end_group

TIMEOUT_S = 120.0
_PROGRAM = "from brandvane.cli.main import main; main()"


def brandvane(environment: Mapping[str, str], *arguments: str) -> Any:
    """Run ``brandvane ARGUMENTS --json`` and return what it printed.

    Raises:
        CliError: it failed; the message is its own.
    """
    process = subprocess.Popen(  # noqa: S603 - this very program, with arguments made here
        [sys.executable, "-c", _PROGRAM, *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=dict(environment),
        text=True,
        encoding="utf-8",
    )
    try:
        printed, complaint = process.communicate(timeout=TIMEOUT_S)
    except BaseException:  # also Ctrl-C: what was started is ended first
        end_group(process.pid)
        raise
    what = f"'brandvane {' '.join(arguments[:2])}'"
    if process.returncode != 0:
        raise CliError(f"{what} failed (exit code {process.returncode}): {complaint_of(printed, complaint)}")
    try:
        return json.loads(printed)
    except ValueError:
        raise CliError(f"{what} did not print a JSON document: {_sentence(printed)}") from None


def complaint_of(printed: str, complaint: str) -> str:
    """What it complained of, in words; a list of faults comes as JSON on its stdout."""
    try:
        faults = [str(Fault(**fault)) for fault in json.loads(printed)["faults"]]
    except (ValueError, TypeError, KeyError):
        faults = []
    return " ".join(faults) or _sentence(complaint or printed)


def _sentence(text: str) -> str:
    return text.strip().removeprefix("brandvane: ") or "it said nothing"
