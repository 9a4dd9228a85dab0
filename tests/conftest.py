"""Fixtures for every kind of test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator import running_emulator

HERE = Path(__file__).parent
GROUPS = {"contract": "emulator", "e2e": "emulator", "races": "emulator", "template": "template"}


@pytest.fixture(scope="session")
def emulator_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a local AWS emulator: the one ``AWS_ENDPOINT_URL`` names, else one of this session's own."""
    with running_emulator(tmp_path_factory.mktemp("emulator")) as endpoint:
        yield endpoint


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of two processes (``make test``) one takes all that needs the emulator, and has it once; the other the rest."""
    for item in items:
        kind = item.path.relative_to(HERE).parts[0]
        if kind in GROUPS:
            item.add_marker(pytest.mark.xdist_group(GROUPS[kind]))
