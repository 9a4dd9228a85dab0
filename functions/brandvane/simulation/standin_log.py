"""Where are calls kept? In memory and, a line a call, in an append-only file that survives the death of the process.

A row is written when its call ends, by one unbuffered write in a thread of its own: a disk that is busy with other work must not
keep the platforms from reading requests, which would then seem to have come all at once. A log that is there already is read
first, so that the audit of a restarted stand-in knows the answers given before; a last line that a crash cut short is taken off.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from io import FileIO
from pathlib import Path

from brandvane.simulation.standin_behaviour import StandinFault
from brandvane.simulation.standin_row import CallRow, parse_rows, row_line


class CallLog:
    """Rows in the order in which their calls ended."""

    def __init__(self, path: Path | None = None) -> None:
        """Open, or only remember when ``path`` is None.

        Raises:
            StandinFault: the file cannot be opened, or holds something that is no call log.
        """
        self.rows: list[CallRow] = []
        self._file: FileIO | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="call-log")
        self._written: Future[None] | None = None  # of the last row; the thread takes them in their order
        if path is not None:
            try:
                self.rows, self._file = _opened(path)
            except OSError as error:
                raise StandinFault(f"{path}: cannot be written ({error.strerror}); check --log") from None
            except ValueError as error:
                raise StandinFault(f"{error}; name another file with --log") from None

    def add(self, row: CallRow) -> None:
        """Keep a row.

        Raises:
            OSError: the file refuses (disk full), told with the next row: what was not written down cannot be audited.
        """
        self.rows.append(row)
        if self._file is not None:
            if self._written is not None and self._written.done():
                self._written.result()
            self._written = self._writer.submit(_write, self._file, row_line(row).encode(), self._written)

    def close(self) -> None:
        """Close the file when all is written.

        Raises:
            OSError: the file refuses.
        """
        self._writer.shutdown()
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._written is not None:
            self._written.result()


def _write(file: FileIO, content: bytes, before: Future[None] | None) -> None:
    """Write a whole row, unless the one before it failed: its error stays the last word."""
    if before is not None:
        before.result()
    line = memoryview(content)
    while line:
        line = line[file.write(line) or 0 :]


def _opened(path: Path) -> tuple[list[CallRow], FileIO]:
    file = FileIO(path, "a+")
    try:
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        rows = parse_rows(whole.decode().split("\n"), str(path))
        if len(whole) < len(content):
            os.truncate(path, len(whole))
    except BaseException:
        file.close()
        raise
    return rows, file
