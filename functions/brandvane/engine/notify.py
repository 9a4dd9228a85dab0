"""How does an alarm reach people's chats? Composed once, posted to each; what fails is told to whoever called, to come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brandvane.notices.alarm import read
from brandvane.notices.notice import Notice, compose, raw
from brandvane.notices.webhooks import FORMS, BadHook, parse_hook, refusal
from brandvane.notices.words import Language
from brandvane.ports import Clock, Telemetry, Unavailable

REMEMBERED = 200  # deliveries; a message that comes again skips the chats that have it


class NotDelivered(Exception):
    """At least one chat has not got a message."""


class StoredHooks(Protocol):
    """Where webhooks are kept."""

    async def read(self, name: str) -> str | None:
        """What is stored under a name; None when nothing is."""
        ...


class Courier(Protocol):
    """Sends one request."""

    async def post(self, url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        """Status and the beginning of the response's body.

        Raises:
            Unavailable: no response; the text names no address.
        """
        ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """One message of a topic."""

    message_id: str
    topic: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """How people want to be told. ``hooks``: chat -> name of what is stored."""

    stack: str
    hooks: Mapping[str, str]
    language: Language
    runbook: str
    time_zone: str


class Notifier:
    """One an execution environment, so that it remembers what has been delivered."""

    def __init__(
        self, *, wishes: Wishes, hooks: StoredHooks, courier: Courier, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._wishes = wishes
        self._hooks = hooks
        self._courier = courier
        self._clock = clock
        self._telemetry = telemetry
        self._delivered: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def handle(self, messages: Sequence[Arrived]) -> int:
        """Deliver each message to each chat; how many deliveries were made.

        Raises:
            NotDelivered: some were not. All others have been tried; the same messages again deliver only what is missing.
        """
        made, missing = 0, []
        for message in messages:
            notice = self._compose(message)
            for chat in self._wishes.hooks:
                if (message.message_id, chat) in self._delivered:
                    continue
                why = await self._deliver(chat, notice)
                if why is None:
                    made += 1
                    self._remember(message.message_id, chat)
                else:
                    missing.append(f"{chat}: {why}")
                    self._telemetry.event("notice_not_delivered", chat=chat, why=why, title=notice.title)
        if missing:
            raise NotDelivered("; ".join(missing))
        return made

    def _compose(self, message: Arrived) -> Notice:
        wishes = self._wishes
        try:
            change = read(message.message, message.subject, message.topic, wishes.stack)
            self._telemetry.event(
                "alarm", alarm=change.alarm or change.name, state=change.state, platform=change.platform or None
            )
            return compose(
                change,
                stack=wishes.stack,
                language=wishes.language,
                runbook=wishes.runbook,
                time_zone=wishes.time_zone,
            )
        except (
            Exception
        ) as error:  # what cannot be told well must still reach people, and not keep other messages from them
            self._telemetry.event("notice_not_composed", error=type(error).__name__)
            return raw(
                message.message,
                message.subject,
                stack=wishes.stack,
                language=wishes.language,
                runbook=wishes.runbook,
            )

    async def _deliver(self, chat: str, notice: Notice) -> str | None:
        """None: delivered; else why not, without anything secret."""
        name = self._wishes.hooks[chat]
        try:
            stored = await self._hooks.read(name)
            if stored is None:
                return f"there is no SSM parameter {name}"
            post = FORMS[chat](notice, parse_hook(stored), self._clock.now())
            return refusal(chat, *await self._courier.post(post.url, post.body))
        except BadHook as bad:
            return f"SSM parameter {name}: {bad}"
        except Unavailable as error:
            return str(error)
        except (
            Exception
        ) as error:  # one chat must not keep the others from it; only the kind is told, texts may hold secrets
            return type(error).__name__

    def _remember(self, message_id: str, chat: str) -> None:
        self._delivered[message_id, chat] = None
        while len(self._delivered) > REMEMBERED:
            self._delivered.popitem(last=False)
