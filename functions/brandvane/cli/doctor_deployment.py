"""Is the stack there, did its last deployment end well, and is it still what was deployed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from brandvane.cli.checks import Check, fail, ok, warn
from brandvane.cli.stack_facts import StackFacts, names_of
from brandvane.cli.view import shown

GOOD_ENDS = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
DRIFT_LOOK_S = 3.0
DRIFT_WAIT_S = 180.0


def no_stack(facts: StackFacts) -> Iterator[Check]:
    """Nothing has been deployed yet."""
    yield fail("stack", f"there is no stack '{facts.aws.stack}'", "sam build && sam deploy, or name another: --stack")


def stack(facts: StackFacts) -> Iterator[Check]:
    """Did the last deployment end well?"""
    status = str((facts.stack or {}).get("StackStatus", "unknown"))
    said = f"{facts.aws.stack} is {status}"
    if status in GOOD_ENDS:
        yield ok("stack", said)
    elif status.endswith("_IN_PROGRESS"):
        yield warn("stack", said, "wait until the deployment has ended, then look again")
    elif status == "UPDATE_ROLLBACK_COMPLETE":
        yield warn("stack", f"{said}: the last update failed and was taken back", "sam deploy once more")
    else:
        yield fail("stack", said, "look at its events (aws cloudformation describe-stack-events) and deploy again")


def drift(facts: StackFacts, sleep: Callable[[float], Any]) -> Iterator[Check]:
    """Has somebody changed resources by hand since they were deployed? CloudFormation looks at each nested stack only by itself."""
    if facts.aws.endpoint is not None:
        yield ok("drift", "not looked at: an emulator does not know drift")
        return
    changed: list[str] = []
    for stack in facts.stacks:
        told = _drift_of(facts, stack, sleep)
        if told is None:
            yield warn("drift", f"still being looked for after {DRIFT_WAIT_S:g} s", "run it again, or say --no-drift")
            return
        if told["DetectionStatus"] == "DETECTION_FAILED" and told.get("StackDriftStatus") != "DRIFTED":
            why = shown(str(told.get("DetectionStatusReason", "no reason given")))
            yield warn("drift", f"could not be found out: {why}", "aws cloudformation detect-stack-drift")
            return
        if told.get("StackDriftStatus") == "DRIFTED":
            changed += _changed(facts, stack)
    if changed:
        remedy = "deploy to undo it, or put the change into the template"
        yield fail("drift", f"changed by hand: {names_of(changed)}", remedy)
    else:
        yield ok("drift", "every resource is as the template says")


def _drift_of(facts: StackFacts, stack: str, sleep: Callable[[float], Any]) -> dict[str, Any] | None:
    """What CloudFormation found; None when it takes too long."""
    client = facts.aws.client("cloudformation")
    begun = client.detect_stack_drift(StackName=stack)["StackDriftDetectionId"]
    waited = 0.0
    while True:
        told: dict[str, Any] = client.describe_stack_drift_detection_status(StackDriftDetectionId=begun)
        if told["DetectionStatus"] != "DETECTION_IN_PROGRESS":
            return told
        if waited >= DRIFT_WAIT_S:
            return None
        sleep(DRIFT_LOOK_S)
        waited += DRIFT_LOOK_S


def _changed(facts: StackFacts, stack: str) -> list[str]:
    rows = facts.aws.client("cloudformation").describe_stack_resource_drifts(
        StackName=stack, StackResourceDriftStatusFilters=["MODIFIED", "DELETED"]
    )["StackResourceDrifts"]
    return [f"{row['LogicalResourceId']} ({row['StackResourceDriftStatus'].lower()})" for row in rows]
