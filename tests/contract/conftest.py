"""Every contract test runs once in each world."""

from __future__ import annotations

import pytest

from contract.worlds import World, emulator_world, memory_world
from emulator import clients_for


@pytest.fixture(scope="session")
def emulated_world(emulator_endpoint: str) -> World:
    """The emulator's world, its tables shared by all tests (whose names are unique)."""
    return emulator_world(clients_for(emulator_endpoint))


@pytest.fixture(params=["memory", pytest.param("emulator", marks=pytest.mark.emulator)])
def world(request: pytest.FixtureRequest) -> World:
    """A world; the emulator is started only when a test of it runs."""
    if request.param == "memory":
        return memory_world()
    found: World = request.getfixturevalue("emulated_world")
    return found
