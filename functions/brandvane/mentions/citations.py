"""Whose pages does an answer cite? Addresses normalised, their registrable domains, and the brands that own them.

Nothing is fetched. The Public Suffix List is the one that the library carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from publicsuffixlist import PublicSuffixList

from brandvane.answer import Citation
from brandvane.catalogue import Brand

# Parameters that say who sent the reader, not which page it is.
_TRACKING = re.compile(
    r"utm_.*|_?gcl.*|[gdmfty]bclid|[gdm]clid|msclkid|fbclid|yclid|igshid|mc_[ce]id|_hs(enc|mi)|spm|scm|bd_vid|hmsr|hmpl|vero_id|wt_mc|srsltid|ref_src"
)
# Hosts that only lead on, with the parameters that may carry the address they lead to.
_LEADS_TO: Mapping[str, tuple[str, ...]] = {
    "google.com": ("q", "url"),
    "duckduckgo.com": ("uddg",),
    "l.facebook.com": ("u",),
    "lm.facebook.com": ("u",),
    "link.zhihu.com": ("target",),
    "out.reddit.com": ("url",),
}
_GOOGLE = re.compile(r"google\.(?:com?\.)?[a-z]{2,3}")  # google.de, google.com.hk
_LEADING_PATHS = ("/url", "/l", "/")
# Hosts whose addresses say nothing about the page; the platform gives the site's host as the title.
_BY_TITLE = frozenset({"vertexaisearch.cloud.google.com"})
_HOST = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)+")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_REST = re.compile("[?#]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no address can hold it
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_URL_MAX = 4_000  # code points; no page of use has a longer address, and hostile ones are cut here

Owner = Literal["owned", "competitor", "other"]


@dataclass(frozen=True, slots=True)
class Source:
    """A page: its normalised address, the registrable domain of its host, and the brands whose domain that host is in."""

    url: str
    domain: str
    brands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """One answer's sources, each address once: ``cited`` are named by the answer, ``retrieved`` only looked at for it."""

    cited: tuple[Source, ...] = ()
    retrieved: tuple[Source, ...] = ()
    by_brand: Mapping[str, int] = field(default_factory=dict)  # brand -> how many of the cited ones are its own


NOTHING_CITED = Sources()


class SourceReader:
    """Reads the citations of answers for one catalogue's brands."""

    def __init__(self, brands: Iterable[Brand]) -> None:
        owners: dict[str, list[str]] = {}
        self._competitors: dict[str, frozenset[str]] = {}
        for brand in brands:
            self._competitors[brand.id] = frozenset(brand.competitors)
            for domain in brand.domains:
                owners.setdefault(ascii_host(domain), []).append(brand.id)
        self._owners = {host: tuple(ids) for host, ids in owners.items()}

    def read(self, citations: Iterable[Citation]) -> Sources:
        """The sources of one answer; an address that is both cited and retrieved is cited. Never raises for what they hold."""
        cited: dict[str, Source] = {}
        retrieved: dict[str, Source] = {}
        for citation in citations:
            source = self.source(citation.url, citation.title)
            if source is not None:
                (cited if citation.kind == "cited" else retrieved).setdefault(source.url, source)
        if not cited and not retrieved:
            return NOTHING_CITED
        by_brand: dict[str, int] = {}
        for source in cited.values():
            for brand in source.brands:
                by_brand[brand] = by_brand.get(brand, 0) + 1
        rest = tuple(source for url, source in retrieved.items() if url not in cited)
        return Sources(tuple(cited.values()), rest, by_brand)

    def source(self, url: str, title: str = "") -> Source | None:
        """The source behind an address; None where it is no http(s) address."""
        page = _page(url[:_URL_MAX])
        if page is None:
            return None
        address, host = page
        if host in _BY_TITLE:
            named = title.strip().lower()
            host = ascii_host(named) if _HOST.fullmatch(named) else ""
        return Source(address, registrable_domain(host), self._owners_of(host))

    def owner(self, source: Source, brand: str) -> Owner:
        """Whose page it is, seen from a brand; a competitor's where the brand names competitors and one of them owns it."""
        if brand in source.brands:
            return "owned"
        return "competitor" if not self._competitors.get(brand, frozenset()).isdisjoint(source.brands) else "other"

    def rivals(self, sources: Sources, brand: str) -> int:
        """How many of the cited sources are a competitor's, seen from a brand."""
        return sum(self.owner(source, brand) == "competitor" for source in sources.cited)

    def _owners_of(self, host: str) -> tuple[str, ...]:
        """The brands of the longest catalogue domain that the host is or lies in."""
        while host:
            if host in self._owners:
                return self._owners[host]
            host = host.partition(".")[2]
        return ()


def normalised(url: str) -> str | None:
    """One spelling of an address, so that equal pages are equal; None where it is no http(s) address with a host.

    https for http, lower-case ASCII host without ``www.``, no user, default port or fragment, no tracking parameters, the
    others in order of name, no slash at the end, one way of percent escapes. An address that only leads on to another
    (``google.com/url?q=…``) becomes that one.
    """
    page = _page(url[:_URL_MAX])
    return None if page is None else page[0]


@lru_cache(maxsize=4096)
def _page(url: str, hops: int = 2) -> tuple[str, str] | None:
    """The address in its one spelling, and its host: what is put together here is never parsed again."""
    try:
        parts = urlsplit(_as_browsers_read(url))
        host, port = ascii_host(parts.hostname or ""), parts.port
    except ValueError:  # a bracketed host that is none, a port that is no number
        return None
    if parts.scheme.lower() not in _DEFAULT_PORTS or not host:
        return None
    pairs = _pairs(parts.query)
    # What leads to no address leads nowhere: it is then the page itself.
    if hops and (target := _leads_to(parts, host, pairs)) and (page := _page(target, hops - 1)):
        return page
    place = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme.lower()]:
        place = f"{place}:{port}"
    path = quote(_ESCAPE.sub(_plain, parts.path), safe="/%:@!$&'()*+,;=~-._", errors="replace")
    kept = sorted(pair for pair in pairs if not _TRACKING.fullmatch(pair[0].lower()))
    query = urlencode(kept, errors="surrogateescape")
    return urlunsplit(("https", place, path.rstrip("/"), query, "")), host


def _as_browsers_read(url: str) -> str:
    """Browsers take a backslash before the query for a slash: ``https://a.example\\@b.example`` is a page of a.example."""
    whole = _LONE_SURROGATE.sub("\ufffd", url.strip())
    rest = _REST.search(whole)
    end = rest.start() if rest is not None else len(whole)
    return whole[:end].replace("\\", "/") + whole[end:]


def _pairs(query: str) -> list[tuple[str, str]]:
    """Names and values. Escapes that are no UTF-8 (``%CB%F7``, GBK) go through as they are, or different pages would be one."""
    return parse_qsl(query, keep_blank_values=True, errors="surrogateescape")


def _plain(escape: re.Match[str]) -> str:
    """A percent escape that is not needed becomes its character (RFC 3986, 6.2.2), any other one is in capitals."""
    character = chr(int(escape[1], 16))
    return character if _UNRESERVED.fullmatch(character) else escape[0].upper()


def _leads_to(parts: SplitResult, host: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    names = _LEADS_TO.get("google.com" if _GOOGLE.fullmatch(host) else host, ())
    if not names or (parts.path.rstrip("/") or "/") not in _LEADING_PATHS:
        return None
    values = dict(reversed(list(pairs)))  # of several values the first
    targets = (values.get(name, "") for name in names)
    return next((target for target in targets if target.lower().startswith(("http://", "https://"))), None)


def ascii_host(host: str) -> str:
    """A host in lower case, in its ASCII form, without ``www.`` and without a dot at its end."""
    plain = host.strip().lower().rstrip(".")
    if not plain.isascii():
        try:
            plain = plain.encode("idna").decode("ascii")
        except UnicodeError:  # no host that a network knows; it stays as it is written
            return plain
    return plain.removeprefix("www.")


@lru_cache(maxsize=16_384)
def registrable_domain(host: str) -> str:
    """The part of a host that somebody registered: ``shop.example.co.uk`` → ``example.co.uk``.

    Rules of the Public Suffix List, those for private suffixes (``github.io``) included; a host that is itself a suffix, an
    address in numbers or a name without a dot stays as it is.
    """
    try:
        ip_address(host.strip("[]"))
        return host
    except ValueError:
        return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    """Reading the list takes some 50 ms: on first use, not on import."""
    return PublicSuffixList()
