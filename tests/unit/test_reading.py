"""What all protocols read alike: thoughts, citations, blank lines, and what exceptions of a connection mean."""

from __future__ import annotations

import json
import socket
import ssl
import zlib

import httpx
import pytest

from brandvane.answer import Answer, Citation, Usage, pack, unpack
from brandvane.platforms.errors import transport_failure
from brandvane.platforms.json_body import NotJson, load
from brandvane.platforms.reading import spoken
from brandvane.policy import ErrorKind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Acme.", "Acme."),
        ("<think>Omega?</think>\n\nAcme.", "Acme."),
        ("<think>Omega?</think>Acme.<think>Zeta?</think> And Zeta.", "Acme.And Zeta."),
        ("<think>Omega? And so on", ""),
        ("Omega, I thought.</think>\nAcme.", "Acme."),
        ("Acme. <think>but", "Acme."),
        ("", ""),
    ],
)
def test_thoughts_are_no_part_of_the_text(text: str, said: str) -> None:
    assert spoken(text) == said


def test_many_openings_are_read_in_one_go() -> None:
    assert spoken("<think>" * 200_000) == ""


@pytest.mark.parametrize(
    "body", [b'\n\n\n{"a": 1}', b'\xef\xbb\xbf{"a": 1}', b': keep-alive\n\n: keep-alive\n\n{"a": 1}', b'{"a": 1}\n\n']
)
def test_what_platforms_put_around_a_document_is_no_trouble(body: bytes) -> None:
    assert load(body) == {"a": 1}


@pytest.mark.parametrize("body", [b"", b"\n\n", b": keep-alive", b"[" * 100_000, b"\xff\xfe\x00"])
def test_what_is_no_document_is_one_exception(body: bytes) -> None:
    with pytest.raises(NotJson):
        load(body)


def of(cause: BaseException) -> httpx.ConnectError:
    """A connection that failed because of something else."""
    error = httpx.ConnectError("All connection attempts failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (of(socket.gaierror(-2, "Name or service not known")), ErrorKind.TIMEOUT, "(DNS)"),
        (of(ssl.SSLCertVerificationError("self-signed certificate")), ErrorKind.TIMEOUT, "(TLS)"),
        (httpx.ConnectError("refused"), ErrorKind.TIMEOUT, "connection lost: ConnectError"),
        (httpx.ReadError(""), ErrorKind.TIMEOUT, "connection lost: ReadError"),
        (httpx.RemoteProtocolError("peer closed"), ErrorKind.TIMEOUT, "connection lost: RemoteProtocolError"),
        (httpx.ConnectTimeout("slow"), ErrorKind.TIMEOUT, "connection lost: ConnectTimeout"),
        (httpx.DecodingError("bad gzip"), ErrorKind.MALFORMED, "compression"),
        (httpx.UnsupportedProtocol("ftp"), ErrorKind.CLIENT_ERROR, "base_url"),
        (httpx.InvalidURL("x"), ErrorKind.CLIENT_ERROR, "base_url"),
    ],
)
def test_a_fault_of_the_connection_has_its_kind(error: Exception, kind: ErrorKind, told: str) -> None:
    found = transport_failure(error)
    assert found.kind is kind
    assert told in found.message
    assert found.scope == "task"


def stored(**changes: object) -> bytes:
    """An answer as an earlier release stored it, with changes."""
    document = {
        "status": "ok",
        "text": "Acme.",
        "usage": {"input_tokens": 1, "output_tokens": 2, "reasoning_tokens": 0},
        "citations": [{"url": "https://a.example", "title": "A", "kind": "cited"}],
        "search_queries": [],
        "v": 1,
        **changes,
    }
    return zlib.compress(json.dumps(document).encode())


def test_answers_of_the_first_release_are_read() -> None:
    read = unpack(stored())
    assert (read.text, read.usage, read.citations) == ("Acme.", Usage(1, 2), (Citation("https://a.example", "A"),))


def test_what_a_newer_release_adds_does_not_cost_the_answer() -> None:
    read = unpack(stored(mood="fine", usage={"input_tokens": 1, "dreams": 5}, v=9))
    assert (read.text, read.usage) == ("Acme.", Usage(1))


def test_searches_are_paid_for_apart() -> None:
    assert Usage(1000, 500, 0, 3).cost_microusd((2.0, 12.0), 0.01) == 2000 + 6000 + 30_000


def test_positions_survive_storing() -> None:
    answer = Answer("ok", "Acme.", citations=(Citation("https://a.example", "A", "cited", 0),))
    assert unpack(pack(answer)) == answer
