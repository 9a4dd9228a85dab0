"""A simulated worker's environment fetches its platform's key from SSM, once, and fails as the real client does without it."""

from __future__ import annotations

import pytest

from brandvane.answer import Answer, Failure
from brandvane.policy import ErrorKind
from brandvane.ports import Unavailable
from brandvane.simulation.cloud_platforms import PlatformFace, Platforms
from brandvane.simulation.faults import NONE, Faults, Trouble
from builders import catalogue
from simulation.cloud_bench import Bench, always, on_cloud

SETTINGS = catalogue().monitor.platforms[0]


async def _sent() -> bool:
    return True


async def _ask(bench: Bench, face: PlatformFace, number: int = 1) -> Answer | Failure | None:
    bench.cloud.auditor.platform(SETTINGS.name, 10.0, 10, 0.001, 10)
    return await face.ask(SETTINGS, "model", "Which is best?", "", f"task/{number}", 60.0, _sent)


def _face(bench: Bench) -> PlatformFace:
    return PlatformFace(bench.host, bench.cloud, Platforms(bench.cloud, 1, 5.0, 60.0), 1)


def test_a_key_is_fetched_once_in_an_environment() -> None:
    async def work(bench: Bench) -> int:
        face = _face(bench)
        for number in (1, 2):
            await face.prepare(SETTINGS)
            await _ask(bench, face, number)
        return bench.cloud.meter.counts["ssm_get"]

    assert on_cloud(NONE, work) == 1


def test_preparing_without_a_key_that_can_be_read_is_not_the_platforms_failure() -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(Unavailable):
            await _face(bench).prepare(SETTINGS)

    on_cloud(always("s3", "refused"), work)


def test_without_its_key_a_call_fails_and_never_leaves() -> None:
    async def work(bench: Bench) -> tuple[object, int]:
        reply = await _ask(bench, _face(bench))
        return reply, len(bench.cloud.auditor.history.of("task"))

    reply, left = on_cloud(always("s3", "refused"), work)
    assert reply == Failure(ErrorKind.SERVER_ERROR, f"the key of {SETTINGS.name} cannot be read just now")
    assert left == 0


def test_a_platform_that_refuses_the_key_has_it_read_anew() -> None:
    async def work(bench: Bench) -> int:
        await _ask(bench, _face(bench))
        return bench.cloud.meter.counts["ssm_get"]

    assert on_cloud(Faults(troubles=(Trouble("platform", -1e6, 1e6, 1.0, "auth_error"),)), work) == 2
