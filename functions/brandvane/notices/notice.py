"""What do people read? An alarm's change as a title, lines, commands and a link, without any chat's markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from brandvane.notices.alarm import AlarmChange, one_line
from brandvane.notices.words import WORDS, Language, Text, Words

USUAL_STACK = "brandvane"  # the default of --stack

SINCE = Text("Since", "开始时间")
PLATFORM = Text("Platform", "平台")
MEANING = Text("Meaning", "含义")
PART = Text("Part", "触发项")
REASON = Text("Reason", "原因")
TYPE = Text("Type", "请执行")
RUNBOOK = Text("Runbook", "处理手册")
STACK = Text("Stack", "环境")
BACK = Text("is over", "已恢复")
NO_DATA = Text("has no data", "没有数据")
COLON = Text(": ", "：")
UNKNOWN = Text("Alarm", "告警")


@dataclass(frozen=True, slots=True)
class Notice:
    """A message. ``lines`` and ``title`` may hold somebody else's text; ``commands`` and ``link`` never do."""

    title: str
    lines: tuple[str, ...]
    commands_label: str
    commands: tuple[str, ...]
    link_label: str
    link: str
    language: Language


def compose(change: AlarmChange, *, stack: str, language: Language, runbook: str, time_zone: str) -> Notice:
    """The message of a change. One that is over says so and asks nobody to type anything."""
    words = WORDS.get(change.alarm)
    name = words.title.get(language) if words else f"{UNKNOWN.get(language)} {change.name}"
    over = {"OK": BACK, "INSUFFICIENT_DATA": NO_DATA}.get(change.state)
    parts = [
        "✅" if change.state == "OK" else "",
        f"[{change.severity}]" if change.severity else "",
        name,
        over.get(language) if over else "",
        f"· {change.platform}" if change.platform else "",
    ]
    title = " ".join(part for part in parts if part)

    def line(label: Text, text: str) -> str:
        return f"{label.get(language)}{COLON.get(language)}{text}"

    lines = [line(STACK, stack)]
    if change.platform:
        lines.append(line(PLATFORM, change.platform))
    if change.since is not None:
        lines.append(line(SINCE, change.since.astimezone(_zone(time_zone)).strftime("%Y-%m-%d %H:%M:%S %Z")))
    told = [WORDS[part] for part in change.parts] if over is None else []
    if told:
        lines += [
            line(PART, f"{part.title.get(language)}{COLON.get(language)}{part.meaning.get(language)}") for part in told
        ]
    elif words and over is None:
        lines.append(line(MEANING, words.meaning.get(language)))
    if change.detail:
        lines.append(line(REASON, change.detail))
    typed = told or ([words] if words and over is None else [])
    commands = _commands(typed, change.platform, stack)
    link = f"{runbook}#{change.alarm}" if change.alarm else runbook
    return Notice(title, tuple(lines), TYPE.get(language), commands, RUNBOOK.get(language), link, language)


def raw(message: str, subject: str, *, stack: str, language: Language, runbook: str) -> Notice:
    """The message of what could not be composed: its own text."""
    lines = (f"{STACK.get(language)}{COLON.get(language)}{stack}", one_line(message))
    title = f"{UNKNOWN.get(language)} {one_line(subject) or '?'}"
    return Notice(title, lines, TYPE.get(language), (), RUNBOOK.get(language), runbook, language)


def _zone(name: str) -> tzinfo:
    """UTC for a name that is no zone: a typing error in a parameter must not keep messages from people."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def _commands(typed: Sequence[Words], platform: str, stack: str) -> tuple[str, ...]:
    """Each once, whoever asks for it."""
    suffix = "" if stack == USUAL_STACK else f" --stack {stack}"
    commands = dict.fromkeys(command for words in typed for command in words.commands)
    return tuple(command.format(platform=platform or "PLATFORM") + suffix for command in commands)
