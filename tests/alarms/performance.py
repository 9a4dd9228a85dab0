"""How are the causes carried out, act by act, and what is found wrong with the alarms?

Within an act every cause is set going before the first alarm is waited for. What clears is watched while the next act is under way.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from alarms.case import Case
from alarms.judgement import cleared, fires, just_below, just_beyond, worst_of
from alarms.recorded import ANOTHER_STACK, NOBODY, Watchtower, state_of
from brandvane.alarm_state import AlarmState, raised
from brandvane.metrics import METRICS

LOOK_S = 5.0
FIRST_SWEEP_S = 180.0
CLEAR_S = 420.0  # what is counted over five minutes, and a minute more
PERIOD_S = 60.0


@dataclass
class _Told:
    """What became of one cause."""

    case: Case
    began: float
    caused: float = 0.0
    undone: float = 0.0
    fired: dict[str, float] = field(default_factory=dict)


class Performance:
    """One stack's evening."""

    def __init__(self, tower: Watchtower, say: Callable[[str], None]) -> None:
        self._tower = tower
        self._say = say
        self._told: list[_Told] = []
        self._wrong: list[str] = []

    def begin(self) -> None:
        """Wait for the first sweep; from then on everything counts. Then values under wrong dimensions, which nobody may heed."""
        end = time.monotonic() + FIRST_SWEEP_S
        while not (beats := self._tower.samples("scanner-heartbeat")):
            assert time.monotonic() < end, f"no sweep within {FIRST_SWEEP_S:g} s"
            time.sleep(LOOK_S)
        self._tower.began = beats[0].at
        self._tower.decoys(time.time())

    def carry_out(self, act: list[Case]) -> None:
        """Set all causes of an act going, wait until their alarms have fired, undo them."""
        started = [self._caused(case) for case in act]
        for told in started:
            self._wait_for(told)
        for told in started:
            self._undo(told)

    def _caused(self, case: Case) -> _Told:
        told = _Told(case, time.time())
        self._told.append(told)
        for name in case.must:
            if state_of(self._tower.changes(name)) is AlarmState.ALARM:
                self._wrong.append(f"{name} is in ALARM before '{case.name}'")
        self._say(f"{case.name}: …")
        try:
            case.cause()
        except Exception as error:  # the other causes have their turn
            traceback.print_exc()
            self._wrong.append(f"'{case.name}' could not be carried out: {error!r}")
        told.caused = time.time()
        return told

    def _wait_for(self, told: _Told) -> None:
        end = told.caused + told.case.patience_s
        while True:
            for name in told.case.must.keys() - told.fired.keys():
                times = [at for at in raised(self._tower.changes(name)) if at > told.began]
                if times:
                    told.fired[name] = times[0]
                    self._say(f"{told.case.name}: {name} fired {times[0] - told.began:.0f} s after its beginning")
            missing = told.case.must.keys() - told.fired.keys()
            if not missing or time.time() >= end:
                break
            time.sleep(LOOK_S)
        self._wrong += [f"{name} did not fire by '{told.case.name}'" for name in sorted(missing)]

    def _undo(self, told: _Told) -> None:
        try:
            told.case.undo()
        except Exception as error:  # as above
            traceback.print_exc()
            self._wrong.append(f"'{told.case.name}' could not be undone: {error!r}")
        told.undone = time.time()

    def end(self) -> dict[str, Any]:
        """Wait until everything is clear, then judge all that was recorded."""
        names = {name for told in self._told for name in told.fired}
        end = time.monotonic() + CLEAR_S
        while time.monotonic() < end and any(self._in_alarm(name) for name in names):
            time.sleep(LOOK_S)
        rows = [self._row(told) for told in self._told]
        return {"causes": rows, "wrong": self._wrong + self._strays()}

    def _in_alarm(self, name: str) -> bool:
        return state_of(self._tower.changes(name)) is AlarmState.ALARM

    def _row(self, told: _Told) -> dict[str, Any]:
        alarms = [self._judged(told, name) for name in told.case.must]
        return {
            "cause": told.case.name,
            "began_s": round(told.began - self._tower.began),
            "caused_s": round(told.caused - self._tower.began),
            "undone_s": round(told.undone - self._tower.began),
            "alarms": alarms,
        }

    def _judged(self, told: _Told, name: str) -> dict[str, Any]:
        """One alarm: its metric's value and unit, when it fired and cleared, and what its twins did."""
        tower, alarm = self._tower, self._tower.alarm(name)
        everything = tower.samples(name)
        samples = [sample for sample in everything if told.began <= sample.at <= told.undone]
        now = time.time()
        silence = alarm.missing == "breaching"  # it is no value that fires it
        worst = None if silence else worst_of(alarm, samples)
        if worst is None and not silence:
            self._wrong.append(f"{name}: nothing was published during '{told.case.name}'")
        if worst is not None and name in told.fired and not told.case.must[name].fits(worst):
            value = told.case.must[name]
            self._wrong.append(f"{name}: showed {worst:g}, not {value.least:g} to {value.most:g}")
        units = tower.unit(name)
        if units != {METRICS[alarm.metric].unit}:
            self._wrong.append(f"{name}: published in {sorted(units)}, not in {METRICS[alarm.metric].unit}")
        twin = fires(alarm, just_below(alarm, everything), tower.began, now)
        if twin:
            self._wrong.append(f"{name}: its twin just below the design's rule fired as well")
        if name in told.fired and not fires(alarm, just_beyond(alarm, everything), tower.began, now):
            self._wrong.append(f"{name}: its twin just beyond the design's rule did not fire")
        after = cleared(tower.changes(name), told.undone)
        if after is None:
            self._wrong.append(f"{name} did not clear within {CLEAR_S:g} s after the last cause")
        fired = told.fired.get(name)
        return {
            "alarm": name,
            "metric": alarm.metric,
            "dimensions": tower.dimensions(name),
            "unit": METRICS[alarm.metric].unit,
            "threshold": f"{_SIGNS[alarm.comparison]} {alarm.threshold:g}",
            "value": worst,
            "fired_after_s": None if fired is None else round(fired - told.caused),
            "cleared_after_s": None if after is None else round(max(after - told.undone, 0.0)),
            "twin_below_fired": bool(twin),
            "wrong_dimensions": [ANOTHER_STACK, NOBODY],
        }

    def _strays(self) -> list[str]:
        """Alarms that fired when nothing had been done that could; a value under wrong dimensions is nothing."""
        found = []
        for name in self._tower.definitions:
            for at in raised(self._tower.changes(name)):
                near = [told for told in self._told if told.began <= at <= told.undone + PERIOD_S]
                if not any(name in told.case.must or name in told.case.may for told in near):
                    causes = ", ".join(told.case.name for told in near) or "nothing"
                    found.append(f"{name} fired {at - self._tower.began:.0f} s after the first sweep, during: {causes}")
        return found


_SIGNS = {
    "GreaterThanThreshold": ">",
    "GreaterThanOrEqualToThreshold": "≥",
    "LessThanThreshold": "<",
    "LessThanOrEqualToThreshold": "≤",
}
