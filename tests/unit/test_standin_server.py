"""Calls to the stand-in server over real connections on loopback: limits, faults, times, lost clients."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from brandvane.simulation.standin_behaviour import Behaviour
from brandvane.simulation.standin_config import StandinConfig
from brandvane.simulation.standin_row import CallRow
from brandvane.simulation.standin_server import serving
from brandvane.task import prompt_hash_of
from unit.standin_client import (
    NEVER,
    HandClock,
    ask,
    client,
    config,
    faulty,
    in_flight,
    long_answer,
    outcomes,
    question,
    raw_request,
    until,
)


async def test_a_call_is_answered_and_written_down() -> None:
    clock = HandClock()
    async with serving(config(), clock=clock) as server, client(server) as http:
        response = await ask(http)
        (row,) = server.desk.log.rows
    assert response.status_code == 200
    assert response.json()["choices"][0]["message"]["content"]
    assert row == CallRow(
        platform="gpt",
        request_id="t/1",
        model="m",
        prompt_hash=prompt_hash_of("Which kettle?"),
        prompt="Which kettle?",
        arrived=1000.0,
        finished=1000.0,
        status=200,
        outcome=row.outcome,
        complete=True,
        in_flight=1,
        port=row.port,
    )
    assert row.outcome.value == "ok"


async def test_the_eleventh_call_in_a_sliding_second_gets_429_and_one_a_second_after_the_first_does_not() -> None:
    clock = HandClock()
    async with serving(config(rate=10), clock=clock) as server, client(server) as http:
        codes = [(await ask(http, f"t{k}/1")).status_code for k in range(10)]
        clock.at = 1000.999
        refused = await ask(http, "t10/1")
        clock.at = 1001.0
        codes.append((await ask(http, "t10/2")).status_code)
        rows = server.desk.log.rows
    assert codes == [200] * 11
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert outcomes(rows) == ["ok"] * 10 + ["throttled_rate", "ok"]


async def test_platforms_have_limits_of_their_own() -> None:
    both = StandinConfig(platforms={name: Behaviour(rate=1, median=0.0) for name in ("gpt", "qwen")})
    async with serving(both, clock=HandClock()) as server, client(server) as http:
        codes = [
            (await http.post(f"/{name}/v1/chat/completions", json=question())).status_code
            for name in ("gpt", "qwen", "gpt", "qwen")
        ]
    assert codes == [200, 200, 429, 429]


async def test_a_call_is_in_flight_until_its_last_byte_is_written(tmp_path: Path) -> None:
    async with serving(config(answers=long_answer(tmp_path), in_flight=1)) as server, client(server) as http:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=4096)
        writer.write(raw_request())
        head = await reader.readuntil(b"\r\n\r\n")  # the answer is being written, and nobody reads on
        refused = await ask(http, "t2/1", "Something else?")
        await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
        admitted = await ask(http, "t3/1", "Something else?")
        rows = server.desk.log.rows
        writer.close()
    assert (refused.status_code, admitted.status_code) == (429, 200)
    assert [(row.request_id, row.outcome.value, row.in_flight) for row in rows] == [
        ("t2/1", "throttled_in_flight", 2),
        ("t/1", "ok", 1),
        ("t3/1", "ok", 1),
    ]
    assert rows[1].complete


async def test_the_transport_speaks_up_only_when_the_last_byte_has_left() -> None:
    async with serving(config()) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await until(lambda: server.connections)
        (connection,) = server.connections
        assert connection._transport is not None
        assert connection._transport.get_write_buffer_limits() == (0, 0)
        writer.close()


async def test_a_long_answer_that_the_client_does_not_read_to_its_end_is_not_complete(tmp_path: Path) -> None:
    async with serving(config(answers=long_answer(tmp_path))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=4096)
        writer.write(raw_request())
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()
        await until(lambda: server.desk.log.rows)
        (row,) = server.desk.log.rows
    assert (row.outcome.value, row.complete, row.lost) == ("ok", False, True)


async def test_a_hang_ends_when_the_client_leaves() -> None:
    async with serving(config(hang=1.0)) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_request())
        await until(lambda: in_flight(server) == 1)
        assert server.desk.log.rows == []
        writer.close()
        await until(lambda: in_flight(server) == 0)
        (row,) = server.desk.log.rows
    assert (row.outcome.value, row.status, row.complete, row.lost) == ("hang", None, False, True)


async def test_a_client_that_left_in_this_very_moment_has_no_complete_answer() -> None:
    async with serving(config(median=NEVER, cap=NEVER)) as server:
        peer = socket.create_connection(("127.0.0.1", server.port))
        peer.sendall(raw_request())
        await until(lambda: in_flight(server) == 1)
        (connection,) = server.connections
        peer.close()  # the loop has not heard of it yet
        connection._write_and_advance()
        (row,) = server.desk.log.rows
    assert (row.outcome.value, row.complete, row.lost) == ("ok", False, True)


async def test_a_client_that_leaves_before_its_answer_is_due_is_written_down_as_lost() -> None:
    async with serving(config(median=NEVER, cap=NEVER)) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_request())
        await until(lambda: in_flight(server) == 1)
        writer.close()
        await until(lambda: server.desk.log.rows)
        (row,) = server.desk.log.rows
    assert (row.outcome.value, row.status, row.complete, row.lost) == ("ok", None, False, True)


async def test_a_cut_connection_sends_the_head_and_half_the_body_and_is_reset() -> None:
    async with serving(config(cut=1.0)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_request())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length // 2)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        (row,) = server.desk.log.rows
        writer.close()
    assert body.startswith(b'{"id"')
    assert (row.outcome.value, row.status, row.complete, row.lost) == ("cut", 200, False, False)


async def test_a_client_library_sees_a_cut_connection_as_an_error() -> None:
    async with serving(config(cut=1.0)) as server, client(server) as http:
        with pytest.raises(httpx.TransportError):
            await ask(http)


@pytest.mark.parametrize(
    ("fault", "status", "outcome"),
    [
        ("error_500", 500, "error_500"),
        ("error_503", 503, "error_503"),
        ("empty", 200, "empty"),
        ("malformed", 200, "malformed"),
        ("injected_429", 429, "injected_429"),
    ],
)
async def test_a_fault_is_answered_and_is_never_a_complete_answer(fault: str, status: int, outcome: str) -> None:
    async with serving(faulty(fault)) as server, client(server) as http:
        response = await ask(http)
        (row,) = server.desk.log.rows
    assert response.status_code == status
    assert (row.outcome.value, row.status, row.complete) == (outcome, status, False)


async def test_an_injected_429_asks_for_the_wait_that_was_set() -> None:
    async with serving(config(injected_429=1.0, retry_after=7)) as server, client(server) as http:
        assert (await ask(http)).headers["Retry-After"] == "7"


async def test_a_repeat_of_the_run_meets_the_same_faults_and_retries_draw_anew() -> None:
    setting = config(seed=4, rate=1000, error_500=0.3, empty=0.3, malformed=0.3)
    seen = []
    for _ in range(2):
        async with serving(setting, clock=HandClock()) as server, client(server) as http:
            responses = [await ask(http, f"t{k}/{n}") for k in range(5) for n in (1, 2, 3)]
            seen.append((outcomes(server.desk.log.rows), [response.content for response in responses]))
    assert seen[0] == seen[1]
    by_task = [seen[0][0][at : at + 3] for at in range(0, 15, 3)]
    assert any(len(set(tries)) > 1 for tries in by_task)


async def test_connections_are_kept_alive_and_requests_sent_together_are_answered_in_order() -> None:
    async with serving(config()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_request(request_id="a/1") + b"\r\n" + raw_request(request_id="b/1")[:-5])
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
            writer.write(raw_request()[-5:])
        ids = [row.request_id for row in server.desk.log.rows]
        writer.close()
    assert ids == ["a/1", "b/1"]


async def test_a_call_arrives_with_its_first_byte_not_its_last() -> None:
    clock = HandClock()
    async with serving(config(), clock=clock) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        request = raw_request()
        writer.write(request[:10])
        await until(lambda: any(connection._buffer for connection in server.connections))
        clock.at = 1003.0
        writer.write(request[10:] + request)  # the next request's first byte comes with this one's last
        await until(lambda: len(server.desk.log.rows) == 2)
        times = [(row.arrived, row.finished) for row in server.desk.log.rows]
        writer.close()
    assert times == [(1000.0, 1003.0), (1003.0, 1003.0)]
