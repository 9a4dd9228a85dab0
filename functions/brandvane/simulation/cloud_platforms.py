"""How do simulated AI platforms answer? Slow, with the faults they are told to have, each call's fate drawn from its own id.

A call's draws depend on (seed, platform, request id) alone, so that two engines that make the same call meet the same fate.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import dataclass
from statistics import NormalDist

from brandvane.answer import Answer, Failure, Usage
from brandvane.catalogue import PlatformSettings
from brandvane.policy import ErrorKind
from brandvane.ports import MaySend, Unavailable
from brandvane.simulation.cloud import Cloud
from brandvane.simulation.faults import Faults, Trouble
from brandvane.simulation.host import Doom, Host
from brandvane.simulation.standin_draws import Draw, digest_of, draw

SIGMA = 0.35  # of the latency's logarithm
SLOWEST = 0.9  # of the call timeout: only a hanging call runs into it
NETWORK_S = 0.0015  # a request is this much under way, at most
ERROR_S = 0.5  # an error takes this long, in the mean
LAST_STEPS = 12  # awaits from an answer to its finished record, and some more
HUGE = 600_000  # characters of an answer that no record holds, hard to compress
# Of eight failed calls five get a 5xx, two lose their connection, and one hangs until its caller gives up.
_FAILURES = (*[ErrorKind.SERVER_ERROR] * 5, *[ErrorKind.TIMEOUT] * 3)
_HANGS = 7
_UNUSABLE = (ErrorKind.MALFORMED, ErrorKind.EMPTY)
_KINDS = {kind.value: kind for kind in ErrorKind}
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a call: an error kind or an answer, after so many seconds (infinite: never)."""

    seconds: float
    kind: ErrorKind | None = None
    retry_after: float | None = None
    poison: int = 0


class Platforms:
    """All platforms. ``latency_s`` is the mean time to an answer."""

    def __init__(self, cloud: Cloud, seed: int, latency_s: float, timeout_s: float) -> None:
        self._cloud = cloud
        self._seed = seed
        self._median = latency_s / math.exp(SIGMA**2 / 2)
        self._slowest = SLOWEST * timeout_s
        self._troubles: dict[str, tuple[Trouble, ...]] = {}

    def fate(self, platform: str, request_id: str) -> Fate:
        """Drawn for this very call, in what the platform is going through now."""
        drawn = draw(self._seed, platform, request_id)
        troubles = self._troubles.get(platform)
        if troubles is None:
            troubles = self._troubles[platform] = self._cloud.troubles("platform", platform)
        for trouble in troubles:
            if self._cloud.in_trouble((trouble,)) is not None and _share(drawn.form >> 8) < trouble.share:
                return self._troubled(trouble, drawn)
        return self._usual(self._cloud.faults, drawn, int(request_id.rpartition("/")[2]))

    def _usual(self, faults: Faults, drawn: Draw, number: int) -> Fate:
        edge = faults.first_fails if number == 1 else faults.later_fails
        if drawn.fault < edge:
            kind = _FAILURES[drawn.form % len(_FAILURES)]
            return Fate(math.inf if drawn.form % len(_FAILURES) == _HANGS else self._error_after(drawn), kind)
        for share, kinds, retry_after in (
            (faults.unusable, _UNUSABLE, None),
            (faults.final_fails, (ErrorKind.CLIENT_ERROR,), None),
            (faults.filtered, (ErrorKind.CONTENT_FILTERED, ErrorKind.REFUSED), None),
            (faults.throttles, (ErrorKind.RATE_LIMITED,), faults.retry_after_s),
        ):
            edge += share
            if share and drawn.fault < edge:
                kind = kinds[drawn.form % len(kinds)]
                usable = kind not in _UNUSABLE
                return Fate(self._error_after(drawn) if usable else self._answer_after(drawn), kind, retry_after)
        return Fate(self._answer_after(drawn), poison=_poison(drawn) if drawn.fault > 1 - faults.poison else 0)

    def _troubled(self, trouble: Trouble, drawn: Draw) -> Fate:
        if trouble.how == "hangs":
            return Fate(math.inf, ErrorKind.TIMEOUT)
        if trouble.how == "busy":
            return Fate(0.05, ErrorKind.RATE_LIMITED, trouble.retry_after)
        return Fate(self._error_after(drawn), _KINDS.get(trouble.how, ErrorKind.SERVER_ERROR), trouble.retry_after)

    def _answer_after(self, drawn: Draw) -> float:
        return min(self._median * math.exp(SIGMA * _NORMAL.inv_cdf(drawn.latency)), self._slowest)

    def _error_after(self, drawn: Draw) -> float:
        return -math.log(drawn.latency) * ERROR_S


def _poison(drawn: Draw) -> int:
    """Which kind of hard answer; one in sixteen is what no table takes."""
    return 1 if drawn.form % 16 == 0 else 2 + drawn.form % 2


def _share(number: int) -> float:
    return (number & 0xFFFFFF) / 0x1000000


class PlatformFace:
    """The ``PlatformClient`` port, for one environment."""

    def __init__(self, host: Host, cloud: Cloud, platforms: Platforms, seed: int) -> None:
        self._host = host
        self._cloud = cloud
        self._platforms = platforms
        self._seed = seed
        self._has_key: set[str] = set()  # of these platforms, for as long as the environment lives

    async def prepare(self, settings: PlatformSettings) -> None:
        """Fetch the key, once."""
        await self._key(settings.name)

    async def _key(self, platform: str) -> None:
        """As ``SsmSecrets`` and ``HttpPlatformClient`` do; every simulated platform has a key."""
        if platform in self._has_key:
            return
        await self._cloud.ssm.call(self._host, lambda: self._cloud.meter.asked("ssm", "get"), write=False)
        self._has_key.add(platform)

    async def ask(
        self,
        settings: PlatformSettings,
        model: str,
        prompt: str,
        locale: str,
        request_id: str,
        timeout: float,
        may_send: MaySend,
    ) -> Answer | Failure | None:
        """One call, watched by the auditor."""
        try:
            await self._key(settings.name)
        except Unavailable:
            return Failure(ErrorKind.SERVER_ERROR, f"the key of {settings.name} cannot be read just now")
        if not await may_send():
            return None
        auditor, loop, host = self._cloud.auditor, self._cloud.loop, self._host
        task = self._cloud.tasks.records.get(request_id.rpartition("/")[0])
        auditor.call_started(host, settings.name, request_id)
        fate = self._platforms.fate(settings.name, request_id)
        takes = min(fate.seconds, timeout)
        busy = auditor.limits[settings.name].takes(loop.time() + takes)
        try:
            await host.pause(takes)
        except asyncio.CancelledError:
            auditor.limits[settings.name].leaves(busy)
            auditor.replied(host, request_id, "the caller is gone")
            raise
        if fate.seconds > timeout:
            auditor.replied(host, request_id, ErrorKind.TIMEOUT)
            return Failure(ErrorKind.TIMEOUT, "no answer in time", latency_s=takes)
        auditor.replied(host, request_id, fate.kind or "answer")
        self._befall()
        if fate.kind is ErrorKind.AUTH_ERROR:  # somebody may have set another key
            self._has_key.discard(settings.name)
            with contextlib.suppress(Unavailable):
                await self._key(settings.name)
        if fate.kind is not None:
            return Failure(fate.kind, "told to fail", retry_after=fate.retry_after, raw="{}", latency_s=takes)
        if task is not None:
            auditor.answered(task.attempt_id)
        return self._answer(model, prompt, request_id, takes, fate.poison)

    def _befall(self) -> None:
        """The worst moments to die or to stand still are those between the reply and what is made of it."""
        faults, rng = self._cloud.faults, self._cloud.chances.of("replies")
        if faults.kill_at_reply and rng.random() < faults.kill_at_reply:
            self._host.doom = Doom(rng.randint(1, LAST_STEPS))
        elif faults.stall_at_reply and rng.random() < faults.stall_at_reply:
            self._host.doom = Doom(rng.randint(1, LAST_STEPS), rng.uniform(*faults.stall_s))

    def _answer(self, model: str, prompt: str, request_id: str, takes: float, poison: int) -> Answer:
        text = f"{prompt} Answer {request_id}: there are several makers, and none of them is the best at everything."
        if poison == 1:  # what no table takes
            number = digest_of(self._seed, request_id)
            text += "".join(f"{(number * step) & 0xFFFFFFFFFFFFFFFF:016x}" for step in range(1, HUGE // 16))
        elif poison == 2:  # half of a pair that no UTF-8 can hold
            text += "\ud83d = + @ \x00 </script>"
        elif poison == 3:  # above the threshold of the bucket
            number = digest_of(self._seed, request_id)
            text += "".join(f"{(number * step) & 0xFFFFFFFFFFFFFFFF:016x}" for step in range(1, 2000))
        return Answer(
            status="ok",
            text=text,
            served_model=model,
            finish_reason="stop",
            provider_request_id=request_id,
            usage=Usage(20, 60),
            cost_microusd=30,
            latency_s=round(takes, 3),
        )
