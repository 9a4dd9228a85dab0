"""How does a whole stack come up on this machine, and how is every trace of it put away again?

Emulator with role policies enforced, simulated platforms, the real template deployed, keys that open nothing, the catalogue
pushed. Whoever brings it up holds the state; what is in the state can be ended, whatever happened in between.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from brandvane.aws.client import Clients
from brandvane.aws.keys import key_parameter
from brandvane.cli import emulator
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import build, deploy, overrides, sam_program, this_machine
from brandvane.cli.local_process import end_ours, interruptible, is_running, uninterrupted
from brandvane.cli.local_standins import MODULE, Wish, bring_up
from brandvane.cli.local_state import LocalState, forget_state, read_state, write_state

if TYPE_CHECKING:
    from boto3.session import Session

LOCAL_STACK = "brandvane-local"
LOCAL_CALL_TIMEOUT_S = 8
DUMMY_KEY = "local-stand-in-key"
EMULATOR_PROGRAM = "ministack"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to bring up. ``home``: logs and temporary files; ``state``: the file that outlives this program.

    ``standins`` None asks real platforms, with their own ``keys``; ``port`` 0 takes a free one.
    """

    home: Path
    state: Path
    stack: str = LOCAL_STACK
    port: int = 0
    standins: Wish | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    auth: bool = True  # the emulator enforces role policies, which takes it a quarter of its time


def session_of(state: LocalState) -> Session:
    """The emulator's own root credentials, whatever this machine's AWS settings are."""
    import boto3

    told = emulator.environment_of(state.endpoint)
    return boto3.session.Session(
        aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
        region_name=emulator.REGION,
    )


def clients_of(state: LocalState) -> Clients:
    """Clients of the state's emulator."""
    return Clients(endpoint_url=state.endpoint, session=session_of(state))


def bring_all_up(wanted: Wanted, say: Say) -> LocalState:
    """Everything, in order; the state file says at every moment what must be ended.

    Raises:
        CliError: a step failed, and the message says which; what came up until then is in the state file.
    """
    machine = this_machine()
    sam_program()
    parameters = overrides(machine, _parameters(wanted))
    wanted.home.mkdir(parents=True, exist_ok=True)
    state = LocalState(home=wanted.home, stack=wanted.stack)
    say("Starting the emulator")
    state = _start_emulator(wanted, state)
    say("Building the functions (sam build)")
    template = build(wanted.home, machine, parameters)
    say("Deploying the stack (sam deploy)")
    aws = emulator.environment_of(state.endpoint)
    deploy(wanted.home, machine, parameters, template, wanted.stack, aws)
    state = replace(state, platforms=_put_keys(wanted, state), bucket=_bucket(state))
    if wanted.standins is not None:
        say("Starting the simulated platforms")
        state = _start_standins(wanted, wanted.standins, state)
    write_state(wanted.state, state)
    return state


def _parameters(wanted: Wanted) -> dict[str, str]:
    """Real platforms keep their own timeouts and sizes."""
    if wanted.standins is None:
        return {"StandIns": "false", **wanted.parameters}
    return {"CallTimeoutOverride": str(LOCAL_CALL_TIMEOUT_S), **wanted.parameters}


def _start_emulator(wanted: Wanted, state: LocalState) -> LocalState:
    try:
        started = emulator.start(home=wanted.home, port=wanted.port, auth=wanted.auth)
    except emulator.EmulatorError as error:
        raise CliError(str(error)) from None
    state = replace(state, port=started.port, emulator=started.pid)
    write_state(wanted.state, state)
    return state


def _start_standins(wanted: Wanted, wish: Wish, state: LocalState) -> LocalState:
    running = bring_up(wish, state.platforms, calls=state.call_log, home=wanted.home)
    state = replace(
        state, standins=running.pid, standins_url=running.url, base_urls=running.base_urls, protocols=running.protocols
    )
    write_state(wanted.state, state)
    return state


def _put_keys(wanted: Wanted, state: LocalState) -> tuple[str, ...]:
    """A key for every platform that has a worker; where no real one is given, one that opens nothing."""
    clients = clients_of(state)
    path = f"/{wanted.stack}/platforms/"
    pages = clients.ssm.get_paginator("get_parameters_by_path").paginate(Path=path.rstrip("/"))
    names = tuple(sorted(row["Name"].removeprefix(path) for page in pages for row in page["Parameters"]))
    if not names:
        raise CliError(f"the deployed stack has no platforms (nothing below {path}): see {wanted.home / 'deploy.log'}")
    for name in names:
        key = wanted.keys.get(name, "" if wanted.standins is None else DUMMY_KEY)
        if key:
            parameter = key_parameter(wanted.stack, name)
            clients.ssm.put_parameter(Name=parameter, Value=key, Type="SecureString", Overwrite=True)
    return names


def _bucket(state: LocalState) -> str:
    client = session_of(state).client("cloudformation", endpoint_url=state.endpoint)
    outputs = client.describe_stacks(StackName=state.stack)["Stacks"][0]["Outputs"]
    return str({row["OutputKey"]: row["OutputValue"] for row in outputs}["DataBucket"])


def take_down(path: Path) -> bool:
    """End what a state file names, wherever it stands, and forget it; False when there was nothing.

    Raises:
        CliError: a process does not end.
    """
    state = read_state(path)
    if state is None:
        return False
    found = False
    for pid, word in ((state.emulator, EMULATOR_PROGRAM), (state.standins, MODULE)):
        if pid:
            found = found or is_running(pid, word)
            if not end_ours(pid, word):
                raise CliError(f"process {pid} ({word}) does not end; end it by hand, then try again")
    shutil.rmtree(state.home / "tmp", ignore_errors=True)
    forget_state(path)
    return found


def stands(path: Path) -> LocalState | None:
    """The state of a stack whose emulator is running; None otherwise."""
    state = read_state(path)
    return state if state is not None and is_running(state.emulator, EMULATOR_PROGRAM) else None


@contextmanager
def local_stack(wanted: Wanted, say: Say) -> Iterator[LocalState]:
    """A stack for the time of a ``with``: put away at its end, also after Ctrl-C, SIGTERM or any failure."""
    take_down(wanted.state)  # what an earlier program left that was killed
    with interruptible():
        try:
            yield bring_all_up(wanted, say)
        finally:
            with uninterrupted():
                take_down(wanted.state)


def environment_for(state: LocalState) -> dict[str, str]:
    """The environment in which ``brandvane`` speaks to this stack."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BRANDVANE_STACK"))}
    return {**kept, **emulator.environment_of(state.endpoint), "BRANDVANE_STACK": state.stack}
