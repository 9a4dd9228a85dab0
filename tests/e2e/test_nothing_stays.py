"""Whoever stops a local stack half-way leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brandvane.cli.local_state import read_state
from e2e.deployed import group, wait_for

PROGRAM = """
import sys
from pathlib import Path
import click
from brandvane.cli.errors import run_cli
from brandvane.cli.local_stack import Wanted, local_stack

@click.command()
@click.argument("home", type=Path)
def command(home):
    with local_stack(Wanted(home=home, state=home / "state.json"), click.echo):
        raise AssertionError("it should have been stopped before")

run_cli(command, sys.argv[1:])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stack_that_is_interrupted_while_it_comes_up_is_put_away(number: signal.Signals, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ,
    )
    state_file = tmp_path / "state.json"
    wait_for(lambda: (tmp_path / "build.log").exists(), "the build has begun")
    state = read_state(state_file)
    assert state is not None
    assert group(state.emulator)
    process.send_signal(number)
    told, complaint = process.communicate(timeout=60)

    assert (process.returncode, complaint.strip()) == (130, "brandvane: interrupted"), told
    assert group(state.emulator) == {}
    assert not state_file.exists()
    assert not (tmp_path / "tmp").exists()
    everything = subprocess.run(["ps", "-ww", "-eo", "command="], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in everything  # neither SAM nor anything else that was started for it
