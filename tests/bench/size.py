"""How large is what is deployed, and how long does a worker take to import?"""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brandvane.cli.local_deploy import this_machine
from brandvane.cli.local_process import without_aws

from .ground import HOME, Ground

PROGRAM = "import time; began = time.perf_counter(); import worker; print(time.perf_counter() - began)"
TIMES = 7


def size(ground: Ground) -> dict[str, Any]:
    """The built worker, imported by the Python that functions run on, each time in a new process."""
    package = next(folder for folder in sorted((HOME / "sam").iterdir()) if folder.name.startswith("Worker"))
    files = [path for path in package.rglob("*") if path.is_file()]
    python = this_machine().python_folder / "python"
    compiled = {**without_aws(os.environ), "PYTHONPYCACHEPREFIX": str(HOME / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}
    times = [_import_s(python, package, compiled) for _ in range(TIMES + 1)][1:]  # the first one compiles
    plain = {**without_aws(os.environ), "PYTHONDONTWRITEBYTECODE": "1"}
    return {
        "stack": ground.state.stack,
        "package_mb": round(sum(path.stat().st_size for path in files) / 1e6, 1),
        "files": len(files),
        "import_ms": round(1000 * statistics.median(times)),
        "import_ms_uncompiled": round(
            1000 * statistics.median(_import_s(python, package, plain) for _ in range(TIMES))
        ),
    }


def _import_s(python: Path, package: Path, environment: Mapping[str, str]) -> float:
    command = [str(python), "-c", PROGRAM]
    told = subprocess.run(command, cwd=package, env=dict(environment), capture_output=True, text=True, check=True)
    return float(told.stdout)
