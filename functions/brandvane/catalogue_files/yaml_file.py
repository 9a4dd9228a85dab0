"""What does a YAML file hold? Its events become nodes with rows; nothing is constructed, resolved or expanded on the way.

The parser's events are linear in the file's size. Aliases are shared, and what they would expand to is counted before anybody
walks it, so that a few lines cannot grow into millions of values. The only module that knows PyYAML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from brandvane.catalogue_files.faults import Findings
from brandvane.catalogue_files.nodes import ListNode, MapNode, Node, Scalar

DEPTH_MAX = 20
ALIASED_NODES_MAX = 10_000
# libyaml where PyYAML was built with it: the same events, forty times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What the file itself must not hold either (``text``), and half characters: escapes can write them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


class _Refused(Exception):
    """The file is valid YAML that is not wanted here."""

    def __init__(self, message: str, remedy: str, row: int, value: str = "") -> None:
        super().__init__(message)
        self.message, self.remedy, self.row, self.value = message, remedy, row, value


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    row: int
    anchor: str | None
    is_map: bool
    children: list[Node] = field(default_factory=list)
    size: int = 1


def read_yaml(text: str, file: str, findings: Findings) -> Node | None:
    """The root node, or None with a fault: syntax (with its row), duplicate keys, tags, several documents, too much nesting."""
    try:
        return _Builder(file, findings).build(text)
    except _Refused as refused:
        findings.fault(file, refused.message, refused.remedy, row=refused.row, value=refused.value)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        line = text.splitlines()[mark.line : mark.line + 1] if mark else []
        indent = line[0][: len(line[0]) - len(line[0].lstrip())] if line else ""
        remedy = "Indent with spaces instead of tabs" if "\t" in indent else _SYNTAX_REMEDY
        findings.fault(file, f"not valid YAML: {problem}", remedy, row=mark.line + 1 if mark else None)
    except yaml.reader.ReaderError as error:
        row = text.count("\n", 0, error.position) + 1
        findings.fault(file, f"not valid YAML: {error.reason}", "Remove that character", row=row)
    return None


_SYNTAX_REMEDY = (
    "Look at this row and the one before: indentation, a missing colon or quote (texts with ': ' or '#' need quotes)"
)


class _Builder:
    def __init__(self, file: str, findings: Findings) -> None:
        self._file = file
        self._findings = findings
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._aliased = 0
        self._root: Node | None = None
        self._documents = 0

    def build(self, text: str) -> Node | None:
        for event in yaml.parse(text, Loader=_LOADER):
            row = event.start_mark.line + 1 if event.start_mark is not None else 1
            if isinstance(event, yaml.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise _Refused("a second document begins", "Remove the '---'; one file is one document", row)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor, row)
            elif isinstance(event, yaml.ScalarEvent):
                if event.tag not in _TEXT_TAGS:
                    raise _Refused("tags are not used here", "Remove the tag", row, event.tag or "")
                if (control := _CONTROL.search(event.value)) is not None:
                    remedy = "Remove it: texts hold letters, spaces and line ends"
                    raise _Refused("an escape stands for a control character", remedy, row, control.group())
                self._add(Scalar(event.value, row, not event.style), 1, event.anchor)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                self._open(event, row)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                self._close()
        if self._root is None:
            self._findings.fault(self._file, "the file is empty", "Fill it in; see examples/")
        return self._root

    def _open(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent, row: int) -> None:
        if event.tag not in (None, "!"):
            raise _Refused("tags are not used here", "Remove the tag", row, event.tag)
        if len(self._stack) >= DEPTH_MAX:
            raise _Refused(f"nested more than {DEPTH_MAX} levels deep", "Catalogues need four; remove some", row)
        self._stack.append(_Open(row, event.anchor, isinstance(event, yaml.MappingStartEvent)))

    def _alias(self, anchor: str | None, row: int) -> None:
        if anchor is None or anchor not in self._anchors:
            raise _Refused(
                "the alias refers to nothing that is complete at this point", "Write the value out", row, f"*{anchor}"
            )
        node, size = self._anchors[anchor]
        self._aliased += size
        if self._aliased > ALIASED_NODES_MAX:
            raise _Refused(
                f"aliases would expand to more than {ALIASED_NODES_MAX:,} values",
                "Write the values out, or use topics to name many brands",
                row,
                f"*{anchor}",
            )
        self._add(node, size, None)

    def _close(self) -> None:
        done = self._stack.pop()
        node: Node = self._mapping(done) if done.is_map else ListNode(tuple(done.children), done.row)
        self._add(node, done.size, done.anchor)

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)
        if self._stack:
            self._stack[-1].children.append(node)
            self._stack[-1].size += size
        else:
            self._root = node

    def _mapping(self, done: _Open) -> MapNode:
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key, value in zip(done.children[::2], done.children[1::2], strict=True):
            if not isinstance(key, Scalar):
                raise _Refused("a key must be a word", "Write 'name: value'", key.row)
            if key.text == "<<":
                raise _Refused("merge keys are not used here", "Write the fields out", key.row, "<<")
            if key.text in entries:
                self._findings.fault(
                    self._file,
                    f"the key stands twice; first in row {entries[key.text][0].row}",
                    "Remove one of the two",
                    row=key.row,
                    field=key.text,
                )
                continue
            entries[key.text] = (key, value)
        return MapNode(tuple(entries.values()), done.row)
