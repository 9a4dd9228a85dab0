"""Does ``brandvane estimate`` reckon with the units that the simulation meters? DynamoDB's, invocations, gigabyte-seconds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from brandvane.cli import aws_usage
from brandvane.cli.aws_usage import SWEEPS_A_MINUTE, RunLoad, Share, Usage, minutes_usage, run_usage, total
from brandvane.simulation.meter import Meter
from brandvane.simulation.scenario import BATCH, Scenario
from brandvane.simulation.simulate import Simulation

SHORT_ANSWER = 200  # bytes: what the simulated platforms say


@dataclass
class Both:
    """One run, as the simulation metered it and as the estimate reckons."""

    meter: Meter
    usage: Usage

    def metered(self, kind: str) -> float:
        """The sum of a kind."""
        return sum(number for name, number in self.meter.counts.items() if name.startswith(kind))


# In half an hour each call falls due in a second of its own; in a minute the calls of one second share a batch.
@pytest.fixture(scope="module", params=[0.5, 1 / 60], ids=["half-an-hour", "a-minute"])
def both(request: pytest.FixtureRequest) -> Both:
    """A run of 288 tasks on three platforms that allow ten calls a second, 25 s a call."""
    scenario = Scenario(brands=8, questions=12, platforms=3, hours=request.param)
    outcome = Simulation(scenario).run()
    run, meter = outcome.run, outcome.auditor.cloud.meter
    assert run is not None
    assert run.reported_at is not None
    shares = {
        name: Share(tasks=planned, rate=1 / run.spacing[name], batch=BATCH) for name, planned in run.planned.items()
    }
    minutes = meter.counts["lambda_scanner"] / SWEEPS_A_MINUTE
    load = RunLoad(platforms=shares, minutes=(run.reported_at - run.window_start) / 60, hold_s=scenario.latency * 1.6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aws_usage, "ANSWER_BYTES", SHORT_ANSWER)
        return Both(meter, total([run_usage(load), minutes_usage(len(shares), minutes)]))


def test_write_units_agree_within_a_tenth(both: Both) -> None:
    assert both.usage.write_units == pytest.approx(both.metered("write_"), rel=0.10)


def test_read_units_agree_within_a_tenth(both: Both) -> None:
    assert both.usage.read_units == pytest.approx(both.metered("read_"), rel=0.10)


def test_invocations_agree_within_a_tenth(both: Both) -> None:
    assert sum(both.usage.invocations.values()) == pytest.approx(both.metered("lambda_"), rel=0.10)


def test_gigabyte_seconds_agree_within_a_tenth(both: Both) -> None:
    assert sum(both.usage.gb_s.values()) == pytest.approx(sum(both.meter.gb_seconds.values()), rel=0.10)
