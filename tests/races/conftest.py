"""Every race has a stack of its own on the session's emulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from races.stage import Stage


@pytest.fixture
def stage(emulator_endpoint: str) -> Iterator[Stage]:
    """Tables, queues and a bucket that nobody else uses."""
    made = Stage(emulator_endpoint)
    yield made
    made.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them need an emulator."""
    for item in items:
        if "races" in item.path.parts:
            item.add_marker(pytest.mark.emulator)
