"""How many answers a second does one core read, and does it matter how many brands the catalogue has?"""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from brandvane.catalogue import Brand
from brandvane.mentions.matcher import BrandMatcher

SIZES = (50, 500, 5_000)
ANSWERS = 400
LENGTH = 1_000  # code points
NAMED = 8  # brands that an answer names
TIMES = 3  # the best of so many passes is told: a shared machine only ever makes them slower
_ENGLISH = re.findall(
    r"\w+", "the of a good choice for people who want quality and value in this price range with long support"
)
_CHINESE = "这款产品的质量很好价格也合适适合大多数家庭使用而且售后服务比较完善很多人都愿意再次购买它"
_ONSETS, _VOWELS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"], ["a", "e", "i", "o", "u"]
_CHARACTERS = "安博达德恩方格海华吉佳凯乐美诺欧普奇瑞思泰维新雅亿卓"
# Brands whose Chinese names are words too, so that the slow ways are measured as well.
_DOUBTFUL = (
    Brand(
        id="xiaomi",
        name="Xiaomi",
        aliases=("小米",),
        rules={"exclude_context": ["粥", "营养"], "exclude_phrases": ["小米粥"]},
    ),
    Brand(id="vw", name="Volkswagen", aliases=("大众",), rules={"require_context": {"大众": ["汽车", "车型"]}}),
    Brand(id="target", name="Target", rules={"case_sensitive": True}),
)


def brands_of(count: int, chance: random.Random) -> tuple[Brand, ...]:
    """So many invented brands with five names each, and a few whose names are common words."""

    def latin() -> str:
        return "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(4)).capitalize()

    made = []
    for number in range(count):
        name = f"{latin()}{chance.choice(['', ' Labs', ' Group'])}"
        chinese = "".join(chance.choice(_CHARACTERS) for _ in range(4))
        aliases = (latin(), chinese, f"{chinese}集团", f"{latin()} {latin()}")
        made.append(Brand(id=f"b{number}", name=name, aliases=aliases))
    return (*made, *_DOUBTFUL)


def answers_of(brands: Sequence[Brand], chance: random.Random) -> list[str]:
    """Answers of ``LENGTH`` code points, half of them Chinese, with headings, lists and marked names."""
    made = []
    for number in range(ANSWERS):
        named = [chance.choice(brands) for _ in range(NAMED)]
        pieces = ["## 推荐\n\n" if number % 2 else "## Our picks\n\n"]
        for place, brand in enumerate(named, 1):
            name = chance.choice(brand.terms)
            words = _chinese(chance) if number % 2 else _english(chance)
            pieces.append(f"{place}. **{name}**{'：' if number % 2 else ': '}{words}\n")
        text = "".join(pieces)
        made.append((text + (_chinese(chance) if number % 2 else _english(chance)) * 20)[:LENGTH])
    return made


def _english(chance: random.Random) -> str:
    return " ".join(chance.choice(_ENGLISH) for _ in range(18)) + ". "


def _chinese(chance: random.Random) -> str:
    start = chance.randrange(10)
    return _CHINESE[start:] + _CHINESE[:start] + "。" + _CHINESE[:30] + "。"


def mentions() -> dict[str, Any]:
    """Answers a second of the matcher (fold, mask, match, decide) and of the whole reading, for catalogues of several sizes."""
    told: dict[str, Any] = {"answers": ANSWERS, "code_points": LENGTH}
    for size in SIZES:
        chance = random.Random(size)
        brands = brands_of(size, chance)
        texts = answers_of(brands, chance)
        began = time.process_time()
        matcher = BrandMatcher(brands)
        told[f"{size}_brands_build_s"] = round(time.process_time() - began, 2)
        found = sum(len(matcher.read(text).mentions) for text in texts)  # also loads what is loaded lazily
        told[f"{size}_brands_mentions_an_answer"] = round(found / len(texts), 1)
        told[f"{size}_brands_matcher_a_s"] = round(_rate(matcher.find, texts))
        told[f"{size}_brands_reading_a_s"] = round(_rate(matcher.read, texts))
    told["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    told["word_list_ms"] = _word_list_ms()
    return told


def _rate(read: Callable[[str], object], texts: Sequence[str]) -> float:
    best = float("inf")
    for _ in range(TIMES):
        began = time.process_time()
        for text in texts:
            read(text)
        best = min(best, time.process_time() - began)
    return len(texts) / best


def _word_list_ms() -> int:
    """How long the first Chinese name takes in a new process, for the word list that it needs."""
    program = (
        "import time; from brandvane.mentions.words import cut_around; began = time.process_time();"
        "cut_around('完美的圆', 1, 3); print(round(1000 * (time.process_time() - began)))"
    )
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
