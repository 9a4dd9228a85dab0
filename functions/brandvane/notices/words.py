"""What does each alarm say to people, in English and Chinese, and what do they type first? One row an alarm.

The keys are the anchors of docs/runbook.md. In commands ``{platform}`` stands for the alarm's platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Text:
    """The same in both languages."""

    en: str
    zh: str

    def get(self, language: Language) -> str:
        """In one of them."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Words:
    """An alarm's severity, its name, what it means, and the commands to begin with."""

    severity: str
    title: Text
    meaning: Text
    commands: tuple[str, ...]


WORDS: Mapping[str, Words] = {
    "success-rate": Words(
        "P1",
        Text("Tasks fail", "任务成功率低"),
        Text(
            "Fewer than 90 % of this platform's tasks that ended in the last 5 minutes were answered.",
            "最近 5 分钟该平台结束的任务中，得到答案的不足 90%。",
        ),
        ("brandvane status", "brandvane logs --platform {platform} --level warning", "brandvane platform list"),
    ),
    "backlog": Words(
        "P2",
        Text("Due tasks pile up", "到期任务积压"),
        Text(
            "More than 1,000 tasks are due and not started: the queue is not consumed, or slower than planned.",
            "超过 1000 个任务已到期但未开始：队列没有被消费，或消费速度低于计划。",
        ),
        ("brandvane status", "brandvane platform list"),
    ),
    "backlog-total": Words(
        "P2",
        Text("Due tasks pile up on all platforms", "所有平台到期任务积压"),
        Text(
            "More than 1,000 tasks of all platforms together are due and not started.",
            "所有平台合计超过 1000 个任务已到期但未开始。",
        ),
        ("brandvane status", "brandvane platform list"),
    ),
    "pulled-not-started": Words(
        "P1",
        Text("Pulled but not started", "已拉取但未执行"),
        Text(
            "More than 10 % of the tasks in hand were claimed over 30 s ago and their call has not begun:"
            " workers die or hang before the call.",
            "在手任务中超过 10% 被拉取 30 秒以上仍未开始调用：执行进程在调用前崩溃或卡住。",
        ),
        ("brandvane status", "brandvane logs --platform {platform} --level warning"),
    ),
    "write-back-pending": Words(
        "P1",
        Text("Answers are not written back", "结果未回写"),
        Text(
            "More than 50 answers are safe in their records but have no result row: the results table or bucket refuses.",
            "超过 50 个答案已安全保存，但结果行尚未写入：结果表或存储桶拒绝写入。",
        ),
        ("brandvane status", "brandvane logs --level warning"),
    ),
    "global-timeouts": Words(
        "P0",
        Text("Calls ran out of time unnoticed", "任务全局超时"),
        Text(
            "Running tasks whose lease ended were taken over by the scanner: their worker died or hung in the call.",
            "执行中的任务租约到期，被扫描器接管：执行进程在调用中崩溃或卡死。",
        ),
        ("brandvane status", "brandvane logs --level warning"),
    ),
    "retries-used-up": Words(
        "P2",
        Text("Retries used up", "重试次数耗尽"),
        Text(
            "More than 0.5 % of the tasks that ended in the last hour failed after all their retries.",
            "最近一小时结束的任务中，超过 0.5% 在用尽重试后失败。",
        ),
        ("brandvane run status", "brandvane logs --platform {platform} --level warning"),
    ),
    "retry-storm": Words(
        "P1",
        Text("Retry storm", "重试风暴"),
        Text(
            "More than 30 % of the calls of the last 5 minutes are repeats or were refused with 429.",
            "最近 5 分钟的调用中，超过 30% 是重试或被 429 拒绝。",
        ),
        ("brandvane platform list", "brandvane logs --platform {platform} --level warning"),
    ),
    "run-not-planned": Words(
        "P0",
        Text("A due run is not planned", "任务批次未生成"),
        Text(
            "A run should have begun 10 minutes ago and its plan is not complete: nothing, or not everything, will be asked.",
            "批次应在 10 分钟前开始，但计划仍未完成：任务没有或没有全部生成。",
        ),
        ("brandvane run list", "brandvane logs --level warning", "brandvane run start"),
    ),
    "deadline-at-risk": Words(
        "P1",
        Text("The deadline is at risk", "可能无法按时完成"),
        Text(
            "At the present speed the run ends after its deadline.",
            "按当前速度，批次将在截止时间之后才完成。",
        ),
        ("brandvane run status", "brandvane platform list"),
    ),
    "deadline-missed": Words(
        "P0",
        Text("The deadline was missed", "已错过截止时间"),
        Text(
            "Tasks ended unasked because the run's deadline had passed.",
            "截止时间已过，有任务未执行即结束（expired）。",
        ),
        ("brandvane run status", "brandvane run list"),
    ),
    "no-report": Words(
        "P1",
        Text("No report", "报告未生成"),
        Text(
            "30 minutes after a run finished or its deadline passed there is no report.",
            "批次完成或截止 30 分钟后仍没有报告。",
        ),
        ("brandvane run list", "brandvane logs --level warning"),
    ),
    "dead-letters": Words(
        "P0",
        Text("Dead letters", "死信队列有消息"),
        Text(
            "A message could not be worked on after all its tries and lies on a dead-letter queue.",
            "有消息在多次尝试后仍无法处理，进入死信队列。",
        ),
        ("brandvane dead-letters list", "brandvane dead-letters redrive"),
    ),
    "scanner-heartbeat": Words(
        "P0",
        Text("The scanner is silent", "扫描器失去心跳"),
        Text(
            "No sweep has ended for 3 minutes, or none could read everything: tasks may not be rescued. Other alarms are blind now.",
            "3 分钟内没有一次扫描完成，或扫描读不全数据：超时任务可能无人接管，其他告警此刻均不可信。",
        ),
        ("brandvane doctor --aws", "brandvane logs --level warning"),
    ),
    "platform-paused": Words(
        "P1",
        Text("A platform is paused", "平台已暂停"),
        Text(
            "No calls are made there; its tasks wait. Key, credit, budget, a run of failures, or a person.",
            "该平台不再发起调用，任务等待中。原因可能是密钥、余额、预算、连续失败或人工暂停。",
        ),
        ("brandvane platform list", "brandvane platform resume {platform}"),
    ),
    "spend-80": Words(
        "P2",
        Text("80 % of the day's budget is spent", "当日预算已用 80%"),
        Text(
            "Model spend of the day has reached 80 % of the budget; at 100 % calls stop until the budget's day ends.",
            "当日模型费用已达预算的 80%；达到 100% 时将停止调用，直到预算日结束。",
        ),
        ("brandvane platform list", "brandvane run status"),
    ),
    "spend-100": Words(
        "P1",
        Text("The day's budget is spent", "当日预算已用完"),
        Text(
            "The platform is paused (reason: budget) until the budget's day ends in the monitor's time zone.",
            "平台因预算用完而暂停，直到预算日结束（按监控配置的时区）。",
        ),
        ("brandvane platform list", "brandvane run status"),
    ),
    "platform-outage": Words(
        "P1",
        Text("A platform is out", "平台故障"),
        Text(
            "At least one alarm of this platform is on, perhaps several: this one page stands for all of them.",
            "该平台至少有一个告警触发（可能多个），本消息代表全部。",
        ),
        ("brandvane status", "brandvane platform list", "brandvane logs --platform {platform} --level warning"),
    ),
    "account-spend": Words(
        "P2",
        Text("AWS costs more than expected", "AWS 费用超出预期"),
        Text(
            "AWS Budgets: the account's cost of this month has passed 80 % (P2) or all (P1) of its budget. Model calls are not in it.",
            "AWS Budgets：本月账户费用已超过预算的 80%（P2）或 100%（P1），不含模型调用费用。",
        ),
        ("brandvane doctor --aws", "brandvane status"),
    ),
}
