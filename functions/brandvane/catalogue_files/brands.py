"""Which brands does a file name, and is each of them well formed?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brandvane.catalogue import Brand
from brandvane.catalogue_files.csv_table import Columns
from brandvane.catalogue_files.faults import Findings, did_you_mean
from brandvane.catalogue_files.nodes import Node, Scalar
from brandvane.catalogue_files.record import Record, records_of
from brandvane.catalogue_files.topics import read_topics
from brandvane.mentions.rules import KEYS, read_rules
from brandvane.task import Priority

FIELDS = ("id", "name", "aliases", "domains", "competitors", "topics", "priority", "rules")
ALL = "all"  # what a question says to mean every brand, hence no brand's id
PRIORITIES: Mapping[str, Priority] = {
    "high": "high",
    "normal": "normal",
    "low": "low",
    "高": "high",
    "中": "normal",
    "普通": "normal",
    "低": "low",
}
COLUMNS = Columns.of(
    {
        "id": "编号 标识 品牌编号 品牌标识 品牌id",
        "name": "brand 品牌 名称 品牌名 品牌名称",
        "aliases": "alias 别名 品牌别名",
        "domains": "domain website 域名 官网 网站",
        "competitors": "competitor 竞品 竞争对手 竞争品牌",
        "topics": "topic 话题 主题",
        "priority": "优先级",
    },
    lists="aliases domains competitors topics",
    required="id name",
)
_DOMAIN = re.compile(r"[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)+")


@dataclass(frozen=True, slots=True)
class BrandDraft:
    """A brand, and the places that later checks complain about. ``written_id`` is its id as written, right or not."""

    brand: Brand
    written_id: str
    record: Record
    competitors: tuple[Scalar, ...]
    aliases: tuple[Scalar, ...]

    def terms(self) -> Iterator[tuple[str, str, int]]:
        """Name and aliases, each with the field and row it stands in."""
        if self.brand.name:
            yield self.brand.name, "name", self.record.row_of("name")
        for alias in self.aliases:
            yield alias.text, "aliases", alias.row


def read_brands(node: Node | None, file: str, findings: Findings) -> list[BrandDraft]:
    """All brands of a file, in its order; those with faults too, so that questions can be judged by them."""
    drafts = []
    seen: dict[str, int] = {}
    for item in records_of(node, "brands", file, findings):
        record = Record(item, file, findings, FIELDS)
        draft = _brand(record)
        brand_id = draft.brand.id
        if brand_id == ALL:
            record.fault("id", "not a valid id: it means every brand", "Choose another", value=brand_id)
        if brand_id and brand_id in seen:
            remedy = f"Choose another; the first one is in row {seen[brand_id]}"
            record.fault("id", "a second brand with this id", remedy, value=brand_id)
            continue
        seen[brand_id] = record.row_of("id")
        drafts.append(draft)
    return drafts


def _brand(record: Record) -> BrandDraft:
    aliases = record.scalars("aliases")
    competitors = record.scalars("competitors")
    brand = Brand(
        id=record.identifier(),
        name=record.text("name", required=True),
        aliases=tuple(dict.fromkeys(alias.text for alias in aliases)),
        domains=tuple(dict.fromkeys(d for d in (_domain(record, item) for item in record.scalars("domains")) if d)),
        competitors=tuple(dict.fromkeys(item.text for item in competitors)),
        topics=read_topics(record),
        priority=record.choice("priority", PRIORITIES, "normal"),
        rules=record.free("rules", numbers=False),
    )
    for alias in aliases:
        if len(alias.text) > 200:
            record.fault("aliases", "longer than 200 characters", "Shorten it", row=alias.row, value=alias.text)
    _check_rules(record, brand)
    written = record.node("id")
    return BrandDraft(brand, written.text.strip() if isinstance(written, Scalar) else "", record, competitors, aliases)


def _check_rules(record: Record, brand: Brand) -> None:
    """Complain about every rule that the matcher cannot follow."""
    _, faults = read_rules(brand.rules, brand.terms)
    for fault in faults:
        remedy = did_you_mean(fault.key, KEYS, fault.remedy) if fault.key not in KEYS else fault.remedy
        field = f"rules.{fault.key}"
        record.fault(field, fault.message, remedy, row=record.row_of("rules"), value=fault.value)


def _domain(record: Record, item: Scalar) -> str:
    text = item.text.lower().removeprefix("www.")
    if _DOMAIN.fullmatch(text) and len(text) <= 253:
        return text
    host = re.sub(r"^[a-z]+://", "", item.text.lower()).split("/")[0].removeprefix("www.")
    remedy = f"Write '{host}'" if _DOMAIN.fullmatch(host) else "Write a host such as example.com"
    record.fault("domains", "not a domain", remedy, row=item.row, value=item.text)
    return ""
