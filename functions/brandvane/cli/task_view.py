"""How does the whole life of a task look: for people, and as JSON? Never the text of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brandvane.answer import Answer, unpack
from brandvane.catalogue import Catalogue
from brandvane.cli.desk import Desk
from brandvane.cli.estimate import texts_of
from brandvane.cli.view import dollars, number, shown
from brandvane.cli.when import iso, local
from brandvane.engine.task_life import Life
from brandvane.result import ResultRow
from brandvane.run import Run
from brandvane.task import FINISHED, State, Task

ACTS: Mapping[State, str] = {
    State.PENDING: "the dispatcher sends it from",
    State.DISPATCHED: "the scanner takes it back from",
    State.PULLED: "its lease ends",
    State.RUNNING: "its lease ends",
    State.WRITEBACK: "its write-back is tried again from",
}


async def life_lines(desk: Desk, life: Life, run: Run | None) -> list[str]:
    """The life for people, in the monitor's time zone."""
    catalogue = await _catalogue(desk, run)
    zone = "UTC" if catalogue is None else catalogue.monitor.time_zone
    known = life.known
    text = None if catalogue is None else texts_of(catalogue).get(known.prompt_hash)
    lines = [
        f"task {life.task_id} of run {life.run_id}, {known.target}, sample {known.sample}"
        + (f", {known.locale}" if known.locale else ""),
        f"asks {', '.join(known.question_ids)}" + (f": {shown(text)}" if text is not None else ""),
    ]
    if life.task is None:
        lines.append("its record has been removed (finished records are kept for some days only)")
    else:
        lines += _record_lines(life.task, run, zone)
    lines += [_row_line(row, zone, desk.bucket) for row in life.rows] or ["it has no result row yet"]
    lines += [f"an answer that came too late to count: s3://{desk.bucket}/{key}" for key in life.late]
    return [*lines, logs_command(life)]


async def _catalogue(desk: Desk, run: Run | None) -> Catalogue | None:
    try:
        return None if run is None else await desk.catalogues.load(run.catalogue_version)
    except LookupError:
        return None


def logs_command(life: Life) -> str:
    """What shows the log lines about it, from its planning on."""
    since = life.task.created_at if life.task is not None else life.rows[0].planned_time
    return f"brandvane logs --task {life.task_id} --since {iso(since)}"


def _record_lines(task: Task, run: Run | None, zone: str) -> list[str]:
    ended = f" ({task.outcome})" if task.outcome is not None else ""
    why = f", last error {task.error_kind}" if task.error_kind else ""
    counts = (
        f"  {number(task.paid_calls, 'call')} made; {task.retry_count} of {number(task.max_retry, 'retry', 'retries')},"
        f" {number(task.throttle_count, 'throttle')}, given back {number(task.give_backs, 'time')},"
        f" {number(task.write_backs, 'failed write-back')}"
    )
    lines = [
        f"record: {task.state}{ended}, round {task.round}, wait {task.dispatch_no}, priority {task.priority}{why}",
        counts,
        f"  planned {local(task.planned_time, zone)}, {_next(task, zone)}deadline {_deadline(task, run, zone)}",
    ]
    if task.started_at is not None:
        beat = "" if task.heartbeat_at is None else f", last heartbeat {local(task.heartbeat_at, zone)}"
        lines.append(f"  last call began {local(task.started_at, zone)}{beat}")
    if task.act_at is not None:
        attempt = f" (attempt {task.attempt_id})" if task.state in (State.PULLED, State.RUNNING) else ""
        lines.append(f"  {ACTS[task.state]} {local(task.act_at, zone)}{attempt}")
    if task.expires_at is not None:
        lines.append(f"  the record may be removed from {local(task.expires_at, zone)}")
    return lines


def _next(task: Task, zone: str) -> str:
    return "" if task.state in FINISHED else f"next try {local(task.next_execute_time, zone)}, "


def _deadline(task: Task, run: Run | None, zone: str) -> str:
    if run is None or run.deadline == task.deadline_at:
        return local(task.deadline_at, zone)
    return f"{local(run.deadline, zone)} (as planned {local(task.deadline_at, zone)})"


def _row_line(row: ResultRow, zone: str, bucket: str) -> str:
    facts = [f"{row.outcome}{f' ({row.error_kind})' if row.error_kind else ''}"]
    if row.started_at is not None:
        facts.append(f"called {local(row.started_at, zone)}")
    facts.append(f"written {local(row.written_at, zone)}")
    facts.append(f"{number(row.paid_calls, 'call')}, {number(row.retry_count, 'retry', 'retries')}")
    answer = _answer(row)
    if answer is not None:
        facts.append(f"served by {shown(answer.served_model) or 'an unnamed model'} in {answer.latency_s:.1f} s")
        facts.append(dollars(answer.cost_microusd / 1e6))
    if row.answer_key is not None:
        facts.append(f"its answer is s3://{bucket}/{row.answer_key}")
    return f"result of round {row.round}: {', '.join(facts)}"


def _answer(row: ResultRow) -> Answer | None:
    try:
        return None if row.answer is None else unpack(row.answer)
    except ValueError:
        return None


def life_document(life: Life, run: Run | None, bucket: str) -> dict[str, Any]:
    """The life as JSON; instants are ISO 8601 in UTC."""
    known = life.known
    return {
        "task_id": life.task_id,
        "run_id": life.run_id,
        "run_state": None if run is None else run.state,
        "run_deadline": None if run is None else iso(run.deadline),
        "platform": known.platform,
        "model": known.model,
        "question_ids": list(known.question_ids),
        "brand_group": known.brand_group,
        "prompt_hash": known.prompt_hash,
        "locale": known.locale,
        "sample": known.sample,
        "record": None if life.task is None else _record_document(life.task),
        "results": [_row_document(row) for row in life.rows],
        "late": [f"s3://{bucket}/{key}" for key in life.late],
        "logs": logs_command(life),
    }


def _record_document(task: Task) -> dict[str, Any]:
    return {
        "state": task.state,
        "round": task.round,
        "dispatch_no": task.dispatch_no,
        "attempt_id": task.attempt_id,
        "priority": task.priority,
        "paid_calls": task.paid_calls,
        "retry_count": task.retry_count,
        "max_retry": task.max_retry,
        "throttle_count": task.throttle_count,
        "give_backs": task.give_backs,
        "write_backs": task.write_backs,
        "outcome": task.outcome,
        "error_kind": task.error_kind,
        "created_at": iso(task.created_at),
        "planned_time": iso(task.planned_time),
        "next_execute_time": iso(task.next_execute_time),
        "deadline_at": iso(task.deadline_at),
        "act_at": iso(task.act_at),
        "started_at": iso(task.started_at),
        "heartbeat_at": iso(task.heartbeat_at),
        "finished_at": iso(task.finished_at),
        "updated_at": iso(task.updated_at),
        "expires_at": iso(task.expires_at),
    }


def _row_document(row: ResultRow) -> dict[str, Any]:
    answer = _answer(row)
    return {
        "round": row.round,
        "attempt_id": row.attempt_id,
        "outcome": row.outcome,
        "error_kind": row.error_kind,
        "paid_calls": row.paid_calls,
        "retry_count": row.retry_count,
        "throttle_count": row.throttle_count,
        "give_backs": row.give_backs,
        "write_backs": row.write_backs,
        "planned_time": iso(row.planned_time),
        "started_at": iso(row.started_at),
        "finished_at": iso(row.finished_at),
        "written_at": iso(row.written_at),
        "answer_key": row.answer_key,
        "served_model": None if answer is None else answer.served_model,
        "latency_s": None if answer is None else answer.latency_s,
        "cost_usd": None if answer is None else answer.cost_microusd / 1e6,
        "minimal": row.minimal,
    }
