"""What is deployed and which key to use, read from parameters; and how another function is started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brandvane.aws.client import Refused
from brandvane.aws.deployment import SsmDeployment
from brandvane.aws.functions import LambdaFunctions
from brandvane.aws.secrets import SsmSecrets
from brandvane.ports import Deployed, Unavailable
from unit.aws_fakes import FakeClient, clients_with, refusal


def parameter(platform: str, value: str | None = None) -> dict[str, str]:
    told = {"platform": platform, "invocations": 20, "batch_size": 10, "call_timeout": 60}
    return {"Name": f"/st/platforms/{platform}", "Value": value or json.dumps(told)}


class Watch:
    """A clock to turn by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


async def test_the_deployed_platforms_come_by_name_from_all_pages() -> None:
    pages: list[Any] = [{"Parameters": [parameter("kimi")], "NextToken": "t"}, {"Parameters": [parameter("gpt")]}]
    ssm = FakeClient(get_parameters_by_path=pages)
    deployment = SsmDeployment(clients=clients_with(ssm=ssm), stack="st")
    assert await deployment.platforms() == (Deployed("gpt", 20, 10, 60), Deployed("kimi", 20, 10, 60))
    assert ssm.sent("get_parameters_by_path") == [
        {"Path": "/st/platforms"},
        {"Path": "/st/platforms", "NextToken": "t"},
    ]


async def test_the_deployed_platforms_are_read_once_a_minute() -> None:
    ssm = FakeClient(get_parameters_by_path=[{"Parameters": [parameter("gpt")]}, {"Parameters": []}])
    watch = Watch()
    deployment = SsmDeployment(clients=clients_with(ssm=ssm), stack="st", now=watch)
    first = await deployment.platforms()
    watch.at += 59.9
    assert await deployment.platforms() == first
    watch.at += 0.1
    assert await deployment.platforms() == ()


async def test_while_the_deployed_platforms_cannot_be_read_anew_those_that_are_known_hold() -> None:
    ssm = FakeClient(get_parameters_by_path=[{"Parameters": [parameter("gpt")]}, refusal("ThrottlingException")])
    watch = Watch()
    deployment = SsmDeployment(clients=clients_with(ssm=ssm), stack="st", now=watch)
    first = await deployment.platforms()
    watch.at += 60
    assert await deployment.platforms() == first


async def test_platforms_that_could_never_be_read_are_unavailable() -> None:
    ssm = FakeClient(get_parameters_by_path=[refusal("ThrottlingException")])
    with pytest.raises(Unavailable):
        await SsmDeployment(clients=clients_with(ssm=ssm), stack="st").platforms()


@pytest.mark.parametrize("value", ["{", "[]", "{}", '{"platform": "gpt", "invocations": "many"}'])
async def test_a_parameter_that_describes_no_platform_is_named(value: str) -> None:
    ssm = FakeClient(get_parameters_by_path=[{"Parameters": [parameter("gpt", value)]}])
    with pytest.raises(ValueError, match="parameter /st/platforms/gpt does not describe a platform"):
        await SsmDeployment(clients=clients_with(ssm=ssm), stack="st").platforms()


async def test_a_key_is_read_once_and_anew_when_asked() -> None:
    ssm = FakeClient(get_parameter=[{"Parameter": {"Value": "old"}}, {"Parameter": {"Value": "new"}}])
    secrets = SsmSecrets(clients=clients_with(ssm=ssm), stack="st")
    assert [await secrets.key("gpt"), await secrets.key("gpt")] == ["old", "old"]
    assert await secrets.key("gpt", fresh=True) == "new"
    assert await secrets.key("gpt") == "new"
    assert ssm.sent("get_parameter") == [{"Name": "/st/keys/gpt", "WithDecryption": True}] * 2


async def test_a_key_that_was_never_put_is_none_and_asked_for_again() -> None:
    ssm = FakeClient(get_parameter=[refusal("ParameterNotFound"), {"Parameter": {"Value": "put"}}])
    secrets = SsmSecrets(clients=clients_with(ssm=ssm), stack="st")
    assert [await secrets.key("gpt"), await secrets.key("gpt")] == [None, "put"]


async def test_a_key_that_may_not_be_read_is_a_refusal_without_the_key() -> None:
    ssm = FakeClient(get_parameter=[refusal("AccessDeniedException")])
    with pytest.raises(Refused, match="AccessDeniedException"):
        await SsmSecrets(clients=clients_with(ssm=ssm), stack="st").key("gpt")


async def test_another_function_is_started_without_waiting_for_it() -> None:
    functions = FakeClient(invoke=[{"StatusCode": 202}])
    await LambdaFunctions(clients=clients_with(functions=functions), stack="st").invoke("scorer", {"run_id": "甲"})
    sent = functions.sent("invoke")[0]
    assert (sent["FunctionName"], sent["InvocationType"]) == ("st-scorer", "Event")
    assert json.loads(sent["Payload"]) == {"run_id": "甲"}


async def test_a_row_may_say_where_its_key_lies_in_secrets_manager_too() -> None:
    ssm = FakeClient(get_parameter=[{"Parameter": {"Value": "there"}}])
    secrets = SsmSecrets(clients=clients_with(ssm=ssm), stack="st")
    name = "/aws/reference/secretsmanager/team-gpt"
    assert [await secrets.key("gpt", parameter=name), await secrets.key("gpt", parameter=name)] == ["there", "there"]
    assert ssm.sent("get_parameter") == [{"Name": name, "WithDecryption": True}]
