"""Fixtures for every kind of test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from emulator import running_emulator

ON_THE_EMULATOR = {"contract", "e2e", "races"}


@pytest.fixture(scope="session")
def emulator_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a local AWS emulator: the one ``AWS_ENDPOINT_URL`` names, else one of this session's own."""
    with running_emulator(tmp_path_factory.mktemp("emulator")) as endpoint:
        yield endpoint


class ByKind(LoadScopeScheduling):  # type: ignore[misc]
    """Of two processes (``make test``) one takes all that needs the emulator, and starts it once; the rest goes file by file."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return "emulator" if path.split("/")[1] in ON_THE_EMULATOR else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByKind:
    """How tests are shared out."""
    return ByKind(config, log)
