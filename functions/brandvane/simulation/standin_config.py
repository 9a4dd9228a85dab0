"""What was asked for on the command line or in the configuration file: which platforms, which seed, which answers?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brandvane.simulation.standin_answers import DEFAULT_BRANDS
from brandvane.simulation.standin_behaviour import Behaviour, StandinFault, changed

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_FILE_FIELDS = ("platforms", "seed", "brands", "models")


@dataclass(frozen=True, slots=True, kw_only=True)
class StandinConfig:
    """Everything a stand-in server is made of. ``models``: which recorded model a platform stands for, where wished."""

    platforms: Mapping[str, Behaviour]
    seed: int = 0
    brands: tuple[str, ...] = DEFAULT_BRANDS
    answers: Path | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None


def configured(
    file: Path | None,
    platforms: Iterable[str],
    models: Iterable[str],
    *,
    seed: int | None = None,
    answers: Path | None = None,
    log: Path | None = None,
) -> StandinConfig:
    """The configuration file, with the command line's options on top of it.

    Raises:
        StandinFault: something is wrong in either.
    """
    document: dict[str, Any] = {} if file is None else _read(file)
    behaviours = {name: _behaviour(name, values, str(file)) for name, values in document.get("platforms", {}).items()}
    seen: set[str] = set()
    for option in platforms:
        name, values = parse_platform(option)
        if name in seen:
            raise StandinFault(f"--platform {option}: {name!r} is given twice")
        seen.add(name)
        behaviours[name] = changed(behaviours.get(name, Behaviour()), values, f"--platform {name}")
    if not behaviours:
        raise StandinFault(
            "no platform: name at least one with --platform NAME[:rate=10,in_flight=50,…] or --config FILE"
        )
    return StandinConfig(
        platforms=behaviours,
        seed=seed if seed is not None else document.get("seed", 0),
        brands=tuple(document.get("brands", DEFAULT_BRANDS)),
        answers=answers,
        models={**document.get("models", {}), **dict(_pair(option) for option in models)},
        log=log,
    )


def parse_platform(option: str) -> tuple[str, dict[str, str]]:
    """``NAME[:field=value,…]`` as name and values.

    Raises:
        StandinFault: no such form.
    """
    name, _, rest = option.partition(":")
    _check_name(name, f"--platform {option}")
    values: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise StandinFault(f"--platform {option}: {part!r} is not of the form field=value")
        values[key.strip()] = value.strip()
    return name, values


def _pair(option: str) -> tuple[str, str]:
    platform, equals, model = option.partition("=")
    if not (platform and equals and model):
        raise StandinFault(f"--model-of {option}: not of the form platform=model")
    return platform, model


def _check_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise StandinFault(f"{where}: {name!r} is no platform name; use lower-case letters, digits and hyphens")


def _behaviour(name: str, values: object, file: str) -> Behaviour:
    where = f"{file}, platforms.{name}"
    _check_name(name, where)
    if not isinstance(values, dict):
        raise StandinFault(f"{where}: must be an object of fields, not {values!r}")
    return changed(Behaviour(), values, where)


def _read(file: Path) -> dict[str, Any]:
    try:
        document: Any = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StandinFault(f"{file}: cannot be read ({error.strerror}); check --config") from None
    except (ValueError, RecursionError) as error:
        raise StandinFault(f"{file}: not valid JSON in UTF-8 ({error})") from None
    if not isinstance(document, dict):
        raise StandinFault(f"{file}: must be a JSON object with {', '.join(_FILE_FIELDS)}")
    for key in document:
        if key not in _FILE_FIELDS:
            raise StandinFault(f"{file}: unknown field {key!r}; known are {', '.join(_FILE_FIELDS)}")
    _expect(isinstance(document.get("platforms", {}), dict), file, "platforms", "an object of platforms")
    seed = document.get("seed", 0)
    _expect(isinstance(seed, int) and not isinstance(seed, bool), file, "seed", "a whole number")
    _expect(_texts(document.get("brands", [])), file, "brands", "a list of names")
    models = document.get("models", {})
    _expect(
        isinstance(models, dict) and _texts(list(models.values())), file, "models", "an object of platform and model"
    )
    return document


def _texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) and value for value in values)


def _expect(fits: bool, file: Path, name: str, what: str) -> None:
    if not fits:
        raise StandinFault(f"{file}: field {name!r} must be {what}")
