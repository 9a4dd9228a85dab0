"""In which words does the report speak? English and Chinese, the same keys in both."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from brandvane.catalogue import Catalogue

Language = Literal["en", "zh"]

_EN = {
    "lang": "en",
    "title": "AI visibility report",
    "run": "Run",
    "window": "Asked",
    "deadline": "Deadline",
    "finished": "Finished",
    "catalogue": "Catalogue",
    "parser": "Matcher",
    "pass": "Pass",
    "totals": "Was every question answered?",
    "complete": "All {planned} planned questions have a result: {done} answered, {failed} failed.",
    "incomplete": "{planned} questions were planned, but {results} results are there ({done} answered, {failed} failed). "
    "The figures below do not speak for the whole run.",
    "planned": "Planned",
    "results": "Results",
    "done": "Answered",
    "failed": "Failed",
    "calls": "Calls made",
    "retries": "Retries",
    "throttles": "Slowed down",
    "cost": "Cost",
    "platform": "Platform",
    "all": "All",
    "unbranded": "Visibility",
    "unbranded_note": "Share of answers that mention the brand, to questions it tracks and that do not name it.",
    "branded": "Questions that name the brand",
    "branded_note": "Asked with the brand’s own name in them, so an answer nearly always repeats it. Kept apart, in no figure above.",
    "also": "Also mentioned",
    "also_note": "Answers to questions that the brand does not track. Counted, but in no rate.",
    "others": "Other brands of the catalogue ({number})",
    "others_note": "Not chosen for this run, but scored on the same answers.",
    "brand": "Brand",
    "of": "{mentioned} of {answers}",
    "interval": "95% interval",
    "cell_note": "Below each figure: how many of how many answers, and the 95% interval; a figure leads to the answers behind it.",
    "left_out_short": "{number} left out",
    "nothing_counted": "no answer counted",
    "nothing": "Nothing to show in this run.",
    "left_out": "What was counted, what was left out and why",
    "left_out_note": "Every result of the run stands in exactly one line.",
    "ending": "How it ended",
    "in_rates": "In the rates?",
    "counted": "counted",
    "counted_if": "only where the brand is mentioned",
    "not_counted": "left out",
    "unreadable_note": "Of the answered ones, {number} could not be read and were left out.",
    "blank_note": "Of the answered ones, {number} were blank and were left out.",
    "minimal_note": "{number} results were stored in the minimal form after their write-back kept failing.",
    "served": "Which models answered",
    "asked_model": "Asked",
    "served_model": "Served",
    "read": "Answers read",
    "unstated": "not stated",
    "differs": "another model than asked",
    "answers": "The answers behind the numbers",
    "answers_note": "The first answers of every figure that mention the brand, its words marked. All answers, with the brands each "
    "mentions, are in results.jsonl.gz; the same without full texts, for spreadsheets, in results.csv.",
    "shown": "{shown} of {total} shown",
    "rest": "The others are in results.jsonl.gz: target {target}, brand {brand}.",
    "sample": "sample {number}",
    "unknown_question": "(question not in the catalogue)",
    "outcome_note": "cut off by the platform’s length limit",
    "method": "How to read this",
    "method_rate": "Visibility = answers that mention the brand ÷ answers counted. Counted are complete answers, and cut-off ones "
    "that mention the brand; failed, empty, refused and filtered ones are left out, never taken as “not mentioned”.",
    "method_interval": "The interval is Wilson’s (1927): were the same questions asked again and again, it would hold the true share in "
    "about 95 of 100 cases. Two figures whose intervals overlap widely are not known to differ.",
    "method_few": "Cells marked with a hollow bar rest on fewer than {few} answers.",
    "method_mention": "A mention is a whole term of the catalogue found in the answer’s own text by matcher {parser}; "
    "letter case and full or half width do not matter. An answer counts once, however often it mentions the brand.",
    "files": "All results",
    "outcome.ok": "answered",
    "outcome.truncated": "answer cut off",
    "outcome.refused": "refused to answer",
    "outcome.filtered": "stopped by a content filter",
    "outcome.client_error": "request rejected",
    "outcome.timeout": "no answer in time",
    "outcome.retries_used_up": "retries used up",
    "outcome.empty": "empty answer",
    "outcome.poison": "given up (workers kept dying on it)",
    "outcome.expired": "deadline passed",
    "outcome.cancelled": "run cancelled",
    "outcome.unreadable": "unreadable",
}
_ZH = {
    "lang": "zh-CN",
    "title": "AI 可见度报告",
    "run": "批次",
    "window": "提问时间",
    "deadline": "截止时间",
    "finished": "完成时间",
    "catalogue": "目录版本",
    "parser": "识别器",
    "pass": "轮次",
    "totals": "每个问题都有结果吗？",
    "complete": "计划的 {planned} 个问题全部有结果：{done} 个已回答，{failed} 个失败。",
    "incomplete": "计划 {planned} 个问题，实有 {results} 条结果（{done} 个已回答，{failed} 个失败）。以下数字不代表整个批次。",
    "planned": "计划",
    "results": "结果",
    "done": "已回答",
    "failed": "失败",
    "calls": "调用次数",
    "retries": "重试",
    "throttles": "限流",
    "cost": "费用",
    "platform": "平台",
    "all": "合计",
    "unbranded": "可见度",
    "unbranded_note": "在品牌所跟踪、且问题中不含品牌名的问题里，提及该品牌的回答所占比例。",
    "branded": "问题中含品牌名",
    "branded_note": "问题本身带有品牌名，回答几乎总会重复它，因此单独列出，不计入上面的任何数字。",
    "also": "其他提及",
    "also_note": "品牌未跟踪的问题的回答中出现的提及。只计数，不计入任何比例。",
    "others": "目录中的其他品牌（{number} 个）",
    "others_note": "未列入本批次，但用同样的回答计算。",
    "brand": "品牌",
    "of": "{answers} 条中 {mentioned} 条",
    "interval": "95% 区间",
    "cell_note": "数字下方为提及的回答数与计入的回答数，以及 95% 区间；点击数字可查看其背后的回答。",
    "left_out_short": "剔除 {number} 条",
    "nothing_counted": "无有效回答",
    "nothing": "本批次没有相关内容。",
    "left_out": "计入了什么，剔除了什么，为什么",
    "left_out_note": "本批次的每条结果恰好出现在其中一行。",
    "ending": "结束方式",
    "in_rates": "是否计入",
    "counted": "计入",
    "counted_if": "仅在提及该品牌时计入",
    "not_counted": "剔除",
    "unreadable_note": "已回答的结果中有 {number} 条无法读取，已剔除。",
    "blank_note": "已回答的结果中有 {number} 条为空白，已剔除。",
    "minimal_note": "有 {number} 条结果因多次回写失败而以最简形式保存。",
    "served": "实际作答的模型",
    "asked_model": "请求的模型",
    "served_model": "实际模型",
    "read": "读取的回答",
    "unstated": "未说明",
    "differs": "与请求的模型不同",
    "answers": "数字背后的回答",
    "answers_note": "每个数字列出最先的几条提及该品牌的回答，并标出相应文字。全部回答及其提及的品牌见 results.jsonl.gz；"
    "不含全文、便于表格软件打开的版本见 results.csv。",
    "shown": "显示 {shown} 条，共 {total} 条",
    "rest": "其余见 results.jsonl.gz：目标 {target}，品牌 {brand}。",
    "sample": "第 {number} 次采样",
    "unknown_question": "（目录中没有该问题）",
    "outcome_note": "因平台长度限制被截断",
    "method": "如何阅读",
    "method_rate": "可见度 = 提及品牌的回答 ÷ 计入的回答。计入完整的回答，以及被截断但已提及品牌的回答；"
    "失败、空白、拒答和被过滤的回答一律剔除，绝不当作“未提及”。",
    "method_interval": "区间为 Wilson 区间（1927）：若反复提出同样的问题，约 95% 的情况下区间包含真实比例。"
    "两个区间大幅重叠的数字，不能断定有差别。",
    "method_few": "空心条表示该数字所依据的回答少于 {few} 条。",
    "method_mention": "提及是指识别器 {parser} 在回答原文中找到的目录词条，须为完整词；不区分大小写和全角半角。"
    "一条回答无论提及多少次都只计一次。",
    "files": "全部结果",
    "outcome.ok": "已回答",
    "outcome.truncated": "回答被截断",
    "outcome.refused": "拒绝回答",
    "outcome.filtered": "被内容过滤",
    "outcome.client_error": "请求被拒",
    "outcome.timeout": "超时无回答",
    "outcome.retries_used_up": "重试用尽",
    "outcome.empty": "回答为空",
    "outcome.poison": "放弃（执行程序反复中断）",
    "outcome.expired": "已过截止时间",
    "outcome.cancelled": "批次已取消",
    "outcome.unreadable": "无法读取",
}
WORDING: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)


def language_of(catalogue: Catalogue) -> Language:
    """The language of most questions: Chinese where more than half are, by their ``language`` or else by their characters."""
    chinese = sum(
        question.language.lower().startswith("zh") if question.language else _has_chinese(question.text)
        for question in catalogue.questions
    )
    return "zh" if 2 * chinese > len(catalogue.questions) else "en"


def _has_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)
