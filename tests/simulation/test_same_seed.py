"""Same seed, same history: in another process, with another hash seed, to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ARTICLE = ("--brands", "3", "--questions", "20", "--hours", "0.25", "--latency", "5", "--faults", "article")
CHAOS = ("--faults", "chaos", "--seeds", "6", "--jobs", "1")


def simulated(folder: Path, hash_seed: str, options: tuple[str, ...]) -> bytes:
    out = folder / f"out-{hash_seed}.json"
    command = [sys.executable, "-c", "from brandvane.cli.main import main; main()", "simulate"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run([*command, *options, "--json", str(out)], env=environment, check=True, capture_output=True)
    return out.read_bytes()


@pytest.mark.parametrize("options", [ARTICLE, (*ARTICLE, "--engine", "both"), CHAOS], ids=["article", "both", "chaos"])
def test_two_processes_write_the_same_bytes(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert simulated(tmp_path, "1", options) == simulated(tmp_path, "2", options)


def test_another_seed_is_another_history(tmp_path: Path) -> None:
    one, other = (simulated(tmp_path, "1", (*ARTICLE, "--seed", seed)) for seed in ("1", "2"))
    assert one != other
