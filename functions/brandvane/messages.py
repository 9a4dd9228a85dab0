"""What travels on the queues, and how is it read back? JSON with a version; a newer version is left for newer code."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brandvane.task import Outcome

MESSAGE_VERSION = 1
CANARY_VERSION = 2  # so that a worker of an earlier release leaves it to a newer one
PLAN_QUEUE = "plan"
WRITEBACK_QUEUE = "writeback"
NEW_TASKS: Mapping[str, bool] = {"new_tasks": True}  # event to the dispatcher: there is something it may not have seen
_BROKEN = (KeyError, TypeError, ValueError, OverflowError)  # JSON as Python reads it has Infinity, which is no int


class UnreadableMessage(ValueError):
    """The body is no message of ours; it will never become one."""


class NewerMessage(ValueError):
    """The body was written by a newer release and is left to it."""


def calls_queue(platform: str) -> str:
    """Logical name of a platform's queue."""
    return f"calls-{platform}"


@dataclass(frozen=True, slots=True)
class CallMessage:
    """*Execute this task*, planned for the instant ``due`` (POSIX seconds)."""

    task_id: str
    run_id: str
    dispatch_no: int
    due: float

    def encode(self) -> str:
        """The JSON body."""
        return _encode(
            {"task_id": self.task_id, "run_id": self.run_id, "dispatch_no": self.dispatch_no, "due": self.due}
        )

    @staticmethod
    def decode(body: str) -> CallMessage:
        """Read a body; raises UnreadableMessage or NewerMessage."""
        row = _decode(body)
        try:
            return CallMessage(
                _text(row, "task_id"), _text(row, "run_id"), int(row["dispatch_no"]), _finite(row, "due")
            )
        except _BROKEN as error:
            raise UnreadableMessage(f"not a call message: {error}") from error


@dataclass(frozen=True, slots=True)
class CanaryMessage:
    """*Ask this model whether it is there*, before the run begins; names no task. ``version``: of the catalogue to go by."""

    run_id: str
    version: str
    model: str

    def encode(self) -> str:
        """The JSON body."""
        row = {"canary": self.run_id, "version": self.version, "model": self.model}
        return _encode({**row, "v": CANARY_VERSION})

    @staticmethod
    def decode(body: str) -> CanaryMessage | None:
        """Read a body; None for what is another message, or none."""
        try:
            row = _decode(body, CANARY_VERSION)
            return CanaryMessage(_text(row, "canary"), _text(row, "version"), _text(row, "model"))
        except (NewerMessage, *_BROKEN):
            return None


@dataclass(frozen=True, slots=True)
class PlanMessage:
    """*Plan this chunk*."""

    run_id: str
    chunk: int

    def encode(self) -> str:
        """The JSON body."""
        return _encode({"run_id": self.run_id, "chunk": self.chunk})

    @staticmethod
    def decode(body: str) -> PlanMessage:
        """Read a body; raises UnreadableMessage or NewerMessage."""
        row = _decode(body)
        try:
            return PlanMessage(_text(row, "run_id"), int(row["chunk"]))
        except _BROKEN as error:
            raise UnreadableMessage(f"not a plan message: {error}") from error


@dataclass(frozen=True, slots=True)
class Carried:
    """An answer on its way in a message, because the record could not take it."""

    outcome: Outcome
    error_kind: str | None
    answer: bytes | None
    answer_key: str | None


@dataclass(frozen=True, slots=True)
class WriteBackMessage:
    """*Write this task's result row*; with ``carried``, first make the answer safe. ``tries`` numbers the write-backs so far."""

    task_id: str
    run_id: str
    attempt_id: str
    tries: int = 0
    carried: Carried | None = None

    def encode(self) -> str:
        """The JSON body."""
        row: dict[str, Any] = {
            "task_id": self.task_id,
            "run_id": self.run_id,
            "attempt_id": self.attempt_id,
            "tries": self.tries,
        }
        if self.carried is not None:
            answer = self.carried.answer
            row["outcome"] = self.carried.outcome
            row["error_kind"] = self.carried.error_kind
            row["answer"] = None if answer is None else base64.b64encode(answer).decode()
            row["answer_key"] = self.carried.answer_key
        return _encode(row)

    @staticmethod
    def decode(body: str) -> WriteBackMessage:
        """Read a body; raises UnreadableMessage or NewerMessage."""
        row = _decode(body)
        try:
            carried = None
            if "outcome" in row:
                answer = None if row["answer"] is None else base64.b64decode(row["answer"], validate=True)
                carried = Carried(Outcome(row["outcome"]), row["error_kind"], answer, row["answer_key"])
            ids = (_text(row, "task_id"), _text(row, "run_id"), _text(row, "attempt_id"))
            return WriteBackMessage(*ids, int(row["tries"]), carried)
        except (*_BROKEN, binascii.Error) as error:
            raise UnreadableMessage(f"not a write-back message: {error}") from error


def _encode(row: dict[str, Any]) -> str:
    return json.dumps({"v": MESSAGE_VERSION, **row}, separators=(",", ":"))


def _decode(body: str, newest: int = MESSAGE_VERSION) -> dict[str, Any]:
    try:
        row = json.loads(body)
    except ValueError as error:
        raise UnreadableMessage(f"not JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("v"), int):
        raise UnreadableMessage("a message is a JSON object with an integer 'v'")
    if row["v"] > newest:
        raise NewerMessage(f"version {row['v']}; this release reads {newest}")
    return row


def _finite(row: dict[str, Any], name: str) -> float:
    value = float(row[name])
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number")
    return value


def _text(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a non-empty string")
    return value
