"""Text → the tokens that keyword search and topics work on.

One analyser for memories and for questions, for prose in any script and for code: English words are
stemmed and stop words dropped; Chinese, Japanese and Korean runs become single characters and bigrams
(better than a segmenter, and than FTS5's own tokenisers, on our Chinese questions: measured); identifiers
stay whole *and* are split (`getUserName`, `JWT_SECRET`, `utils/dateFormatter.js`, `v2.3.1`, `E1045`).
Tokens hold letters, digits and the characters of storage.migrations.TOKEN_CHARACTERS only.
"""

from __future__ import annotations

import functools
import re
import unicodedata

import Stemmer

MAX_TOKEN_LENGTH = 64
"""Longer runs (base64, minified code) are no words; they are left to the vectors."""

MAX_TOKENS = 200_000
"""Tokens kept of one text; 1 MB of prose has about this many."""

MAX_TEXT = 2_000_000
"""Characters of a text that are looked at."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003134f"
CJK_RUN = re.compile(f"[{_CJK}]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_PIECE = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:[_./:@+#\\-]{{1,3}}[^\W_{_CJK}]+)*(?:\+\+|#)?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_CONNECTED = re.compile(r"[_./:@+#-]+")
_CLITIC = re.compile(r"(?<=\w)['\u2019](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MARKS = re.compile("[\u0300-\u036f]")

_english = Stemmer.Stemmer("english")


def stem(word: str) -> str:
    """An English word without its ending; other words as they are."""
    stemmed: str = _english.stemWord(word)
    return stemmed


STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "aren",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "both",
        "but",
        "by",
        "can",
        "cannot",
        "could",
        "couldn",
        "did",
        "didn",
        "do",
        "does",
        "doesn",
        "doing",
        "don",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "hadn",
        "has",
        "hasn",
        "have",
        "haven",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "isn",
        "it",
        "its",
        "itself",
        "just",
        "me",
        "more",
        "most",
        "mustn",
        "my",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "same",
        "shan",
        "she",
        "should",
        "shouldn",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "wasn",
        "we",
        "were",
        "weren",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "won",
        "would",
        "wouldn",
        "you",
        "your",
        "yours",
        "的",
        "了",
        "是",
        "在",
        "和",
        "与",
        "及",
        "或",
        "吗",
        "呢",
        "吧",
        "啊",
        "么",
        "我",
        "你",
        "他",
        "她",
        "它",
        "们",
        "这",
        "那",
        "有",
        "就",
        "也",
        "都",
        "很",
        "把",
        "被",
        "对",
        "从",
        "到",
        "给",
        "让",
        "请",
        "什",
        "怎",
        "哪",
        "谁",
        "为",
        "の",
        "に",
        "は",
        "を",
        "た",
        "が",
        "で",
        "て",
        "と",
        "も",
        "な",
    ]
)


def tokenize(text: str) -> list[str]:
    """The tokens of a text, in order, with repetition."""
    text = _THOUSANDS.sub("", _CLITIC.sub("", unicodedata.normalize("NFKC", text[:MAX_TEXT])))
    tokens: list[str] = []
    for match in _PIECE.finditer(text):
        piece = match.group()
        if len(tokens) >= MAX_TOKENS:
            break
        if CJK_RUN.match(piece):
            tokens += _cjk_tokens(piece)
        else:
            tokens += _word_tokens(piece.replace("\\", "/"))
    return tokens


def language(text: str) -> str:
    """ "zh", "ja", "ko" or "en" (any alphabetic script): the group in which cosines are calibrated.

    Chinese when at least a fifth of the letters are Han, Japanese with kana among them.
    """
    letters = sum(map(str.isalpha, text)) or 1
    if len(_HANGUL.findall(text)) * 5 >= letters:
        return "ko"
    han, kana = len(_HAN.findall(text)), len(_KANA.findall(text))
    if (han + kana) * 5 < letters:
        return "en"
    return "ja" if kana * 10 >= han else "zh"


def fold(text: str) -> str:
    """One spelling for what people read as the same: NFKC, case and accents folded."""
    return _unaccented(unicodedata.normalize("NFKC", text)).casefold()


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))


def _cjk_tokens(run: str) -> list[str]:
    """Bigrams, then the single characters that carry meaning of their own."""
    run = "".join(filter(str.isalnum, run))  # the ranges hold code points that are no characters yet
    return [run[i : i + 2] for i in range(len(run) - 1)] + [c for c in run if c not in STOP_WORDS or len(run) == 1]


@functools.lru_cache(maxsize=65_536)
def _word_tokens(piece: str) -> tuple[str, ...]:
    """A word stemmed, or an identifier whole and split; () for stop words and over-long runs."""
    piece = _unaccented(piece)
    whole = piece.casefold()
    if len(whole) > MAX_TOKEN_LENGTH:
        return tuple(t for part in _CONNECTED.split(piece) if len(part) <= MAX_TOKEN_LENGTH for t in _word_tokens(part))
    if whole in STOP_WORDS:
        return ()
    parts = [part for chunk in _CONNECTED.split(piece) for part in _PART.findall(chunk)]
    if len(parts) <= 1:
        return (stem(whole) if whole.isalpha() else whole,)
    split = [fold(part) for part in parts if len(part) > 1]
    words = [chunk for chunk in (fold(c) for c in _CONNECTED.split(piece)) if chunk and chunk != whole]
    inner = [
        stem(w) if w.isalpha() else w for w in dict.fromkeys((*words, *split)) if len(w) > 1 and w not in STOP_WORDS
    ]
    return tuple(dict.fromkeys((whole, *inner)))


_COUNTED = re.compile(rf"[A-Za-z]+| ?[0-9]+|[{_CJK}]|[^\S\n]+|\n+|[^\x00-\x7f]|[^\w\s]|_")


def budget_tokens(text: str) -> int:
    """How many tokens a text costs an agent: an estimate that errs high for English, Chinese and code.

    Counted against the byte-pair vocabularies of two generations (cl100k, o200k): never under on our
    English, Chinese, mixed and code samples, about a third above on English prose (measured).
    """
    total = 0.0
    for match in _COUNTED.finditer(text):
        piece = match.group()
        first = piece[0]  # a blank before a number is a token of its own; before a word it is part of the word
        if first.isascii() and first.isalpha():
            total += 1 if len(piece) <= 4 else 1 + (len(piece) - 1) / 4.5
        elif piece[-1].isdigit() and piece.isascii():
            total += (first == " ") + -(-len(piece.lstrip()) // 2)
        elif first == "\n":
            total += 1
        elif first.isspace():
            total += 0 if len(piece) == 1 else 1
        elif first.isascii():
            total += 1
        elif CJK_RUN.match(first):
            total += 1.35
        else:
            total += 0.75 * len(first.encode())
    return int(total) + 2
