"""Each simulated environment fetches catalogue and deployment for itself, over a way that may fail, and keeps them as on AWS."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from brandvane.ports import Deployed, Unavailable
from brandvane.simulation.cloud_catalogues import CloudCatalogues, CloudDeployment, CloudPrompts
from brandvane.simulation.faults import NONE, Faults, Trouble
from brandvane.simulation.host import Host
from brandvane.simulation.scenario import Scenario
from brandvane.simulation.simulate import Simulation
from builders import NOW, catalogue
from simulation.cloud_bench import Bench, always, on_cloud

VERSION = catalogue().version
DEPLOYED = tuple(Deployed(f"p{number:02d}", 5, 2, 60) for number in range(11))
FIRST_MINUTE = Faults(troubles=(Trouble("s3", -60.0, 0.0),))  # a bench begins a minute before windows count from


def test_a_version_is_fetched_once_in_an_environment() -> None:
    async def work(bench: Bench) -> int:
        bench.cloud.catalogues.push(catalogue())
        catalogues = CloudCatalogues(bench.host, bench.cloud)
        await asyncio.gather(*(catalogues.load(VERSION) for _ in range(5)))
        await catalogues.load(VERSION)
        return bench.cloud.meter.counts["s3_get"]

    assert on_cloud(NONE, work) == 1


def test_environments_share_no_version() -> None:
    async def work(bench: Bench) -> int:
        bench.cloud.catalogues.push(catalogue())
        for name in ("first", "second"):
            await CloudCatalogues(Host(bench.loop, name, NOW), bench.cloud).load(VERSION)
        return bench.cloud.meter.counts["s3_get"]

    assert on_cloud(NONE, work) == 2


def test_the_fifth_version_drives_out_the_one_unused_for_longest() -> None:
    async def work(bench: Bench) -> tuple[int, int]:
        catalogues = CloudCatalogues(bench.host, bench.cloud)
        for version in "abcde":
            bench.cloud.catalogues.push(replace(catalogue(), version=version))
        for version in "abcdae":
            await catalogues.load(version)
        await catalogues.load("a")
        kept = bench.cloud.meter.counts["s3_get"]
        await catalogues.load("b")
        return kept, bench.cloud.meter.counts["s3_get"]

    assert on_cloud(NONE, work) == (5, 6)


def test_the_pointer_is_fetched_each_time() -> None:
    async def work(bench: Bench) -> tuple[str | None, str | None, int]:
        catalogues = CloudCatalogues(bench.host, bench.cloud)
        before = await catalogues.current()
        bench.cloud.catalogues.push(catalogue())
        return before, await catalogues.current(), bench.cloud.meter.counts["s3_get"]

    assert on_cloud(NONE, work) == (None, VERSION, 2)


def test_a_version_that_nobody_pushed_is_not_there() -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(LookupError, match="no catalogue version v9"):
            await CloudCatalogues(bench.host, bench.cloud).load("v9")

    on_cloud(NONE, work)


def test_a_catalogue_that_s3_refuses_is_unavailable_and_there_when_it_gives_it() -> None:
    async def work(bench: Bench) -> str:
        bench.cloud.catalogues.push(catalogue())
        catalogues = CloudCatalogues(bench.host, bench.cloud)
        with pytest.raises(Unavailable):
            await catalogues.current()
        with pytest.raises(Unavailable):
            await catalogues.load(VERSION)
        await bench.loop.sleeper(60.0)
        return (await catalogues.load(VERSION)).version

    assert on_cloud(FIRST_MINUTE, work) == VERSION


def test_a_catalogue_that_was_fetched_outlasts_s3() -> None:
    async def work(bench: Bench) -> str:
        bench.cloud.catalogues.push(catalogue())
        catalogues = CloudCatalogues(bench.host, bench.cloud)
        await catalogues.load(VERSION)
        await bench.loop.sleeper(60.0)
        return (await catalogues.load(VERSION)).version

    assert on_cloud(Faults(troubles=(Trouble("s3", 0.0, 1e6),)), work) == VERSION


def test_a_hanging_s3_holds_a_fetch_for_all_the_clients_tries() -> None:
    async def work(bench: Bench) -> float:
        with pytest.raises(Unavailable):
            await CloudCatalogues(bench.host, bench.cloud).current()
        return bench.loop.time()

    assert on_cloud(always("s3", "hangs"), work) == 15.0


def test_a_text_that_another_environment_computed_still_needs_a_catalogue_of_ones_own() -> None:
    async def work(bench: Bench) -> str:
        bench.cloud.catalogues.push(catalogue())
        prompts = CloudPrompts(
            catalogues=CloudCatalogues(bench.host, bench.cloud), texts={VERSION: {"hash": "Which is best?"}}
        )
        with pytest.raises(Unavailable):
            await prompts.text(VERSION, "hash")
        await bench.loop.sleeper(60.0)
        return await prompts.text(VERSION, "hash")

    assert on_cloud(FIRST_MINUTE, work) == "Which is best?"


def test_the_deployment_is_read_a_page_of_ten_at_a_time_and_once_a_minute() -> None:
    async def work(bench: Bench) -> list[int]:
        deployment = CloudDeployment(bench.host, bench.cloud, DEPLOYED[::-1])
        asked = []
        for wait in (0.0, 30.0, 30.0):
            await bench.loop.sleeper(wait)
            assert await deployment.platforms() == DEPLOYED
            asked.append(bench.cloud.meter.counts["ssm_get"])
        return asked

    assert on_cloud(NONE, work) == [2, 2, 4]


def test_a_stack_without_platforms_is_asked_for_them_all_the_same() -> None:
    async def work(bench: Bench) -> tuple[tuple[Deployed, ...], int]:
        return await CloudDeployment(bench.host, bench.cloud, ()).platforms(), bench.cloud.meter.counts["ssm_get"]

    assert on_cloud(NONE, work) == ((), 1)


def test_parameters_cannot_be_read_while_s3_is_in_trouble() -> None:
    async def work(bench: Bench) -> tuple[Deployed, ...]:
        deployment = CloudDeployment(bench.host, bench.cloud, DEPLOYED)
        with pytest.raises(Unavailable, match="ssm refuses"):
            await deployment.platforms()
        await bench.loop.sleeper(60.0)
        return await deployment.platforms()

    assert on_cloud(FIRST_MINUTE, work) == DEPLOYED


@pytest.mark.parametrize(("name", "refused"), [("", ["s3", "ssm"]), ("s3", ["s3"]), ("ssm", ["ssm"])])
def test_a_window_that_names_one_of_s3_and_ssm_spares_the_other(name: str, refused: list[str]) -> None:
    async def work(bench: Bench) -> list[str]:
        asked = {
            "s3": CloudCatalogues(bench.host, bench.cloud).current(),
            "ssm": CloudDeployment(bench.host, bench.cloud, DEPLOYED).platforms(),
        }
        told = await asyncio.gather(*asked.values(), return_exceptions=True)
        return [service for service, reply in zip(asked, told, strict=True) if isinstance(reply, Unavailable)]

    assert on_cloud(Faults(troubles=(Trouble("s3", -1e6, 1e6, name=name),)), work) == refused


def test_a_run_that_begins_while_s3_refuses_waits_for_it() -> None:
    scenario = Scenario(brands=2, questions=5, platforms=1, hours=0.1, deadline=1.0)
    outcome = Simulation(scenario, Faults(troubles=(Trouble("s3", -60.0, 300.0),))).run()
    assert outcome.run is not None
    assert outcome.run.created_at - scenario.window[0] > 300.0
