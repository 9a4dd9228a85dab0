"""Programs that this one starts: nothing of them is left running, and what went wrong is said in one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brandvane.cli.local_process import (
    StepFailed,
    end_group,
    end_ours,
    interruptible,
    is_running,
    run,
    start,
    tail,
    uninterrupted,
    without_aws,
)

# Starts a child of its own that would stay for long, says its id, and waits for it.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
child.wait()
"""


def alive(pid: int) -> bool:
    """Is there such a process, and is it more than a name in the table?"""
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True, check=False).stdout
    return bool(shown.strip()) and not shown.strip().startswith("Z")


def wait_for_line(log: Path) -> str:
    for _ in range(2000):
        if log.exists() and log.read_text().endswith("\n"):
            return log.read_text().strip()
        time.sleep(0.01)
    raise AssertionError("the program never said anything")


def test_ending_a_group_ends_the_children_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    pid = start([sys.executable, "-c", PARENT], log=log, env=os.environ)
    child = int(wait_for_line(log))
    assert alive(child)
    assert end_group(pid)
    assert not alive(pid)
    assert not alive(child)


def test_a_group_whose_head_has_died_is_ended_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "log"
    pid = start([sys.executable, "-c", PARENT], log=log, env=os.environ)
    child = int(wait_for_line(log))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert alive(child)
    assert end_ours(pid, "time.sleep")
    assert not alive(child)


def test_a_process_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    pid = start([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log", env=os.environ)
    try:
        assert is_running(pid, "time.sleep")
        assert not is_running(pid, "ministack")
        assert end_ours(pid, "ministack")  # nothing of ours is left to end
        assert alive(pid)
    finally:
        end_group(pid)


def test_a_step_that_fails_says_where_its_log_is_and_how_it_ends(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    program = "import sys; print('first'); print(); print('the reason'); sys.exit(3)"
    with pytest.raises(StepFailed) as raised:
        run([sys.executable, "-c", program], what="sam build", log=log, env=os.environ, cwd=None, timeout_s=60)
    assert raised.value.format_message() == (
        f"sam build failed (exit code 3). Its log is {log}; it ends with:\n    first\n    the reason"
    )
    assert raised.value.exit_code == 1


def test_a_step_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    with pytest.raises(StepFailed, match=r"sam deploy did not end within 0\.2 s\. Its log is"):
        run(
            [sys.executable, "-c", "import time; time.sleep(60)"],
            what="sam deploy",
            log=log,
            env=os.environ,
            cwd=None,
            timeout_s=0.2,
        )


def test_the_tail_of_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert tail(tmp_path / "none.log") == []


def test_nobodys_aws_settings_reach_a_local_program() -> None:
    assert without_aws({"AWS_PROFILE": "work", "AWS_ACCESS_KEY_ID": "x", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_being_told_to_end_is_the_same_as_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_putting_away_is_not_interrupted() -> None:
    before = signal.getsignal(signal.SIGINT)
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
