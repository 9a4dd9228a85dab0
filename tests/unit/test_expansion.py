"""Which tasks a run consists of: order, limit, chunks, instants and ids."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from brandvane.catalogue import Brand, Catalogue, Monitor, Prompt, Question, Selection
from brandvane.expansion import CHUNK_TASKS, Expansion, Planned, interleaved, planned_ids, task_of
from brandvane.task import State
from builders import NOW, catalogue, platform, run_of, schedule, tasks_of


def prompt(number: int, brand: str) -> Prompt:
    """A prompt of a brand."""
    return Prompt(f"question {number} of {brand}", f"{number:08x}{brand}", "", (f"q{number}",), brand, "normal")


def prompts_of(**brands: int) -> list[Prompt]:
    """So many prompts of each brand, brand after brand."""
    return [prompt(number, brand) for brand, count in brands.items() for number in range(count)]


def expansion(given: Catalogue, selection: Selection | None = None, seed: int = 7) -> Expansion:
    """The tasks of a catalogue."""
    return Expansion(given, selection or Selection(), "normal", seed)


def everything(made: Expansion) -> list[Planned]:
    """All chunks' tasks, in their order."""
    return [planned for chunk in range(made.chunks) for _, planned in made.chunk(chunk)]


def test_two_brands_of_equal_size_take_turns() -> None:
    order = [p.brand_group for p in interleaved(prompts_of(a=3, b=3), 7)]
    assert order == ["a", "b", "a", "b", "a", "b"]


def test_a_small_brand_is_spread_over_the_whole() -> None:
    order = [p.brand_group for p in interleaved(prompts_of(big=9, small=3), 7)]
    assert [place for place, brand in enumerate(order) if brand == "small"] == [2, 6, 10]


def test_interleaving_keeps_every_prompt_once() -> None:
    given = prompts_of(a=5, b=2, c=11)
    assert sorted(p.text for p in interleaved(given, 3)) == sorted(p.text for p in given)


def test_the_order_is_the_seeds() -> None:
    given = prompts_of(a=20, b=20)
    assert interleaved(given, 1) == interleaved(given, 1)
    assert interleaved(given, 1) != interleaved(given, 2)


def test_each_question_is_asked_once_a_target_and_sample() -> None:
    given = catalogue(3, platforms=(platform(models=("m1", "m2")), platform("kimi")), samples=2)
    made = expansion(given)
    assert made.planned == {"openai": 12, "kimi": 6}
    asked = Counter((p.platform, p.model, p.prompt.text, p.sample) for p in made)
    assert set(asked.values()) == {1}
    assert {sample for *_, sample in asked} == {1, 2}


def test_every_question_is_asked_before_any_is_asked_again() -> None:
    made = everything(expansion(catalogue(3, samples=2)))
    assert [p.sample for p in made] == [1, 1, 1, 2, 2, 2]


def test_a_branded_question_is_asked_for_each_brand_that_tracks_it() -> None:
    given = Catalogue(
        brands=(Brand("acme", "Acme"), Brand("zeta", "Zeta")),
        questions=(Question("q1", "Is {brand} good?", brands=("acme", "zeta")),),
        monitor=Monitor(platforms=(platform(),), schedules=(schedule(),)),
    )
    made = everything(expansion(given))
    assert [(p.prompt.text, p.prompt.brand_group) for p in made] == [
        ("Is Acme good?", "acme"),
        ("Is Zeta good?", "zeta"),
    ]


def test_the_limit_is_taken_from_the_platforms_in_turn() -> None:
    given = catalogue(5, platforms=(platform("a"), platform("b"), platform("c")))
    assert expansion(given, Selection(limit=7)).planned == {"a": 3, "b": 2, "c": 2}


def test_a_platform_that_has_no_more_leaves_its_share_to_the_others() -> None:
    given = catalogue(2, platforms=(platform("a", models=("m1", "m2", "m3")), platform("b")))
    assert expansion(given, Selection(limit=7)).planned == {"a": 5, "b": 2}


def test_a_limit_above_what_there_is_changes_nothing() -> None:
    assert expansion(catalogue(4), Selection(limit=100)).planned == {"openai": 4}


def test_a_limited_run_asks_what_comes_first() -> None:
    given = catalogue(9)
    assert everything(expansion(given, Selection(limit=4))) == everything(expansion(given))[:4]


def test_an_empty_plan_still_has_one_chunk() -> None:
    made = expansion(catalogue(3), Selection(questions=("none",)))
    assert (made.planned, made.chunks, list(made.chunk(0))) == ({"openai": 0}, 1, [])


def test_chunks_hold_about_500_tasks_of_all_platforms_together() -> None:
    given = catalogue(600, platforms=(platform("a"), platform("b")))
    made = expansion(given)
    assert made.chunks == 3
    assert [len(list(made.chunk(n))) for n in range(3)] == [400, 400, 400]
    assert CHUNK_TASKS == 500


def test_each_chunk_holds_the_same_positions_of_every_platform() -> None:
    given = catalogue(600, platforms=(platform("a"), platform("b")))
    rows = list(expansion(given).chunk(1))
    for name in ("a", "b"):
        assert [position for position, planned in rows if planned.platform == name] == list(range(200, 400))


@given(questions=st.integers(0, 40), models=st.integers(1, 40), samples=st.integers(1, 3), others=st.integers(0, 2))
def test_the_chunks_hold_every_task_exactly_once(questions: int, models: int, samples: int, others: int) -> None:
    names = tuple(f"m{n}" for n in range(models))
    platforms = (platform("a", models=names), *(platform(f"p{n}") for n in range(others)))
    made = expansion(catalogue(questions, platforms=platforms, samples=samples))
    rows = [(planned.platform, position) for chunk in range(made.chunks) for position, planned in made.chunk(chunk)]
    assert len(rows) == len(set(rows)) == sum(made.planned.values())
    for name, count in made.planned.items():
        assert sorted(position for platform_name, position in rows if platform_name == name) == list(range(count))


def test_a_task_is_due_at_its_place_in_the_window() -> None:
    given = catalogue(4)
    run = run_of(given, spacing={"openai": 12.5})
    assert [task.planned_time - NOW for task in tasks_of(run, given)] == [0.0, 12.5, 25.0, 37.5]


def test_a_planned_task_is_pending_and_watched_at_its_instant() -> None:
    given = catalogue(1)
    task = tasks_of(run_of(given), given)[0]
    assert (task.state, task.dispatch_no, task.round, task.retry_count) == (State.PENDING, 1, 1, 0)
    assert task.act_at == task.next_execute_time == task.planned_time == NOW
    assert task.watch == f"openai#PENDING#normal#{int(task.task_id[:4], 16) % 4}"
    assert task.deadline_at == NOW + 7200


def test_ids_are_the_same_each_time_and_differ_between_runs() -> None:
    given = catalogue(5, samples=2)
    ids = list(planned_ids("r1", expansion(given)))
    assert len(set(ids)) == 10
    assert ids == list(planned_ids("r1", expansion(given)))
    assert not set(ids) & set(planned_ids("r2", expansion(given)))


def test_an_id_does_not_depend_on_order_seed_or_instant() -> None:
    given = catalogue(5)
    assert set(planned_ids("r1", expansion(given, seed=1))) == set(planned_ids("r1", expansion(given, seed=2)))


def test_an_id_depends_on_everything_that_tells_two_tasks_apart() -> None:
    given = catalogue(2, platforms=(platform(models=("m1", "m2")), platform("kimi")), samples=2)
    run = run_of(given)
    one = next(iter(expansion(given)))
    others = [
        replace(one, model="m9"),
        replace(one, platform="kimi"),
        replace(one, sample=9),
        replace(one, prompt=replace(one.prompt, prompt_hash="9" * 24)),
        replace(one, prompt=replace(one.prompt, locale="zh")),
    ]
    ids = {task_of(run, planned, 0, "t", NOW).task_id for planned in (one, *others)}
    assert len(ids) == 6
