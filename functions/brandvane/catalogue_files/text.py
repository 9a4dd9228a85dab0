"""Which text are these bytes? UTF-8 with or without a byte order mark, else GB18030 (what Chinese spreadsheets write)."""

from __future__ import annotations

import re

from brandvane.catalogue_files.faults import Findings

_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_TOGETHER = re.compile(rb"[\x80-\xff]{2,}")
# A high byte among letters: "ë" in "Citroën", "Ö" in "Österreich"; a rare Chinese one has a capital behind it as often.
_ALONE = re.compile(rb"(?<=[A-Za-z])[\x80-\xff](?=[A-Za-z])|(?<![\x80-\xff])[\x80-\xff](?=[a-z])")
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
            western = _western(data, text)
            if western is not None:
                row = data.count(b"\n", 0, western) + 1
                reason = (
                    f"not UTF-8, and byte offset {western} looks like a Western letter (Windows-1252), not like Chinese"
                )
                findings.fault(file, reason, _SAVE, row=row, value=f"0x{data[western]:02x}")
                return None
            findings.warn(file, "read as GB18030", "Look whether names are right; saving it as UTF-8 is safer")
            return text
    findings.fault(
        file, reason, _SAVE, row=data.count(b"\n", 0, utf8_at) + 1, value=f"0x{data[utf8_at : utf8_at + 4].hex()}"
    )
    return None


def _western(data: bytes, text: str) -> int | None:
    """Where Windows-1252 was taken for GB18030; None where the text is Chinese as far as one can see.

    "Hermès" in Windows-1252 is valid GB18030: è and s make one rare character. But Chinese words are runs of high bytes, and
    Western letters stand alone among ASCII ones: what there is more of decides.
    """
    alone = [found.start() for found in _ALONE.finditer(data)]
    if not alone and any("\ue000" <= character <= "\uf8ff" for character in text):
        alone = [found.start() for found in _HIGH.finditer(data)]
    return alone[0] if len(alone) > len(_TOGETHER.findall(data)) else None
