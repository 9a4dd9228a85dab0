"""What does a catalogue file hold before anybody judged it? Texts, lists and mappings, each with the row it stands in.

YAML and CSV are both read into these, and ``record`` reads fields out of them. Scalars stay the text that was typed:
``no`` is a brand's name and ``22:00`` a time, whatever YAML makes of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text; ``plain`` when it was not quoted."""

    text: str
    row: int
    plain: bool = True

    @property
    def empty(self) -> bool:
        """Is there nothing in it (or YAML's null)?"""
        return not self.text.strip() or (self.plain and self.text in ("~", "null", "Null", "NULL"))


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list."""

    items: tuple[Node, ...]
    row: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping; keys are distinct."""

    entries: tuple[tuple[Scalar, Node], ...]
    row: int

    def get(self, name: str) -> Node | None:
        """The value of a key."""
        return next((node for key, node in self.entries if key.text == name), None)


Node: TypeAlias = Scalar | ListNode | MapNode


def plain_value(node: Node, *, numbers: bool = True) -> Any:
    """A node as plain data, for values that are passed on as they are: unquoted scalars become null, truth values and numbers.

    ``numbers=False`` is for words among which a number may be: ``007`` is not 7.
    """
    if isinstance(node, ListNode):
        return [plain_value(item, numbers=numbers) for item in node.items]
    if isinstance(node, MapNode):
        return {key.text: plain_value(value, numbers=numbers) for key, value in node.entries}
    if not node.plain:
        return node.text
    if node.empty:
        return None
    if node.text.lower() in _WORDS:
        return _WORDS[node.text.lower()]
    if not numbers:
        return node.text
    if _INTEGER.fullmatch(node.text) and len(node.text) < 20:
        return int(node.text)
    if _FLOAT.fullmatch(node.text):
        number = float(node.text)
        return number if abs(number) != float("inf") else node.text
    return node.text


def kind_of(node: Node) -> str:
    """What a node is, for people."""
    return {Scalar: "a single value", ListNode: "a list", MapNode: "a mapping"}[type(node)]
