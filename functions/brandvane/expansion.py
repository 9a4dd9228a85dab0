"""Which tasks does a run consist of, in which order and at which instants? Pure, and the same every time it is asked.

A platform's tasks stand in an order that interleaves brands, and are spread evenly over the window; chunk *k* holds the same
positions of every platform, earliest first, so that the first chunk written is the first one due.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brandvane.catalogue import Catalogue, PlatformSettings, Prompt, Selection, chosen_platforms, prompts
from brandvane.run import Run
from brandvane.task import Priority, Task, target_name, task_id_of, watch_of

CHUNK_TASKS = 500


@dataclass(frozen=True, slots=True)
class Planned:
    """One task to be: a prompt for a model of a platform, and which sample it is."""

    prompt: Prompt
    platform: str
    model: str
    sample: int


class Expansion:
    """All tasks of a selection of a catalogue, addressable by chunk."""

    def __init__(self, catalogue: Catalogue, selection: Selection, priority: Priority, seed: int) -> None:
        asked = interleaved(prompts(catalogue, selection, priority), seed)
        platforms = chosen_platforms(catalogue, selection)
        samples = range(1, catalogue.monitor.samples + 1)
        everything = {p.name: _of_platform(p, asked, samples) for p in platforms}
        self._tasks = everything if selection.limit is None else _limited(everything, selection.limit)

    @property
    def planned(self) -> dict[str, int]:
        """Tasks by platform."""
        return {name: len(rows) for name, rows in self._tasks.items()}

    @property
    def chunks(self) -> int:
        """How many chunks the plan has (at least one, so that an empty plan completes too)."""
        return max(1, -(-sum(self.planned.values()) // CHUNK_TASKS))

    def chunk(self, number: int) -> Iterator[tuple[int, Planned]]:
        """The tasks of one chunk with their position in their platform's order."""
        chunks = self.chunks
        for rows in self._tasks.values():
            count = len(rows)
            for position in range(count * number // chunks, count * (number + 1) // chunks):
                yield position, rows[position]

    def __iter__(self) -> Iterator[Planned]:
        for rows in self._tasks.values():
            yield from rows


def _of_platform(platform: PlatformSettings, asked: Sequence[Prompt], samples: range) -> list[Planned]:
    return [
        Planned(prompt, platform.name, model, sample)
        for sample in samples
        for prompt in asked
        for model in platform.models
    ]


def _limited(everything: Mapping[str, list[Planned]], limit: int) -> dict[str, list[Planned]]:
    """The first ``limit`` tasks, taken from the platforms in turn."""
    taken = dict.fromkeys(everything, 0)
    left = limit
    while left > 0:
        open_ones = [name for name, rows in everything.items() if taken[name] < len(rows)]
        if not open_ones:
            break
        for name in open_ones[:left]:
            taken[name] += 1
        left -= len(open_ones[:left])
    return {name: rows[: taken[name]] for name, rows in everything.items()}


def interleaved(asked: Sequence[Prompt], seed: int) -> list[Prompt]:
    """Brands in turn, each brand's prompts in a seeded order: no brand waits until another one is through."""
    groups: dict[str, list[Prompt]] = defaultdict(list)
    for prompt in asked:
        groups[prompt.brand_group].append(prompt)
    rng = random.Random(seed)
    for rows in groups.values():
        rng.shuffle(rows)
    # Each prompt's place in its own brand, as a share of that brand's prompts, spreads small brands over the whole.
    placed = [
        ((index + 0.5) / len(rows), order, prompt)
        for order, rows in enumerate(groups.values())
        for index, prompt in enumerate(rows)
    ]
    placed.sort(key=lambda row: row[:2])
    return [prompt for _, _, prompt in placed]


def task_of(run: Run, planned: Planned, position: int, attempt_id: str, now: float) -> Task:
    """The record of a planned task: PENDING, due at its instant in the window."""
    target = target_name(planned.platform, planned.model)
    prompt = planned.prompt
    due = round(run.window_start + position * run.spacing[planned.platform], 3)
    task = Task(
        task_id=task_id_of(run.run_id, target, prompt.prompt_hash, prompt.locale, planned.sample),
        run_id=run.run_id,
        platform=planned.platform,
        model=planned.model,
        question_ids=prompt.question_ids,
        brand_group=prompt.brand_group,
        prompt_hash=prompt.prompt_hash,
        locale=prompt.locale,
        sample=planned.sample,
        priority=prompt.priority,
        planned_time=due,
        next_execute_time=due,
        deadline_at=run.deadline,
        created_at=now,
        updated_at=now,
        attempt_id=attempt_id,
        act_at=due,
    )
    return replace(task, watch=watch_of(task, task.state))


def planned_ids(run_id: str, expansion: Expansion) -> Iterator[str]:
    """The id of every task of a run, for whoever checks that none is missing."""
    for planned in expansion:
        target = target_name(planned.platform, planned.model)
        prompt = planned.prompt
        yield task_id_of(run_id, target, prompt.prompt_hash, prompt.locale, planned.sample)
