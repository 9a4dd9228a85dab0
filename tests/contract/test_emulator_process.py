"""Starting and stopping the emulator's process: clear sentences, and nothing left running."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from brandvane.cli import emulator
from brandvane.cli.emulator import EmulatorError


def program(folder: Path, script: str) -> Path:
    """A program that stands for the emulator's."""
    path = folder / "ministack"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def is_running(pid: int) -> bool:
    """Is there such a process, other than one that has ended and is not yet reaped?"""
    told = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True, check=False)
    return told.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.emulator
@pytest.mark.skipif("AWS_ENDPOINT_URL" in os.environ, reason="another emulator is used")
def test_an_emulator_starts_on_a_free_port_and_stops(tmp_path: Path) -> None:
    started = emulator.start(home=tmp_path, auth=True)
    try:
        assert emulator.is_healthy(started.port)
        assert not emulator.is_free(started.port)
        assert started.environment["AWS_ENDPOINT_URL"] == f"http://127.0.0.1:{started.port}"
    finally:
        emulator.stop(started.pid)
        emulator.clean(started)
    assert not is_running(started.pid)
    assert emulator.is_free(started.port)
    assert list(tmp_path.iterdir()) == [started.log]


def test_a_taken_port_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(emulator.PROGRAM_VARIABLE, str(program(tmp_path, "sleep 60")))
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(EmulatorError, match=f"^Port {port} is taken"):
            emulator.start(home=tmp_path, port=port)


def test_a_missing_program_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "_ROOT", tmp_path)
    monkeypatch.delenv(emulator.PROGRAM_VARIABLE, raising=False)
    with pytest.raises(EmulatorError, match=r"not installed: .*run `make tools`"):
        emulator.start(home=tmp_path)


def test_a_wrong_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(emulator.PROGRAM_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(EmulatorError, match="correct BRANDVANE_MINISTACK"):
        emulator.start(home=tmp_path)


def test_a_program_that_ends_at_once_points_to_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(emulator.PROGRAM_VARIABLE, str(program(tmp_path, "echo broken; exit 3")))
    with pytest.raises(EmulatorError, match=r"exit code 3.*emulator\.log"):
        emulator.start(home=tmp_path)
    assert (tmp_path / "emulator.log").read_text() == "broken\n"


def test_a_program_that_never_answers_is_stopped_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    script = f'sleep 60 &\necho $! $$ > "{pids}.new"; mv "{pids}.new" "{pids}"\nwait'
    monkeypatch.setenv(emulator.PROGRAM_VARIABLE, str(program(tmp_path, script)))
    with pytest.raises(EmulatorError, match="did not answer"):
        emulator.start(home=tmp_path, timeout_s=1.0)
    child, parent = (int(pid) for pid in pids.read_text().split())
    assert (is_running(child), is_running(parent)) == (False, False)


def test_a_process_that_is_not_the_emulator_is_left_alone() -> None:
    emulator.stop(os.getpid())
    assert is_running(os.getpid())


def test_stopping_what_is_gone_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(emulator.PROGRAM_VARIABLE, str(program(tmp_path, "exit 0")))
    with pytest.raises(EmulatorError):
        emulator.start(home=tmp_path)
    emulator.stop(2**22 + 1)  # above the highest process id of common systems
