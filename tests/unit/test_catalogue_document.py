"""How is a catalogue stored?"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from brandvane.catalogue import Brand, PlatformSettings, Question, content_hash, from_document, to_document
from unit.catalogue_samples import catalogue


def test_a_stored_catalogue_reads_back_the_same_through_json() -> None:
    original = replace(catalogue(), version="20261129T060000Z-0123abcd")
    assert from_document(json.loads(json.dumps(to_document(original)))) == original


def test_equal_sets_of_brands_are_stored_once_and_shared_after_reading() -> None:
    ids = ("nike", "bose")
    rows = tuple(Question(f"q{n}", f"{n}?", brands=tuple(ids)) for n in range(3))
    document = to_document(catalogue(questions=rows))
    assert document["brand_sets"] == [("nike", "bose")]
    read = from_document(json.loads(json.dumps(document)))
    assert read.questions[0].brands is read.questions[2].brands


def test_a_document_of_a_newer_format_is_refused_with_its_version() -> None:
    document = {**to_document(replace(catalogue(), version="v9")), "v": 3}
    with pytest.raises(ValueError, match="catalogue v9 has format 3; this release reads 2"):
        from_document(document)


def test_the_content_hash_does_not_depend_on_the_version() -> None:
    assert content_hash(catalogue()) == content_hash(replace(catalogue(), version="any"))


def test_the_content_hash_changes_with_a_single_alias() -> None:
    other = catalogue(brands=(Brand("nike", "Nike", aliases=("Nike Run",)), Brand("bose", "Bose")))
    assert content_hash(catalogue()) != content_hash(other)


def test_a_models_own_price_goes_before_the_platforms() -> None:
    settings = PlatformSettings(
        "p", "openai_chat", "https://x", ("a", "b"), price_input=1, price_output=2, prices={"b": (3, 4)}
    )
    assert settings.price_of("a") == (1, 2)
    assert settings.price_of("b") == (3, 4)


def test_a_platform_or_schedule_that_the_monitor_does_not_have_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="kimi"):
        catalogue().monitor.platform("kimi")
    with pytest.raises(KeyError, match="weekly"):
        catalogue().monitor.schedule("weekly")


def test_a_catalogue_of_the_first_format_is_read_and_is_the_same_catalogue() -> None:
    given = catalogue()
    document = json.loads(json.dumps(to_document(given)))
    document["v"] = 1
    for row in document["monitor"]["platforms"]:
        for name in ("key_header", "locale", "search_body", "price_search"):
            del row[name]
    assert from_document(document) == given
    assert content_hash(from_document(document)) == content_hash(given)
