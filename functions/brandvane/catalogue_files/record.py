"""What is in one record's fields? Typed reading of a node, with a fault for everything that is not as it should be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from brandvane.catalogue_files.faults import Findings, did_you_mean
from brandvane.catalogue_files.nodes import ListNode, MapNode, Node, Scalar, kind_of, plain_value

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]*")
IDENTIFIER_MAX = 64
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_Choice = TypeVar("_Choice")


class Record:
    """One mapping of a file. ``prefix`` names where it stands, for the fields of mappings inside mappings."""

    def __init__(
        self, node: MapNode, file: str, findings: Findings, fields: Iterable[str], *, prefix: str = ""
    ) -> None:
        self._file = file
        self._findings = findings
        self._prefix = prefix
        self._known = tuple(fields)
        self.row = node.row
        self._values: dict[str, Node] = {}
        for key, value in node.entries:
            if key.text in self._known:
                self._values[key.text] = value
            else:
                remedy = did_you_mean(key.text, self._known, f"Known are: {', '.join(self._known)}")
                findings.fault(file, "unknown field", remedy, row=key.row, field=self._path(key.text))

    def fault(self, field: str, message: str, remedy: str, *, row: int | None = None, value: object = "") -> None:
        """Complain about a field, in its own row unless another is given."""
        where = row if row is not None else self.row_of(field)
        self._findings.fault(self._file, message, remedy, row=where, field=self._path(field), value=value)

    def warn(self, field: str, message: str, remedy: str, *, value: object = "") -> None:
        """Remark on a field."""
        self._findings.warn(self._file, message, remedy, row=self.row_of(field), field=self._path(field), value=value)

    def row_of(self, field: str) -> int:
        """The row a field stands in (the record's own when it has none)."""
        node = self._values.get(field)
        return node.row if node is not None else self.row

    def has(self, field: str) -> bool:
        """Is the field there, with something in it?"""
        node = self._values.get(field)
        return node is not None and not (isinstance(node, Scalar) and node.empty)

    def text(self, field: str, *, required: bool = False, longest: int = 200) -> str:
        """A text without its outer spaces; empty when there is none."""
        if not self.has(field):
            if required:
                self.fault(field, f"{field} is missing or empty", "Fill it in")
            return ""
        node = self._scalar(field)
        if node is None:
            return ""
        text = node.text.strip()
        if len(text) > longest:
            self.fault(field, f"{len(text):,} characters long", f"At most {longest:,} are allowed", value=text)
            return ""
        return text

    def identifier(self, field: str = "id", longest: int = IDENTIFIER_MAX) -> str:
        """An id; empty when it is missing or not one."""
        text = self.text(field, required=True)
        if not text:
            return ""
        if not IDENTIFIER.fullmatch(text) or len(text) > longest:
            proposal = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:longest].strip("-")
            example = f", such as '{proposal}'" if proposal else ""
            remedy = f"Use a-z, 0-9 and '-', beginning with a letter or digit, at most {longest}{example}"
            self.fault(field, "not a valid id", remedy, value=text)
            return ""
        return text

    def scalars(self, field: str, *, single: bool = False) -> tuple[Scalar, ...]:
        """The items of a list of texts that are not empty; ``single`` lets a lone text stand for a list of one."""
        if not self.has(field):
            return ()
        node = self._values[field]
        if isinstance(node, Scalar) and single:
            node = ListNode((node,), node.row)
        if not isinstance(node, ListNode):
            self.fault(
                field, f"{kind_of(node)} where a list is wanted", "Write [one, two], or one item a row after '- '"
            )
            return ()
        good = []
        for item in node.items:
            if not isinstance(item, Scalar):
                self.fault(field, f"{kind_of(item)} inside a list of texts", "Write plain texts", row=item.row)
            elif item.empty:
                self.fault(field, "an empty item", "Remove it, or write what it should be", row=item.row)
            else:
                good.append(Scalar(item.text.strip(), item.row, item.plain))
        return tuple(good)

    def texts(self, field: str, *, single: bool = False) -> tuple[str, ...]:
        """A list of texts, each once."""
        return tuple(dict.fromkeys(item.text for item in self.scalars(field, single=single)))

    def number(self, field: str, low: float, high: float, *, above: bool = False) -> float | None:
        """A number from ``low`` (or above it) to ``high``; None when there is none."""
        node = self._scalar(field) if self.has(field) else None
        if node is None:
            return None
        if not _NUMBER.fullmatch(node.text.strip()):
            self.fault(field, "not a number", "Write a number such as 2.5", value=node.text)
            return None
        number = float(node.text)
        if not (low < number if above else low <= number) or number > high:
            bound = f"above {low:g}" if above else f"{low:g} or more"
            self.fault(field, "out of range", f"Write a number {bound} and at most {high:,.10g}", value=node.text)
            return None
        return number

    def whole(self, field: str, low: int, high: int) -> int | None:
        """A whole number in a range; None when there is none."""
        number = self.number(field, low, high)
        if number is not None and number != int(number):
            self.fault(field, "not a whole number", "Write it without a fraction", value=f"{number:g}")
            return None
        return None if number is None else int(number)

    def choice(self, field: str, choices: Mapping[str, _Choice], default: _Choice) -> _Choice:
        """One of several words, in any letter case."""
        text = self.text(field)
        if not text:
            return default
        if text.casefold() in choices:
            return choices[text.casefold()]
        self.fault(field, "not one of the choices", f"Write one of: {', '.join(choices)}", value=text)
        return default

    def mapping(self, field: str) -> MapNode | None:
        """A mapping; None when there is none."""
        if not self.has(field):
            return None
        node = self._values[field]
        if not isinstance(node, MapNode):
            self.fault(field, f"{kind_of(node)} where a mapping is wanted", "Write 'name: value' in rows below it")
            return None
        return node

    def free(self, field: str, *, numbers: bool = True) -> dict[str, Any]:
        """A mapping of anything, as plain data; without ``numbers`` they stay the text that was typed."""
        node = self.mapping(field)
        return {} if node is None else {key.text: plain_value(value, numbers=numbers) for key, value in node.entries}

    def node(self, field: str) -> Node | None:
        """The field as it was read."""
        return self._values.get(field)

    def _scalar(self, field: str) -> Scalar | None:
        node = self._values[field]
        if isinstance(node, Scalar):
            return node
        self.fault(field, f"{kind_of(node)} where a single value is wanted", "Write one value")
        return None

    def _path(self, field: str) -> str:
        return f"{self._prefix}.{field}" if self._prefix else field


def records_of(node: Node | None, key: str, file: str, findings: Findings) -> tuple[MapNode, ...]:
    """The records of a file: a list of mappings, at the top or below the one key ``key``."""
    if isinstance(node, MapNode):
        for name, _ in node.entries:
            if name.text != key:
                remedy = did_you_mean(name.text, (key,), f"The file holds one list, below '{key}:'")
                findings.fault(file, "unknown field", remedy, row=name.row, field=name.text)
        if node.get(key) is None and node.entries:
            findings.unreadable(file)  # most likely the key is misspelt
        node = node.get(key) or ListNode((), node.row)
    if not isinstance(node, ListNode):
        if node is not None:
            findings.fault(
                file, f"{kind_of(node)} where a list of {key} is wanted", "Begin each with '- id: …'", row=node.row
            )
            findings.unreadable(file)
        return ()
    if not node.items and findings.readable(file):
        findings.fault(file, f"there are no {key}", "Add at least one")
    rows = []
    for item in node.items:
        if isinstance(item, MapNode):
            rows.append(item)
        else:
            findings.fault(file, f"{kind_of(item)} where a mapping is wanted", "Begin it with '- id: …'", row=item.row)
    return tuple(rows)
