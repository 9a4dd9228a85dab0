"""A small run for the tests of scoring and reporting: two brands that are watched, one that is not, three questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brandvane.answer import Answer, pack
from brandvane.catalogue import Brand, Catalogue, Monitor, PlatformSettings, Question, Schedule
from brandvane.engine.publish import Published, publish
from brandvane.engine.score import Scored, score
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.simulation.memory_world import MemoryWorld
from brandvane.task import Outcome, prompt_hash_of

START = 1_772_427_600.0  # 2026-03-02 05:00 UTC
RUN_ID = "daily-2026-03-02"
GENERIC = "Which tea should I buy?"
OTHER = "Which kettle is best?"
BRANDED = "Is {brand} good?"
TARGET = "alpha/a-1"


def catalogue() -> Catalogue:
    """Oolong & Co and Sencha House track the generic question; Kettle Works tracks the other one."""
    return Catalogue(
        brands=(
            Brand(id="oolong", name="Oolong & Co", aliases=("Oolong",)),
            Brand(id="sencha", name="Sencha House", aliases=("煎茶屋",)),
            Brand(id="kettle", name="Kettle Works"),
        ),
        questions=(
            Question(id="tea", text=GENERIC, language="en", brands=("oolong", "sencha")),
            Question(id="kettles", text=OTHER, language="en", brands=("kettle",)),
            Question(id="good", text=BRANDED, language="en", brands=("oolong",)),
        ),
        monitor=Monitor(
            platforms=(
                PlatformSettings(name="alpha", protocol="openai_chat", base_url="https://a.example", models=("a-1",)),
                PlatformSettings(name="beta", protocol="openai_chat", base_url="https://b.example", models=("b-1",)),
            ),
            schedules=(Schedule("daily", "06:00", "08:00", "09:00", "Europe/Berlin"),),
        ),
        version="v1",
    )


def answer(text: str, *, status: Outcome = Outcome.OK, served: str = "a-1") -> Answer:
    """An answer that cost 250 micro-dollars."""
    return Answer(status=status.value, text=text, served_model=served, cost_microusd=250, latency_s=1.5)  # type: ignore[arg-type]  # DONE outcomes are statuses


def row(
    text: str | None,
    *,
    prompt: str = GENERIC,
    questions: Sequence[str] = ("tea",),
    sample: int = 1,
    outcome: Outcome = Outcome.OK,
    target: str = TARGET,
    error_kind: str | None = None,
    stored: bytes | None = None,
    answer_key: str | None = None,
    minimal: bool = False,
) -> ResultRow:
    """A result row; ``text`` None means that it has no answer, ``stored`` what stands in its place."""
    platform, _, model = target.partition("/")
    packed = pack(answer(text, status=outcome, served=model)) if text is not None else stored
    return ResultRow(
        run_id=RUN_ID,
        task_id=f"{prompt_hash_of(prompt)[:6]}-{platform}-{sample}",
        platform=platform,
        model=model,
        prompt_hash=prompt_hash_of(prompt),
        locale="",
        sample=sample,
        question_ids=tuple(questions),
        brand_group="oolong",
        outcome=outcome,
        round=1,
        attempt_id="a",
        error_kind=error_kind,
        planned_time=START + sample,
        started_at=START + sample,
        finished_at=START + sample + 2,
        written_at=START + sample + 3,
        retry_count=0,
        throttle_count=0,
        give_backs=0,
        write_backs=0,
        paid_calls=1,
        answer=packed,
        answer_key=answer_key,
        minimal=minimal,
    )


@dataclass
class Case:
    """A run in memory, ready to be scored."""

    world: MemoryWorld = field(default_factory=MemoryWorld)

    async def begin(self, rows: Sequence[ResultRow], state: RunState = RunState.SCORING) -> None:
        """Put the catalogue, the run and its rows."""
        self.world.catalogues.push(catalogue())
        planned = {name: sum(r.platform == name for r in rows) for name in ("alpha", "beta")}
        run = Run(
            run_id=RUN_ID,
            schedule_id="daily",
            catalogue_version="v1",
            window_start=START,
            window_end=START + 7200,
            deadline=START + 10_800,
            created_at=START - 60,
            seed=1,
            state=state,
            planned=planned,
            plan_complete=True,
            finished_at=START + 7300,
        )
        await self.world.runs.create(run)
        for each in rows:
            await self.world.results.put(each)

    async def score(self, buckets: Sequence[int] = range(16), pass_no: int = 1) -> Scored:
        """Score buckets."""
        w = self.world
        return await score(
            RUN_ID,
            pass_no,
            buckets,
            runs=w.runs,
            results=w.results,
            blobs=w.blobs,
            catalogues=w.catalogues,
            clock=w.clock,
            telemetry=w.telemetry,
        )

    async def publish(self, owner: str = "me", pass_no: int = 1) -> Published | None:
        """Publish the run, which must be in REPORTING."""
        w = self.world
        return await publish(
            RUN_ID,
            pass_no,
            owner,
            runs=w.runs,
            results=w.results,
            blobs=w.blobs,
            catalogues=w.catalogues,
            clock=w.clock,
            telemetry=w.telemetry,
        )

    async def scored(self, rows: Sequence[ResultRow]) -> None:
        """A run whose buckets are all scored, in REPORTING."""
        await self.begin(rows)
        await self.score()
        await self.world.runs.change(RUN_ID, {}, {"state": RunState.REPORTING})

    async def run(self) -> Run:
        """The run as it is now."""
        found = await self.world.runs.get(RUN_ID)
        assert found is not None
        return found

    async def reported(self, rows: Sequence[ResultRow]) -> Run:
        """A run that has its report; from then on scorers that are asked for work at once, and the report follows."""
        await self.scored(rows)
        await self.publish()
        self.world.functions = Fleet(self)  # type: ignore[assignment]  # it does what the recorder records
        return await self.run()


@dataclass
class Fleet:
    """The functions of a case, working at once; ``asked`` are the events of scorers."""

    case: Case
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Score the buckets and write the report."""
        assert function == "scorer"
        self.asked.append(dict(event))
        await self.case.score(event["buckets"], event["pass_no"])
        await self.case.world.runs.change(RUN_ID, {"state": RunState.SCORING}, {"state": RunState.REPORTING})
        await self.case.publish(pass_no=event["pass_no"])
