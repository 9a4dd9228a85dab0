"""The ways in which counting names goes wrong, each with the value that is right."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest

from brandvane.catalogue import Brand
from brandvane.mentions.matcher import BrandMatcher
from brandvane.mentions.mention import Kind, Mention, Reading, Stance


def read(
    text: str, *names: str, rules: Mapping[str, Any] | None = None, prompt: str = "", platform: str = ""
) -> Reading:
    """The reading of a text; the first name is one brand's with the others as its aliases, its id ``b``."""
    matcher = BrandMatcher([Brand(id="b", name=names[0], aliases=names[1:], rules=rules or {})])
    return matcher.read(text, prompt=prompt, platform=platform)


def words(text: str, *names: str, rules: Mapping[str, Any] | None = None) -> list[str]:
    """What stands at the spans that are mentions."""
    return [text[m.start : m.end] for m in read(text, *names, rules=rules).mentions]


def one(text: str, *names: str, prompt: str = "", platform: str = "") -> Mention:
    """The only mention of a text."""
    (mention,) = read(text, *names, prompt=prompt, platform=platform).mentions
    return mention


@pytest.mark.parametrize(
    ("text", "name"),
    [("metadata", "Meta"), ("polished", "LI"), ("pineapple", "Apple"), ("Stanford", "Ford"), ("agree", "Gree")],
)
def test_a_name_inside_a_longer_latin_word_is_none(text: str, name: str) -> None:
    assert words(text, name) == []


def test_an_underscore_is_no_letter() -> None:
    assert words("file Nike_Air.txt", "Nike") == ["Nike"]


@pytest.mark.parametrize("text", ["用OPPO的人多", "OPPO手机", "手机OPPO"])
def test_chinese_beside_a_latin_name_is_an_edge(text: str) -> None:
    assert words(text, "OPPO") == ["OPPO"]


@pytest.mark.parametrize("name", ["C++", "Yahoo!", ".NET", "H&M", "L'Oréal", "AT&T", "7-Eleven"])
def test_a_sign_at_the_edge_of_a_name_has_no_condition(name: str) -> None:
    assert words(f"I like {name}, you too", name) == [name]
    assert words(f"a{name}b", name) == ([name] if not name[0].isalnum() and not name[-1].isalnum() else [])


@pytest.mark.parametrize(
    ("text", "name"),
    [("ＯＰＰＯ", "OPPO"), ("ＮＩＫＥ", "Nike"), ("ﬁtbit", "Fitbit"), ("㍿", "株式会社"), ("Straße", "Strasse")],
)
def test_other_forms_of_the_same_letters_are_found_at_their_own_length(text: str, name: str) -> None:
    mention = one(f"x {text} y", name)
    assert (mention.start, mention.end) == (2, 2 + len(text))


def test_a_half_of_one_character_is_no_name() -> None:
    assert words("㍿", "会社") == []


@pytest.mark.parametrize(
    ("text", "name"), [("Éterne", "Eterne"), ("Eterne", "Éterne"), (unicodedata.normalize("NFD", "Éterne"), "Éterne")]
)
def test_accents_of_latin_letters_do_not_matter(text: str, name: str) -> None:
    assert words(f"by {text}.", name) == [text]


def test_voicing_marks_of_kana_matter() -> None:
    assert words("ガス", "カス") == []
    assert words(unicodedata.normalize("NFD", "ガス"), "ガス") == [unicodedata.normalize("NFD", "ガス")]


def test_a_korean_name_is_found_in_separate_letters() -> None:
    apart = unicodedata.normalize("NFD", "삼성")
    assert words(f"{apart} 폰", "삼성") == [apart]


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\ufeff", "\u00ad"])
def test_invisible_characters_inside_a_name_are_passed_over(sign: str) -> None:
    mention = one(f"a Ni{sign}ke b", "Nike")
    assert (mention.start, mention.end) == (2, 7)


def test_a_space_that_does_not_break_is_a_space() -> None:
    assert words("my Coca\u00a0Cola", "Coca Cola") == ["Coca\u00a0Cola"]


@pytest.mark.parametrize(
    ("text", "name", "found"), [("Levi’s", "Levi's", "Levi’s"), ("Nike's", "Nike", "Nike"), ("Nike’s", "Nike", "Nike")]
)
def test_apostrophes_are_one_and_a_possessive_is_a_mention(text: str, name: str, found: str) -> None:
    assert words(text, name) == [found]


def test_separators_count_as_the_aliases_write_them() -> None:
    assert words("Coca-Cola, Coca Cola, CocaCola", "Coca-Cola", "Coca Cola", "CocaCola") == [
        "Coca-Cola",
        "Coca Cola",
        "CocaCola",
    ]
    assert words("Coca Cola", "Coca-Cola") == []


@pytest.mark.parametrize(("text", "name"), [("騰訊雲的產品", "腾讯云"), ("臺積電", "台积电"), ("腾讯云", "騰訊雲")])
def test_traditional_and_simplified_characters_are_the_same(text: str, name: str) -> None:
    assert words(text, name) == [text[: len(name)]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("完美的一天", "美的"),
        ("鲜美的汤", "美的"),
        ("很美的风景", "美的"),
        ("让人联想到大海", "联想"),
        ("三星堆遗址", "三星"),
        ("三星级酒店", "三星"),
        ("喝小米粥养胃", "小米"),
        ("做苹果汁", "苹果"),
        ("耗了六百度电", "百度"),
        ("性格力量", "格力"),
        ("他的理想主义", "理想"),
        ("亚马逊河流域", "亚马逊"),
        ("吃了三个苹果", "苹果"),
        ("百事大吉", "百事"),
        ("百事无成", "百事"),
        ("做个百事通", "百事"),
        ("去爬阿里山", "阿里"),
        ("买阿里斯顿的", "阿里"),
        ("实现现代化", "现代"),
        ("中兴大学的学生", "中兴"),
        ("暴风骤雨", "暴风"),
        ("水天海天一色", "海天"),
        ("快手快脚", "快手"),
        ("伊利诺伊州", "伊利"),
        ("铃木秀男", "铃木"),
        ("选美的冠军", "美的"),
    ],
)
def test_a_chinese_name_that_is_a_piece_of_other_words_is_none_without_any_rule(text: str, name: str) -> None:
    reading = read(text, name)
    assert reading.mentions == ()
    assert [hit.reason != "" for hit in reading.rejected] == [True]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("买美的空调", "美的"),
        ("格力、美的和海尔", "美的"),
        ("联想集团", "联想"),
        ("三星电子", "三星"),
        ("韩国三星公司", "三星"),
        ("小米手机很好", "小米"),
        ("丰田汽车", "丰田"),
        ("用百度搜索", "百度"),
        ("选择大众汽车", "大众"),
        ("三个苹果手机", "苹果"),
        ("比较小米和华为", "小米"),
        ("推荐耐克鞋", "耐克"),
        ("推荐百事可乐", "百事"),
        ("推荐雀巢咖啡", "雀巢"),
        ("推荐茅台酒", "茅台"),
        ("推荐别克君威", "别克"),
        ("推荐中兴通讯", "中兴"),
        ("推荐平安保险", "平安"),
        ("推荐人寿保险", "人寿"),
        ("推荐李宁牌", "李宁"),
        ("推荐奥迪牌", "奥迪"),
        ("推荐腾讯通", "腾讯"),
        ("推荐联想昭阳", "联想"),
        ("推荐双汇发展", "双汇"),
        ("推荐本田技研", "本田"),
        ("本田雅阁和丰田凯美瑞", "本田"),
        ("推荐丰田佳美", "丰田"),
        ("空调选美的还是格力？", "美的"),
        ("预算有限就选美的。", "美的"),
    ],
)
def test_a_chinese_name_that_is_a_word_of_its_own_is_a_mention(text: str, name: str) -> None:
    assert words(text, name) == [name]


def test_a_bold_chinese_name_is_a_word_of_its_own() -> None:
    assert words("最**美的**空调", "美的") == ["美的"]


def test_a_name_that_stays_open_is_flagged() -> None:
    mention = one("我想要理想。", "理想")
    assert mention.doubtful
    assert mention.reason == "'理想' is a common word too"


CARS = {
    "require_context": {"大众": ["汽车", "轿车", "丰田"]},
    "exclude_context": ["公众"],
    "exclude_phrases": ["大众化"],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("大众普遍认为如此。", []),
        ("公众和大众都买汽车。", []),
        ("轿车里大众不错。", ["大众"]),
        ("像大众、丰田这样。", ["大众"]),
        ("汽车的大众化。", []),
        ("大众汽车公司。", ["大众汽车"]),
    ],
)
def test_a_name_with_required_context_counts_only_near_it(text: str, expected: list[str]) -> None:
    assert words(text, "Volkswagen", "大众", "大众汽车", rules=CARS) == expected


def test_a_hit_without_its_required_context_is_kept_among_the_rejected_as_doubtful() -> None:
    (hit,) = read("大众怎么样？", "Volkswagen", "大众", rules=CARS).rejected
    assert (hit.doubtful, hit.visible, hit.reason) == (True, False, "no word of require_context is near")


def test_the_question_gives_context_to_a_short_answer() -> None:
    assert read("大众。", "Volkswagen", "大众", rules=CARS, prompt="哪个轿车品牌好？").of("b") != ()


@pytest.mark.parametrize(
    "text",
    ["our target is clear", "mind the gap", "a travel visa", "an apple a day", "the notion of it", "a linear model"],
)
def test_a_common_english_word_in_lower_case_is_no_brand(text: str) -> None:
    for name in ("Target", "Gap", "Visa", "Apple", "Notion", "Linear"):
        assert words(text, name) == []


@pytest.mark.parametrize("name", ["Target", "Gap", "Visa", "Apple", "Notion"])
def test_a_common_english_word_with_a_capital_within_a_sentence_is_the_brand(name: str) -> None:
    mention = one(f"We went to {name} yesterday", name)
    assert not mention.doubtful


def test_at_the_begin_of_a_sentence_a_capital_tells_nothing() -> None:
    assert one("So. Target is big.", "Target").doubtful


def test_lower_case_counts_where_the_catalogue_says_so() -> None:
    assert words("i use notion daily", "Notion", rules={"case_sensitive": False}) == ["notion"]


def test_a_name_that_minds_case_counts_only_as_it_is_written() -> None:
    assert words("EA, ea, Ea", "Electronic Arts", "EA", rules={"case_sensitive": ["EA"]}) == ["EA"]


def test_an_excluded_phrase_covers_the_name_in_it() -> None:
    assert words("Target audiences and a Target store", "Target", rules={"exclude_phrases": ["target audience"]}) == [
        "Target"
    ]


def test_an_excluded_alias_is_not_looked_for() -> None:
    assert words("You and You.com", "You", "You.com", rules={"exclude_aliases": ["You"]}) == ["You.com"]


def test_the_longest_name_is_counted_once() -> None:
    matcher = BrandMatcher([Brand(id="g", name="Google"), Brand(id="c", name="Google Cloud")])
    assert [m.brand for m in matcher.read("Google Cloud beats Google").mentions] == ["c", "g"]


@pytest.mark.parametrize(
    "text",
    [
        "see https://nike.com/shoes now",
        "see www.nike.com/shoes now",
        "see nike.com/shoes now",
        "mail me@nike.com now",
        "[shop](https://x.com/nike)",
        "[shop](/nike)",
        "`nike`",
        "```sh\nnike\n```",
        "~~~\nnike\n~~~",
        "```sh\nnike",
        '<a href="/nike">',
        "<think>nike?</think>",
        "<think>nike",
    ],
)
def test_addresses_code_link_targets_and_hidden_reasoning_are_no_mentions(text: str) -> None:
    assert words(text, "Nike") == []


def test_an_address_ends_where_chinese_begins() -> None:
    text = "见https://a.com/x。另见Nike，https://b.com/nike，以及Nike"
    assert [m.start for m in read(text, "Nike").mentions] == [19, 45]
    assert text[19:23] == text[45:49] == "Nike"


def test_a_host_in_prose_is_a_mention_of_kind_domain() -> None:
    assert one("Buy it at nike.com today", "Nike").kind is Kind.DOMAIN


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I like Nike.", Kind.PROSE),
        ("I **like Nike** a lot.", Kind.PROSE),
        ("## Nike\nshoes", Kind.HEADING),
        ("- Nike", Kind.LIST_ITEM),
        ("| Nike | 3 |\n|---|---|\n| x | y |", Kind.TABLE_CELL),
        ("I like [Nike](https://nike.com).", Kind.LINK_LABEL),
    ],
)
def test_the_kind_of_a_mention_is_the_part_of_the_answer_it_stands_in(text: str, kind: Kind) -> None:
    assert one(text, "Nike").kind is kind


def test_emphasis_inside_a_word_is_passed_over() -> None:
    mention = one("我的小**米**手机", "小米")
    assert (mention.start, mention.end) == (2, 6)


def test_a_footnote_is_no_part_of_a_name() -> None:
    assert words("Nike[1] is big", "Nike") == ["Nike"]


@pytest.mark.parametrize(
    ("text", "prompt", "echo"),
    [("Nike is good.", "Is Nike good?", True), ("Nike is good.", "Which shoe is good?", False)],
)
def test_a_brand_that_the_prompt_names_is_an_echo(text: str, prompt: str, echo: bool) -> None:
    assert one(text, "Nike", prompt=prompt).echo is echo


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("I have no information about Nike.", Stance.ABSENT),
        ("I couldn't find any data on Nike.", Stance.ABSENT),
        ("I am not familiar with Nike.", Stance.ABSENT),
        ("我没有找到关于Nike的信息。", Stance.ABSENT),
        ("未能找到Nike的相关资料。", Stance.ABSENT),
        ("Nike is not mentioned.", Stance.ABSENT),
        ("我不推荐Nike。", Stance.NEGATIVE),
        ("I would not recommend Nike.", Stance.NEGATIVE),
        ("Avoid Nike.", Stance.NEGATIVE),
        ("Unlike Nike, they fit.", Stance.NEGATIVE),
        ("Nike不值得购买。", Stance.NEGATIVE),
        ("I recommend Nike.", Stance.NEUTRAL),
        ("我推荐Nike。", Stance.NEUTRAL),
        ("There is no doubt: Nike is good.", Stance.NEUTRAL),
        ("It is without doubt the best source of information about Nike.", Stance.NEUTRAL),
        ("There is no lack of information on Nike.", Stance.NEUTRAL),
        ("There is a lack of information on Nike.", Stance.ABSENT),
        ("未找到比Nike更好的内容。", Stance.NEUTRAL),
        ("没有比亚迪和Nike的信息。", Stance.ABSENT),
        ("I can't recommend Nike enough.", Stance.NEUTRAL),
        ("I cannot recommend Nike shoes highly enough.", Stance.NEUTRAL),
        ("I cannot recommend Nike.", Stance.NEGATIVE),
        ("I can't recommend Nike because it is not good enough.", Stance.NEGATIVE),
        ("不得不推荐Nike。", Stance.NEUTRAL),
        ("不得不避开Nike。", Stance.NEGATIVE),
        ("没有人不推荐Nike。", Stance.NEUTRAL),
        ("谁都不推荐Nike。", Stance.NEGATIVE),
        ("Why not choose Nike?", Stance.NEUTRAL),
        ("That is why I would not recommend Nike.", Stance.NEGATIVE),
        ("There is no reason to avoid Nike.", Stance.NEUTRAL),
        ("不要避开Nike。", Stance.NEUTRAL),
        ("我特别选择Nike。", Stance.NEUTRAL),
        ("别买Nike。", Stance.NEGATIVE),
    ],
)
def test_the_stance_is_what_the_words_say(text: str, stance: Stance) -> None:
    assert one(text, "Nike").stance is stance


def test_an_absence_is_a_mention_that_is_not_visible() -> None:
    reading = read("I have no information about Nike. I like Nike.", "Nike")
    assert [m.visible for m in reading.mentions] == [False, True]
    assert dict(reading.occurrences) == {"b": 1}


@pytest.mark.parametrize(
    ("text", "name", "platform", "own"),
    [
        ("作为通义千问，我很好。", "通义千问", "qwen", True),
        ("As ChatGPT, I can", "ChatGPT", "openai", True),
        ("谷歌的模型", "谷歌", "gemini", True),
        ("腾讯的产品", "腾讯", "hunyuan", True),
        ("ChatGPT is good", "ChatGPT", "qwen", False),
        ("ChatGPT is good", "ChatGPT", "", False),
    ],
)
def test_a_platform_that_names_its_own_company_is_flagged(text: str, name: str, platform: str, own: bool) -> None:
    assert one(text, name, platform=platform).self_mention is own


def test_an_empty_answer_mentions_nothing() -> None:
    assert read("", "Nike") == read(" \n", "Nike") == Reading()


def test_each_occurrence_is_one_mention() -> None:
    assert words("格力（Gree）和Gree", "Gree", "格力") == ["格力", "Gree", "Gree"]


def test_brands_are_numbered_in_the_order_of_their_first_mention() -> None:
    matcher = BrandMatcher([Brand(id="a", name="Ash"), Brand(id="b", name="Birch")])
    assert [(m.brand, m.order) for m in matcher.read("Birch, Ash, Birch").mentions] == [("b", 1), ("a", 2), ("b", 1)]


def test_the_rules_have_a_version() -> None:
    assert BrandMatcher([]).version == "3"
