"""How are thousands of terms found in one pass? One regular expression, shaped as a prefix tree, longest term first.

At each position the expression walks down the tree, and wide nodes are split in halves by character range, so the work there
is bounded by the longest term and hardly grows with the number of terms: the whole pass is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from brandvane.mentions.folding import LATIN

_END = ""
_LATIN_CHARACTER = re.compile(f"[{LATIN}]")
_WIDE = 6  # alternatives that are tried one after the other; more are split


def compile_terms(terms: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds folded terms: the longest at each position, none inside another.

    A term whose edge is a Latin letter or digit does not match where that edge touches another one ("meta" in "metadata");
    an edge of any other kind (Chinese, ``+``, ``&``) has no condition.
    """
    root: dict[str, Any] = {}
    for term in terms:
        node = root
        for character in term:
            node = node.setdefault(character, {})
        if node is not root:
            node[_END] = {}
    latin = sorted(first for first in root if _LATIN_CHARACTER.match(first))
    other = sorted(first for first in root if not _LATIN_CHARACTER.match(first))
    starts = []
    # What no term begins with is passed over by one look at a character set.
    if latin:
        starts.append(f"(?<![{LATIN}])(?=[{_set(latin)}]){_choice(root, latin)}")
    if other:
        starts.append(f"(?=[{_set(other)}]){_choice(root, other)}")
    return re.compile("|".join(starts) or "(?!)")


def _set(characters: list[str]) -> str:
    return "".join(map(re.escape, characters))


def _choice(node: dict[str, Any], steps: list[str]) -> str:
    """One of ``steps`` (sorted) and what may follow it."""
    if len(steps) > _WIDE:
        half = len(steps) // 2
        lower = f"[{re.escape(steps[0])}-{re.escape(steps[half - 1])}]"
        return f"(?:(?={lower}){_choice(node, steps[:half])}|{_choice(node, steps[half:])})"
    branches = [re.escape(step) + _rest(node[step], step) for step in steps]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _rest(node: dict[str, Any], last: str) -> str:
    literal = ""
    while len(node) == 1 and _END not in node:
        ((last, node),) = node.items()
        literal += re.escape(last)
    steps = sorted(step for step in node if step)
    if _END not in node:
        return literal + _choice(node, steps)
    edge = f"(?![{LATIN}])" if _LATIN_CHARACTER.match(last) else ""
    # Longer terms stand before the end of a shorter one: the first alternative that matches wins.
    return literal + (f"(?:{_choice(node, steps)}|{edge})" if steps else edge)
