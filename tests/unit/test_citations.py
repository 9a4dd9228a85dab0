"""Addresses in one spelling, the domains they are registered under, and whose pages answers cite."""

from __future__ import annotations

import pytest

from brandvane.answer import Citation
from brandvane.catalogue import Brand
from brandvane.mentions.citations import SourceReader, normalised, registrable_domain

BRANDS = (
    Brand(id="ash", name="Ash", domains=("ash.example", "ash.co.uk"), competitors=("birch",)),
    Brand(id="birch", name="Birch", domains=("birch.example",)),
    Brand(id="shop", name="Ash Shop", domains=("shop.ash.example",)),
    Brand(id="lime", name="梨", domains=("例え.jp",)),
)
READER = SourceReader(BRANDS)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTP://WWW.Ash.Example:80/A/?utm_source=openai&b=2&a=1#top", "https://ash.example/A?a=1&b=2"),
        ("https://ash.example", "https://ash.example"),
        ("https://ash.example/", "https://ash.example"),
        ("https://me:secret@ash.example:8443/x", "https://ash.example:8443/x"),
        ("https://ash.example/x?gclid=1&spm=a.b&fbclid=2&bd_vid=3&q=", "https://ash.example/x?q="),
        ("https://ash.example/%7ea/%e4%b8%ad/%2f", "https://ash.example/~a/%E4%B8%AD/%2F"),
        ("https://例え.jp/中", "https://xn--r8jz45g.jp/%E4%B8%AD"),
        ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
        ("https://www.google.com/url?sa=t&q=https%3A%2F%2Fash.example%2Fx%3Futm_id%3D1", "https://ash.example/x"),
        ("https://link.zhihu.com/?target=https%3A//ash.example/x", "https://ash.example/x"),
        ("https://www.google.com/url?sa=t&url=https://ash.example/a", "https://ash.example/a"),
        ("https://www.google.com.hk/url?q=https://ash.example/a&usg=1", "https://ash.example/a"),
        (
            "https://google.example/url?q=https://ash.example/a",
            "https://google.example/url?q=https%3A%2F%2Fash.example%2Fa",
        ),
        ("https://www.google.com/url?q=https://[ash", "https://google.com/url?q=https%3A%2F%2F%5Bash"),
        ("https://ash.example/x?q=%cb%f7%C4%E1", "https://ash.example/x?q=%CB%F7%C4%E1"),
        ("https://birch.example\\@ash.example", "https://birch.example/@ash.example"),
        (
            "https://www.google.com/search?q=https://ash.example/",
            "https://google.com/search?q=https%3A%2F%2Fash.example%2F",
        ),
    ],
)
def test_an_address_has_one_spelling(url: str, same: str) -> None:
    assert normalised(url) == same


@pytest.mark.parametrize(
    "url", ["", "ash.example/x", "ftp://ash.example", "javascript:alert(1)", "https://", "https://a:b/", "https://[x/"]
)
def test_what_is_no_web_address_has_none(url: str) -> None:
    assert normalised(url) is None


@pytest.mark.parametrize(
    "url", ["https://a.example/\ud83d", "https://a.example/?\udcff=1", "https://a.example/" + "%" * 9999]
)
def test_broken_characters_and_endless_addresses_do_no_harm(url: str) -> None:
    address = normalised(url)
    assert address is not None
    assert len(address) < 20_000


def test_pages_whose_queries_are_in_another_encoding_stay_apart() -> None:
    pages = {normalised(f"https://ash.example/s?wd={word}") for word in ("%CB%F7%C4%E1", "%D0%A1%C3%D7", "%CB%F7")}
    assert len(pages) == 3


def test_a_redirect_to_no_address_is_a_page_of_its_own_host() -> None:
    sources = READER.read([Citation("https://www.google.com/url?q=https://[ash"), Citation("https://ash.example")])
    assert [source.domain for source in sources.cited] == ["google.com", "ash.example"]


@pytest.mark.parametrize(
    "url", ["https://[fe80::1%.]/", "https://a..example/", "https://./", "https://..", "https://xn--/"]
)
def test_odd_hosts_do_no_harm(url: str) -> None:
    READER.read([Citation(url)])


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("shop.example.com.cn", "example.com.cn"),
        ("someone.github.io", "someone.github.io"),
        ("co.uk", "co.uk"),
        ("192.0.2.1", "192.0.2.1"),
        ("localhost", "localhost"),
    ],
)
def test_the_registrable_domain_is_by_the_public_suffix_list(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("url", "brands"),
    [
        ("https://ash.example/x", ("ash",)),
        ("https://news.ash.example/x", ("ash",)),
        ("https://shop.ash.example/x", ("shop",)),
        ("https://splash.example/x", ()),
        ("https://ash.example.org/x", ()),
        ("https://other.example/ash.example", ()),
        ("https://evil.example\\@ash.example", ()),
        ("https://evil.example\\.ash.example/x", ()),
        ("https://www.xn--r8jz45g.jp/", ("lime",)),
    ],
)
def test_a_page_is_a_brands_when_its_host_lies_in_the_brands_domain(url: str, brands: tuple[str, ...]) -> None:
    source = READER.source(url)
    assert source is not None
    assert source.brands == brands


def test_a_redirect_that_says_nothing_is_resolved_by_its_title() -> None:
    source = READER.source("https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC=", "Ash.example")
    assert source is not None
    assert (source.domain, source.brands) == ("ash.example", ("ash",))


def test_a_redirect_with_another_title_belongs_to_nobody() -> None:
    source = READER.source("https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC=", "Ten best trees")
    assert source is not None
    assert (source.domain, source.brands) == ("", ())


def test_cited_and_retrieved_are_kept_apart_and_each_address_counts_once() -> None:
    sources = READER.read(
        [
            Citation("https://ash.example/x?utm_source=openai", position=5),
            Citation("https://www.ash.example/x/", position=9),
            Citation("https://birch.example/y"),
            Citation("https://ash.example/x", kind="retrieved", position=1),
            Citation("https://birch.example/z", kind="retrieved", position=2),
            Citation("no address"),
        ]
    )
    assert [source.url for source in sources.cited] == ["https://ash.example/x", "https://birch.example/y"]
    assert [source.url for source in sources.retrieved] == ["https://birch.example/z"]
    assert sources.by_brand == {"ash": 1, "birch": 1}


def test_a_page_is_owned_a_competitors_or_anothers() -> None:
    sources = READER.read([Citation(f"https://{host}/") for host in ("ash.example", "birch.example", "w.example")])
    assert [READER.owner(source, "ash") for source in sources.cited] == ["owned", "competitor", "other"]
    assert [READER.owner(source, "birch") for source in sources.cited] == ["other", "owned", "other"]
    assert READER.rivals(sources, "ash") == 1
