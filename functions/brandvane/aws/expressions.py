"""How is a conditional update said in DynamoDB's language? Collects names and values while expressions are written.

Every attribute goes through a placeholder, so that no reserved word can ever be in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from brandvane.aws.items import value_of


class Expressions:
    """One request's placeholders. Methods return text that may be joined freely with AND and OR."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, dict[str, Any]] = {}

    def name(self, attribute: str) -> str:
        """Placeholder of an attribute."""
        return self._names.setdefault(attribute, f"#n{len(self._names)}")

    def value(self, value: Any) -> str:
        """Placeholder of a value that is present."""
        encoded = value_of(value)
        if encoded is None:
            raise ValueError("an absent value has no placeholder")
        placeholder = f":v{len(self._values)}"
        self._values[placeholder] = encoded
        return placeholder

    def compare(self, attribute: str, operator: str, value: Any) -> str:
        """``attribute operator value``."""
        return f"{self.name(attribute)} {operator} {self.value(value)}"

    def absent(self, attribute: str) -> str:
        """The attribute is not there."""
        return f"attribute_not_exists({self.name(attribute)})"

    def present(self, attribute: str) -> str:
        """The attribute is there."""
        return f"attribute_exists({self.name(attribute)})"

    def equals(self, attribute: str, value: Any) -> str:
        """The attribute has this value; for one that is stored as absence, it is not there."""
        return self.absent(attribute) if value_of(value) is None else self.compare(attribute, "=", value)

    def one_of(self, attribute: str, values: Iterable[Any]) -> str:
        """The attribute has one of these values."""
        return f"{self.name(attribute)} IN ({', '.join(self.value(value) for value in values)})"

    def update(self, put: Mapping[str, Any], add: Mapping[str, Any] | None = None) -> str:
        """SET what has a value, REMOVE what is None, ADD to counters and sets."""
        kept = {name: value for name, value in put.items() if value_of(value) is not None}
        gone = [name for name in put if name not in kept]
        parts = []
        if kept:
            parts.append("SET " + ", ".join(self.compare(name, "=", value) for name, value in kept.items()))
        if gone:
            parts.append("REMOVE " + ", ".join(self.name(name) for name in gone))
        if add:
            parts.append("ADD " + ", ".join(f"{self.name(name)} {self.value(value)}" for name, value in add.items()))
        return " ".join(parts)

    @property
    def names(self) -> dict[str, str]:
        """``ExpressionAttributeNames``."""
        return {placeholder: attribute for attribute, placeholder in self._names.items()}

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """``ExpressionAttributeValues``."""
        return dict(self._values)


def both(*conditions: str) -> str:
    """All of them hold."""
    return " AND ".join(f"({condition})" for condition in conditions)


def either(*conditions: str) -> str:
    """One of them holds."""
    return " OR ".join(f"({condition})" for condition in conditions)
