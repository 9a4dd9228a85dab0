"""The stand-in server's pages, its log over a restart, its end, and requests that are none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from brandvane.simulation.standin_row import CallRow
from brandvane.simulation.standin_server import serving
from unit.standin_client import CHAT, NEVER, HandClock, ask, client, config, in_flight, question, raw_request, until


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 20_000, 431),
        (f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n".encode() + b"x" * 3_000_000, 413),
    ],
)
async def test_what_is_no_request_is_answered_and_the_connection_closed(sent: bytes, status: int) -> None:
    async with serving(config()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(sent)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


async def test_a_call_without_a_usable_body_is_refused_and_written_down() -> None:
    async with serving(config()) as server, client(server) as http:
        response = await http.post(CHAT, content=b"{}", headers={"X-Client-Request-Id": "t/1"})
        (row,) = server.desk.log.rows
    assert response.status_code == 400
    assert "'messages'" in response.json()["error"]["message"]
    assert (row.request_id, row.outcome.value, row.status) == ("t/1", "bad_request", 400)


async def test_unknown_paths_and_methods_are_named() -> None:
    async with serving(config()) as server, client(server) as http:
        codes = [
            (await http.post("/other/v1/chat/completions", json=question())).status_code,
            (await http.get("/_standin/nothing")).status_code,
            (await http.get(CHAT)).status_code,
            (await http.post("/_standin/health")).status_code,
        ]
        assert server.desk.log.rows == []
    assert codes == [404, 404, 405, 405]


async def test_limits_and_faults_can_be_changed_while_it_runs_all_or_none() -> None:
    async with serving(config(), clock=HandClock()) as server, client(server) as http:
        wrong = await http.post("/_standin/platforms", json={"gpt": {"error_503": 1.0}, "other": {"rate": 1}})
        before = (await ask(http, "t/1")).status_code
        right = await http.post("/_standin/platforms", json={"gpt": {"error_503": 1.0, "rate": 2}})
        after = [(await ask(http, f"t/{n}")).status_code for n in (2, 3)]
    assert (wrong.status_code, before) == (400, 200)
    assert "no platform 'other'" in wrong.json()["error"]["message"]
    assert (right.json()["gpt"]["rate"], right.json()["gpt"]["in_flight"]) == (2, 50)
    assert after == [503, 429]


async def test_log_audit_and_health_tell_what_happened() -> None:
    async with serving(config(rate=1), clock=HandClock()) as server, client(server) as http:
        await ask(http, "t/1")
        await ask(http, "t/2")
        log = [json.loads(line) for line in (await http.get("/_standin/log")).text.splitlines()]
        account = (await http.get("/_standin/audit")).json()
        health = (await http.get("/_standin/health")).json()
    assert [row["request_id"] for row in log] == ["t/1", "t/2"]
    assert (account["calls"], account["throttled"], account["platforms"]["gpt"]["max_admitted_in_second"]) == (2, 1, 1)
    assert (health["status"], health["platforms"]["gpt"]["calls"]) == ("ok", 2)


async def test_a_restarted_stand_in_goes_on_with_its_log_and_drops_a_line_cut_short(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    async with serving(config(log=log)) as server, client(server) as http:
        await ask(http, "t/1")
    with log.open("a", encoding="utf-8") as file:
        file.write('{"platform":"gp')
    async with serving(config(log=log)) as server, client(server) as http:
        await ask(http, "t/2")
        account = (await http.get("/_standin/audit")).json()
    lines = log.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["request_id"] for line in lines] == ["t/1", "t/2"]
    assert account["repeated_calls"] == {"by_task": 1, "by_prompt": 1, "agree": True}


async def test_stopping_writes_down_the_calls_under_way(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    async with serving(config(log=log, hang=1.0)) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_request())
        await until(lambda: in_flight(server) == 1)
    writer.close()
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert (json.loads(line)["outcome"], json.loads(line)["lost"]) == ("hang", True)


async def test_a_log_that_cannot_be_written_ends_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(row: CallRow) -> None:
        raise OSError(28, "No space left on device")

    async with serving(config()) as server, client(server) as http:
        monkeypatch.setattr(server.desk.log, "add", full)
        await ask(http)
        async with asyncio.timeout(20):
            await server.ended.wait()
        assert server.failure is not None


async def test_calls_under_way_are_told_with_the_callers_port_and_how_they_will_end() -> None:
    async with serving(config(median=NEVER, cap=NEVER)) as server, client(server) as http:
        asked = asyncio.create_task(ask(http, "t/1"))
        await until(lambda: bool(server.desk.under_way))
        (told,) = (await http.get("/_standin/calls")).json()
        asked.cancel()
    assert (told["platform"], told["request_id"], told["outcome"]) == ("gpt", "t/1", "ok")
    assert told["port"] > 0


async def test_whoever_waits_for_a_calls_end_is_told_whether_it_was_answered() -> None:
    async with serving(config(median=0.2)) as server, client(server) as http:
        asked = asyncio.create_task(ask(http, "t/1"))
        await until(lambda: bool(server.desk.under_way))
        told = await http.post("/_standin/ended", json={"request_id": "t/1"})
        await asked
        late = await http.post("/_standin/ended", json={"request_id": "t/1"})
        wrong = await http.post("/_standin/ended", content=b"[]")
    assert (told.status_code, told.json()) == (200, {"complete": True})
    assert (late.status_code, wrong.status_code) == (404, 400)


async def test_a_call_whose_client_goes_was_not_answered() -> None:
    async with serving(config(median=NEVER, cap=NEVER)) as server, client(server) as http:
        asked = asyncio.create_task(ask(http, "t/1"))
        await until(lambda: bool(server.desk.under_way))
        waiting = asyncio.create_task(http.post("/_standin/ended", json={"request_id": "t/1"}))
        await until(lambda: any(call.waiting for call in server.desk.under_way))
        asked.cancel()
        told = await waiting
    assert told.json() == {"complete": False}


async def test_made_up_answers_name_the_brands_that_are_told_while_it_runs() -> None:
    async with serving(config()) as server, client(server) as http:
        wrong = await http.post("/_standin/brands", json=["Kettler", 3])
        right = await http.post("/_standin/brands", json=["Kettler"])
        texts = [(await ask(http, f"t/{n}", f"Which kettle, for {n} people?")).text for n in range(12)]
    assert (wrong.status_code, right.json()) == (400, {"brands": ["Kettler"]})
    assert sum("Kettler" in text for text in texts) >= 6


async def test_a_key_can_be_tried_at_the_list_of_models_and_that_is_no_call() -> None:
    async with serving(config()) as server, client(server) as http:
        codes = [
            (await http.get(path)).status_code for path in ("/gpt/v1/models", "/gpt/v1/v1/models", "/other/models")
        ]
        assert server.desk.log.rows == []
    assert codes == [200, 200, 404]
