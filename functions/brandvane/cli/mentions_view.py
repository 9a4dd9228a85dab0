"""How does a read answer look on a terminal? Its text with marked spans, and below it the reason for each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import click

from brandvane.mentions.mention import Mention, Reading, Stance

_KEPT = "\n\t"


def lines_of(text: str, reading: Reading) -> Iterator[str]:
    """The marked text, then one line for every hit in the order of the text."""
    hits = sorted(
        [(hit, True) for hit in reading.mentions] + [(hit, False) for hit in reading.rejected],
        key=lambda item: (item[0].start, item[0].end),
    )
    yield _marked(text, hits)
    yield ""
    for hit, good in hits:
        yield f"{_sign(hit, good)} {hit.start}-{hit.end} {_styled(_plain(text[hit.start : hit.end]), hit, good)}  {_about(hit, good)}"
    rejected = len(reading.rejected)
    yield (
        f"{len(reading.mentions):,} mentioned, {rejected:,} rejected" if hits else "no brand of the catalogue is named"
    )


def document_of(reading: Reading) -> dict[str, Any]:
    """The reading, JSON-ready."""
    return {
        "mentions": [_document(hit) for hit in reading.mentions],
        "rejected": [_document(hit) for hit in reading.rejected],
    }


def _document(hit: Mention) -> dict[str, Any]:
    return {
        "brand": hit.brand,
        "alias": hit.alias,
        "start": hit.start,
        "end": hit.end,
        "sentence": hit.sentence,
        "sentence_start": hit.sentence_start,
        "visible": hit.visible,
        "kind": hit.kind.value,
        "rank": hit.rank,
        "order": hit.order,
        "stance": hit.stance.value,
        "self_mention": hit.self_mention,
        "echo": hit.echo,
        "doubtful": hit.doubtful,
        "reason": hit.reason,
    }


def _marked(text: str, hits: list[tuple[Mention, bool]]) -> str:
    pieces, done = [], 0
    for hit, good in hits:
        if hit.start < done:
            continue  # a name inside what was rejected
        pieces += [_plain(text[done : hit.start]), _styled(_plain(text[hit.start : hit.end]), hit, good)]
        done = hit.end
    return "".join([*pieces, _plain(text[done:])]).rstrip("\n")


def _styled(words: str, hit: Mention, good: bool) -> str:
    if not good:
        return click.style(words, fg="red", strikethrough=True)
    return click.style(words, fg="yellow" if hit.doubtful else "green", bold=True)


def _sign(hit: Mention, good: bool) -> str:
    return "-" if not good else "?" if hit.doubtful else "+"


def _about(hit: Mention, good: bool) -> str:
    parts = [hit.brand]
    if good:
        parts.append(hit.kind.value.replace("_", " "))
        parts += [f"rank {hit.rank}"] if hit.rank is not None else []
        parts += [f"stance {hit.stance.value}"] if hit.stance is not Stance.NEUTRAL else []
        parts += ["own company"] if hit.self_mention else []
        parts += ["named in the question"] if hit.echo else []
    parts += [hit.reason] if hit.reason else []
    return ", ".join(parts)


def _plain(text: str) -> str:
    """Somebody else's text without what could steer a terminal."""
    return "".join(
        character if character in _KEPT or unicodedata.category(character) not in ("Cc", "Cs") else "\ufffd"
        for character in text
    )
