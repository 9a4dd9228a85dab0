"""How long a platform asks us to wait, in every spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.platforms.retry_after import body_wait, read_wait, retry_after
from builders import NOW  # 2025-10-09 08:53:20 UTC

YEAR_S = 366 * 86_400.0


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("30", 30.0),
        ("1.5", 1.5),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("-4", 0.0),
        ("20s", 20.0),
        ("6m0s", 360.0),
        ("1h2m3s", 3723.0),
        ("7.66s", 7.66),
        ("76ms", 0.076),
        ("2m59.5s", 179.5),
        ("1500us", 0.0015),
        ("1500\u00b5s", 0.0015),
        ("1500\u03bcs", 0.0015),
        (".5s", 0.5),
        ("+5s", 5.0),
        ("-1m5s", 0.0),
        ("Thu, 09 Oct 2025 08:53:50 GMT", 30.0),
        ("Thu, 09 Oct 2025 10:53:50 +0200", 30.0),
        ("Thu, 09 Oct 2025 08:53:50 -0000", 30.0),
        ("Thu, 09 Oct 2025 08:00:00 GMT", 0.0),
        ("Thursday, 09-Oct-25 08:53:50 GMT", 30.0),
        ("Thu Oct  9 08:53:50 2025", 30.0),
        ("2025-10-09T08:54:20Z", 60.0),
        ("2025-10-09t08:54:20z", 60.0),
        ("2025-10-09T08:54:20.123456789Z", 60.123456),
        ("2025-10-09T10:54:20.5+02:00", 60.5),
        ("1760000030", 30.0),
        ("1760000030500", 30.5),
        ("1600000000", 0.0),
    ],
)
def test_every_spelling_of_a_wait_is_read(text: str, wait: float) -> None:
    assert read_wait(text, NOW) == pytest.approx(wait)


@pytest.mark.parametrize("text", ["", "  ", "soon", "5 apples", "nan", "inf", "-inf", "1e999", "s", "10x", "5s later"])
def test_what_is_no_wait_says_nothing(text: str) -> None:
    assert read_wait(text, NOW) is None


def test_a_wait_is_never_longer_than_a_year() -> None:
    assert read_wait("Fri, 01 Jan 2100 00:00:00 GMT", NOW) == YEAR_S
    assert read_wait("999999999", NOW) == YEAR_S


def test_milliseconds_go_before_seconds_and_these_before_resets() -> None:
    headers = {"retry-after-ms": "1500", "retry-after": "9", "x-ratelimit-reset-requests": "60s"}
    assert retry_after(headers, NOW) == 1.5
    del headers["retry-after-ms"]
    assert retry_after(headers, NOW) == 9.0
    del headers["retry-after"]
    assert retry_after(headers, NOW) == 60.0


def test_an_unusable_retry_after_leaves_the_word_to_the_resets() -> None:
    assert retry_after({"retry-after": "soon", "x-ratelimit-reset": "12"}, NOW) == 12.0


def test_the_longest_reset_of_what_is_used_up_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1.2s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert retry_after(headers, NOW) == 360.0


def test_the_reset_of_what_is_left_does_not_count() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1.2s",
        "x-ratelimit-remaining-tokens": "149000",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert retry_after(headers, NOW) == 1.2


def test_headers_that_say_nothing_mean_no_wait_is_told() -> None:
    assert retry_after({"content-type": "application/json"}, NOW) is None


def test_what_is_too_long_for_a_wait_is_not_read_at_all() -> None:
    # Looking for a unit behind so many digits would take the worker's time, and that of its other calls.
    assert read_wait("1" * 100_000, NOW) is None
    assert retry_after({"retry-after-ms": "1" * 100_000, "retry-after": "3"}, NOW) == 3.0


def error_body(message: str = "No.", *details: Any) -> bytes:
    """An error after Gemini's documented shape."""
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": list(details)}
    return json.dumps({"error": error}).encode()


def retry_info(delay: Any) -> dict[str, Any]:
    """One of its details."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("delay", "wait"),
    [
        ("45.83s", 45.83),
        ("45s", 45.0),
        ("0.000000001s", 1e-9),
        ("-3s", 0.0),
        ("999999999999s", YEAR_S),
        ({"seconds": "45", "nanos": 830_000_000}, 45.83),
        ({"seconds": 45}, 45.0),
        ("45", None),
        ("soon", None),
        (45, None),
        (True, None),
        (None, None),
        ({"seconds": "many"}, None),
    ],
)
def test_geminis_retry_info_is_read(delay: Any, wait: float | None) -> None:
    assert body_wait(error_body("No.", retry_info(delay))) == (wait if wait is None else pytest.approx(wait))


def test_retry_info_is_found_among_other_details_and_in_a_list() -> None:
    other = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "retryDelay": "99s"}
    body = error_body("Try again in 7s.", other, "noise", retry_info("2s"), retry_info("3s"))
    assert body_wait(body) == 3.0
    assert body_wait(b"[" + body + b"]") == 3.0


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Rate limit reached. Please try again in 94ms. Visit our pages.", 0.094),
        ("Please try again in 6m0s.", 360.0),
        ("Please retry in 45.834s.", 45.834),
        ("Please retry after 26 seconds.", 26.0),
        ("PLEASE TRY AGAIN IN 20S", 20.0),
        ("Please try again in a while.", None),
        ("Please try again in 5 apples.", None),
        ("Please try again in ..s.", None),
        ("Please try again later. It took 20s.", None),
    ],
)
def test_a_wait_in_a_messages_own_words_is_read(message: str, wait: float | None) -> None:
    assert body_wait(error_body(message)) == (wait if wait is None else pytest.approx(wait))


@pytest.mark.parametrize(
    "body",
    [b"", b"try again soon", b"[]", b"null", b'"x"', b"[" * 100_000, b"\xff\xfe", b'{"error": [1]}', b'{"error": {}}'],
)
def test_a_body_of_another_shape_tells_no_wait(body: bytes) -> None:
    assert body_wait(body) is None


@given(st.text() | st.from_regex(r"\w{3}, \d{1,4} \w{3} -?\d{1,6} \d+:\d+:\d+ [+-]\d{1,6}", fullmatch=True))
def test_no_header_raises_and_every_wait_is_between_now_and_a_year(text: str) -> None:
    wait = read_wait(text, NOW)
    assert wait is None or 0 <= wait <= YEAR_S


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "Fri, 31 Dec 9999 23:59:59 -9999"]
)
def test_instants_at_the_edge_of_the_calendar_do_not_raise(text: str) -> None:
    wait = read_wait(text, NOW)
    assert wait is None or 0 <= wait <= YEAR_S
