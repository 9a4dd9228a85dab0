"""Which use case is made of which ports? One function each, importing only what that Lambda function needs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from brandvane.aws.environment import Environment

if TYPE_CHECKING:
    from brandvane.engine.advance import Advance
    from brandvane.engine.dispatch import Dispatcher
    from brandvane.engine.execute import Worker
    from brandvane.engine.gauges import Gauges
    from brandvane.engine.notify import Notifier
    from brandvane.engine.plan import Planner
    from brandvane.engine.sweep import Scanner
    from brandvane.engine.take_in import TakeIn


def planner(env: Environment) -> Planner:
    """Plans runs."""
    from brandvane.engine.plan import Planner

    return Planner(
        tasks=env.tasks,
        runs=env.runs,
        controls=env.controls,
        catalogues=env.catalogues,
        queue=env.queue,
        functions=env.functions,
        deployment=env.deployment,
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
    )


def dispatcher(env: Environment) -> Dispatcher:
    """Puts due tasks on their queues."""
    from brandvane.engine.dispatch import Dispatcher

    return Dispatcher(
        tasks=env.tasks,
        runs=env.runs,
        reader=env.run_reader,
        controls=env.controls,
        stats=env.stats,
        catalogues=env.catalogues,
        queue=env.queue,
        sender=env.sender,
        functions=env.functions,
        deployment=env.deployment,
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
    )


def worker(env: Environment) -> Worker:
    """Executes the calls of the environment's platform."""
    from brandvane.aws.secrets import SsmSecrets
    from brandvane.engine.deliver import Delivery
    from brandvane.engine.execute import Worker
    from brandvane.engine.lead import Lead
    from brandvane.engine.pinned import PromptReader
    from brandvane.engine.safety import Safety
    from brandvane.platforms.http_client import HttpPlatformClient, new_http

    secrets = SsmSecrets(clients=env.clients, stack=env.settings.stack)
    safety = Safety(
        tasks=env.tasks,
        blobs=env.blobs,
        queue=env.queue,
        write_back=env.write_back,
        clock=env.clock,
        telemetry=env.telemetry,
    )
    delivery = Delivery(
        tasks=env.tasks,
        safety=safety,
        limiter=env.limiter,
        runs=env.run_reader,
        sender=env.sender,
        write_back=env.write_back,
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
    )
    return Worker(
        platform=env.settings.platform,
        call_timeout_s=env.settings.call_timeout_s,
        tasks=env.tasks,
        queue=env.queue,
        controls=env.controls,
        stats=env.stats,
        runs=env.run_reader,
        prompts=PromptReader(catalogues=env.catalogues),
        limiter=env.limiter,
        sender=env.sender,
        delivery=delivery,
        client=HttpPlatformClient(http=new_http(), secrets=secrets, clock=env.clock),
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
        lead=Lead(),
    )


def take_in(env: Environment) -> TakeIn:
    """Takes in write-back messages."""
    from brandvane.engine.take_in import TakeIn

    return TakeIn(write_back=env.write_back, queue=env.queue, telemetry=env.telemetry)


def advance(env: Environment) -> Advance:
    """Moves runs along."""
    from brandvane.engine.advance import Advance

    return Advance(
        runs=env.runs,
        results=env.results,
        stats=env.stats,
        limiter=env.limiter,
        functions=env.functions,
        clock=env.clock,
        telemetry=env.telemetry,
    )


def gauges(env: Environment) -> Gauges:
    """Publishes."""
    from brandvane.engine.gauges import Gauges

    return Gauges(
        tasks=env.tasks,
        runs=env.runs,
        controls=env.controls,
        stats=env.stats,
        catalogues=env.catalogues,
        queue=env.queue,
        clock=env.clock,
        telemetry=env.telemetry,
    )


def scanner(env: Environment) -> Scanner:
    """Sweeps."""
    from brandvane.engine.rescue import Rescuer
    from brandvane.engine.sweep import Scanner

    rescuer = Rescuer(
        tasks=env.tasks,
        queue=env.queue,
        runs=env.run_reader,
        write_back=env.write_back,
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
    )
    return Scanner(
        tasks=env.tasks,
        runs=env.runs,
        controls=env.controls,
        rescuer=rescuer,
        advance=advance(env),
        gauges=gauges(env),
        limiter=env.limiter,
        deployment=env.deployment,
        clock=env.clock,
        chance=env.chance,
        telemetry=env.telemetry,
    )


def notifier(env: Environment) -> Notifier:
    """Tells people what alarms say."""
    from brandvane.aws.secrets import SsmParameters
    from brandvane.engine.notify import Notifier, Wishes
    from brandvane.notices.courier import HttpCourier
    from brandvane.notices.webhooks import FORMS

    named = {chat: os.environ.get(f"{chat.upper()}_WEBHOOK", "") for chat in FORMS}
    return Notifier(
        wishes=Wishes(
            stack=env.settings.stack,
            hooks={chat: name for chat, name in named.items() if name},
            language="zh" if os.environ.get("NOTICE_LANGUAGE") == "zh" else "en",
            runbook=os.environ.get("RUNBOOK_URL", "docs/runbook.md"),
            time_zone=os.environ.get("NOTICE_TIME_ZONE", "UTC"),
        ),
        hooks=SsmParameters(clients=env.clients),
        courier=HttpCourier(),
        clock=env.clock,
        telemetry=env.telemetry,
    )
