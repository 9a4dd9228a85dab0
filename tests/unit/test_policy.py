"""What follows from a failure: every row of the policy's table, with its exact wait."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brandvane.policy import Again, Counts, End, ErrorKind, after_lost_lease, decide
from brandvane.task import Outcome

NOW = 1000.0
K = ErrorKind


class Jitter(random.Random):
    """Chance that always gives the same share of the range."""

    def __init__(self, share: float) -> None:
        super().__init__(0)
        self.share = share

    def uniform(self, a: float, b: float) -> float:
        """The stated share."""
        return a + (b - a) * self.share


def decided(
    kind: ErrorKind,
    retries: int = 0,
    throttles: int = 0,
    *,
    retry_after: float | None = None,
    deadline: float = 1e9,
    jitter: float = 0.0,
    breaker_open: bool = False,
) -> Again | End:
    """The policy's word, ``NOW``."""
    return decide(
        kind,
        Counts(retries, throttles),
        retry_after=retry_after,
        deadline=deadline,
        now=NOW,
        rng=Jitter(jitter),
        breaker_open=breaker_open,
    )


@pytest.mark.parametrize(("n", "wait"), [(0, 10), (1, 20), (2, 40), (3, 80), (4, 160), (5, 300), (19, 300)])
def test_a_throttled_call_waits_twice_as_long_each_time_up_to_300_seconds(n: int, wait: float) -> None:
    assert decided(K.RATE_LIMITED, throttles=n) == Again(NOW + wait, "throttle_count")


@pytest.mark.parametrize(("told", "wait"), [(0.0, 0.0), (7.25, 7.25), (3600.0, 3600.0), (9999.0, 3600.0), (-4.0, 0.0)])
def test_a_throttled_call_waits_as_long_as_the_platform_asks_without_jitter(told: float, wait: float) -> None:
    assert decided(K.RATE_LIMITED, throttles=3, retry_after=told, jitter=1.0) == Again(NOW + wait, "throttle_count")


def test_throttles_have_their_own_cap_of_twenty() -> None:
    assert decided(K.RATE_LIMITED, retries=3, throttles=19) == Again(NOW + 300, "throttle_count")
    assert decided(K.RATE_LIMITED, throttles=20) == End(Outcome.RETRIES_USED_UP)


def test_throttles_do_not_use_up_retries() -> None:
    assert decided(K.TIMEOUT, retries=0, throttles=20) == Again(NOW + 10, "retry_count")


@pytest.mark.parametrize(("n", "wait"), [(0, 10), (1, 20), (2, 40)])
def test_a_timeout_waits_10_20_40_seconds(n: int, wait: float) -> None:
    assert decided(K.TIMEOUT, n) == Again(NOW + wait, "retry_count")


@pytest.mark.parametrize("kind", [K.TIMEOUT, K.RATE_LIMITED])
def test_jitter_adds_up_to_five_seconds(kind: ErrorKind) -> None:
    waits = [decided(kind, jitter=share) for share in (0.0, 0.5, 1.0)]
    assert [w.at - NOW for w in waits if isinstance(w, Again)] == [10.0, 12.5, 15.0]


@pytest.mark.parametrize(("kind", "wait"), [(K.SERVER_ERROR, 30), (K.MALFORMED, 10), (K.EMPTY, 10)])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_broken_server_or_body_waits_the_same_each_time(kind: ErrorKind, wait: float, n: int) -> None:
    assert decided(kind, n, jitter=1.0) == Again(NOW + wait, "retry_count")


@pytest.mark.parametrize(("asked", "wait"), [(5.0, 30), (120.0, 120), (7200.0, 3600)])
def test_a_server_error_waits_30_seconds_or_what_the_platform_asks_up_to_an_hour(asked: float, wait: float) -> None:
    assert decided(K.SERVER_ERROR, retry_after=asked) == Again(NOW + wait, "retry_count")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (K.TIMEOUT, Outcome.RETRIES_USED_UP),
        (K.SERVER_ERROR, Outcome.RETRIES_USED_UP),
        (K.MALFORMED, Outcome.RETRIES_USED_UP),
        (K.EMPTY, Outcome.EMPTY),
    ],
)
def test_after_three_retries_the_task_ends(kind: ErrorKind, outcome: Outcome) -> None:
    assert decided(kind, 3) == End(outcome)


@pytest.mark.parametrize("kind", [K.CLIENT_ERROR, K.CONTEXT_TOO_LONG])
def test_a_wrong_request_is_never_made_again(kind: ErrorKind) -> None:
    assert decided(kind) == End(Outcome.CLIENT_ERROR)


@pytest.mark.parametrize(("kind", "outcome"), [(K.CONTENT_FILTERED, Outcome.FILTERED), (K.REFUSED, Outcome.REFUSED)])
def test_a_refusal_is_an_answer_even_after_the_deadline(kind: ErrorKind, outcome: Outcome) -> None:
    assert decided(kind, deadline=NOW - 1) == End(outcome)


@pytest.mark.parametrize("kind", [K.QUOTA_EXHAUSTED, K.AUTH_ERROR, K.MODEL_GONE])
def test_what_a_person_must_mend_waits_without_being_counted(kind: ErrorKind) -> None:
    assert decided(kind, retries=3, throttles=20) == Again(NOW, None)


RETRYABLE = [K.RATE_LIMITED, K.TIMEOUT, K.SERVER_ERROR, K.MALFORMED, K.EMPTY]


@pytest.mark.parametrize(("kind", "wait"), list(zip(RETRYABLE, (10, 10, 30, 10, 10), strict=True)))
def test_a_wait_that_reaches_the_deadline_ends_the_task_now(kind: ErrorKind, wait: float) -> None:
    assert decided(kind, deadline=NOW + wait) == End(Outcome.EXPIRED)
    assert isinstance(decided(kind, deadline=NOW + wait + 0.001), Again)


@pytest.mark.parametrize("kind", [*RETRYABLE, K.QUOTA_EXHAUSTED, K.AUTH_ERROR, K.MODEL_GONE])
def test_at_the_deadline_every_unanswered_task_has_expired(kind: ErrorKind) -> None:
    assert decided(kind, deadline=NOW) == End(Outcome.EXPIRED)


@pytest.mark.parametrize("kind", [K.TIMEOUT, K.SERVER_ERROR, K.MALFORMED, K.EMPTY])
def test_failures_under_an_open_breaker_are_not_counted(kind: ErrorKind) -> None:
    decision = decided(kind, retries=3, breaker_open=True)
    assert isinstance(decision, Again)
    assert decision.counter is None


def test_a_lost_lease_is_a_timeout() -> None:
    again = after_lost_lease(Counts(1, 0), deadline=1e9, now=NOW, rng=Jitter(0.0))
    assert again == Again(NOW + 20, "retry_count")


def test_the_last_lost_lease_ends_as_timeout() -> None:
    assert after_lost_lease(Counts(3, 0), deadline=1e9, now=NOW, rng=Jitter(0.0)) == End(Outcome.TIMEOUT)


def test_a_lease_lost_near_the_deadline_has_expired() -> None:
    assert after_lost_lease(Counts(0, 0), deadline=NOW + 10, now=NOW, rng=Jitter(0.0)) == End(Outcome.EXPIRED)


@given(
    kind=st.sampled_from(ErrorKind),
    retries=st.integers(0, 5),
    throttles=st.integers(0, 25),
    told=st.none() | st.floats(-10, 10_000),
    left=st.floats(-100, 20_000),
    seed=st.integers(),
)
def test_a_decision_is_the_same_for_the_same_chance_and_never_waits_past_the_deadline(
    kind: ErrorKind, retries: int, throttles: int, told: float | None, left: float, seed: int
) -> None:
    def once() -> Again | End:
        counts = Counts(retries, throttles)
        rng = random.Random(seed)
        return decide(kind, counts, retry_after=told, deadline=NOW + left, now=NOW, rng=rng)

    decision = once()
    assert decision == once()
    if isinstance(decision, Again):
        assert NOW <= decision.at < NOW + left
        assert decision.at <= NOW + 3600
