"""``brandvane logs``: are the lines of all functions shown in their order, and only those that were asked for?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from brandvane.cli.aws_context import AwsContext
from brandvane.cli.errors import CliError
from brandvane.cli.log_reader import Line, LogReader, Wanted, line_of
from brandvane.cli.logs_command import followed, logs, since_of
from unit.paged_client import PagedClient

NOW = 1_760_000_000.0  # 2025-10-09 08:53:20 UTC
WORKER, SCANNER = "/aws/lambda/shop-worker-openai", "/aws/lambda/shop-scanner"
OTHERS = "/aws/lambda/shop-prod-scanner"


def _said(at: float, message: str, level: str = "INFO", **fields: Any) -> dict[str, Any]:
    """An event as Powertools writes it."""
    text = json.dumps({"level": level, "location": "flush:60", "message": message, "service": "worker", **fields})
    return {"timestamp": int((NOW + at) * 1000), "message": text + "\n", "eventId": f"{message}-{at}"}


EVENTS = {
    WORKER: [
        _said(-50, "call_failed", "WARNING", run_id="day", task_id="t1", platform="openai", kind="timeout"),
        {"timestamp": int((NOW - 40) * 1000), "message": "2025-10-09 Task timed out after 150.00 seconds\n\n", "eventId": "x"},
    ],
    SCANNER: [_said(-45, "sweep", run_id="night"), _said(-30, "lease_lost", "ERROR", run_id="day", platform="openai")],
    OTHERS: [_said(-20, "strange")],
}  # fmt: skip


def _client(events: dict[str, list[dict[str, Any]]] = EVENTS) -> PagedClient:
    def found(logGroupName: str, startTime: int, **_: Any) -> Any:  # noqa: N803 - boto3's spelling
        return {"events": [each for each in events[logGroupName] if each["timestamp"] >= startTime]}

    groups = [{"logGroups": [{"logGroupName": name}]} for name in events]
    return PagedClient(describe_log_groups=groups, filter_log_events=found)


def _read(wanted: Wanted | None = None, since: float = NOW - 900) -> list[str]:
    return [line.message for line in LogReader(_client(), "shop", wanted or Wanted()).read(since)]


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> PagedClient:
    """The client that the command gets; its clock stands still."""
    made = _client()
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(AwsContext, "client", lambda _self, _service: made)
    monkeypatch.setattr("brandvane.cli.logs_command.time.time", lambda: NOW)
    return made


def _say(*words: str) -> Result:
    return CliRunner().invoke(logs, ["--stack", "shop", *words])


def test_lines_of_all_functions_come_in_the_order_of_time() -> None:
    assert _read() == ["call_failed", "sweep", "2025-10-09 Task timed out after 150.00 seconds", "lease_lost"]


def test_lines_before_since_are_left_out() -> None:
    assert _read(since=NOW - 42) == ["2025-10-09 Task timed out after 150.00 seconds", "lease_lost"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(run="day"), ["call_failed", "lease_lost"]),
        (Wanted(task="t1"), ["call_failed"]),
        (Wanted(run="day", level="ERROR"), ["lease_lost"]),
        (Wanted(level="WARNING"), ["call_failed", "2025-10-09 Task timed out after 150.00 seconds", "lease_lost"]),
        # Its worker's lines belong to a platform even when they are no JSON.
        (Wanted(platform="openai"), ["call_failed", "2025-10-09 Task timed out after 150.00 seconds", "lease_lost"]),
        (Wanted(platform="hunyuan"), []),
    ],
)
def test_only_lines_that_were_asked_for(wanted: Wanted, expected: list[str]) -> None:
    assert _read(wanted) == expected


def test_cloudwatch_is_asked_for_the_run_and_the_task_and_for_all_lines_otherwise() -> None:
    assert Wanted(run="day", task="t1").pattern() == '{ ($.run_id = "day") && ($.task_id = "t1") }'
    assert Wanted(run='a"b').pattern() == '{ ($.run_id = "ab") }'
    assert Wanted(platform="openai", level="ERROR").pattern() is None


def test_a_second_page_is_read_as_well() -> None:
    def paged(nextToken: str = "", **_: Any) -> Any:  # noqa: N803 - boto3's spelling
        number = int(nextToken or 0)
        page: dict[str, Any] = {"events": [_said(number, f"line {number}")]}
        return page if number == 2 else {**page, "nextToken": str(number + 1)}

    client = PagedClient(describe_log_groups={"logGroups": [{"logGroupName": SCANNER}]}, filter_log_events=paged)

    assert [line.message for line in LogReader(client, "shop", Wanted()).read(NOW)] == ["line 0", "line 1", "line 2"]


def test_a_stack_without_log_groups_is_one_sentence() -> None:
    client = PagedClient(describe_log_groups={"logGroups": [{"logGroupName": OTHERS}]})

    with pytest.raises(CliError, match=r"^stack 'shop' has no log groups: it is not deployed, or not in this account"):
        LogReader(client, "shop", Wanted()).read(NOW)


def test_following_shows_every_line_once_also_one_that_comes_late() -> None:
    events = {SCANNER: [_said(0, "first")]}
    shown: list[str] = []
    clock = iter([NOW, NOW + 3, NOW + 100])

    def sleep(_seconds: float) -> None:
        if len(shown) == 3:
            raise KeyboardInterrupt
        # The second is older than the first, and was written after it had been shown.
        events[SCANNER].append(_said(-10, "second") if len(shown) == 1 else _said(50, "third"))

    def show(line: Line) -> None:
        shown.append(line.message)

    reader = LogReader(_client(events), "shop", Wanted())
    with pytest.raises(KeyboardInterrupt):
        followed(reader, show, NOW - 60, lambda: next(clock), sleep)

    assert shown == ["first", "second", "third"]


def test_a_line_shows_time_level_function_message_and_what_it_is_about(client: PagedClient) -> None:
    lines = _say("--run", "day").stdout.splitlines()

    assert lines == [
        "2025-10-09 08:52:30.000 WARNING worker-openai call_failed run_id=day task_id=t1 platform=openai kind=timeout",
        "2025-10-09 08:52:50.000 ERROR   scanner lease_lost run_id=day platform=openai",
    ]
    assert client.asked[-1][1]["filterPattern"] == '{ ($.run_id = "day") }'
    assert client.asked[-1][1]["startTime"] == int((NOW - 900) * 1000)


def test_as_json_each_line_is_a_document_with_all_its_fields(client: PagedClient) -> None:
    documents = [json.loads(line) for line in _say("--level", "error", "--json").stdout.splitlines()]

    assert [(each["at"], each["function"], each["message"]) for each in documents] == [
        ("2025-10-09T08:52:40.000Z", "worker-openai", "2025-10-09 Task timed out after 150.00 seconds"),
        ("2025-10-09T08:52:50.000Z", "scanner", "lease_lost"),
    ]
    assert documents[1]["location"] == "flush:60"


def test_on_an_emulator_its_own_choice_of_lines_is_not_asked_for(
    client: PagedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    assert len(_say("--run", "day").stdout.splitlines()) == 2
    assert "filterPattern" not in client.asked[-1][1]


def test_no_line_is_said_on_stderr_so_that_a_pipe_stays_empty(client: PagedClient) -> None:
    result = _say("--run", "none")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no such lines since 2025-10-09T08:38:20Z\n"


def test_what_lambda_writes_around_an_invocation_is_shown_only_to_those_who_debug(client: PagedClient) -> None:
    frame = {"timestamp": int((NOW - 5) * 1000), "message": "START RequestId: 1 Version: $LATEST\n", "eventId": "f"}
    client.operations["filter_log_events"] = {"events": [frame]}
    client.operations["describe_log_groups"] = {"logGroups": [{"logGroupName": SCANNER}]}

    assert _say().stdout == ""
    assert _say("--level", "debug").stdout == (
        "2025-10-09 08:53:15.000 DEBUG   scanner START RequestId: 1 Version: $LATEST\n"
    )


def test_control_characters_of_a_message_do_not_reach_the_terminal() -> None:
    line = line_of({"timestamp": 0, "message": '{"message": "a\\u001b[2Jb", "level": "INFO"}'}, "scanner")

    assert line.message == "a\x1b[2Jb"  # as it is, for JSON; shown escaped (cli/view.py)


@pytest.mark.parametrize(
    ("text", "at"),
    [("30s", NOW - 30), ("15m", NOW - 900), ("2h", NOW - 7200), ("1d", NOW - 86_400), ("2025-10-09T08:00", NOW - 3200)],
)
def test_since_is_so_long_ago_or_an_instant(text: str, at: float) -> None:
    assert since_of(text, NOW) == at


def test_since_that_means_nothing_is_wrong_usage() -> None:
    with pytest.raises(CliError, match=r"^--since: 'soon' is no time: write such as 30s, 15m") as caught:
        since_of("soon", NOW)
    assert caught.value.exit_code == 2


def test_lines_that_are_only_metrics_are_left_out() -> None:
    told = json.dumps({"_aws": {"Timestamp": 1, "CloudWatchMetrics": []}, "stack": "shop", "Calls": [1.0]})
    event = {"timestamp": int((NOW - 10) * 1000), "message": told, "eventId": "metric"}
    reader = LogReader(_client({WORKER: [event, _said(-5, "tick")]}), "shop", Wanted())
    assert [line.message for line in reader.read(NOW - 900)] == ["tick"]
