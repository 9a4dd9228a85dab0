"""Does the deployment from GitHub hold no secret, pin what it runs, and ask for no more than it needs?"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / ".github" / "workflows" / "deploy.yml"
TEXT = FILE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    """As GitHub reads it; YAML takes its key ``on`` for True."""
    loaded: dict[Any, Any] = yaml.safe_load(TEXT)
    return loaded


def steps(job: dict[str, Any], kind: str) -> list[str]:
    return [step[kind] for step in job["steps"] if kind in step]


def test_there_is_no_secret_in_it() -> None:
    assert "secrets." not in TEXT
    assert not re.search(r"AKIA|aws_access_key|aws_secret|arn:aws:iam::\d", TEXT, re.IGNORECASE)


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    used = re.findall(r"uses: (\S+)(.*)", TEXT)
    assert used
    for action, rest in used:
        assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", rest), action


def test_jobs_have_the_least_permissions(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert jobs["test"]["permissions"] == {"contents": "read"}
    assert jobs["deploy"]["permissions"] == {"contents": "read", "id-token": "write"}
    checkouts = [s for job in jobs.values() for s in job["steps"] if s.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_only_main_is_deployed_after_its_tests_into_an_environment_one_at_a_time(workflow: dict[Any, Any]) -> None:
    deploy = workflow["jobs"]["deploy"]
    assert deploy["needs"] == "test"
    assert deploy["if"] == "github.event_name == 'push' && github.ref == 'refs/heads/main'"
    assert deploy["environment"] == "prod"
    assert deploy["concurrency"] == {"group": "deploy-prod", "cancel-in-progress": False}
    assert set(workflow[True]) == {"push", "pull_request"}
    assert workflow[True]["push"] == {"branches": ["main"]}


def test_pull_requests_run_what_people_run_and_touch_no_account(workflow: dict[Any, Any]) -> None:
    assert steps(workflow["jobs"]["test"], "run") == ["make test"]
    assert not [used for used in steps(workflow["jobs"]["test"], "uses") if "aws" in used]


def given_to_sam(workflow: dict[Any, Any], **variables: str) -> list[list[str]]:
    """What bash makes of the steps that call SAM."""
    found = []
    for command in steps(workflow["jobs"]["deploy"], "run"):
        if "/sam " in command:
            script = re.sub(r"\S+/sam ", "printf '%s\\\\n' ", command, count=1)
            done = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, text=True, check=True)
            found.append(done.stdout.splitlines())
    return found


def test_it_deploys_what_the_configuration_for_production_says(workflow: dict[Any, Any]) -> None:
    for variables in ({}, {"ALARM_EMAIL": ""}):
        assert given_to_sam(workflow, **variables) == [
            ["build", "--config-env", "prod"],
            ["deploy", "--config-env", "prod", "--no-confirm-changeset"],
        ]


def test_an_address_that_is_told_is_added_to_the_configurations_own_overrides(workflow: dict[Any, Any]) -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    own = config["prod"]["deploy"]["parameters"]["parameter_overrides"].split()
    assert given_to_sam(workflow, ALARM_EMAIL="ops@example.com;id")[1] == [
        *("deploy", "--config-env", "prod", "--no-confirm-changeset", "--parameter-overrides"),
        *own,
        "AlarmEmail=ops@example.com;id",
    ]


DOCTORS_CALLS = {  # of `doctor --aws --no-drift`, after cli/doctor_*.py, cli/stack_facts.py and cli/aws_context.py
    "cloudformation:DescribeStacks",
    "cloudformation:ListStackResources",
    "cloudwatch:DescribeAlarms",
    "lambda:GetAccountSettings",
    "lambda:GetFunctionConcurrency",
    "lambda:ListEventSourceMappings",
    "s3:GetObject",
    "s3:ListBucket",  # else S3 says "forbidden" where there is no catalogue
    "scheduler:ListSchedules",
    "sns:ListSubscriptionsByTopic",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "ssm:GetParametersByPath",
}


def test_the_page_names_what_the_last_step_reads() -> None:
    page = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    blocks = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", page, re.DOTALL | re.MULTILINE)]
    statements = [s for block in blocks if isinstance(block, list) for s in block if s["Sid"].startswith("Doctor")]
    assert {action for statement in statements for action in statement["Action"]} == DOCTORS_CALLS


def test_nothing_of_a_pull_request_gets_into_a_shell() -> None:
    assert set(re.findall(r"\$\{\{ (\S+) \}\}", TEXT)) == {
        "vars.AWS_ROLE",
        "vars.AWS_REGION",
        "vars.ALARM_EMAIL",
        "github.run_id",
    }
