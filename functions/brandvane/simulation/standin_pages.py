"""What does a stand-in tell about itself and how is it changed while it runs? The pages below ``/_standin/``."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from brandvane.simulation.call_audit import audit
from brandvane.simulation.standin_behaviour import StandinFault, changed
from brandvane.simulation.standin_calls import Desk
from brandvane.simulation.standin_http import Head, as_json
from brandvane.simulation.standin_reply import Reply, refused
from brandvane.simulation.standin_row import row_line

ROOT = "/_standin/"
_METHODS = {
    "health": "GET",
    "log": "GET",
    "audit": "GET",
    "platforms": "POST",
    "brands": "POST",
    "calls": "GET",
    "ended": "POST",
}
Page = Reply | Callable[[], Reply] | asyncio.Future[Reply]


def page(desk: Desk, head: Head, body: bytes) -> Page:
    """The answer to everything that is no call.

    Log and audit come as a callable over a copy of the rows, to be run beside the loop: over many calls they take long
    enough to make arrivals late. What has to be waited for is a future.
    """
    name = head.path.removeprefix(ROOT) if head.path.startswith(ROOT) else ""
    if head.method == "GET" and _is_list_of_models(desk, head.path):
        return Reply(200, as_json({"object": "list", "data": []}))
    method = _METHODS.get(name) or ("POST" if desk.asked_at(head.path) is not None else None)
    if method is None:
        there = [platform.asked_path for platform in desk.platforms.values()] + [ROOT + page for page in _METHODS]
        return refused(404, f"there is no {head.path}; there are {', '.join(there)}")
    if head.method != method:
        return refused(405, f"{head.path} takes {method}, not {head.method}")
    if name == "platforms":
        return _change(desk, body)
    if name == "brands":
        return _name_brands(desk, body)
    if name == "health":
        return Reply(200, as_json(_health(desk)))
    if name == "calls":
        return Reply(200, as_json(_calls(desk)))
    if name == "ended":
        return _ended(desk, body)
    rows = tuple(desk.log.rows)
    if name == "log":
        return lambda: Reply(200, "".join(map(row_line, rows)).encode(), "application/jsonl; charset=utf-8")
    rates = {platform.name: platform.behaviour.rate for platform in desk.platforms.values()}
    return lambda: Reply(200, as_json(audit(rows, rates).document()))


def _is_list_of_models(desk: Desk, path: str) -> bool:
    """Where a key is tried without paying: below the platform's base URL, with ``/v1`` before it or not."""
    platform = desk.platforms.get(path[1:].partition("/")[0])
    if platform is None:
        return False
    base = f"/{platform.name}{platform.dialect.base}"
    return path in (f"{base}/models", f"{base}/v1/models")


def _health(desk: Desk) -> dict[str, Any]:
    calls = Counter(row.platform for row in desk.log.rows)
    platforms = {
        name: {
            "calls": calls[name],
            "in_flight": len(platform.in_flight),
            "behaviour": platform.behaviour.document(),
        }
        for name, platform in desk.platforms.items()
    }
    return {"status": "ok", "platforms": platforms}


def _calls(desk: Desk) -> list[dict[str, Any]]:
    """Calls under way, by arrival: whose they are, the caller's port, and how they will end."""
    return [
        {
            "platform": call.platform.name,
            "request_id": call.request_id,
            "arrived": call.arrived,
            "port": call.port,
            "outcome": call.outcome.value,
        }
        for call in sorted(desk.under_way, key=lambda call: call.arrived)
    ]


def _ended(desk: Desk, body: bytes) -> Reply | asyncio.Future[Reply]:
    """``{"request_id": "…"}``: answered in the moment in which that call's last byte is written, or its connection is gone."""
    try:
        wanted = json.loads(body)["request_id"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return refused(400, 'the body must be an object: {"request_id": "…"}')
    call = next((call for call in desk.under_way if call.request_id == wanted), None)
    if call is None:
        return refused(404, f"no call {wanted!r} is under way")
    reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def tell(complete: bool) -> None:
        if not reply.done():
            reply.set_result(Reply(200, as_json({"complete": complete})))

    call.waiting.append(tell)
    return reply


def _change(desk: Desk, body: bytes) -> Reply:
    """All of the changes or none: ``{"NAME": {"rate": 5, "error_503": 0.5}}``; fields that are not named stay."""
    try:
        wishes: Any = json.loads(body)
    except (ValueError, RecursionError):
        return refused(400, "the body is not valid JSON")
    if not isinstance(wishes, dict) or not all(isinstance(fields, dict) for fields in wishes.values()):
        return refused(400, 'the body must be an object of platforms and fields: {"NAME": {"rate": 5}}')
    try:
        new = {}
        for name, fields in wishes.items():
            if name not in desk.platforms:
                raise StandinFault(f"there is no platform {name!r}; there are {', '.join(desk.platforms)}")
            new[name] = changed(desk.platforms[name].behaviour, fields, name)
    except StandinFault as fault:
        return refused(400, str(fault))
    for name, behaviour in new.items():
        desk.platforms[name].behave(behaviour)
    return Reply(200, as_json({name: platform.behaviour.document() for name, platform in desk.platforms.items()}))


def _name_brands(desk: Desk, body: bytes) -> Reply:
    """``["Sony", "Bose"]``: what made-up answers name from the next call on."""
    try:
        wished: Any = json.loads(body)
    except (ValueError, RecursionError):
        return refused(400, "the body is not valid JSON")
    if not isinstance(wished, list) or not all(isinstance(name, str) and name for name in wished):
        return refused(400, 'the body must be a list of names: ["Sony", "Bose"]')
    desk.brands = tuple(wished)
    return Reply(200, as_json({"brands": wished}))
