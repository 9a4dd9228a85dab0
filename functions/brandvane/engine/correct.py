"""How does a person put a mention right? An entry of the run's list of corrections, and the run read anew.

An entry is never changed or removed; ``withdraw`` adds one that takes an earlier one back.
"""

from __future__ import annotations

from dataclasses import dataclass

from brandvane.answer import Answer
from brandvane.engine.answer_reader import Reader
from brandvane.engine.answers import read_row
from brandvane.engine.corrections_of_run import corrections_of, keep
from brandvane.engine.refusal import NoSuchRun, Refusal, WrongInput
from brandvane.engine.reparse import begin, ready
from brandvane.mentions.corrections import Correction, Wrong, standing
from brandvane.ports import BlobStore, CatalogueStore, Chance, Clock, Functions, ResultStore, RunStore, TaskStore
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.task import BUCKETS, bucket_of

_ID_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person says. ``text``: the words; empty with ``FALSE``: every mention of the brand in this answer.

    ``occurrence``: which of several places where the words stand, from 1; None: there is but one.
    """

    task_id: str
    brand: str
    wrong: Wrong
    text: str = ""
    occurrence: int | None = None
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """The corrections that were added, and the run as it is now."""

    run: Run
    corrections: tuple[Correction, ...]


@dataclass(frozen=True, slots=True)
class Corrector:
    """The use case."""

    tasks: TaskStore
    results: ResultStore
    runs: RunStore
    blobs: BlobStore
    catalogues: CatalogueStore
    functions: Functions
    clock: Clock
    chance: Chance

    async def correct(self, run: Run, wish: Wish, *, later: bool = False) -> Made:
        """Add what a person says of one answer, and have the run read anew (``later``: with its next reading).

        Raises:
            WrongInput: there is no such task, brand or text, or nothing would change.
            Refusal: the run is not REPORTED, or the task has no answer.
            Unavailable: a store refused.
        """
        ready(run)
        row, answer = await self._answer(run, wish.task_id)
        catalogue = await self.catalogues.load(run.catalogue_version)
        if wish.brand not in {brand.id for brand in catalogue.brands}:
            raise WrongInput(f"--brand: catalogue {run.catalogue_version} has no brand '{wish.brand}'; say its id")
        listed = await corrections_of(run, self.blobs)
        own = tuple(each for each in standing(listed) if each.task_id == wish.task_id)
        reader = Reader.of(catalogue, corrections={wish.task_id: own})
        mentions = reader.read_answer(row, answer).reading.of(wish.brand)
        spans = _false(wish, answer.text, [(m.start, m.end) for m in mentions])
        if wish.wrong is Wrong.MISSING:
            spans = [_place(wish, answer.text)]
            if any(m.visible and m.start < spans[0][1] and spans[0][0] < m.end for m in mentions):
                raise WrongInput(
                    f"'{wish.text}' is a mention of {wish.brand} in this answer already: nothing is missing there"
                )
        made = tuple(
            Correction(
                id=self._id(),
                task_id=wish.task_id,
                brand=wish.brand,
                wrong=wish.wrong,
                start=start,
                end=end,
                quote=answer.text[start:end],
                by=wish.by,
                reason=wish.reason,
                at=self.clock.now(),
            )
            for start, end in spans
        )
        return await self._keep(run, listed, made, later)

    async def withdraw(self, run: Run, correction_id: str, *, by: str, reason: str, later: bool = False) -> Made:
        """Take a standing correction back.

        Raises:
            WrongInput: there is no such correction.
            Refusal: the run is not REPORTED.
            Unavailable: a store refused.
        """
        ready(run)
        listed = await corrections_of(run, self.blobs)
        its = next((each for each in standing(listed) if each.id == correction_id), None)
        if its is None:
            raise WrongInput(
                f"--withdraw: run {run.run_id} has no standing correction '{correction_id}'; "
                f"'brandvane mentions corrections {run.run_id}' lists them"
            )
        back = Correction(
            id=self._id(),
            task_id=its.task_id,
            brand=its.brand,
            wrong=Wrong.WITHDRAWN,
            by=by,
            reason=reason,
            at=self.clock.now(),
            withdraws=its.id,
        )
        return await self._keep(run, listed, (back,), later)

    async def _keep(self, run: Run, listed: tuple[Correction, ...], made: tuple[Correction, ...], later: bool) -> Made:
        key = await keep(run, (*listed, *made), self.blobs)
        put = {"corrections_key": key}
        if not later:
            return Made(await begin(run, runs=self.runs, functions=self.functions, clock=self.clock, put=put), made)
        same = {"state": RunState.REPORTED, "pass_no": run.pass_no, "corrections_key": run.corrections_key}
        changed = await self.runs.change(run.run_id, same, put)
        if changed is None:
            changed = await self.runs.get(run.run_id)
            if changed is None:
                raise NoSuchRun(run.run_id)
            if changed.corrections_key != key:
                raise Refusal(
                    f"run {run.run_id} was changed by somebody else in the meantime: nothing was corrected; try again"
                )
        return Made(changed, made)

    async def _answer(self, run: Run, task_id: str) -> tuple[ResultRow, Answer]:
        row = await self._row(run, task_id)
        if row is None:
            raise WrongInput(
                f"run {run.run_id} has no result of a task '{task_id}'; the report and the mentions files name them"
            )
        read = await read_row(row, self.blobs)
        if read.answer is None:
            raise Refusal(f"task {task_id} has no answer that could be corrected: {read.fault or row.outcome.value}")
        return row, read.answer

    async def _row(self, run: Run, task_id: str) -> ResultRow | None:
        """The record, while it is kept, names the bucket; after that every bucket is looked through."""
        task = await self.tasks.get(task_id)
        buckets = range(BUCKETS) if task is None else [bucket_of(task.prompt_hash)]
        for bucket in buckets:
            async for row in self.results.bucket(run.run_id, bucket):
                if row.task_id == task_id:
                    return row
        return None

    def _id(self) -> str:
        return self.chance.token()[:_ID_LENGTH]


def _false(wish: Wish, text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The mentions of the brand that are meant."""
    if wish.wrong is not Wrong.FALSE:
        return []
    if not wish.text:
        if not found:
            raise WrongInput(f"this answer has no mention of {wish.brand} that could be false")
        return found
    meant = [span for span in found if text[span[0] : span[1]] == wish.text]
    if wish.occurrence is not None:
        meant = meant[wish.occurrence - 1 : wish.occurrence] if wish.occurrence > 0 else []
    if not meant:
        words = ", ".join(sorted({f"'{text[start:end]}'" for start, end in found})) or "none"
        raise WrongInput(
            f"--text: '{wish.text}' is no such mention of {wish.brand} in this answer; its mentions are: {words}"
        )
    return meant


def _place(wish: Wish, text: str) -> tuple[int, int]:
    """Where the words of a missing mention stand."""
    if not wish.text:
        raise WrongInput("--text: a missing mention needs the words that are one, as they stand in the answer")
    places = []
    at = text.find(wish.text)
    while at >= 0:
        places.append(at)
        at = text.find(wish.text, at + len(wish.text))
    if not places:
        raise WrongInput(f"--text: '{wish.text}' does not stand in this answer; copy the words as they are there")
    if wish.occurrence is None and len(places) > 1:
        raise WrongInput(
            f"--occurrence: '{wish.text}' stands in this answer {len(places)} times; say which, from 1 to {len(places)}"
        )
    number = wish.occurrence or 1
    if not 1 <= number <= len(places):
        raise WrongInput(f"--occurrence: '{wish.text}' stands in this answer {len(places)} times, not {number}")
    return places[number - 1], places[number - 1] + len(wish.text)
