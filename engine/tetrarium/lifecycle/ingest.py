"""From raw arguments to a draft that can be stored, and whether two texts say the same.

Everything here is pure; the service puts the steps in order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from tetrarium.config import Settings
from tetrarium.errors import InvalidInput
from tetrarium.indexing.tokens import STOP_WORDS, budget_tokens, fold, language, stem, tokenize
from tetrarium.knowledge.entities import entities_in, speaker_of
from tetrarium.lifecycle.classify import categorise, importance_of, memory_type_of
from tetrarium.model import CATEGORIES, Category, Draft, Source

MAX_WORDS = 32
"""Keywords or labels that a client may give one memory."""

MAX_WORD_LENGTH = 80

FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Years that a memory may name; local time can be told for all of them on every platform."""

KEYWORD_TEXT = 20_000
"""Characters of a text in which keywords and entities are looked for; what it is about stands at its start."""

LEAST_SAID = 8
"""Characters of a turn of talk that stand for themselves without the speaker's name."""

MAX_KEYWORD = 32
"""Characters of a derived keyword."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:[_./:@+#-]{{1,3}}[^\W_{_CJK}]+)*")
_CJK_WORD = re.compile(f"[{_CJK}]")
_FUNCTION_CHARACTERS = re.compile("[的了是和与及吗呢吧啊把被而且但也都很就这那将]")
_WORD_OR_CHARACTER = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[._:/@+#'-]+[^\W_{_CJK}]+)*|[%$€£¥+=<>]+")
_FILLING = frozenset(
    ["a", "an", "the", "and", "then", "also", "just", "really", "very", "that", "which", "的", "了", "吧", "呢", "啊"]
)


def clean_content(content: object, settings: Settings) -> str:
    """The text as it is stored: control characters (not line breaks or tabs) gone, ends trimmed.

    Raises InvalidInput for what is not text, empty, over-long, or holds lone surrogates.
    """
    if not isinstance(content, str):
        raise InvalidInput(
            f"The content is {type(content).__name__}, not text.", advice="Give the memory as one string."
        )
    if _SURROGATE.search(content):
        raise InvalidInput(
            "The content holds half of a Unicode character (a lone surrogate); nothing was stored.",
            advice="Send the text as valid UTF-8.",
        )
    text = _CONTROL.sub("", content).strip()
    if not text:
        raise InvalidInput("The content is empty; nothing was stored.", advice="Give one self-contained statement.")
    size = len(text.encode())
    if size > settings.max_content_bytes:
        raise InvalidInput(
            f"The content is too long ({size:,} of {settings.max_content_bytes:,} bytes); nothing was stored.",
            advice="Store it as several memories, each one statement.",
        )
    return text


def clean_words(words: object, name: str) -> tuple[str, ...]:
    """Keywords, labels or entities, folded, trimmed, without repetition. Raises InvalidInput."""
    if isinstance(words, str):
        words = words.split(",")
    if not isinstance(words, Iterable):
        raise InvalidInput(f"'{name}' is not a list of words.", advice=f'Give {name} like ["cache", "redis"].')
    cleaned: dict[str, None] = {}
    for word in words:
        if not isinstance(word, str | int | float) or isinstance(word, bool):
            raise InvalidInput(f"'{name}' holds something that is not a word ({word!r}).", advice="Give words only.")
        text = " ".join(fold(_SURROGATE.sub("", _CONTROL.sub("", str(word)))).split())
        if text:
            cleaned[text[:MAX_WORD_LENGTH]] = None
    if len(cleaned) > MAX_WORDS:
        raise InvalidInput(f"'{name}' has {len(cleaned)} words, at most {MAX_WORDS}.", advice="Keep the telling ones.")
    return tuple(cleaned)


def clean_name(value: object, name: str) -> str:
    """A single-line name such as an author, a session or a project. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"'{name}' is not text ({value!r}).", advice=f"Give {name} as a string.")
    return " ".join(_SURROGATE.sub("", _CONTROL.sub("", value)).split())[:300]


def clean_project(project: object) -> str:
    """A project's name, "" for a memory that every project shares. Raises InvalidInput for "*", which means all."""
    name = clean_name(project, "project")
    if name == "*":
        raise InvalidInput(
            "'*' means every project and cannot be one.", advice="Leave the project out to share a memory."
        )
    return name


def parse_category(category: object) -> Category:
    """One of the nine. Raises InvalidInput that lists them."""
    try:
        return Category(str(category).strip().casefold())
    except ValueError:
        raise InvalidInput(
            f"There is no category '{category}'; nothing was stored.", advice=f"Use one of: {', '.join(CATEGORIES)}."
        ) from None


def parse_share(value: object, name: str) -> float:
    """A number from 0 to 1. Raises InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"'{name}' is {value!r}, not a number from 0 to 1.", advice=f"Give {name} like 0.7.")
    return float(value)


def parse_moment(value: object, name: str) -> datetime:
    """An instant; a datetime without a zone is taken as local time. Raises InvalidInput."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise InvalidInput(
            f"'{name}' is not a time.", advice=f"Give {name} in ISO 8601, like 2026-05-14T09:30:00+08:00."
        )
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise InvalidInput(
            f"'{name}' is in the year {value.year}.", advice=f"Give one from {FIRST_YEAR} to {LAST_YEAR}."
        )
    return value.astimezone(UTC)


def make_draft(
    content: str,
    *,
    keywords: tuple[str, ...],
    labels: tuple[str, ...],
    entities: tuple[str, ...],
    category: Category | None,
    importance: float | None,
    source: Source,
    created_at: datetime,
    expires_at: datetime | None,
    rarity: Callable[[str], float],
    settings: Settings,
) -> Draft:
    """What the store keeps of a clean text. `rarity` gives log(N/df) of a token, for deriving keywords."""
    kind = category or categorise(content)
    tokens = tokenize(content)
    # "Ana: …" is a turn of talk where there is a session of turns; elsewhere it is a heading ("Atlas: …").
    speaker = source.author or (speaker_of(content) if source.session else "")
    start = content[:KEYWORD_TEXT]
    return Draft(
        content=content,
        content_hash=content_hash(content),
        keywords=keywords or derive_keywords(start, rarity, settings.max_keywords),
        labels=labels,
        entities=tuple(dict.fromkeys((*entities, *entities_in(start)))),
        category=kind,
        memory_type=memory_type_of(kind),
        importance=importance_of(kind) if importance is None else importance,
        language=language(start),
        # Keywords and labels are found too, not only the words of the text.
        tokens=tuple(tokens + tokenize(" ".join((*keywords, *labels)))),
        budget_tokens=budget_tokens(content),
        source=Source(source.client, speaker, source.session, source.project, source.file),
        created_at=created_at,
        expires_at=expires_at,
    )


def spoken(content: str, source: Source) -> str:
    """What is embedded of a memory: its text; of a turn of talk, what was said without the name in front of it."""
    if source.session and source.author and content.startswith(source.author):
        said = content[len(source.author) :].lstrip(" :：")
        if len(said) >= LEAST_SAID:
            return said
    return content


def content_hash(content: str) -> bytes:
    """The same for texts that differ only in case, width, accents or white space."""
    return hashlib.blake2b(" ".join(fold(content).split()).encode(), digest_size=16).digest()


def derive_keywords(content: str, rarity: Callable[[str], float], most: int) -> tuple[str, ...]:
    """The most telling words of a text, as written (folded): rarity times how often they stand in it.

    Identifiers stay whole. A Chinese or Japanese run is cut at function characters and then into pairs, so
    that 支付服务的超时 gives 支付, 服务, 超时 and not 付服.
    """
    weights: dict[str, float] = {}
    place: dict[str, int] = {}
    for position, word in enumerate(_telling_words(content)):
        token = tokenize(word)[:1]
        if token and len(word) > 1 and not word.replace(".", "").isdigit():
            weights[word] = weights.get(word, 0.0) + rarity(token[0])
            place.setdefault(word, position)
    # The third mention says little more than the first.
    worth = {word: min(total, 2 * rarity(tokenize(word)[0])) for word, total in weights.items()}
    chosen: list[str] = []
    for word in sorted(worth, key=lambda w: (-worth[w], place[w])):
        if len(word) <= MAX_KEYWORD and not any(word in other or other in word for other in chosen):
            chosen.append(word)
        if len(chosen) == most:
            break
    return tuple(chosen)


def _telling_words(content: str) -> Iterator[str]:
    for match in _WORD.finditer(content):
        word = fold(match.group())
        if not _CJK_WORD.match(word):
            if word not in STOP_WORDS and len(word) <= MAX_KEYWORD:
                yield word
            continue
        for run in _FUNCTION_CHARACTERS.split(word):
            yield from (run[i : i + 2] for i in range(0, len(run) - 1, 2))


def say_the_same(new: str, old: str) -> bool:
    """Whether two texts are one memory: the same words in the same order, but for inflection, case and filling words.

    Anything else may change what is said – "port 9090" for 8080, "false" for true, "after" for before, who reviews
    whom – and stays a memory of its own; the correction of one by the other is proposed elsewhere, never assumed.
    """
    return _said(new) == _said(old) and frozenset(entities_in(new)) == frozenset(entities_in(old))


def _said(text: str) -> list[str]:
    """Stemmed words and CJK characters of a text in order, without what only fills."""
    return [stem(word) for word in _WORD_OR_CHARACTER.findall(fold(text)) if word not in _FILLING]
