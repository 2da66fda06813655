"""Which of the nine categories a text belongs to, or why it is noise. Cue words in English and Chinese.

The first rule that matches wins; they stand from the most telling to the most general. A client that
knows better passes the category itself.
"""

from __future__ import annotations

import re

from tetrarium.model import Category, MemoryType

_RULES: tuple[tuple[Category, re.Pattern[str]], ...] = tuple(
    (category, re.compile(pattern, re.IGNORECASE))
    for category, pattern in (
        (
            Category.DECISION,
            r"\b(we|i|team|they) (decided|chose|agreed|settled|picked|opted)\b|\bdecision\b|\b(decided|chose|agreed) (to|on|that|against)\b|\binstead of\b.{0,60}\bbecause\b"
            r"|\bgoing with\b|\bwe (will|'ll) use\b|决定|选定|选用|敲定|拍板|改用|不再(使用|采用)|一致同意|定下来",
        ),
        (
            Category.BUG,
            r"\b(bug|regression|crash(es|ed)?|root cause|stack ?trace|traceback|exception|segfault|race condition|deadlock|memory leak|off-by-one|flaky)\b"
            r"|\bfix(ed)? (by|in|the)\b|缺陷|报错|崩溃|异常|故障原因|根因|内存泄漏|死锁|竞态|修复了",
        ),
        (
            Category.PREFERENCE,
            r"\b(prefers?|preferred|likes? to|dislikes?|hates?|favou?rs?|would rather|always wants?|don't like|style note)\b"
            r"|偏好|喜欢|不喜欢|更愿意|倾向|讨厌|习惯(用|于|把|先)",
        ),
        (
            Category.SKILL,
            r"^(to|in order to) \w+.{0,120}[,:]? (run|use|call|set|add|open|execute|type)\b|\bhow to\b|\bsteps?:|\bstep 1\b|\brun `|\bruns? .{0,30}\bthen\b"
            r"|步骤|操作方法|如何|怎么(做|配|装|跑)|先.{1,40}(再|然后)|执行.{0,30}(命令|脚本)",
        ),
        (
            Category.PATTERN,
            r"\b(pattern|convention|idiom|best practice|rule of thumb|guideline|anti-?pattern|naming scheme)\b|\b(always|never) \w+|\bwhenever\b|\bevery (new )?\w+ (must|should)\b"
            r"|模式|约定|规范|惯例|最佳实践|一律|必须|禁止|统一(用|使用|采用)",
        ),
        (
            Category.EPISODE,
            r"\b(incident|outage|postmortem|yesterday|last (week|night|month)|this morning|on (monday|tuesday|wednesday|thursday|friday)|happened)\b"
            r"|\bon \d{4}-\d{2}-\d{2}\b|事故|昨天|上周|那天|当天|凌晨|复盘",
        ),
        (
            Category.SESSION,
            r"\b(this session|in this session|today we|accomplished|next steps?|left off|work in progress|wip|handed over|continue with)\b"
            r"|本次会话|今天(完成|做了|我们)|下一步|进度|待办|交接|接下来",
        ),
        (
            Category.CONTEXT,
            r"\b(owns?|owner|maintain(s|er|ed by)|responsible for|team|project|customer|deadline|stakeholder|working on|background)\b"
            r"|负责|项目|团队|客户|背景|截止|由.{1,12}维护",
        ),
    )
)

_CHATTER = re.compile(
    r"^\W*((ok(ay)?|thanks?( you)?( so much| a lot)?|thank you|great|cool|nice|perfect|sure|yes|no|done|got it|sounds good|lgtm|hello( there| all| everyone)?|hi( there| all)?|hey|bye|looks good|"
    r"good (morning|night|job)|will do|no problem|you'?re welcome|let me (know|check|see)|one moment|please wait|test(ing)?)\b[\s,.!;:]*)+\W*$"
    r"|^\W*((好的|谢谢|感谢|收到|明白|可以|没问题|辛苦了|你好|您好|再见|嗯+|哈+|是的|对的|行|没事|稍等|测试)[\s,。!;、~!,]*)+\W*$",
    re.IGNORECASE,
)
_IMPORTANCE = {
    Category.DECISION: 0.7,
    Category.BUG: 0.6,
    Category.PREFERENCE: 0.6,
    Category.SKILL: 0.6,
    Category.PATTERN: 0.6,
    Category.FACT: 0.5,
    Category.CONTEXT: 0.5,
    Category.EPISODE: 0.4,
    Category.SESSION: 0.4,
}
_TYPE = {
    Category.DECISION: MemoryType.SEMANTIC,
    Category.FACT: MemoryType.SEMANTIC,
    Category.CONTEXT: MemoryType.SEMANTIC,
    Category.PATTERN: MemoryType.PROCEDURAL,
    Category.SKILL: MemoryType.PROCEDURAL,
    Category.BUG: MemoryType.EPISODIC,
    Category.EPISODE: MemoryType.EPISODIC,
    Category.SESSION: MemoryType.EPISODIC,
    Category.PREFERENCE: MemoryType.SOCIAL,
}


def categorise(text: str) -> Category:
    """The category of a text that is worth storing; a plain statement is a fact."""
    for category, cues in _RULES:
        if cues.search(text):
            return category
    return Category.FACT


def memory_type_of(category: Category) -> MemoryType:
    """The layer of S3 that a category lives in."""
    return _TYPE[category]


def importance_of(category: Category) -> float:
    """Importance of a memory when its client gave none, 0 … 1."""
    return _IMPORTANCE[category]


def noise_reason(text: str, *, min_length: int, min_letter_share: float) -> str:
    """Why a text is not worth storing, or "" when it is (S2's quality gate).

    Length counts a CJK character twice and letters are Unicode letters, so that a Chinese sentence passes.
    """
    visible = [c for c in text if not c.isspace()]
    length = len(" ".join(text.split())) + sum(_is_wide(c) for c in visible)
    if length < min_length:
        return f"The text is too short to stand for itself ({length} of {min_length} characters; a CJK character counts as two)."
    share = sum(map(str.isalpha, visible)) / len(visible)
    if share < min_letter_share:
        return f"The text holds too few letters ({share:.0%}, at least {min_letter_share:.0%})."
    if len(set(visible)) <= 3:
        return "The text repeats the same few characters."
    if _CHATTER.match(text):
        return "The text is talk without a fact in it."
    return ""


def _is_wide(character: str) -> bool:
    return (
        "\u1100" <= character <= "\u11ff"
        or "\u2e80" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7af"
        or character >= "\U00020000"
    )
