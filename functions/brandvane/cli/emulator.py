"""How is a local AWS emulator started and stopped? MiniStack in an environment of its own, for tests, demo and ``local up``.

It is a program beside the product, not a library of it (their pinned boto3 differ). It runs in a process group of its own, so
that Ctrl-C reaches the product first, and stopping it ends the group: the emulator and the Lambda workers it started.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"  # never beyond this machine; and an address instead of a name makes S3 clients use path-style
REGION = "us-east-1"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
PROGRAM_VARIABLE = "BRANDVANE_MINISTACK"  # another installation's program, instead of the one below .tools/
_POLL_S = 0.1
_ROOT = Path(__file__).resolve().parents[3]
_NOT_PASSED_ON = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")


class EmulatorError(Exception):
    """The emulator cannot do what was asked; the text is one sentence for the person who asked."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator: its process (and group) id, its port, and the folder that holds its log and its temporary files."""

    pid: int
    port: int
    home: Path

    @property
    def endpoint(self) -> str:
        """For ``AWS_ENDPOINT_URL``."""
        return f"http://{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        """What the emulator wrote."""
        return log_of(self.home)

    @property
    def environment(self) -> dict[str, str]:
        """What clients need to speak to it: endpoint, region, and the emulator's own root credentials."""
        return environment_of(self.endpoint)


def environment_of(endpoint: str) -> dict[str, str]:
    """Environment of a client of the emulator at ``endpoint``."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
    }


def log_of(home: Path) -> Path:
    """The log file in an emulator's folder."""
    return home / "emulator.log"


def program() -> Path:
    """The emulator's program.

    Raises:
        EmulatorError: it is not installed.
    """
    stated = os.environ.get(PROGRAM_VARIABLE)
    path = Path(stated) if stated else _ROOT / ".tools" / "ministack" / "bin" / "ministack"
    if not path.is_file():
        remedy = f"correct {PROGRAM_VARIABLE}" if stated else "run `make tools`"
        raise EmulatorError(f"The emulator is not installed: there is no {path}; {remedy}.")
    return path


def start(*, home: Path, port: int = 0, auth: bool = False, timeout_s: float = START_TIMEOUT_S) -> Emulator:
    """Start an emulator and wait until it answers. ``port`` 0: any free one. ``auth``: role policies are enforced.

    ``home`` is a folder of its own for log and temporary files; the log of an earlier start is replaced.

    Raises:
        EmulatorError: not installed, the port is taken, or it did not come up in time (nothing is left running).
    """
    executable = program()
    chosen = port or free_port()
    if not is_free(chosen):
        raise EmulatorError(f"Port {chosen} is taken: stop what listens there or choose another port (--port).")
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    with log_of(home).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the program is ours, the arguments are none
            [str(executable)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=_environment(chosen, auth, temporary),
        )
    emulator = Emulator(pid=process.pid, port=chosen, home=home)
    try:
        _wait_until_healthy(process, emulator, timeout_s)
    except BaseException:  # also Ctrl-C: what was started is stopped before anything else
        stop(process.pid)
        raise
    return emulator


def _environment(port: int, auth: bool, temporary: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    return {
        **kept,
        **environment_of(f"http://{HOST}:{port}"),
        "GATEWAY_PORT": str(port),
        "BIND_HOST": HOST,
        "MINISTACK_HOST": HOST,
        "AUTH": "true" if auth else "false",
        "IOT_MTLS_ENABLED": "0",  # it would listen on a fixed port on every interface
        "TMPDIR": str(temporary),
    }


def _wait_until_healthy(process: subprocess.Popen[bytes], emulator: Emulator, timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process.poll() is not None:
            raise EmulatorError(
                f"The emulator ended while starting on port {emulator.port} (exit code {process.returncode});"
                f" see {emulator.log}."
            )
        if is_healthy(emulator.port):
            return
        time.sleep(_POLL_S)
    raise EmulatorError(f"The emulator did not answer on port {emulator.port} in {timeout_s:g} s; see {emulator.log}.")


def is_healthy(port: int) -> bool:
    """Does an emulator answer on this port?"""
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/_ministack/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Can this port be listened on?"""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def stop(pid: int, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """End the emulator of this process id and all it started; a process that is gone, or is none of ours, is left alone."""
    if not _is_emulator(pid):
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal_group(pid, number)
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            _reap(pid)
            if not _group_lives(pid):
                return
            time.sleep(_POLL_S)
    raise EmulatorError(f"The emulator (process {pid}) does not end; end it by hand.")


def clean(emulator: Emulator) -> None:
    """Remove the temporary files of a stopped emulator; the log stays."""
    shutil.rmtree(emulator.home / "tmp", ignore_errors=True)


def _is_emulator(pid: int) -> bool:
    """Ids are given anew by the system: only a group that runs the emulator's program (or what is left of it) is ours."""
    members = [line.split(None, 1) for line in _ps("-A", "-o", "pgid=", "-o", "command=").splitlines()]
    return any(member[0] == str(pid) and "ministack" in member[-1] for member in members)


def _group_lives(pid: int) -> bool:
    """Is anybody in the group still running? One that has ended and is not yet reaped is not."""
    members = [line.split() for line in _ps("-A", "-o", "pgid=", "-o", "stat=").splitlines()]
    return any(group == str(pid) and not status.startswith("Z") for group, status in members)


def _ps(*arguments: str) -> str:
    # -ww: whole lines, whatever the width of a terminal.
    command = ["ps", "-ww", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - fixed arguments


def _signal_group(pid: int, number: int) -> None:
    # Nobody left in the group; macOS speaks of permission when only an unreaped process is left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):  # started by another process, which reaps it
        os.waitpid(pid, os.WNOHANG)
