"""What holds for every address, every pair of counts and every division of answers into buckets."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from brandvane.answer import Citation
from brandvane.mentions.cell import Around, Cell, Seen
from brandvane.mentions.change import difference_interval, two_proportions
from brandvane.mentions.citations import SourceReader, normalised
from brandvane.mentions.statistics import Ratio, wilson

HOSTS = st.sampled_from(
    ["a.example", "WWW.A.example", "例え.jp", "[::1]", "a.example:8080", "user:pw@b.example", "bücher.example"]
)
TAILS = st.text(st.sampled_from("/?&=#%25aZ中~ \ud83d.;utm_source"), max_size=30)
ADDRESSES = st.builds(
    lambda scheme, host, tail: f"{scheme}://{host}/{tail}", st.sampled_from(["http", "HTTPS"]), HOSTS, TAILS
)
COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(ADDRESSES)
def test_the_spelling_of_an_address_is_its_own_spelling(url: str) -> None:
    once = normalised(url)
    assert once is not None
    assert normalised(once) == once


@given(st.text(max_size=80), st.text(max_size=40))
def test_no_citation_makes_a_reader_stumble(url: str, title: str) -> None:
    sources = SourceReader(()).read([Citation(f"https://{url}", title), Citation(url, title, "retrieved")])
    assert len(sources.cited) + len(sources.retrieved) <= 2


@given(COUNTS, COUNTS)
def test_which_of_two_shares_comes_first_does_not_matter_to_the_test(
    one: tuple[int, int], two: tuple[int, int]
) -> None:
    assert 0 <= two_proportions(one, two) <= 1
    assert abs(two_proportions(one, two) - two_proportions(two, one)) < 1e-12
    forth, back = difference_interval(one, two), difference_interval(two, one)
    assert abs(forth.low + back.high) < 1e-12
    assert -1 <= forth.low <= forth.high <= 1


@given(COUNTS)
def test_an_interval_holds_its_share_and_mirrors_that_of_the_misses(counts: tuple[int, int]) -> None:
    hits, n = counts
    interval, mirrored = wilson(hits, n), wilson(n - hits, n)
    assert 0 <= interval.low <= hits / n <= interval.high <= 1
    assert abs(interval.low - (1 - mirrored.high)) < 1e-12


ANSWERS = st.lists(
    st.tuples(st.booleans(), st.integers(1, 5), st.integers(0, 4), st.integers(0, 4)).map(
        lambda drawn: (
            Seen(drawn[1], rank=drawn[1], order=1) if drawn[0] else None,
            Around(drawn[1], drawn[2] + drawn[3], drawn[2]),
        )
    ),
    max_size=12,
)


@given(ANSWERS, st.integers(0, 12))
def test_cells_add_up_however_answers_are_divided(answers: Sequence[tuple[Seen | None, Around]], at: int) -> None:
    def counted(part: Sequence[tuple[Seen | None, Around]]) -> Cell:
        cell = Cell()
        for seen, around in part:
            cell.count(seen, around)
        return cell

    whole = counted(answers[:at])
    whole.merge(counted(answers[at:]))
    assert whole == counted(answers)
    for ratio in (whole.voice, whole.sources):
        assert ratio == Ratio() or 0 < ratio.effective_n <= max(ratio.total, ratio.answers)
