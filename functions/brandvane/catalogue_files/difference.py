"""What changes from one catalogue to another?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from brandvane.catalogue import Catalogue

_KINDS = ("brands", "questions", "platforms", "schedules")


@dataclass(frozen=True, slots=True)
class Difference:
    """By kind (brands, questions, platforms, schedules): ids that came and went, and ids whose named fields changed.

    ``monitor`` holds the monitor's other settings that changed, as (before, after); ``addresses`` where a platform that
    stays is asked, where that changed: simulated or real is a matter of the address alone.
    """

    added: Mapping[str, tuple[str, ...]]
    removed: Mapping[str, tuple[str, ...]]
    changed: Mapping[str, Mapping[str, tuple[str, ...]]]
    monitor: Mapping[str, tuple[Any, Any]]
    addresses: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Is there none?"""
        return not (self.added or self.removed or self.changed or self.monitor)

    def to_json(self) -> dict[str, Any]:
        """All parts by name."""
        return {
            "added": {kind: list(ids) for kind, ids in self.added.items()},
            "removed": {kind: list(ids) for kind, ids in self.removed.items()},
            "changed": {kind: {name: list(parts) for name, parts in ids.items()} for kind, ids in self.changed.items()},
            "monitor": {name: {"before": before, "after": after} for name, (before, after) in self.monitor.items()},
            "addresses": {name: {"before": before, "after": after} for name, (before, after) in self.addresses.items()},
        }

    def lines(self, most: int = 20) -> Iterator[str]:
        """One line a change, at most ``most`` of each sort."""
        for sign, by_kind in (("+", self.added), ("-", self.removed)):
            for kind, ids in by_kind.items():
                yield from _cut([f"{sign} {kind[:-1]} {name}" for name in ids], most)
        for kind, changes in self.changed.items():
            told = {name: (self._told(kind, name, part) for part in parts) for name, parts in changes.items()}
            yield from _cut([f"~ {kind[:-1]} {name}: {', '.join(parts)}" for name, parts in told.items()], most)
        for name, (before, after) in self.monitor.items():
            yield f"~ monitor {name}: {before} -> {after}"

    def _told(self, kind: str, name: str, part: str) -> str:
        if kind != "platforms" or part != "base_url" or name not in self.addresses:
            return part
        return f"base_url {self.addresses[name][0]} -> {self.addresses[name][1]}"


def _cut(lines: list[str], most: int) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        yield f"  and {len(lines) - most:,} more ({len(lines):,} in all)"


def difference(before: Catalogue, after: Catalogue) -> Difference:
    """What ``after`` has that ``before`` has not, and the other way round. Order alone is no difference."""
    added: dict[str, tuple[str, ...]] = {}
    removed: dict[str, tuple[str, ...]] = {}
    changed: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for kind in _KINDS:
        old, new = _by_id(before, kind), _by_id(after, kind)
        if came := tuple(name for name in new if name not in old):
            added[kind] = came
        if went := tuple(name for name in old if name not in new):
            removed[kind] = went
        both = {name: _fields(old[name], new[name]) for name in new if name in old}
        if parts := {name: names for name, names in both.items() if names}:
            changed[kind] = parts
    monitor = {
        f.name: (getattr(before.monitor, f.name), getattr(after.monitor, f.name))
        for f in fields(after.monitor)
        if f.name not in _KINDS and getattr(before.monitor, f.name) != getattr(after.monitor, f.name)
    }
    old, new = _by_id(before, "platforms"), _by_id(after, "platforms")
    addresses = {
        name: (old[name].base_url, new[name].base_url)
        for name in new
        if name in old and old[name].base_url != new[name].base_url
    }
    return Difference(added, removed, changed, monitor, addresses)


def _by_id(catalogue: Catalogue, kind: str) -> dict[str, Any]:
    if kind == "platforms":
        return {platform.name: platform for platform in catalogue.monitor.platforms}
    rows = catalogue.monitor.schedules if kind == "schedules" else getattr(catalogue, kind)
    return {row.id: row for row in rows}


def _fields(old: Any, new: Any) -> tuple[str, ...]:
    # Where a value came from says nothing about what is asked.
    return tuple(f.name for f in fields(new) if f.name != "origins" and getattr(old, f.name) != getattr(new, f.name))
