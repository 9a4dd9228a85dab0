"""Does every chat get every message, once, whoever else fails, and without a secret in any log?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

import notifier as notifier_function
from brandvane.aws.client import Refused
from brandvane.aws.environment import Environment, Settings
from brandvane.engine.notify import Arrived, NotDelivered, Notifier, Wishes
from brandvane.notices.courier import HttpCourier
from brandvane.ports import Unavailable
from brandvane.simulation.memory_clock import ManualClock
from brandvane.simulation.memory_world import RecordedTelemetry
from unit.aws_fakes import FakeClient, clients_with
from unit.notice_samples import TOPIC, arrived, metric_alarm

SECRET = "hook-token"
STORED = {
    "/bv/slack": f"https://slack.example/{SECRET}",
    "/bv/feishu": f"https://feishu.example/{SECRET} {SECRET}",
}


class Post:
    """A courier that keeps what it carries; each host answers what it is told to."""

    def __init__(self, **answers: tuple[int, bytes] | Exception) -> None:
        self.answers = answers
        self.carried: list[tuple[str, Mapping[str, Any]]] = []

    async def post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        """One request."""
        host = url.split("/")[2].split(".")[0]
        self.carried.append((host, body))
        answer = self.answers.get(host, (200, b'{"code":0}'))
        if isinstance(answer, Exception):
            raise answer
        return answer


class Stored:
    """Hooks as they are stored."""

    def __init__(self, values: Mapping[str, str | Exception]) -> None:
        self.values = values

    async def read(self, name: str) -> str | None:
        """One of them."""
        value = self.values.get(name)
        if isinstance(value, Exception):
            raise value
        return value


def notifier(post: Post, telemetry: RecordedTelemetry, stored: Mapping[str, str | Exception] = STORED) -> Notifier:
    hooks = {"slack": "/bv/slack", "feishu": "/bv/feishu"}
    wishes = Wishes(stack="brandvane", hooks=hooks, language="en", runbook="docs/runbook.md", time_zone="UTC")
    return Notifier(wishes=wishes, hooks=Stored(stored), courier=post, clock=ManualClock(0.0), telemetry=telemetry)


def handled(sut: Notifier, *messages: Arrived) -> int:
    return asyncio.run(sut.handle(messages))


def test_every_message_goes_to_every_chat() -> None:
    post = Post()
    assert handled(notifier(post, RecordedTelemetry()), arrived("m1"), arrived("m2")) == 4
    assert [host for host, _ in post.carried] == ["slack", "feishu", "slack", "feishu"]


def test_one_chat_that_fails_keeps_no_other_from_it_and_only_it_is_tried_again() -> None:
    post = Post(slack=Unavailable("no response (ConnectError)"))
    sut = notifier(post, RecordedTelemetry())
    with pytest.raises(NotDelivered, match=r"^slack: no response \(ConnectError\)$"):
        handled(sut, arrived())
    post.answers = {}
    assert handled(sut, arrived()) == 1
    assert [host for host, _ in post.carried] == ["slack", "feishu", "slack"]


def test_a_chat_that_refuses_is_a_failure_with_its_code() -> None:
    with pytest.raises(NotDelivered, match=r"^feishu: code 19021$"):
        handled(notifier(Post(feishu=(200, b'{"code":19021}')), RecordedTelemetry()), arrived())


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (None, "there is no SSM parameter /bv/slack"),
        (f"http://slack.example/{SECRET}", "SSM parameter /bv/slack: its first word is no https URL"),
        (Refused("AccessDeniedException", SECRET, {}), "Refused"),
    ],
)
def test_a_hook_that_cannot_be_used_names_its_parameter_and_never_its_value(
    stored: str | Exception | None, why: str
) -> None:
    telemetry = RecordedTelemetry()
    values = {name: value for name, value in {**STORED, "/bv/slack": stored}.items() if value is not None}
    with pytest.raises(NotDelivered) as raised:
        handled(notifier(Post(), telemetry, values), arrived())
    assert str(raised.value) == f"slack: {why}"
    assert SECRET not in repr(telemetry.events)


def test_a_message_that_cannot_be_composed_is_sent_as_it_is_and_keeps_no_other_from_people() -> None:
    post, telemetry = Post(), RecordedTelemetry()
    hostile = arrived("m1", Trigger={"Dimensions": 7})
    assert handled(notifier(post, telemetry), hostile, arrived("m2")) == 4
    text = post.carried[0][1]["text"]
    assert text.splitlines()[0] == "*Alarm ALARM*"
    assert '{"AlarmName": "brandvane-openai-success-rate"' in text
    assert telemetry.events[0] == ("notice_not_composed", {"error": "TypeError"})


def test_without_chats_nothing_is_sent_and_the_alarm_is_logged() -> None:
    telemetry = RecordedTelemetry()
    wishes = Wishes(stack="brandvane", hooks={}, language="en", runbook="r", time_zone="UTC")
    sut = Notifier(wishes=wishes, hooks=Stored({}), courier=Post(), clock=ManualClock(0.0), telemetry=telemetry)
    assert handled(sut, arrived()) == 0
    assert telemetry.events == [("alarm", {"alarm": "success-rate", "state": "ALARM", "platform": "openai"})]


def test_what_httpx_says_of_an_address_is_not_told() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"cannot reach {request.url}")

    async def sent() -> None:
        courier = HttpCourier(httpx.AsyncClient(transport=httpx.MockTransport(broken)))
        await courier.post(f"https://slack.example/{SECRET}", {})

    with pytest.raises(Unavailable) as raised:
        asyncio.run(sent())
    assert str(raised.value) == "no response (ConnectError)"
    assert raised.value.__suppress_context__


def test_a_redirect_is_not_followed() -> None:
    def moved(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"Location": "https://evil.example"})

    async def sent() -> tuple[int, bytes]:
        return await HttpCourier(httpx.AsyncClient(transport=httpx.MockTransport(moved))).post("https://a.example", {})

    assert asyncio.run(sent()) == (302, b"")


def test_the_entry_point_reads_each_record_and_asks_only_for_the_hooks_that_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("STACK_NAME", "TASKS_TABLE", "RESULTS_TABLE", "RUNS_TABLE", "CONTROL_TABLE", "STATS_TABLE", "DATA_BUCKET")
    for name, value in {**dict.fromkeys(names, "brandvane"), "SLACK_WEBHOOK": "/bv/slack"}.items():
        monkeypatch.setenv(name, value)
    ssm = FakeClient(get_parameter=[{"Parameter": {"Value": "no hook"}}])
    env = Environment(Settings.read(dict.fromkeys(names, "brandvane")))
    env.clients = clients_with(ssm=ssm)
    monkeypatch.setattr(notifier_function, "environment", lambda: env)
    notifier_function.notifier.cache_clear()
    record = {"MessageId": "m1", "TopicArn": TOPIC, "Subject": None, "Message": json.dumps(metric_alarm())}
    with pytest.raises(NotDelivered, match=r"^slack: SSM parameter /bv/slack: its first word is no https URL$"):
        notifier_function.handler({"Records": [{"Sns": record}]}, None)
    assert ssm.sent("get_parameter") == [{"Name": "/bv/slack", "WithDecryption": True}]
    notifier_function.notifier.cache_clear()
