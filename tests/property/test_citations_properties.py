"""What holds for every citation that a platform may send: it is read or left out, and never stops anything."""

from __future__ import annotations

from urllib.parse import urlsplit

from hypothesis import example, given
from hypothesis import strategies as st

from brandvane.answer import Citation
from brandvane.catalogue import Brand
from brandvane.mentions.citations import SourceReader, normalised

READER = SourceReader((Brand(id="ash", name="Ash", domains=("ash.example",)),))
_PIECES = (
    *("https://", "http://", "HTTPS:", "//", "/", "\\", "?", "#", "&", "=", "@", ":", "[", "]", "%", "%5B", "%cb", "."),
    *(
        "www.google.com/url?q=",
        "link.zhihu.com/?target=",
        "url=",
        "ash.example",
        "xn--",
        "xn--\u00e4",
        "::1",
        "fe80::1%",
    ),
    *("例え.jp", "。", "＠", "ﬁ", "\ud83d", "\udcff", "\x00", "\t", " ", "99999", "v1.a", "a" * 70),
)
CHARACTERS = st.text(st.characters(), max_size=30)  # lone surrogates too
ADDRESSES = st.lists(st.one_of(st.sampled_from(_PIECES), CHARACTERS), max_size=12).map("".join)


@given(ADDRESSES.map("https://".__add__) | ADDRESSES, CHARACTERS | st.just("ash.example"))
@example("https://www.google.com/url?q=https://[sony", "")
@example("https://vertexaisearch.cloud.google.com/x", "a..b")
def test_no_citation_stops_the_reading_of_an_answer(url: str, title: str) -> None:
    READER.read([Citation(url, title)])
    READER.read([Citation(f"https://www.google.com/url?q={url}", title)])


@given(ADDRESSES.map("https://ash.example/".__add__))
def test_a_page_of_a_brand_stays_its_own_whatever_follows_the_host(url: str) -> None:
    source = READER.source(url)
    assert source is not None
    assert source.brands == ("ash",)


@given(ADDRESSES.map("https://a.example/".__add__))
def test_the_one_spelling_is_plain_ascii_and_its_own_spelling(url: str) -> None:
    address = normalised(url)
    assert address is not None
    assert address.isascii()
    assert urlsplit(address).hostname == "a.example"
    assert normalised(address) == address
