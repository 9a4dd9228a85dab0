"""``python -m tests.bench.reading``: how many bodies a second does each protocol read, and what does importing it cost?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "functions"), str(ROOT / "tests")]

from brandvane.platforms.errors import read_error  # noqa: E402
from brandvane.platforms.http_client import protocol  # noqa: E402
from brandvane.platforms.protocols import PROTOCOL_NAMES  # noqa: E402
from brandvane.simulation.standin_dialects import DIALECTS  # noqa: E402
from brandvane.simulation.standin_reply import Asked, Told  # noqa: E402
from builders import NOW, platform  # noqa: E402

BODY_BYTES = 4096
BODIES = 4000
PROCESSES = 7
PROGRAM = """
import sys, time
from brandvane.platforms import http_client
began = time.process_time()
http_client.protocol(sys.argv[1])
print(time.process_time() - began)
"""


def body_of(name: str) -> bytes:
    """An answer with sources, of 4 KB."""
    told = Told("id", int(NOW), Asked("m1", "Which kettle?", searched=True), "")
    empty = len(json.dumps(DIALECTS[name].words(told)))
    text = ("Acme leads, then Zeta. " * 200)[: BODY_BYTES - empty]
    made = Told("id", int(NOW), told.asked, text)
    return json.dumps(DIALECTS[name].words(made)).encode()


def bodies_a_second(name: str) -> float:
    """By this process's own time, so that other work on the machine does not count."""
    module, body, settings = protocol(name), body_of(name), platform(protocol=name)
    began = time.process_time()
    for _ in range(BODIES):
        module.read(settings, 200, {}, body, NOW)
    return BODIES / (time.process_time() - began)


def errors_a_second() -> float:
    """A rate limit in 4 KB."""
    body = json.dumps({"error": {"message": "Slow down. " * 350, "code": "rate_limit_exceeded"}}).encode()
    began = time.process_time()
    for _ in range(BODIES):
        read_error("openai", 429, {"retry-after": "3"}, body, NOW)
    return BODIES / (time.process_time() - began)


def import_ms(name: str) -> float:
    """Processor milliseconds that a worker's environment, its client loaded, takes to import a protocol; the median of new processes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "functions")}
    command = [sys.executable, "-c", PROGRAM, name]
    times = [
        float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
        for _ in range(PROCESSES)
    ]
    return 1000 * statistics.median(times)


def main() -> int:
    """Print a row a protocol."""
    print(f"{'protocol':<20}{'bodies/s':>10}{'import ms':>11}")
    for name in sorted(PROTOCOL_NAMES):
        print(f"{name:<20}{bodies_a_second(name):>10,.0f}{import_ms(name):>11.1f}")
    print(f"{'errors':<20}{errors_a_second():>10,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
