"""The report page: its numbers and words, and that no text of others can become markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from brandvane.catalogue import Brand, Catalogue, Monitor, Question, Selection
from brandvane.mentions.corrections import Correction, Wrong
from brandvane.mentions.matcher import matcher_for
from brandvane.mentions.roles import Role, Roles
from brandvane.mentions.statistics import wilson
from brandvane.mentions.tally import Tally
from brandvane.report import page as page_module
from brandvane.report.corrected import Entry
from brandvane.report.examples import Examples, Span
from brandvane.report.figures import endings, served, targets_of
from brandvane.report.material import Material
from brandvane.report.page import render
from brandvane.report.trend import Then, trend
from brandvane.report.wording import WORDING, Language, language_of
from brandvane.result import ResultRow
from brandvane.run import Run, RunState
from brandvane.task import Outcome
from unit.scored_samples import GENERIC, RUN_ID, START, TARGET, answer, catalogue, row

FILES = ("results.jsonl.gz", "results.csv", "figures.csv")
HOSTILE = [
    "<script>alert(1)</script>",
    "</mark></p><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }}{% raw %}",
    "]]><!-- --><style>*{display:none}</style>",
    "&lt;script&gt;",
]


class Seen(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str) -> int:
        """How many elements of a kind the page has."""
        return sum(name == tag for name, _ in self.tags)


def run(**changes: object) -> Run:
    """A scored run."""
    made = Run(
        run_id=RUN_ID,
        schedule_id="daily",
        catalogue_version="v1",
        window_start=START,
        window_end=START + 7200,
        deadline=START + 10_800,
        created_at=START,
        seed=1,
        state=RunState.REPORTING,
        planned={"alpha": 2},
        finished_at=START + 7300,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields of a run


def page_of(
    rows: Sequence[tuple[ResultRow, str | None]],
    *,
    of: Catalogue | None = None,
    language: Language = "en",
    the_run: Run | None = None,
    served_model: str = "a-1",
    then: Then | None = None,
    corrections: Sequence[Entry] = (),
    corrected: frozenset[str] = frozenset(),
) -> str:
    """The page of these results."""
    known = of or catalogue()
    tally, roles, matcher = Tally(), Roles(known), matcher_for(known.brands)
    readings = []
    for result, text in rows:
        reply = answer(text, status=result.outcome, served=served_model) if text is not None else None
        reading = matcher.read(text or "")
        asked = roles.of(result.prompt_hash, result.question_ids)
        about = roles.slice(result.question_ids)
        tally.add(result, reply, reading, asked, about=about, corrected=corrected)
        spans = [
            Span(
                m.brand,
                asked.get(m.brand, Role.ALSO),
                m.start,
                m.end,
                m.sentence_start,
                m.sentence_start + len(m.sentence),
            )
            for m in reading.mentions
        ]
        readings.append((result, reply, spans))
    examples = Examples(tally)
    for result, reply, spans in readings:
        if reply is not None:
            examples.offer(result, reply, roles.text(result.prompt_hash), spans)
    made = Material(
        run=the_run or run(),
        catalogue=known,
        tally=tally,
        parsers=["plain-1"],
        targets=targets_of(tally, [name for p in known.monitor.platforms for name in p.targets]),
        trend=trend(tally, known, ["plain-1"], then),
        corrections=corrections,
    )
    return render(made, examples, language)


def test_a_rate_stands_with_its_n_and_its_interval() -> None:
    text = Seen(page_of([(row("x"), "Oolong"), (row("y", sample=2), "none")])).text
    interval = wilson(1, 2)
    assert "50.0%" in text
    assert "1 of 2" in text
    assert (round(100 * interval.low, 1), round(100 * interval.high, 1)) == (9.5, 90.5)
    assert "9.5–90.5%" in text


def test_a_number_leads_to_the_answers_behind_it() -> None:
    seen = Seen(page_of([(row("x"), "I like Oolong.")]))
    links = {attributes["href"] for tag, attributes in seen.tags if tag == "a"}
    ids = {attributes["id"] for _, attributes in seen.tags if "id" in attributes}
    assert "#unbranded--t0--oolong" in links
    assert {link[1:] for link in links if link is not None and link.startswith("#")} <= ids


def test_the_words_of_the_brand_are_marked() -> None:
    html = page_of([(row("x"), "I like Oolong & Co.")])
    assert "I like <mark>Oolong &amp; Co</mark>." in html


def test_what_is_not_shown_is_told_with_where_it_is() -> None:
    rows = [(row("x", sample=number), "Oolong") for number in range(1, 8)]
    text = Seen(page_of(rows)).text
    assert "5 of 7 shown" in text
    assert f"The others are in results.jsonl.gz: target {TARGET}, brand oolong." in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_answer_cannot_become_markup(hostile: str) -> None:
    plain = Seen(page_of([(row("x"), "before Oolong after")]))
    seen = Seen(page_of([(row("x"), f"before {hostile} Oolong {hostile} after")]))
    assert [tag for tag, _ in seen.tags] == [tag for tag, _ in plain.tags]
    assert f"before {hostile} Oolong {hostile} after" in seen.text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_questions_and_models_cannot_become_markup(hostile: str) -> None:
    def made(extra: str) -> Seen:
        known = Catalogue(
            brands=(Brand(id="oolong", name=f"Oolong {extra}".strip(), aliases=("Oolong",)),),
            questions=(Question(id="tea", text=GENERIC, brands=("oolong",)),),
            monitor=catalogue().monitor,
            version=extra,
        )
        result = row("x", target=f"alpha/{extra}", error_kind=extra)
        text = f"Try Oolong, {extra}"
        return Seen(page_of([(result, text)], of=known, served_model=f"{extra} served"))

    plain, seen = made("ordinary"), made(hostile)
    assert [tag for tag, _ in seen.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(attributes) for _, attributes in seen.tags] == [sorted(attributes) for _, attributes in plain.tags]


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    seen = Seen(page_of([(row("x"), "Oolong https://example.com/x.png ![](https://example.com/y.png)")]))
    assert seen.count("script") + seen.count("img") + seen.count("link") + seen.count("iframe") == 0
    hrefs = [attributes["href"] for _, attributes in seen.tags if "href" in attributes]
    assert all(href is not None and (href.startswith("#") or href in FILES) for href in hrefs)
    policies = [a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    style = (Path(page_module.__file__).parent / "style.html").read_text()
    assert "url(" not in style
    assert "@import" not in style


def test_branded_answers_stand_apart() -> None:
    branded = row("x", prompt="Is Oolong & Co good?", questions=("good",))
    html = page_of([(branded, "Oolong is good.")])
    before, after = html.split('<section id="branded">')
    assert "100.0%" not in before
    assert "100.0%" in after.split("</section>")[0]


def test_mentions_in_answers_to_anothers_question_stand_apart() -> None:
    html = page_of([(row("x"), "Kettle Works")])
    also = html.split('<section id="also">')[1].split("</section>")[0]
    assert 'href="#also--t0--kettle">1</a>' in also


def test_what_was_left_out_is_told_by_outcome_and_error_kind() -> None:
    failed = row(None, sample=2, outcome=Outcome.RETRIES_USED_UP, error_kind="rate_limited")
    html = page_of([(row("x"), "Oolong"), (failed, None)])
    left_out = Seen(html.split('<section id="left-out">')[1].split("</section>")[0]).text
    assert "retries used up" in left_out
    assert "rate_limited" in left_out
    assert "1 left out" in Seen(html).text


def test_a_brand_without_a_counted_answer_has_no_rate() -> None:
    text = Seen(page_of([(row(None, outcome=Outcome.TIMEOUT), None)])).text
    assert "no answer counted" in text
    assert "0.0%" not in text


def test_a_run_of_chosen_brands_shows_the_others_below() -> None:
    chosen = run(selection=Selection(brands=("sencha",)))
    html = page_of([(row("x"), "Oolong")], the_run=chosen)
    visibility = html.split('<section id="visibility">')[1].split("</section>")[0]
    first, _, others = visibility.split("<details")
    assert "Sencha House" in first
    assert "Oolong" not in first
    assert "Other brands of the catalogue (1)" in others
    assert "Oolong &amp; Co" in others


def test_a_chinese_report_speaks_chinese() -> None:
    html = page_of([(row("x"), "煎茶屋")], language="zh")
    assert '<html lang="zh-CN">' in html
    assert "AI 可见度报告" in html
    assert "1 条中 1 条" in html


def test_both_languages_have_the_same_words() -> None:
    assert WORDING["en"].keys() == WORDING["zh"].keys()
    assert {f"outcome.{outcome.value}" for outcome in Outcome} <= WORDING["en"].keys()


def test_times_are_those_of_the_runs_schedule() -> None:
    html = page_of([(row("x"), "Oolong")])
    assert "2026-03-02 06:00 – 08:00<br>" in html
    assert "Europe/Berlin" in html


def test_an_unknown_time_zone_falls_back_to_utc() -> None:
    known = replace(catalogue(), monitor=replace(catalogue().monitor, schedules=(), time_zone="Nowhere/City"))
    assert "2026-03-02 05:00 – 07:00<br>" in page_of([(row("x"), "Oolong")], of=known)


def test_a_run_without_results_has_a_page() -> None:
    assert "0 planned questions" in Seen(page_of([], the_run=run(planned={}))).text


def test_a_model_other_than_asked_is_pointed_out() -> None:
    assert "another model than asked" in page_of([(row("x"), "Oolong")], served_model="z-9")
    assert "another model than asked" not in page_of([(row("x"), "Oolong")], served_model="a-1-2026-01-31")


def test_columns_stand_in_the_monitors_order() -> None:
    tally = Tally()
    for target in ("beta/b-1", "other/o-1", "alpha/a-1"):
        tally.add(row("x", target=target), answer("x"), matcher_for(()).read("x"), {})
    targets = targets_of(tally, ["alpha/a-1", "beta/b-1", "gamma/g-1"])
    assert [(target.name, target.id) for target in targets] == [
        ("alpha/a-1", "t0"),
        ("beta/b-1", "t1"),
        ("other/o-1", "t2"),
    ]
    assert [ending.numbers for ending in endings(tally, targets)] == [(1, 1, 1)]
    assert [item.answers for item in served(tally, targets)] == [1, 1, 1]


def questions(*languages: str, text: str = "Which?") -> Catalogue:
    """A catalogue with one question of each language."""
    asked = tuple(Question(id=f"q{number}", text=text, language=name) for number, name in enumerate(languages))
    return Catalogue(brands=(), questions=asked, monitor=Monitor((), ()))


def test_the_language_is_that_of_most_questions() -> None:
    assert language_of(questions("zh", "zh-CN", "en")) == "zh"
    assert language_of(questions("zh", "en")) == "en"
    assert language_of(questions()) == "en"


def test_a_question_without_a_language_is_judged_by_its_characters() -> None:
    assert language_of(questions("", text="哪家好？")) == "zh"
    assert language_of(questions("")) == "en"


def entry(**words: str) -> Entry:
    """A correction in force."""
    made = Correction(
        id="c1",
        task_id="t1",
        brand="oolong",
        wrong=Wrong.FALSE,
        start=0,
        end=6,
        quote="Oolong",
        by="Kim",
        reason="the tea",
        at=START,
    )
    return Entry(replace(made, **words), "applied")  # type: ignore[arg-type]  # fields of a correction


@pytest.mark.parametrize("hostile", HOSTILE)
def test_corrections_and_sites_cannot_become_markup(hostile: str) -> None:
    plain = Seen(page_of([(row("x"), "Oolong")], corrections=[entry()]))
    seen = Seen(page_of([(row("x"), "Oolong")], corrections=[entry(by=hostile, reason=hostile, quote=hostile)]))
    assert [tag for tag, _ in seen.tags] == [tag for tag, _ in plain.tags]
    assert seen.text.count(hostile) == 3


def section(html: str, name: str) -> str:
    """One section of a page, as text."""
    return Seen(html.split(f'<section id="{name}">')[1].split("</section>")[0]).text


def test_the_first_table_sums_all_platforms() -> None:
    rows = [
        (row("x"), "Oolong"),
        (row("y", target="beta/b-1"), "Sencha House, then Oolong"),
        (row("z", sample=2), "none"),
    ]
    text = " ".join(section(page_of(rows), "summary").split())
    assert "66.7% 2 of 3 · 20.8–93.9%" in text  # Wilson, 2 of 3
    assert "2 of 3 mentions" in text  # of Oolong twice and Sencha once
    assert "There is no earlier run of this schedule to compare with." in text


def then(mentioned: int, answers: int) -> Then:
    """A run before with so many answers about Oolong, and none about Sencha."""
    rows = [(row("x", sample=number), "Oolong" if number < mentioned else "none") for number in range(answers)]
    tally, roles, matcher = Tally(), Roles(catalogue()), matcher_for(catalogue().brands)
    for result, text in rows:
        asked = roles.of(result.prompt_hash, result.question_ids)
        tally.add(result, answer(text), matcher.read(text), asked)
    return Then("daily-2026-03-01", catalogue(), tally, ("plain-1",))


@pytest.mark.parametrize(("language", "says"), [("en", "up, beyond chance"), ("zh", "上升，超出偶然")])
def test_a_change_is_told_in_points_and_plain_words(language: Language, says: str) -> None:
    rows = [(row("x", sample=number), "Oolong") for number in range(20)]
    text = section(page_of(rows, then=then(2, 20), language=language), "summary")
    assert "+90.0" in text
    assert says in text


def test_a_trend_that_breaks_says_why() -> None:
    rows = [(row("x", sample=number), "Oolong") for number in range(20)]
    text = section(page_of(rows, then=then(2, 20), served_model="a-1-0302"), "summary")
    assert "not comparable: another model answered" in text
    assert "beyond chance" not in text


def test_a_figure_that_was_corrected_says_so() -> None:
    html = page_of([(row("x"), "Oolong")], corrections=[entry()], corrected=frozenset({"oolong"}))
    assert "1 corrected by hand" in section(html, "summary")
    assert "in force" in section(html, "corrections")


def test_each_example_begins_with_the_sentence_of_the_mention() -> None:
    html = page_of([(row("x"), "Well. I like Oolong here. Yes.")])
    assert '<blockquote dir="auto">I like <mark>Oolong</mark> here.</blockquote>' in html


def test_figures_are_divided_by_topic_where_a_brand_has_several() -> None:
    first, *others = catalogue().questions
    known = replace(
        catalogue(),
        questions=(
            replace(first, topics=("<i>green</i>",)),
            *others,
            Question(id="t2", text="Which tea is hot?", language="zh", topics=("hot",), brands=("oolong",)),
        ),
    )
    hot = row("y", prompt="Which tea is hot?", questions=("t2",))
    text = " ".join(section(page_of([(row("x"), "Oolong"), (hot, "none")], of=known), "parts").split())
    assert "<i>green</i>All100.0%1 of 1" in text
    assert "hotAll0.0%0 of 1" in text
    assert "Allzh0.0%0 of 1" in text


def test_the_page_says_how_many_answers_ten_points_take() -> None:
    assert "at most 10 points wide needs 381 counted answers" in section(page_of([]), "method")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_narrow_screen_every_figure_at_a_glance_keeps_its_name(language: Language) -> None:
    words = WORDING[language]
    html = page_of([(row("x"), "Try Oolong.")], language=language)
    labels = re.findall(r'<td data-label="([^"]+)">', html)
    assert labels[:5] == [words[name] for name in ("visibility", "change", "voice", "rank", "citation_share")]
    assert len(labels) % 5 == 0
    assert "table.glance thead { display: none; }" in html
