"""Which questions does a file hold, and is each of them well formed?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from brandvane.catalogue import BRAND_SLOT, Question
from brandvane.catalogue_files.csv_table import Columns
from brandvane.catalogue_files.faults import Findings
from brandvane.catalogue_files.nodes import Node, Scalar
from brandvane.catalogue_files.record import Record, records_of
from brandvane.catalogue_files.topics import EVERY, read_topics

FIELDS = ("id", "text", "language", "locale", "topics", "brands")
TEXT_MAX = 4_000
COLUMNS = Columns.of(
    {
        "id": "编号 标识 问题编号 问题id",
        "text": "question 问题 提问 问题内容 内容",
        "language": "lang 语言",
        "locale": "地区 区域",
        "topics": "topic 话题 主题",
        "brands": "brand 品牌 关注品牌 跟踪品牌",
    },
    lists="topics brands",
    required="id text",
)
_LANGUAGES: Mapping[str, str] = {"中文": "zh", "汉语": "zh", "英文": "en", "英语": "en"}
_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_SLOT = re.compile(r"\{+[^{}]*\}+")
_BRAND_WORDS = frozenset({"brand", "brands", "brandname", "thebrand", "yourbrand", "品牌", "品牌名", "品牌名称"})


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question whose tracking brands are not resolved yet: ``named`` as written (None: by topic)."""

    question: Question
    record: Record
    named: tuple[Scalar, ...] | None


def read_questions(node: Node | None, file: str, findings: Findings) -> list[QuestionDraft]:
    """All questions of a file, in its order."""
    drafts = []
    seen: dict[str, int] = {}
    for item in records_of(node, "questions", file, findings):
        record = Record(item, file, findings, FIELDS)
        question = Question(
            id=record.identifier(),
            text=_text(record),
            language=language_tag(record, "language"),
            locale=language_tag(record, "locale"),
            topics=read_topics(record),
        )
        if question.id and question.id in seen:
            remedy = f"Choose another; the first one is in row {seen[question.id]}"
            record.fault("id", "a second question with this id", remedy, value=question.id)
            continue
        seen[question.id] = record.row_of("id")
        drafts.append(
            QuestionDraft(question, record, record.scalars("brands", single=True) if record.has("brands") else None)
        )
    return drafts


def language_tag(record: Record, field: str) -> str:
    """A language or locale tag such as ``zh`` or ``en-GB``; empty when there is none."""
    text = record.text(field)
    tag = _LANGUAGES.get(text, text)
    if tag and not _TAG.fullmatch(tag):
        record.fault(field, "not a language tag", "Write a tag such as en, zh or en-GB", value=text)
        return ""
    if tag.casefold() == EVERY:
        remedy = "Write a tag such as en, zh or en-GB, or leave it out"
        record.fault(field, "not a language: it means every one", remedy, value=text)
        return ""
    return tag.replace("_", "-")


def _text(record: Record) -> str:
    text = record.text("text", required=True, longest=TEXT_MAX)
    for found in _SLOT.finditer(unicodedata.normalize("NFKC", text)):
        slot = found.group()
        if slot == BRAND_SLOT and slot in text:
            continue
        word = "".join(c for c in slot.casefold() if c.isalnum())
        if word in _BRAND_WORDS or _near(word):
            record.fault("text", "not the slot for the brand's name", f"Write {BRAND_SLOT} exactly", value=slot)
        else:
            record.warn("text", "braces are sent as they stand", f"Only {BRAND_SLOT} is filled in", value=slot)
    return text


def _near(word: str) -> bool:
    """One letter off: missing, surplus, wrong, or two swapped."""
    target = "brand"
    if sorted(word) == sorted(target):
        return True
    if len(word) == len(target):
        return sum(a != b for a, b in zip(word, target, strict=True)) <= 1
    shorter, longer = sorted((word, target), key=len)
    return len(longer) - len(shorter) == 1 and any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
