"""What is left when a stack is deleted? Its data, and nothing that runs."""

from __future__ import annotations

from typing import Any

from brandvane.cli.local_stack import session_of
from brandvane.cli.local_state import LocalState
from e2e.deployed import wait_for

DELETED_S = 180.0


def delete_stack(state: LocalState) -> dict[str, Any]:
    """Delete the stack and say which of its tables, bucket and functions are there still."""
    session, endpoint = session_of(state), state.endpoint
    cloudformation = session.client("cloudformation", endpoint_url=endpoint)
    cloudformation.delete_stack(StackName=state.stack)

    def gone() -> bool:
        pages = cloudformation.get_paginator("list_stacks").paginate()
        rows = [row for page in pages for row in page["StackSummaries"] if row["StackName"] == state.stack]
        return all(row["StackStatus"] == "DELETE_COMPLETE" for row in rows)

    wait_for(gone, f"stack {state.stack} is deleted", DELETED_S)
    tables = session.client("dynamodb", endpoint_url=endpoint).list_tables()["TableNames"]
    buckets = {row["Name"] for row in session.client("s3", endpoint_url=endpoint).list_buckets()["Buckets"]}
    functions = session.client("lambda", endpoint_url=endpoint).list_functions()["Functions"]
    return {
        "tables_kept": sorted(name.removeprefix(f"{state.stack}-") for name in tables if name.startswith(state.stack)),
        "bucket_kept": state.bucket in buckets,
        "functions_left": sum(1 for row in functions if row["FunctionName"].startswith(f"{state.stack}-")),
    }


def kept_all(told: dict[str, Any]) -> bool:
    """Are the tables with data and the bucket there, and is everything else gone?"""
    return told == {"tables_kept": ["control", "results", "runs", "tasks"], "bucket_kept": True, "functions_left": 0}
