"""Which rank a list of recommendations gives, over all the ways in which lists are written."""

from __future__ import annotations

import pytest

from brandvane.catalogue import Brand
from brandvane.mentions.matcher import BrandMatcher
from brandvane.mentions.mention import Stance

MATCHER = BrandMatcher(
    [Brand(id="ash", name="Ash", aliases=("阿什",)), Brand(id="birch", name="Birch"), Brand(id="cedar", name="Cedar")]
)


def ranks(text: str) -> dict[str, int | None]:
    """Brand -> rank, for the brands that are mentioned."""
    reading = MATCHER.read(text)
    return {m.brand: reading.rank_of(m.brand) for m in reading.mentions}


@pytest.mark.parametrize(
    "text",
    [
        "1. Oak: good\n2. Ash: good\n3. Birch: good",
        "1. Oak\n2. Ash\n3. Birch",
        "1.Oak\n2.Ash\n3.Birch",
        "1) Oak\n2) Ash\n3) Birch",
        "(1) Oak\n(2) Ash\n(3) Birch",
        "（1）Oak\n（2）Ash\n（3）Birch",
        "1、Oak：好\n2、Ash：好\n3、Birch：好",
        "１．Oak\n２．Ash\n３．Birch",
        "一、Oak\n二、Ash\n三、Birch",
        "①Oak\n②Ash\n③Birch",
        "1️⃣ Oak\n2️⃣ Ash\n3️⃣ Birch",
        "#1 Oak\n#2 Ash\n#3 Birch",
        "Top 1: Oak\nTop 2: Ash\nTop 3: Birch",
        "No. 1: Oak\nNo. 2: Ash\nNo. 3: Birch",
        "第一名：Oak\n第二名：Ash\n第三名：Birch",
        "**1. Oak**\ngood\n\n**2. Ash**\ngood\n\n**3. Birch**\ngood",
        "### 1. Oak\ngood\n### 2. Ash\ngood\n### 3. Birch\ngood",
        "1. **Oak** - good\n2. **Ash** - good\n3. **Birch** - good",
        "1. **Oak**\n   - cheap\n2. **Ash**\n   - cheap\n3. **Birch**\n   - cheap",
        "1. **Oak**\n- cheap\n- good\n2. **Ash**\n- cheap\n3. **Birch**\n- cheap",
        "1. Oak\n\nGood wood.\n\n2. Ash\n\nGood wood.\n\n3. Birch\n\nGood wood.",
        "1. Oak: x\n1. Ash: x\n1. Birch: x",
        "- Oak\n- Ash\n- Birch",
        "* **Oak:** good\n* **Ash:** good\n* **Birch:** good",
        "• Oak\n• Ash\n• Birch",
        "Try these:\n\nOak: good wood\nAsh: good wood\nBirch: good wood",
        "Try these:\n\nOak: good wood\n\nAsh: good wood\n\nBirch: good wood",
        "推荐如下：\nOak\nAsh\nBirch",
        "Try these:\n**Oak**: good\n**Ash**: good\n**Birch**: good",
        "| Rank | Name |\n|---|---|\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Birch |",
        "| 排名 | 品牌 |\n| --- | --- |\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Birch |",
        "| # | Name |\n|---|---|\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Birch |",
        "| No. | Name |\n|---|---|\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Birch |",
        "| 序号 | 品牌 |\n|---|---|\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Birch |",
        "| Name | Rank |\n|---|---|\n| Oak | 1 |\n| Ash | 2 |\n| Birch | 3 |",
        "| 排名 | 品牌 |\n|---|---|\n| 第一名 | Oak |\n| 第二名 | Ash |\n| 第三名 | Birch |",
        "①Oak②Ash③Birch",
        "①Oak：好 ②Ash：好\n③Birch：好",
        '1. “Oak”\n2. “Ash” is great\n3. "Birch"',
        "1. 2024 Oak One\n2. 2024 Ash One\n3. 2024 Birch One",
        "1. Oak One (2021)\n2. Ash One (2022)\n3. Birch One (2024)",
        "1. 2014款Oak\n2. 2019款Ash\n3. 2024款Birch",
        "1. Oak One (2019)\n2. Ash One (2024)\n3. Birch One (2020)",
        "I do not like Elm, but buy these:\n1. Oak\n2. Ash\n3. Birch",
        "I can't recommend these enough:\n1. Oak\n2. Ash\n3. Birch",
        "不推荐小品牌，推荐以下：\n1. Oak\n2. Ash\n3. Birch",
        "> 1. Oak\n> 2. Ash\n> 3. Birch",
        "1. [Oak](https://o.com): x\n2. [Ash](https://a.com): x\n3. [Birch](https://b.com): x",
        "1. Oak\r\n2. Ash\r\n3. Birch",
    ],
)
def test_the_second_and_third_item_of_a_list_have_these_ranks(text: str) -> None:
    assert ranks(text) == {"ash": 2, "birch": 3}


def test_bold_headings_that_name_brands_are_a_list() -> None:
    assert ranks("**Ash**\n\nGood.\n\n**Birch**\n\nGood.\n\n**Cedar**\n\nGood.") == {"ash": 1, "birch": 2, "cedar": 3}


def test_headings_of_which_few_name_brands_are_none() -> None:
    assert ranks("## Intro\nx\n## Ash\nx\n## Costs\nx\n## End\nx") == {"ash": None}


def test_a_brand_before_the_list_has_no_rank() -> None:
    assert ranks("Better than Cedar:\n1. Ash: x\n2. Birch: x") == {"cedar": None, "ash": 1, "birch": 2}


def test_a_brand_in_an_items_text_has_no_rank() -> None:
    assert ranks("1. Oak: sold by Ash\n2. Elm: made of Birch") == {"ash": None, "birch": None}


def test_a_brand_in_a_nested_list_has_no_rank() -> None:
    assert ranks("1. Hard woods:\n   - Ash\n   - Oak\n2. Soft woods:\n   - Cedar") == {"ash": None, "cedar": None}


def test_numbers_under_numbered_sections_are_lists_of_their_own() -> None:
    assert ranks("一、硬木\n1. Oak\n2. Ash\n二、软木\n1. Cedar\n2. Elm") == {"ash": 2, "cedar": 1}


def test_numbers_under_a_section_that_names_a_brand_are_its_text() -> None:
    assert ranks("一、Ash\n1. 优点\n2. Birch 更贵\n二、Cedar\n1. 优点") == {"ash": 1, "birch": None, "cedar": 2}


def test_a_list_that_begins_anew_is_another_list() -> None:
    assert ranks("1. Oak: x\n2. Ash: x\n\nSoft:\n\n1. Cedar: x\n2. Ash: x") == {"ash": 2, "cedar": 1}


def test_a_timeline_gives_no_ranks() -> None:
    assert ranks("1. Ash (1994): x\n2. Birch (2002): x\n3. Cedar (2007): x") == {
        "ash": None,
        "birch": None,
        "cedar": None,
    }


@pytest.mark.parametrize(
    "text",
    [
        "I would not recommend these:\n1. Ash\n2. Birch",
        "I don’t recommend the following:\n\n- Ash\n- Birch",
        "## Brands to avoid\n\n1. Ash\n2. Birch",
        "不推荐的品牌：\n1. Ash\n2. Birch",
        "Avoid these:\n\n| Rank | Name |\n|---|---|\n| 1 | Ash |\n| 2 | Birch |",
    ],
)
def test_a_list_of_what_is_not_recommended_gives_no_ranks_and_a_negative_stance(text: str) -> None:
    assert ranks(text) == {"ash": None, "birch": None}
    assert [m.stance for m in MATCHER.read(text).mentions] == [Stance.NEGATIVE, Stance.NEGATIVE]


def test_steps_give_no_ranks() -> None:
    assert ranks("1. Step 1: Ash\n2. Step 2: Birch") == {"ash": None, "birch": None}
    assert ranks("1. Open Ash\n2. Install Birch") == {"ash": None, "birch": None}


def test_questions_give_no_ranks() -> None:
    assert ranks("1. Ash or Birch?\n2. What size?\n3. What price?") == {"ash": None, "birch": None}


@pytest.mark.parametrize(
    "heading",
    [
        "Ash's reaction: x",
        "阿什的反应：x",
        "Shops like Ash: x",
        "CEO of Ash: x",
        "Shops (e.g., Ash, Elm): x",
        'The book "Ash": x',
        "Oak, Elm, Ash: x",
        "Ash acquired Elm: x",
    ],
)
def test_a_heading_that_is_not_about_the_brand_itself_gives_none(heading: str) -> None:
    assert ranks(f"1. {heading}\n2. Oak: x") == {"ash": None}


@pytest.mark.parametrize("heading", ["Ash's Pro 3: x", "阿什的新款：x"])
def test_a_heading_that_names_a_product_of_the_brand_gives_a_rank(heading: str) -> None:
    assert ranks(f"1. {heading}\n2. Oak: x") == {"ash": 1}


def test_a_gloss_in_a_heading_is_the_brand() -> None:
    assert ranks("1. Oak: x\n2. 阿什（Ash）：x") == {"ash": 2}


def test_sentences_are_no_headings() -> None:
    assert ranks(
        "- Ash offers a wide range of goods at many prices, everywhere.\n- Birch too, they say, in every town."
    ) == {
        "ash": None,
        "birch": None,
    }


def test_rows_of_a_table_without_ranks_have_none() -> None:
    assert ranks("| Name | Price |\n|---|---|\n| Oak | 1 |\n| Ash | 2 |") == {"ash": None}


def test_an_item_that_is_the_whole_line_ends_at_the_line() -> None:
    assert ranks("1. Ash Pro 3000 X\n2. Oak One") == {"ash": 1}
