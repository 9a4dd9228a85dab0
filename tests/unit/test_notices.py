"""Does a message say which platform, since when, what it means, what to type, and where to read on?"""

from __future__ import annotations

import re

import pytest

from brandvane.alarms import ALARMS, OUTAGE, OUTAGE_SEVERITY, definition
from brandvane.notices.notice import compose
from brandvane.notices.words import WORDS
from unit.notice_samples import RUNBOOK, TOPIC, change, metric_alarm, notice

# Beside the table's: one page for a platform's outage, and AWS Budgets.
SEVERITIES = {
    **{alarm.id: alarm.severity for alarm in ALARMS.values()},
    OUTAGE: OUTAGE_SEVERITY,
    "account-spend": "P2",
}


def test_every_alarm_has_its_words_and_its_severity() -> None:
    assert {alarm: words.severity for alarm, words in WORDS.items()} == SEVERITIES


def test_an_alarm_as_it_is_deployed_is_known_with_its_platform() -> None:
    for alarm in ALARMS.values():
        deployed = definition(alarm, "brandvane", "openai" if alarm.per_platform else None)
        told = {
            "AlarmName": deployed["AlarmName"],
            "AlarmDescription": deployed["AlarmDescription"],
            "Trigger": {"MetricName": deployed["MetricName"], "Dimensions": deployed["Dimensions"]},
        }
        platform = "openai" if alarm.per_platform else ""
        assert (change(told, topic="").alarm, change(told, topic="").platform) == (alarm.id, platform)


@pytest.mark.parametrize("alarm", WORDS)
def test_every_alarm_reads_in_both_languages(alarm: str) -> None:
    told = change(metric_alarm(AlarmName=f"brandvane-openai-{alarm}", AlarmDescription=None), topic="")
    english, chinese = (
        compose(told, stack="brandvane", language=language, runbook=RUNBOOK, time_zone="UTC")
        for language in ("en", "zh")
    )
    assert (told.alarm, told.platform, told.severity) == (alarm, "openai", SEVERITIES[alarm])
    assert english.title == f"[{SEVERITIES[alarm]}] {WORDS[alarm].title.en} · openai"
    assert english.link == f"{RUNBOOK}#{alarm}"
    assert english.commands == chinese.commands
    assert all(command.startswith("brandvane ") and "{" not in command for command in english.commands)
    assert english.commands
    assert any("\u4e00" <= c <= "\u9fff" for c in chinese.title)
    assert len(english.lines) == len(chinese.lines) == 5
    assert not re.search(r"[\u4e00-\u9fff]", english.title + "".join(english.lines))


def test_a_message_says_where_which_since_when_what_and_why() -> None:
    told = notice()
    assert told.title == "[P1] Tasks fail · openai"
    assert told.lines == (
        "Stack: brandvane",
        "Platform: openai",
        "Since: 2026-11-29 03:04:05 UTC",
        "Meaning: Fewer than 90 % of this platform's tasks that ended in the last 5 minutes were answered.",
        "Reason: Threshold Crossed: 5 datapoints were less than the threshold (90.0).",
    )
    assert told.commands == (
        "brandvane status",
        "brandvane logs --platform openai --level warning",
        "brandvane platform list",
    )


def test_times_are_those_of_the_readers_zone() -> None:
    told = compose(change(metric_alarm()), stack="brandvane", language="zh", runbook=RUNBOOK, time_zone="Asia/Shanghai")
    assert "开始时间：2026-11-29 11:04:05 CST" in told.lines


@pytest.mark.parametrize("zone", ["Beijing", "UTC+8", "", "../etc", "/etc/localtime", "Asia"])
def test_a_zone_that_is_none_is_utc_and_the_message_says_so(zone: str) -> None:
    told = compose(change(metric_alarm()), stack="brandvane", language="en", runbook=RUNBOOK, time_zone=zone)
    assert "Since: 2026-11-29 03:04:05 UTC" in told.lines


def test_another_stack_is_named_in_every_command() -> None:
    assert notice(stack="brandvane-prod").commands[0] == "brandvane status --stack brandvane-prod"


def test_an_alarm_that_is_over_says_so_and_asks_nobody_to_type() -> None:
    told = notice(NewStateValue="OK", NewStateReason="1 datapoint was not less than the threshold")
    assert told.title == "✅ [P1] Tasks fail is over · openai"
    assert told.commands == ()
    assert notice("zh", NewStateValue="OK").title == "✅ [P1] 任务成功率低 已恢复 · openai"


def test_the_topic_tells_the_severity() -> None:
    assert change(metric_alarm(), topic=TOPIC.replace("-p1", "-p0")).severity == "P0"


def test_an_alarm_without_a_link_is_known_by_the_end_of_its_name() -> None:
    assert (
        change(metric_alarm(AlarmName="brandvane-openai-backlog-total", AlarmDescription="")).alarm == "backlog-total"
    )


def test_a_composite_alarm_has_its_platform_in_its_name() -> None:
    told = {"AlarmName": "brandvane-deepseek-platform-outage", "AlarmRule": "ALARM(a) AND ALARM(b)"}
    assert (change(told).alarm, change(told).platform) == ("platform-outage", "deepseek")


def test_a_calculated_alarm_has_its_platform_in_its_metrics() -> None:
    metric = {"MetricName": "Calls", "Dimensions": [{"name": "Platform", "value": "hunyuan"}]}
    trigger = {"Metrics": [{"Id": "rate", "Expression": "a/b"}, {"Id": "a", "MetricStat": {"Metric": metric}}]}
    assert change(metric_alarm(AlarmName="brandvane-success-rate", Trigger=trigger)).platform == "hunyuan"


def test_a_platform_that_is_none_is_not_shown_and_never_typed() -> None:
    hostile = {"Dimensions": [{"name": "Platform", "value": "x; rm -rf /"}]}
    told = notice(Trigger=hostile, AlarmName="brandvane-success-rate")
    assert "rm -rf" not in "".join((told.title, *told.lines, *told.commands))
    assert "brandvane logs --platform PLATFORM --level warning" in told.commands


def test_what_nobody_understands_still_reaches_people_in_one_short_line() -> None:
    told = change("AWS Budget Notification\n" + "x" * 500, subject="AWS Budgets: too much")
    shown = compose(told, stack="brandvane", language="en", runbook=RUNBOOK, time_zone="UTC")
    assert shown.title == "[P1] Alarm AWS Budgets: too much"
    assert told.detail.startswith("AWS Budget Notification xxx")
    assert len(told.detail) == 300
    assert shown.link == RUNBOOK


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", '{"AlarmName": null}', '{"AlarmName": "x", "Trigger": [1, null]}']
)
def test_no_message_is_ever_an_error(text: str) -> None:
    assert change(text).state == "ALARM"
