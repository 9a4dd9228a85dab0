"""Which parts of an answer are no prose? Code, addresses, link targets and hidden reasoning, blanked without moving offsets.

Labels of links are kept, and so are bare hosts in prose ("nike.com"), which are a kind of mention. Every pattern is bounded or
tries each place once, so that the work is linear in the text.
"""

from __future__ import annotations

import re

BLANK = "\x00"  # stands for what is masked: no letter, no space, no sign of a name
_FENCE = re.compile(r"^[ \t]{0,12}(`{3,}|~{3,})[ \t]*([^\n`]{0,40})[^\n`]*$", re.MULTILINE)
_PROSE_FENCES = ("markdown", "md", "text", "txt", "plain", "plaintext", "table")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_URL_TEXT = r"[a-z0-9\-._~:/?#@$&*+=%']"
_URL = re.compile(rf"(?:https?://|ftp://|(?<![a-z0-9.])www\.)(?:{_URL_TEXT}++|\({_URL_TEXT}*+\))++")
_TARGET = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]{0,300}\)){0,1000}?\)")
_EMAIL = re.compile(r"(?<![a-z0-9._%+-])[a-z0-9._%+-]{1,64}+@[a-z0-9.-]{1,255}+")
_PATH = re.compile(rf"(?<![a-z0-9.@-])(?:[a-z0-9-]{{1,63}}+\.)++[a-z]{{2,12}}+/{_URL_TEXT}++")
_ATTRIBUTE = re.compile(r"\b(?:href|src)[ ]?=[ ]?(?:\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}')")
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\](?=\()")


def masked(folded: str) -> str:
    """The folded text, of the same length, with everything that is no prose blanked; line ends stay."""
    text = _without_reasoning(folded)
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "`" in text:
        text = _CODE.sub(_blank, text)
    if "](" in text:
        text = _TARGET.sub(_blank, text)
    if "://" in text or "www." in text:
        text = _URL.sub(_blank, text)
    if "@" in text:
        text = _EMAIL.sub(_blank, text)
    if "/" in text and "." in text:
        text = _PATH.sub(_blank, text)
    if "href" in text or "src" in text:
        text = _ATTRIBUTE.sub(_blank, text)
    return text


def labels(folded: str) -> list[tuple[int, int]]:
    """The spans of the labels of links, in order."""
    return [match.span(1) for match in _LABEL.finditer(folded)] if "](" in folded else []


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    return BLANK * len(text) if "\n" not in text else re.sub(r"[^\n]", BLANK, text)


def _without_reasoning(text: str) -> str:
    lead = text.lstrip()
    if not lead.startswith("<think>"):
        return text
    end = text.find("</think>")
    end = len(text) if end < 0 else end + len("</think>")
    return _blanked(text[:end]) + text[end:]


def _without_fences(text: str) -> str:
    pieces, done = [], 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
            continue
        if fence[1][0] != opened[1][0] or len(fence[1]) < len(opened[1]) or fence[2].strip():
            continue  # no end of this one
        if _is_code(text, opened):
            pieces += [text[done : opened.start()], _blanked(text[opened.start() : fence.end()])]
            done = fence.end()
        opened = None
    if opened is not None and _is_code(text, opened):  # never closed: code to the end
        pieces += [text[done : opened.start()], _blanked(text[opened.start() :])]
        done = len(text)
    return "".join([*pieces, text[done:]])


def _is_code(text: str, opened: re.Match[str]) -> bool:
    language = opened[2].strip()
    if language:
        return language not in _PROSE_FENCES
    return not text[opened.end() : opened.end() + 40].lstrip().startswith("|")  # a table that was fenced
