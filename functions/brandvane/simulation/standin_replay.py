"""Which recorded answer does a stand-in give? Replay of a JSONL file of question, model, answer.

Each platform stands for one of the file's models; where that model was not asked, another's answer to the same question
is taken. Answers of the file are given as they stand, never mixed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brandvane.simulation.standin_behaviour import StandinFault
from brandvane.simulation.standin_draws import digest_of


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded answers by question (as normalised by ``question_key``), each question's as (model, answer), sorted."""

    answers: Mapping[str, tuple[tuple[str, str], ...]]

    @property
    def models(self) -> tuple[str, ...]:
        """Models by number of recorded answers, most first; equal ones by name."""
        counts = Counter(model for answers in self.answers.values() for model, _ in answers)
        return tuple(sorted(counts, key=lambda model: (-counts[model], model)))

    def answer(self, seed: int, platform: str, model: str | None, prompt: str) -> str | None:
        """The answer of ``model`` to this question, else another model's, else None.

        Which other one depends on (seed, platform, question) only.
        """
        key = question_key(prompt)
        known = self.answers.get(key)
        if known is None:
            return None
        own = [answer for name, answer in known if name == model]
        return own[0] if own else known[digest_of(seed, "replay", platform, key) % len(known)][1]


def question_key(text: str) -> str:
    """What makes two question texts the same: all but the amount of white space."""
    return " ".join(text.split())


def read_recorded(path: Path) -> Recorded:
    """Read an answers file. Rows without a question and rows with a blank answer are left out.

    Raises:
        StandinFault: no such file, not UTF-8, a line that is no JSON object, a field that is missing or no text.
    """
    try:
        with path.open(encoding="utf-8-sig") as lines:
            return recorded(lines, str(path))
    except UnicodeDecodeError as error:
        raise StandinFault(f"{path}: not UTF-8 ({error}); save the file as UTF-8") from None
    except OSError as error:
        raise StandinFault(f"{path}: cannot be read ({error.strerror}); check --answers") from None


def recorded(lines: Iterable[str], name: str) -> Recorded:
    """The answers of a file's lines; of two answers of one model to one question the first counts.

    Raises:
        StandinFault: as ``read_recorded``; the message names ``name`` and the line's number.
    """
    found: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            row = _row(line, f"{name}, line {number}")
            if row is not None:
                question, model, answer = row
                found.setdefault(question_key(question), {}).setdefault(model, answer)
    return Recorded({question: tuple(sorted(answers.items())) for question, answers in found.items()})


def _row(line: str, where: str) -> tuple[str, str, str] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StandinFault(f"{where}: not valid JSON ({error}); every line is one object") from None
    if not isinstance(row, dict):
        raise StandinFault(f"{where}: not a JSON object; every line needs question, model and answer")
    if row.get("question") is None:
        return None
    for field in ("question", "model", "answer"):
        if not isinstance(row.get(field), str):
            raise StandinFault(f"{where}: field {field!r} must be text, not {row.get(field)!r}")
    return (row["question"], row["model"], row["answer"]) if row["answer"].strip() else None


def stand_for(platforms: Sequence[str], found: Recorded, wanted: Mapping[str, str]) -> dict[str, str | None]:
    """Which model each platform stands for: as wanted, the others take in order the models with the most answers.

    A platform for which no model is left stands for none and gives any recorded answer.

    Raises:
        StandinFault: a wish names an unknown platform or a model that the file does not have.
    """
    models = found.models
    for platform, model in wanted.items():
        if platform not in platforms:
            raise StandinFault(f"--model-of {platform}={model}: no platform {platform!r}; there are {_some(platforms)}")
        if model not in models:
            raise StandinFault(f"--model-of {platform}={model}: no recorded model {model!r}; there are {_some(models)}")
    free = iter([model for model in models if model not in wanted.values()])
    return {platform: wanted.get(platform) or next(free, None) for platform in platforms}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "") if names else "none"
