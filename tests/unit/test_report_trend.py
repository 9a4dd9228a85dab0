"""What has changed since the run before: which figures are compared, and what makes them incomparable."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brandvane.catalogue import Brand, Catalogue, Question
from brandvane.mentions.cell import Around, Cell, Seen
from brandvane.mentions.change import Verdict
from brandvane.mentions.roles import Role, Slice
from brandvane.mentions.tally import Tally, TargetTally
from brandvane.report.trend import ALL, Step, Then, Trend, trend
from unit.scored_samples import TARGET, catalogue

BETA = "beta/b-1"


def cell(mentioned: int, answers: int) -> Cell:
    """A cell with so many answers."""
    made = Cell()
    for number in range(answers):
        made.count(Seen(1) if number < mentioned else None, Around())
    return made


def tally(mentioned: int, answers: int, *, target: str = TARGET, served: str = "a-1", brands: int = 1) -> Tally:
    """Counts of one target; with more brands, the others stand as they are in every run."""
    made = Tally()
    made.targets[target] = TargetTally()
    made.targets[target].served[served] = answers
    cells = {"oolong": cell(mentioned, answers)}
    cells |= {"sencha": cell(50, 100)} if brands > 1 else {}
    made.groups[Role.UNBRANDED, target, Slice()] = cells
    return made


def step(
    now: Tally, then: Tally, *, of: Catalogue | None = None, before: Catalogue | None = None, parser: str = "p"
) -> Step:
    """The change of Oolong's visibility on the target."""
    known = of or catalogue()
    found = trend(now, known, [parser], Then("day-1", before or known, then, ("p",))).of(
        Role.UNBRANDED, TARGET, "oolong"
    )
    assert found is not None
    return found


def test_a_change_has_its_points_its_interval_and_its_verdict() -> None:
    found = step(tally(60, 100), tally(30, 100))
    assert (round(found.points, 6), found.verdict, found.breaks) == (30.0, Verdict.UP, ())
    assert found.bounds[0] < 30.0 < found.bounds[1]


def test_all_targets_together_are_compared_too() -> None:
    known = catalogue()
    found = trend(tally(60, 100), known, ["p"], Then("day-1", known, tally(30, 100), ("p",)))
    assert found.of(Role.UNBRANDED, ALL, "oolong") == found.of(Role.UNBRANDED, TARGET, "oolong")
    assert found.run_id == "day-1"


def test_without_an_earlier_run_there_is_nothing_to_compare() -> None:
    assert trend(tally(1, 2), catalogue(), ["p"], None) == Trend()


def test_a_figure_that_one_of_the_runs_lacks_is_not_compared() -> None:
    known = catalogue()
    found = trend(tally(1, 2), known, ["p"], Then("day-1", known, tally(1, 2, target=BETA, served="b-1"), ("p",)))
    assert found.of(Role.UNBRANDED, TARGET, "oolong") is None
    assert found.of(Role.UNBRANDED, ALL, "oolong") == Step(
        found.steps[Role.UNBRANDED, ALL, "oolong"].change, ("targets",)
    )


def changed(**parts: object) -> Catalogue:
    """The catalogue with something else in it."""
    return replace(catalogue(), **parts)  # type: ignore[arg-type]  # fields of a catalogue


def with_question() -> Catalogue:
    """One more question for Oolong."""
    return changed(questions=(*catalogue().questions, Question("new", "Which tea is cheap?", brands=("oolong",))))


def with_alias() -> Catalogue:
    """One more name for Oolong."""
    first, *others = catalogue().brands
    return changed(brands=(replace(first, aliases=(*first.aliases, "OLG")), *others))


def with_competitor() -> Catalogue:
    """A competitor for Oolong, whose names are context for its own."""
    first, *others = catalogue().brands
    return changed(brands=(replace(first, competitors=("sencha",)), *others))


def with_temperature() -> Catalogue:
    """Another temperature on alpha."""
    known = catalogue()
    first, *others = known.monitor.platforms
    platforms = (replace(first, parameters={"temperature": 0}), *others)
    return changed(monitor=replace(known.monitor, platforms=platforms))


@pytest.mark.parametrize(
    ("before", "name"),
    [
        (with_question(), "questions"),
        (with_alias(), "aliases"),
        (with_competitor(), "aliases"),
        (with_temperature(), "parameters"),
    ],
)
def test_a_changed_catalogue_breaks_the_trend_of_what_it_touches(before: Catalogue, name: str) -> None:
    found = step(tally(60, 100), tally(30, 100), before=before)
    assert (found.verdict, found.breaks) == (Verdict.BROKEN, (name,))


def test_another_name_of_a_competitor_breaks_the_trend() -> None:
    known = with_competitor()
    first, second, *others = known.brands
    before = replace(known, brands=(first, replace(second, aliases=("Sencha",)), *others))
    assert step(tally(60, 100), tally(30, 100), of=known, before=before).breaks == ("aliases",)


def test_another_brands_change_breaks_nothing() -> None:
    extra = changed(brands=(*catalogue().brands, Brand("oak", "Oak")))
    assert step(tally(60, 100), tally(30, 100), before=extra).breaks == ()


def test_another_served_model_breaks_the_trend() -> None:
    assert step(tally(60, 100), tally(30, 100, served="a-1-2026")).breaks == ("served",)


def test_another_matcher_breaks_the_trend() -> None:
    assert step(tally(60, 100), tally(30, 100), parser="q").breaks == ("parser",)


def test_what_one_of_many_comparisons_shows_by_chance_is_no_change() -> None:
    # By itself 62 of 100 against 48 of 100 is p = 0.047; with four more that do not differ the threshold is 0.01.
    alone = step(tally(62, 100), tally(48, 100))
    assert alone.verdict is Verdict.UP
    assert step(tally(62, 100, brands=2), tally(48, 100, brands=2)).verdict is Verdict.MANY
