"""The file that says what runs: read back as written, and never trusted further than that."""

from __future__ import annotations

from pathlib import Path

from brandvane.cli.local_state import LocalState, forget_state, read_state, write_state

STATE = LocalState(
    home=Path("/somewhere/build/demo"),
    stack="brandvane-local",
    port=4567,
    emulator=11,
    standins=12,
    standins_url="http://127.0.0.1:9",
    platforms=("hunyuan", "openai"),
    bucket="data",
    base_urls={"hunyuan": "http://127.0.0.1:9/hunyuan/v1", "openai": "http://127.0.0.1:9/openai/v1"},
)


def test_a_state_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    write_state(path, STATE)
    assert read_state(path) == STATE
    assert [file.name for file in path.parent.iterdir()] == ["state.json"]


def test_a_forgotten_state_is_gone_and_may_be_forgotten_twice(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_state(path, STATE)
    forget_state(path)
    forget_state(path)
    assert read_state(path) is None


def test_a_file_that_holds_something_else_is_no_state(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for text in ("", "no JSON", "[]", '{"v": 1}', '{"v": 99, "home": "/"}'):
        path.write_text(text)
        assert read_state(path) is None


def test_endpoint_and_call_log_follow_from_port_and_home() -> None:
    assert STATE.endpoint == "http://127.0.0.1:4567"
    assert STATE.call_log == Path("/somewhere/build/demo/calls.jsonl")
