"""Pass 1: from a question to scored candidates.

Candidates are the union of the vector neighbours, the keyword matches and the direct hits on labels and
entities, with the memories stored next to them in their sessions. Filters narrow before anything is
scored, so that a filtered search is exact: scope, then time, category, label and state, then meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.indexes import Indexes
from tetrarium.indexing.synonyms import Synonyms
from tetrarium.indexing.tokens import fold, language, tokenize
from tetrarium.knowledge.entities import entities_in
from tetrarium.model import CATEGORIES, Bool, Float32, Float64, Int64, ScoreParts, UInt8
from tetrarium.recall.evidence import Pieces, SubjectWord, evidence_for, subject_of
from tetrarium.recall.intent import Intent, intent_of
from tetrarium.recall.scoring import Features, Scores, Sessions, fuse, standardised_keywords

LEAST_DEVIATION = 0.005
"""Of cosines over a language: the few memories of a new space may all be alike."""

_IDENTIFIER = re.compile(
    r"\b[A-Za-z]{2,}[-_./][A-Za-z0-9_./-]*[0-9][A-Za-z0-9]*\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[A-Z]{1,6}-?[0-9]{2,}\b"
)
"""Names that one thing bears: zzz-17, JWT_SECRET, E1045; not a11y, on-premises or U.S."""

LEAST_TERMS = 2
"""Terms that a question must keep when the names of speakers are taken out of it."""

Match = Callable[[Sequence[str], int], list[int]]
"""Full-text candidates of the store: terms, limit (−1 = all) → numbers, best first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed once. read_as: identifiers that no memory knows, each with the one that it nearly names.
    `vector` is None when the model cannot be had: search then goes by keywords."""

    text: str
    terms: tuple[str, ...]
    synonyms: tuple[str, ...]
    language: str
    vector: Float32 | None
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    authors: tuple[int, ...]
    read_as: tuple[tuple[str, str], ...]
    subject: tuple[SubjectWord, ...]
    intent: Intent


@dataclass(frozen=True, slots=True)
class Scope:
    """Which memories a call may answer, as masks over row numbers (capacity,).

    allowed: may be answered; shadow: inhibited ones that are ranked aside, to say how many were skipped;
    documents: how many memories BM25 is calibrated against (the allowed ones before this call's filters);
    filtered: whether the call narrows further than its project; trust: (capacity,) level of each memory's source.
    """

    allowed: Bool
    shadow: Bool
    documents: int
    filtered: bool
    trust: UInt8


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first. nums: (n,) row numbers; scores: their scores and parts, aligned.

    skipped: (m,) scores of inhibited memories that would have stood among them. evidence: how much speaks for
    this space knowing the subject at all (`evidence_for`), None when that cannot be told.
    """

    nums: Int64
    scores: Scores
    skipped: Float64
    evidence: float | None

    def parts(self, most: int) -> list[ScoreParts]:
        """The parts of the first `most` scores as records."""
        s = self.scores
        columns = (s.vector, s.keyword, s.label, s.entity, s.context, s.recency, s.importance, s.access, s.confidence)
        return [ScoreParts(*row) for row in np.stack([column[:most] for column in columns], axis=1).tolist()]


def analyse(
    text: str,
    embed: Callable[[str], Float32 | None],
    pieces: Pieces,
    indexes: Indexes,
    synonyms: Synonyms,
    now: datetime,
) -> Question:
    """What a question asks for: its meaning and terms, and the labels, entities and speakers of this space it names.

    Who spoke is a matter of the entity boost; the names are taken out of what is embedded, where they would draw
    every turn of that speaker near (measured on conversations: R@10 0.786 → 0.814).
    """
    table = indexes.table
    intent = intent_of(text, now)
    asked, text = text, intent.bare
    folded = f" {fold(text)} "
    words = set(folded.replace("?", " ").replace(",", " ").split())
    terms = tuple(dict.fromkeys(tokenize(text)))
    labels = tuple(sorted(label for label in words.union(terms) if label in table.by_label))
    read_as = _read_as(text, indexes)
    terms = tuple(dict.fromkeys((*terms, *(term for _, name in read_as for term in tokenize(name)))))
    named = dict.fromkeys((*entities_in(text), *(name for _, name in read_as), *(w for w in words if len(w) > 2)))
    speakers = [(code, fold(name)) for code, name in enumerate(table.authors.names) if name]
    authors = [(code, name) for code, name in speakers if _names(folded, name)]
    return Question(
        text=asked,
        terms=terms,
        synonyms=synonyms.expand(text, terms),
        language=language(text),
        vector=embed(_without(text, [name for _, name in authors])) if text else None,
        labels=labels,
        entities=tuple(entity for entity in named if entity in table.by_entity),
        authors=tuple(code for code, _ in authors),
        read_as=read_as,
        subject=subject_of(text, pieces, synonyms),
        intent=intent,
    )


def _read_as(text: str, indexes: Indexes) -> tuple[tuple[str, str], ...]:
    """Identifiers of a question that no memory knows, with the known ones that they miss by a slip."""
    table, known = indexes.table, indexes.keywords.frequency
    names = dict.fromkeys((*entities_in(text), *map(fold, _IDENTIFIER.findall(text))))
    strange = [name for name in names if name not in table.by_entity and not any(map(known, tokenize(name)[:1]))]
    return tuple((name, near) for name in strange if (near := table.spellings.near(name)))


def _without(text: str, names: Sequence[str]) -> str:
    """A text without these folded names; the text itself when hardly anything would be left."""
    bare = text
    for name in sorted(names, key=len, reverse=True):
        edge = r"\b" if name.isascii() else ""
        bare = re.sub(rf"{edge}{re.escape(name)}(?:['’]s)?{edge}", " ", bare, flags=re.IGNORECASE)
    bare = " ".join(bare.split())
    return bare if len(tokenize(bare)) >= LEAST_TERMS else text


def rank(
    question: Question, indexes: Indexes, match: Match, scope: Scope, *, now: float, settings: Settings
) -> Ranking:
    """All candidates of a question, best first. now: seconds since the epoch."""
    nums = _candidates(question, indexes, match, scope, settings)
    if not len(nums):
        return Ranking(nums, _picked(None, nums), np.zeros(0), None)
    table = indexes.table
    answerable = ~scope.shadow[nums]
    documents, lengths = [table.tokens[num] for num in nums.tolist()], table.length[nums]
    bm25 = indexes.keywords.scores(question.terms, documents, lengths)
    bm25 += settings.synonym_weight * indexes.keywords.scores(question.synonyms, documents, lengths)
    cosines = _cosines(question, nums, indexes)
    features = Features(
        cosine_z=_cosine_z(question, cosines, nums, indexes),
        keyword_z=standardised_keywords(
            bm25,
            answerable,
            documents=scope.documents,
            best_reachable=indexes.keywords.best_reachable(question.terms),
        ),
        label_share=_share(nums, [table.by_label[label] for label in question.labels]),
        intent_share=_intent_share(question.intent, nums, indexes),
        entity_share=_entity_share(question, nums, indexes),
        age=now - np.maximum(table.accessed[nums], table.created[nums]),
        importance=table.importance[nums].astype(np.float64),
        trust=scope.trust[nums],
        evidence=table.evidence[nums],
        distinct_queries=table.distinct_queries[nums],
    )
    scores = fuse(features, _sessions(nums, answerable, indexes), settings)
    order = np.lexsort((nums, -scores.total))
    order = order[answerable[order]]
    evidence = evidence_for(question.subject, question.language, cosines, nums, indexes, settings)
    return Ranking(nums[order], _picked(scores, order), scores.total[~answerable], evidence)


def reordered(ranking: Ranking, order: Sequence[int]) -> Ranking:
    """The memories of `order` in that order, on the places that they hold now; scores go with their memories."""
    place = {num: at for at, num in enumerate(ranking.nums.tolist())}
    wanted = [place[num] for num in order if num in place]
    turned = np.arange(len(ranking.nums))
    turned[sorted(wanted)] = wanted
    return replace(ranking, nums=ranking.nums[turned], scores=_picked(ranking.scores, turned))


def unknown_subject(question: Question, indexes: Indexes) -> str:
    """The identifier that a question is about and this space has never seen, or "" when it has seen one of them.

    "zzz-17" is unknown when neither it nor one of its words is; "pre-edit" is not, where "edit" is known.
    """
    if question.read_as:
        return ""
    known = indexes.keywords.frequency
    names = [name for name in _IDENTIFIER.findall(question.text) if not name.replace(".", "").isdigit()]
    strangers = [name for name in names if not any(known(t) for t in tokenize(name) if not t.isdigit())]
    return strangers[0] if strangers and len(strangers) == len(names) else ""


def _picked(scores: Scores | None, order: Int64) -> Scores:
    if scores is None:
        return Scores(*(np.zeros(0) for _ in fields(Scores)))
    return Scores(*(getattr(scores, part.name)[order] for part in fields(Scores)))


def _candidates(question: Question, indexes: Indexes, match: Match, scope: Scope, settings: Settings) -> Int64:
    """(n,) distinct numbers in scope, ascending."""
    table = indexes.table
    wanted = scope.allowed | scope.shadow
    found: list[Int64] = []
    if question.intent.identity or question.intent.since is not None:
        found.append(_fitting(question.intent, wanted, indexes, settings.vector_candidates))
    if question.vector is not None:
        found.append(indexes.nearest(question.vector, settings.vector_candidates, wanted))
    # A filter must not see a list that was cut before it: fetch every match, then filter, then cut.
    limit = -1 if scope.filtered else settings.keyword_candidates
    matches = np.asarray(match(indexes.keywords.rare((*question.terms, *question.synonyms)), limit), np.int64)
    matches = matches[matches < table.capacity]
    found.append(matches[wanted[matches]][: 4 * settings.keyword_candidates])
    for members in (*(table.by_label[x] for x in question.labels), *(table.by_entity[x] for x in question.entities)):
        direct = np.fromiter(members, np.int64, len(members))
        found.append(np.sort(direct[wanted[direct]])[-settings.vector_candidates :])
    near = [np.unique(np.concatenate(found))]
    for link in (table.before, table.after):
        one = link[near[0]]
        near += [one, link[one]]
    nums = np.unique(np.concatenate(near))
    return nums[wanted[nums]]


def _fitting(intent: Intent, wanted: Bool, indexes: Indexes, most: int) -> Int64:
    """(≤ most,) the newest memories of the kind and time that a question asks for, whatever words they hold."""
    table = indexes.table
    mask = wanted.copy()
    if intent.identity:
        mask &= np.isin(table.category, [CATEGORIES.index(category) for category in intent.categories])
    if intent.since is not None and intent.until is not None:
        mask &= (table.created >= intent.since) & (table.created < intent.until)
    nums = np.flatnonzero(mask)
    return nums[np.argsort(-table.created[nums], kind="stable")[:most]]


def _cosines(question: Question, nums: Int64, indexes: Indexes) -> Float64 | None:
    """(n,) cosines of the question and each memory, NaN for one without a vector; None for a question without one."""
    return None if question.vector is None else indexes.cosines(question.vector, nums)


def _cosine_z(question: Question, cosines: Float64 | None, nums: Int64, indexes: Indexes) -> Float64:
    """(n,) cosines in standard deviations of the memory's own language; 0 for a memory without a vector."""
    if question.vector is None or cosines is None:
        return np.zeros(len(nums))
    kept = indexes.table.language[nums]
    z = np.zeros(len(nums))
    for code in np.unique(kept).tolist():
        names = indexes.table.languages.names
        mean, deviation = indexes.cosine_spread(question.language, names[code], question.vector)
        group = kept == code
        z[group] = (cosines[group] - mean) / max(deviation, LEAST_DEVIATION)
    return np.asarray(np.nan_to_num(z, nan=0.0))


def _share(nums: Int64, members: Sequence[set[int]]) -> Float64:
    """(n,) share of these sets that hold each number."""
    if not members:
        return np.zeros(len(nums))
    held = np.zeros(len(nums))
    for group in members:
        held += np.fromiter((num in group for num in nums.tolist()), np.float64, len(nums))
    share: Float64 = held / len(members)
    return share


def _intent_share(intent: Intent, nums: Int64, indexes: Indexes) -> Float64:
    """(n,) 0 … 1: of the kind and of the time that the question asks for."""
    table = indexes.table
    asked: list[Float64] = []
    if intent.categories:
        kinds = [CATEGORIES.index(category) for category in intent.categories]
        asked.append(np.isin(table.category[nums], kinds).astype(np.float64))
    if intent.since is not None and intent.until is not None:
        created = table.created[nums]
        # When something happened is the point of the question: it counts twice.
        asked += [((created >= intent.since) & (created < intent.until)).astype(np.float64)] * 2
    return np.mean(asked, axis=0) if asked else np.zeros(len(nums))


def _entity_share(question: Question, nums: Int64, indexes: Indexes) -> Float64:
    """(n,) share of the question's entities that each memory carries; a speaker counts where the question names one only."""
    share = _share(nums, [indexes.table.by_entity[entity] for entity in question.entities])
    if len(question.authors) == 1:
        spoken = (indexes.table.author[nums] == question.authors[0]).astype(np.float64)
        share = np.maximum(share, spoken)
    return share


def _sessions(nums: Int64, answerable: Bool, indexes: Indexes) -> Sessions:
    """Links between the candidates that may be answered; `nums` ascends."""
    table = indexes.table

    def positions(link: Int64) -> Int64:
        target = link[nums]
        at = np.minimum(np.searchsorted(nums, target), len(nums) - 1)
        return np.where((target > 0) & (nums[at] == target) & answerable[at] & answerable, at, -1)

    return Sessions(positions(table.before), positions(table.after), np.where(answerable, table.session[nums], 0))


def _names(folded: str, name: str) -> bool:
    """Whether a folded text, with blanks around it, names a person: as a word, or anywhere in a script without blanks."""
    if len(name) < 2:
        return False
    at = folded.find(name)
    while at >= 0:
        before, after = folded[at - 1], folded[at + len(name)]
        if not name.isascii() or not (before.isalnum() or after.isalnum()):
            return True
        at = folded.find(name, at + 1)
    return False
