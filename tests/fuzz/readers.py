"""Does any body make a reader or the classifier raise, and do error bodies keep their kind when what does not matter is changed?"""

from __future__ import annotations

import copy
import json
import random
import string
from collections.abc import Iterator
from typing import Any

from brandvane.answer import Answer, Failure
from brandvane.platforms.any_answer import judge
from brandvane.platforms.errors import read_error
from brandvane.platforms.http_client import protocol
from brandvane.platforms.protocols import PROTOCOL_NAMES
from brandvane.policy import ErrorKind
from builders import NOW, platform
from fuzz.mutations import STATUSES, any_headers, bent, broken, delete_at, encoded, made_up, paths, set_at
from unit import test_protocol_anthropic_messages as anthropic
from unit import test_protocol_dashscope as dashscope
from unit import test_protocol_gemini as gemini
from unit import test_protocol_openai_responses as responses
from unit import test_protocol_perplexity_agent as perplexity
from unit import test_protocol_tencent_tc3 as tc3
from unit.test_error_dialects import ALL
from unit.test_openai_chat import body as chat

READERS = tuple(sorted(PROTOCOL_NAMES))
_NOTE = {"type": "url_citation", "url_citation": {"url": "https://a"}}
_GROUNDING = {
    "groundingChunks": [{"web": {"uri": "https://a"}}],
    "groundingSupports": [{"groundingChunkIndices": [0]}],
}
GOOD: dict[str, list[Any]] = {
    "openai_chat": [chat(), chat("<think>hm</think>Acme.", message={"annotations": [_NOTE]})],
    "openai_responses": [responses.response(responses.search("https://a"), responses.message("Acme.", responses.ACME))],
    "anthropic_messages": [anthropic.message(*anthropic.SEARCHED, anthropic.text("Acme.", anthropic.cited("https://a", "A")))],
    "gemini": [gemini.body({"text": "Acme."}, grounding=_GROUNDING)],
    "perplexity_agent": [perplexity.response(perplexity.RESULTS, perplexity.message("Acme [1]."))],
    "dashscope": [dashscope.body(rows=dashscope.ROWS)],
    "tencent_tc3": [tc3.response(SearchInfo={"SearchResults": [{"Index": 1, "Url": "https://a", "Title": "A"}]})],
}  # fmt: skip
_SETTINGS = {name: platform(protocol=name) for name in READERS}
_PLATFORMS = sorted({case[0] for case in ALL})


def body_of(rng: random.Random, reader: str) -> bytes:
    """A body for a reader: one of its own, an error or nobody's, mostly broken."""
    kind = rng.randrange(4)
    if kind == 0:
        return encoded(bent(rng, rng.choice(GOOD[reader])))
    if kind == 1:
        return broken(rng, encoded(rng.choice(GOOD[reader])))
    if kind == 2:
        given = rng.choice(ALL)[2]
        whole = given if isinstance(given, bytes) else encoded(bent(rng, given))
        return broken(rng, whole) if rng.random() < 0.5 else whole
    return (
        encoded(made_up(rng, 4)) if rng.random() < 0.7 else bytes(rng.randrange(256) for _ in range(rng.randrange(80)))
    )


def read_one(rng: random.Random) -> None:
    """One body through one reader, the classifier or both.

    Raises:
        AssertionError: what came back is nothing of ours. Every other exception is the finding itself.
    """
    reader = rng.choice(READERS)
    body, status, headers = body_of(rng, reader), rng.choice(STATUSES), any_headers(rng)
    how = rng.randrange(4)
    if how == 0:
        reading = read_error(rng.choice(_PLATFORMS), status, headers, body, NOW)
        assert isinstance(reading.kind, ErrorKind)
        assert reading.wait_s is None or 0 <= reading.wait_s <= 366 * 86_400
    elif how == 1:
        assert judge(rng.choice(_PLATFORMS), status, headers, body, NOW).kind
    else:
        reply = protocol(reader).read(_SETTINGS[reader], status, headers, body, NOW)
        assert isinstance(reply, Answer | Failure)
        assert not isinstance(reply, Answer) or all(c.url for c in reply.citations)


def harmless(rng: random.Random) -> Iterator[tuple[bool, Any]]:
    """One error body with a part changed that does not decide: did it keep its kind, and what was it?"""
    name, status, given, kind = rng.choice(ALL)
    if isinstance(given, bytes):
        return
    places = [place for place in paths(given) if not _decides(name, status, given, place, kind)]
    changed = copy.deepcopy(given)
    if places and rng.random() < 0.7:
        set_at(changed, rng.choice(places), _noise(rng))
    inner = changed.get("error") if isinstance(changed.get("error"), dict) and rng.random() < 0.5 else changed
    inner["".join(rng.choices(string.ascii_lowercase, k=9))] = _noise(rng)
    raw = json.dumps(changed, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2])).encode()
    yield read_error(name, status, {}, raw, NOW).kind is kind, (name, status, changed, kind)


def _noise(rng: random.Random) -> Any:
    """What request ids, parameters and the like look like."""
    letters = "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(1, 30)))
    return rng.choice([letters, rng.randrange(10**9), None, [letters], {"note": letters}, f"See {letters}."])


def _decides(name: str, status: int, given: Any, place: tuple[Any, ...], kind: ErrorKind) -> bool:
    """Is the body read otherwise without this place, or with a meaningless value there?"""
    for value in (None, "zzz"):
        tried = copy.deepcopy(given)
        if value is None:
            delete_at(tried, place)
        else:
            set_at(tried, place, value)
        if read_error(name, status, {}, json.dumps(tried).encode(), NOW).kind is not kind:
            return True
    return False
