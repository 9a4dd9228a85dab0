"""Which platforms does a monitor ask, and with which settings of its own?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brandvane.catalogue import PlatformSettings
from brandvane.catalogue_files.faults import Findings, did_you_mean
from brandvane.catalogue_files.headers import read_headers, read_key_header, read_spoken
from brandvane.catalogue_files.nodes import ListNode, MapNode, Node, Scalar, kind_of
from brandvane.catalogue_files.record import IDENTIFIER, Record
from brandvane.platforms.protocols import OWN_FIELDS, PROTOCOL_NAMES, SEARCHES
from brandvane.platforms.registry import PlatformRow, base_url_complaint, platform_rows, resolve, row_of_user

FIELDS = (
    "models",
    "protocol",
    "base_url",
    "rate",
    "in_flight",
    "call_timeout_s",
    "day_calls",
    "day_budget_usd",
    "price_input",
    "price_output",
    "price_search",
    "parameters",
    "search_body",
    "headers",
    "key_header",
    "key_parameter",
    "locale",
)
ROW_FIELDS = ("protocol", "base_url", "models")  # what makes a platform that no table knows
CALL_TIMEOUT_MAX_S = 285.0  # a lease is never over 300 s and lasts 15 s longer than the call (DESIGN §2)
RATE_MAX = 1_000.0
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}")
_PARAMETER = re.compile(r"/[A-Za-z0-9_.\-/]{1,900}")
LIMIT_PARAMETERS = ("max_tokens", "max_completion_tokens", "max_output_tokens")  # most tokens of an answer
PLATFORM_MAX = 24  # the names of its queue and functions carry it


def read_platforms(
    node: Node | None, row: int, file: str, findings: Findings
) -> tuple[tuple[PlatformSettings, ...], dict[str, int]]:
    """Settings of all platforms of a monitor that have a row, and the line each stands in."""
    settings: list[PlatformSettings] = []
    rows: dict[str, int] = {}
    known = platform_rows()
    for name, overrides in _entries(node, row, file, findings):
        if name.text in rows:
            findings.fault(file, "a second entry for this platform", "Remove one", row=name.row, value=name.text)
        elif name.text in known or _own_row(name, overrides, file, findings):
            rows[name.text] = name.row
            record = Record(overrides, file, findings, FIELDS, prefix=f"platforms.{name.text}")
            row_of = known.get(name.text) or row_of_user(name.text)
            settings.extend(_settings(row_of, record, name, file, findings))
    return tuple(settings), rows


def _entries(node: Node | None, row: int, file: str, findings: Findings) -> list[tuple[Scalar, MapNode]]:
    entries: list[tuple[Scalar, Node]] = []
    if isinstance(node, MapNode):
        entries = list(node.entries)
    elif isinstance(node, ListNode):
        for item in node.items:
            if isinstance(item, Scalar):
                entries.append((item, Scalar("", item.row)))
            else:
                entries.extend(item.entries if isinstance(item, MapNode) else ())
    elif node is not None and not (isinstance(node, Scalar) and node.empty):
        remedy = "Write [openai, hunyuan], or a row 'openai:' for each with its settings below it"
        findings.fault(file, f"{kind_of(node)} where platforms are wanted", remedy, row=node.row, field="platforms")
        return []
    good = []
    for name, value in entries:
        if isinstance(value, MapNode):
            good.append((name, value))
        elif isinstance(value, Scalar) and value.empty:
            good.append((name, MapNode((), name.row)))
        else:
            remedy = "Write its settings in rows below it, as 'rate: 5', or nothing at all"
            findings.fault(file, f"{kind_of(value)} where settings are wanted", remedy, row=name.row, field=name.text)
    if not entries:
        findings.fault(file, "no platform is named", "Name at least one, such as openai", row=row, field="platforms")
    return good


def _own_row(name: Scalar, overrides: MapNode, file: str, findings: Findings) -> bool:
    """Does the monitor itself say all that a row needs? Complains where it does not."""
    missing = [field for field in ROW_FIELDS if overrides.get(field) is None]
    if not missing and IDENTIFIER.fullmatch(name.text) and len(name.text) <= PLATFORM_MAX:
        return True
    known = platform_rows()
    own = f"give it {', '.join(missing)} here" if missing else f"name it with a-z, 0-9 and '-', at most {PLATFORM_MAX}"
    remedy = did_you_mean(name.text, known, f"Known are: {', '.join(known)}; for one of your own, {own}")
    findings.fault(file, "unknown platform", remedy, row=name.row, field="platforms", value=name.text)
    return False


def _settings(
    row: PlatformRow, record: Record, name: Scalar, file: str, findings: Findings
) -> tuple[PlatformSettings, ...]:
    key_header = read_key_header(record)
    overrides: dict[str, Any] = {
        "models": _models(record),
        "protocol": _protocol(record),
        "base_url": _base_url(record),
        "rate": record.number("rate", 0, RATE_MAX, above=True),
        "in_flight": record.whole("in_flight", 1, 10_000),
        "call_timeout_s": record.number("call_timeout_s", 1, CALL_TIMEOUT_MAX_S),
        "day_calls": record.whole("day_calls", 1, 100_000_000),
        "day_budget_usd": record.number("day_budget_usd", 0, 1_000_000, above=True),
        "price_input": record.number("price_input", 0, 10_000),
        "price_output": record.number("price_output", 0, 10_000),
        "price_search": record.number("price_search", 0, 100),
        "parameters": _parameters(row, record),
        "search_body": record.free("search_body"),
        "headers": read_headers(record, key_header),
        "key_header": key_header,
        "key_parameter": _key_parameter(record),
        "locale": read_spoken(record),
    }
    told = {key: value for key, value in overrides.items() if value not in (None, "", (), {})}
    if not row.values and not set(ROW_FIELDS) <= set(told):
        return ()  # complained about already
    settings = resolve(row.name, told)
    _known_models(row, record, told)
    if settings.parameters.get("search") and settings.protocol not in SEARCHES and not settings.search_body:
        record.fault(
            "parameters",
            f"{settings.protocol} has no web search of its own",
            "Remove search, or say in search_body what the platform wants in the request's body",
            value="search",
        )
    return (settings,)


def _protocol(record: Record) -> str:
    protocol = record.text("protocol")
    if protocol and protocol not in PROTOCOL_NAMES:
        remedy = did_you_mean(protocol, PROTOCOL_NAMES, f"Write one of: {', '.join(sorted(PROTOCOL_NAMES))}")
        record.fault("protocol", "not a protocol that this release speaks", remedy, value=protocol)
        return ""
    return protocol


def _key_parameter(record: Record) -> str:
    parameter = record.text("key_parameter", longest=1000)
    if parameter and not _PARAMETER.fullmatch(parameter):
        remedy = "Write an SSM parameter such as /team/keys/openai, or /aws/reference/secretsmanager/NAME"
        record.fault("key_parameter", "not a parameter's name", remedy, value=parameter)
        return ""
    return parameter


def _models(record: Record) -> tuple[str, ...]:
    models = record.scalars("models", single=True)
    if record.has("models") and isinstance(record.node("models"), ListNode) and not models:
        record.fault("models", "no model is named", "Name one, or remove the field to ask the usual one")
    for item in models:
        if not _MODEL.fullmatch(item.text):
            remedy = "Use the name that the platform gives it (letters, digits and . _ : / @ -)"
            record.fault("models", "not a model's name", remedy, row=item.row, value=item.text)
    return tuple(dict.fromkeys(item.text for item in models))


def _known_models(row: PlatformRow, record: Record, told: Mapping[str, Any]) -> None:
    """A model that no price is known of is most likely misspelt or gone; who states its price, or another address, means it."""
    if not row.values or "base_url" in told or {"price_input", "price_output"} <= set(told):
        return
    known = tuple(dict.fromkeys((*row.values["models"], *row.values.get("prices", {}))))
    for item in record.scalars("models", single=True):
        if _MODEL.fullmatch(item.text) and item.text not in known:
            meant = did_you_mean(item.text, known, f"Known are: {', '.join(known)}")
            remedy = f"{meant}; to ask it all the same, state its price_input and price_output"
            record.fault("models", "not a model that is known of this platform", remedy, row=item.row, value=item.text)


def _base_url(record: Record) -> str:
    url = record.text("base_url", longest=500).rstrip("/")
    complaint = base_url_complaint(url) if url else None
    if complaint is not None:
        record.fault("base_url", f"the address {complaint}", "Write one such as https://api.example.com/v1", value=url)
        return ""
    return url


def _parameters(row: PlatformRow, record: Record) -> Mapping[str, Any]:
    parameters = record.free("parameters")
    for name, instead in row.refused.items():
        if parameters.get(name) is not None:
            remedy = f"Write {instead} instead" if instead else "Remove it"
            record.fault("parameters", f"{row.name} answers {name} with an error", remedy, value=name)
    for name in sorted(OWN_FIELDS):
        if name in parameters:
            record.fault("parameters", f"{name} is set by the call itself", "Remove it", value=name)
    _parameter(record, parameters, "temperature", 0, 2)
    for name in LIMIT_PARAMETERS:
        _parameter(record, parameters, name, 1, 1_000_000)
        if isinstance(parameters.get(name), float):
            record.fault(
                "parameters", f"{name} is not a whole number", "Write it without a fraction", value=parameters[name]
            )
    if parameters.get("search") not in (None, True, False):
        record.fault("parameters", "search is a switch", "Write true or false", value=parameters["search"])
    if not isinstance(parameters.get("system", ""), str | None):
        record.fault("parameters", "system is not a text", "Quote it", value=parameters["system"])
    return parameters


def _parameter(record: Record, parameters: Mapping[str, Any], name: str, low: float, high: float) -> None:
    value = parameters.get(name)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and low <= value <= high):
        remedy = f"Write a number from {low:g} to {high:,.10g}"
        record.fault("parameters", f"{name} is not a number in its range", remedy, value=value)
