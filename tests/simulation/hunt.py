"""Which seed of chaos finds a mutant first? The search itself, and a soak of many seeds: ``python -m simulation.hunt``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

from brandvane.simulation.simulate import Simulation
from brandvane.simulation.trials import Trial
from simulation.mutants import Mutant, conditions, mistakes
from simulation.redundant import PROOFS

SEEDS = 500
PROVEN_SEEDS = 40  # of a condition that follows from the others


@dataclass(frozen=True, slots=True)
class Found:
    """The first seed that breaks a promise (None: none of those tried), which promise, and how many seeds that took."""

    mutant: str
    seed: int | None
    promise: str
    tried: int


def broken_by(mutant: Mutant, seed: int) -> str | None:
    """The promise that a mutant breaks under a seed's chaos."""
    trial = Trial(seed)
    scenario = trial.scenario()
    simulation = Simulation(
        scenario,
        trial.faults_of(scenario),
        seed,
        stop_at_first=True,
        spoil=mutant.spoil,
        prepare=mutant.prepare,
    )
    violations = simulation.run().violations
    return f"{violations[0].kind}: {violations[0].text.splitlines()[-1]}" if violations else None


def hunt(mutant: Mutant, seeds: Iterable[int]) -> Found:
    """Try seed after seed until one breaks a promise."""
    tried = 0
    for seed in seeds:
        tried += 1
        promise = broken_by(mutant, seed)
        if promise is not None:
            return Found(mutant.name, seed, promise, tried)
    return Found(mutant.name, None, "", tried)


def main(words: list[str]) -> int:
    """Hunt every mutant (or those whose name has one of the words in it); 1 when one survives that is not proven redundant."""
    survivors = 0
    for mutant in (*conditions(), *mistakes()):
        if words and not any(word in mutant.name for word in words):
            continue
        began = time.perf_counter()
        proof = PROOFS.get(mutant.name)
        found = hunt(mutant, range(1, (SEEDS if proof is None else PROVEN_SEEDS) + 1))
        survivors += found.seed is None and proof is None
        what = f"seed {found.seed}: {found.promise}"
        if found.seed is None:
            what = f"survives {found.tried} seeds" + (f"; redundant: {proof}" if proof else "")
        print(f"{found.mutant:<40} {what}  ({time.perf_counter() - began:.1f} s)", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
