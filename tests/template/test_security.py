"""Is everything encrypted and private, and may each function do only what it has to?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

PLATFORMS = ("Openai", "Hunyuan", "Deepseek")
# Names that another stack may have beside "stack": whatever a pattern after the name's beginning would take in.
NEIGHBOURS = ("stack-prod", "stack-calls", "stacks")
NAMED = {
    "AWS::Serverless::Function": ("FunctionName", "arn:aws:lambda:region:account:function:"),
    "AWS::SQS::Queue": ("QueueName", "arn:aws:sqs:region:account:"),
    "AWS::DynamoDB::Table": ("TableName", "arn:aws:dynamodb:region:account:table/"),
    "AWS::Logs::LogGroup": ("LogGroupName", "arn:aws:logs:region:account:log-group:"),
    "AWS::SSM::Parameter": ("Name", "arn:aws:ssm:region:account:parameter"),
}
# What AWS knows no resource for: action -> the condition that limits it instead.
WITHOUT_RESOURCE = {"cloudwatch:PutMetricData": {"StringEquals": {"cloudwatch:namespace": "Brandvane"}}}
# Beginnings of resources that belong to this stack alone.
OWN = (
    "arn:aws:lambda:region:account:function:stack-",
    "arn:aws:sqs:region:account:stack-",
    "arn:aws:ssm:region:account:parameter/stack/",
)


def listed(value: Any) -> list[Any]:
    """IAM's one-or-many as a list."""
    return value if isinstance(value, list) else [value]


def of_type(resources: Resources, kind: str) -> dict[str, dict[str, Any]]:
    """Properties of all resources of a type, by logical id."""
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


def statements(resources: Resources) -> Iterator[tuple[str, dict[str, Any]]]:
    """Logical id and statement of every role's own and attached policies."""
    for name, role in of_type(resources, "AWS::IAM::Role").items():
        documents = [policy["PolicyDocument"] for policy in role["Policies"]]
        documents += [resources[m]["Properties"]["PolicyDocument"] for m in role.get("ManagedPolicyArns", [])]
        for document in documents:
            for statement in document["Statement"]:
                yield name, statement


def granted(resources: Resources, action: str) -> set[tuple[str, str]]:
    """(role, resource) pairs for which an action is allowed."""
    return {
        (name, resource)
        for name, statement in statements(resources)
        if action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


def test_tables_are_encrypted_and_can_be_restored_to_any_second(resources: Resources) -> None:
    tables = of_type(resources, "AWS::DynamoDB::Table")
    assert sorted(t["TableName"] for t in tables.values()) == [
        "stack-control",
        "stack-results",
        "stack-runs",
        "stack-stats",
        "stack-tasks",
    ]
    for table in tables.values():
        assert table["SSESpecification"] == {"SSEEnabled": True}
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["BillingMode"] == "PAY_PER_REQUEST"


def test_queues_are_encrypted(resources: Resources) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")
    assert len(queues) == 2 * 6 + 1
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_the_bucket_is_encrypted_and_private(resources: Resources) -> None:
    bucket = resources["Data"]["Properties"]
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_bucket_and_every_queue_refuse_plain_http_on_aws(resources: Resources) -> None:
    guarded: set[str] = set()
    for policy in (of_type(resources, "AWS::SQS::QueuePolicy") | of_type(resources, "AWS::S3::BucketPolicy")).values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        attached = set(policy.get("Queues", [])) | ({policy["Bucket"]} if "Bucket" in policy else set())
        assert attached == {r.removesuffix("/*").removesuffix(".Arn") for r in statement["Resource"]}
        guarded |= attached
    assert guarded == set(of_type(resources, "AWS::SQS::Queue")) | {"Data"}


def test_on_the_emulator_only_what_it_cannot_do_is_left_out(resources: Resources, processed: Processed) -> None:
    emulated = processed(ReserveConcurrency="true", Emulator="true")
    missing = {resources[name]["Type"] for name in set(resources) - set(emulated)}
    different = {name for name in emulated if emulated[name] != resources[name]}
    transport = {"AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy"}
    assert missing == {*transport, "AWS::CloudWatch::CompositeAlarm"}
    silent = {name for name in emulated if emulated[name]["Properties"].get("ActionsEnabled") is True}
    assert different - silent == {"ReadPlatforms", "ScannerRole", "Monitoring", "Dashboards"}


def test_no_policy_names_every_resource_where_aws_knows_one(resources: Resources) -> None:
    for name, statement in statements(resources):
        if "*" in listed(statement["Resource"]):
            assert statement["Condition"] == WITHOUT_RESOURCE[statement["Action"]], name


def test_no_policy_grants_actions_by_pattern_but_sending_one_or_many(resources: Resources) -> None:
    patterns = {action for _, s in statements(resources) for action in listed(s["Action"]) if "*" in action}
    assert patterns == {"sqs:SendMessage*"}


def test_every_resource_of_a_policy_belongs_to_this_stack(resources: Resources) -> None:
    for name, statement in statements(resources):
        for resource in listed(statement["Resource"]):
            ours = resource.split(".Arn")[0] in resources or resource.startswith(OWN)
            assert ours or statement["Action"] in WITHOUT_RESOURCE, (name, resource)


def belongings(resources: Resources, stack: str) -> set[str]:
    """ARNs of what a stack of this name would have."""
    return {
        beginning + resource["Properties"][attribute].replace("stack", stack, 1)
        for resource in resources.values()
        if resource["Type"] in NAMED
        for attribute, beginning in [NAMED[resource["Type"]]]
    }


def taken_in(patterns: set[str], arns: set[str]) -> set[tuple[str, str]]:
    """(pattern, ARN) pairs that match."""
    return {(pattern, arn) for pattern in patterns for arn in arns if fnmatchcase(arn, pattern)}


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_no_policy_reaches_into_a_stack_whose_name_begins_with_this_ones(resources: Resources, neighbour: str) -> None:
    patterns = {resource for _, s in statements(resources) for resource in listed(s["Resource"])} - {"*"}
    assert taken_in(patterns, belongings(resources, neighbour)) == set()


@pytest.mark.parametrize(
    ("pattern", "neighbour"), [("stack-*", "stack-prod"), ("stack-calls-*", "stack-calls"), ("stack*", "stacks")]
)
def test_a_pattern_that_also_matches_a_neighbours_queues_would_be_seen(
    resources: Resources, pattern: str, neighbour: str
) -> None:
    assert taken_in({f"arn:aws:sqs:region:account:{pattern}"}, belongings(resources, neighbour))


@pytest.mark.parametrize("action", ["dynamodb:Scan", "dynamodb:BatchWriteItem", "s3:DeleteObject", "sqs:PurgeQueue"])
def test_no_function_may_scan_or_destroy(resources: Resources, action: str) -> None:
    assert granted(resources, action) == set()


def test_nothing_but_a_lease_can_be_deleted(resources: Resources) -> None:
    deleting = [s for _, s in statements(resources) if "dynamodb:DeleteItem" in listed(s["Action"])]
    assert {s["Resource"] for s in deleting} == {"Control.Arn"}
    assert all(s["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["lease#*"]}} for s in deleting)


def test_a_platform_key_is_read_by_its_own_worker_and_nobody_else(resources: Resources) -> None:
    keys = "arn:aws:ssm:region:account:parameter/stack/keys"
    assert granted(resources, "ssm:GetParameter") == {
        ("RoleOpenai", f"{keys}/openai"),
        ("RoleHunyuan", f"{keys}/hunyuan"),
        ("RoleDeepseek", f"{keys}/deepseek"),
    }
    by_path = {resource for _, resource in granted(resources, "ssm:GetParametersByPath")}
    assert by_path == {f"arn:aws:ssm:region:account:parameter/stack/platforms{end}" for end in ("", "/*")}


def test_a_worker_takes_from_its_own_queue_only(resources: Resources) -> None:
    assert granted(resources, "sqs:ReceiveMessage") == {
        ("RoleOpenai", "QueueOpenai.Arn"),
        ("RoleHunyuan", "QueueHunyuan.Arn"),
        ("RoleDeepseek", "QueueDeepseek.Arn"),
        ("WritebackWorkerRole", "Writeback.Arn"),
        ("PlannerRole", "Plan.Arn"),
        ("ScannerRole", "Sweep.Arn"),
    }


def test_messages_are_sent_to_named_queues_and_to_dead_letters_by_the_scheduler_alone(resources: Resources) -> None:
    assert granted(resources, "sqs:SendMessage*") | granted(resources, "sqs:SendMessage") == {
        *(("DispatcherRole", f"Queue{name}.Arn") for name in PLATFORMS),
        *((f"Role{name}", f"Queue{name}.Arn") for name in PLATFORMS),
        *((f"Role{name}", "Writeback.Arn") for name in PLATFORMS),
        ("WritebackWorkerRole", "Writeback.Arn"),
        ("ScannerRole", "Writeback.Arn"),
        ("PlannerRole", "Plan.Arn"),
        ("MinuteRole", "Sweep.Arn"),
        ("ScheduleRole", "ScheduleDeadLetters.Arn"),
    }


def test_the_scanner_looks_at_dead_letters_and_write_back_and_may_not_even_find_other_queues(
    resources: Resources,
) -> None:
    shared = ("Plan", "Writeback", "Sweep", "Schedule")
    assert {queue for role, queue in granted(resources, "sqs:GetQueueUrl") if role == "ScannerRole"} == {
        "Writeback.Arn",
        *(f"{name}DeadLetters.Arn" for name in shared),
        *(f"DeadLetters{name}.Arn" for name in PLATFORMS),
    }


def test_only_the_planner_makes_tasks_and_only_writers_of_results_put_rows(resources: Resources) -> None:
    puts = granted(resources, "dynamodb:PutItem")
    assert {role for role, table in puts if table == "Tasks.Arn"} == {"PlannerRole"}
    assert {role for role, table in puts if table == "Results.Arn"} == {
        "RoleOpenai",
        "RoleHunyuan",
        "RoleDeepseek",
        "ScannerRole",  # writes the rows of tasks that it ends itself
        "WritebackWorkerRole",
    }


def test_functions_start_only_the_functions_they_have_to(resources: Resources) -> None:
    starts = {(role, resource.rsplit(":", 1)[1]) for role, resource in granted(resources, "lambda:InvokeFunction")}
    assert starts == {
        ("PlannerRole", "stack-dispatcher"),
        ("DispatcherRole", "stack-planner"),
        ("ScannerRole", "stack-scorer"),
        ("ScannerRole", "stack-reporter"),
        ("ScorerRole", "stack-scorer"),
        ("ScorerRole", "stack-reporter"),
        ("ScheduleRole", "stack-planner"),
        ("MinuteRole", "stack-dispatcher"),
        ("MinuteRole", "stack-scanner"),
    }


def test_whoever_reads_objects_can_tell_a_missing_one_from_a_forbidden_one(resources: Resources) -> None:
    readers = {role for role, _ in granted(resources, "s3:GetObject")}
    assert {role for role, _ in granted(resources, "s3:ListBucket")} == readers


def test_every_function_has_a_role_of_its_own_that_only_lambda_takes(resources: Resources) -> None:
    functions = of_type(resources, "AWS::Serverless::Function")
    roles = [function["Role"].removesuffix(".Arn") for function in functions.values()]
    assert len(set(roles)) == len(functions)
    for role in roles:
        (trust,) = resources[role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_roles_of_schedules_are_taken_by_the_scheduler_of_this_account_only(resources: Resources) -> None:
    for role in ("ScheduleRole", "MinuteRole"):
        (trust,) = resources[role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "account"}}
