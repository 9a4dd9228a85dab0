"""Is the evaluator of permissions right: what allows what, and which permission is it that a call needs?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from permissions import Call, Grant, Permission, calls_of, needed, refused

TABLE = "arn:aws:dynamodb:region:account:table/stack-tasks"
GET, PUT = (Permission("scanner", "Move", f"dynamodb:{verb}Item") for verb in ("Get", "Put"))


def grant(permission: Permission, resource: str = TABLE, **conditions: Mapping[str, Any]) -> Grant:
    named = {key.replace("_", ":"): value for key, value in conditions.items()}
    return Grant(permission, resource, named)


def call(action: str, resource: str = TABLE, function: str = "scanner", **context: str) -> Call:
    return Call(function, action, resource, {key.replace("_", ":"): value for key, value in context.items()})


def test_a_call_is_allowed_by_its_own_functions_grant_of_that_action_on_that_resource() -> None:
    held = [grant(GET)]
    fine = call("dynamodb:GetItem")
    others = {
        call("dynamodb:PutItem"),
        call("dynamodb:GetItem", f"{TABLE}/index/watch"),
        call("dynamodb:GetItem", function="worker"),
    }
    assert refused({fine, *others}, held) == others


def test_stars_match_in_actions_and_resources() -> None:
    held = [grant(Permission("scanner", "Send", "sqs:SendMessage*"), "arn:aws:sqs:region:account:stack-*")]
    assert refused({call("sqs:SendMessage", "arn:aws:sqs:region:account:stack-plan")}, held) == set()


def test_a_condition_must_hold() -> None:
    lease = {"dynamodb:LeadingKeys": ["lease#*"]}
    held = [grant(Permission("scanner", "Release", "dynamodb:DeleteItem"), ForAllValues_StringLike=lease)]
    fine = call("dynamodb:DeleteItem", dynamodb_LeadingKeys="lease#")
    wrong = call("dynamodb:DeleteItem", TABLE + "2", dynamodb_LeadingKeys="platform#")
    assert refused([fine], held) == set()
    assert refused([wrong], [grant(held[0].permission, TABLE + "2", ForAllValues_StringLike=lease)]) == {wrong}


def test_a_condition_that_nobody_knows_is_never_taken_for_granted() -> None:
    held = [grant(GET, StringNotLike={"a": "b"})]
    with pytest.raises(AssertionError, match="unknown here"):
        refused({call("dynamodb:GetItem")}, held)


def test_a_permission_is_needed_when_without_it_a_call_is_refused() -> None:
    twice = Permission("scanner", "Again", "dynamodb:GetItem")
    made = {call("dynamodb:GetItem"), call("dynamodb:PutItem")}
    assert needed(made, [grant(GET), grant(PUT)]) == {GET, PUT}
    assert needed(made, [grant(GET), grant(twice), grant(PUT)]) == {PUT}
    assert needed([], [grant(GET)]) == set()


@pytest.mark.parametrize(
    ("service", "operation", "given", "action", "resource"),
    [
        ("dynamodb", "Query", {"TableName": "bv-runs", "IndexName": "open"}, "dynamodb:Query", "table/stack-runs/index/open"),
        ("sqs", "SendMessageBatch", {"QueueUrl": "http://h/1/bv-plan"}, "sqs:SendMessage", "stack-plan"),
        ("ssm", "GetParametersByPath", {"Path": "/bv/platforms"}, "ssm:GetParametersByPath", "parameter/stack/platforms"),
        ("lambda", "Invoke", {"FunctionName": "bv-scorer"}, "lambda:InvokeFunction", "function:stack-scorer"),
    ],
)  # fmt: skip
def test_a_recorded_call_is_what_iam_is_asked(
    service: str, operation: str, given: dict[str, str], action: str, resource: str
) -> None:
    line = {"function": "bv-worker-openai", "service": service, "operation": operation, "given": given}
    (asked,) = calls_of(line, "bv")
    assert (asked.function, asked.action) == ("worker", action)
    assert asked.resource == f"arn:aws:{service}:region:account:{resource}"


def test_an_object_is_asked_for_by_its_first_folder() -> None:
    line = {
        "function": "bv-scorer",
        "service": "s3",
        "operation": "GetObject",
        "given": {"Bucket": "b", "Prefix": "answers"},
    }
    (asked,) = calls_of(line, "bv")
    assert (asked.action, asked.resource) == ("s3:GetObject", "arn:aws:s3:::bucket/answers/x")
