"""What are a platform's settings, and where does each value come from? ``platforms.toml`` < monitor file."""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from brandvane.catalogue import PlatformSettings

DEFAULTS_FILE = "platforms.toml"
MONITOR_FILE = "monitor.yaml"
_NOT_SETTINGS = frozenset({"refused"})


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """One row of ``platforms.toml``: field values, and parameters the platform refuses (with what to write instead)."""

    name: str
    values: Mapping[str, Any]
    refused: Mapping[str, str]


@cache
def platform_rows() -> Mapping[str, PlatformRow]:
    """The shipped table, by platform name, in the file's order."""
    text = (files("brandvane.platforms") / DEFAULTS_FILE).read_text(encoding="utf-8")
    return MappingProxyType(parse_rows(text))


def parse_rows(text: str) -> dict[str, PlatformRow]:
    """Read a table of platforms.

    Raises:
        ValueError: not TOML, an unknown field, a missing one, or a base URL that is not allowed.
    """
    known = {f.name for f in fields(PlatformSettings)} - {"name", "origins"}
    rows = {}
    for name, row in tomllib.loads(text).items():
        if strange := set(row) - known - _NOT_SETTINGS:
            raise ValueError(f"{DEFAULTS_FILE}: [{name}] has unknown fields: {', '.join(sorted(strange))}")
        if missing := {"protocol", "base_url", "models"} - set(row):
            raise ValueError(f"{DEFAULTS_FILE}: [{name}] lacks {', '.join(sorted(missing))}")
        if complaint := base_url_complaint(row["base_url"]):
            raise ValueError(f"{DEFAULTS_FILE}: [{name}] base_url {complaint}")
        values = {key: value for key, value in row.items() if key not in _NOT_SETTINGS}
        rows[name] = PlatformRow(name, MappingProxyType(values), MappingProxyType(dict(row.get("refused", {}))))
    return rows


def resolve(name: str, overrides: Mapping[str, Any], rows: Mapping[str, PlatformRow] | None = None) -> PlatformSettings:
    """A platform's settings: its row, with the monitor's values over it and the origin of each written down.

    ``parameters``, ``headers`` and ``prices`` are merged key by key; a parameter set to None is not sent at all. A monitor that
    states its own prices means them for all models. ``overrides`` are values already checked.

    Raises:
        KeyError: there is no such platform.
    """
    known = platform_rows() if rows is None else rows
    row = (
        row_of_user(name) if name not in known and {"protocol", "base_url", "models"} <= set(overrides) else known[name]
    )
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source, given in ((DEFAULTS_FILE, row.values), (MONITOR_FILE, overrides)):
        for field, value in given.items():
            if field in ("parameters", "headers", "prices", "search_body"):
                values[field] = {**values.get(field, {}), **value}
                origins.update({f"{field}.{key}": source for key in value})
            else:
                values[field] = value
                origins[field] = source
    for key in [k for k, v in values.get("parameters", {}).items() if v is None]:
        del values["parameters"][key]
        origins.pop(f"parameters.{key}")
    if "price_input" in overrides or "price_output" in overrides:
        values["prices"] = {}
        origins = {key: source for key, source in origins.items() if not key.startswith("prices.")}
    for field in ("rate", "call_timeout_s", "price_input", "price_output", "price_search"):
        if field in values:
            values[field] = float(values[field])
    values["prices"] = {model: (float(a), float(b)) for model, (a, b) in values.get("prices", {}).items()}
    return PlatformSettings(**{**values, "name": name, "models": tuple(values["models"]), "origins": origins})


def row_of_user(name: str) -> PlatformRow:
    """The row of a platform that only a monitor file knows: everything about it stands there."""
    return PlatformRow(name, MappingProxyType({}), MappingProxyType({}))


def base_url_complaint(url: str) -> str | None:
    """What is wrong with a platform's base URL (None: nothing): https only, http allowed for loopback hosts (DESIGN §10)."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("http", "https") or not host:
        return "is not an https URL"
    if parts.username is not None or parts.password is not None:
        return "must not carry a user or password: keys live in SSM"
    if parts.query or parts.fragment:
        return "must not have a query or fragment"
    if any(c.isspace() for c in url):
        return "must not contain spaces"
    if parts.scheme == "http" and not is_loopback(host):
        return "must use https (http is allowed for loopback hosts only)"
    return None


def is_loopback(host: str) -> bool:
    """Is this host name this machine itself?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
