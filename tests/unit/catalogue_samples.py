"""A small right catalogue, and ways to spoil one file of it."""

from __future__ import annotations

from brandvane.catalogue import Brand, Catalogue, Monitor, PlatformSettings, Question, Schedule
from brandvane.catalogue_files.faults import Fault
from brandvane.catalogue_files.folder import Reading, read_catalogue

BRANDS = """\
brands:
  - id: nike
    name: Nike
    aliases: [Nike Running]
    topics: [shoes]
  - id: bose
    name: Bose
    topics: [headphones]
"""
QUESTIONS = """\
questions:
  - id: first-pair
    text: Which running shoes should I buy first?
    topics: [shoes]
  - id: worth
    text: Is {brand} worth its price?
    brands: all
"""
MONITOR = """\
platforms:
  openai:
  hunyuan:
    rate: 2
schedules:
  - id: daily
    window: 02:00-04:00
    deadline: 06:00
    time_zone: Europe/Berlin
"""
SAMPLE = {"brands.yaml": BRANDS, "questions.yaml": QUESTIONS, "monitor.yaml": MONITOR}


def read(files: dict[str, str | bytes], *, without: tuple[str, ...] = ()) -> Reading:
    """The sample catalogue with some of its files replaced, added or left out."""
    merged: dict[str, str | bytes] = {**SAMPLE, **files}
    return read_catalogue(
        {
            name: content.encode() if isinstance(content, str) else content
            for name, content in merged.items()
            if name not in without
        }
    )


def brands(text: str | bytes) -> Reading:
    """The sample with other brands in YAML, and one question that all of them track."""
    return read({"brands.yaml": text, "questions.yaml": "- {id: any, text: 'Is {brand} good?', brands: all}\n"})


def questions(text: str | bytes) -> Reading:
    """The sample with other questions in YAML."""
    return read({"questions.yaml": text})


def monitor(text: str) -> Reading:
    """The sample with another monitor."""
    return read({"monitor.yaml": text})


def brands_csv(content: str | bytes) -> Reading:
    """The sample with brands from a table, and one question that all of them track."""
    question = "- {id: any, text: 'Is {brand} good?', brands: all}\n"
    return read({"brands.csv": content, "questions.yaml": question}, without=("brands.yaml",))


def questions_csv(content: str | bytes) -> Reading:
    """The sample with questions from a table."""
    return read({"questions.csv": content}, without=("questions.yaml",))


def only(reading: Reading) -> Fault:
    """The one fault of a reading, which has no catalogue then."""
    assert reading.catalogue is None
    assert len(reading.faults) == 1, [str(fault) for fault in reading.faults]
    return reading.faults[0]


def good(reading: Reading) -> Catalogue:
    """The catalogue of a reading without faults."""
    assert reading.catalogue is not None, [str(fault) for fault in reading.faults]
    return reading.catalogue


def place(fault: Fault) -> tuple[str, int | None, str, str]:
    """File, row, field and value of a fault."""
    return fault.file, fault.row, fault.field, fault.value


def schedule(
    start: str = "02:00", end: str = "04:00", deadline: str = "06:00", zone: str = "Europe/Berlin", name: str = "daily"
) -> Schedule:
    """A schedule."""
    return Schedule(name, start, end, deadline, zone)


def catalogue(*, questions: tuple[Question, ...] | None = None, brands: tuple[Brand, ...] | None = None) -> Catalogue:
    """A catalogue made without files."""
    openai = PlatformSettings(
        "openai",
        "openai_chat",
        "https://api.openai.com/v1",
        ("small",),
        rate=5.0,
        in_flight=20,
        parameters={"thinking": {"type": "disabled"}},
        prices={"small": (1.0, 2.0)},
        origins={"rate": "monitor.yaml"},
    )
    return Catalogue(
        brands=brands
        if brands is not None
        else (Brand("nike", "Nike", aliases=("Nike Running",)), Brand("bose", "Bose")),
        questions=questions
        if questions is not None
        else (
            Question("q1", "Which shoes?", brands=("nike",)),
            Question("q2", "Is {brand} good?", brands=("nike", "bose")),
        ),
        monitor=Monitor((openai,), (schedule(),), locale="en"),
    )
