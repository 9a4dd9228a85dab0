"""Is the deployed stack as it should be? The list of what is looked at, in its order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from brandvane.cli import doctor_capacity, doctor_deployment, doctor_inputs, doctor_notices, doctor_watch
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.checks import Check, Looks
from brandvane.cli.stack_facts import StackFacts
from brandvane.cli.template_rows import TemplateRow


class StackDoctor:
    """Looks at one stack; changes nothing."""

    def __init__(
        self,
        aws: AwsContext,
        *,
        rows: Mapping[str, TemplateRow] | None = None,
        sleep: Callable[[float], Any] = time.sleep,
        drift: bool = True,
    ) -> None:
        """``rows``: the template's, else those of the repository."""
        self._facts = StackFacts(aws, rows)
        self._sleep = sleep
        self._drift = drift

    def looks(self) -> Looks:
        """All checks in their order; without a stack only what concerns the account."""
        if self._facts.stack is None:
            return (
                self._look("stack", doctor_deployment.no_stack),
                self._look("concurrency", doctor_capacity.concurrency),
            )
        looks = (
            self._look("stack", doctor_deployment.stack),
            self._look("concurrency", doctor_capacity.concurrency),
            self._look("reserved", doctor_capacity.reserved),
            self._look("sources", doctor_capacity.sources),
            self._look("schedules", doctor_inputs.schedules),
            self._look("catalogue", doctor_inputs.catalogue),
            self._look("keys", doctor_inputs.keys),
            self._look("dead letters", doctor_watch.dead_letters),
            self._look("alarms", doctor_watch.alarms),
            self._look("notices", doctor_notices.notices),
            self._look("time zone", doctor_notices.time_zone),
        )
        drift = self._look("drift", partial(doctor_deployment.drift, sleep=self._sleep))
        return (*looks, drift) if self._drift else looks

    def _look(
        self, name: str, look: Callable[[StackFacts], Iterable[Check]]
    ) -> tuple[str, Callable[[], Iterable[Check]]]:
        return name, partial(look, self._facts)
