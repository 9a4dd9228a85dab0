"""``python -m tests.bench.scoring [ROWS]``: how fast does a scorer read a bucket, and a reporter a run?

In memory, no network; processor time, so that other work beside it does not matter.
One bucket of ROWS answers (2,000 by default) of 1,000 characters with some ten mentions and four sources each; a catalogue of
500 brands with five names each, of which 25 track a question. What it prints for 150,000 answers is the measured rate times 16
buckets at once, as the fleet works them off.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import time

from brandvane.answer import Answer, Citation, pack
from brandvane.catalogue import Brand, Catalogue, Monitor, PlatformSettings, Question
from brandvane.engine.answer_reader import Reader
from brandvane.engine.publish import publish
from brandvane.engine.score import score, score_bucket
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.simulation.memory_world import MemoryWorld
from brandvane.task import BUCKETS, Outcome, bucket_of, prompt_hash_of

BRANDS, NAMES, TOPICS, QUESTIONS = 500, 5, 20, 200
ANSWERS_A_DAY = 150_000
LENGTH = 1_000
_LETTERS = "abcdefghiklmnoprstuvz"


def _word(rng: random.Random, length: int) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(length))


def catalogue(rng: random.Random) -> Catalogue:
    """Brands by topic; a question of a topic is tracked by its brands."""
    brands = tuple(
        Brand(
            id=f"b{number}",
            name=_word(rng, 7).title(),
            aliases=tuple(_word(rng, 8).title() for _ in range(NAMES - 1)),
            domains=(f"b{number}.example",),
            competitors=(f"b{(number + TOPICS) % BRANDS}",),
        )
        for number in range(BRANDS)
    )
    questions = tuple(
        Question(
            id=f"q{number}",
            text=f"Which one is good for {_word(rng, 12)}?",
            language="en" if number % 2 else "zh",
            topics=(f"t{number % TOPICS}",),
            brands=tuple(f"b{brand}" for brand in range(number % TOPICS, BRANDS, TOPICS)),
        )
        for number in range(QUESTIONS)
    )
    platforms = tuple(
        PlatformSettings(name=name, protocol="openai_chat", base_url="https://a.example", models=("m",))
        for name in "abc"
    )
    return Catalogue(brands, questions, Monitor(platforms, ()), "v1")


def rows(rng: random.Random, known: Catalogue, bucket: int, number: int) -> list[ResultRow]:
    """Results of one bucket."""
    asked = [q for q in known.questions if bucket_of(prompt_hash_of(q.text)) == bucket]
    return [_row(rng, known, rng.choice(asked), sample, "abc"[sample % 3]) for sample in range(number)]


def _row(rng: random.Random, known: Catalogue, question: Question, sample: int, platform: str) -> ResultRow:
    brands = rng.sample(known.brands, 8)
    text = ""
    while len(text) < LENGTH:
        lead = f"{len(text) // 120 + 1}. {rng.choice(brands).name}: "
        text += lead + " ".join(_word(rng, rng.randint(2, 9)) for _ in range(14)) + ".\n"
    cited = tuple(Citation(f"https://www.{b.domains[0]}/{_word(rng, 6)}?utm_source=x") for b in brands[:4])
    answer = Answer(status="ok", text=text[:LENGTH], served_model="m", citations=cited, raw=text)
    return ResultRow(
        run_id="r",
        task_id=f"{question.id}-{platform}-{sample}",
        platform=platform,
        model="m",
        prompt_hash=prompt_hash_of(question.text),
        locale="",
        sample=sample,
        question_ids=(question.id,),
        brand_group="b0",
        outcome=Outcome.OK,
        round=1,
        attempt_id="a",
        error_kind=None,
        planned_time=0.0,
        started_at=1.0,
        finished_at=2.0,
        written_at=3.0,
        retry_count=0,
        throttle_count=0,
        give_backs=0,
        write_backs=0,
        paid_calls=1,
        answer=pack(answer),
    )


async def measured(number: int) -> dict[str, float]:
    """Rates in answers a second of one process, and what they mean for a day."""
    rng = random.Random(1)
    known, world = catalogue(rng), MemoryWorld()
    world.catalogues.push(known)
    bucket = bucket_of(prompt_hash_of(known.questions[0].text))
    for row in rows(rng, known, bucket, number):
        await world.results.put(row)
    begun = time.process_time()
    reader = Reader.of(known)
    made_s = time.process_time() - begun
    begun = time.process_time()
    scored = await score_bucket("r", bucket, reader, world.results, world.blobs)
    score_s = time.process_time() - begun
    run = Run(
        run_id="r",
        schedule_id=None,
        catalogue_version="v1",
        window_start=0.0,
        window_end=1.0,
        deadline=2.0,
        created_at=0.0,
        seed=1,
        state=RunState.SCORING,
        planned={"a": number},
        plan_complete=True,
    )
    await world.runs.create(run)
    ports = {"runs": world.runs, "results": world.results, "blobs": world.blobs, "catalogues": world.catalogues}
    await score("r", 1, range(BUCKETS), clock=world.clock, telemetry=world.telemetry, **ports)  # type: ignore[arg-type]  # ports by name
    await world.runs.change("r", {}, {"state": RunState.REPORTING})
    begun = time.process_time()
    await publish("r", 1, "me", clock=world.clock, telemetry=world.telemetry, **ports)  # type: ignore[arg-type]  # ports by name
    report_s = time.process_time() - begun
    return {
        "answers": number,
        "mentions": scored.mention_count,
        "reader_made_s": round(made_s, 3),
        "scored_a_second": round(number / score_s),
        "reported_a_second": round(number / report_s),
        "scorers_s_for_150000": round(made_s + ANSWERS_A_DAY / BUCKETS / (number / score_s), 1),
        "reporter_s_for_150000": round(ANSWERS_A_DAY / (number / report_s), 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    for key, value in asyncio.run(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)).items():
        print(f"{key:<24} {value}")
