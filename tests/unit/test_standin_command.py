"""``brandvane stand-in`` as a program: its first line, its end, and what it says to wrong input."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from brandvane.cli.standin_command import stand_in
from brandvane.simulation.standin_behaviour import Behaviour, StandinFault
from brandvane.simulation.standin_config import configured

PROGRAM = [sys.executable, "-m", "brandvane.cli.standin_command"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(stand_in, arguments)


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """The program and the line it prints when it listens."""
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline()


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Exit code and what it wrote to stderr."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_its_address_and_ends_cleanly_when_told_to(tmp_path: Path, number: signal.Signals) -> None:
    ready = tmp_path / "ready.json"
    process, line = started("--platform", "gpt:rate=5,median=0", "--ready-file", str(ready))
    try:
        told = json.loads(line)
        assert json.loads(ready.read_text(encoding="utf-8")) == told
        assert (told["platforms"]["gpt"]["rate"], told["platforms"]["gpt"]["stands_for"]) == (5.0, None)
        assert told["platforms"]["gpt"]["base_url"] == told["url"] + "/gpt/v1"
        assert httpx.get(told["url"] + "/_standin/health", trust_env=False).json()["status"] == "ok"
    finally:
        code, errors = ended(process, number)
    assert (code, errors) == (0, "")


def test_the_log_survives_a_kill(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    process, line = started("--platform", "gpt:median=0", "--log", str(log))
    try:
        url = json.loads(line)["platforms"]["gpt"]["base_url"] + "/chat/completions"
        body = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
        httpx.post(url, json=body, headers={"X-Client-Request-Id": "t/1"}, trust_env=False)
        # The row is written when the call has ended, which the client may know a moment earlier.
        served = json.loads(line)["url"] + "/_standin/log"
        assert any(httpx.get(served, trust_env=False).text for _ in range(200))
    finally:
        ended(process, signal.SIGKILL)
    (row,) = log.read_text(encoding="utf-8").splitlines()
    assert (json.loads(row)["request_id"], json.loads(row)["complete"]) == ("t/1", True)


def test_a_taken_port_is_one_clear_sentence_and_exit_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("--platform", "gpt", "--port", str(port))
    assert result.exit_code == 1
    assert result.output == f"Error: port {port} is taken by another program; choose another with --port\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no platform: name at least one with --platform"),
        (["--platform", "GPT"], "--platform GPT: 'GPT' is no platform name"),
        (["--platform", "a", "--platform", "a:rate=1"], "--platform a:rate=1: 'a' is given twice"),
        (["--platform", "a:rate"], "--platform a:rate: 'rate' is not of the form field=value"),
        (["--platform", "a:speed=1"], "--platform a: unknown field 'speed'"),
        (["--platform", "a:rate=fast"], "--platform a: rate='fast' is not a number"),
        (["--platform", "a", "--answers", "no-such-file"], "no-such-file: cannot be read (No such file or directory)"),
        (["--platform", "a", "--config", "no-such-file"], "no-such-file: cannot be read (No such file or directory)"),
        (["--platform", "a", "--log", "no-such-folder/log"], "no-such-folder/log: cannot be written"),
        (["--platform", "a", "--ready-file", "no-such-folder/x"], "no-such-folder/x: cannot be written"),
        (["--platform", "a", "--model-of", "a"], "--model-of a: not of the form platform=model"),
        (["--platform", "a", "--model-of", "a=m"], "--model-of a=m: no recorded model 'm'; there are none"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: {message}")
    assert result.output.count("\n") == 1


def test_a_log_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("shopping\nlist\n", encoding="utf-8")
    result = run("--platform", "a", "--log", str(other))
    assert result.exit_code == 2
    assert "notes.txt, line 1: not a row of a call log" in result.output
    assert other.read_text(encoding="utf-8") == "shopping\nlist\n"


def test_options_stand_above_the_configuration_file(tmp_path: Path) -> None:
    file = tmp_path / "stand-in.json"
    document = {"seed": 3, "brands": ["Acme"], "platforms": {"a": {"rate": 5, "hang": 0.1}, "b": {}}}
    file.write_text(json.dumps(document), encoding="utf-8")
    config = configured(file, ["a:rate=7", "c"], ["c=m"])
    assert config.platforms == {"a": Behaviour(rate=7, hang=0.1), "b": Behaviour(), "c": Behaviour()}
    assert (config.seed, config.brands, config.models) == (3, ("Acme",), {"c": "m"})
    assert configured(file, [], [], seed=9).seed == 9


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"platform": {}}', "unknown field 'platform'; known are platforms, seed, brands, models"),
        ('{"platforms": []}', "field 'platforms' must be an object of platforms"),
        ('{"platforms": {"a": 3}}', "platforms.a: must be an object of fields, not 3"),
        ('{"platforms": {"a": {"hang": 2}}}', "platforms.a: hang=2 must be between 0 and 1"),
        ('{"seed": "x"}', "field 'seed' must be a whole number"),
        ('{"brands": [""]}', "field 'brands' must be a list of names"),
        ('{"models": {"a": 1}}', "field 'models' must be an object of platform and model"),
    ],
)
def test_a_wrong_configuration_file_is_named_with_its_field(tmp_path: Path, document: str, message: str) -> None:
    file = tmp_path / "stand-in.json"
    file.write_text(document, encoding="utf-8")
    with pytest.raises(StandinFault) as caught:
        configured(file, [], [])
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)
