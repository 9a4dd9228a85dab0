"""How does a record look as a DynamoDB item? Exact both ways, and tolerant of what newer code has added.

Floats travel as their shortest exact decimal (``repr``), so that a condition on a time that was read holds. None, empty text,
empty bytes and empty sets are absent attributes (DynamoDB stores no empty set, and its older editions nothing that is empty);
an absent field reads as its default, else as None or empty text.
Attributes that this code does not know are left out on reading and never touched on updating. A record of a higher version
is read as far as it can be: values this code has no name for stay plain text, and ``v`` tells the caller to keep off.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = Mapping[str, Any]  # one DynamoDB attribute value, such as {"S": "x"}
Item = Mapping[str, Value]
Record = TypeVar("Record")


class Unreadable(Exception):
    """An item that cannot be a record of its class: says which attribute and why."""


def value_of(value: Any) -> dict[str, Any] | None:
    """The attribute value; None where the attribute is to be absent.

    Raises:
        ValueError: a float that is no number (DynamoDB has no such value).
        TypeError: a type that no record has.
    """
    if value is None or value in ("", b"", frozenset()):
        return None
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):  # enums of text as well
        return {"S": str(value)}
    if isinstance(value, int | float):
        return {"N": _number(value)}
    if isinstance(value, bytes):
        return {"B": value}
    return _collection(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be stored as a number")
    return repr(value)


def _collection(value: Any) -> dict[str, Any]:
    if isinstance(value, frozenset):
        return {"NS": [_number(number) for number in sorted(value)]}
    if isinstance(value, tuple):
        return {"L": [value_of(each) or {"NULL": True} for each in value]}
    if isinstance(value, Mapping):
        return {"M": {str(key): encoded for key, each in value.items() if (encoded := value_of(each)) is not None}}
    if is_dataclass(value) and not isinstance(value, type):
        return {"M": item_of(value)}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def item_of(record: Any) -> dict[str, dict[str, Any]]:
    """All attributes of a dataclass instance."""
    encoded = ((field.name, value_of(getattr(record, field.name))) for field in fields(record))
    return {name: value for name, value in encoded if value is not None}


def record_of(cls: type[Record], item: Item, *, v: int) -> Record:
    """A record of a dataclass; ``v`` is the version this code writes.

    Raises:
        Unreadable: an attribute is missing or of the wrong kind.
    """
    newer = _int_or(item.get("v"), v) > v
    hints: dict[str, Any] = _hints(cls)  # type: ignore[arg-type]  # a class is hashable
    found: dict[str, Any] = {}
    for field in fields(cls):  # type: ignore[arg-type]  # callers give dataclasses only
        value = item.get(field.name)
        if value is not None:
            found[field.name] = _read(cls, field.name, hints[field.name], value, newer)
        elif _is_required(field):
            found[field.name] = _absent(cls, field.name, hints[field.name])
    return cls(**found)


def _absent(cls: type[Any], name: str, hint: Any) -> Any:
    if _is_optional(hint):
        return None
    if hint is str:
        return ""
    raise Unreadable(f"{cls.__name__} without attribute {name!r}")


def _read(cls: type[Any], name: str, hint: Any, value: Value, newer: bool) -> Any:
    try:
        return _decoded(hint, value, newer)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"{cls.__name__}: attribute {name!r} is {value!r}") from error


def _decoded(hint: Any, value: Value, newer: bool) -> Any:
    if _is_optional(hint):
        hint = next(arg for arg in get_args(hint) if arg is not types.NoneType)
    origin, args = get_origin(hint), get_args(hint)
    if hint is bool:
        return bool(value["BOOL"])
    if hint is int:
        return int(value["N"])
    if hint is float:
        return float(value["N"])
    if hint is str or origin is Literal:
        return "" if value.get("NULL") else str(value["S"])
    if hint is bytes:
        return bytes(value["B"])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _member(hint, value["S"], newer)
    if is_dataclass(hint) and isinstance(hint, type):
        return record_of(hint, value["M"], v=0)
    if origin is tuple:
        return tuple(_decoded(args[0], each, newer) for each in value["L"])
    if origin is frozenset:
        return frozenset(int(number) for number in value["NS"])
    return {key: _decoded(args[1], each, newer) for key, each in value["M"].items()}


def _member(kind: type[Enum], text: str, newer: bool) -> Any:
    try:
        return kind(text)
    except ValueError:
        if newer:
            return text
        raise


def _int_or(value: Value | None, default: int) -> int:
    return default if value is None else int(value["N"])


def _is_optional(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and types.NoneType in get_args(hint)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


@lru_cache(maxsize=32)
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls)
