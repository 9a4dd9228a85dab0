"""How is a body read that may be too large, or grow without end when it is unpacked? To the cap, and not a byte of memory beyond."""

from __future__ import annotations

import zlib

import httpx

ACCEPTED = "gzip"  # said in every request: what is unpacked here


class TooLarge(Exception):
    """The body exceeds the cap."""


async def read_capped(response: httpx.Response, most: int) -> bytes:
    """The body, unpacked.

    Raises:
        TooLarge: it is larger than ``most`` bytes, packed or unpacked.
        httpx.DecodingError: it is not packed as it says.
    """
    if response.is_stream_consumed:  # made from bytes, as in tests: nothing is left to be read
        return response.content
    packing = response.headers.get("content-encoding", "").strip().lower()
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > most:
            raise TooLarge
        chunks.append(chunk)
    body = b"".join(chunks)
    return body if packing in ("", "identity") or not body else unpacked(body, packing, most)


def unpacked(body: bytes, packing: str, most: int) -> bytes:
    """A packed body's content.

    Raises:
        TooLarge: it is larger than ``most`` bytes; no more than that is unpacked.
        httpx.DecodingError: it is not packed as it says, or in a way that was not asked for.
    """
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"content-encoding {packing[:40]} was not asked for")
    # 15 + 32: a header of gzip or zlib, whichever there is; below zero: none, as some servers understand "deflate".
    for window in (15 + 32, -15) if packing == "deflate" else (15 + 32,):
        unpacker = zlib.decompressobj(window)
        try:
            content = unpacker.decompress(body, most + 1)
        except zlib.error as error:
            failed = httpx.DecodingError(str(error))
            continue
        if len(content) > most:
            raise TooLarge
        if not unpacker.eof:
            raise httpx.RemoteProtocolError("the packed body ends before its end")
        return content
    raise failed
