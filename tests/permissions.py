"""Which permissions of a role do a function's calls need? Roles as the template writes them, calls as a run recorded them.

A small evaluator of Allow statements: actions and resources with ``*``, and the two conditions that the template uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

Resources = Mapping[str, Mapping[str, Any]]

ACCOUNT = "arn:aws:{service}:region:account:{rest}"


@dataclass(frozen=True, slots=True)
class Call:
    """What IAM is asked: may ``function`` do ``action`` to ``resource``?"""

    function: str  # worker, scanner, …: without the stack and the platform
    action: str
    resource: str
    context: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class Permission:
    """One action of one statement on one of its resources, the first of which has place 0."""

    function: str
    sid: str
    action: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission with what it is granted on."""

    permission: Permission
    resource: str
    conditions: Mapping[str, Mapping[str, Any]] = field(hash=False, compare=False)

    def allows(self, call: Call) -> bool:
        """Does it allow this call?"""
        return (
            fnmatchcase(call.action, self.permission.action)
            and fnmatchcase(call.resource, self.resource)
            and all(_holds(operator, wanted, call) for operator, wanted in self.conditions.items())
        )


def _holds(operator: str, wanted: Mapping[str, Any], call: Call) -> bool:
    assert operator in ("StringEquals", "ForAllValues:StringLike"), f"unknown here: {operator}"
    return all(
        any(fnmatchcase(call.context.get(key, ""), pattern) for pattern in _listed(patterns))
        for key, patterns in wanted.items()
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# ------------------------------------------------------------------------------------------------------ the template's side
_NAMES: Mapping[str, tuple[str, str, str]] = {
    "AWS::DynamoDB::Table": ("dynamodb", "table/", "TableName"),
    "AWS::SQS::Queue": ("sqs", "", "QueueName"),
    "AWS::Logs::LogGroup": ("logs", "log-group:", "LogGroupName"),
}
BUCKET = "arn:aws:s3:::bucket"


def grants(resources: Resources) -> list[Grant]:
    """Every grant of every function's role; the workers of all platforms are one function."""
    found = []
    for function in resources.values():
        if function["Type"] != "AWS::Serverless::Function":
            continue
        properties = function["Properties"]
        name = properties["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        role = resources[properties["Role"].removesuffix(".Arn")]["Properties"]
        documents = [policy["PolicyDocument"] for policy in role["Policies"]]
        documents += [resources[each]["Properties"]["PolicyDocument"] for each in role.get("ManagedPolicyArns", [])]
        for statement in (statement for document in documents for statement in document["Statement"]):
            targets = [_arn(resources, each) for each in _listed(statement["Resource"])]
            found += [
                Grant(Permission(name, statement["Sid"], action, place), target, statement.get("Condition", {}))
                for action in _listed(statement["Action"])
                for place, target in enumerate(targets)
            ]
    return found


def _arn(resources: Resources, reference: str) -> str:
    """``Tasks.Arn/index/watch`` -> the ARN that it comes to."""
    logical, dot, rest = reference.partition(".Arn")
    if not dot or logical not in resources:
        return reference
    resource = resources[logical]
    if resource["Type"] == "AWS::S3::Bucket":
        return f"{BUCKET}{rest}"
    service, prefix, attribute = _NAMES[resource["Type"]]
    return ACCOUNT.format(service=service, rest=f"{prefix}{resource['Properties'][attribute]}") + rest


# ------------------------------------------------------------------------------------------------------- the recorded side
def recorded(file: Path, stack: str) -> set[Call]:
    """What a run recorded (see ``e2e/recorder``), as IAM sees it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return {call for line in lines for call in calls_of(json.loads(line), stack)}


def calls_of(line: Mapping[str, Any], stack: str) -> Iterator[Call]:
    """What IAM is asked for one AWS call. The stack's name becomes ``stack``, as in the processed template."""

    def renamed(name: str) -> str:
        return name.replace(stack, "stack", 1)

    given = line["given"]
    function = renamed(line["function"]).removeprefix("stack-")
    function = "worker" if function.startswith("worker-") else function
    operation = line["operation"]
    call = Call(function, f"{line['service']}:{operation}", "")
    match line["service"]:
        case "dynamodb":
            index = f"/index/{given['IndexName']}" if "IndexName" in given else ""
            target = ACCOUNT.format(service="dynamodb", rest=f"table/{renamed(given['TableName'])}{index}")
            leading = {"dynamodb:LeadingKeys": f"{given['Leading']}#"} if "Leading" in given else {}
            yield replace(call, resource=target, context=leading)
        case "sqs":
            queue = renamed(given.get("QueueName") or given["QueueUrl"].rsplit("/", 1)[1])
            action = "sqs:SendMessage" if operation == "SendMessageBatch" else call.action
            yield replace(call, action=action, resource=ACCOUNT.format(service="sqs", rest=queue))
        case "s3" if operation == "ListObjectsV2":
            yield replace(call, action="s3:ListBucket", resource=BUCKET)
        case "s3":
            yield replace(call, resource=f"{BUCKET}/{given['Prefix']}/x")
        case "ssm":
            name = renamed(given.get("Name") or given["Path"])
            yield replace(call, resource=ACCOUNT.format(service="ssm", rest=f"parameter{name}"))
        case "lambda":
            target = f"function:{renamed(given['FunctionName'])}"
            yield replace(call, action="lambda:InvokeFunction", resource=ACCOUNT.format(service="lambda", rest=target))
        case "cloudwatch":
            yield replace(call, resource="*", context={"cloudwatch:namespace": given["Namespace"]})
        case other:
            raise AssertionError(f"nobody has said yet what IAM is asked for {other}")


# ------------------------------------------------------------------------------------------------------------- the question
def refused(calls: Iterable[Call], by: Iterable[Grant]) -> set[Call]:
    """Calls that no grant of their function allows."""
    held = list(by)
    return {call for call in calls if not any(g.permission.function == call.function and g.allows(call) for g in held)}


def needed(calls: Iterable[Call], held: Iterable[Grant]) -> set[Permission]:
    """Permissions without which one of the calls is refused."""
    every, made = list(held), set(calls)

    def without(permission: Permission) -> Iterator[Grant]:
        return (grant for grant in every if grant.permission != permission)

    permissions = {grant.permission for grant in every}
    return {permission for permission in permissions if refused(made, without(permission))}
