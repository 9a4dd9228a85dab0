"""What is done to a running stack so that an alarm has its real cause, and how is it undone?

Causes stand in acts. Those of one act touch different platforms or different metrics and are carried out one after another at once,
so that all of them fire in the same minutes; each alarm is judged by its own dimensions.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from alarms.case import Case
from alarms.ground import Ground
from alarms.judgement import Value
from brandvane.aws.keys import key_parameter, tables_of
from brandvane.cli.chaos_schedules import DISPATCHER, Schedules
from brandvane.cli.local_stack import DUMMY_KEY
from brandvane.gauges import FAR_S, NO_REPORT_S
from brandvane.messages import calls_queue
from brandvane.ports import Envelope
from brandvane.run import RunState

A, B, C = "openai", "hunyuan", "deepseek"
ONE, ALL = Value(1, 1), Value(100, 100)
UNPLANNED = "unplanned"
REPORT_S = 240.0  # a reporter that was refused keeps its lease for two minutes


class Causes:
    """All of them, on one stack. A cause remembers what its undoing needs."""

    def __init__(self, ground: Ground) -> None:
        self._on = ground
        self._run: dict[str, str] = {}  # label of a cause's run

    def acts(self) -> list[list[Case]]:
        """In an order in which one does not stand in another's way."""
        return [
            [
                Case("a letter on a dead-letter queue", {"dead-letters": ONE}, self._letter, self._no_letter),
                Case(
                    "a platform whose bodies cannot be used",
                    {
                        f"{A}-success-rate": Value(0, 0),
                        f"{A}-retry-storm": Value(
                            60, 100
                        ),  # three of four calls come to a retry, the fourth ends its task
                        f"{A}-retries-used-up": ALL,
                    },
                    self._unusable,
                    self._usable,
                    patience_s=420.0,
                ),
                Case("a key revoked", {f"{B}-platform-paused": ONE}, self._no_key, self._key),
                Case(
                    "nine tenths of the day's budget used",
                    {"spend-80": Value(90, 90)},
                    self._nearly_spent,
                    self._not_spent,
                ),
            ],
            [
                Case(
                    "the event source of a queue off",
                    {f"{A}-backlog": Value(1001, 1050), "backlog-total": Value(1001, 1350)},
                    self._not_consumed,
                    self._consumed,
                    patience_s=420.0,
                ),
                Case(
                    "workers killed after they pulled",
                    {f"{B}-pulled-not-started": Value(10.001, 100), "global-timeouts": Value(1, 60)},
                    self._killed,
                    self._replaced,
                ),
                Case(
                    "a deadline that cannot be kept",
                    {"deadline-at-risk": Value(1, FAR_S), "deadline-missed": Value(1, 120)},
                    self._too_early,
                    self._no_deadline,
                    patience_s=540.0,
                ),
            ],
            [
                Case(
                    "the results table refuses rows",
                    {"write-back-pending": Value(51, 120)},
                    self._no_rows,
                    self._rows,
                ),
                Case(
                    "the day's budget used up",
                    {"spend-100": Value(101, 101)},
                    self._spent,
                    self._not_spent,
                    may=("spend-80", f"{C}-platform-paused"),
                ),
            ],
            [
                Case("no report", {"no-report": ONE}, self._no_report, self._report),
                Case(
                    "the planner's schedule and the dispatcher's off",
                    {"run-not-planned": ONE},
                    self._not_planned,
                    self._planned,
                ),
            ],
            [
                Case(
                    "the scanner's schedules off",
                    {"scanner-heartbeat": Value(0, 1)},
                    self._no_scanner,
                    lambda: Schedules(self._on.state).switch(on=True),
                    patience_s=420.0,
                ),
            ],
        ]

    def _end(self, name: str) -> None:
        """Cancel a cause's run, if it came to be."""
        if name in self._run:
            self._on.end(self._run[name])

    # ---------------------------------------------------------------------------------------------- first act

    def _letter(self) -> None:
        """A message that nobody can read is received twenty times, a second apart."""
        asyncio.run(self._on.records.send(A, [Envelope("1", "no json")]))

    def _no_letter(self) -> None:
        sqs = self._on.clients.sqs
        url = sqs.get_queue_url(QueueName=f"{self._on.state.stack}-{calls_queue(A)}-dead")["QueueUrl"]
        for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def _unusable(self) -> None:
        self._on.standins.change({A: {"malformed": 1.0}})
        self._on.push(20, 3)
        self._run["unusable"] = self._on.start(A, 60)

    def _usable(self) -> None:
        """The platform is well again, and the hour that its used-up retries count in is over."""
        self._on.standins.change({A: {"malformed": 0.0}})
        self._on.done(self._run["unusable"])
        self._on.forget_stats(A)

    def _no_key(self) -> None:
        self._on.clients.ssm.delete_parameter(Name=key_parameter(self._on.state.stack, B))
        self._on.stack.kill(f"worker-{B}")  # they remember the key for a while
        self._run["key"] = self._on.start(B, 20)

    def _key(self) -> None:
        name = key_parameter(self._on.state.stack, B)
        self._on.clients.ssm.put_parameter(Name=name, Value=DUMMY_KEY, Type="SecureString", Overwrite=True)
        self._on.stack.brandvane("platform", "resume", B, "--yes")
        self._on.done(self._run["key"])

    def _nearly_spent(self) -> None:
        self._asked_with_a_budget()
        self._on.push_monitor(budgets={C: self._on.booked_usd(C) / 0.9})

    def _spent(self) -> None:
        self._on.push_monitor(budgets={C: self._on.booked_usd(C) / 1.01})

    def _not_spent(self) -> None:
        self._on.push_monitor(budgets={C: 1000})

    def _asked_with_a_budget(self) -> None:
        """Only calls of a platform with a budget are booked."""
        self._on.push_monitor(budgets={C: 1000})
        self._on.done(self._on.start(C, 20))

    # --------------------------------------------------------------------------------------------- second act

    def _not_consumed(self) -> None:
        """1,050 tasks at nine a second: after two minutes more than 1,000 are due."""
        self._on.event_source(A, on=False)
        self._on.push(105, 10)
        self._run["backlog"] = self._on.start(A, 1050)

    def _consumed(self) -> None:
        """First the tasks are ended; then the messages that are still there find nothing to do."""
        try:
            self._end("backlog")
        finally:
            self._on.event_source(A, on=True)

    def _killed(self) -> None:
        """Planned at nine calls a second and slowed to three: some forty claimed tasks wait for their slots. Then all who hold them die,
        and nobody comes after them.
        """
        self._on.standins.change({B: {"median": 4.0, "sigma": 0.0}})
        self._on.push(20, 9)
        self._run["killed"] = self._on.start(B, 180)
        self._on.stack.brandvane("platform", "rate", B, "3", "--yes")
        self._on.pulled(B, 22)
        self._on.event_source(B, on=False)  # or new workers would claim what the dead ones have left
        self._on.stack.kill(f"worker-{B}")

    def _replaced(self) -> None:
        self._on.standins.change({B: {"median": 0.8, "sigma": 0.5}})
        self._on.stack.brandvane("platform", "rate", B, "default", "--yes")
        try:
            self._end("killed")
        finally:
            self._on.event_source(B, on=True)

    def _too_early(self) -> None:
        """120 calls at one in five seconds, to be over in five minutes: half of them will not have been asked by then."""
        self._on.stack.brandvane("platform", "rate", C, "0.2", "--yes")
        self._on.push(20, 6)
        self._run["late"] = self._on.start(C, 120)
        self._on.stack.brandvane("run", "deadline", self._run["late"], "+5m")

    def _no_deadline(self) -> None:
        self._end("late")
        self._on.stack.brandvane("platform", "rate", C, "default", "--yes")

    # ---------------------------------------------------------------------------------------------- third act

    def _no_rows(self) -> None:
        self._on.without("PutResults", f"worker-{A}", f"worker-{B}", "writeback", "scanner")
        self._on.push(20, 3)
        self._run["rows of A"] = self._on.start(A, 60)
        self._run["rows of B"] = self._on.start(B, 60)

    def _rows(self) -> None:
        self._on.restore_policies()
        self._on.done(self._run["rows of A"])
        self._on.done(self._run["rows of B"])

    # --------------------------------------------------------------------------------------------- fourth act

    def _no_report(self) -> None:
        self._on.without("PutReports", "reporter")
        self._run["report"] = label = self._on.start(C, 20)
        self._on.done(label)
        self._on.clients.dynamodb.update_item(  # half an hour, without the waiting
            TableName=tables_of(self._on.state.stack).runs,
            Key={"run_id": {"S": label}},
            UpdateExpression="SET finished_at = finished_at - :s",
            ExpressionAttributeValues={":s": {"N": str(NO_REPORT_S)}},
        )

    def _report(self) -> None:
        label = self._run["report"]
        self._on.restore_policies()

        def reported() -> bool:
            run = self._on.stack.run(label)
            if run.state is RunState.REPORTING:
                self._on.stack.invoke("reporter", {"run_id": label, "pass_no": run.pass_no})
            return self._on.stack.run(label).state is RunState.REPORTED

        self._on.again(reported, f"{label} has a report", REPORT_S)

    def _not_planned(self) -> None:
        """Nothing starts the run that was due eleven minutes ago.

        Its schedule has an id of its own: MiniStack remembers by its name when a schedule last ticked, and makes good at once what one
        that existed eleven minutes ago would have missed by its new time. EventBridge does not.
        """
        Schedules(self._on.state, (DISPATCHER,)).switch(on=False)
        self._on.idle(DISPATCHER)
        self._on.push_monitor(now=datetime.now(UTC) - timedelta(hours=12, minutes=11), schedule=UNPLANNED)
        Schedules(self._on.state, (UNPLANNED,)).switch(on=False)

    def _planned(self) -> None:
        self._on.push_monitor()
        Schedules(self._on.state, (DISPATCHER,)).switch(on=True)

    # ---------------------------------------------------------------------------------------------- fifth act

    def _no_scanner(self) -> None:
        """Another stack's scanner goes on, and nobody takes its heart for ours."""
        Schedules(self._on.state).switch(on=False)
        self._on.beats_elsewhere(7)
