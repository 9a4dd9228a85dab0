"""How are other programs started, waited for and ended? Each in a process group of its own, with its output in a file.

A group of its own means that Ctrl-C reaches this program first, and that ending the group ends whatever the program started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from brandvane.cli.errors import CliError

STOP_TIMEOUT_S = 10.0
TAIL_LINES = 15
_POLL_S = 0.05
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StepFailed(CliError):
    """A step failed: one sentence, where its log is, and the log's last lines."""

    def __init__(self, sentence: str, log: Path) -> None:
        told = tail(log)
        shown = "".join(f"\n    {line}" for line in told)
        super().__init__(f"{sentence}. Its log is {log}{'; it ends with:' if told else ''}{shown}")


def tail(log: Path, lines: int = TAIL_LINES) -> list[str]:
    """The last lines of a log that are not blank; none where there is no log."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]


def without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without anybody's AWS settings: what runs locally must never reach a real account."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


def start(command: Sequence[str], *, log: Path, env: Mapping[str, str], cwd: Path | None = None) -> int:
    """Start a program that stays; its process (and group) id. An earlier log is replaced."""
    return _popen(command, log, env, cwd).pid


def run(
    command: Sequence[str], *, what: str, log: Path, env: Mapping[str, str], cwd: Path | None, timeout_s: float
) -> None:
    """Run a program to its end; interrupted, it is ended with all it started.

    Raises:
        StepFailed: it did not end well or in time; ``what`` names the step.
    """
    process = _popen(command, log, env, cwd)
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise StepFailed(f"{what} did not end within {timeout_s:g} s", log) from None
    finally:
        end_group(process.pid)
        process.wait()
    if code != 0:
        raise StepFailed(f"{what} failed (exit code {code})", log)


def _popen(command: Sequence[str], log: Path, env: Mapping[str, str], cwd: Path | None) -> subprocess.Popen[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - programs of this project with arguments made here
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(env),
            cwd=cwd,
        )


def is_running(pid: int, word: str) -> bool:
    """Is this process alive and the head of its group, and does its command line hold ``word``?"""
    shown = _shown(pid)
    return len(shown) == 3 and shown[0] == str(pid) and not shown[1].startswith("Z") and word in shown[2]


def end_ours(pid: int, word: str) -> bool:
    """End the group of a program whose command line held ``word``, though its head may have died before the others did.

    A group that somebody else leads is left alone: the system gives ids anew. False: somebody of ours does not end.
    """
    _reap(pid)
    shown = _shown(pid)
    strange = len(shown) == 3 and (shown[0] != str(pid) or word not in shown[2])
    return strange or end_group(pid)


def _shown(pid: int) -> list[str]:
    """Group, status and command line of a process; nothing when there is none."""
    return subprocess.run(  # noqa: S603 - fixed program and arguments
        ["ps", "-ww", "-p", str(pid), "-o", "pgid=,stat=,command="],  # noqa: S607 - ps stands in different places
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split(None, 2)


def end_group(pid: int, *, timeout_s: float = STOP_TIMEOUT_S) -> bool:
    """End a process group that this program started: asked first, forced after ``timeout_s``. False: somebody is still there."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _signal_group(pid, number):
            return True
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            _reap(pid)
            if not _signal_group(pid, 0):
                return True
            time.sleep(_POLL_S)
    return False


def _signal_group(pid: int, number: int) -> bool:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # macOS: PermissionError where only an unreaped process is left
        return False
    return True


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return  # another process started it, and reaps it


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, being told to end (SIGTERM, a closed terminal) is the same as Ctrl-C, so that everything is put away."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, requests to end are ignored: whoever presses Ctrl-C twice must not leave half of it running."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
