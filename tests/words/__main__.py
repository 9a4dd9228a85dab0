"""How are the matcher's Chinese data made anew? ``python -m tests.words`` after ``pip install jieba opencc-python-reimplemented``.

Neither package is needed otherwise: the word list of jieba 0.42.1 (MIT) is cut to what decides a boundary, the table of
traditional characters of OpenCC (Apache-2.0) to single characters. NOTICE names both.
"""

from __future__ import annotations

import lzma
from importlib.resources import files
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / "functions" / "brandvane" / "mentions"
LONGEST = 5  # code points; longer words are names of bodies and sayings, which hold their own shorter words
RAREST = 3  # occurrences in the list's own corpus; below that the list is mostly noise
COMMON = 300  # from here on a noun, verb or adjective counts as a word of everyday language
EVERYDAY = ("n", "v", "a", "vn", "an", "l", "i", "d")
FIRST_HAN, LAST_HAN = "\u4e00", "\u9fff"


def words() -> str:
    """One word a line: the word, how often it occurs, and ``v`` for a common verb, ``c`` for another common word."""
    lines = []
    for line in files("jieba").joinpath("dict.txt").read_text(encoding="utf-8").splitlines():
        word, number, tag = line.split(" ")
        if not 1 <= len(word) <= LONGEST or int(number) < RAREST:
            continue
        if all(FIRST_HAN <= character <= LAST_HAN for character in word):
            common = len(word) > 1 and tag in EVERYDAY and int(number) >= COMMON
            mark = "" if not common else " v" if tag == "v" else " c"
            lines.append(f"{word} {number}{mark}")
    return "\n".join(sorted(lines)) + "\n"


def traditional() -> str:
    """One pair of characters a line: traditional, simplified."""
    lines = files("opencc").joinpath("dictionary", "TSCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = []
    for line in lines:
        character, _, simple = line.partition("\t")
        first = simple.split(" ")[0]
        if len(character) == len(first) == 1 and character != first:
            pairs.append(character + first)
    return "\n".join(sorted(pairs)) + "\n"


if __name__ == "__main__":
    packed = lzma.compress(words().encode(), preset=9 | lzma.PRESET_EXTREME)
    (HOME / "chinese_words.txt.xz").write_bytes(packed)
    (HOME / "traditional.txt").write_text(traditional(), encoding="utf-8")
    print(len(packed), "bytes of words;", len(traditional().splitlines()), "traditional characters")
