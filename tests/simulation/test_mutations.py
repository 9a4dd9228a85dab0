"""Each condition of the moves table is needed, or proven to follow from the others; and mistakes elsewhere are found.

``hunt.py`` looks through 500 seeds; here each mutant is given the seed that found it, and the first forty should that have changed.
"""

from __future__ import annotations

import pytest

from simulation.hunt import hunt
from simulation.mutants import Mutant, conditions, mistakes
from simulation.redundant import PROOFS

ALL = {mutant.name: mutant for mutant in (*conditions(), *mistakes())}
FOUND_BY: dict[str, int] = {
    "dispatch without state": 1,
    "dispatch without dispatch_no": 7,
    "claim without state": 1,
    "claim without dispatch_no": 2,
    "redrive without state": 12,
    "redrive without dispatch_no": 25,
    "begin without state": 7,
    "begin without attempt_id": 8,
    "release without state": 1,
    "release without attempt_id": 7,
    "retry without state": 7,
    "retry without attempt_id": 77,
    "answer without state": 2,
    "answer without attempt_id": 77,
    "fail without state": 8,
    "fail without attempt_id": 475,
    "end_final without act_at": 184,
    "finish without state": 2,
    "finish without attempt_id": 101,
    "heartbeat without state": 222,
    "heartbeat without attempt_id": 38,
    "defer without act_at": 2,
    "DISPATCHED marked before SQS confirmed": 1,
    "empty failure list on exception": 1,
    "limiter that reserves more than it uses": 1,
    "scanner without act_at": 2,
    "dispatch_no not raised": 1,
    "lease shorter than the call": 1,
    "push does nothing": 1,
    "push voids no slots": 1,
    "run finished a row early": 2,
    "retry_failed without round": 78,
}
FIRST = range(1, 41)


def test_every_mutant_is_found_or_proven_redundant() -> None:
    assert sorted([*FOUND_BY, *PROOFS]) == sorted(ALL)


@pytest.mark.parametrize("name", list(FOUND_BY))
def test_a_mutant_is_found(name: str) -> None:
    found = hunt(ALL[name], (FOUND_BY[name], *FIRST))
    assert found.seed is not None, (
        f"{name}: not by {found.tried} seeds; run 'python -m simulation.hunt \"{name}\"' in tests"
    )
    print(f"{name}: seed {found.seed}, {found.promise}")


def test_the_engine_as_it_is_breaks_nothing_under_the_seeds_that_find_mutants() -> None:
    found = hunt(Mutant("none"), sorted(set(FOUND_BY.values())))
    assert found.seed is None, f"seed {found.seed}: {found.promise}"
