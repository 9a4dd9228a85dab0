"""How does an estimate look: calls and hours, what the models cost, what AWS costs, and where the prices come from?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from brandvane.cli.aws_cost import DAYS, Line, month_usd
from brandvane.cli.day_plan import DayPlan, PlatformFit, RunPlan
from brandvane.cli.estimate import BASIS
from brandvane.cli.price_list import PriceList
from brandvane.cli.view import dollars, number, table
from brandvane.cli.when import iso, local, span

DAY_S = 86_400
AWS_BASIS = "on-demand list prices without free tiers; nothing fails, batches of what falls due in one second"


def estimate_lines(plan: DayPlan, aws: Sequence[Line], prices: PriceList) -> list[str]:
    """For people."""
    lines: list[str] = []
    for run in plan.runs:
        lines += _run_lines(run)
    lines += ["", f"platforms: {dollars(plan.model_usd)} a day, {dollars(plan.model_usd * DAYS)} a month", f"  {BASIS}"]
    rows = [
        (target, f"{calls:,}", dollars(usd), dollars(usd * DAYS))
        for target, (calls, usd) in sorted(plan.targets.items(), key=lambda item: -item[1][1])
    ]
    lines += _indented(table(("model", "calls a day", "$ a day", "$ a month"), rows, frozenset({1, 2, 3})))
    lines += [
        f"{each.platform}: {dollars(each.usd)} a day is more than its day_budget_usd of {dollars(each.budget_usd)}; "
        f"it stops at about {each.stops_at:,} of {number(each.calls, 'call')}"
        for each in plan.over_budget
    ]
    whole_budget = plan.catalogue.monitor.day_budget_usd
    if whole_budget is not None and plan.model_usd > whole_budget:
        lines.append(
            f"all platforms: {dollars(plan.model_usd)} a day is more than the monitor's day_budget_usd of {dollars(whole_budget)}"
        )
    unpriced = list(dict.fromkeys(target for run in plan.runs for target in run.cost.unpriced))
    if unpriced:
        lines.append(f"no price is known for {', '.join(unpriced)}: the cost is more than that")
    whole = month_usd(aws)
    lines += [
        "",
        f"AWS: {dollars(whole / DAYS)} a day, {dollars(whole)} a month",
        *(f"  {part}" for part in AWS_BASIS.split("; ")),
    ]
    cells = [
        (line.service, line.what, f"{_amount(line.number)} a {'month' if line.monthly else 'day'}", dollars(line.usd))
        for line in aws
    ]
    lines += _indented(table(("service", "what", "how many", "$ a month"), cells, frozenset({2, 3})))
    lines += ["", f"AWS prices: {prices.region}, list of {prices.compiled}.", f"  {prices.note}"]
    lines += [f"  {source} ({dated})" for source, dated in _sources(prices)]
    return lines


def _run_lines(run: RunPlan) -> list[str]:
    zone = run.schedule.time_zone
    window = f"window {run.schedule.start}-{run.schedule.end}, deadline {run.schedule.deadline} {zone}"
    lines = [f"{run.schedule.id}: {number(run.calls, 'call')}, {window}"]
    rows = [
        (
            each.platform,
            f"{each.calls:,}",
            f"{each.rate:.3g}",
            f"{each.slots:,}",
            "never" if math.isinf(each.hours) else span(each.hours * 3600),
            _through(each, run),
            _fits(each),
        )
        for each in run.platforms
    ]
    header = ("platform", "calls", "calls/s", "slots", "needs", "through", "fits")
    lines += _indented(table(header, rows, frozenset({1, 2, 3, 4, 5})))
    lines += [
        f"  {each.platform}: {number(each.beyond_budget, 'call')} more than its day_calls allows; they would wait for the next day"
        for each in run.platforms
        if each.beyond_budget
    ]
    return lines


def _through(each: PlatformFit, run: RunPlan) -> str:
    """The time of day; what lasts for a day or more is told with its date."""
    if not each.calls:
        return ""
    if math.isinf(each.last):
        return "never"
    at = local(round(each.last / 60) * 60, run.schedule.time_zone).split(" ")
    return at[1] if each.last - run.times.start < DAY_S else f"{at[0]} {at[1]}"


def _fits(each: PlatformFit) -> str:
    if not each.late_by:
        return "yes"
    return "no worker is deployed" if math.isinf(each.late_by) else f"{span(each.late_by)} too late"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.2g}"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _sources(prices: PriceList) -> list[tuple[str, str]]:
    return list(dict.fromkeys((price.source, price.dated) for price in prices.prices.values()))


def estimate_document(plan: DayPlan, aws: Sequence[Line], prices: PriceList) -> dict[str, Any]:
    """For scripts."""
    whole = month_usd(aws)
    return {
        "fits": all(not run.late_by for run in plan.runs),
        "calls": plan.calls,
        "runs": [_run_document(run) for run in plan.runs],
        "platforms_usd_a_day": round(plan.model_usd, 4),
        "models": {
            target: {"calls": calls, "usd_a_day": round(usd, 4)} for target, (calls, usd) in plan.targets.items()
        },
        "over_budget": {
            each.platform: {
                "usd_a_day": round(each.usd, 4),
                "day_budget_usd": each.budget_usd,
                "calls": each.calls,
                "stops_at_calls": each.stops_at,
            }
            for each in plan.over_budget
        },
        "platforms_basis": BASIS,
        "no_price_for": list(dict.fromkeys(target for run in plan.runs for target in run.cost.unpriced)),
        "aws_usd_a_month": round(whole, 2),
        "aws": [
            {
                "service": line.service,
                "what": line.what,
                "number": round(line.number, 4),
                "per": "month" if line.monthly else "day",
                "price": line.price,
                "usd_a_month": round(line.usd, 4),
            }
            for line in aws
        ],
        "aws_requests_a_day": {name: round(count) for name, count in sorted(plan.usage.requests.items())},
        "aws_basis": AWS_BASIS,
        "prices": {
            "region": prices.region,
            "compiled": prices.compiled,
            "note": prices.note,
            "list": {
                name: {"usd": p.usd, "per": p.per, "unit": p.unit, "source": p.source, "dated": p.dated}
                for name, p in prices.prices.items()
            },
        },
    }


def _run_document(run: RunPlan) -> dict[str, Any]:
    return {
        "schedule": run.schedule.id,
        "calls": run.calls,
        "window_start": iso(run.times.start),
        "window_end": iso(run.times.end),
        "deadline": iso(run.times.deadline),
        "late_by_s": _finite(run.late_by),
        "platforms": {
            each.platform: {
                "calls": each.calls,
                "calls_a_second": round(each.rate, 4),
                "slots": each.slots,
                "hours_needed": _finite(each.hours),
                "through": None if math.isinf(each.last) or not each.calls else iso(each.last),
                "late_by_s": _finite(each.late_by),
                "beyond_day_calls": each.beyond_budget,
            }
            for each in run.platforms
        },
    }


def _finite(value: float) -> float | None:
    """None: never."""
    return None if math.isinf(value) else round(value, 3)
