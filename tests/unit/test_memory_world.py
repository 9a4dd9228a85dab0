"""The ports in memory fit the protocols and one another."""

from __future__ import annotations

from brandvane import ports
from brandvane.catalogue import Catalogue, Monitor
from brandvane.ports import Deployed, Envelope
from brandvane.simulation.memory_world import MemoryCatalogues, MemoryWorld, StatedDeployment


def test_every_part_of_a_world_is_the_port_it_stands_for() -> None:
    # The type checker does the work; the list keeps what it checked.
    world = MemoryWorld()
    tasks: ports.TaskStore = world.tasks
    runs: ports.RunStore = world.runs
    results: ports.ResultStore = world.results
    control: ports.ControlStore = world.control
    stats: ports.StatStore = world.stats
    queue: ports.TaskQueue = world.queue
    blobs: ports.BlobStore = world.blobs
    functions: ports.Functions = world.functions
    telemetry: ports.Telemetry = world.telemetry
    deployment: ports.Deployment = world.deployment
    catalogues: ports.CatalogueStore = world.catalogues
    clock: ports.Clock = world.clock
    parts = (tasks, runs, results, control, stats, queue, blobs, functions, telemetry, deployment, catalogues, clock)
    assert len(set(map(id, parts))) == 12


async def test_the_queue_of_a_world_goes_by_its_clock() -> None:
    world = MemoryWorld()
    await world.queue.send("calls-gpt", [Envelope("e", "body", delay_s=60)])
    assert world.queue.next_visible("calls-gpt") == world.clock.now() + 60
    assert await world.queue.receive("calls-gpt", 1) == []
    await world.clock.advance(60)
    assert [message.body for message in await world.queue.receive("calls-gpt", 1)] == ["body"]


async def test_invocations_are_recorded_and_taken_once() -> None:
    world = MemoryWorld()
    await world.functions.invoke("scorer", {"run_id": "r"})
    assert world.functions.take() == [("scorer", {"run_id": "r"})]
    assert world.functions.take() == []


def test_counts_add_up_by_name_and_platform() -> None:
    telemetry = MemoryWorld().telemetry
    telemetry.count("Calls", platform="gpt")
    telemetry.count("Calls", 2, platform="gpt")
    telemetry.count("Calls")
    telemetry.event("late_answer", task_id="t")
    assert (telemetry.counts[("Calls", "gpt")], telemetry.counts[("Calls", None)]) == (3, 1)
    assert telemetry.named("late_answer") == [{"task_id": "t"}]


async def test_the_catalogue_pushed_last_is_current() -> None:
    monitor = Monitor(platforms=(), schedules=())
    first, second = (Catalogue(brands=(), questions=(), monitor=monitor, version=name) for name in ("c1", "c2"))
    catalogues = MemoryCatalogues(first, second)
    assert await catalogues.current() == "c2"
    assert await catalogues.load("c1") == first


async def test_a_deployment_is_what_is_stated() -> None:
    deployed = Deployed("gpt", 20, 10, 60)
    assert await StatedDeployment(deployed).platforms() == (deployed,)
