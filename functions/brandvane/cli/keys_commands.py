"""``brandvane keys``: put the platforms' API keys where their workers find them, and see which are missing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.key_store import KeyFacts
from brandvane.cli.lookup import current_catalogue, platform_named, platforms_known
from brandvane.cli.view import say, say_json, table

if TYPE_CHECKING:
    from brandvane.platforms.key_probe import KeyVerdict

KEY_MAX = 4096  # SSM's limit for a standard parameter


@click.group()
def keys() -> None:
    """Set the platforms' API keys, and see which are missing. No command ever shows one."""


@keys.command("set")
@click.argument("name", metavar="PLATFORM")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the key from standard input.")
@desk_options
def set_key(name: str, from_stdin: bool, desk: Desk) -> None:
    """Set a platform's key.

    It is asked for without showing it, or read from standard input; it is never an argument.
    """
    known = desk.run(platform_named(desk, name))
    value = _checked(_given(name, from_stdin=from_stdin, interactive=desk.interactive))
    facts = desk.run(desk.keys.put(name, value))
    say(f"{desk.keys.name_of(name)} is set (version {facts.version})")
    control = desk.run(desk.controls.read(name))
    if known.deployed is None:
        say(f"{name} has no worker in this stack yet")
    if control.paused is not None and control.paused.active(desk.clock.now()):
        say(f"{name} is paused ({control.paused.why}); to go on: brandvane platform resume {name}")


def _given(name: str, *, from_stdin: bool, interactive: bool) -> str:
    if from_stdin:
        try:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise CliError("the key is not plain text (no UTF-8): nothing was changed", 2) from None
    if not interactive:
        raise CliError("nobody is here to type the key: pipe it in and say --stdin", 2)
    answer: str = click.prompt(f"Key of {name}", hide_input=True, err=True)
    return answer


def _checked(given: str) -> str:
    """The key as it is used. Messages never carry any of it."""
    value = given.strip()
    if not value:
        raise CliError("the key is empty: nothing was changed", 2)
    if len(value) > KEY_MAX:
        raise CliError(f"the key is longer than {KEY_MAX:,} characters: nothing was changed", 2)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise CliError(
            "the key holds spaces, line ends or characters that no HTTP header can carry: nothing was changed", 2
        )
    return value


@keys.command()
@click.option("--ask", is_flag=True, help="Ask each platform whether it takes its key, where that costs nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def check(ask: bool, as_json: bool, desk: Desk) -> None:
    """Say which platforms of the monitor have a key. Exit code 1 when one is missing, or refused.

    Without --ask no platform is asked: a key that is there may still be a wrong one.
    """
    names, found = desk.run(_known(desk))
    missing = [name for name in names if name not in found]
    verdicts = desk.run(_asked(desk, [name for name in names if name in found])) if ask else {}
    refused = [name for name, told in verdicts.items() if told.verdict == "refused"]
    if as_json:
        rows = [_document(desk, name, found, verdicts) for name in names]
        say_json({"ok": not missing and not refused, "missing": missing, "refused": refused, "keys": rows})
    elif not names:
        say("the monitor has no platform that needs a key")
    else:
        heads = ("platform", "key", "set", "asked")[: 4 if ask else 3]
        say(*table(heads, [(*_row(name, found), *_said(name, verdicts))[: len(heads)] for name in names]))
    if missing:
        raise CliError(f"no key for {', '.join(missing)}: brandvane keys set {missing[0]}")
    if refused:
        raise CliError(f"refused: the key of {', '.join(refused)}: brandvane keys set {refused[0]}")


async def _asked(desk: Desk, names: list[str]) -> dict[str, KeyVerdict]:
    """What each platform says to its key; those whose settings are not known are not asked."""
    from brandvane.platforms.http_client import new_http
    from brandvane.platforms.key_probe import KeyVerdict, probe

    catalogue = await current_catalogue(desk)
    if catalogue is None:
        return {name: KeyVerdict("unknown", "push a catalogue first") for name in names}
    verdicts = {}
    async with new_http() as http:
        for name in names:
            settings = catalogue.monitor.platform(name)
            key = await desk.keys.value(name, settings.key_parameter)
            verdicts[name] = await probe(http, settings, (key or "").strip(), desk.clock.now())
    return verdicts


def _said(name: str, verdicts: Mapping[str, KeyVerdict]) -> tuple[str]:
    told = verdicts.get(name)
    return ("",) if told is None else (f"{told.verdict}: {told.why}" if told.why else told.verdict,)


async def _known(desk: Desk) -> tuple[list[str], dict[str, KeyFacts]]:
    """The current monitor's platforms that want a key (before the first push: those deployed), and the keys there are."""
    catalogue = await current_catalogue(desk)
    found = await desk.keys.known()
    if catalogue is None:
        return list(await platforms_known(desk)), found
    wanting = [platform for platform in catalogue.monitor.platforms if platform.key_header != "none"]
    for platform in wanting:
        if platform.key_parameter:
            found.pop(platform.name, None)  # what may lie in the usual place is not what its worker reads
            if await desk.keys.value(platform.name, platform.key_parameter):
                found[platform.name] = KeyFacts(platform.name, 1)
    return [platform.name for platform in wanting], found


def _row(name: str, found: dict[str, KeyFacts]) -> tuple[str, str, str]:
    facts = found.get(name)
    if facts is None:
        return name, "missing", ""
    return name, f"version {facts.version}", "" if facts.set_at is None else f"{facts.set_at:%Y-%m-%d %H:%M %Z}"


def _document(
    desk: Desk, name: str, found: dict[str, KeyFacts], verdicts: Mapping[str, KeyVerdict]
) -> dict[str, object]:
    facts, told = found.get(name), verdicts.get(name)
    return {
        "platform": name,
        "parameter": desk.keys.name_of(name),
        "set": facts is not None,
        "version": None if facts is None else facts.version,
        "set_at": None if facts is None or facts.set_at is None else facts.set_at.isoformat(),
        "asked": None if told is None else {"verdict": told.verdict, "why": told.why},
    }
