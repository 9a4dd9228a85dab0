"""What the demo asks: the example or a corpus, in a catalogue that passes its own checks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brandvane.catalogue import Selection
from brandvane.cli.demo_catalogue import (
    Pace,
    brand_rows,
    checked,
    corpus_questions,
    example_questions,
    question_texts,
    samples_for,
    schedule_in_half_a_day,
    write_monitor,
    write_play_monitor,
)
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import ROOT
from brandvane.schedule import instants, occurrence
from brandvane.simulation.run_audit import plan_of

NOW = datetime(2026, 11, 29, 15, 30, tzinfo=UTC)
PLATFORMS = ("deepseek", "hunyuan", "openai")
URLS = {name: f"http://127.0.0.1:9/{name}/v1" for name in PLATFORMS}


def corpus(folder: Path, rows: list[dict[str, object]], brands: list[dict[str, object]]) -> Path:
    folder.mkdir()
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "brands.json").write_text(json.dumps(brands), encoding="utf-8")
    return folder


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examples_come_to_at_least_600_tasks(language: str, tmp_path: Path) -> None:
    example_questions(ROOT / "examples" / language, tmp_path)
    write_monitor(tmp_path, PLATFORMS, URLS, Pace(), 1, NOW)
    once = len(plan_of("r", checked(tmp_path), Selection()).ids)
    samples = samples_for(checked(tmp_path), 600)
    write_monitor(tmp_path, PLATFORMS, URLS, Pace(), samples, NOW)
    planned = len(plan_of("r", checked(tmp_path), Selection()).ids)
    assert planned == once * samples
    assert 600 <= planned < 600 + once


def test_the_monitor_points_at_the_simulated_platforms(tmp_path: Path) -> None:
    example_questions(ROOT / "examples" / "en", tmp_path)
    write_monitor(tmp_path, PLATFORMS, URLS, Pace(rate=10, in_flight=60), 1, NOW)
    monitor = checked(tmp_path).monitor
    assert monitor.platform_names == PLATFORMS
    assert {p.name: p.base_url for p in monitor.platforms} == URLS
    assert {(p.rate, p.in_flight, p.call_timeout_s) for p in monitor.platforms} == {(10.0, 60, 8.0)}


def test_no_schedule_is_due_while_somebody_plays(tmp_path: Path) -> None:
    example_questions(ROOT / "examples" / "en", tmp_path)
    write_monitor(tmp_path, PLATFORMS, URLS, Pace(), 1, NOW)
    schedule = checked(tmp_path).monitor.schedules[0]
    assert (schedule.start, schedule.end, schedule.deadline) == ("03:30", "04:00", "04:30")
    times = instants(schedule, occurrence(schedule, NOW.timestamp()))
    assert times.deadline < NOW.timestamp()  # the latest occurrence is over, the next one 12 hours away


def test_a_schedule_over_midnight_is_right_too() -> None:
    evening = datetime(2026, 11, 29, 11, 45, tzinfo=UTC)
    assert schedule_in_half_a_day(evening) == {"id": "daily", "window": "23:45-00:15", "deadline": "00:45"}


def test_playing_with_real_platforms_leaves_their_addresses_alone(tmp_path: Path) -> None:
    source = ROOT / "examples" / "en"
    example_questions(source, tmp_path)
    write_play_monitor(source, tmp_path, ("openai",), {}, Pace(), NOW)
    monitor = checked(tmp_path).monitor
    assert monitor.platform_names == ("openai",)
    assert monitor.platforms[0].base_url.startswith("https://")
    assert [schedule.id for schedule in monitor.schedules] == ["daily"]


def test_playing_with_simulated_platforms_keeps_the_examples_own_parameters(tmp_path: Path) -> None:
    source = ROOT / "examples" / "en"
    example_questions(source, tmp_path)
    write_play_monitor(source, tmp_path, PLATFORMS, URLS, Pace(), NOW)
    deepseek = checked(tmp_path).monitor.platform("deepseek")
    assert (deepseek.base_url, deepseek.parameters["temperature"]) == (URLS["deepseek"], 1.0)


def test_every_distinct_question_of_a_corpus_is_asked_once(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"question": "Which kettle?", "model": "m1", "answer": "This one."},
        {"question": "Which kettle?", "model": "m2", "answer": "That one."},
        {"question": None, "model": "m1", "answer": "To nothing."},
        {"question": "哪个水壶好？", "model": "m1", "answer": "这个。"},
        {"question": "Never answered?", "model": "m1", "answer": " "},
    ]
    brands: list[dict[str, object]] = [
        {"brand": "Acme", "aliases": ["Acme", "Acme Inc."]},
        {"brand": "海尔", "aliases": ["海尔", "Haier"]},
    ]
    folder = tmp_path / "catalogue"
    corpus_questions(corpus(tmp_path / "corpus", rows, brands), folder)
    write_monitor(folder, PLATFORMS, URLS, Pace(), 1, NOW)
    catalogue = checked(folder)
    assert [q.text for q in catalogue.questions] == ["Which kettle?", "哪个水壶好？"]
    assert [(b.id, b.name, b.aliases) for b in catalogue.brands] == [
        ("acme", "Acme", ("Acme Inc.",)),
        ("brand-2", "海尔", ("Haier",)),
    ]
    assert all(question.brands == ("acme", "brand-2") for question in catalogue.questions)
    assert len(plan_of("r", catalogue, Selection()).ids) == 2 * 3


def test_an_examples_files_do_not_stay_behind_a_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "catalogue"
    example_questions(ROOT / "examples" / "zh", folder)  # CSV files
    rows: list[dict[str, object]] = [{"question": "Which?", "model": "m", "answer": "That."}]
    corpus_questions(corpus(tmp_path / "corpus", rows, [{"brand": "Acme", "aliases": []}]), folder)
    assert sorted(file.name for file in folder.glob("*.*")) == ["brands.yaml", "questions.yaml"]


def test_brands_of_one_plain_spelling_get_ids_of_their_own() -> None:
    rows = brand_rows([{"brand": "A-B", "aliases": []}, {"brand": "A B", "aliases": []}, {"brand": "All"}], "b.json")
    assert [row["id"] for row in rows] == ["a-b", "brand-2", "brand-3"]  # 'all' means every brand


@pytest.mark.parametrize("rows", [[], [[]], [{"question": 7}], [{"question": None, "answer": "x"}]])
def test_a_corpus_without_answered_questions_is_refused(rows: list[object]) -> None:
    with pytest.raises(CliError):
        question_texts(rows, "answers.jsonl")


def test_a_folder_that_is_no_corpus_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CliError, match=r"brands\.json: cannot be read") as raised:
        corpus_questions(tmp_path / "nowhere", tmp_path / "catalogue")
    assert raised.value.exit_code == 2


def test_platforms_may_be_asked_in_another_protocol_than_their_rows(tmp_path: Path) -> None:
    example_questions(ROOT / "examples" / "en", tmp_path)
    write_monitor(tmp_path, PLATFORMS, URLS, Pace(), 1, NOW, {"openai": "openai_responses"})
    monitor = checked(tmp_path).monitor
    assert [monitor.platform(name).protocol for name in PLATFORMS] == ["openai_chat", "openai_chat", "openai_responses"]


def test_a_platform_of_the_template_alone_is_asked_at_its_stand_in(tmp_path: Path) -> None:
    example_questions(ROOT / "examples" / "en", tmp_path)
    urls = {"mine": "http://127.0.0.1:9/mine/v1"}
    write_play_monitor(ROOT / "examples" / "en", tmp_path, ("mine",), urls, Pace(), NOW, {"mine": "openai_chat"})
    assert checked(tmp_path).monitor.platform("mine").models == ("stand-in",)
