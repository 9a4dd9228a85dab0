"""What does the demo ask? The shipped example, or the questions of a corpus, with a monitor that points at simulated platforms.

The catalogue is written to a folder and then goes the way of every catalogue: checked, pushed, pinned by the run.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from brandvane.catalogue import Catalogue, Selection
from brandvane.catalogue_files.folder import BRAND_FILES, QUESTION_FILES, read_brand_folder, read_folder
from brandvane.cli.catalogue_output import print_findings
from brandvane.cli.errors import CliError
from brandvane.expansion import Expansion
from brandvane.platforms.registry import platform_rows

ANSWERS_FILE = "answers.jsonl"
BRANDS_FILE = "brands.json"
CALL_TIMEOUT_S = 8
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the simulated platforms are asked: their limits as the monitor states them, and how long a call is expected to take."""

    rate: float = 10.0
    in_flight: int = 60
    expected_hold_s: float = 12.0


def example_questions(source: Path, folder: Path) -> None:
    """Copy brands and questions of an example."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*BRAND_FILES, *QUESTION_FILES):
        (folder / name).unlink(missing_ok=True)
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)


def brand_names(folder: Path) -> tuple[str, ...]:
    """What simulated platforms may name in their answers: the brands that are looked for."""
    return tuple(brand.name for brand in read_brand_folder(folder).brands)


def corpus_questions(corpus: Path, folder: Path) -> None:
    """Write brands and questions of a corpus; every brand tracks every question.

    Raises:
        CliError: a file is missing or not laid out as it should be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*BRAND_FILES, *QUESTION_FILES):
        (folder / name).unlink(missing_ok=True)
    brands = brand_rows(_json(corpus / BRANDS_FILE), str(corpus / BRANDS_FILE))
    texts = question_texts(_lines(corpus / ANSWERS_FILE), str(corpus / ANSWERS_FILE))
    _dump(folder / "brands.yaml", {"brands": brands})
    questions = [{"id": f"q-{number:04d}", "text": text, "brands": "all"} for number, text in enumerate(texts, start=1)]
    _dump(folder / "questions.yaml", {"questions": questions})


def question_texts(rows: Iterable[Any], where: str) -> list[str]:
    """Every distinct question text that has a recorded answer, in the file's order.

    Raises:
        CliError: a row is no object, or its question is neither a text nor null.
    """
    texts: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise CliError(f"{where}, line {number}: not a JSON object with question, model and answer", 2)
        question, answer = row.get("question"), row.get("answer")
        if question is None:
            continue
        if not isinstance(question, str):
            raise CliError(f"{where}, line {number}: 'question' must be a text or null, not {question!r}", 2)
        if isinstance(answer, str) and answer.strip() and question.strip():
            texts[question] = None
    if not texts:
        raise CliError(f"{where}: no question has a recorded answer", 2)
    return list(texts)


def brand_rows(rows: Any, where: str) -> list[dict[str, Any]]:
    """Rows of ``brands.yaml`` for a corpus's list of ``{"brand", "aliases"}``.

    Raises:
        CliError: it is no such list.
    """
    if not isinstance(rows, list) or not rows:
        raise CliError(f"{where}: must be a list of objects with 'brand' and 'aliases'", 2)
    found: list[dict[str, Any]] = []
    taken: set[str] = set()
    for number, row in enumerate(rows, start=1):
        name = row.get("brand") if isinstance(row, dict) else None
        aliases = row.get("aliases", []) if isinstance(row, dict) else []
        if not isinstance(name, str) or not name or not isinstance(aliases, list):
            raise CliError(f"{where}, entry {number}: needs 'brand' (a text) and 'aliases' (a list of texts)", 2)
        identifier = _identifier(name, number, taken)
        taken.add(identifier)
        others = [alias for alias in dict.fromkeys(aliases) if alias != name]
        found.append({"id": identifier, "name": name, "aliases": others})
    return found


def _identifier(name: str, number: int, taken: set[str]) -> str:
    """An id made of the name's Latin letters; where there are none, or it is taken, of its number."""
    plain = _SLUG.sub("-", name.lower()).strip("-")[:50].strip("-")
    return plain if plain and plain != "all" and plain not in taken else f"brand-{number}"


def write_monitor(
    folder: Path,
    platforms: Sequence[str],
    base_urls: Mapping[str, str],
    pace: Pace,
    samples: int,
    now: datetime,
    protocols: Mapping[str, str] | None = None,
) -> None:
    """``monitor.yaml``: the platforms at their simulated addresses, and one schedule that is not due for half a day.

    ``protocols``: of those that speak another one than their row says.
    """
    document = {
        "platforms": {name: _simulated(name, base_urls, pace, protocols) for name in platforms},
        "samples": samples,
        "time_zone": "UTC",
        "expected_hold_s": pace.expected_hold_s,
        "schedules": [schedule_in_half_a_day(now)],
    }
    _dump(folder / "monitor.yaml", document)


def write_play_monitor(
    source: Path,
    folder: Path,
    platforms: Sequence[str],
    base_urls: Mapping[str, str],
    pace: Pace,
    now: datetime,
    protocols: Mapping[str, str] | None = None,
) -> None:
    """The example's own monitor with some of its platforms; those in ``base_urls`` are simulated ones.

    Its schedules give way to one that is not due for half a day, so that nothing is asked that nobody has asked for.
    """
    import yaml

    document = yaml.safe_load((source / "monitor.yaml").read_text(encoding="utf-8"))
    told = document["platforms"]
    document["platforms"] = {
        name: {**(told.get(name) or {}), **(_simulated(name, base_urls, pace, protocols) if name in base_urls else {})}
        for name in platforms
    }
    document["schedules"] = [schedule_in_half_a_day(now)]
    document["time_zone"] = "UTC"
    _dump(folder / "monitor.yaml", document)


def _simulated(
    name: str, base_urls: Mapping[str, str], pace: Pace, protocols: Mapping[str, str] | None
) -> dict[str, Any]:
    spoken = (protocols or {}).get(name)
    settings = {"rate": pace.rate, "in_flight": pace.in_flight, "call_timeout_s": CALL_TIMEOUT_S}
    told = {"base_url": base_urls[name], **({"protocol": spoken} if spoken else {}), **settings}
    # A platform that somebody added to the template alone has no row that says its models; a stand-in takes any.
    return told if name in platform_rows() else {"models": ["stand-in"], **told}


def schedule_in_half_a_day(now: datetime) -> dict[str, str]:
    """A row of ``schedules`` that begins 12 hours from now (UTC): one that is due now would start a run by itself."""
    start = now.astimezone(UTC) + timedelta(hours=12)
    end, deadline = start + timedelta(minutes=30), start + timedelta(minutes=60)
    return {"id": "daily", "window": f"{start:%H:%M}-{end:%H:%M}", "deadline": f"{deadline:%H:%M}"}


def checked(folder: Path) -> Catalogue:
    """The folder's catalogue, read anew.

    Raises:
        CliError: it has faults.
    """
    reading = read_folder(folder)
    if reading.catalogue is None:
        first = "; ".join(str(fault) for fault in reading.faults[:3])
        raise CliError(f"the catalogue in {folder} has {len(reading.faults)} faults: {first}", 2)
    print_findings(reading.warnings, "warning")
    return reading.catalogue


def samples_for(catalogue: Catalogue, least: int) -> int:
    """How often each question must be asked for at least ``least`` tasks, when once is the catalogue's own number."""
    once = sum(Expansion(catalogue, Selection(), "normal", 0).planned.values())
    return max(-(-least // max(once, 1)), 1)


def _dump(path: Path, document: Any) -> None:
    import yaml

    path.write_text(yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=10_000), encoding="utf-8")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CliError(
            f"{path}: cannot be read ({error.strerror}); --corpus names a folder with {BRANDS_FILE}", 2
        ) from None
    except ValueError as error:
        raise CliError(f"{path}: not valid JSON in UTF-8 ({error})", 2) from None


def _lines(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CliError(
            f"{path}: cannot be read ({error.strerror}); --corpus names a folder with {ANSWERS_FILE}", 2
        ) from None
    except ValueError as error:
        raise CliError(f"{path}: not UTF-8 ({error})", 2) from None
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise CliError(f"{path}, line {number}: not valid JSON ({error})", 2) from None
    return rows
