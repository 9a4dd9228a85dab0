"""What does a stand-in answer when nothing recorded fits? Sentences made here, that name brands, in the question's language.

Deterministic from (seed, platform, prompt). Not meant to be true: meant to be text in which brands can be looked for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from brandvane.simulation.standin_draws import digest_of

DEFAULT_BRANDS = (
    *("Apple", "Samsung", "Sony", "Dyson", "Bosch", "Lenovo", "Panasonic", "Philips", "Nike", "Toyota", "Xiaomi"),
    *("华为", "小米", "海尔", "美的", "格力", "联想", "苹果", "三星", "戴森", "比亚迪", "安踏"),
)


@dataclass(frozen=True, slots=True)
class Phrases:
    """The building blocks of one language; ``{a}``, ``{b}`` are brands, ``{why}`` a reason."""

    openings: tuple[str, ...]
    items: tuple[str, ...]
    prose: tuple[str, ...]
    reasons: tuple[str, ...]
    closings: tuple[str, ...]
    nobody: tuple[str, ...]
    join: str


ENGLISH = Phrases(
    openings=(
        "Several makers come up again and again when people compare:",
        "If I had to draw up a short list, it would look like this:",
        "Buyers usually weigh these against each other:",
    ),
    items=("{a}: {why}.", "**{a}** – {why}.", "{a} ({why})"),
    prose=(
        "Many owners settle on {a}, above all for {why}.",
        "{a} deserves a look because of {why}, though {b} is close behind.",
        "Compared with {b}, what speaks for {a} is {why}.",
    ),
    reasons=(
        "spare parts that stay available for years",
        "a quiet motor and simple controls",
        "fair prices in the middle of the range",
        "a service network that reaches small towns",
        "frequent updates after the sale",
        "solid workmanship with few complaints",
    ),
    closings=(
        "Try them in a shop before you decide.",
        "Prices move a lot during the year, so compare twice.",
        "Which one suits you depends on how often you will use it.",
    ),
    nobody=(
        "That depends on budget, room and habits; start from how you will use it, then look at warranty terms.",
        "I would not single out one maker here. Read two independent tests and check the return policy first.",
    ),
    join=" ",
)
CHINESE = Phrases(
    openings=(
        "综合口碑和售后，可以先看这几家：",
        "如果要列一个备选名单，大致是这样：",
        "很多人会在下面几个牌子之间比较：",
    ),
    items=("{a}：{why}。", "**{a}**——{why}。", "{a}（{why}）"),
    prose=(
        "不少用户最后选了{a}，主要是看中{why}。",
        "{a}值得考虑，原因是{why}，{b}也相差不远。",
        "和{b}相比，{a}的长处在于{why}。",
    ),
    reasons=(
        "配件多年都买得到",
        "噪音小、操作简单",
        "中端价位比较实在",
        "县城里也有维修点",
        "售出后更新勤快",
        "做工扎实、投诉较少",
    ),
    closings=("建议先到店里试一试再决定。", "一年里价格起伏大，多比较几次。", "合不合适，还要看使用的频率。"),
    nobody=(
        "这要看预算、空间和使用习惯，先想清楚用途，再比较保修条款。",
        "这里很难单独推荐某一家，先看两份独立评测，再确认退换规则。",
    ),
    join="",
)


def is_chinese(text: str) -> bool:
    """Does the text hold a Chinese character (the unified ideographs)?"""
    return any("\u4e00" <= char <= "\u9fff" for char in text)


def generated_answer(seed: int, platform: str, prompt: str, brands: Sequence[str] = DEFAULT_BRANDS) -> str:
    """A made-up answer: one in eight names nobody, the others name 2 to 5 brands, half of them as a numbered list.

    A brand of the list that the prompt names comes first. Chinese questions draw from the Chinese names and others from
    the rest, as far as the list has both.
    """
    rng = random.Random(digest_of(seed, "answer", platform, prompt))
    chinese = is_chinese(prompt)
    phrases = CHINESE if chinese else ENGLISH
    if not brands or rng.random() < 1 / 8:
        return rng.choice(phrases.nobody)
    asked = [brand for brand in brands if brand in prompt]
    others = [b for b in brands if b not in asked and is_chinese(b) == chinese] or [b for b in brands if b not in asked]
    rng.shuffle(others)
    chosen = (asked + others)[: rng.randint(2, 5)]
    if rng.random() < 0.5:
        return _listed(rng, phrases, chosen)
    return _told(rng, phrases, chosen)


def _listed(rng: random.Random, phrases: Phrases, chosen: Sequence[str]) -> str:
    form = rng.choice(phrases.items)
    reasons = rng.sample(phrases.reasons, len(phrases.reasons))
    items = [
        f"{place}. {form.format(a=brand, why=reason)}"
        for place, (brand, reason) in enumerate(zip(chosen, reasons, strict=False), start=1)
    ]
    return "\n".join([rng.choice(phrases.openings), "", *items, "", rng.choice(phrases.closings)])


def _told(rng: random.Random, phrases: Phrases, chosen: Sequence[str]) -> str:
    sentences = []
    for brand in chosen[:3]:
        other = rng.choice([b for b in chosen if b != brand] or [brand])
        sentences.append(rng.choice(phrases.prose).format(a=brand, b=other, why=rng.choice(phrases.reasons)))
    return phrases.join.join([*sentences, rng.choice(phrases.closings)])
