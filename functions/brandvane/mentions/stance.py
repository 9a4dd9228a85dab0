"""Do the words around a mention say that nothing is known of the brand, or that it is not recommended? Everything else is neutral."""

from __future__ import annotations

import re

from brandvane.mentions.mention import Stance

_REACH = 60  # code points before and behind a mention, within its sentence
_TOPIC = r"(?:information|info|data|details?|records?|mentions?|results?|knowledge|evidence|references?)"
_NONE = (
    r"(?:\bno\b|\bnot any\b|n't (?:have|find|see|locate|provide|identify)|\bnot (?:have|find|see|locate|provide|identify|familiar|aware)|"
    r"\b(?:cannot|could not|unable to) (?:find|locate|provide|identify)|\black(?:s|ing)?\b|\bwithout\b)"
)
# What stands before the name, up to it; what stands behind it.
_ABSENT_BEFORE = re.compile(
    rf"{_NONE}[^.!?,;，。；]{{0,40}}\b{_TOPIC}\b[^.!?,;，。；]{{0,25}}"
    r"\b(?:about|on|of|for|regarding|concerning|related to|to)\b[^.!?,;，。；]{0,20}$"
    r"|(?:\bnot|n't|\bun)[ ]?(?:familiar with|aware of|heard of)[^.!?,;，。；]{0,20}$"
    r"|(?:没有|没能|未能|未|无法|并无|暂无|缺乏|找不到|查不到)[^，。！？；,.!?;]{0,12}(?:关于|有关|与)[^，。！？；,.!?;]{0,8}$"
    r"|(?:不了解|没听说过|未听说过|不熟悉|不清楚|不认识|没有听说过)[^，。！？；,.!?;]{0,6}$"
)
_LOOKED_BEFORE = re.compile(r"(?:没有|没能|未能|未|无法|并未|暂无|找不到|查不到)[^，。！？；,.!?;]{0,12}$")
_TOPIC_BEHIND = re.compile(r"^[^，。！？；,.!?;]{0,10}(?:信息|资料|内容|数据|记录|结果|消息|报道|情况)")
_ABSENT_BEHIND = re.compile(
    r"^[^.!?;，。；]{0,20}\b(?:is|was|are|were) (?:not (?:mentioned|listed|found|included)|absent)\b"
    r"|^(?:并)?(?:没有|未)(?:被)?(?:提及|提到|列入|出现|找到)"
    r"|^[^，。！？；,.!?;]{0,6}的?[^，。！？；,.!?;]{0,4}(?:信息|资料|记录)[^，。！？；,.!?;]{0,4}(?:未找到|找不到|不足|暂缺|查无)"
)
_NEGATIVE_BEFORE = re.compile(
    r"(?:\bnot|n't|\bnever)[ ](?:\w+[ ]){0,2}(?:recommend|suggest|advise|choose|buy|trust)(?:ing|ed)?"
    r"(?:[ ](?:buying|using|choosing|getting|the|any|for))?[ ]?[\"'*]*$"
    r"|\b(?:avoid|steer clear of|stay away from|unlike|skip)(?:[ ](?:buying|using|the))?[ ][\"'*]*$"
    r"|(?:不推荐|不建议|不要|别|避免|慎选|不宜|切勿|远离|避开)(?:大家|您|你|轻易)?(?:购买|选购|选择|选用|使用|考虑|去|买|选|用)?[“\"'*「《]*$"
)
_NEGATIVE_BEHIND = re.compile(
    r"^[\"'*”」》]*[^.!?;,，。；]{0,15}\b(?:is|are) (?:not (?:recommended|worth|advisable|a good)|best avoided)"
    r"|^[”\"'*」》]*[^，。！？；：,.!?;:]{0,6}(?:不值得|不推荐|不建议|不宜)(?:购买|推荐|选择|使用|买|选|考虑)?(?=[，。！？；,.!?;\s]|$)"
)


def stance_of(folded: str, start: int, end: int, sentence: tuple[int, int]) -> Stance:
    """The stance of ``folded[start:end]`` within the sentence of that span (all in offsets of the folded text)."""
    before = folded[max(sentence[0], start - _REACH) : start]
    behind = folded[end : min(sentence[1], end + _REACH)]
    if _ABSENT_BEFORE.search(before) or _ABSENT_BEHIND.search(behind):
        return Stance.ABSENT
    if _LOOKED_BEFORE.search(before) and _TOPIC_BEHIND.search(behind):
        return Stance.ABSENT
    if _NEGATIVE_BEFORE.search(before) or _NEGATIVE_BEHIND.search(behind):
        return Stance.NEGATIVE
    return Stance.NEUTRAL
