"""Pass 1, the arithmetic: score = (summands) · (bounded factors). Pure; arrays in, arrays out.

S1's formula, 0.55·vector + 0.35·BM25 + 0.15·labels + 0.20·entities times recency, importance, access and
confidence (the last from S2), on calibrated inputs. Raw, e5's cosines lie in a narrow band that differs by
language, and BM25 divided by the pool's best gives a question without a matching word full keyword
weight: S1's mix then finds 0 of 20 English memories for Chinese questions and loses to BM25 alone
(measured). Here cosines are z-scored inside each language, BM25 over all memories, and the keyword part
counts only as far as the best match covers the question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.config import Settings
from tetrarium.model import Bool, Float64, Int32, Int64, UInt8

UNIT = 5.0
"""Standard deviations that make a summand of 1: on this scale S1's weights keep their meaning."""

BASE = 0.4
"""Where an average memory stands on the vector scale, so that ordinary scores are positive and factors act one way."""


@dataclass(frozen=True, slots=True)
class Features:
    """Inputs of one question for its n candidates; each (n,). Ages since creation (age) and since the last access (idle) in seconds, before now.

    evidence: recalls and feedback that speak for a memory; distinct_queries: different questions that it answered;
    trust: level of its source.
    """

    cosine_z: Float64
    keyword_z: Float64
    label_share: Float64
    intent_share: Float64
    entity_share: Float64
    age: Float64
    idle: Float64
    importance: Float64
    trust: UInt8
    evidence: Int32
    distinct_queries: Int32


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores and their parts, each (n,): summands already weighted, then factors."""

    total: Float64
    vector: Float64
    keyword: Float64
    label: Float64
    entity: Float64
    context: Float64
    recency: Float64
    importance: Float64
    access: Float64
    confidence: Float64


@dataclass(frozen=True, slots=True)
class Sessions:
    """Where the candidates stand in their sessions, as positions among the candidates (−1 = not one of them).

    before, after: (n,) the memory stored just before and after; session: (n,) code, 0 = none.
    """

    before: Int64
    after: Int64
    session: Int32


def standardised_keywords(bm25: Float64, counted: Bool, *, documents: int, best_reachable: float) -> Float64:
    """(n,) BM25 z-scored over all `documents` (those that are no candidates score 0), times coverage.

    counted: (n,) candidates among those documents. Coverage is min(1, 2 · best / best reachable): a question
    whose words do not occur leans on meaning.
    """
    held = bm25[counted]
    if not len(held) or held.max() <= 0:
        return np.zeros(len(bm25))
    size = max(documents, len(held))
    mean = held.sum() / size
    deviation = max(float(np.sqrt(max((held**2).sum() / size - mean**2, 0.0))), 1e-6)
    coverage = min(1.0, 2.0 * float(held.max()) / best_reachable)
    return np.asarray((bm25 - mean) / deviation * coverage)


def fuse(features: Features, sessions: Sessions, settings: Settings) -> Scores:
    """The scores of all candidates of one question."""
    vector = settings.vector_weight * (features.cosine_z / UNIT + BASE)
    keyword = settings.keyword_weight * features.keyword_z / UNIT
    label = settings.label_weight * features.label_share + settings.intent_weight * features.intent_share
    entity = settings.entity_weight * features.entity_share
    own = vector + keyword + label + entity
    context = in_context(own, sessions, settings) - own
    recency = _recency(features.age, features.idle, settings)
    importance = 1.0 + settings.importance_span * (2.0 * features.importance - 1.0 - 2.0 * _below(features.trust))
    proved = np.maximum(features.evidence, 0)
    # What answers every question answers none in particular: a hub gains nothing from being asked for (S2).
    hub = features.distinct_queries / (features.distinct_queries + settings.hub_questions)
    access = 1.0 + settings.access_span * (1.0 - 1.0 / (1.0 + np.log1p(proved))) - settings.hub_span * hub
    confidence = 1.0 + settings.confidence_span * np.minimum(proved, 3) / 3.0
    total = np.maximum(own + context, 0.0) * recency * importance * access * confidence
    return Scores(total, vector, keyword, label, entity, context, recency, importance, access, confidence)


def _below(trust: UInt8) -> Float64:
    """(n,) levels of trust under the highest among the candidates. Each takes as much as importance can give at most, so
    that no importance lifts a memory over one of a more trusted source that is like it in everything else."""
    levels = trust.astype(np.float64)
    return np.asarray(levels.max(initial=0.0) - levels)


def in_context(scores: Float64, sessions: Sessions, settings: Settings) -> Float64:
    """(n,) scores raised by the neighbours in the session and by the session's best evidence.

    Each gains 0.2 of the two memories stored next to it, 0.1 of those two away, and half the mean of the
    three best of its session (all in excess of an average memory; measured on conversations).
    """
    base = settings.vector_weight * BASE
    excess = scores - base
    near = np.zeros_like(excess)
    for link in (sessions.before, sessions.after):
        two_away = np.where(link >= 0, link[link], -1)
        near += settings.neighbour_weight * (_taken(excess, link) + 0.5 * _taken(excess, two_away))
    raised = excess + near
    return np.asarray(base + raised + settings.session_weight * _session_evidence(raised, sessions.session))


def _taken(values: Float64, positions: Int64) -> Float64:
    return np.where(positions >= 0, values[positions], 0.0)


def _session_evidence(scores: Float64, session: Int32) -> Float64:
    """(n,) mean of the three best scores of each one's session; a session of fewer has nothing to add for the rest."""
    evidence = np.zeros_like(scores)
    members = np.flatnonzero(session)
    if not len(members):
        return evidence
    order = members[np.lexsort((-scores[members], session[members]))]
    starts = np.flatnonzero(np.diff(session[order], prepend=0))
    lengths = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    best = np.where(rank < 3, scores[order], 0.0)
    mean = np.add.reduceat(best, starts) / 3.0
    evidence[order] = np.repeat(mean, lengths)
    return evidence


def _recency(age: Float64, idle: Float64, settings: Settings) -> Float64:
    """Factor between 1 − span and 1 + span; halves its distance to the floor every half-life.

    An access makes a memory only partly new again: else what was answered once is answered ever after (measured).
    """
    half_life = settings.recency_half_life * 86_400.0
    new, used = (np.exp2(-np.maximum(since, 0.0) / half_life) for since in (age, idle))
    fresh = np.maximum(new, settings.access_refresh * used)
    return np.asarray(1.0 + settings.recency_span * (2.0 * fresh - 1.0))
