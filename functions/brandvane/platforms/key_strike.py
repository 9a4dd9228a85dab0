"""How does a key that a platform says back stay out of messages, logs and records? It is struck out of all that is kept.

A guess by shape (``errors._safe``) misses a key that looks like a word, so what is struck here is the very key of the call: whole, its
parts around ``:`` and ``.``, as a URL, JSON, HTML and base64 write it, and every eight characters in a row of any of these (what a
platform leaves of a key that it masks). Letters' case does not matter: codes are told in lower case.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from brandvane.answer import Answer, Failure

STRUCK = "[key]"
RUN = 8  # so many characters in a row of a key give it away
_SHORTEST = 4  # shorter ones ("none", "x") are no secret, and would eat the words around them
_PARTS = re.compile(r"[:.]")


class KeyStrike:
    """Strikes one call's key out. An empty key (a platform that wants none) strikes nothing."""

    def __init__(self, key: str) -> None:
        forms = sorted({form for form in _forms(key) if len(form) >= _SHORTEST}, key=len, reverse=True)
        lowered = [_lower(form) for form in forms]
        self._short = _any_of([form for form in forms if len(form) < RUN])
        self._whole = _any_of([form for form in forms if len(form) >= RUN])
        self._heads = tuple(form[:size] for size in range(RUN - 1, _SHORTEST - 1, -1) for form in lowered)
        self._runs = frozenset(form[at : at + RUN] for form in lowered for at in range(len(form) - RUN + 1))

    def text(self, text: str) -> str:
        """A text without the key and without any run of its characters."""
        if not text or not (self._runs or self._short):
            return text
        pieces, done = [], 0
        for start, end in self._found(text):
            pieces += [text[done:start], STRUCK]
            done = end
        kept = "".join([*pieces, text[done:]])
        return self._short.sub(STRUCK, kept) if self._short else kept

    def failure(self, failure: Failure) -> Failure:
        """A failure without the key in its message and its body."""
        return replace(failure, message=self._cut(self.text(failure.message)), raw=self._cut(self.text(failure.raw)))

    def _cut(self, text: str) -> str:
        """Without a key's beginning at the end, where the text was cut."""
        lowered = _lower(text[-RUN:])
        head = next((head for head in self._heads if lowered.endswith(head)), "")
        return text[: len(text) - len(head)] + STRUCK if head else text

    def answer(self, answer: Answer) -> Answer:
        """An answer without the whole key in anything that it tells; a mere run of characters may be somebody's words."""
        whole = self._whole
        told = (answer.raw, answer.text, answer.served_model, answer.finish_reason, answer.provider_request_id)
        cited = (part for citation in answer.citations for part in (citation.url, citation.title))
        if whole is None or not any(whole.search(part) for part in (*told, *cited, *answer.search_queries)):
            return answer
        raw, text, served, finish, request_id = (whole.sub(STRUCK, part) for part in told)
        return replace(
            answer,
            raw=raw,
            text=text,
            served_model=served,
            finish_reason=finish,
            provider_request_id=request_id,
            citations=tuple(
                replace(each, url=whole.sub(STRUCK, each.url), title=whole.sub(STRUCK, each.title))
                for each in answer.citations
            ),
            search_queries=tuple(whole.sub(STRUCK, query) for query in answer.search_queries),
        )

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where runs of the key stand, joined where they overlap."""
        lowered = _lower(text)
        start = end = -1
        for at in range(len(lowered) - RUN + 1):
            if lowered[at : at + RUN] not in self._runs:
                continue
            if at > end:
                if end >= 0:
                    yield start, end
                start = at
            end = at + RUN
        if end >= 0:
            yield start, end


def _forms(key: str) -> Iterator[str]:
    """Every way in which a key may be written."""
    for part in (key, *_PARTS.split(key)):
        yield part
        yield quote(part)
        yield quote(part, safe="")
        yield html.escape(part)
        yield json.dumps(part)[1:-1]
        yield json.dumps(part)[1:-1].replace("/", "\\/")
    yield from _base64(key)


def _base64(key: str) -> Iterator[str]:
    """What of base64 depends on the key alone, wherever the key begins in what was encoded ("user:key")."""
    raw = key.encode()
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode()
        clean = whole[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        if len(clean) >= RUN:
            yield clean
            yield clean.replace("+", "-").replace("/", "_")


def _any_of(forms: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, forms)), re.IGNORECASE) if forms else None


def _lower(text: str) -> str:
    """Lower case, character by character, so that places stay the same."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)
