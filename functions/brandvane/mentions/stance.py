"""Do the words around a mention say that nothing is known of the brand, or that it is not recommended? Everything else is neutral."""

from __future__ import annotations

import re

from brandvane.mentions.mention import Stance

_REACH = 60  # code points before and behind a mention, within its sentence
_TOPIC = r"(?:information|info|data|details?|records?|mentions?|results?|knowledge|evidence|references?)"
_NONE = (
    r"(?:\bno\b(?! (?:lack|shortage|dearth|doubt|hesitation|question|end|problem)\b)|\bnot any\b|"
    r"n't (?:have|find|see|locate|provide|identify)|\bnot (?:have|find|see|locate|provide|identify|familiar|aware)|"
    r"\b(?:cannot|could not|unable to) (?:find|locate|provide|identify)|(?<!\bno )\black(?:s|ing)?\b|"
    r"\bwithout\b(?!(?: an?| any)? (?:doubt|question|hesitation|equal|exaggeration|peer|rival)))"
)
# A character that compares nothing: nothing better than the brand was found (没有比它更好的) is praise.
_PLAIN = "(?:(?!比(?!亚迪|较|对|赛))[^，。！？；,.!?;])"
# What stands before the name, up to it; what stands behind it.
_ABSENT_BEFORE = re.compile(
    rf"{_NONE}[^.!?,;，。；]{{0,40}}\b{_TOPIC}\b[^.!?,;，。；]{{0,25}}"
    r"\b(?:about|on|of|for|regarding|concerning|related to|to)\b[^.!?,;，。；]{0,20}$"
    r"|(?:\bnot|n't|\bun)[ ]?(?:familiar with|aware of|heard of)[^.!?,;，。；]{0,20}$"
    rf"|(?:没有|没能|未能|未|无法|并无|暂无|缺乏|找不到|查不到){_PLAIN}{{0,12}}(?:关于|有关|与)[^，。！？；,.!?;]{{0,8}}$"
    r"|(?:不了解|没听说过|未听说过|不熟悉|不清楚|不认识|没有听说过)[^，。！？；,.!?;]{0,6}$"
)
_LOOKED_BEFORE = re.compile(rf"(?:没有|没能|未能|未|无法|并未|暂无|找不到|查不到){_PLAIN}{{0,12}}$")
_TOPIC_BEHIND = re.compile(r"^[^，。！？；,.!?;]{0,10}(?:信息|资料|内容|数据|记录|结果|消息|报道|情况)")
_ABSENT_BEHIND = re.compile(
    r"^[^.!?;，。；]{0,20}\b(?:is|was|are|were) (?:not (?:mentioned|listed|found|included)|absent)\b"
    r"|^(?:并)?(?:没有|未)(?:被)?(?:提及|提到|列入|出现|找到)"
    r"|^[^，。！？；,.!?;]{0,6}的?[^，。！？；,.!?;]{0,4}(?:信息|资料|记录)[^，。！？；,.!?;]{0,4}(?:未找到|找不到|不足|暂缺|查无)"
)
_NEGATIVE_BEFORE = re.compile(
    r"(?:\bnot|\bcannot|n't|\bnever)[ ](?:\w+[ ]){0,2}(?:recommend|suggest|advise|choose|buy|trust)(?:ing|ed)?"
    r"(?:[ ](?:buying|using|choosing|getting|the|any|for))?[ ]?[\"'*]*$"
    r"|\b(?:avoid|steer clear of|stay away from|unlike|skip)(?:[ ](?:buying|using|the))?[ ][\"'*]*$"
    r"|(?:不推荐|不(?:太|大|怎么)推荐|不建议|不要|(?<![特分性级个区类差])别|避免|慎选|不宜|切勿|远离|避开)"
    r"(?:大家|您|你|轻易)?(?:购买|选购|选择|选用|使用|考虑|去|买|选|用)?[“\"'*「《]*$"
)
_NEGATIVE_BEHIND = re.compile(
    r"^[\"'*”」》]*[^.!?;,，。；]{0,15}\b(?:is|are) (?:not (?:recommended|worth|advisable|a good)|best avoided)"
    r"|^[”\"'*」》]*[^，。！？；：,.!?;:]{0,6}(?:不值得|不推荐|不建议|不宜)(?:购买|推荐|选择|使用|买|选|考虑)?(?=[，。！？；,.!?;\s]|$)"
)
# A no that another word turns round: "why not choose", "no reason to avoid", 不得不推荐.
_TURNED_BEFORE = re.compile(
    r"\bwhy (?:not|don't (?:you|we)) (?!to\b)[^.!?;,，。；]{0,30}$"
    r"|\b(?:nobody|no one|no reason)\b[^.!?;,，。；]{0,20}(?:\bnot\b|n't|\bavoid|\bskip)[^.!?;,，。；]{0,25}$"
    r"|(?:n't|\bnot|\bnever) (?:hesitate to (?!avoid|skip|steer|stay)|help but |not )[^.!?;,，。；]{0,25}$"
    r"|(?:n't|\bnot|\bcannot|\bnever|\bno need to)(?: to)? (?:avoid|skip|steer clear of|stay away from)(?: the)? [\"'*]*$"
    r"|(?:不得不|不能不|不可不)(?:说)?(?![^，。！？；]*(?:不|避|远离|慎|别))[^，。！？；,.!?;]{0,10}$"
    r"|(?:没有?人|无人|没有?(?:任何)?理由|谁(?!都|也))[^，。！？；,.!?;]{0,6}不[^，。！？；,.!?;]{0,8}$"
    r"|(?:不要|别|不必|无需|不用)(?:避免|避开|远离)(?:购买|选购|选择|选用|使用)?[“\"'*「《]*$"
)
# "I can't recommend it (highly) enough": the words between are the product's.
_UNBOUNDED_BEFORE = re.compile(r"(?:\bcan't|\bcannot|\bcan not|\bcouldn't|\bcould not) recommend(?: the)?[ ][\"'*]*$")
_UNBOUNDED_BEHIND = re.compile(
    r"^[\"'*]*(?: (?!(?:is|are|was|were|as|because|since|not|if|and|but|it|when|until|for|or)\b)[\w-]+){0,4}?"
    r" (?:enough|too (?:highly|strongly|warmly|much|often))\b"
)


def stance_of(folded: str, start: int, end: int, sentence: tuple[int, int]) -> Stance:
    """The stance of ``folded[start:end]`` within the sentence of that span (all in offsets of the folded text)."""
    before = folded[max(sentence[0], start - _REACH) : start]
    behind = folded[end : min(sentence[1], end + _REACH)]
    if _ABSENT_BEFORE.search(before) or _ABSENT_BEHIND.search(behind):
        return Stance.ABSENT
    if _LOOKED_BEFORE.search(before) and _TOPIC_BEHIND.search(behind):
        return Stance.ABSENT
    if _NEGATIVE_BEHIND.search(behind) or (_NEGATIVE_BEFORE.search(before) and not _turned(before, behind)):
        return Stance.NEGATIVE
    return Stance.NEUTRAL


def _turned(before: str, behind: str) -> bool:
    """Does another word turn the no before a name into praise?"""
    if _TURNED_BEFORE.search(before):
        return True
    return bool(_UNBOUNDED_BEFORE.search(before) and _UNBOUNDED_BEHIND.search(behind))
