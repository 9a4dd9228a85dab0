"""Which process is killed, and what counts as a hit?"""

from __future__ import annotations

import random
import signal
import subprocess
import sys

from brandvane.cli.chaos_kills import Aim, Kill, OpenCall, Victim, choose, hits
from brandvane.cli.chaos_process import kill, lsof_sockets, proc_sockets

NOW = 1000.0
YOUNG_S = 0.5


def call(request_id: str, port: int, *, arrived: float = NOW, outcome: str = "ok") -> OpenCall:
    return OpenCall("openai", request_id, arrived, port, outcome)


def chosen(aim: Aim, calls: list[OpenCall], pids: dict[int, int]) -> Victim | None:
    return choose(aim, calls, pids, random.Random(1), now=NOW, young_s=YOUNG_S)


def kill_of(aim: Aim, victim: Victim, *running: str) -> Kill:
    return Kill(at=NOW, aim=aim, victim=victim, running=frozenset(running))


def test_a_victim_is_known_with_all_its_connections_and_calls() -> None:
    calls = [call("a/1", 51), call("b/1", 52), call("c/1", 61)]
    victim = chosen(Aim.IN_FLIGHT, calls[:2], {51: 7, 52: 7, 53: 7})
    assert victim is not None
    assert (victim.pid, victim.ports, victim.calls) == (7, frozenset({51, 52, 53}), ("a/1", "b/1"))


def test_a_call_of_an_unknown_process_is_nobodys() -> None:
    assert chosen(Aim.IN_FLIGHT, [call("a/1", 51)], {52: 7}) is None


def test_only_a_young_call_that_will_be_answered_can_be_killed_after_its_answer() -> None:
    calls = [
        call("hangs/1", 51, outcome="hang"),
        call("old/1", 52, arrived=NOW - 1.0),
        call("fit/2", 53, arrived=NOW - 0.5),
    ]
    victim = chosen(Aim.AFTER_ANSWER, calls, {51: 1, 52: 2, 53: 3})
    assert victim is not None
    assert (victim.pid, victim.chosen) == (3, "fit/2")


def test_a_kill_in_flight_hits_when_a_call_of_that_process_is_still_running() -> None:
    victim = Victim(7, "openai", frozenset({51}), ("a/1", "b/2"), "a/1")
    assert kill_of(Aim.IN_FLIGHT, victim, "b/2").hit
    assert not kill_of(Aim.IN_FLIGHT, victim, "b/1", "another/1").hit


def test_a_kill_after_the_answer_hits_when_that_very_call_is_still_running() -> None:
    victim = Victim(7, "openai", frozenset({51}), ("a/1", "b/2"), "a/1")
    assert kill_of(Aim.AFTER_ANSWER, victim, "a/1").hit
    assert not kill_of(Aim.AFTER_ANSWER, victim, "b/2").hit


def test_hits_are_counted_by_what_was_meant() -> None:
    victim = Victim(7, "openai", frozenset({51}), ("a/1",), "a/1")
    kills = [
        kill_of(Aim.IN_FLIGHT, victim, "a/1"),
        kill_of(Aim.AFTER_ANSWER, victim, "a/1"),
        kill_of(Aim.AFTER_ANSWER, victim),
    ]
    assert (hits(kills, Aim.IN_FLIGHT), hits(kills, Aim.AFTER_ANSWER)) == (1, 1)


def test_a_dead_process_leaves_the_tasks_of_its_own_running_calls() -> None:
    victim = Victim(7, "openai", frozenset({51}), ("a/1", "b/2"), "a/1")
    assert kill_of(Aim.IN_FLIGHT, victim, "b/2", "somebody-elses/1").left() == {"b"}


def test_established_connections_to_the_server_are_read_from_the_systems_table() -> None:
    table = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4711 1\n"
        "   1: 0100007F:C002 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 4712 1\n"
        "   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4713 1\n"
    )
    assert list(proc_sockets(table, 8080)) == [("4711", 49153)]


def test_connections_are_read_from_lsof_where_there_is_no_such_table() -> None:
    told = "p812\nf5\nn127.0.0.1:49153->127.0.0.1:8080\nf6\nn127.0.0.1:49154->127.0.0.1:99\np813\nf5\nn[::1]:49155->[::1]:8080\n"
    assert lsof_sockets(told, 8080) == {49153: 812, 49155: 813}


def test_a_killed_process_is_dead_when_the_kill_returns() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert kill(process.pid) is not None
    assert process.poll() == -signal.SIGKILL
    assert kill(process.pid) is None
    process.communicate()
