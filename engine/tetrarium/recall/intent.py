"""What kind of memory a question is after, and of what time, from cue words in English and Chinese (S1).

"why did we choose X" prefers decisions, "how do I …" skills and patterns, "what went wrong" bugs; "today",
"last week", 昨天 mean the asker's own days; "who am I, what am I working on" wants identity and current work
although no memory shares a word with it. An intent only raises what fits; it never filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tetrarium.model import Category

_SOUGHT: tuple[tuple[tuple[Category, ...], re.Pattern[str]], ...] = tuple(
    (categories, re.compile(pattern, re.IGNORECASE))
    for categories, pattern in (
        (
            (Category.DECISION,),
            r"\bwhy (did|do|have|are|were) (we|they|i|you)\b|\bwhy not\b|\bwhat (did|have) we (decide|choose|pick|agree)|\bdecision(s)? (on|about|for)\b|为什么(要|用|选|不)|为何|怎么定的|决定了什么",
        ),
        (
            (Category.SKILL, Category.PATTERN),
            r"\bhow (do|can|should|would) (i|we|you|one)\b|\bhow to\b|\bsteps (to|for)\b|怎么(做|办|装|跑|配|改|回滚|部署|修)|如何|怎样",
        ),
        (
            (Category.BUG, Category.EPISODE),
            r"\bwhat (went|was|is) (wrong|broken)\b|\bwhat broke\b|\bwhy (does|did|is|was) .{1,60}\b(fail|crash|break|hang|slow)|出了什么问题|哪里(出错|坏)|为什么.{0,20}(失败|崩溃|报错)",
        ),
        ((Category.PREFERENCE,), r"\bprefer(s|red|ence)?\b|\b(likes?|dislikes?) to\b|喜欢|偏好|习惯怎么"),
    )
)
_IDENTITY = re.compile(
    r"\bwho am i\b|\bwho are we\b|\bwhat (am i|are we|was i|were we) (working on|doing)\b|\bwhere did (i|we) (leave|stop)|\bcurrent work\b|\bpick up where\b"
    r"|我是谁|我们是谁|(我|我们)(正)?在(做|忙)(什么|啥)|上次(做|写|停)到哪",
    re.IGNORECASE,
)
IDENTITY_CATEGORIES = (Category.CONTEXT, Category.PREFERENCE, Category.SESSION)

_UNITS = {"day": 1, "week": 7, "month": 30, "天": 1, "日": 1, "周": 7, "星期": 7, "个月": 30, "月": 30}
_NUMBERS = {
    "a": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
}
_AGO = re.compile(
    r"\b(?P<n>\d{1,3}|a|one|two|three|four|five) (?P<unit>day|week|month)s? ago\b|(?P<zn>\d{1,3}|[一两二三四五])(?P<zunit>天|日|周|星期|个月)(之)?前",
    re.IGNORECASE,
)

Days = Callable[[datetime], tuple[datetime, datetime]]
"""From the asker's midnight of today to the first and the last moment meant."""


def _days(first: int, last: int) -> Days:
    return lambda midnight: (midnight + timedelta(days=first), midnight + timedelta(days=last))


def _this_week(midnight: datetime) -> tuple[datetime, datetime]:
    monday = midnight - timedelta(days=midnight.weekday())
    return monday, monday + timedelta(days=7)


def _last_week(midnight: datetime) -> tuple[datetime, datetime]:
    first, last = _this_week(midnight)
    return first - timedelta(days=7), last - timedelta(days=7)


_WHEN: tuple[tuple[re.Pattern[str], Days], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), days)
    for pattern, days in (
        (r"\bthe day before yesterday\b|前天", _days(-2, -1)),
        (r"\byesterday\b|昨天|昨日", _days(-1, 0)),
        (r"\b(today|tonight|this morning)\b|今天|今日|今早", _days(0, 1)),
        (r"\blast week\b|上周|上星期|上个星期", _last_week),
        (r"\bthis week\b|本周|这周|这个星期", _this_week),
        (r"\b(last|past) month\b|上个月|上月", _days(-31, 1)),
        (r"\b(recent|recently|lately|these days)\b|最近|近来|近期", _days(-14, 1)),
    )
)


@dataclass(frozen=True, slots=True)
class Intent:
    """categories: sought kinds; since, until: seconds since the epoch or None; identity: about the asker and the work.

    bare: the question without its words of time, which say nothing of the subject.
    """

    categories: tuple[Category, ...]
    since: float | None
    until: float | None
    identity: bool
    bare: str


def intent_of(text: str, now: datetime) -> Intent:
    """The intent of a question. now: aware, in the asker's own zone."""
    identity = bool(_IDENTITY.search(text))
    categories = next((sought for sought, cues in _SOUGHT if cues.search(text)), ())
    window, bare = _window(text, now)
    since, until = (window[0].timestamp(), window[1].timestamp()) if window else (None, None)
    return Intent(IDENTITY_CATEGORIES if identity else categories, since, until, identity, bare)


def _window(text: str, now: datetime) -> tuple[tuple[datetime, datetime] | None, str]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _AGO.search(text):
        number = match["n"] or match["zn"]
        count = _NUMBERS.get(number.casefold()) or int(number)
        length = _UNITS[(match["unit"] or match["zunit"]).casefold()]
        middle = midnight - timedelta(days=count * length)
        return (middle - timedelta(days=length // 2), middle + timedelta(days=length // 2 + 1)), _cut(text, match)
    for cue, days in _WHEN:
        if match := cue.search(text):
            return days(midnight), _cut(text, match)
    return None, text


def _cut(text: str, match: re.Match[str]) -> str:
    return " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
