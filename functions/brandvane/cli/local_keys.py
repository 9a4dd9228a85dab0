"""Which keys of real platforms does ``.env`` hold? Read for ``local up --real`` and by nothing else.

Lines ``BRANDVANE_KEY_{PLATFORM}=value``, the platform in capitals and with ``_`` for ``-``; other lines are somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from brandvane.cli.errors import CliError

PREFIX = "BRANDVANE_KEY_"


def variable_of(platform: str) -> str:
    """The variable that holds a platform's key."""
    return PREFIX + platform.upper().replace("-", "_")


def parse(text: str) -> dict[str, str]:
    """Variables of an ``.env`` file that are set to something; ``export`` and quotes around a value are allowed."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or name.startswith("#"):
            continue
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if value:
            found[name] = value
    return found


def keys_from(path: Path, platforms: Iterable[str]) -> dict[str, str]:
    """The key of each platform.

    Raises:
        CliError: the file cannot be read, or a key is missing or holds what no HTTP header can carry; no message shows one.
    """
    wanted = {name: variable_of(name) for name in platforms}
    try:
        told = parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        first = next(iter(wanted.values()), f"{PREFIX}OPENAI")
        raise CliError(
            f"{path}: cannot be read ({reason}); write a line {first}=… there for each platform", 2
        ) from None
    missing = [variable for variable in wanted.values() if variable not in told]
    if missing:
        raise CliError(f"{path}: no {', no '.join(missing)}; add it, or name the platforms to ask with --platform", 2)
    for variable in wanted.values():
        value = told[variable]
        if not value.isascii() or not value.isprintable() or " " in value:
            raise CliError(f"{path}: {variable} holds characters that no HTTP header can carry", 2)
    return {name: told[variable] for name, variable in wanted.items()}
