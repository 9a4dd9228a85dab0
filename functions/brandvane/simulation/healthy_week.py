"""Does any alarm fire while all is well? Seven days of 10,000 tasks, each with a seed of its own, and the published small faults.

    python -m brandvane.simulation.healthy_week [DAYS] [--deaths]

All faults of the preset ``article`` but the daily death of a platform's whole worker fleet: that is one of the faults that must be told
(``known_faults``), and a global timeout is told by its first task. ``--deaths`` leaves it in: then ``global-timeouts`` must be all that
fires, and no more often than fleets died with calls in hand.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

from brandvane.simulation.faults import ARTICLE, Faults
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Outcome, Simulation

DAYS = 7
OF_A_DEATH = "global-timeouts"
DAY_S = 23.9 * 3600  # the next day's run would be due at 24 h
WEEKDAY = Scenario(brands=50, questions=100, platforms=2, rate=5.0, hours=8.0, deadline=1.0)
SMALL_FAULTS = replace(ARTICLE, name="article without deaths", deaths_a_day=0.0)


def day(seed: int, scenario: Scenario = WEEKDAY, at_least_s: float = DAY_S, faults: Faults = SMALL_FAULTS) -> Outcome:
    """One day, idle hours included."""
    return Simulation(scenario, faults, seed, at_least_s=at_least_s).run()


def main(days: int = DAYS, *, deaths: bool = False) -> int:
    """Print what fired, day by day; 1 if anything did that must not."""
    fired = 0
    for seed in range(1, days + 1):
        outcome = day(seed, faults=ARTICLE if deaths else SMALL_FAULTS)
        fired += len(outcome.alarms.keys() - ({OF_A_DEATH} if deaths else set()))
        results = 0 if outcome.ending is None else outcome.ending.results
        told = {
            "day": seed,
            "tasks": outcome.scenario.total,
            "results": results,
            "hours": round(outcome.seconds / 3600, 1),
        }
        units = outcome.auditor.cloud.meter.per_task(outcome.scenario.total)
        print(json.dumps({**told, "alarms": outcome.alarms, "read_units_a_task": units["read_units"]}), flush=True)
    return int(fired > 0)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--deaths"]
    sys.exit(main(int(given[0]) if given else DAYS, deaths="--deaths" in sys.argv))
