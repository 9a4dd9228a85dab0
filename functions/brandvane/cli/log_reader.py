"""Which log lines did a stack's functions write? Read from CloudWatch Logs, over all its log groups, in the order of time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from brandvane.cli.errors import CliError

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FUNCTIONS = ("planner", "dispatcher", "writeback", "scanner", "scorer", "reporter", "notifier")
WORKER = "worker-"
# What Lambda and Python write themselves, not as JSON, when something has gone wrong.
_TROUBLE = ("Task timed out", "[ERROR]", "Traceback", "Runtime exited", "Runtime.ExitError", "errorMessage")
_TROUBLE_LEVEL = "ERROR"
# What Lambda writes around every invocation.
_FRAME = ("START RequestId:", "END RequestId:", "REPORT RequestId:", "INIT_START ")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: when (POSIX seconds), by which function, and what it says; ``fields`` are those of a structured line."""

    at: float
    function: str
    level: str
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines: those that carry these values, and are at least of this level (None: all)."""

    run: str | None = None
    task: str | None = None
    platform: str | None = None
    level: str | None = None

    @property
    def _values(self) -> dict[str, str]:
        given = {"run_id": self.run, "task_id": self.task, "platform": self.platform}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _levels(self) -> tuple[str, ...]:
        return () if self.level is None else LEVELS[LEVELS.index(self.level) :]

    def takes(self, line: Line) -> bool:
        """Is it one of them?"""
        if self.level is not None and line.level not in self._levels:
            return False
        return all(
            line.fields.get(name) == value or (name == "platform" and line.function == f"{WORKER}{value}")
            for name, value in self._values.items()
        )

    def pattern(self) -> str | None:
        """The same for CloudWatch, as far as it can be said there; None: every line. Quotes in values are left out.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
        """
        values = {name: value for name, value in self._values.items() if name != "platform"}
        if not values:
            return None  # a line that is no JSON must be seen as well: a timeout, a traceback
        parts = [f'($.{name} = "{value.replace(chr(34), "")}")' for name, value in values.items()]
        return "{ " + " && ".join(parts) + " }"


class LogReader:
    """Reads a stack's log groups again and again; no line twice."""

    def __init__(self, client: Any, stack: str, wanted: Wanted, *, patterns: bool = True) -> None:
        """``patterns``: let the service choose lines as well (emulators do not know its language)."""
        self._client = client
        self._prefix = f"/aws/lambda/{stack}-"
        self._stack = stack
        self._wanted = wanted
        self._pattern = wanted.pattern() if patterns else None
        self._seen: dict[tuple[str, str], float] = {}
        self._groups: tuple[str, ...] | None = None

    def read(self, since: float) -> list[Line]:
        """Lines from ``since`` (POSIX seconds) on that have not been read yet.

        Raises:
            CliError: the stack has no log group.
        """
        self._seen = {key: at for key, at in self._seen.items() if at >= since}
        lines = [line for group in self._of_stack() for line in self._read(group, since)]
        return sorted(lines, key=lambda line: line.at)

    def _of_stack(self) -> tuple[str, ...]:
        if self._groups is None:
            pages = self._client.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=self._prefix)
            names = [row["logGroupName"] for page in pages for row in page["logGroups"]]
            # Another stack's name may begin with this one's: 'shop-prod' with 'shop'.
            mine = [name for name in names if _is_function(name.removeprefix(self._prefix))]
            if not mine:
                raise CliError(
                    f"stack '{self._stack}' has no log groups: it is not deployed, or not in this account and region"
                )
            self._groups = tuple(mine)
        return self._groups

    def _read(self, group: str, since: float) -> Iterator[Line]:
        request: dict[str, Any] = {"logGroupName": group, "startTime": int(since * 1000)}
        if self._pattern is not None:
            request["filterPattern"] = self._pattern
        while True:
            reply = self._client.filter_log_events(**request)
            for event in reply.get("events", ()):
                key = (
                    group,
                    str(event.get("eventId") or (event["timestamp"], event.get("logStreamName"), event["message"])),
                )
                if key in self._seen:
                    continue
                line = line_of(event, group.removeprefix(self._prefix))
                self._seen[key] = line.at
                if self._wanted.takes(line) and not _is_metric(line):
                    yield line
            if not reply.get("nextToken"):
                return
            request["nextToken"] = reply["nextToken"]


def _is_metric(line: Line) -> bool:
    """A line that CloudWatch makes metric values of: it has no name and is told nobody."""
    return "_aws" in line.fields and not line.message


def _is_function(name: str) -> bool:
    return name in FUNCTIONS or name.startswith(WORKER)


def line_of(event: Mapping[str, Any], function: str) -> Line:
    """An event as a line; text that is no JSON object has no fields."""
    at, text = float(event["timestamp"]) / 1000, str(event["message"]).rstrip()
    event_id = str(event.get("eventId", ""))
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        trouble = any(sign in text for sign in _TROUBLE)
        level = _TROUBLE_LEVEL if trouble else "DEBUG" if text.startswith(_FRAME) else "INFO"
        return Line(at, function, level, text, {}, event_id)
    level = str(told.pop("level", "INFO"))
    return Line(at, function, level, str(told.pop("message", "")), told, event_id)
