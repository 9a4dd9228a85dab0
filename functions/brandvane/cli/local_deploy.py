"""How does the real template get onto the emulator? ``sam build`` and ``sam deploy`` with samconfig's section ``local``.

Only what depends on the machine is overridden: the functions run on the emulator's own Python and on this processor.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brandvane.cli import emulator
from brandvane.cli.errors import CliError
from brandvane.cli.local_process import run, without_aws

ROOT = Path(__file__).resolve().parents[3]
SAM_VARIABLE = "BRANDVANE_SAM"  # another installation's program, instead of the one below .tools/
BUILD_TIMEOUT_S = 300.0
DEPLOY_TIMEOUT_S = 180.0
LEAST_PYTHON = (3, 11)
_ARCHITECTURES: Mapping[str, str] = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class Machine:
    """What functions run on here: the Lambda runtime of the emulator's Python, the folder it lies in, the processor."""

    runtime: str
    python_folder: Path
    architecture: str


def sam_program() -> Path:
    """SAM CLI.

    Raises:
        CliError: it is not installed.
    """
    stated = os.environ.get(SAM_VARIABLE)
    path = Path(stated) if stated else ROOT / ".tools" / "sam" / "bin" / "sam"
    if not path.is_file():
        raise CliError(f"SAM CLI is not installed: there is no {path}; {_remedy(stated)}")
    return path


def _remedy(stated: str | None) -> str:
    return f"correct {SAM_VARIABLE}" if stated else "run 'make demo'"


def this_machine() -> Machine:
    """What functions will run on.

    Raises:
        CliError: no emulator, its Python is too old or has no Lambda runtime, or an unknown processor.
    """
    try:
        folder = emulator.program().parent
    except emulator.EmulatorError as error:
        raise CliError(str(error)) from None
    python = folder / "python"
    shown = subprocess.run(  # noqa: S603 - the emulator's own Python
        [str(python), "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    if shown.returncode != 0:
        raise CliError(f"{python} does not run; remove {folder.parent} and run 'make demo'")
    major, minor = (int(part) for part in shown.stdout.split())
    return Machine(runtime_of(major, minor, runtimes()), folder, architecture_of(platform.machine()))


def runtime_of(major: int, minor: int, known: tuple[str, ...]) -> str:
    """The Lambda runtime of a Python version.

    Raises:
        CliError: too old, or the template knows no such runtime.
    """
    if (major, minor) < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        raise CliError(
            f"the emulator runs on Python {major}.{minor}, and functions need {least} or newer:"
            " remove .tools/ and run 'make demo' with a newer Python first in PATH"
        )
    runtime = f"python{major}.{minor}"
    if known and runtime not in known:
        raise CliError(
            f"the emulator runs on Python {major}.{minor}, for which the template knows no Lambda runtime"
            f" ({', '.join(known)}): remove .tools/ and run 'make demo' with one of these first in PATH"
        )
    return runtime


def architecture_of(machine: str) -> str:
    """The Lambda name of this processor.

    Raises:
        CliError: Lambda has none like it.
    """
    try:
        return _ARCHITECTURES[machine.lower()]
    except KeyError:
        raise CliError(f"processor {machine}: functions run on x86_64 and arm64 only") from None


def runtimes() -> tuple[str, ...]:
    """The runtimes that the template allows; none where they cannot be found (the deployment then says so itself)."""
    text = (ROOT / "template.yaml").read_text(encoding="utf-8") if (ROOT / "template.yaml").is_file() else ""
    parameter = re.search(r"^  PythonRuntime:\n((?:    .*\n)+)", text, re.MULTILINE)
    return tuple(re.findall(r"python3\.\d+(?=[,\]])", parameter.group(1))) if parameter else ()


def overrides(machine: Machine, extra: Mapping[str, str]) -> str:
    """Parameters for SAM: those of section ``local`` (the command line would replace them), the machine's, and ``extra``.

    Raises:
        CliError: this is no checkout of the project.
    """
    config = ROOT / "samconfig.toml"
    if not config.is_file() or not (ROOT / "template.yaml").is_file():
        raise CliError(
            f"there is no template.yaml and samconfig.toml in {ROOT}: run this from a checkout of the project"
        )
    told = tomllib.loads(config.read_text(encoding="utf-8"))
    stated = told.get("local", {}).get("deploy", {}).get("parameters", {}).get("parameter_overrides", "")
    pairs = dict(pair.split("=", 1) for pair in (stated if isinstance(stated, str) else " ".join(stated)).split())
    pairs |= {"PythonRuntime": machine.runtime, "Architecture": machine.architecture, **extra}
    return " ".join(f"{name}={value}" for name, value in pairs.items())


def build(home: Path, machine: Machine, parameters: str) -> Path:
    """Build all functions; the built template.

    Raises:
        CliError: no SAM CLI, or the build failed.
    """
    target = home / "sam"
    command = [*_sam("build"), "--build-dir", str(target), "--parameter-overrides", parameters]
    environment = _environment(machine, {})
    with _one_build_at_a_time():
        run(command, what="sam build", log=home / "build.log", env=environment, cwd=ROOT, timeout_s=BUILD_TIMEOUT_S)
    return target / "template.yaml"


@contextmanager
def _one_build_at_a_time() -> Iterator[None]:
    """All builds of a checkout share SAM's cache, and each removes from it what it did not make itself."""
    folder = ROOT / ".aws-sam"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed, also when this program dies
        yield


def deploy(home: Path, machine: Machine, parameters: str, template: Path, stack: str, aws: Mapping[str, str]) -> None:
    """Deploy what was built to where ``aws`` (environment variables) points.

    Raises:
        CliError: the deployment failed.
    """
    command = [*_sam("deploy"), "--template-file", str(template), "--stack-name", stack, "--no-progressbar"]
    command += ["--parameter-overrides", parameters]
    environment = _environment(machine, aws)
    run(command, what="sam deploy", log=home / "deploy.log", env=environment, cwd=ROOT, timeout_s=DEPLOY_TIMEOUT_S)


def _sam(command: str) -> tuple[str, ...]:
    # SAM looks for its configuration beside the template, which is not where a built one lies.
    return str(sam_program()), command, "--config-file", str(ROOT / "samconfig.toml"), "--config-env", "local"


def _environment(machine: Machine, aws: Mapping[str, str]) -> dict[str, str]:
    """SAM looks for the runtime's Python in PATH: the emulator's comes first."""
    path = os.pathsep.join((str(machine.python_folder), os.environ.get("PATH", "")))
    return {**without_aws(os.environ), **aws, "PATH": path, "SAM_CLI_TELEMETRY": "0"}
