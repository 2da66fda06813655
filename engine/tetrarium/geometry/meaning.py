"""What memories mean, as rows whose products are similarities: for whole clusters at a time.

`Geometry` compares one newcomer with a component in O(1). Splitting, merging and settling look at all members
of some components, and want matrices. A row here is the embedding beside the rarity-weighted keywords, scaled
so that the product of two rows is their similarity up to one constant of the space.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tetrarium.geometry.placement import Geometry
from tetrarium.geometry.similarity import VECTOR_SHARE
from tetrarium.model import Float32, Float64

WORDS = 512
"""Most keywords of a set of memories that get a column of their own: the most frequent."""


def rows_of(geometry: Geometry, nums: Sequence[int], words: int = WORDS) -> Float32:
    """(n, d + w) float32; the product of two rows is similarity + `offset`. Not of unit length. words: most columns."""
    scale = geometry.calibration
    vectors = geometry.vectors_of(nums).astype(np.float32)
    own = [tuple(dict.fromkeys(ids)) for ids in geometry.keywords_of(nums)]
    counts = Counter(word for ids in own for word in ids)
    column = {word: at for at, (word, _) in enumerate(counts.most_common(words))}
    keyword_part = np.zeros((len(nums), len(column)), np.float32)
    for row, ids in enumerate(own):
        weights = {word: geometry.rarity_of(word) for word in ids}
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        for word, weight in weights.items():
            if word in column:
                keyword_part[row, column[word]] = weight / length
    by_vector = math.sqrt(VECTOR_SHARE / scale.cosine_std)
    by_keywords = math.sqrt((1 - VECTOR_SHARE) / scale.keyword_std)
    return np.hstack([vectors * by_vector, keyword_part * by_keywords])


def offset(geometry: Geometry) -> float:
    """What the product of two rows lies above their similarity."""
    scale = geometry.calibration
    return (
        VECTOR_SHARE * scale.cosine_mean / scale.cosine_std
        + (1 - VECTOR_SHARE) * scale.keyword_mean / scale.keyword_std
    )


def linkage(geometry: Geometry, one: int, other: int) -> float:
    """Mean similarity between the members of two components (keyword lengths by their means)."""
    a, b, scale = geometry.core_of(one), geometry.core_of(other), geometry.calibration
    n, m = (len(geometry.places.components[number].members) for number in (one, other))
    few, many = sorted((a.keyword_counts, b.keyword_counts), key=len)
    shared = sum(geometry.rarity_of(k) ** 2 * c * many[k] for k, c in few.items() if k in many)
    whole = math.sqrt(_weight(geometry, a.keyword_counts) / n * _weight(geometry, b.keyword_counts) / m) or 1.0
    known = a.vector_sum.any() and b.vector_sum.any()
    cosine = float(a.vector_sum @ b.vector_sum) / (n * m) if known else scale.cosine_mean
    by_vector = (cosine - scale.cosine_mean) / scale.cosine_std
    by_keywords = (shared / (n * m * whole) - scale.keyword_mean) / scale.keyword_std
    return VECTOR_SHARE * by_vector + (1 - VECTOR_SHARE) * by_keywords


def likeness(geometry: Geometry, num: int, others: Sequence[int]) -> Float64:
    """(n,) similarity of a memory to each of some others."""
    rows = rows_of(geometry, [num, *others])
    products: Float64 = (rows[1:] @ rows[0]).astype(np.float64) - offset(geometry)
    return products


def _weight(geometry: Geometry, counts: Counter[int]) -> float:
    return sum(geometry.rarity_of(word) ** 2 * count for word, count in counts.items())
