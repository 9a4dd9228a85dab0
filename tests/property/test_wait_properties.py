"""What must hold of every wait that a platform tells, however it spells it, and of what the policy makes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from brandvane.platforms.errors import classify
from brandvane.platforms.retry_after import body_wait, read_wait, retry_after
from brandvane.policy import RETRY_AFTER_MAX_S, Again, Counts, End, ErrorKind, decide
from brandvane.task import Outcome
from builders import NOW

YEAR_S = 366 * 86_400.0
DAY_S = 86_400.0
# What each unit is worth, by Go's documentation (time.ParseDuration).
GO_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
ROUNDING_S = 2e-6  # of instants: a double holds seconds since 1970 to a quarter of a microsecond

Waits = st.floats(0, 30 * DAY_S).map(lambda seconds: round(seconds, 3))
Instants = st.floats(1.5e9, 2.5e9).map(lambda seconds: round(seconds, 3))
Offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def plain(number: float) -> str:
    """A decimal without an exponent, as platforms write it."""
    return f"{number:.9f}".rstrip("0").rstrip(".") or "0"


def near(found: float | None, wanted: float, within: float = ROUNDING_S) -> bool:
    """Is the wait the one that was meant?"""
    return found is not None and abs(found - wanted) <= within


def at(instant: float, zone: timezone = UTC) -> datetime:
    """An instant on the clock of a zone, free of a float's last digits."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=round(instant * 1000))).astimezone(zone)


# Each spelling: how an instant in so many seconds is written at ``now``, and how exactly that can be.
Spelling = tuple[Callable[[float, float], str], float]
SPELLINGS: Mapping[str, Spelling] = {
    "seconds": (lambda wait, _now: str(round(wait)), 0.5),
    "float": (lambda wait, _now: plain(wait), ROUNDING_S),
    "go seconds": (lambda wait, _now: f"{plain(wait)}s", ROUNDING_S),
    "go milliseconds": (lambda wait, _now: f"{round(wait * 1000)}ms", ROUNDING_S),
    "go": (lambda wait, _now: f"{int(wait // 3600)}h{int(wait % 3600 // 60)}m{plain(wait % 60)}s", ROUNDING_S),
    "http date": (lambda wait, now: format_datetime(at(now + wait), usegmt=True), 1.0),
    "asctime": (lambda wait, now: at(now + wait).strftime("%a %b %e %H:%M:%S %Y"), 1.0),
    "rfc 850": (lambda wait, now: at(now + wait).strftime("%A, %d-%b-%y %H:%M:%S GMT"), 1.0),
    "rfc 3339": (lambda wait, now: at(now + wait).isoformat().replace("+00:00", "Z"), ROUNDING_S),
    "rfc 3339 in small letters": (
        lambda wait, now: at(now + wait).isoformat().lower().replace("+00:00", "z"),
        ROUNDING_S,
    ),
    "epoch seconds": (lambda wait, now: plain(now + wait), ROUNDING_S),
    "epoch milliseconds": (lambda wait, now: str(round((now + wait) * 1000)), ROUNDING_S),
}


@given(spelling=st.sampled_from(sorted(SPELLINGS)), wait=Waits, now=Instants)
def test_every_spelling_of_a_wait_reads_back_as_it_was_meant(spelling: str, wait: float, now: float) -> None:
    write, exactly = SPELLINGS[spelling]
    assert near(read_wait(write(wait, now), now), wait, exactly + ROUNDING_S)


@given(wait=Waits, now=Instants, zone=Offsets)
def test_an_instant_means_the_same_in_every_zone(wait: float, now: float, zone: timezone) -> None:
    there = at(now + wait, zone)
    assert near(read_wait(there.isoformat(), now), wait)
    assert near(read_wait(format_datetime(there), now), wait, 1 + ROUNDING_S)


@given(parts=st.lists(st.tuples(st.floats(0, 999), st.sampled_from(sorted(GO_UNITS))), min_size=1, max_size=5))
def test_a_go_duration_is_the_sum_of_its_parts_in_any_order(parts: list[tuple[float, str]]) -> None:
    text = "".join(plain(number) + unit for number, unit in parts)
    meant = min(sum(float(plain(number)) * GO_UNITS[unit] for number, unit in parts), YEAR_S)
    assert near(read_wait(text, NOW), meant)
    assert near(read_wait(f"+{text}", NOW), meant)
    assert read_wait(f"-{text}", NOW) == 0.0


@given(spelling=st.sampled_from(sorted(SPELLINGS)), ago=st.floats(1.001, 30 * DAY_S), now=Instants)
def test_what_is_over_or_negative_means_now(spelling: str, ago: float, now: float) -> None:
    write, _ = SPELLINGS[spelling]
    assume(spelling != "go")  # that writer cuts a positive number into parts; signs of Go durations are tested above
    assert read_wait(write(-ago, now), now) == 0.0


@given(
    number=st.floats(YEAR_S, 1e9) | st.floats(1e13, 1e90),
    unit=st.sampled_from(["", "s", "h"]),
)
def test_a_huge_wait_is_a_year(number: float, unit: str) -> None:
    text = f"{number:.0f}{unit}"
    assert read_wait(text, NOW) == YEAR_S


Nonsense = st.one_of(
    st.text(max_size=200),
    st.from_regex(r"[+-]?[0-9_.eE]{1,40}(ms|us|ns|h|m|s|d)?", fullmatch=True),
    st.from_regex(r"\w{3,9},? \d{1,4}[ -]\w{3}[ -]-?\d{1,6} \d+:\d+:\d+ ([+-]\d{1,6}|[A-Z]{1,4})", fullmatch=True),
    st.from_regex(r"\d{1,5}-\d{1,3}-\d{1,3}[Tt ]\d\d:\d\d(:\d\d(\.\d{1,12})?)?([Zz]|[+-]\d\d:?\d\d)?", fullmatch=True),
    st.sampled_from(
        ["nan", "-inf", "Infinity", "1e999", "-1e308", "0x10", "1_000", "１２", "٣", "∞", "1s" * 49, "--5s"]
    ),
)
HEADERS = (
    "retry-after-ms",
    "retry-after",
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-remaining",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
)
Headers = st.dictionaries(st.sampled_from(HEADERS), Nonsense)


@given(headers=Headers, now=Instants)
def test_no_headers_raise_and_every_wait_is_between_now_and_a_year(headers: dict[str, str], now: float) -> None:
    wait = retry_after(headers, now)
    assert wait is None or 0 <= wait <= YEAR_S


@given(text=Nonsense, length=st.integers(101, 100_000))
def test_what_is_longer_than_any_wait_says_nothing(text: str, length: int) -> None:
    long = ((text.strip() or "7") * length)[:length] + "x"
    assert read_wait(long, NOW) is None
    assert retry_after({"retry-after": long, "retry-after-ms": long, "x-ratelimit-reset": "3"}, NOW) == 3.0


@given(others=Headers, millis=st.floats(0, 1e6), text=Nonsense)
def test_the_plainest_word_counts_whatever_else_is_said(others: dict[str, str], millis: float, text: str) -> None:
    assert near(retry_after({**others, "retry-after-ms": plain(millis)}, NOW), millis / 1000)
    without = {name: value for name, value in others.items() if name != "retry-after-ms"}
    told = read_wait(text, NOW)
    if told is not None:
        assert retry_after({**without, "retry-after": text}, NOW) == told


@given(
    resets=st.dictionaries(
        st.sampled_from(["", "-requests", "-tokens"]),
        st.tuples(st.floats(0, 86_400), st.none() | st.integers(-3, 3)),
        min_size=1,
    )
)
def test_of_all_that_is_used_up_the_last_to_come_back_counts(resets: dict[str, tuple[float, int | None]]) -> None:
    headers = {f"x-ratelimit-reset{name}": f"{plain(wait)}s" for name, (wait, _) in resets.items()}
    headers |= {f"x-ratelimit-remaining{name}": str(left) for name, (_, left) in resets.items() if left is not None}
    waits = [wait for wait, left in resets.values() if left is None or left <= 0]
    found = retry_after(headers, NOW)
    assert near(found, max(waits)) if waits else found is None


def gemini(*delays: Any, message: Any = "Quota exceeded.", wrapped: bool = False) -> bytes:
    """Gemini's error body, with a RetryInfo for each delay among other details; it comes in a list at times."""
    infos = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay} for delay in delays]
    details = [{"@type": "type.googleapis.com/google.rpc.Help", "retryDelay": "99s"}, *infos, "noise", None]
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": details}}
    return json.dumps([error] if wrapped else error).encode()


@given(waits=st.lists(Waits, min_size=1, max_size=3), wrapped=st.booleans(), message=st.text())
def test_the_longest_retry_info_of_a_body_is_the_wait(waits: list[float], wrapped: bool, message: str) -> None:
    body = gemini(*(f"{plain(wait)}s" for wait in waits), message=message, wrapped=wrapped)
    assert near(body_wait(body), max(waits))
    failure = classify("gemini", 429, {}, body, NOW)
    assert failure.kind is ErrorKind.RATE_LIMITED
    assert near(failure.retry_after, max(waits))


@given(wait=Waits, spelling=st.sampled_from(["go", "go seconds", "go milliseconds"]), after=st.booleans())
def test_a_wait_in_the_words_of_a_message_is_read(wait: float, spelling: str, after: bool) -> None:
    written = SPELLINGS[spelling][0](wait, NOW)
    message = f"Rate limit reached. Please {'retry after' if after else 'try again in'} {written}. Visit our pages."
    assert near(body_wait(json.dumps({"error": {"message": message}}).encode()), wait)


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["-1s", "1e9s"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "details", "message", "@type", "retryDelay", "seconds", "nanos", "code"]), inner
        )
    ),
    max_leaves=12,
)


@given(body=st.binary(max_size=200) | Json.map(lambda value: json.dumps(value).encode()) | st.builds(gemini, Json))
def test_no_body_raises_and_every_wait_is_between_now_and_a_year(body: bytes) -> None:
    wait = body_wait(body)
    assert wait is None or 0 <= wait <= YEAR_S


@given(
    platform=st.sampled_from(["openai", "qwen", "gemini"]),
    status=st.sampled_from([200, 400, 401, 402, 403, 404, 408, 429, 500, 503, 529]),
    headers=Headers,
    body=st.binary(max_size=60) | Json.map(lambda value: json.dumps(value).encode()) | st.builds(gemini, Json),
)
def test_a_header_goes_before_the_body_and_only_where_waiting_helps(
    platform: str, status: int, headers: dict[str, str], body: bytes
) -> None:
    failure = classify(platform, status, headers, body, NOW)
    waiting = (ErrorKind.RATE_LIMITED, ErrorKind.SERVER_ERROR, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.TIMEOUT)
    if failure.kind not in waiting:
        assert failure.retry_after is None
        return
    told = retry_after(headers, NOW)
    if told is not None:
        assert failure.retry_after == told


@given(text=Nonsense, throttles=st.integers(0, 25), left=st.floats(-10, 8000), seed=st.integers(0, 9))
def test_a_throttled_task_comes_back_when_told_to_or_ends_now(
    text: str, throttles: int, left: float, seed: int
) -> None:
    told, deadline = read_wait(text, NOW), NOW + left
    counts = Counts(retries=3, throttles=throttles)
    rng = random.Random(seed)
    decision = decide(ErrorKind.RATE_LIMITED, counts, retry_after=told, deadline=deadline, now=NOW, rng=rng)
    if isinstance(decision, Again):
        assert decision.counter == "throttle_count"
        assert throttles < 20
        assert decision.at < deadline
        if told is not None:
            assert decision.at == NOW + min(told, RETRY_AFTER_MAX_S)
    elif throttles < 20 or deadline <= NOW:
        assert decision == End(Outcome.EXPIRED)
    else:
        assert decision == End(Outcome.RETRIES_USED_UP)
