"""``brandvane platform``: how fast is each platform asked, what holds it up, and who changes that?"""

from __future__ import annotations

import getpass
import math
from typing import Any

import click

from brandvane import breaker
from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.lookup import (
    KnownPlatform,
    instant_given,
    platform_named,
    platforms_known,
    time_zone_of,
)
from brandvane.cli.platform_view import PlatformFacts, breaker_text, facts_document, facts_lines, pause_text
from brandvane.cli.view import say, say_json
from brandvane.cli.waiting import Waiting, waiting_for
from brandvane.cli.when import FORMS, local, span
from brandvane.control import Act, Control, Pause
from brandvane.engine.rehearse import near
from brandvane.pacing import LIMITER_SHARE
from brandvane.schedule import budget_day
from brandvane.task import target_name

RATE_MAX = 1000.0  # as in a monitor file
DEFAULT = "default"
WHY = "by hand"

_REASON = click.option(
    "--reason", "--why", "why", default=WHY, show_default=True, metavar="TEXT", help="What others read who wonder."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.group()
def platform() -> None:
    """Show, pause, resume and slow down platforms."""


@platform.command("list")
@_JSON
@desk_options
def list_platforms(as_json: bool, desk: Desk) -> None:
    """Show every platform's limits and pauses.

    Rate, calls in flight and budgets with the file each comes from, pauses, and what today has cost.
    """
    facts = desk.run(_facts(desk))
    if as_json:
        say_json([facts_document(each) for each in facts])
    elif not facts:
        say("no platform is deployed and no catalogue has been pushed")
    else:
        say(*facts_lines(facts))


async def _facts(desk: Desk) -> list[PlatformFacts]:
    now = desk.clock.now()
    zone = await time_zone_of(desk)
    day = budget_day(now, zone)
    return [
        PlatformFacts(known, await desk.controls.read(name), day.date, zone, now)
        for name, known in (await platforms_known(desk)).items()
    ]


@platform.command(help=f"Pause a platform, or one model of it. --until takes {FORMS}.")
@click.argument("name", metavar="PLATFORM")
@click.option("--target", metavar="MODEL", help="Only this model; the platform's others go on.")
@_REASON
@click.option("--until", metavar="WHEN", help="When it ends by itself [default: when a person resumes].")
@consent_options
@_JSON
@desk_options
def pause(
    name: str, target: str | None, why: str, until: str | None, consent: Consent, as_json: bool, desk: Desk
) -> None:
    """Pause a platform or a target of it."""
    known = desk.run(platform_named(desk, name))
    now, zone = desk.clock.now(), desk.run(time_zone_of(desk))
    whole = None if target is None else _target(known, target)
    ends = None if until is None else instant_given(until, "--until", now, zone)
    wanted = Pause(why.strip() or WHY, _who(), now, ends)
    tasks = desk.run(waiting_for(desk, name, whole))
    order = f"pause {whole or name} {'until somebody resumes it' if ends is None else f'until {local(ends, zone)}'}"
    details = f"{tasks.text} wait for it and will not be asked meanwhile; their calls would cost {tasks.price}."
    if not consent.given(order, details, interactive=desk.interactive, quiet=as_json):
        _tell_untouched(desk, known, tasks, as_json)
        return
    desk.run(desk.limiter.pause(name, wanted, whole))
    control = desk.run(desk.controls.read(name))
    held = control.paused if whole is None else control.targets.get(whole)
    if as_json:
        say_json({**_document(desk, known), "waiting": tasks.document()})
    elif held is not None and held != wanted:
        say(f"{whole or name} is paused already, and not for a shorter time: {pause_text(held, zone)}")
    else:
        say(
            f"{whole or name}: {pause_text(wanted, zone)}",
            f"its tasks stay where they are; calls under way are let finish. brandvane platform resume {name}",
        )


@platform.command()
@click.argument("name", metavar="PLATFORM")
@_REASON
@consent_options
@_JSON
@desk_options
def resume(name: str, why: str, consent: Consent, as_json: bool, desk: Desk) -> None:
    """Lift every pause of a platform and of its models, whoever made it, and close its breaker."""
    known = desk.run(platform_named(desk, name))
    now, zone = desk.clock.now(), desk.run(time_zone_of(desk))
    held = _held(desk.run(desk.controls.read(name)), now, zone)
    if not held:
        if as_json:
            say_json({**_document(desk, known), "dry_run": consent.dry_run})
        else:
            say(f"{name} is not paused; nothing was changed")
        return
    tasks = desk.run(waiting_for(desk, name))
    was = "; ".join(f"{subject} is {each}" for subject, each in held.items())
    details = f"{was}. {tasks.text} wait and will be asked; their calls will cost {tasks.price}."
    if not consent.given(f"resume {name}", details, interactive=desk.interactive, quiet=as_json):
        _tell_untouched(desk, known, tasks, as_json)
        return
    desk.run(desk.limiter.resume(name, Act("resumed", _who(), why.strip() or WHY, now)))
    if as_json:
        say_json({**_document(desk, known), "waiting": tasks.document()})
        return
    for subject, each in held.items():
        say(f"{subject} is resumed (it was {each})")


@platform.command()
@click.argument("name", metavar="PLATFORM")
@click.argument("rate", metavar="RATE|default")
@_REASON
@consent_options
@_JSON
@desk_options
def rate(name: str, rate: str, why: str, consent: Consent, as_json: bool, desk: Desk) -> None:
    """Set the calls a second that a platform allows.

    It holds from now on; default goes back to the monitor's. A rate that was lowered because the platform refused calls is
    forgotten.
    """
    known = desk.run(platform_named(desk, name))
    wanted = None if rate == DEFAULT else _rate(rate)
    stated = known.settings.rate if known.settings is not None else None
    tasks = desk.run(waiting_for(desk, name))
    per_second = stated if wanted is None else wanted
    order = f"ask {name} at {'its configured rate' if per_second is None else f'{per_second:g} calls/s'}"
    details = f"{tasks.text} wait for it{_lasting(tasks, per_second)}; it changes nothing of their cost, {tasks.price}."
    if not consent.given(order, details, interactive=desk.interactive, quiet=as_json):
        _tell_untouched(desk, known, tasks, as_json)
        return
    what = "back to the configured rate" if wanted is None else f"rate set to {wanted:g} calls/s"
    desk.run(desk.limiter.set_rate(name, wanted, Act(what, _who(), why.strip() or WHY, desk.clock.now())))
    if as_json:
        say_json({**_document(desk, known), "waiting": tasks.document()})
    elif wanted is None:
        say(f"{name}: back to the configured rate" + ("" if stated is None else f", {stated:g} calls/s"))
    else:
        say(f"{name}: {wanted:g} calls/s" + ("" if stated is None else f" in place of the configured {stated:g}"))
        say("plans that are written keep their instants; a new plan reckons with it")


def _lasting(tasks: Waiting, per_second: float | None) -> str:
    """How long the rate takes for those that wait, if all were due now."""
    if per_second is None or not tasks.tasks:
        return ""
    return f", {'at least ' * tasks.capped}{span(tasks.tasks / (per_second * LIMITER_SHARE))} of calls at that rate"


def _tell_untouched(desk: Desk, known: KnownPlatform, tasks: Waiting, as_json: bool) -> None:
    if as_json:
        say_json({**_document(desk, known), "waiting": tasks.document(), "dry_run": True})


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= RATE_MAX:
        raise CliError(
            f"RATE: '{text}' is no rate: write calls a second, above 0 and up to {RATE_MAX:g}, or {DEFAULT}", 2
        )
    return value


def _target(known: KnownPlatform, given: str) -> str:
    """``platform/model`` of a model, or of a target as it is written elsewhere."""
    model = given.removeprefix(f"{known.name}/")
    models = known.settings.models if known.settings is not None else ()
    if model not in models:
        raise CliError(f"--target: {known.name} is not asked for model '{model}'; {near(model, models)}", 2)
    return target_name(known.name, model)


def _held(control: Control, now: float, zone: str) -> dict[str, str]:
    """What holds calls up, by platform or target, for people."""
    pauses = {**({} if control.paused is None else {control.platform: control.paused}), **control.targets}
    held = {subject: pause_text(each, zone) for subject, each in pauses.items() if each.active(now)}
    if breaker.is_open(control):
        told = f"held back: {breaker_text(control, now, zone)}"
        held[control.platform] = f"{held[control.platform]}; {told}" if control.platform in held else told
    return held


def _document(desk: Desk, known: KnownPlatform) -> dict[str, Any]:
    return next(facts_document(each) for each in desk.run(_facts(desk)) if each.known.name == known.name)


def _who() -> str:
    """Told apart from the machine's own pauses by its first word."""
    try:
        return f"operator {getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name
        return "operator"
