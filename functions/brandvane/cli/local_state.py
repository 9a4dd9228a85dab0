"""What runs on this machine for a local stack? A small file that outlives the program which started it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

STATE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalState:
    """Process ids are those of process groups; ``standins`` is 0 where real platforms are asked."""

    home: Path
    stack: str
    port: int = 0
    emulator: int = 0
    standins: int = 0
    standins_url: str = ""
    platforms: tuple[str, ...] = ()
    bucket: str = ""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    protocols: Mapping[str, str] = field(default_factory=dict)
    v: int = STATE_VERSION

    @property
    def endpoint(self) -> str:
        """For ``AWS_ENDPOINT_URL``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def call_log(self) -> Path:
        """The stand-ins' log of calls."""
        return self.home / "calls.jsonl"


def write_state(path: Path, state: LocalState) -> None:
    """Written beside it and renamed: a program that is killed leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps({**asdict(state), "home": str(state.home)}, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def read_state(path: Path) -> LocalState | None:
    """The state in a file; None where there is none, or none that this release wrote."""
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        known = {f.name for f in fields(LocalState)}
        if not isinstance(told, dict) or told.get("v") != STATE_VERSION or set(told) != known:
            return None
        return LocalState(**{**told, "home": Path(told["home"]), "platforms": tuple(told["platforms"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_state(path: Path) -> None:
    """Nothing runs any more."""
    path.unlink(missing_ok=True)
