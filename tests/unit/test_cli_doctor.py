"""``brandvane doctor``: is each fault of a deployed stack found, told in one sentence, with what to do?"""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from brandvane.aws.catalogue_store import CURRENT, VERSIONS
from brandvane.catalogue import Catalogue, to_document
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.checks import Check, Verdict, carried_out, check_document, check_lines, ok, warn
from brandvane.cli.doctor_command import doctor
from brandvane.cli.doctor_stack import StackDoctor
from brandvane.cli.template_rows import TEMPLATE, TemplateRow, template_rows
from builders import catalogue, platform
from unit.aws_fakes import refusal
from unit.paged_client import PagedClient, context_with

ROWS = {"openai": TemplateRow("openai", 20, 25), "hunyuan": TemplateRow("hunyuan", 2, 4)}
GIVEN = catalogue(platforms=(platform("openai"), platform("hunyuan")))
FINE = (Verdict.OK,)


class Stack:
    """A stack as AWS shows it, in good health; a test spoils one thing."""

    def __init__(self) -> None:
        self.status = "UPDATE_COMPLETE"
        self.parameters = {"ReserveConcurrency": "true"}
        self.tags: dict[str, str] = {}
        self.topics = ["arn:aws:sns:x:1:shop-p0"]
        self.executions = 1000
        self.elsewhere = 0  # executions that functions outside the stack reserve
        self.reserved: dict[str, int] = {"shop-worker-openai": 25, "shop-worker-hunyuan": 4}
        self.sources = {
            name: {"State": "Enabled", "UUID": f"id-{name}", "ScalingConfig": {"MaximumConcurrency": most}}
            for name, most in (
                ("shop-worker-openai", 20), ("shop-worker-hunyuan", 2), ("shop-planner", 2), ("shop-writeback", 4),
                ("shop-scanner", 2),
            )
        }  # fmt: skip
        self.schedules = dict.fromkeys(("shop-dispatcher", "shop-scanner", "shop-sweep", "core"), "ENABLED")
        self.catalogue: Catalogue | None = GIVEN
        self.keys = ["openai", "hunyuan"]
        self.dead: dict[str, int] = {}
        self.alarms = {"shop-backlog": {"StateValue": "OK", "ActionsEnabled": True}}
        self.in_template = ["shop-backlog"]
        self.subscriptions = [{"SubscriptionArn": "arn:1", "Protocol": "email", "Endpoint": "a@b.example"}]
        self.deaf: list[str] = []  # topics without a subscription
        self.drift: list[dict[str, Any]] = [{"DetectionStatus": "DETECTION_COMPLETE", "StackDriftStatus": "IN_SYNC"}]
        self.drifted: dict[str, list[dict[str, str]]] = {}

    def checks(self, only: str | None = None) -> list[Check]:
        """What the doctor says."""
        found = StackDoctor(
            context_with(self._clients(), outputs={"DataBucket": "data"}), rows=ROWS, sleep=lambda _: None
        )
        return [check for check in carried_out(found.looks()) if only in (None, check.name)]

    def _clients(self) -> dict[str, PagedClient]:
        return {
            "cloudformation": PagedClient(
                describe_stacks=self._stacks,
                list_stack_resources=self._resources,
                detect_stack_drift={"StackDriftDetectionId": "d1"},
                describe_stack_drift_detection_status=lambda **_: self.drift.pop(0) if self.drift[1:] else self.drift[0],
                describe_stack_resource_drifts=lambda **asked: {
                    "StackResourceDrifts": self.drifted.get(asked["StackName"], [])
                },
            ),
            "lambda": PagedClient(
                get_account_settings=self._limits,
                get_function_concurrency=self._concurrency,
                list_event_source_mappings=self._sources,
            ),
            "scheduler": PagedClient(
                list_schedules=lambda **_: {"Schedules": [{"Name": n, "State": s} for n, s in self.schedules.items()]}
            ),
            "ssm": PagedClient(get_parameters_by_path=self._parameters),
            "s3": PagedClient(get_object=self._object, exceptions=SimpleNamespace(NoSuchKey=ClientError)),
            "sqs": PagedClient(
                get_queue_url=lambda **asked: {"QueueUrl": asked["QueueName"]},
                get_queue_attributes=lambda **asked: {
                    "Attributes": {"ApproximateNumberOfMessages": str(self.dead.get(asked["QueueUrl"], 0))}
                },
            ),
            "cloudwatch": PagedClient(describe_alarms=self._alarms),
            "sns": PagedClient(
                list_subscriptions_by_topic=lambda **asked: {
                    "Subscriptions": [] if asked["TopicArn"] in self.deaf else self.subscriptions
                }
            ),
        }  # fmt: skip

    def _stacks(self, **_: Any) -> Any:
        if self.status == "none":
            return ClientError({"Error": {"Code": "ValidationError", "Message": "no such stack"}}, "DescribeStacks")
        rows = [{"ParameterKey": name, "ParameterValue": value} for name, value in self.parameters.items()]
        tags = [{"Key": name, "Value": value} for name, value in self.tags.items()]
        return {"Stacks": [{"StackStatus": self.status, "Parameters": rows, "Tags": tags}]}

    def _resources(self, StackName: str) -> Any:  # noqa: N803 - boto3's spelling
        if StackName == "shop":
            return {
                "StackResourceSummaries": [
                    {"ResourceType": "AWS::CloudFormation::Stack", "PhysicalResourceId": "inner"}
                ]
            }
        alarms = [{"ResourceType": "AWS::CloudWatch::Alarm", "PhysicalResourceId": name} for name in self.in_template]
        topics = [{"ResourceType": "AWS::SNS::Topic", "PhysicalResourceId": arn} for arn in self.topics]
        return {"StackResourceSummaries": [*alarms, *topics]}

    def _limits(self) -> Any:
        taken = self.elsewhere + sum(self.reserved.values())
        return {
            "AccountLimit": {
                "ConcurrentExecutions": self.executions,
                "UnreservedConcurrentExecutions": self.executions - taken,
            }
        }

    def _concurrency(self, FunctionName: str) -> Any:  # noqa: N803 - boto3's spelling
        found = self.reserved.get(FunctionName)
        return {} if found is None else {"ReservedConcurrentExecutions": found}

    def _sources(self, FunctionName: str) -> Any:  # noqa: N803 - boto3's spelling
        return {"EventSourceMappings": [self.sources[FunctionName]] if FunctionName in self.sources else []}

    def _parameters(self, Path: str, **_: Any) -> Any:  # noqa: N803 - boto3's spelling
        if Path == "/shop/keys":
            return {"Parameters": [{"Name": f"/shop/keys/{name}"} for name in self.keys]}
        rows = [
            {"platform": r.platform, "invocations": r.invocations, "batch_size": 10, "call_timeout": 60}
            for r in ROWS.values()
        ]
        return {"Parameters": [{"Value": json.dumps(row)} for row in rows]}

    def _object(self, Key: str, **_: Any) -> Any:  # noqa: N803 - boto3's spelling
        if self.catalogue is None:
            return refusal("NoSuchKey", status=404)
        told = {CURRENT: {"version": "v1"}, f"{VERSIONS}v1.json": to_document(self.catalogue)}[Key]
        return {"Body": io.BytesIO(json.dumps(told).encode())}

    def _alarms(self, AlarmNames: list[str], **_: Any) -> Any:  # noqa: N803 - boto3's spelling
        return {"MetricAlarms": [{"AlarmName": n, **row} for n, row in self.alarms.items() if n in AlarmNames]}


def _only(checks: list[Check]) -> tuple[Verdict, str, str]:
    assert len(checks) == 1, checks
    return checks[0].verdict, checks[0].says, checks[0].remedy


@pytest.fixture(autouse=True)
def _on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def test_a_stack_in_good_health_has_nothing_to_be_done() -> None:
    checks = Stack().checks()

    assert {check.verdict for check in checks} == {Verdict.OK}
    assert [check.name for check in checks] == [
        "stack", "concurrency", "reserved", "sources", "schedules", "catalogue", "keys", "dead letters", "alarms",
        "notices", "time zone", "drift",
    ]  # fmt: skip
    assert all(not check.remedy for check in checks)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("CREATE_COMPLETE", Verdict.OK),
        ("UPDATE_IN_PROGRESS", Verdict.WARN),
        ("UPDATE_ROLLBACK_COMPLETE", Verdict.WARN),
        ("ROLLBACK_COMPLETE", Verdict.FAIL),
        ("UPDATE_ROLLBACK_FAILED", Verdict.FAIL),
    ],
)
def test_how_the_last_deployment_ended(status: str, verdict: Verdict) -> None:
    stack = Stack()
    stack.status = status

    assert stack.checks("stack")[0].verdict is verdict


def test_before_the_first_deployment_it_says_whether_executions_can_be_reserved() -> None:
    stack = Stack()
    stack.status = "none"
    stack.reserved = {}
    stack.executions = 120

    checks = stack.checks()

    # 20 + 2 for the workers and 30 for the others; 25 + 4 of 120 would leave 91.
    assert [(check.name, check.verdict) for check in checks] == [
        ("stack", Verdict.FAIL),
        ("concurrency", Verdict.OK),
        ("concurrency", Verdict.WARN),
    ]
    assert checks[2].says == "ReserveConcurrency=true is not possible: of 120 it takes 29, and 100 must stay unreserved"


def test_a_new_accounts_ten_executions_are_too_few() -> None:
    stack = Stack()
    stack.executions = 10

    assert _only(stack.checks("concurrency")) == (
        Verdict.FAIL,
        "the account allows 10 executions at a time, all functions together take up to 52",
        "ask for more: Service Quotas, Lambda, 'Concurrent executions'",
    )


def test_executions_that_other_functions_reserve_are_not_there_for_the_stack() -> None:
    stack = Stack()
    stack.parameters["ReserveConcurrency"] = "false"
    stack.reserved = {}
    stack.elsewhere = 950

    short, reserving = stack.checks("concurrency")

    # 50 are left: 20 + 2 for the workers and 30 for the others are 52; 25 + 4 of them would leave 21.
    allows = "the account allows 1,000 executions at a time (950 of them are reserved already)"
    assert (short.verdict, short.says) == (Verdict.FAIL, f"{allows}, all functions together take up to 52")
    assert (reserving.verdict, reserving.says) == (
        Verdict.WARN,
        "ReserveConcurrency=true is not possible: of 50 it takes 29, and 100 must stay unreserved",
    )


def test_what_the_stack_itself_reserves_is_there_for_it() -> None:
    stack = Stack()
    stack.executions = 129  # 25 + 4 are its workers', 100 for the others

    assert _only(stack.checks("concurrency"))[:2] == (
        Verdict.OK,
        "the account allows 129 executions at a time, all functions together take up to 52",
    )


def test_reserving_no_more_than_the_pollers_use_sends_healthy_messages_to_the_dead_letters() -> None:
    stack = Stack()
    stack.reserved["shop-worker-openai"] = 20

    verdict, says, _ = _only(stack.checks("reserved"))

    assert (verdict, "healthy messages will end among the dead letters" in says) == (Verdict.FAIL, True)


def test_reserved_executions_that_differ_from_the_template_are_a_warning() -> None:
    stack = Stack()
    del stack.reserved["shop-worker-hunyuan"]

    assert _only(stack.checks("reserved")) == (
        Verdict.WARN,
        "shop-worker-hunyuan has none reserved, the template says 4",
        "deploy",
    )


def test_nothing_is_reserved_when_the_parameter_says_so() -> None:
    stack = Stack()
    stack.parameters["ReserveConcurrency"] = "false"
    stack.reserved = {}

    assert _only(stack.checks("reserved"))[0] is Verdict.OK


def test_a_queue_that_is_not_consumed_is_a_failure_with_the_command_that_mends_it() -> None:
    stack = Stack()
    stack.sources["shop-worker-openai"]["State"] = "Disabled"

    assert _only(stack.checks("sources")) == (
        Verdict.FAIL,
        "the event source mapping of shop-worker-openai is Disabled: its queue is not consumed",
        "aws lambda update-event-source-mapping --uuid id-shop-worker-openai --enabled",
    )


def test_a_function_that_nothing_wakes_and_one_that_runs_too_often_are_told() -> None:
    stack = Stack()
    del stack.sources["shop-writeback"]
    stack.sources["shop-worker-hunyuan"]["ScalingConfig"] = {"MaximumConcurrency": 9}

    assert [(check.verdict, check.says) for check in stack.checks("sources")] == [
        (Verdict.WARN, "shop-worker-hunyuan may run 9 times at once, the template says 2"),
        (Verdict.FAIL, "nothing wakes shop-writeback: its event source mapping is gone"),
    ]


def test_a_schedule_that_is_off_or_gone_is_a_failure() -> None:
    stack = Stack()
    stack.schedules["shop-scanner"] = "DISABLED"
    del stack.schedules["core"]

    assert [(check.verdict, check.says, check.remedy) for check in stack.checks("schedules")] == [
        (Verdict.FAIL, "schedule shop-scanner is DISABLED", "enable it in the console, or: deploy"),
        (Verdict.FAIL, "schedule core is not there", "brandvane catalogue push DIR"),
    ]


def test_without_a_catalogue_nothing_will_be_asked() -> None:
    stack = Stack()
    stack.catalogue = None

    assert _only(stack.checks("catalogue"))[:2] == (
        Verdict.FAIL,
        "no catalogue has been pushed: nothing will be asked",
    )


def test_a_platform_without_a_worker_or_a_key_is_named() -> None:
    stack = Stack()
    stack.catalogue = catalogue(platforms=(platform("openai"), platform("kimi")))

    assert _only(stack.checks("catalogue"))[1] == "no worker is deployed for kimi"
    assert _only(stack.checks("keys")) == (Verdict.FAIL, "no key for kimi", "brandvane keys set kimi")


def test_dead_letters_are_a_failure_with_the_command_that_shows_them() -> None:
    stack = Stack()
    stack.dead["shop-calls-openai-dead"] = 3

    assert _only(stack.checks("dead letters")) == (
        Verdict.FAIL,
        "3 messages in calls-openai-dead",
        "brandvane dead-letters redrive calls-openai",
    )


def test_alarms_that_are_gone_or_do_nothing_or_ring_are_told() -> None:
    stack = Stack()
    stack.in_template = ["shop-backlog", "shop-spend"]
    stack.alarms["shop-backlog"] = {"StateValue": "ALARM", "ActionsEnabled": False}

    assert [(check.verdict, check.says) for check in stack.checks("alarms")] == [
        (Verdict.FAIL, "gone, though the template has them: shop-spend"),
        (Verdict.WARN, "when they ring, nothing happens: shop-backlog"),
        (Verdict.WARN, "in ALARM: shop-backlog"),
    ]


PARTS = ("success-rate", "pulled-not-started", "retry-storm", "platform-paused")


def _with_outage_alarms(*, composite: bool | None) -> Stack:
    """As AWS has them: a platform's four parts with their actions off, and the composite alarm (None: it is not in the template)."""
    stack = Stack()
    names = [f"shop-{name}-{part}" for name in ROWS for part in PARTS]
    stack.alarms |= {name: {"StateValue": "OK", "ActionsEnabled": False} for name in names}
    if composite is not None:
        paging = [f"shop-{name}-platform-outage" for name in ROWS]
        stack.alarms |= {name: {"StateValue": "OK", "ActionsEnabled": composite} for name in paging}
        names += paging
    stack.in_template += names
    return stack


def test_alarms_that_a_composite_alarm_pages_for_may_have_their_actions_off() -> None:
    assert _only(_with_outage_alarms(composite=True).checks("alarms"))[:2] == (
        Verdict.OK,
        "11 alarms, none in ALARM",  # one of the stack, four parts and a composite of two platforms
    )


def test_a_composite_alarm_that_does_nothing_is_named_in_place_of_its_parts() -> None:
    assert _only(_with_outage_alarms(composite=False).checks("alarms"))[:2] == (
        Verdict.WARN,
        "when they ring, nothing happens: shop-openai-platform-outage, shop-hunyuan-platform-outage",
    )


def test_a_composite_alarm_that_no_template_has_is_named_in_place_of_its_parts() -> None:
    verdict, says, remedy = _only(_with_outage_alarms(composite=None).checks("alarms"))

    missing = "shop-hunyuan-platform-outage, shop-openai-platform-outage"
    assert says == f"not there, though its platform's alarms leave the paging to it: {missing}"
    assert (verdict, remedy) == (Verdict.WARN, "deploy")


def test_a_composite_alarm_that_was_deleted_is_told_once() -> None:
    stack = _with_outage_alarms(composite=True)
    del stack.alarms["shop-openai-platform-outage"]

    assert _only(stack.checks("alarms"))[:2] == (
        Verdict.FAIL,
        "gone, though the template has them: shop-openai-platform-outage",
    )


def test_a_stack_without_alarms_is_a_warning() -> None:
    stack = Stack()
    stack.in_template = []

    assert _only(stack.checks("alarms"))[:2] == (Verdict.WARN, "the stack has no alarms: nobody will be told")


def test_a_subscription_that_nobody_has_confirmed_is_a_failure() -> None:
    stack = Stack()
    stack.subscriptions[0]["SubscriptionArn"] = "PendingConfirmation"

    assert _only(stack.checks("notices")) == (
        Verdict.FAIL,
        "not confirmed at shop-p0: email a@b.example",
        "follow the link in the message that AWS sent there",
    )


def _unheard(*, reserves: str = "false", environment: str = "") -> Stack:
    stack = Stack()
    stack.parameters["ReserveConcurrency"] = reserves
    stack.tags = {"environment": environment} if environment else {}
    stack.subscriptions = []
    return stack


def test_a_topic_without_subscribers_is_a_warning() -> None:
    assert _only(_unheard(environment="default").checks("notices"))[:2] == (
        Verdict.WARN,
        "nobody is subscribed to shop-p0",
    )


@pytest.mark.parametrize(
    "said", [{"environment": "prod"}, {"environment": "production"}, {"reserves": "true"}], ids=str
)
def test_production_that_tells_nobody_of_any_alarm_is_a_failure(said: dict[str, str]) -> None:
    assert _only(_unheard(**said).checks("notices")) == (
        Verdict.FAIL,
        "this is production, and nobody is told of any alarm",
        "deploy with the e-mail or webhook parameters, or subscribe somebody in the console",
    )


def test_production_without_topics_is_a_failure() -> None:
    stack = _unheard(environment="prod")
    stack.topics = []

    assert _only(stack.checks("notices"))[:2] == (Verdict.FAIL, "the stack has no topics: nobody will be told")


def test_production_that_tells_somebody_of_some_alarms_is_warned_of_the_others() -> None:
    stack = Stack()
    stack.topics.append("arn:aws:sns:x:1:shop-p2")
    stack.deaf = ["arn:aws:sns:x:1:shop-p2"]

    assert _only(stack.checks("notices"))[:2] == (Verdict.WARN, "nobody is subscribed to shop-p2")


def test_an_emulators_stack_is_no_production() -> None:
    stack = _unheard(reserves="true", environment="local")
    stack.parameters["Emulator"] = "true"

    assert _only(stack.checks("notices"))[0] is Verdict.WARN


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("Asia/Shanghi", "Asia/Shanghai"),
        ("Asia", "Asia/Shanghai, Europe/Berlin or UTC"),  # a folder of the database
        ("../etc", "Asia/Shanghai, Europe/Berlin or UTC"),
    ],
)
def test_a_time_zone_of_messages_that_there_is_not_is_a_warning_with_what_to_write(name: str, write: str) -> None:
    stack = Stack()
    stack.parameters["NoticeTimeZone"] = name

    assert _only(stack.checks("time zone")) == (
        Verdict.WARN,
        f"NoticeTimeZone is '{name}', and there is no such time zone",
        f"deploy with NoticeTimeZone={write}",
    )


def test_a_time_zone_of_messages_that_there_is_is_told() -> None:
    stack = Stack()
    stack.parameters["NoticeTimeZone"] = "Asia/Shanghai"

    assert _only(stack.checks("time zone"))[:2] == (Verdict.OK, "messages tell the time of Asia/Shanghai")


def test_drift_is_waited_for_and_names_what_was_changed_by_hand_in_nested_stacks_too() -> None:
    stack = Stack()
    stack.drift = [
        {"DetectionStatus": "DETECTION_IN_PROGRESS"},
        {"DetectionStatus": "DETECTION_COMPLETE", "StackDriftStatus": "DRIFTED"},
    ]
    stack.drifted = {
        "shop": [{"LogicalResourceId": "Sweep", "StackResourceDriftStatus": "MODIFIED"}],
        "inner": [{"LogicalResourceId": "DeadLetters", "StackResourceDriftStatus": "DELETED"}],
    }

    assert _only(stack.checks("drift"))[:2] == (
        Verdict.FAIL,
        "changed by hand: Sweep (modified), DeadLetters (deleted)",
    )


def test_drift_that_is_not_found_out_in_time_is_a_warning() -> None:
    stack = Stack()
    stack.drift = [{"DetectionStatus": "DETECTION_IN_PROGRESS"}]

    assert _only(stack.checks("drift"))[:2] == (Verdict.WARN, "still being looked for after 180 s")


def test_an_emulator_is_not_asked_for_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    assert _only(Stack().checks("reserved"))[:2] == (Verdict.OK, "not looked at: an emulator reserves nothing")
    assert _only(Stack().checks("drift"))[:2] == (Verdict.OK, "not looked at: an emulator does not know drift")


def test_a_check_that_may_not_look_is_a_warning_and_the_others_go_on() -> None:
    def refused() -> Any:
        raise refusal("AccessDenied")

    checks = list(carried_out((("first", refused), ("second", lambda: [ok("second", "fine")]))))

    assert checks[0] == warn(
        "first",
        "could not be looked at: these credentials may not do this (AnOperation): AccessDenied was said",
        "use credentials that may read it",
    )
    assert checks[1].verdict is Verdict.OK


def test_checks_are_shown_with_what_to_do_and_their_sum() -> None:
    checks = [ok("stack", "shop is CREATE_COMPLETE"), Check("keys", Verdict.FAIL, "no key for kimi", "set it")]

    assert check_lines(checks) == [
        "OK    stack  shop is CREATE_COMPLETE",
        "FAIL  keys   no key for kimi",
        "      → set it",
        "1 OK, 0 WARN, 1 FAIL",
    ]
    assert check_document(checks)["ok"] is False


def test_the_rows_of_the_template_are_read_as_they_stand_there() -> None:
    rows = template_rows()

    assert rows["hunyuan"] == TemplateRow("hunyuan", 2, 4)
    assert template_rows(standins=True)["hunyuan"] == TemplateRow("hunyuan", 6, 8)
    assert template_rows(TEMPLATE.parent / "none.yaml") == {}


def test_the_command_ends_with_1_when_a_check_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack()
    stack.keys = ["openai"]
    monkeypatch.setattr("brandvane.cli.stack_facts.template_rows", lambda **_: ROWS)
    clients = stack._clients()
    monkeypatch.setattr(AwsContext, "client", lambda _self, service: clients[service])
    monkeypatch.setattr(AwsContext, "outputs", lambda _self: {"DataBucket": "data"})

    result = CliRunner().invoke(doctor, ["--aws", "--stack", "shop", "--no-drift", "--json"])

    assert (result.exit_code, result.stderr) == (1, "brandvane: 1 check failed\n")
    told = json.loads(result.stdout)
    assert told["ok"] is False
    assert [each for each in told["checks"] if each["verdict"] == "FAIL"] == [
        {"check": "keys", "verdict": "FAIL", "says": "no key for hunyuan", "remedy": "brandvane keys set hunyuan"}
    ]
    assert "drift" not in {each["check"] for each in told["checks"]}


def test_the_machine_is_checked_without_aws() -> None:
    result = CliRunner().invoke(doctor, ["--json"])

    told = {each["check"]: each["verdict"] for each in json.loads(result.stdout)["checks"]}
    assert told["python"] == "OK"
    assert told["packages"] == "OK"
    assert set(told) == {"python", "packages", "sam", "emulator", "port", "environment"}


def test_long_sentences_are_wrapped_to_the_screen_below_where_they_begin() -> None:
    checks = [ok("stack", "one two three four five six"), warn("keys", "no key", "set one with quite a long word")]

    assert check_lines(checks, 33) == [
        "OK    stack  one two three four",
        "             five six",
        "WARN  keys   no key",
        "      → set one with quite a long",
        "      word",
        "1 OK, 1 WARN, 0 FAIL",
    ]


def test_a_missing_sam_cli_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BRANDVANE_SAM", str(tmp_path / "sam"))
    result = CliRunner().invoke(doctor, ["--json"])
    found = next(each for each in json.loads(result.stdout)["checks"] if each["check"] == "sam")
    assert found == {
        "check": "sam",
        "verdict": "WARN",
        "says": f"SAM CLI is not installed: there is no {tmp_path / 'sam'}",
        "remedy": "make tools, or name another program in BRANDVANE_SAM",
    }
