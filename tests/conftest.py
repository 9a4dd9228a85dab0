"""Fixtures for every kind of test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from emulator import running_emulator


@pytest.fixture(scope="session")
def emulator_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a local AWS emulator: the one ``AWS_ENDPOINT_URL`` names, else one of this session's own."""
    with running_emulator(tmp_path_factory.mktemp("emulator")) as endpoint:
        yield endpoint
