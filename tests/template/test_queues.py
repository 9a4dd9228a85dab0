"""Can a message be lost, stick, or be handed over too often because of how the queues are set?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Resources = dict[str, dict[str, Any]]


def of_type(resources: Resources, kind: str) -> dict[str, dict[str, Any]]:
    """Properties of all resources of a type, by logical id."""
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


def event_sources(resources: Resources) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Logical id of the function, its properties, its event source's, the source queue's."""
    for name, function in of_type(resources, "AWS::Serverless::Function").items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = event["Properties"]["Queue"].removesuffix(".Arn")
                yield name, function, event["Properties"], resources[queue]["Properties"]


def test_every_queue_but_dead_letters_has_one_consumer(resources: Resources) -> None:
    fed = [queue["QueueName"] for _, _, _, queue in event_sources(resources)]
    named = [queue["QueueName"] for queue in of_type(resources, "AWS::SQS::Queue").values()]
    assert sorted(fed) == sorted(name for name in named if not name.endswith("-dead"))


def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run(resources: Resources) -> None:
    for name, function, _, queue in event_sources(resources):
        assert queue["VisibilityTimeout"] >= 6 * function["Timeout"], name


def test_a_message_is_tried_twenty_times_and_a_write_back_a_hundred(resources: Resources) -> None:
    tries = {
        q["QueueName"]: q["RedrivePolicy"]["maxReceiveCount"]
        for q in of_type(resources, "AWS::SQS::Queue").values()
        if "RedrivePolicy" in q
    }
    assert tries == {
        "stack-calls-openai": 20,
        "stack-calls-hunyuan": 20,
        "stack-calls-deepseek": 20,
        "stack-plan": 20,
        "stack-sweep": 20,
        "stack-writeback": 100,
    }


def test_dead_letters_outlive_their_source(resources: Resources) -> None:
    for queue in of_type(resources, "AWS::SQS::Queue").values():
        if "RedrivePolicy" in queue:
            dead = resources[queue["RedrivePolicy"]["deadLetterTargetArn"].removesuffix(".Arn")]["Properties"]
            assert dead["QueueName"] == f"{queue['QueueName']}-dead"
            assert dead["MessageRetentionPeriod"] > queue["MessageRetentionPeriod"]


def test_every_event_source_limits_its_pollers(resources: Resources) -> None:
    limits = {name: source["ScalingConfig"]["MaximumConcurrency"] for name, _, source, _ in event_sources(resources)}
    assert all(limit >= 2 for limit in limits.values())
    assert limits["Planner"] == 2
    assert limits["Scanner"] == 2


def test_functions_that_report_failures_one_by_one_are_believed(resources: Resources) -> None:
    reporting = {
        n for n, _, s, _ in event_sources(resources) if s.get("FunctionResponseTypes") == ["ReportBatchItemFailures"]
    }
    assert reporting == {"WorkerOpenai", "WorkerHunyuan", "WorkerDeepseek", "WritebackWorker"}


def test_functions_that_do_not_report_get_one_message_at_a_time(resources: Resources) -> None:
    assert all(s["BatchSize"] == 1 for _, _, s, _ in event_sources(resources) if "FunctionResponseTypes" not in s)


def test_functions_that_send_to_their_own_queue_may_do_so_without_end(resources: Resources) -> None:
    allowed = {
        name
        for name, function in of_type(resources, "AWS::Serverless::Function").items()
        if function.get("RecursiveLoop") == "Allow"
    }
    assert allowed == {"WorkerOpenai", "WorkerHunyuan", "WorkerDeepseek", "WritebackWorker", "Planner"}


def test_a_write_back_message_may_carry_a_whole_answer(resources: Resources) -> None:
    assert resources["Writeback"]["Properties"]["MaximumMessageSize"] == 1024 * 1024
