"""Which brands a text mentions, and where."""

from __future__ import annotations

import pytest

from brandvane.catalogue import Brand
from brandvane.mentions.matcher import BrandMatcher


def spans(text: str, *names: str) -> list[tuple[str, int, int]]:
    """(brand, start, end) of every mention; each name is a brand of its own, its id the name."""
    matcher = BrandMatcher(Brand(id=name, name=name) for name in names)
    return [(m.brand, m.start, m.end) for m in matcher.read(text).mentions]


def test_a_name_is_found_at_its_place_in_the_original() -> None:
    assert spans("Try Acme, or acme.", "Acme") == [("Acme", 4, 8), ("Acme", 13, 17)]


@pytest.mark.parametrize("text", ["Acmedata", "arAcme", "Acme2", "2Acme", "Acmeé", "Acme\uff12"])
def test_a_latin_name_does_not_touch_a_latin_letter_or_digit(text: str) -> None:
    assert spans(text, "Acme") == []


@pytest.mark.parametrize("text", ["Acme's", "Acme_Air", "(Acme)", "用Acme的人", "①Acme", "Acme\u00b2"])
def test_a_latin_name_may_touch_anything_else(text: str) -> None:
    start = text.index("Acme")
    assert spans(text, "Acme") == [("Acme", start, start + 4)]


def test_a_chinese_name_is_found_inside_running_text() -> None:
    assert spans("我喜欢小米手机。", "小米") == [("小米", 3, 5)]


@pytest.mark.parametrize("name", ["C++", "AT&T", "L'Oréal", "7-Eleven", ".NET", "Yahoo!", "a|b", "[x]", "x.y"])
def test_a_name_with_signs_is_taken_literally(name: str) -> None:
    assert spans(f"so {name}, yes", name) == [(name, 3, 3 + len(name))]
    assert spans(f"so {name}, yes", "z") == []


def test_a_dot_in_a_name_is_no_wildcard() -> None:
    assert spans("xzy", "x.y") == []


def test_the_longest_name_wins_over_all_brands() -> None:
    assert spans("Google Cloud and Google", "Google", "Google Cloud") == [("Google Cloud", 0, 12), ("Google", 17, 23)]


def test_a_longer_name_that_does_not_end_there_leaves_the_shorter_one() -> None:
    assert spans("Google Clouds", "Google", "Google Cloud") == [("Google", 0, 6)]


def test_full_width_letters_are_the_same_letters() -> None:
    assert spans("买ＯＰＰＯ吧", "OPPO") == [("OPPO", 1, 5)]


def test_a_typographic_apostrophe_is_an_apostrophe() -> None:
    assert spans("Levi’s", "Levi's") == [("Levi's", 0, 6)]


def test_the_alias_is_told_in_the_spelling_of_the_catalogue() -> None:
    matcher = BrandMatcher([Brand(id="acme", name="Acme Inc.", aliases=("ACME", "艾克米"))])
    assert [m.alias for m in matcher.read("acme, 艾克米, acme inc.").mentions] == ["ACME", "艾克米", "Acme Inc."]


def test_occurrences_count_each_brand() -> None:
    matcher = BrandMatcher([Brand(id="a", name="Ash"), Brand(id="b", name="Birch"), Brand(id="c", name="Cedar")])
    reading = matcher.read("Ash, Birch, Ash")
    assert dict(reading.occurrences) == {"a": 2, "b": 1}
    assert [m.start for m in reading.of("a")] == [0, 12]


def test_the_sentence_of_a_mention_is_told_with_its_place() -> None:
    mention = BrandMatcher([Brand(id="a", name="Ash")]).read("Not this. I like Ash a lot! Nor this.").mentions[0]
    assert (mention.sentence, mention.sentence_start) == ("I like Ash a lot!", 10)


def test_a_chinese_sentence_ends_at_its_full_stop() -> None:
    mention = BrandMatcher([Brand(id="a", name="小米")]).read("先看价格。我选小米。再看别的。").mentions[0]
    assert (mention.sentence, mention.sentence_start) == ("我选小米。", 5)


def test_a_text_without_full_stops_gives_sentences_of_bounded_length() -> None:
    mentions = BrandMatcher([Brand(id="a", name="Ash")]).read("Ash " * 1000).mentions
    assert len(mentions) == 1000
    assert max(len(m.sentence) for m in mentions) <= 303


def test_no_brands_and_no_text_give_no_mentions() -> None:
    assert BrandMatcher([]).read("anything").mentions == ()
    assert BrandMatcher([Brand(id="a", name="Ash")]).read("").mentions == ()


def test_a_blank_alias_matches_nothing() -> None:
    assert spans("a  b", " ") == []


def test_many_brands_are_told_apart() -> None:
    names = [f"brand{number}x" for number in range(500)] + [f"牌{number}号" for number in range(500)]
    text = "，".join(names)
    assert [brand for brand, _, _ in spans(text, *names)] == names
