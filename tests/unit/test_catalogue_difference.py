"""What changes from one catalogue to another?"""

from __future__ import annotations

from dataclasses import replace

from brandvane.catalogue import Brand, Question
from brandvane.catalogue_files.difference import difference
from unit.catalogue_samples import catalogue, schedule


def test_a_catalogue_does_not_differ_from_itself() -> None:
    assert difference(catalogue(), replace(catalogue(), version="other")).empty


def test_order_alone_is_no_difference() -> None:
    assert difference(catalogue(), replace(catalogue(), brands=catalogue().brands[::-1])).empty


def test_what_came_went_and_changed_is_told_by_kind() -> None:
    before = catalogue()
    monitor = replace(
        before.monitor,
        platforms=(replace(before.monitor.platforms[0], rate=9.0, origins={"rate": "platforms.toml"}),),
        schedules=(schedule(name="nightly"),),
        samples=2,
    )
    after = catalogue(
        brands=(Brand("nike", "Nike Inc"), Brand("sony", "Sony")), questions=(Question("q1", "Which shoes?"),)
    )
    found = difference(before, replace(after, monitor=monitor))
    assert found.to_json() == {
        "added": {"brands": ["sony"], "schedules": ["nightly"]},
        "removed": {"brands": ["bose"], "questions": ["q2"], "schedules": ["daily"]},
        "changed": {
            "brands": {"nike": ["name", "aliases"]},
            "questions": {"q1": ["brands"]},
            "platforms": {"openai": ["rate"]},
        },
        "monitor": {"samples": {"before": 1, "after": 2}},
        "addresses": {},
    }
    assert list(found.lines()) == [
        "+ brand sony",
        "+ schedule nightly",
        "- brand bose",
        "- question q2",
        "- schedule daily",
        "~ brand nike: name, aliases",
        "~ question q1: brands",
        "~ platform openai: rate",
        "~ monitor samples: 1 -> 2",
    ]


def test_many_changes_of_one_sort_are_counted_after_the_first() -> None:
    after = catalogue(brands=(*catalogue().brands, *(Brand(f"b{n}", f"B{n}") for n in range(5))))
    lines = list(difference(catalogue(), after).lines(most=2))
    assert lines == ["+ brand b0", "+ brand b1", "  and 3 more (5 in all)"]


def test_another_address_is_told_with_the_old_one() -> None:
    before = catalogue()
    old = before.monitor.platforms[0]
    new = replace(old, base_url="http://127.0.0.1:9/openai/v1", rate=9.0)
    found = difference(before, replace(before, monitor=replace(before.monitor, platforms=(new,))))
    assert list(found.lines()) == [f"~ platform openai: base_url {old.base_url} -> http://127.0.0.1:9/openai/v1, rate"]
