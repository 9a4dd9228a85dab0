"""Does a message say which platform, since when, what it means, what to type, and where to read on?"""

from __future__ import annotations

import re

import pytest

from brandvane.alarms import ALARMS, OUTAGE, OUTAGE_SEVERITY, definition
from brandvane.notices.alarm import AlarmChange
from brandvane.notices.notice import Notice, compose
from brandvane.notices.words import WORDS, Language
from unit.notice_samples import BUDGETS_SUBJECT, BUDGETS_TEXT, RUNBOOK, TOPIC, change, metric_alarm, notice, outage

# Beside the table's: one page for a platform's outage, and AWS Budgets.
SEVERITIES = {
    **{alarm.id: alarm.severity for alarm in ALARMS.values()},
    OUTAGE: OUTAGE_SEVERITY,
    "account-spend": "P2",
}


def composed(told: AlarmChange, language: Language = "en") -> Notice:
    return compose(told, stack="brandvane", language=language, runbook=RUNBOOK, time_zone="UTC")


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


def test_a_composite_alarm_names_the_parts_that_brought_it_about_and_their_commands() -> None:
    told = composed(change(outage("platform-paused", "success-rate")))
    assert told.title == "[P1] A platform is out · openai"
    assert told.lines[3:5] == (
        (
            "Part: A platform is paused: No calls are made there; its tasks wait. Key, credit, budget, a run of failures,"
            " or a person."
        ),
        "Part: Tasks fail: Fewer than 90 % of this platform's tasks that ended in the last 5 minutes were answered.",
    )
    assert told.commands == (
        "brandvane platform list",
        "brandvane platform resume openai",
        "brandvane status",
        "brandvane logs --platform openai --level warning",
    )
    assert told.link == f"{RUNBOOK}#platform-outage"


def test_a_composite_alarm_names_its_parts_in_chinese_too() -> None:
    told = composed(change(outage("retry-storm")), "zh")
    assert told.title == "[P1] 平台故障 · openai"
    assert told.lines[3] == "触发项：重试风暴：最近 5 分钟的调用中，超过 30% 是重试或被 429 拒绝。"


def test_a_composite_alarm_names_three_parts_at_most() -> None:
    told = change(outage("success-rate", "pulled-not-started", "retry-storm", "platform-paused"))
    assert told.parts == ("success-rate", "pulled-not-started", "retry-storm")


@pytest.mark.parametrize(
    "children",
    [None, [], "x", [1, {}, {"Arn": 1, "State": "ALARM"}], [{"Arn": "a:alarm:other", "State": {"Value": "ALARM"}}]],
)
def test_a_composite_alarm_that_names_no_part_of_ours_says_what_it_stands_for(children: object) -> None:
    told = composed(change(outage(TriggeringChildren=children)))
    assert (
        "Meaning: At least one alarm of this platform is on, perhaps several: this one page stands for all of them."
        in (told.lines)
    )
    assert told.commands == (
        "brandvane status",
        "brandvane platform list",
        "brandvane logs --platform openai --level warning",
    )


def test_a_composite_alarm_that_is_over_names_no_part() -> None:
    told = composed(change(outage("success-rate", state="OK")))
    assert told.title == "✅ [P1] A platform is out is over · openai"
    assert (len(told.lines), told.commands) == (4, ())


def test_a_part_that_is_over_is_not_named() -> None:
    over = {"Arn": "arn:aws:cloudwatch:r:0:alarm:brandvane-openai-retry-storm", "State": {"Value": "OK"}}
    assert change(outage(TriggeringChildren=[over])).parts == ()


@pytest.mark.parametrize(("topic", "severity"), [("-p2", "P2"), ("-p1", "P1")])
def test_a_message_of_aws_budgets_is_the_accounts_spend_with_its_topics_severity(topic: str, severity: str) -> None:
    told = composed(change(BUDGETS_TEXT, topic=TOPIC.replace("-p1", topic), subject=BUDGETS_SUBJECT))
    assert told.title == f"[{severity}] AWS costs more than expected"
    assert told.lines == (
        "Stack: brandvane",
        (
            "Meaning: AWS Budgets: the account's cost of this month has passed 80 % (P2) or all (P1) of its budget."
            " Model calls are not in it."
        ),
        (
            "Reason: Budget Name: brandvane-monthly; Budget Type: Cost; Budgeted Amount: $100.00; Alert Type: ACTUAL;"
            " Alert Threshold: > $80.00; ACTUAL Amount: $82.41"
        ),
    )
    assert told.commands == ("brandvane doctor --aws", "brandvane status")
    assert told.link == f"{RUNBOOK}#account-spend"


def test_a_message_of_aws_budgets_reads_in_chinese() -> None:
    told = composed(change(BUDGETS_TEXT, topic=TOPIC.replace("-p1", "-p2"), subject=BUDGETS_SUBJECT), "zh")
    assert told.title == "[P2] AWS 费用超出预期"
    assert told.lines[1] == "含义：AWS Budgets：本月账户费用已超过预算的 80%（P2）或 100%（P1），不含模型调用费用。"


@pytest.mark.parametrize(
    ("text", "subject"),
    [(BUDGETS_TEXT, ""), ("the figures, in another form", BUDGETS_SUBJECT)],
    ids=["text", "subject"],
)
def test_aws_budgets_is_known_by_its_text_or_its_subject_alone(text: str, subject: str) -> None:
    assert change(text, subject=subject).alarm == "account-spend"


def test_what_nobody_understands_still_reaches_people_in_one_short_line() -> None:
    told = change("AWS Health\n" + "x" * 500, subject="AWS Health: something")
    shown = composed(told)
    assert shown.title == "[P1] Alarm AWS Health: something"
    assert told.detail.startswith("AWS Health xxx")
    assert len(told.detail) == 300
    assert shown.link == RUNBOOK


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", '{"AlarmName": null}', '{"AlarmName": "x", "Trigger": [1, null]}']
)
def test_no_message_is_ever_an_error(text: str) -> None:
    assert change(text).state == "ALARM"
