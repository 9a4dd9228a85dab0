"""Who agrees to what a command is about to do? A person at the terminal, ``--yes``, or nobody: ``--dry-run`` only tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from brandvane.cli.errors import CliError
from brandvane.cli.view import ask, say

NOTHING = "nothing was changed"

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Consent:
    """What was said on the command line: go ahead unasked, or only tell."""

    yes: bool = False
    dry_run: bool = False

    def given(self, what: str, details: str, *, interactive: bool, quiet: bool) -> bool:
        """May ``what`` (an order, such as 'cancel day') be done? A dry run tells it, unless ``quiet``, and says no.

        Raises:
            CliError: nobody is there to be asked (2), or the answer is no (1).
        """
        if self.dry_run:
            if not quiet:
                say(f"would {what}: {details}", NOTHING)
            return False
        ask(f"{what[0].upper()}{what[1:]}? {details}", yes=self.yes, interactive=interactive)
        return True


def consent_options(function: Callable[_P, _R]) -> Callable[..., _R]:
    """Adds ``--dry-run`` and ``--yes``; the command gets them as one argument, ``consent``."""

    @click.option("--dry-run", is_flag=True, help="Only tell what would be done, how many tasks and what cost.")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    @wraps(function)
    def with_consent(*args: Any, yes: bool, dry_run: bool, **kwargs: Any) -> _R:
        if yes and dry_run:
            raise CliError("--yes and --dry-run exclude each other", 2)
        return function(*args, consent=Consent(yes, dry_run), **kwargs)  # type: ignore[arg-type]

    return with_consent
