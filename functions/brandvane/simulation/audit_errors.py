"""Is an error that the engine has written down one of those that faults bring about, or a mistake of its code?"""

from __future__ import annotations

EXPECTED = ("Unavailable", "TooLarge", "AnswerNotSafe", "NewerMessage")
# The same in the words of the simulated services.
IN_WORDS = frozenset(
    f"{service}{how}"
    for service in ("dynamodb", "sqs", "s3", "ssm", "lambda")
    for how in (" refuses", " does not answer", ": the reply was lost")
)
# Those who wait for no longer than they may.
HURRIED = frozenset({"answer_not_recorded", "answer_not_stored", "gauges_not_published", "platform_not_told"})


def is_expected(event: str, error: str) -> bool:
    """Is what this event tells the doing of a fault? ``"None"``: nothing failed."""
    if error.startswith("TimeoutError"):
        return event in HURRIED
    return error.startswith(EXPECTED) or error in IN_WORDS or error == "None"
