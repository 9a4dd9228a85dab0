"""``python -m tests.fuzz --number N --seed S``: read N broken bodies; prints what was found, exit code 1 when anything was."""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "functions"), str(ROOT / "tests")]

from fuzz.readers import harmless, read_one  # noqa: E402

FINDINGS_MAX = 20
PROGRESS = 50_000


def main() -> int:
    """Read, count, report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--number", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    started, findings = time.perf_counter(), 0
    for number in range(given.number):
        if number and number % PROGRESS == 0:
            print(f"{number:,} bodies in {time.perf_counter() - started:.0f} s, {findings} exceptions", flush=True)
        try:
            read_one(random.Random(f"{given.seed}/{number}"))
        except Exception:  # every exception is what is looked for
            findings += 1
            print(f"seed {given.seed}, number {number}")
            traceback.print_exc()
            if findings >= FINDINGS_MAX:
                break
    took = time.perf_counter() - started
    print(f"{given.number:,} bodies in {took:.0f} s, {findings} exceptions")
    rng = random.Random(given.seed)
    kept = [ok for _ in range(min(given.number, 2_000)) for ok, _ in harmless(rng)]
    print(f"{sum(kept):,} of {len(kept):,} error bodies kept their kind ({100 * sum(kept) / max(len(kept), 1):.1f} %)")
    return 1 if findings or sum(kept) < 0.95 * len(kept) else 0


if __name__ == "__main__":
    sys.exit(main())
