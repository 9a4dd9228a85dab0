"""Every race has a stack of its own on the session's emulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brandvane.aws.client import Clients
from races.stage import Stage, machine

MACHINES = 4


@pytest.fixture(scope="session")
def machines(emulator_endpoint: str) -> Iterator[list[Clients]]:
    """Clients of several machines; making them takes longer than most races."""
    made = [machine(emulator_endpoint) for _ in range(MACHINES)]
    yield made
    for clients in made:
        clients.close()


@pytest.fixture
def stage(emulator_endpoint: str, machines: list[Clients]) -> Stage:
    """Tables, queues and a bucket that nobody else uses."""
    return Stage(emulator_endpoint, machines)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them need an emulator."""
    for item in items:
        if "races" in item.path.parts:
            item.add_marker(pytest.mark.emulator)
