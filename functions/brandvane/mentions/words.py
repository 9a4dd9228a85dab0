"""Does a Chinese name stand there as a word, or as a piece of other words? The likeliest cut of a few characters around it.

完美的 is 完美 + 的, so 美的 is no word there. The cut is the most probable sequence of words of a frequency list (as in jieba, from
whose list the words come), with the name itself counted as a word. Only the characters around a hit are cut, never a whole answer,
and the list is read when the first Chinese name is found: the workers never load it.
"""

from __future__ import annotations

import lzma
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import log

from brandvane.mentions.folding import HAN

REACH = 6  # characters on each side that can move the cut at the name's edge
_LONGEST = 5  # characters of the longest word of the list
_NAME_COUNT = 300  # a name counts as a word that occurs so often, at least
_CLOSE = 2.0  # nats: below this the other cut is hardly likelier
_HAN_RUN = re.compile(f"[{HAN}]*")
# What a longer word has besides a name when it is a compound of the name: 丰田汽车, 微软公司, 韩国三星.
_COMPANY = re.compile(
    "公司|集团|股份|有限|企业|品牌|中国|电器|电子|电脑|手机|汽车|空调|家电|冰箱|电视|软件|技术|科技|研究院|网|搜|云|车|机|系|杯|版"
    "|保险|银行|证券|控股|通讯|通信|昭阳|拼音"
    "|日本|韩国|美国|德国|法国|瑞典|青岛|上海|北京|一汽|广汽|东风|长安"
)
# A rare name (耐克, 本田) has no other sense that a longer word could be made of, so that what follows it is a product or a line of
# business. Other words do begin with its characters: places (亚马逊河, 三星堆), foreign names (阿里斯托), sayings (百事大吉).
_COINED_MAX = 1_200  # occurrences; above it stand periods, places and everyday words (现代, 长安, 春秋)
_GOODS = re.compile("[鞋酒牌通店奶茶笔裤锅灯表]")
_OTHER = re.compile(
    r".*[无不如于之在而].*|.*[级堆期者性化族乡镇县市区村州省河湖江山岛港街路]|[大中小]?学[校院]?|大[吉街道业]|地区|主义|战国|时代|举行|宴会"
    r"|骤雨|一色|气扬|传书|快脚|宜室|幸之助|.*[男郎]|十."
    r"|[斯诺兹亚娅尔克罗特拉达巴里伊莎白利维娜曼顿蒂波普汗夫盖力丝托芬亨]+"
)
_OTHER_WORDS = frozenset({"百事通", "富士通"})  # end like goods and are none
_CHOSEN = re.compile(r"(?:还是|还|和|或|与|吧|呢|吗|比|更|就|没|空调|冰箱|电|洗|家电|品牌|产品|$)")


@dataclass(frozen=True, slots=True)
class Cut:
    """How the likeliest cut takes a hit: as a word of its own, or within the words of ``word``. ``close``: only just."""

    whole: bool
    word: str = ""
    close: bool = False


@dataclass(frozen=True, slots=True)
class _List:
    costs: dict[str, float]  # word -> negative log of its share
    common: frozenset[str]
    verbs: frozenset[str]
    unknown: float  # the cost of a character that the list does not know
    total: int


@cache
def _words() -> _List:
    packed = (files(__package__) / "chinese_words.txt.xz").read_bytes()
    counts: dict[str, int] = {}
    common, verbs = set(), set()
    for line in lzma.decompress(packed).decode().splitlines():
        word, _, rest = line.partition(" ")
        number, _, mark = rest.partition(" ")
        counts[word] = int(number)
        if mark:
            common.add(word)
        if mark == "v":
            verbs.add(word)
    total = sum(counts.values())
    costs = {word: log(total / count) for word, count in counts.items()}
    return _List(costs, frozenset(common), frozenset(verbs), log(total), total)


def is_common(word: str) -> bool:
    """Is it a noun, verb or adjective of everyday language (大众, 联想, 苹果)? False for what is not written in Chinese."""
    return bool(word) and _HAN_RUN.fullmatch(word) is not None and word in _words().common


def is_verb(word: str) -> bool:
    """Is it a common verb (联想)?"""
    return is_common(word) and word in _words().verbs


def cut_around(text: str, start: int, end: int) -> Cut:
    """How the likeliest cut takes ``text[start:end]`` (folded), a name that begins or ends in Chinese."""
    left = text[max(0, start - REACH) : start]
    before = _HAN_RUN.match(left[::-1])
    behind = _HAN_RUN.match(text, end, end + REACH)
    lead = left[len(left) - (before.end() if before else 0) :] if _HAN_RUN.fullmatch(text, start, start + 1) else ""
    tail = behind[0] if behind and _HAN_RUN.fullmatch(text, end - 1, end) else ""
    if not lead and not tail:
        return Cut(whole=True)
    return _cut(lead, text[start:end], tail)


@lru_cache(maxsize=20_000)
def _cut(lead: str, name: str, tail: str) -> Cut:
    known = _words()
    own = min(known.costs.get(name, known.unknown), log(known.total / _NAME_COUNT))
    text = lead + name + tail
    start, end = len(lead), len(lead) + len(name)
    free, words = _best(text, start, end, own)
    split = _best(lead, 0, 0, 0.0)[0] + own + _best(tail, 0, 0, 0.0)[0]
    over = [(a, b) for a, b in words if a < end and b > start and (a < start or b > end)]
    if not over:
        return Cut(whole=True)
    word = text[min(a for a, _ in over) : max(b for _, b in over)]
    if len(over) == 1 and name in word:
        besides = word.replace(name, "", 1)
        if _COMPANY.search(besides) or (word.startswith(name) and _sells(name, besides)):
            return Cut(whole=True)
    if lead.endswith("选") and name.endswith("的") and word.startswith("选" + name[0]) and _CHOSEN.match(tail):
        return Cut(whole=True)  # 就选美的 chooses a brand, 选美的冠军 has won a contest
    return Cut(whole=False, word=word, close=split - free < _CLOSE)


def _sells(name: str, rest: str) -> bool:
    """Is the word of a name and ``rest`` a product or business of whoever has that name (耐克鞋, 雀巢咖啡)?"""
    known = _words()
    if name in known.common or known.costs.get(name, known.unknown) < log(known.total / _COINED_MAX):
        return False
    if len(rest) == 1:
        return _GOODS.fullmatch(rest) is not None and name + rest not in _OTHER_WORDS
    return _OTHER.fullmatch(rest) is None


def _best(text: str, start: int, end: int, own: float) -> tuple[float, list[tuple[int, int]]]:
    """The cheapest cut of ``text`` and its words' spans; ``text[start:end]`` (if any) is a word that costs ``own``."""
    known = _words()
    costs = [0.0] + [float("inf")] * len(text)
    came = [0] * (len(text) + 1)
    for at in range(len(text)):
        for until in range(at + 1, min(len(text), at + _LONGEST) + 1):
            cost = known.costs.get(text[at:until], known.unknown if until == at + 1 else float("inf"))
            if costs[at] + cost < costs[until]:
                costs[until], came[until] = costs[at] + cost, at
        if start < end and at == start and costs[at] + own < costs[end]:
            costs[end], came[end] = costs[at] + own, at
    spans: list[tuple[int, int]] = []
    until = len(text)
    while until > 0:
        spans.append((came[until], until))
        until = came[until]
    return costs[len(text)], spans[::-1]
