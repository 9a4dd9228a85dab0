"""Does the loop give every platform what its calls need, and does nothing else in the template name a platform?"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from brandvane.catalogue_files.deployed import template_lines
from brandvane.platforms.registry import platform_rows, resolve

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

LIMITER_S, HOLD_S, WRITEBACK_S, RESERVE_S = 20, 5, 15, 20
SIZINGS = [{"StandIns": "false"}, {"StandIns": "true"}]


def platforms(source: Mapping[str, Any]) -> list[str]:
    """The literal list of the loop."""
    names: list[str] = source["Resources"]["Fn::ForEach::Platform"][1]
    return names


def calls(worker: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of a worker's event source."""
    properties: dict[str, Any] = worker["Properties"]["Events"]["Calls"]["Properties"]
    return properties


def test_every_platform_of_the_loop_has_a_row(source: dict[str, Any]) -> None:
    assert set(platforms(source)) <= set(source["Mappings"]["Platforms"])


def test_the_rows_are_those_of_all_known_platforms_with_the_numbers_that_a_push_asks_for(
    source: dict[str, Any],
) -> None:
    rows = source["Mappings"]["Platforms"]
    asked = [template_lines(resolve(name, {})) for name in platform_rows()]
    told = [f"{name}: {{{', '.join(f'{key}: {value}' for key, value in row.items())}}}" for name, row in rows.items()]
    assert sorted(told) == sorted(line for _, line in asked)
    assert sorted(rows) == sorted(logical for logical, _ in asked)


def test_platform_names_are_ids_and_rows_are_named_after_them(source: dict[str, Any]) -> None:
    for row, numbers in source["Mappings"]["Platforms"].items():
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", numbers["Name"])
        assert row.lower() == numbers["Name"].replace("-", "")


def test_a_function_outlives_the_longest_call_with_all_that_surrounds_it(source: dict[str, Any]) -> None:
    longest_override = source["Parameters"]["CallTimeoutOverride"]["MaxValue"]
    for row in source["Mappings"]["Platforms"].values():
        longest_call = max(row["CallTimeout"], longest_override)
        assert row["FunctionTimeout"] >= longest_call + LIMITER_S + HOLD_S + WRITEBACK_S + RESERVE_S


def test_timeout_and_visibility_of_a_platform_are_those_of_its_row(
    source: dict[str, Any], resources: Resources
) -> None:
    for name in platforms(source):
        row = source["Mappings"]["Platforms"][name]
        assert resources[f"Worker{name}"]["Properties"]["Timeout"] == row["FunctionTimeout"]
        assert resources[f"Queue{name}"]["Properties"]["VisibilityTimeout"] == row["Visibility"]


@pytest.mark.parametrize("sizing", SIZINGS)
def test_pollers_take_less_than_is_reserved_and_at_least_two(
    source: dict[str, Any], processed: Processed, sizing: dict[str, str]
) -> None:
    resources = processed(ReserveConcurrency="true", **sizing)
    for name in platforms(source):
        worker = resources[f"Worker{name}"]
        pollers = calls(worker)["ScalingConfig"]["MaximumConcurrency"]
        assert 2 <= pollers < worker["Properties"]["ReservedConcurrentExecutions"]


@pytest.mark.parametrize("sizing", SIZINGS)
def test_a_batch_fits_what_sqs_hands_over_at_once(
    source: dict[str, Any], processed: Processed, sizing: dict[str, str]
) -> None:
    resources = processed(**sizing)
    assert all(1 <= calls(resources[f"Worker{name}"])["BatchSize"] <= 10 for name in platforms(source))


def test_numbers_that_reach_an_event_source_are_numbers(source: dict[str, Any], processed: Processed) -> None:
    resources = processed(StandIns="true")
    for name in platforms(source):
        assert isinstance(calls(resources[f"Worker{name}"])["ScalingConfig"]["MaximumConcurrency"], int)
        assert isinstance(calls(resources[f"Worker{name}"])["BatchSize"], int)


def test_nothing_is_reserved_unless_asked_for(source: dict[str, Any], processed: Processed) -> None:
    resources = processed(ReserveConcurrency="false")
    assert not any("ReservedConcurrentExecutions" in resources[f"Worker{n}"]["Properties"] for n in platforms(source))


def test_a_worker_is_fed_by_its_own_queue_and_knows_its_platform(source: dict[str, Any], resources: Resources) -> None:
    for name in platforms(source):
        worker = resources[f"Worker{name}"]
        platform = source["Mappings"]["Platforms"][name]["Name"]
        assert calls(worker)["Queue"] == f"Queue{name}.Arn"
        assert worker["Properties"]["Role"] == f"Role{name}.Arn"
        assert worker["Properties"]["FunctionName"] == f"stack-worker-{platform}"
        assert resources[f"Queue{name}"]["Properties"]["QueueName"] == f"stack-calls-{platform}"
        assert resources[f"DeadLetters{name}"]["Properties"]["QueueName"] == f"stack-calls-{platform}-dead"
        assert worker["Properties"]["Environment"]["Variables"]["PLATFORM"] == platform
        assert worker["Properties"]["Environment"]["Variables"]["CALL_TIMEOUT"] == 60


def test_what_is_deployed_is_written_as_json_with_numbers(processed: Processed) -> None:
    parameter = processed()["DeployedHunyuan"]["Properties"]
    assert parameter["Name"] == "/stack/platforms/hunyuan"
    assert json.loads(parameter["Value"]) == {
        "platform": "hunyuan",
        "invocations": 2,
        "batch_size": 2,
        "call_timeout": 60,
    }


def test_stand_ins_and_a_shorter_call_timeout_show_in_worker_and_parameter(processed: Processed) -> None:
    resources = processed(StandIns="true", CallTimeoutOverride=8)
    assert resources["WorkerHunyuan"]["Properties"]["Environment"]["Variables"]["CALL_TIMEOUT"] == 8
    assert json.loads(resources["DeployedHunyuan"]["Properties"]["Value"]) == {
        "platform": "hunyuan",
        "invocations": 6,
        "batch_size": 10,
        "call_timeout": 8,
    }


def test_nothing_but_the_list_and_the_rows_names_a_platform(source: dict[str, Any]) -> None:
    rest = copy.deepcopy(source)
    names = platforms(rest)
    rest["Resources"]["Fn::ForEach::Platform"][1] = []
    del rest["Mappings"]["Platforms"]
    text = json.dumps(rest).lower()
    assert [name for name in names if name.lower() in text] == []


def test_a_known_platform_is_added_with_one_name(
    source: dict[str, Any],
    process_template: Callable[[Mapping[str, Any], Mapping[str, Any]], Resources],
) -> None:
    grown = copy.deepcopy(source)
    platforms(grown).extend(sorted(set(source["Mappings"]["Platforms"]) - set(platforms(source))))
    after = process_template(grown, {})
    assert after["WorkerQwenSearch"]["Properties"]["FunctionName"] == "stack-worker-qwen-search"
    assert after["WorkerOpenaiSearch"]["Properties"]["Timeout"] == 180
    assert len([name for name in after if name.startswith("Worker")]) == len(platform_rows())


def test_a_platform_of_ones_own_is_added_with_one_name_and_one_row(
    source: dict[str, Any],
    process_template: Callable[[Mapping[str, Any], Mapping[str, Any]], Resources],
) -> None:
    grown = copy.deepcopy(source)
    platforms(grown).append("Acme")
    grown["Mappings"]["Platforms"]["Acme"] = {**source["Mappings"]["Platforms"]["Openai"], "Name": "acme"}
    before, after = process_template(source, {}), process_template(grown, {})
    assert set(after) - set(before) == {
        "QueueAcme",
        "DeadLettersAcme",
        "QueuePolicyAcme",
        "SendCallsAcme",
        "CountDeadLettersAcme",
        "DeployedAcme",
        "LogsAcme",
        "RoleAcme",
        "WorkerAcme",
        "SuccessRateAcme",
        "BacklogAcme",
        "PulledNotStartedAcme",
        "RetriesUsedUpAcme",
        "RetryStormAcme",
        "PlatformPausedAcme",
        "PlatformOutageAcme",
    }
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"DispatcherRole", "ScannerRole"}  # that may use its queues now
