"""What can an operator's wish not be granted for? Exceptions whose message says what is the matter and what to do."""

from __future__ import annotations


class NoSuchRun(LookupError):
    """There is no run of that name: wrong input."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no run '{run_id}': 'brandvane run list' shows those there are")


class Refusal(ValueError):
    """The thing exists, but its state does not allow this."""


class WrongInput(ValueError):
    """What was said names nothing that is there."""
