"""How is each thing named in AWS? Every physical name and key layout, in one place.

``stack`` is the CloudFormation stack's name; logical queue names are those of ``ports.TaskQueue``.
"""

from __future__ import annotations

from dataclasses import dataclass

WATCH_INDEX = "watch"
WATCH_INCLUDES = ("run_id", "model", "dispatch_no", "attempt_id", "next_execute_time", "v")
BY_RUN_INDEX = "by_run"
RECENT_INDEX = "recent"
OPEN_INDEX = "open"

RUN_KIND = "run"  # the one partition of index ``recent``
OPEN = "open"  # the one partition of index ``open``


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The five tables by their physical names."""

    tasks: str
    results: str
    runs: str
    control: str
    stats: str


def tables_of(stack: str) -> Tables:
    """The tables of a stack, as the template names them."""
    return Tables(
        tasks=f"{stack}-tasks",
        results=f"{stack}-results",
        runs=f"{stack}-runs",
        control=f"{stack}-control",
        stats=f"{stack}-stats",
    )


def queue_name(stack: str, queue: str) -> str:
    """``calls-openai`` → ``stack-calls-openai``; ``writeback-dead`` → ``stack-writeback-dead``."""
    return f"{stack}-{queue}"


def function_name(stack: str, function: str) -> str:
    """A function of the stack."""
    return f"{stack}-{function}"


def platforms_path(stack: str) -> str:
    """Below this path stands one parameter for every platform that has a worker."""
    return f"/{stack}/platforms"


def key_parameter(stack: str, platform: str) -> str:
    """The SecureString that holds a platform's key."""
    return f"/{stack}/keys/{platform}"


def control_id(platform: str) -> str:
    """Control item of a platform."""
    return f"platform#{platform}"


def lease_id(lease: str) -> str:
    """Control item of a lease."""
    return f"lease#{lease}"


def stat_at(minute: int, invocation: str) -> str:
    """Sort key of a stats item: by minute, then by invocation."""
    return f"{minute:010d}#{invocation}"


def stat_range(first: int, last: int) -> tuple[str, str]:
    """Sort keys that enclose all items of the minutes ``first`` to ``last``."""
    return f"{first:010d}#", f"{last:010d}#\uffff"


def history_pk(pk: str) -> str:
    """Partition of a bucket's rows of earlier rounds."""
    return f"history#{pk}"


def history_sk(round_no: int, sk: str) -> str:
    """Sort key of a row of an earlier round."""
    return f"{round_no}#{sk}"
