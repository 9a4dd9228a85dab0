"""The whole system on an emulator of its own, with role policies enforced; brought up once, put away at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from brandvane.cli.local_stack import Wanted, clients_of, local_stack
from e2e.asked import Asked, begin
from e2e.deployed import SLACK_PARAMETER, STACK, WISH, DeployedStack, group

RECORDER = Path(__file__).parent / "recorder"
KEPT = Path(__file__).resolve().parents[2] / "build" / "recorded-calls.jsonl"  # of the last run, for people


@pytest.fixture(scope="session")
def calls_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where every function of the stack writes down which AWS calls it makes."""
    file = tmp_path_factory.mktemp("calls") / "calls.jsonl"
    file.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRANDVANE_RECORDED_CALLS", str(file))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(RECORDER), os.environ.get("PYTHONPATH")))))
        yield file
    KEPT.parent.mkdir(exist_ok=True)
    shutil.copy(file, KEPT)


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory, calls_file: Path) -> Iterator[DeployedStack]:
    """The stack."""
    home = tmp_path_factory.mktemp("stack")
    wanted = Wanted(
        home=home, state=home / "state.json", stack=STACK, standins=WISH, parameters={"SlackWebhook": SLACK_PARAMETER}
    )
    with local_stack(wanted, lambda text: None) as state:
        clients = clients_of(state)
        yield DeployedStack(state, clients, home / "catalogue")
        clients.close()
        assert len(group(state.emulator)) > 1  # the emulator and the workers it has started
    assert group(state.emulator) == {}
    assert group(state.standins) == {}


@pytest.fixture(scope="session")
def asked(deployed: DeployedStack) -> Asked:
    """A run that is under way; other tests use the time that it takes."""
    return begin(deployed)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are end-to-end tests."""
    for item in items:
        if "e2e" in item.path.parts:
            item.add_marker(pytest.mark.e2e)
