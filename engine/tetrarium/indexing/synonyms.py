"""Words that mean the same: a question in Chinese finds English memories by keyword too, and the reverse (S1).

The table ships as plain text (resources/lexicons/synonyms.txt) and a person may put one of their own beside a
store. Only the question is expanded, so an edit of the table acts at once and nothing is indexed anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tetrarium.indexing.tokens import fold, tokenize

log = logging.getLogger(__name__)

FILE = "synonyms.txt"

MOST_TERMS = 24
"""Terms that one question gains at most."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a group. tokens: what stands for it in the index; cjk: looked for inside the text, not by tokens."""

    text: str
    tokens: tuple[str, ...]
    cjk: bool


class Synonyms:
    """Groups of words with one meaning."""

    def __init__(self, groups: Iterable[Iterable[str]]) -> None:
        self._groups: list[tuple[Word, ...]] = []
        self._by_token: dict[str, list[tuple[Word, int]]] = {}
        self._cjk: list[tuple[Word, int]] = []
        for group in groups:
            words = tuple(filter(None, map(_word, group)))
            if len(words) < 2:
                continue
            number = len(self._groups)
            self._groups.append(words)
            for word in words:
                if word.cjk:
                    self._cjk.append((word, number))
                else:
                    self._by_token.setdefault(word.tokens[0], []).append((word, number))

    @classmethod
    def read(cls, *files: Path) -> Synonyms:
        """The groups of these files; one that is missing or cannot be read is left out (and logged)."""
        groups: list[list[str]] = []
        for file in files:
            try:
                lines = file.read_text("utf-8").splitlines()
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                log.warning("The synonyms in %s cannot be read: %s", file, error)
                continue
            groups += [line.split(",") for line in lines if line.strip() and not line.startswith("#")]
        return cls(groups)

    def __len__(self) -> int:
        return len(self._groups)

    def expand(self, text: str, terms: Iterable[str]) -> tuple[str, ...]:
        """Tokens of the words that mean what words of this text mean, without the text's own terms.

        A longer Chinese word hides a shorter one inside it ("数据库" is not "数据").
        """
        own = set(terms)
        groups: dict[int, None] = {}
        for token in own:
            for word, number in self._by_token.get(token, ()):
                if own.issuperset(word.tokens):
                    groups[number] = None
        folded = fold(text)
        inside = sorted(((w, n) for w, n in self._cjk if w.text in folded), key=lambda pair: -len(pair[0].text))
        for position, (word, number) in enumerate(inside):
            longer = [other.text for other, _ in inside[:position] if len(other.text) > len(word.text)]
            if folded.count(word.text) > sum(folded.count(other) for other in longer if word.text in other):
                groups[number] = None
        gained = dict.fromkeys(
            t for number in groups for word in self._groups[number] for t in word.tokens if t not in own
        )
        return tuple(gained)[:MOST_TERMS]


def _word(text: str) -> Word | None:
    folded = fold(text).strip()
    tokens = tokenize(folded)
    if not tokens:
        return None
    if folded.isascii():
        return Word(folded, tuple(dict.fromkeys(tokens)), cjk=False)
    # A single character stands in too many other words.
    pairs = tuple(token for token in tokens if len(token) > 1)
    return Word(folded, pairs, cjk=True) if pairs else None
