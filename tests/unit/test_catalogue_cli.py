"""What does ``brandvane catalogue`` do? (AWS by moto.)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner, Result
from moto import mock_aws

from brandvane.aws.run_store import DynamoRunStore
from brandvane.cli import push_windows
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.catalogue_commands import catalogue
from brandvane.cli.local_state import LocalState
from unit.catalogue_samples import BRANDS, MONITOR, SAMPLE

NOON = 1_760_004_000.0  # 12:00 in Berlin: no window of the sample is open
OUTPUTS = {
    "DataBucket": "data",
    "PlannerArn": "arn:aws:lambda:us-east-1:123456789012:function:shop-planner",
    "ScheduleRoleArn": "arn:aws:iam::123456789012:role/shop-schedules",
    "ScheduleDeadLettersArn": "arn:aws:sqs:us-east-1:123456789012:shop-schedules-dead",
}


class CloudFormation:
    """Knows one stack. (moto's own needs packages that nothing else here does.)"""

    meta = SimpleNamespace(region_name="us-east-1")

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803  # boto3's spelling
        """The stack, or the service's way to say that there is none."""
        if StackName != "shop":
            raise ClientError({"Error": {"Code": "ValidationError", "Message": "does not exist"}}, "DescribeStacks")
        return {"Stacks": [{"Outputs": [{"OutputKey": k, "OutputValue": v} for k, v in OUTPUTS.items()]}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample catalogue on disk."""
    for name, text in SAMPLE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stack ``shop`` with workers for openai and hunyuan."""
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "BRANDVANE_STACK": "shop",
    }.items():
        monkeypatch.setenv(name, value)
    made: dict[str, Any] = {"cloudformation": CloudFormation()}
    real = AwsContext.client

    def client(self: AwsContext, service: str) -> Any:
        """One a test instead of one a command: making them is what takes time."""
        if service not in made:
            made[service] = real(self, service)
        return made[service]

    monkeypatch.setattr(AwsContext, "client", client)
    monkeypatch.setattr(push_windows, "clock", lambda: NOON)
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="data")
        boto3.client("scheduler").create_schedule_group(Name="shop")
        for platform in ("openai", "hunyuan"):
            told = {"platform": platform, "invocations": 2, "batch_size": 1, "call_timeout": 60}
            boto3.client("ssm").put_parameter(Name=f"/shop/platforms/{platform}", Value=json.dumps(told), Type="String")
        yield


def _call(*args: object) -> Result:
    return CliRunner().invoke(catalogue, [str(arg) for arg in args])


def _json(*args: object) -> Any:
    result = _call(*args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _schedules() -> list[str]:
    return [row["Name"] for row in boto3.client("scheduler").list_schedules(GroupName="shop")["Schedules"]]


def _keys() -> list[str]:
    return [row["Key"] for row in boto3.client("s3").list_objects_v2(Bucket="data").get("Contents", [])]


def test_checking_a_right_folder_says_what_it_would_ask(folder: Path) -> None:
    result = _call("check", folder)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [
        "2 brands, 2 questions (1 of them branded)",
        "asked of openai/gpt-5.6-terra, hunyuan/hy4",
        "daily: 02:00-04:00 Europe/Berlin, by 06:00: 3 prompts x 2 targets x 1 = 6 tasks",
    ]


def test_faults_go_to_stderr_with_everything_there_is_to_know_and_exit_2(folder: Path) -> None:
    (folder / "brands.yaml").write_text(BRANDS.replace("id: bose", "id: Bose"))
    result = _call("check", folder)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "brands.yaml\n"
        "  row 6 id 'Bose': not a valid id\n"
        "      Use a-z, 0-9 and '-', beginning with a letter or digit, at most 64, such as 'bose'.\n"
        "1 fault\n"
        "The catalogue cannot be used.\n"
    )


def test_faults_as_json_name_file_row_field_value_and_remedy(folder: Path) -> None:
    (folder / "brands.yaml").write_text(BRANDS.replace("id: bose", "id: Bose"))
    result = _call("check", folder, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {
        "ok": False,
        "faults": [
            {
                "file": "brands.yaml",
                "message": "not a valid id",
                "remedy": "Use a-z, 0-9 and '-', beginning with a letter or digit, at most 64, such as 'bose'",
                "row": 6,
                "field": "id",
                "value": "Bose",
            }
        ],
        "warnings": [],
    }


def test_a_right_folder_as_json_has_its_summary(folder: Path) -> None:
    document = _json("check", folder)
    assert (document["ok"], document["summary"]["brands"], document["summary"]["schedules"][0]["tasks"]) == (True, 2, 6)


@pytest.mark.usefixtures("stack")
def test_pushing_stores_a_version_makes_it_current_and_sets_its_schedules(folder: Path) -> None:
    result = _call("push", folder)
    assert result.exit_code == 0, result.output
    assert "It takes effect in the next run" in result.stdout
    assert "schedules created: daily" in result.stdout
    assert _schedules() == ["daily"]
    version = _json("list")[0]
    assert version["current"] is True
    assert _keys() == ["catalogue/current.json", f"catalogue/versions/{version['version']}.json"]


@pytest.mark.usefixtures("stack")
def test_pushing_the_same_again_says_so_and_changes_nothing(folder: Path) -> None:
    first = _json("push", folder)
    assert (first["previous"], first["changed"], first["difference"]) == (None, True, None)
    again = _json("push", folder)
    assert (again["version"], again["changed"]) == (first["version"], False)
    assert again["schedules"] == {"created": [], "updated": [], "removed": []}
    assert "nothing was changed" in _call("push", folder).stdout
    assert len(_json("list")) == 1


@pytest.mark.usefixtures("stack")
def test_pushing_faults_pushes_nothing(folder: Path) -> None:
    (folder / "questions.yaml").write_text("- {id: q, text: '', brands: all}\n")
    result = _call("push", folder)
    assert result.exit_code == 2
    assert "Nothing was pushed." in result.stderr
    assert (_keys(), _schedules()) == ([], [])


@pytest.mark.usefixtures("stack")
def test_a_platform_without_a_worker_is_a_fault_that_names_what_the_template_lacks(folder: Path) -> None:
    (folder / "monitor.yaml").write_text(MONITOR.replace("hunyuan", "deepseek"))
    result = _call("push", folder, "--json")
    assert result.exit_code == 2
    (fault,) = json.loads(result.stdout)["faults"]
    assert (fault["row"], fault["value"], fault["message"]) == (3, "deepseek", "the platform has no deployed worker")
    assert "Add 'Deepseek' to the list of Fn::ForEach::Platform" in fault["remedy"]
    assert _keys() == []


@pytest.mark.usefixtures("stack")
def test_pushing_something_else_says_how_the_previous_differs(folder: Path) -> None:
    _call("push", folder)
    (folder / "monitor.yaml").write_text(MONITOR.replace("rate: 2", "rate: 3") + "samples: 2\n")
    result = _call("push", folder)
    assert result.stdout.splitlines()[-2:] == ["~ platform hunyuan: rate", "~ monitor samples: 1 -> 2"]


@pytest.mark.usefixtures("stack")
def test_whoever_sits_there_is_asked_before_something_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brandvane.cli.catalogue_commands._interactive", lambda: True)
    assert _call("push", folder).exit_code == 0  # nothing is removed: no question
    (folder / "monitor.yaml").write_text(MONITOR.replace("id: daily", "id: nightly"))
    refused = CliRunner().invoke(catalogue, ["push", str(folder)], input="n\n")
    assert refused.exit_code == 1
    assert "- schedule daily\nThis removes 1 schedule. Push? [y/N]: " in refused.stderr
    assert len(_json("list")) == 1
    assert _call("push", folder, "--yes").exit_code == 0
    assert _schedules() == ["nightly"]


@pytest.mark.usefixtures("stack")
def test_a_script_is_not_asked_and_is_told_the_way_back(folder: Path) -> None:
    version = _json("push", folder)["version"]
    (folder / "monitor.yaml").write_text(MONITOR.replace("id: daily", "id: nightly"))
    result = _call("push", folder)
    assert result.exit_code == 0
    assert f"The way back: brandvane catalogue rollback {version}" in result.stdout
    assert _schedules() == ["nightly"]


@pytest.mark.usefixtures("stack")
def test_a_schedule_named_like_one_of_the_stacks_own_is_refused_before_the_push(folder: Path) -> None:
    boto3.client("scheduler").create_schedule(
        Name="daily",
        GroupName="shop",
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "arn:aws:lambda:us-east-1:1:function:f", "RoleArn": "arn:aws:iam::1:role/r"},
    )
    result = _call("push", folder)
    assert result.exit_code == 2
    assert result.stderr.startswith("brandvane: schedule id 'daily' is the name of another schedule of the stack")
    assert _keys() == []


@pytest.mark.usefixtures("stack")
def test_versions_are_listed_shown_and_compared(folder: Path) -> None:
    old = _json("push", folder)["version"]
    (folder / "brands.yaml").write_text(BRANDS.replace("name: Bose", "name: BOSE"))
    new = _json("push", folder)["version"]
    assert {row["version"]: row["current"] for row in _json("list")} == {old: False, new: True}
    assert _json("diff", old, "current")["changed"] == {"brands": {"bose": ["name"]}}
    assert _call("diff", old, new).stdout == "~ brand bose: name\n"
    assert _call("diff", new, new).stdout == "no difference\n"
    assert _json("show")["version"] == new
    assert _call("show", old).stdout.splitlines()[0] == old


@pytest.mark.usefixtures("stack")
def test_rolling_back_brings_the_version_and_its_schedules_back(folder: Path) -> None:
    old = _json("push", folder)["version"]
    (folder / "monitor.yaml").write_text(MONITOR.replace("id: daily", "id: nightly"))
    new = _json("push", folder)["version"]
    rolled = _json("rollback", old)
    assert rolled == {
        "version": old,
        "previous": new,
        "changed": True,
        "schedules": {"created": ["daily"], "updated": [], "removed": ["nightly"]},
    }
    assert _schedules() == ["daily"]


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("command", [("show", "nothing"), ("rollback", "nothing"), ("diff", "nothing", "nothing")])
def test_an_unknown_version_is_one_sentence_and_exit_2(command: tuple[str, ...]) -> None:
    result = _call(*command)
    assert result.exit_code == 2
    assert (
        result.stderr
        == "brandvane: there is no catalogue version nothing: 'brandvane catalogue list' shows those there are\n"
    )


@pytest.mark.usefixtures("stack")
def test_before_the_first_push_there_is_nothing_to_show() -> None:
    assert _call("list").stdout == "no catalogue has been pushed yet\n"
    assert _call("show").stderr == "brandvane: no catalogue has been pushed yet: run 'brandvane catalogue push DIR'\n"


@pytest.mark.usefixtures("stack")
def test_a_stack_that_is_not_there_is_one_sentence_and_exit_1(folder: Path) -> None:
    result = _call("list", "--stack", "nowhere")
    assert result.exit_code == 1
    assert result.stderr == (
        "brandvane: there is no stack 'nowhere' in us-east-1: run 'sam deploy', or name another with --stack\n"
    )


@pytest.mark.usefixtures("stack")
def test_a_push_to_the_stack_for_play_keeps_its_platforms_simulated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = {name: f"http://127.0.0.1:9/{name}" for name in ("openai", "hunyuan")}
    state = LocalState(home=folder, stack="shop", base_urls=urls)
    named: list[str] = []
    monkeypatch.setattr("brandvane.cli.catalogue_commands.play_stack", lambda aws: state)
    monkeypatch.setattr(
        "brandvane.cli.catalogue_commands.answers_name",
        lambda catalogue, state: named.extend(brand.name for brand in catalogue.brands),
    )
    result = _call("push", folder)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == (
        "On this local stack openai, hunyuan are simulated, and the answers are made up; they name your brands."
    )
    assert "openai: http://127.0.0.1:9/openai, 10 calls/s" in _call("show").stdout
    assert named == ["Nike", "Bose"]


@pytest.mark.usefixtures("stack")
def test_a_push_says_which_run_it_begins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def get(self: object, name: str) -> None:
        return None

    monkeypatch.setattr(DynamoRunStore, "get", get)
    monkeypatch.setattr(push_windows, "clock", lambda: NOON - 9 * 3600)
    result = _call("push", folder)
    assert (result.exit_code, result.stderr) == (
        0,
        "The window of schedule daily is open (02:00-04:00 Europe/Berlin, deadline 06:00): its run begins now, 6 calls.\n",
    )
