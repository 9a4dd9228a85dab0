"""Can this machine do what the product's own tests and demo need? Python, packages, programs, ports."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from brandvane.cli import emulator
from brandvane.cli.checks import Check, Looks, fail, ok, warn
from brandvane.cli.errors import CliError
from brandvane.cli.local_commands import DEFAULT_PORT, STATE
from brandvane.cli.local_deploy import LEAST_PYTHON, sam_program
from brandvane.cli.local_stack import stands

PACKAGES = ("boto3", "click", "rich", "yaml", "httpx", "jinja2", "aws_lambda_powertools")
REACHES = ("AWS_ENDPOINT_URL", "AWS_PROFILE", "BRANDVANE_STACK")


def looks() -> Looks:
    """All checks in their order."""
    return (
        ("python", _python),
        ("packages", _packages),
        ("sam", _sam),
        ("emulator", _emulator),
        ("port", _port),
        ("environment", _environment),
    )


def _python() -> Iterator[Check]:
    said = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    least = ".".join(map(str, LEAST_PYTHON))
    if sys.version_info >= LEAST_PYTHON:
        yield ok("python", said)
    else:
        yield fail("python", f"{said} is too old", f"use Python {least} or newer: make PYTHON=/path/to/python{least}")


def _packages() -> Iterator[Check]:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        yield fail("packages", f"not installed: {', '.join(missing)}", "pip install 'brandvane[cli]', or make tools")
    else:
        yield ok("packages", "everything that the command line needs is installed")


def _sam() -> Iterator[Check]:
    try:
        yield ok("sam", f"SAM CLI at {sam_program()}")
    except CliError as error:
        yield warn("sam", error.message.partition(";")[0], "make tools, or name another program in BRANDVANE_SAM")


def _emulator() -> Iterator[Check]:
    try:
        yield ok("emulator", f"at {emulator.program()}")
    except emulator.EmulatorError as error:
        yield warn("emulator", str(error), "make tools (needed for demo and tests, not for a stack on AWS)")


def _port() -> Iterator[Check]:
    running = stands(STATE)
    if running is not None:
        yield ok("port", f"a local stack is running on port {running.port}")
    elif emulator.is_free(DEFAULT_PORT):
        yield ok("port", f"{DEFAULT_PORT} is free for a local stack")
    else:
        yield warn("port", f"{DEFAULT_PORT} is taken by another program", "brandvane local up --port N")


def _environment() -> Iterator[Check]:
    """Where commands go that name nothing."""
    told = [f"{name}={os.environ[name]}" for name in REACHES if os.environ.get(name)]
    yield ok("environment", f"commands follow {', '.join(told)}" if told else "commands go to AWS's default profile")
