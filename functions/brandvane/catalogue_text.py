"""Which text are these bytes? UTF-8 with or without a byte order mark, else GB18030 (what Chinese spreadsheets write)."""

from __future__ import annotations

import re

from brandvane.catalogue_faults import Findings

_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SAVE = "Save it as UTF-8 (in Excel: CSV UTF-8)"


def decode(data: bytes, file: str, findings: Findings) -> str | None:
    """The text of a file, or None with a fault that gives the byte offset (from 0) where reading failed."""
    if data.startswith(_WIDE_MARKS):
        findings.fault(file, "the file is UTF-16 (byte offset 0)", _SAVE, row=1, value=data[:2].hex(" "))
        return None
    marked = data.startswith(_UTF8_MARK)
    text = _utf8_or_gb18030(data, marked, file, findings)
    if text is None:
        return None
    control = _CONTROL.search(text)
    if control is not None:
        row = text.count("\n", 0, control.start()) + 1
        offset = len(text[: control.start()].encode()) + 3 * marked
        findings.fault(
            file,
            f"a control character at byte offset {offset}",
            "Remove it; is this a text file at all",
            row=row,
            value=control.group(),
        )
        return None
    return text


def _utf8_or_gb18030(data: bytes, marked: bool, file: str, findings: Findings) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf8_at = error.start + (len(_UTF8_MARK) if marked else 0)
    if marked:
        # The mark says UTF-8, so a broken byte is damage and not another encoding.
        reason = f"not valid UTF-8 at byte offset {utf8_at}"
    else:
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError as error:
            reason = f"neither UTF-8 (byte offset {utf8_at}) nor GB18030 (byte offset {error.start})"
        else:
            findings.warn(file, "read as GB18030", "Look whether names are right; saving it as UTF-8 is safer")
            return text
    findings.fault(
        file, reason, _SAVE, row=data.count(b"\n", 0, utf8_at) + 1, value=f"0x{data[utf8_at : utf8_at + 4].hex()}"
    )
    return None
