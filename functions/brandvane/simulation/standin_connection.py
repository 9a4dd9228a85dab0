"""How do bytes of one connection become calls, and replies bytes? An asyncio protocol that takes exact times.

Arrival is taken first thing in ``data_received``; a call is finished when its last byte has left this process, which the
transport tells at once because its write buffer's high-water mark is zero.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Protocol

from brandvane.simulation.standin_calls import Call, Desk, Planned
from brandvane.simulation.standin_http import BODY_MAX_BYTES, HEAD_MAX_BYTES, Head, HttpFault, parse_head
from brandvane.simulation.standin_pages import Page
from brandvane.simulation.standin_reply import Reply, refused

INCOMPLETE_S = 30.0  # a request must be complete so long after it was first found incomplete
LINGER_S = 2.0  # how long the rest of a refused request is read and thrown away, so that its answer is not lost
RESET = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: close sends a reset


class Site(Protocol):
    """What a connection needs of its server."""

    desk: Desk
    connections: set[Connection]

    def clock(self) -> float:
        """POSIX seconds, never going back."""
        ...

    def page(self, head: Head, body: bytes) -> Page:
        """Everything that is no call; a callable is work that would hold up the loop."""
        ...

    def broken(self, error: OSError) -> None:
        """The log cannot be written: end."""
        ...


class Connection(asyncio.Protocol):
    """One client connection; requests are answered one after another."""

    def __init__(self, site: Site) -> None:
        """``site``: the server."""
        self._site = site
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._read_at = 0.0  # when bytes were last read
        self._port = 0  # the client's
        self._begun = 0.0  # when the first byte in the buffer was read
        self._head: Head | None = None
        self._call: Call | None = None
        self._busy = False  # a request is complete and not yet answered
        self._planned: Planned | None = None  # its answer
        self._writing = False
        self._last = False  # no request after this one: it was refused, or the client sends no more
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what create_server gives
        transport.set_write_buffer_limits(high=0)
        self._transport = transport
        self._port = transport.get_extra_info("peername")[1]
        self._site.connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Bytes were read: note when, then see whether a request is complete."""
        now = self._site.clock()
        if self._last:
            return
        if not self._buffer:
            self._begun = now
        self._read_at = now
        self._buffer += data
        if self._busy and len(self._buffer) > HEAD_MAX_BYTES + BODY_MAX_BYTES:
            self.abort()
        else:
            self._advance()

    def _advance(self) -> None:
        while not self._busy and self._transport is not None and not self._transport.is_closing():
            try:
                if not self._request_complete():
                    if (self._buffer or self._head) and self._timer is None:
                        self._timer = asyncio.get_running_loop().call_later(INCOMPLETE_S, self._too_slow)
                    return
            except HttpFault as fault:
                self._refuse(fault)
                return
            self._serve()

    def _request_complete(self) -> bool:
        if self._head is None:
            while self._buffer[:2] == b"\r\n":  # blank lines before a request are allowed
                self._cut_off(2)
            end = self._buffer.find(b"\r\n\r\n")
            if end > HEAD_MAX_BYTES or (end < 0 and len(self._buffer) > HEAD_MAX_BYTES):
                raise HttpFault(431, f"the request's head is larger than {HEAD_MAX_BYTES} bytes")
            if end < 0:
                return False
            head = parse_head(bytes(self._buffer[:end]))
            begun = self._begun
            self._cut_off(end + 4)
            self._head = head
            platform = self._site.desk.asked_at(head.path) if head.method == "POST" else None
            if platform is not None:
                request_id = head.headers.get("x-client-request-id", "")
                self._call = self._site.desk.open(platform, request_id, begun, self._port)
            if head.length > BODY_MAX_BYTES:
                raise HttpFault(413, f"the body is larger than {BODY_MAX_BYTES} bytes")
        return len(self._buffer) >= self._head.length

    def _cut_off(self, length: int) -> None:
        del self._buffer[:length]
        self._begun = self._read_at  # of what is left, if anything

    def _serve(self) -> None:
        head, self._head = self._head, None
        assert head is not None  # noqa: S101 - _request_complete said so
        body = bytes(self._buffer[: head.length])
        self._cut_off(head.length)
        self._stop_timer()
        self._busy = True
        if self._call is not None:
            self._send_when_due(self._site.desk.reply(self._call, head.path, body, keep_alive=head.keep_alive))
            return
        page = self._site.page(head, body)
        if isinstance(page, Reply):
            self._send_when_due(_at_once(page, keep_alive=head.keep_alive))
        else:
            loop = asyncio.get_running_loop()
            task = page if isinstance(page, asyncio.Future) else loop.run_in_executor(None, page)
            task.add_done_callback(lambda done: self._send_page(done, head.keep_alive))

    def _send_page(self, done: asyncio.Future[Reply], keep_alive: bool) -> None:
        if self._transport is not None and not done.cancelled():
            self._send_when_due(_at_once(done.result(), keep_alive=keep_alive))
            self._advance()

    def _send_when_due(self, planned: Planned) -> None:
        self._planned = planned
        if planned.at is None:
            return  # until the client goes
        wait = planned.at - self._site.clock()
        if wait <= 0:
            self._write()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self._write_and_advance)

    def _write_and_advance(self) -> None:
        self._write()
        self._advance()

    def _write(self) -> None:
        self._timer = None
        transport, planned = self._transport, self._planned
        if transport is None or planned is None:
            return
        if self._call is not None:
            self._call.status = planned.status
        self._writing = True
        transport.write(planned.payload)
        if self._writing and transport.get_write_buffer_size() == 0:
            self._written()

    def resume_writing(self) -> None:
        """The write buffer is empty."""
        if self._writing:
            self._written()
            self._advance()

    def _written(self) -> None:
        transport, planned = self._transport, self._planned
        assert transport is not None  # noqa: S101 - connection_lost ends the writing
        assert planned is not None  # noqa: S101 - so does having written
        peer = transport.get_extra_info("socket")
        gone = transport.is_closing()
        # A client that went a moment ago answers our bytes with a reset before the loop hears of it.
        gone = gone or peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
        self._writing = self._busy = False
        self._planned = None
        if planned.ending == "reset" and not gone:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            transport.abort()
        self._end_call(written=not gone)
        if gone or (planned.ending == "close" and not self._last):
            transport.close()
        elif self._last and planned.ending != "reset":
            transport.write_eof()
            self._timer = asyncio.get_running_loop().call_later(LINGER_S, self.abort)

    def _end_call(self, *, written: bool) -> None:
        call, self._call = self._call, None
        if call is not None:
            try:
                self._site.desk.close(call, self._site.clock(), written=written)
            except OSError as error:
                self._site.broken(error)

    def _refuse(self, fault: HttpFault) -> None:
        self._stop_timer()
        self._busy = self._last = True
        self._send_when_due(_at_once(refused(fault.status, fault.message), keep_alive=False))

    def _too_slow(self) -> None:
        self._timer = None
        self._refuse(HttpFault(408, "the request was not complete in time"))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def eof_received(self) -> bool:
        """The client will send no more: it is gone, unless its answer is being written already."""
        if self._writing:
            self._last = True
            return True
        self._stop_timer()
        self._end_call(written=False)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed, by whomever."""
        self._stop_timer()
        self._transport = None
        self._writing = False
        self._site.connections.discard(self)
        self._end_call(written=False)

    def abort(self) -> None:
        """Drop the connection at once."""
        if self._transport is not None:
            self._transport.abort()


def _at_once(reply: Reply, *, keep_alive: bool) -> Planned:
    return Planned(0.0, reply.encoded(keep_alive=keep_alive), "keep" if keep_alive else "close", reply.status)
