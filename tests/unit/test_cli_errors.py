"""How does a command end that cannot do what it was asked?"""

from __future__ import annotations

import importlib
import socket
import sys
from typing import Any

import click
import pytest
from botocore import exceptions as aws

from brandvane.aws.client import Refused
from brandvane.cli.aws_context import AwsContext, aws_options
from brandvane.cli.errors import CliError, explain, run_cli
from brandvane.cli.main import COMMANDS, brandvane
from brandvane.ports import Unavailable


def _ends(error: BaseException | int | None, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    @click.command()
    def command() -> int | None:
        if isinstance(error, BaseException):
            raise error
        return error

    with pytest.raises(SystemExit) as left:
        run_cli(command, [])
    code = left.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err


def _refusal(code: str, message: str = "no") -> aws.ClientError:
    return aws.ClientError({"Error": {"Code": code, "Message": message}}, "PutObject")


def test_a_command_that_returns_ends_with_0_or_its_own_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends(None, capsys) == (0, "")
    assert _ends(3, capsys) == (3, "")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (CliError("the run failed"), 1, "brandvane: the run failed\n"),
        (CliError("wrong file", 2), 2, "brandvane: wrong file\n"),
        (KeyboardInterrupt(), 130, "\nbrandvane: interrupted\n"),
        (click.Abort(), 130, "brandvane: interrupted\n"),
        (Unavailable("table"), 1, "brandvane: a service did not do its part: table. Try again\n"),
        (Refused("AccessDenied", "not you", {}), 1, "brandvane: these credentials may not do this (a call): not you\n"),
        (
            aws.NoCredentialsError(),
            1,
            "brandvane: no AWS credentials were found: use --profile, set AWS_PROFILE, or run 'aws sso login'\n",
        ),
        (aws.NoRegionError(), 2, "brandvane: no AWS region is set: use --region, or set AWS_REGION\n"),
        (
            aws.EndpointConnectionError(endpoint_url="http://127.0.0.1:4566/"),
            1,
            (
                "brandvane: nothing answers at http://127.0.0.1:4566/: start the emulator with 'brandvane local up',"
                " or unset AWS_ENDPOINT_URL\n"
            ),
        ),
        (
            aws.ConnectTimeoutError(endpoint_url="https://s3.nowhere.example/"),
            1,
            (
                "brandvane: AWS does not answer at https://s3.nowhere.example/: look at the network, the region"
                " and AWS_ENDPOINT_URL\n"
            ),
        ),
        (
            _refusal("ExpiredToken"),
            1,
            "brandvane: AWS does not accept the credentials (ExpiredToken): renew them, or use another --profile\n",
        ),
        (_refusal("AccessDenied"), 1, "brandvane: these credentials may not do this (PutObject): no\n"),
        (_refusal("NoSuchBucket"), 1, "brandvane: AWS refused PutObject: NoSuchBucket: no\n"),
    ],
)
def test_every_failure_of_the_world_is_one_sentence(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ends(error, capsys) == (code, sentence)


def test_an_unavailable_service_is_explained_by_its_cause() -> None:
    unavailable = Unavailable("S3")
    unavailable.__cause__ = aws.EndpointConnectionError(endpoint_url="http://localhost:1/")
    explained = explain(unavailable)
    assert explained is not None
    assert explained.message.startswith("nothing answers at http://localhost:1/")


def test_a_bug_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        _ends(ZeroDivisionError(), capsys)


def test_an_endpoint_where_nobody_listens_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:  # bound and not listening: whoever connects is refused
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        with pytest.raises(SystemExit) as left:
            run_cli(brandvane, ["catalogue", "list"])
    assert left.value.code == 1
    assert capsys.readouterr().err.startswith(f"brandvane: nothing answers at {address}/: start the emulator")


def test_an_unknown_profile_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with pytest.raises(SystemExit) as left:
        run_cli(brandvane, ["catalogue", "list", "--profile", "nobody"])
    assert left.value.code == 2
    assert "The config profile (nobody) could not be found" in capsys.readouterr().err


def test_an_emulator_on_this_machine_needs_neither_region_nor_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = AwsContext(endpoint_url="http://127.0.0.1:4566").client("s3")
    assert (client.meta.region_name, client.meta.endpoint_url) == ("us-east-1", "http://127.0.0.1:4566")


def test_a_client_is_made_once_and_tries_three_times_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    context = AwsContext(region="eu-central-1", endpoint_url="http://127.0.0.1:4566")
    assert context.client("ssm") is context.client("ssm")
    assert context.client("ssm").meta.config.retries == {"mode": "standard", "total_max_attempts": 3}


def test_the_stack_comes_from_its_option_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[AwsContext] = []

    @click.command()
    @aws_options
    def command(aws: AwsContext) -> None:
        seen.append(aws)

    monkeypatch.delenv("BRANDVANE_STACK", raising=False)
    command.main([], standalone_mode=False)
    monkeypatch.setenv("BRANDVANE_STACK", "shop")
    command.main([], standalone_mode=False)
    command.main(["--stack", "other", "--region", "eu-west-1"], standalone_mode=False)
    assert [(found.stack, found.region) for found in seen] == [
        ("brandvane", None),
        ("shop", None),
        ("other", "eu-west-1"),
    ]


def test_help_names_every_command_and_imports_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> Any:
        raise AssertionError(name)

    monkeypatch.setattr("brandvane.cli.main.import_module", refuse)
    with pytest.raises(SystemExit) as left:
        run_cli(brandvane, ["--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_the_root_loads_neither_boto3_nor_yaml() -> None:
    import subprocess

    code = "import brandvane.cli.main, sys; print(sorted({'boto3', 'botocore', 'yaml', 'httpx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run_cli(brandvane, ["catalog"])
    assert left.value.code == 2
    assert "No such command 'catalog'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("brandvane.cli.run_commands", "brandvane: 'run' is not part of this installation (brandvane.cli.run_commands is missing)\n"),
        ("rich", "brandvane: 'run' needs rich: pip install 'brandvane[cli]'\n"),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_loaded_says_what_is_missing(
    missing: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> Any:
        raise ModuleNotFoundError(name=missing)

    monkeypatch.setattr("brandvane.cli.main.import_module", refuse)
    with pytest.raises(SystemExit):
        run_cli(brandvane, ["run", "list"])
    assert capsys.readouterr().err == sentence
    assert importlib.import_module is not refuse


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_cli(brandvane, ["--version"])
    assert capsys.readouterr().out == "brandvane, version 0.1.0\n"
