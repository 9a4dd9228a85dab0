"""What holds for every text and every catalogue: spans, masks, other brands, other spellings of the same text, linear work."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brandvane.catalogue import Brand
from brandvane.mentions.folding import fold, fold_term
from brandvane.mentions.masking import BLANK, masked
from brandvane.mentions.matcher import BrandMatcher
from brandvane.mentions.mention import Mention

BRANDS = (
    Brand(id="acme", name="Acme", aliases=("Acme Inc.", "艾克米")),
    Brand(id="loreal", name="L'Oréal", aliases=("欧莱雅",)),
    Brand(
        id="xiaomi", name="小米", aliases=("Xiaomi",), rules={"exclude_phrases": ["小米粥"], "exclude_context": ["粥"]}
    ),
    Brand(id="vw", name="大众", aliases=("大众汽车",), rules={"require_context": {"大众": ["汽车", "车型"]}}),
    Brand(id="target", name="Target", rules={"case_sensitive": True, "exclude_phrases": ["target audience"]}),
    Brand(id="cpp", name="C++"),
    Brand(id="tencent", name="腾讯"),
)
MATCHER = BrandMatcher(BRANDS)
_PIECES = (
    *(term for brand in BRANDS for term in brand.terms),
    *(
        "騰訊",
        "ＡＣＭＥ",
        "ACME",
        "L’Ore\u0301al",
        "小米粥",
        "汽车",
        "粥",
        "Target audience",
        "ac\u200bme",
        "小**米**",
        "ﬁ",
        "㍿",
        "ß",
    ),
    *(
        "1. ",
        "- ",
        "\n",
        "\n\n",
        "| ",
        "|---|",
        "**",
        "：",
        ": ",
        "。",
        ". ",
        "，",
        " ",
        "`",
        "```",
        "https://acme.com/",
        "](",
        ")",
        "[",
    ),
    *("不推荐", "no information about ", "的", "到", "最", "四", "<think>", "一、", "①", "# "),
)
TEXTS = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=30).map("".join)
# Text whose canonical forms differ only in what every reader takes for the same.
PLAIN = st.lists(st.sampled_from([*_PIECES, "é", "Ü", "한", "x"]), max_size=25).map("".join)


def found(mentions: Sequence[Mention], text: str) -> list[tuple[str, str]]:
    """(brand, folded words) of every mention."""
    return [(m.brand, fold_term(text[m.start : m.end])) for m in mentions]


@given(TEXTS)
@example("最Acme\u0301")
@example("小**米**")
@example("Acme\u1161")
def test_a_span_slices_the_original_to_text_that_folds_to_the_alias(text: str) -> None:
    reading = MATCHER.read(text)
    for hit in (*reading.mentions, *reading.rejected):
        assert fold_term(text[hit.start : hit.end]) == fold_term(hit.alias)
        assert hit.sentence in text
        assert text[hit.sentence_start : hit.sentence_start + len(hit.sentence)] == hit.sentence
        assert hit.sentence_start <= hit.start <= hit.end <= hit.sentence_start + len(hit.sentence)


@given(TEXTS)
def test_spans_come_in_order_and_do_not_overlap(text: str) -> None:
    mentions = MATCHER.read(text).mentions
    assert all(first.end <= second.start for first, second in pairwise(mentions))


@given(TEXTS)
def test_masking_moves_nothing(text: str) -> None:
    folded = fold(text).text
    prose = masked(folded)
    assert len(prose) == len(folded)
    assert all(after in (before, BLANK) for before, after in zip(folded, prose, strict=True))


@given(TEXTS)
def test_every_place_of_the_folded_text_leads_back_to_the_original(text: str) -> None:
    folded = fold(text)
    last = 0
    for at in range(len(folded.text)):
        span = folded.span(at, at + 1)
        if span is not None:
            assert last <= span[0] < span[1] <= len(text)
            last = span[0]


@given(TEXTS, st.sampled_from(["Zeta", "塞塔", "Audience", "粥店"]))
def test_another_brand_changes_nothing_for_the_others(text: str, name: str) -> None:
    both = BrandMatcher((*BRANDS, Brand(id="new", name=name))).read(text)
    kept = [(m.brand, m.start, m.end, m.doubtful, m.reason) for m in both.mentions if m.brand != "new"]
    assert kept == [(m.brand, m.start, m.end, m.doubtful, m.reason) for m in MATCHER.read(text).mentions]


@given(TEXTS)
def test_a_longer_alias_takes_only_the_place_that_it_covers(text: str) -> None:
    longer = BrandMatcher((*BRANDS, Brand(id="new", name="Acme Inc. Labs"))).read(text)
    covered = [(m.start, m.end) for m in longer.mentions if m.brand == "new"]
    kept = [(m.brand, m.start, m.end) for m in longer.mentions if m.brand != "new"]
    alone = [(m.brand, m.start, m.end) for m in MATCHER.read(text).mentions]
    assert kept == [m for m in alone if not any(start <= m[1] < end for start, end in covered)]


@given(PLAIN)
@example("é**Acme")
def test_composed_and_decomposed_text_say_the_same(text: str) -> None:
    composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert found(MATCHER.read(composed).mentions, composed) == found(MATCHER.read(apart).mentions, apart)


@given(
    st.lists(st.sampled_from(["Acme", "小米", "C++", "Target", "L'Oréal", "x", "1", " ", "!"]), max_size=20).map(
        "".join
    )
)
def test_full_and_half_width_say_the_same(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    plain = [
        (m.brand, m.start) for m in MATCHER.read(text).mentions if m.brand != "target"
    ]  # case is compared as written
    assert [(m.brand, m.start) for m in MATCHER.read(wide).mentions if m.brand != "target"] == plain


@given(TEXTS.filter(lambda text: "\r" not in text))
def test_the_two_ways_to_end_a_line_say_the_same(text: str) -> None:
    windows = text.replace("\n", "\r\n")
    one, two = MATCHER.read(text).mentions, MATCHER.read(windows).mentions
    assert found(one, text) == found(two, windows)
    assert [m.rank for m in one] == [m.rank for m in two]


@given(TEXTS)
def test_the_same_text_has_the_same_reading(text: str) -> None:
    assert MATCHER.read(text) == BrandMatcher(BRANDS).read(text)


MILLION = ("[", "*", "一")
HOSTILE = (
    *(
        "](",
        "`",
        "|",
        "1. ",
        "- ",
        "\n",
        "\u0301",
        "<think>",
        "https://",
        "a@",
        "x.",
        ">",
        "\u200b",
        "(",
        "不推荐",
        "很",
    ),
    *('href="', "a ", "|-", "```\n", "\t", "1.\n1)\n"),
)


@pytest.mark.parametrize("sign", MILLION)
def test_a_million_hostile_signs_are_read_to_their_end(sign: str) -> None:
    # No time is asserted: work that grows with the square of a million would not end at all.
    assert [m.brand for m in MATCHER.read(sign * 1_000_000 + "\nAcme").mentions] == ["acme"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_around_names_is_read_to_its_end(piece: str) -> None:
    MATCHER.read(piece * (100_000 // len(piece)) + "\nAcme\n" + piece * (100_000 // len(piece)))


@pytest.mark.parametrize("sign", [".", ".'", "!", "(", "的"])
def test_a_name_with_a_hundred_thousand_signs_behind_it_in_one_word_is_read_to_its_end(sign: str) -> None:
    assert [m.brand for m in MATCHER.read("Acme" + sign * (100_000 // len(sign)) + "x").mentions] == ["acme"]


@pytest.mark.parametrize("lead", ["| Rank | Name |\n|---|---|\n| 1 | ", "# x\n# y\n# ", "1. ", "**"])
@pytest.mark.parametrize("piece", ["Acme ", "(Acme ", "Acme's ", '"Acme '])
def test_hostile_numbers_of_names_in_one_heading_are_read_to_their_end(lead: str, piece: str) -> None:
    assert len(MATCHER.read(lead + piece * (80_000 // len(piece))).mentions) == 80_000 // len(piece)


@pytest.mark.parametrize(
    "piece", ["小米", "大众", "Acme ", "Target. ", "1. Acme\n", "Acme\u0301 ", "小米粥", "- 小米：x\n"]
)
def test_hostile_numbers_of_names_are_read_to_their_end(piece: str) -> None:
    reading = MATCHER.read(piece * (40_000 // len(piece)))
    assert len(reading.mentions) + len(reading.rejected) > 1_000
