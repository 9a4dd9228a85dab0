"""With a KMS key of one's own: is everything at rest under it, and may everybody who touches it use it? Without: AWS's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Resources = dict[str, dict[str, Any]]
Processed = Callable[..., Resources]

KEY = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd"
TOPICS = {"TopicP0", "TopicP1", "TopicP2"}


@pytest.fixture(scope="module")
def under_key(processed: Processed) -> Resources:
    return processed(KmsKeyArn=KEY, ReserveConcurrency="true")


def of_type(resources: Resources, kind: str) -> dict[str, dict[str, Any]]:
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


def test_tables_queues_topics_bucket_and_logs_are_under_the_key(under_key: Resources) -> None:
    for table in of_type(under_key, "AWS::DynamoDB::Table").values():
        assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
    for queue in of_type(under_key, "AWS::SQS::Queue").values():
        assert (queue["KmsMasterKeyId"], queue["SqsManagedSseEnabled"]) == (KEY, False)
    topics = of_type(under_key, "AWS::SNS::Topic")
    assert {name: topic["KmsMasterKeyId"] for name, topic in topics.items()} == dict.fromkeys(TOPICS, KEY)
    (rule,) = under_key["Data"]["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    by_default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}
    assert rule == {"ServerSideEncryptionByDefault": by_default, "BucketKeyEnabled": True}
    assert {group["KmsKeyId"] for group in of_type(under_key, "AWS::Logs::LogGroup").values()} == {KEY}


def test_every_role_may_use_the_key_and_nothing_else_of_kms(under_key: Resources) -> None:
    roles = of_type(under_key, "AWS::IAM::Role")
    assert [name for name, role in roles.items() if "UseKey" not in role["ManagedPolicyArns"]] == []
    (statement,) = under_key["UseKey"]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Action"], statement["Resource"]) == (["kms:Decrypt", "kms:GenerateDataKey"], KEY)


def test_without_a_key_nothing_speaks_of_one(resources: Resources) -> None:
    assert "UseKey" not in resources
    text = str(resources)
    assert "kms:" not in text.lower()
    assert "UseKey" not in text


def test_every_log_group_forgets(processed: Processed) -> None:
    groups = of_type(processed(LogRetentionDays=14), "AWS::Logs::LogGroup")
    assert {group["RetentionInDays"] for group in groups.values()} == {14}
