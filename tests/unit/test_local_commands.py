"""``brandvane local``: one clear sentence for everything that can be in the way, and nothing half done."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from brandvane.cli import local_commands
from brandvane.cli.errors import CliError
from brandvane.cli.local_process import end_group, start
from brandvane.cli.local_stack import Say, Wanted
from brandvane.cli.local_state import LocalState, read_state, write_state

Brought = list[Wanted]


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Brought:
    """What would have been brought up; nothing is."""
    wanted: Brought = []

    def bring_up(wish: Wanted, say: Say) -> LocalState:
        wanted.append(wish)
        return LocalState(home=wish.home, stack=wish.stack, port=wish.port, platforms=("hunyuan", "openai"))

    monkeypatch.setattr(local_commands, "STATE", tmp_path / "local.json")
    monkeypatch.setattr(local_commands, "HOME", tmp_path / "build")
    monkeypatch.setattr(local_commands, "DOTENV", tmp_path / ".env")
    monkeypatch.setattr(local_commands, "bring_all_up", bring_up)
    monkeypatch.setattr(local_commands, "_push", lambda state, platforms: None)
    return wanted


def run(*arguments: str) -> tuple[int, str]:
    """Exit code, and all that was said."""
    try:
        result = CliRunner().invoke(local_commands.local, list(arguments), standalone_mode=False)
    except click.ClickException as error:
        return error.exit_code, error.format_message()
    if isinstance(result.exception, click.ClickException):
        return result.exception.exit_code, result.output + result.exception.format_message()
    if isinstance(result.exception, click.Abort):
        return 130, result.output
    assert result.exception is None, result.exception
    return result.exit_code, result.output


def test_up_tells_how_to_use_the_stack(brought: Brought) -> None:
    code, told = run("up", "--port", "4999")
    assert code == 0
    assert "The stack brandvane-local is there, and this shell is free again. Go on with:\n" in told
    assert "export AWS_ENDPOINT_URL=http://127.0.0.1:4999\n" in told
    assert "export BRANDVANE_STACK=brandvane-local\n" in told
    assert brought[0].standins is not None
    assert (brought[0].port, brought[0].keys) == (4999, {})


def test_up_listens_on_4566_by_default(brought: Brought) -> None:
    assert run("up")[0] == 0
    assert brought[0].port == 4566


def test_a_second_up_says_that_one_is_running(brought: Brought, tmp_path: Path) -> None:
    pid = start(
        [sys.executable, "-c", "import time; time.sleep(60)", "ministack"], log=tmp_path / "log", env=os.environ
    )
    try:
        state = LocalState(home=tmp_path, stack="brandvane-local", port=4998, emulator=pid)
        write_state(local_commands.STATE, state)
        code, told = run("up")
    finally:
        end_group(pid)
    assert code == 0
    assert told.startswith("A local stack is running already, on port 4998; 'brandvane local down' stops it.\n")
    assert brought == []


def test_up_after_an_emulator_has_died_starts_anew(brought: Brought, tmp_path: Path) -> None:
    write_state(local_commands.STATE, LocalState(home=tmp_path / "old", stack="brandvane-local", emulator=2**22 + 1))
    assert run("up")[0] == 0
    assert len(brought) == 1


def test_down_without_a_stack_says_so(brought: Brought) -> None:
    assert run("down") == (0, "No local stack is running.\n")


def test_down_stops_what_runs_and_forgets_it(brought: Brought, tmp_path: Path) -> None:
    pid = start(
        [sys.executable, "-c", "import time; time.sleep(60)", "ministack"], log=tmp_path / "log", env=os.environ
    )
    write_state(local_commands.STATE, LocalState(home=tmp_path / "home", stack="brandvane-local", emulator=pid))
    assert run("down") == (0, "The local stack is stopped.\n")
    assert read_state(local_commands.STATE) is None
    assert run("down") == (0, "No local stack is running.\n")


def test_a_failure_while_coming_up_leaves_nothing(
    brought: Brought, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(wish: Wanted, say: Say) -> LocalState:
        write_state(wish.state, LocalState(home=wish.home, stack=wish.stack))
        raise CliError("sam build failed (exit code 1). Its log is build.log")

    monkeypatch.setattr(local_commands, "bring_all_up", fail)
    assert run("up") == (1, "sam build failed (exit code 1). Its log is build.log")
    assert not local_commands.STATE.exists()


def test_a_taken_port_is_one_sentence(brought: Brought, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, told = _up_on(port, monkeypatch)
    assert code == 1
    assert told.endswith(f"Port {port} is taken: stop what listens there or choose another port (--port).")


def _up_on(port: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The real thing, which must find the port taken before anything is started."""
    from brandvane.cli import emulator, local_stack
    from brandvane.cli.local_deploy import Machine

    monkeypatch.setattr(emulator, "program", lambda: Path(sys.executable))
    monkeypatch.setattr(local_stack, "this_machine", lambda: Machine("python3.11", Path("/"), "x86_64"))
    monkeypatch.setattr(local_stack, "sam_program", lambda: Path("/sam"))
    monkeypatch.setattr(local_stack, "overrides", lambda machine, extra: "")
    return run("up", "--port", str(port))


def test_real_platforms_need_their_keys(brought: Brought, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BRANDVANE_KEY_OPENAI=sk-secret\n")
    code, told = run("up", "--real", "--yes")
    assert code == 2
    assert "no BRANDVANE_KEY_HUNYUAN, no BRANDVANE_KEY_DEEPSEEK" in told
    assert "secret" not in told
    assert brought == []


def test_real_platforms_are_asked_after_calls_and_cost_were_told(brought: Brought, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BRANDVANE_KEY_OPENAI=sk-secret\n")
    code, told = run("up", "--real", "--platform", "openai", "--yes")
    assert code == 0
    assert told.startswith("A run of the whole example asks openai: 100 calls, about $")
    assert (brought[0].standins, brought[0].keys) == (None, {"openai": "sk-secret"})
    assert "sk-secret" not in told


def test_nobody_to_ask_means_no_real_platform(brought: Brought, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BRANDVANE_KEY_OPENAI=sk-secret\n")
    code, told = run("up", "--real", "--platform", "openai")
    assert code == 2
    assert "--yes" in told
    assert brought == []


def test_without_real_no_key_is_read(brought: Brought, tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()  # reading it would fail
    assert run("up")[0] == 0
    assert brought[0].keys == {}


def test_an_unknown_platform_is_named(brought: Brought) -> None:
    code, told = run("up", "--real", "--platform", "openia")
    assert (code, told) == (2, "--platform: the example has no openia; it has openai, hunyuan, deepseek")


def test_platforms_are_chosen_only_among_real_ones(brought: Brought) -> None:
    assert run("up", "--platform", "openai")[0] == 2
