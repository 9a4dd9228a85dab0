"""Is a hit the brand, or the everyday word, another word's piece, an excluded phrase? A verdict with its reason, for each hit.

Only the text and the brand's own record decide: other brands of the catalogue have no say, so that adding one changes nothing
here. What the words around do not decide is flagged, not guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from brandvane.mentions.names import Name
from brandvane.mentions.words import cut_around, is_common, is_verb

WINDOW = 80  # code points on each side in which a word of context counts
_BREAK = 20  # code points that a sentence's end between a hit and a word of context adds to their distance
_BREAKS = re.compile(r"[。！？!?\n;；]|\.\s")
_DEGREE = re.compile(
    r"(?:很|更|最|太|非常|十分|较为|不够|不太|不|这么|那么|多么|极|极其|极为|挺|真|越|如此|特别|相当|更加|格外|尤为|爱|变|臭|审)$"
)
_NUMERAL = re.compile(r"[0-9零一二三四五六七八九十百千万两几]$")
_PORTION = re.compile(r"[0-9零一二三四五六七八九十百千半两几][个颗斤只种袋杯碗粒块片盘箱克][大小红青]?$")
_VERB = re.compile(r"[到起出]")
_SENTENCE_START = re.compile(r"(?:^|[\n.!?。！？:：\"“(（\[|>*#]|[-\u2013\u2014•]|\d[.)、])[\s*_#\"'“(（\[>-]*$")


class Verdict(Enum):
    """What is made of a hit."""

    YES = "yes"
    OPEN = "open"  # nothing near decides
    NO = "no"


@dataclass(frozen=True, slots=True)
class Sense:
    """A verdict. ``reason`` is empty for a plain yes; ``telling``: a no that says how the rest of the answer uses the word."""

    verdict: Verdict
    reason: str = ""
    telling: bool = False
    doubtful: bool = False


_PLAIN = Sense(Verdict.YES)
_CAPITAL = Sense(Verdict.OPEN)  # a capital within a sentence: the brand, unless the answer is about the word
_PORTIONED = 1.5, "a number of them"  # 三个苹果: farther than a word that touches the name (三个苹果手机)
_TELLING = 3  # hits of the common word that outweigh capitals


@dataclass(frozen=True, slots=True)
class Hit:
    """A name found: ``name`` at ``start`` … ``end`` of the folded text; ``written`` is the original's text, ``bold`` its edges."""

    name: Name
    start: int
    end: int
    written: str
    bold_before: bool = False
    bold_behind: bool = False


def sense_of(text: str, hit: Hit) -> Sense:
    """What the words near one hit say; ``text`` is the folded and masked answer."""
    name = hit.name
    for phrase, offset in name.phrases:
        if text.startswith(phrase, hit.start - offset):
            return Sense(Verdict.NO, f"inside '{phrase}', an excluded phrase", telling=True)
    if (name.minds_case or name.everyday) and not _spelled(hit):
        return Sense(
            Verdict.NO, f"'{hit.written}' is not the catalogue's spelling of a name that is a common word", telling=True
        )
    doubt = ""
    if name.chinese:
        cut = _PLAIN_CUT if hit.bold_before and hit.bold_behind else cut_around(text, hit.start, hit.end)
        if not cut.whole:
            whole_word = name.term in cut.word
            return Sense(Verdict.NO, f"a piece of '{cut.word}'", telling=whole_word, doubtful=cut.close)
        grammar = _grammar(text, hit)
        if grammar:
            return Sense(Verdict.NO, grammar, telling=True)
        if not name.required and not name.excluded and is_common(name.term):
            doubt = f"'{name.term}' is a common word too"
    if name.everyday or name.minds_case:
        if name.everyday and not (name.minds_case or name.required or name.excluded):
            doubt = f"'{name.term}' is a common word too"
        if not name.required and not _begins_sentence(text, hit.start):
            return _weighed(text, hit, against_only=True) or _CAPITAL
    if not (doubt or name.required or name.excluded):
        return _PLAIN
    return _weighed(text, hit) or Sense(
        Verdict.OPEN, doubt or "no word near decides", doubtful=bool(doubt or name.required)
    )


class _NoCut:
    whole = True
    word = ""
    close = False


_PLAIN_CUT = _NoCut()


def settle(hits: Sequence[Hit], senses: Sequence[Sense], prompt: str) -> list[Sense]:
    """Decide what stayed open by the rest of the answer and the prompt (folded): one word has one sense in one answer."""
    yes: set[str] = set()
    no: Counter[str] = Counter()
    for hit, sense in zip(hits, senses, strict=True):
        if sense.verdict is Verdict.YES and sense.reason:
            yes.add(hit.name.term)
        elif sense.verdict is Verdict.NO and sense.telling:
            no[hit.name.term] += 1
    return [
        _settled(hit.name, sense, hit.name.term in yes, hit.name.term in no, prompt)
        if sense.verdict is Verdict.OPEN
        else sense
        for hit, sense in zip(hits, senses, strict=True)
    ]


def _settled(name: Name, sense: Sense, yes: bool, no: int, prompt: str) -> Sense:
    asked_for = name.speaks_for.search(prompt) if prompt and name.speaks_for else None
    asked_against = name.speaks_against.search(prompt) if prompt and name.speaks_against and not asked_for else None
    if sense is _CAPITAL and not asked_against and (yes or no < _TELLING):
        return _PLAIN
    if yes and not no:
        return Sense(Verdict.YES, "the brand elsewhere in this answer")
    if asked_for:
        return Sense(Verdict.YES, f"the question says '{asked_for[0]}'")
    if asked_against and not yes:
        return Sense(Verdict.NO, f"the question says '{asked_against[0]}'", doubtful=True)
    if no and not yes:
        return Sense(Verdict.NO, "the common word elsewhere in this answer", doubtful=True)
    if name.required:
        return Sense(Verdict.NO, "no word of require_context is near", doubtful=True)
    return Sense(Verdict.YES, sense.reason, doubtful=sense.doubtful or yes)


def _spelled(hit: Hit) -> bool:
    written = hit.written.replace("’", "'")
    if written in hit.name.spellings:
        return True
    # An everyday word counts with a capital, however the catalogue writes it; a rule is stricter.
    return not hit.name.minds_case and written[:1].isupper()


def _begins_sentence(text: str, start: int) -> bool:
    return bool(
        _SENTENCE_START.search(text[max(0, start - 12) : start]) if start > 12 else _SENTENCE_START.search(text[:start])
    )


def _grammar(text: str, hit: Hit) -> str:
    """How Chinese grammar rules the brand out, in words; empty if it does not."""
    name, before = hit.name.term, text[max(0, hit.start - 4) : hit.start]
    if _NUMERAL.search(name[0]) and _NUMERAL.search(before) and not before[-1].isascii():
        return "a piece of a number"
    degree = _DEGREE.search(before) if (name.endswith("的") or is_common(name)) and not hit.bold_before else None
    if degree:
        return f"an adjective behind '{degree[0]}'"
    if is_verb(name) and _VERB.match(text, hit.end) and not hit.bold_behind:
        return f"a verb before '{text[hit.end]}'"
    return ""


def _weighed(text: str, hit: Hit, *, against_only: bool = False) -> Sense | None:
    """The nearest word of context decides; None where there is none on either side of the scale."""
    name = hit.name
    near_for = _nearest(text, hit, name.speaks_for)
    near_against = _nearest(text, hit, name.speaks_against)
    if name.chinese and is_common(name.term) and _PORTION.search(text[max(0, hit.start - 4) : hit.start]):
        near_against = min(near_against or _PORTIONED, _PORTIONED)
    if near_against and (near_for is None or near_against[0] < near_for[0]):
        return Sense(Verdict.NO, f"near '{near_against[1]}'", telling=True)
    if near_for and not against_only:
        return Sense(Verdict.YES, f"near '{near_for[1]}'")
    return None


def _nearest(text: str, hit: Hit, words: re.Pattern[str] | None) -> tuple[float, str] | None:
    """The distance and the text of the word that stands nearest to the hit."""
    if words is None:
        return None
    best: tuple[float, str] | None = None
    first, last = max(0, hit.start - WINDOW), min(len(text), hit.end + WINDOW)
    for found in words.finditer(text, first, last):
        start, end = found.span()
        if start < hit.end and end > hit.start:
            continue
        gap = text[end : hit.start] if end <= hit.start else text[hit.end : start]
        distance = len(gap) + _BREAK * len(_BREAKS.findall(gap))
        if best is None or distance < best[0]:
            best = distance, found[0]
    return best
