"""What is asked in these examples? Tasks as the planner writes them, all due now."""

from __future__ import annotations

from dataclasses import replace

from brandvane.task import State, Task, prompt_hash_of, task_id_of, watch_of

PLATFORM = "openai"


def task(number: int, now: float) -> Task:
    """A PENDING task."""
    prompt_hash = prompt_hash_of(f"Which maker is number {number}?")
    made = Task(
        task_id=task_id_of("example", f"{PLATFORM}/gpt", prompt_hash, "", 0),
        run_id="example",
        platform=PLATFORM,
        model="gpt",
        question_ids=(f"q{number}",),
        brand_group="all",
        prompt_hash=prompt_hash,
        locale="",
        sample=0,
        priority="normal",
        planned_time=now,
        next_execute_time=now,
        deadline_at=now + 3600,
        created_at=now,
        act_at=now,
    )
    return replace(made, watch=watch_of(made, State.PENDING))
