"""What will calls cost, roughly? Prices of the catalogue times tokens that are guessed from the texts' length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from brandvane.catalogue import Catalogue, Monitor, PlatformSettings, Selection, prompts
from brandvane.catalogue_files.platforms import LIMIT_PARAMETERS
from brandvane.expansion import Planned
from brandvane.platforms.registry import is_loopback
from brandvane.task import target_name

# DeepSeek's documentation ("Token & Token Usage"): about 0.3 tokens an English character, 0.6 a Chinese one.
NARROW_TOKENS = 0.3
WIDE_TOKENS = 0.6
WIDE_FROM = 0x2E80  # CJK radicals and everything after them
FRAME_TOKENS = 10  # roles and separators of a chat
# An answer that recommends and compares a few brands: some 600 English words.
ANSWER_TOKENS = 800
BASIS = f"estimate: list prices, prompts' length, {ANSWER_TOKENS} tokens an answer, no retries"


@dataclass(frozen=True, slots=True)
class Call:
    """One call to be reckoned with."""

    platform: str
    model: str
    text: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls and dollars by platform. ``unpriced`` are targets of real platforms that no price is known for."""

    calls: Mapping[str, int] = field(default_factory=dict)
    usd: Mapping[str, float] = field(default_factory=dict)
    real_calls: int = 0
    unpriced: tuple[str, ...] = ()
    targets: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # platform/model -> calls, dollars

    @property
    def total_usd(self) -> float:
        """Dollars, all platforms."""
        return sum(self.usd.values())

    def scaled(self, calls: Mapping[str, int]) -> Estimate:
        """The same for other numbers of calls of the same kind, platform by platform."""
        shares = {name: calls.get(name, 0) / number for name, number in self.calls.items() if number}
        real = self.real_calls / sum(self.calls.values()) if self.calls and sum(self.calls.values()) else 0.0
        usd = {name: self.usd.get(name, 0.0) * share for name, share in shares.items()}
        return Estimate(dict(calls), usd, round(real * sum(calls.values())), self.unpriced)


def tokens_of(text: str) -> float:
    """Tokens of a text, guessed."""
    wide = sum(1 for char in text if ord(char) >= WIDE_FROM)
    return wide * WIDE_TOKENS + (len(text) - wide) * NARROW_TOKENS


def call_usd(settings: PlatformSettings, model: str, text: str) -> float:
    """Dollars of one call: the prompt with its system prompt, and an answer no longer than the parameters allow."""
    price_input, price_output = settings.price_of(model)
    asked = FRAME_TOKENS + tokens_of(text) + tokens_of(str(settings.parameters.get("system") or ""))
    limits: list[int] = [
        settings.parameters[name] for name in LIMIT_PARAMETERS if isinstance(settings.parameters.get(name), int)
    ]
    answered = min(ANSWER_TOKENS, *limits) if limits else ANSWER_TOKENS
    searched = settings.price_search if settings.parameters.get("search") else 0.0  # at least once
    return (asked * price_input + answered * price_output) / 1e6 + searched


def estimate(calls: Iterable[Call], monitor: Monitor) -> Estimate:
    """What calls will cost. Platforms on this machine (stand-ins) cost what their prices say, but are not real ones.

    Raises:
        KeyError: a platform that the monitor does not have.
    """
    numbers: dict[str, int] = {}
    usd: dict[str, float] = {}
    known: dict[Call, float] = {}
    real = 0
    unpriced: dict[str, None] = {}
    targets: dict[str, tuple[int, float]] = {}
    for call in calls:
        settings = monitor.platform(call.platform)
        if call not in known:
            known[call] = call_usd(settings, call.model, call.text)
        numbers[call.platform] = numbers.get(call.platform, 0) + 1
        usd[call.platform] = usd.get(call.platform, 0.0) + known[call]
        target = target_name(call.platform, call.model)
        count, sum_usd = targets.get(target, (0, 0.0))
        targets[target] = count + 1, sum_usd + known[call]
        if is_real(settings):
            real += 1
            if settings.price_of(call.model) == (0.0, 0.0):
                unpriced[target] = None
    return Estimate(numbers, usd, real, tuple(unpriced), targets)


def is_real(settings: PlatformSettings) -> bool:
    """Does a call leave this machine?"""
    return not is_loopback(urlsplit(settings.base_url).hostname or "")


def planned_calls(planned: Iterable[Planned]) -> Iterable[Call]:
    """A run's tasks as calls."""
    return (Call(each.platform, each.model, each.prompt.text) for each in planned)


def texts_of(catalogue: Catalogue) -> dict[str, str]:
    """The text behind each prompt hash of a catalogue."""
    return {prompt.prompt_hash: prompt.text for prompt in prompts(catalogue, Selection())}
