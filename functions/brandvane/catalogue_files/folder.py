"""What catalogue does a folder hold, and what is wrong with it?

``brands.yaml`` or ``brands.csv``, ``questions.yaml`` or ``questions.csv``, ``monitor.yaml``. Reading a folder touches the disk
and nothing else does: ``read_catalogue`` is a function of bytes. Either everything is right and there is a catalogue, or there
are faults and none.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from brandvane.catalogue import Brand, Catalogue
from brandvane.catalogue_files.brands import COLUMNS as BRAND_COLUMNS
from brandvane.catalogue_files.brands import read_brands
from brandvane.catalogue_files.csv_table import Columns, read_csv
from brandvane.catalogue_files.faults import Fault, Findings
from brandvane.catalogue_files.links import BrandIndex, check_brands, track
from brandvane.catalogue_files.monitor import MonitorDraft, read_monitor
from brandvane.catalogue_files.nodes import Node
from brandvane.catalogue_files.questions import COLUMNS as QUESTION_COLUMNS
from brandvane.catalogue_files.questions import read_questions
from brandvane.catalogue_files.text import decode
from brandvane.catalogue_files.topics import Spellings
from brandvane.catalogue_files.yaml_file import read_yaml

FILE_MAX_BYTES = 8 * 1024 * 1024  # 5,000 questions are about 1 MB; beyond this, it is the wrong file
BRAND_FILES = ("brands.yaml", "brands.csv")
QUESTION_FILES = ("questions.yaml", "questions.csv")
MONITOR_FILES = ("monitor.yaml",)
ALL_FILES = (*BRAND_FILES, *QUESTION_FILES, *MONITOR_FILES)


@dataclass(frozen=True, slots=True)
class Reading:
    """The catalogue (None when there are faults), faults, warnings, and the row of ``monitor.yaml`` each platform stands in."""

    catalogue: Catalogue | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()
    platform_rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrandReading:
    """The brands of a folder (none when there are faults), faults and warnings."""

    brands: tuple[Brand, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()


def read_brand_folder(folder: Path) -> BrandReading:
    """Read only the brands of a folder, for those who look at texts and ask nobody; every problem is a fault."""
    findings = Findings()
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "there is no such folder"
        findings.fault(str(folder), what, "Name the folder that holds brands.yaml or brands.csv")
        return BrandReading((), findings.faults)
    paths = [path for name in BRAND_FILES if (path := folder / name).is_symlink() or path.exists()]
    files = {path.name: _bytes(path, findings) for path in paths}
    name, node = _pick(BRAND_FILES, BRAND_COLUMNS, files, findings)
    drafts = read_brands(node, name, findings)
    if findings.readable(name):
        check_brands(drafts, BrandIndex(drafts))
    brands = () if len(findings) else tuple(draft.brand for draft in drafts)
    return BrandReading(brands, findings.faults, findings.warnings)


def read_folder(folder: Path) -> Reading:
    """Read the catalogue of a folder; every problem, the folder's absence included, is a fault and not an exception."""
    findings = Findings()
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "there is no such folder"
        findings.fault(str(folder), what, "Name the folder that holds brands, questions and monitor.yaml")
        return Reading(None, findings.faults)
    files = {}
    for name in ALL_FILES:
        path = folder / name
        if path.is_symlink() or path.exists():
            data = _bytes(path, findings)
            files[name] = data
    for name in ("brands", "questions", "monitor"):
        if (folder / f"{name}.yml").exists():
            findings.fault(f"{name}.yml", "files end in .yaml here", f"Rename it to {name}.yaml")
    return read_catalogue(files, findings)


def _bytes(path: Path, findings: Findings) -> bytes | None:
    """A file's content, its size looked at before it is read; None with a fault."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            findings.fault(path.name, "not a file", "Put a file in its place")
            return None
        if facts.st_size > FILE_MAX_BYTES:
            _too_large(path.name, facts.st_size, findings)
            return None
        with path.open("rb") as file:
            return file.read(FILE_MAX_BYTES + 1)  # should it grow meanwhile
    except OSError as error:
        findings.fault(path.name, f"cannot be read: {error.strerror}", "Look at its permissions")
        return None


def _too_large(name: str, size: int, findings: Findings) -> None:
    megabytes, cap = size / 1024 / 1024, FILE_MAX_BYTES // 1024 // 1024
    findings.fault(
        name, f"{megabytes:.1f} MB, and at most {cap} MB are read", "Is it the right file? Split or shorten it"
    )


def read_catalogue(files: Mapping[str, bytes | None], findings: Findings | None = None) -> Reading:
    """The catalogue that files hold, by name; None stands for a file that is there but could not be read."""
    found = findings if findings is not None else Findings()
    brand_file, brand_node = _pick(BRAND_FILES, BRAND_COLUMNS, files, found)
    question_file, question_node = _pick(QUESTION_FILES, QUESTION_COLUMNS, files, found)
    monitor_file, monitor_node = _pick(MONITOR_FILES, None, files, found)
    brands = read_brands(brand_node, brand_file, found)
    questions = read_questions(question_node, question_file, found)
    monitor = read_monitor(monitor_node, monitor_file, found)
    index = BrandIndex(brands)
    tracked = [draft.question for draft in questions]
    if found.readable(brand_file):
        check_brands(brands, index)
        tracked = track(questions, index)
        monitor = _with_brands(monitor, index)
    rows = monitor.platform_rows if monitor is not None else {}
    if len(found) or monitor is None:
        return Reading(None, found.faults, found.warnings, rows)
    schedules = tuple(draft.schedule for draft in monitor.schedules)
    known = [draft.brand for draft in brands]
    named = [*(brand.topics for brand in known), *(question.topics for question in tracked)]
    spellings = Spellings(topic for topics in named for topic in topics)
    catalogue = Catalogue(
        tuple(replace(brand, topics=spellings.of(brand.topics)) for brand in known),
        tuple(replace(question, topics=spellings.of(question.topics)) for question in tracked),
        replace(monitor.monitor, schedules=schedules),
    )
    return Reading(catalogue, (), found.warnings, rows)


def _with_brands(monitor: MonitorDraft | None, index: BrandIndex) -> MonitorDraft | None:
    if monitor is None:
        return None
    schedules = tuple(
        replace(draft, schedule=replace(draft.schedule, brands=index.check(draft.brands, draft.record, "brands")))
        for draft in monitor.schedules
    )
    return replace(monitor, schedules=schedules)


def _pick(
    names: tuple[str, ...], columns: Columns | None, files: Mapping[str, bytes | None], findings: Findings
) -> tuple[str, Node | None]:
    """The one file of ``names`` that is there, and what it holds; its first name and None otherwise."""
    present = [name for name in names if name in files]
    if not present:
        findings.fault(names[0], "the file is missing", f"Add {' or '.join(names)}; see examples/")
        findings.unreadable(names[0])
        return names[0], None
    if len(present) > 1:
        findings.fault(present[1], f"{present[0]} is there too", "Keep one of the two: which counts is not clear")
        findings.unreadable(present[0])
    name = present[0]
    node = _node(name, columns, files[name], findings)
    if node is None:
        findings.unreadable(name)
    return name, node


def _node(name: str, columns: Columns | None, data: bytes | None, findings: Findings) -> Node | None:
    if data is None:
        return None
    if len(data) > FILE_MAX_BYTES:
        _too_large(name, len(data), findings)
        return None
    text = decode(data, name, findings)
    if text is None:
        return None
    if columns is not None and name.endswith(".csv"):
        return read_csv(text, columns, name, findings)
    return read_yaml(text, name, findings)
