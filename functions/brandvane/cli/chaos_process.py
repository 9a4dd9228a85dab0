"""Which of the emulator's worker processes holds which connection? Asked of the system, for processes of our own group only."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

DYING_S = 5.0  # the most that a killed process may take to be dead
_LOOK_S = 0.01
_PROC_TCP = Path("/proc/net/tcp")
_ESTABLISHED = "01"
_PAIR = re.compile(r"n[^\s]*:(\d+)->[^\s]*:(\d+)")


def worker_pids(group: int, stack: str) -> list[int]:
    """Processes of the emulator's group that run a platform's worker."""
    word = f"ministack-lambda-{stack}-worker-"
    rows = (line.split(None, 2) for line in _output("ps", "-ww", "-A", "-o", "pid=,pgid=,command=").splitlines())
    return [int(row[0]) for row in rows if len(row) == 3 and row[1] == str(group) and word in row[2]]


def holders(pids: Iterable[int], server_port: int) -> dict[int, int]:
    """Process by its own port, for each connection of these processes to a server of this machine."""
    return _from_proc(pids, server_port) if _PROC_TCP.exists() else _from_lsof(pids, server_port)


def kill(pid: int) -> float | None:
    """SIGKILL: nothing is cleaned up, nothing is said. When it was sent (POSIX seconds); None where the process was gone.

    Returns when the process is dead: on a busy machine that takes a moment, in which its connections still stand.
    """
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    at = time.time()
    while time.time() < at + DYING_S and not _is_dead(pid):
        time.sleep(_LOOK_S)
    return at


def _is_dead(pid: int) -> bool:
    """Gone, or only not yet reaped by the emulator."""
    state = _output("ps", "-p", str(pid), "-o", "stat=").strip()
    return not state or state.startswith("Z")


def _from_proc(pids: Iterable[int], server_port: int) -> dict[int, int]:
    ports = dict(proc_sockets(_PROC_TCP.read_text(encoding="ascii"), server_port))
    found = {}
    for pid in pids:
        for inode in _sockets_of(pid):
            if inode in ports:
                found[ports[inode]] = pid
    return found


def proc_sockets(table: str, server_port: int) -> Iterator[tuple[str, int]]:
    """Inode and own port of each established connection to ``server_port``, from the text of ``/proc/net/tcp``."""
    for line in table.splitlines()[1:]:
        fields = line.split()
        if fields[3] == _ESTABLISHED and _port(fields[2]) == server_port:
            yield fields[9], _port(fields[1])


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _sockets_of(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return  # it has ended
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")
        except OSError:
            continue  # closed in the meantime
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _from_lsof(pids: Iterable[int], server_port: int) -> dict[int, int]:
    named = ",".join(map(str, pids))
    if not named:
        return {}
    told = _output("lsof", "-nP", "-a", f"-iTCP:{server_port}", "-sTCP:ESTABLISHED", "-p", named, "-Fpn")
    return lsof_sockets(told, server_port)


def lsof_sockets(text: str, server_port: int) -> dict[int, int]:
    """Process by its own port, from what ``lsof -Fpn`` prints."""
    found, pid = {}, 0
    for line in text.splitlines():
        if line.startswith("p"):
            pid = int(line[1:])
        elif (pair := _PAIR.fullmatch(line)) and int(pair.group(2)) == server_port:
            found[int(pair.group(1))] = pid
    return found


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - made here
