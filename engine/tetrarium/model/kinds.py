"""The words that name values, and the shapes of arrays."""

from __future__ import annotations

from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


Float64 = NDArray[np.float64]


Int32 = NDArray[np.int32]


Int64 = NDArray[np.int64]


UInt8 = NDArray[np.uint8]


Bool = NDArray[np.bool_]


class Category(StrEnum):
    """The nine kinds of memory (S1 + S2). The tenth verdict, noise, is never stored."""

    DECISION = "decision"
    PATTERN = "pattern"
    BUG = "bug"
    SESSION = "session"
    FACT = "fact"
    PREFERENCE = "preference"
    CONTEXT = "context"
    SKILL = "skill"
    EPISODE = "episode"


class MemoryType(StrEnum):
    """The five layers of S3, derived from the category and the people named."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    SOCIAL = "social"


class Confidence(StrEnum):
    """stored → accessed (recalled once) → confirmed (recalled three times or more) (S2)."""

    STORED = "stored"
    ACCESSED = "accessed"
    CONFIRMED = "confirmed"


class Standing(StrEnum):
    """What a memory is between recalls: live, inhibited by a correction (S2), or in quarantine because it reads like an
    instruction to an agent: silent until a person releases it, whether inhibited besides or not."""

    LIVE = "live"
    INHIBITED = "inhibited"
    QUARANTINED = "quarantined"


class RecallState(IntEnum):
    """What a memory is for one recall (S2). VOID is never stored."""

    ACTIVE = 1
    VOID = 0
    INHIBITED = -1


class Reason(StrEnum):
    """Why a candidate of a recall has its state."""

    KEPT = "kept"
    OFF_TOPIC = "void:off_topic_cluster"
    OVER_BUDGET = "void:over_budget"
    NO_EVIDENCE = "void:no_evidence"
    NEAR_DUPLICATE = "void:near_duplicate"
    SUPERSEDED = "inhibited:superseded"
    INHIBITED = "inhibited:by_hand"
    OTHER_PROJECT = "filtered:project"
    EXPIRED = "filtered:expired"
    QUARANTINED = "filtered:quarantined"
    STORED_LATER = "filtered:stored_later"
    RANKED_BELOW = "no_candidate:ranked_below"
    NOT_FETCHED = "no_candidate:not_fetched"


class Outcome(StrEnum):
    """What a store did."""

    STORED = "stored"
    MERGED = "merged"
    NOISE = "noise"
    MATCHES_INHIBITED = "matches_inhibited"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"


CATEGORIES: tuple[Category, ...] = tuple(Category)
"""Order is the code that arrays carry: index into this tuple."""


MEMORY_TYPES: tuple[MemoryType, ...] = tuple(MemoryType)


CONFIDENCES: tuple[Confidence, ...] = tuple(Confidence)
