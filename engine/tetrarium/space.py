"""One open space: the store, and everything derived from it, kept in step.

Commit order: embed, neighbours and placement → one IMMEDIATE transaction → after the commit the indexes
and the geometry take the change from the change log. A commit of another process arrives the same way,
so two programs on one space see each other's memories. What was computed before a transaction is
checked inside it: if somebody else has committed meanwhile, it is thrown away and computed again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from tetrarium import paths
from tetrarium.config import Settings
from tetrarium.errors import ModelUnavailable, SpaceBusy
from tetrarium.events import Events, SpaceChanged
from tetrarium.geometry.clusters import cluster_name
from tetrarium.geometry.placement import Geometry, Placement
from tetrarium.geometry.similarity import (
    DEFAULT_CALIBRATION,
    KEYWORDS_ONLY_CALIBRATION,
    Calibration,
    calibrate,
    similarity,
)
from tetrarium.indexing.embedding import Embedder, load_embedder
from tetrarium.indexing.indexes import Indexes
from tetrarium.indexing.synonyms import FILE as SYNONYMS_FILE
from tetrarium.indexing.synonyms import Synonyms
from tetrarium.lifecycle.ingest import spoken
from tetrarium.model import Changes, Float32, IndexRow
from tetrarium.storage import memories as rows
from tetrarium.storage.database import Connection, Database

log = logging.getLogger(__name__)

Plan = TypeVar("Plan")
Result = TypeVar("Result")

_ATTEMPTS = 20
"""How often a write is computed anew because another process was faster."""

_PAIRS = 4_000
"""Random pairs of memories that calibrate what "similar" means in a space."""

_SEED = 20_261_130
"""Of the random pairs: the same store calibrates the same everywhere."""


class Space:
    """The live state behind the service. One thread only."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.settings = settings
        self.events = Events()
        self.model_note = ""
        self.embedder = self._find_model()
        self.calibration = DEFAULT_CALIBRATION if self.embedder else KEYWORDS_ONLY_CALIBRATION
        self._calibrated_at = 0
        self.database = Database.open(folder, busy_timeout=settings.busy_timeout)
        self.reader = rows.MemoryReader(self.database)
        self.synonyms = Synonyms.read(paths.resources() / "lexicons" / SYNONYMS_FILE, folder / SYNONYMS_FILE)
        self._vectors_missing = False
        self._data_version = 0
        self.indexes = Indexes(
            settings, self.dimension, self.embedder.manifest.question_cosine if self.embedder else None
        )
        self._load()

    @property
    def model(self) -> str:
        """Name and version of the model whose vectors this space uses."""
        return self.embedder.name if self.embedder else ""

    @property
    def dimension(self) -> int:
        return self.embedder.dimension if self.embedder else 1

    # --- vectors ------------------------------------------------------------------------------

    def embed_query(self, text: str) -> Float32 | None:
        """The unit vector of a question, or None when there is no model (`model_note` says why)."""
        if self.embedder is None:
            return None
        try:
            return self.embedder.embed_query(text)
        except ModelUnavailable as error:
            self._lose_model(error)
            return None

    def embed_passages(self, texts: Sequence[str]) -> list[Float32 | None]:
        """The unit vector of each text, rounded as the store keeps it (float16); None for all without a model.

        Planning, indexes and a later rebuild must see the same numbers to the last bit.
        """
        if self.embedder is not None:
            try:
                return list(self.embedder.embed_passages(texts).astype(np.float16).astype(np.float32))
            except ModelUnavailable as error:
                self._lose_model(error)
        return [None] * len(texts)

    # --- geometry -----------------------------------------------------------------------------

    def place(self, vector: Float32 | None, keywords: Sequence[str]) -> Placement:
        """Where a new memory of that meaning goes. Changes nothing."""
        weights = self.indexes.keyword_weights(keywords)
        meaning = vector if vector is not None else np.zeros(self.dimension, np.float32)
        nums, cosines, keyword_cosines = self.indexes.relatives(vector, keywords, self.settings.relatives)
        likeness = similarity(cosines, keyword_cosines, self.calibration)
        nearest = np.lexsort((nums, -likeness))[: self.settings.relatives]
        return self.geometry.plan(
            meaning, weights, list(zip(nums[nearest].tolist(), likeness[nearest].tolist(), strict=True))
        )

    # --- writing ------------------------------------------------------------------------------

    def write(self, plan: Callable[[], Plan], commit: Callable[[Connection, Plan], Result]) -> Result:
        """Compute `plan` on the current state, then commit it in one transaction, and take the change over.

        `plan` must change nothing: it runs again when another process commits in between.
        """
        for _ in range(_ATTEMPTS):
            self.catch_up()
            planned = plan()
            try:
                with self.database.write() as connection:
                    if self.reader.last_change() != self.indexes.version:
                        raise _Overtaken
                    result = commit(connection, planned)
            except _Overtaken:
                continue
            except BaseException:
                # `take_out` may have gone ahead of a transaction that then failed.
                self._load_geometry()
                raise
            self._take_over()
            return result
        raise SpaceBusy(
            "Other programs wrote to this space without a pause; nothing was stored.", advice="Try again in a moment."
        )

    def catch_up(self) -> Changes | None:
        """Take over what other processes committed. Costs 3 µs when they did not."""
        version = self.database.data_version()
        if version == self._data_version:
            return None
        self._data_version = version
        return self._take_over()

    def calibrate_when_due(self) -> None:
        """Measure similarity anew when the space has doubled since the last time."""
        count = len(self.indexes.vectors)
        if count < max(self.settings.calibration_start, 2 * self._calibrated_at):
            return
        self.calibration = self.geometry.calibration = self._measured()
        self._calibrated_at = count
        if self.database.writable:
            value = {"at": count, "model": self.model, **self.calibration_values()}
            with self.database.write(durable=False) as connection:
                rows.set_meta(connection, "calibration", value)

    def calibration_values(self) -> dict[str, float]:
        c = self.calibration
        return {
            "cosine_mean": c.cosine_mean,
            "cosine_std": c.cosine_std,
            "keyword_mean": c.keyword_mean,
            "keyword_std": c.keyword_std,
            "tau": c.tau,
        }

    def complete_vectors(self, most: int) -> int:
        """Embed memories that have no vector of this model (it was missing, or is another one); how many are left."""
        if not self._vectors_missing:
            return 0
        missing = self.reader.without_vector(self.model)
        part = missing[:most]
        self._vectors_missing = len(part) < len(missing)
        if not part or not self.database.writable:
            return 0
        vectors = self.embed_passages([spoken(m.content, m.source) for m in self.reader.memories(part)])
        with self.database.write() as connection:
            for num, vector in zip(part, vectors, strict=True):
                if vector is None:
                    return len(missing)
                rows.set_vector(connection, num, self.model, vector)
                rows.log_change(connection, num, "edit", rows.now())
        self._take_over()
        return len(missing) - len(part)

    def settle(self, connection: Connection, num: int, placement: Placement) -> None:
        """Store the place of a memory inside a transaction."""
        rows.set_place(connection, num, placement.voxel, placement.component)
        if placement.is_new_component:
            rows.set_meta(connection, "next_component", placement.component + 1)

    def take_out(self, connection: Connection, num: int, erase: Callable[[], None]) -> None:
        """Erase a memory inside a transaction, and store the cluster ids of what falls apart without it."""
        erase()
        moved = self.geometry.remove(num) if num in self.geometry.places.key_of else {}
        rows.set_components(connection, moved)
        if moved:
            rows.set_meta(connection, "next_component", self.geometry.places.next_component)
        for member in moved:
            rows.log_change(connection, member, "place", rows.now())

    def in_order(self, order: str, *, descending: bool) -> list[int]:
        """Numbers of all memories by a column of the table (created, accessed, importance, …, content)."""
        table = self.indexes.table
        nums = table.numbers()
        if order == "content":
            return sorted(nums.tolist(), key=lambda num: table.excerpts[num].casefold(), reverse=descending)
        column = table.component if order == "cluster" else getattr(table, order)
        found: list[int] = nums[np.lexsort((nums, column[nums]))].tolist()
        return found[::-1] if descending else found

    def cluster_name(self, component: int, more: Sequence[str] = ()) -> str:
        """The most telling keywords of a cluster, with those of a memory that is just joining it."""
        codes = self.indexes.keyword_codes.names
        counts: Counter[str] = Counter(more)
        if component in self.geometry.places.components:
            counts.update({codes[code]: n for code, n in self.geometry.keyword_counts(component).items()})
        frequencies = {word: len(self.indexes.table.by_keyword.get(word, ())) for word in counts}
        return cluster_name(counts, frequencies, len(self.indexes.table))

    def close(self) -> None:
        self.indexes.vectors.close()
        self.database.close()

    # --- private ------------------------------------------------------------------------------

    def _find_model(self) -> Embedder | None:
        try:
            return load_embedder(self.settings)
        except ModelUnavailable as error:
            self._lose_model(error)
            return None

    def _lose_model(self, error: ModelUnavailable) -> None:
        """Go on by keywords, and say so in stats and in every answer."""
        if not self.model_note:
            log.warning("Searching by keywords only: %s", error)
        self.model_note = f"Keyword search only: {error}"

    def _load(self) -> None:
        self._data_version = self.database.data_version()
        with self.database.snapshot():
            version = self.reader.last_change()
            nums, matrix = self.reader.vectors(self.model, self.dimension)
            frequencies = self.reader.document_frequencies()
            self.indexes.load(self.reader.index_rows(), frequencies, nums, matrix, version=version)
            stored = self.reader.meta("calibration", {})
        self._vectors_missing = self.embedder is not None and len(nums) < len(self.indexes.table)
        if stored.get("model") == self.model:
            self._calibrated_at = int(stored["at"])
            self.calibration = Calibration(**{name: stored[name] for name in self.calibration_values()})
        self._load_geometry()

    def _load_geometry(self) -> None:
        table = self.indexes.table
        nums = table.numbers()
        placed = nums[table.component[nums] > 0]
        self.geometry = Geometry(
            self.settings, self.calibration, self.indexes.vectors.vectors, self.indexes.keyword_ids
        )
        moved = self.geometry.load(
            placed, table.place[placed], table.component[placed], self.reader.meta("next_component", 1)
        )
        table.set_components(moved)

    def _take_over(self) -> Changes:
        """Bring indexes and geometry up to the end of the change log, and tell the listeners."""
        changes = self.reader.changes_since(self.indexes.version)
        ops: dict[int, set[str]] = {}
        for change in changes:
            ops.setdefault(change.num, set()).add(change.op)
        moved = any("place" in names for names in ops.values())
        nums = sorted(ops)
        found = {row.num: row for row in self.reader.index_rows(nums)}
        with_vectors, matrix = self.reader.vectors(self.model, self.dimension, nums)
        vectors = dict(zip(with_vectors.tolist(), matrix, strict=True))
        told: dict[str, list[str]] = {"stored": [], "edited": [], "inhibited": [], "released": [], "removed": []}
        for num in nums:
            row = found.get(num)
            if row is None:
                if num < self.indexes.table.capacity and self.indexes.table.present[num]:
                    told["removed"].append(self.indexes.table.ids[num])
                    self.indexes.drop(num)
                if num in self.geometry.places.key_of and not moved:
                    self.geometry.remove(num)
                continue
            if ops[num] <= {"inhibit", "release", "standing", "place"}:
                self.indexes.table.put(row)
            else:
                self.indexes.put(row, vectors.get(num))
            if not moved:
                self._stand(row, vectors.get(num))
            told[_word_for(ops[num])].append(row.id)
        if changes:
            self.indexes.version = changes[-1].seq
        if moved:
            self._load_geometry()
        self.calibrate_when_due()
        done = Changes(self.indexes.version, **{word: tuple(ids) for word, ids in told.items()})
        if changes:
            self.events.emit(SpaceChanged(done))
        return done

    def _stand(self, row: IndexRow, vector: Float32 | None) -> None:
        """Let the geometry know of a memory that is new or has a new text."""
        if row.num in self.geometry.places.key_of:
            self.geometry.refresh(row.num)
        elif row.component:
            meaning = np.zeros(self.dimension, np.float32) if vector is None else vector
            (words,) = self.indexes.keyword_ids([row.num])
            self.geometry.add(row.num, Placement(row.place, row.component, 0, is_new_component=False), meaning, words)

    def _measured(self) -> Calibration:
        """Similarity over random pairs of the space."""
        table = self.indexes.table
        nums = table.numbers()
        nums = nums[[num in self.indexes.vectors for num in nums.tolist()]]
        rng = np.random.default_rng(_SEED)
        left, right = rng.choice(nums, (2, _PAIRS))
        left, right = left[left != right], right[left != right]
        cosines = np.einsum("nd,nd->n", self.indexes.vectors.vectors(left), self.indexes.vectors.vectors(right))
        words = np.concatenate(
            [
                self.indexes.keyword_cosines(table.keywords[one], [table.keywords[other]])
                for one, other in zip(left.tolist(), right.tolist(), strict=True)
            ]
        )
        return calibrate(cosines, words)


class _Overtaken(Exception):
    """Another process committed between plan and commit."""


def _word_for(ops: set[str]) -> str:
    if ops & {"store", "restore"}:
        return "stored"
    if "inhibit" in ops:
        return "inhibited"
    return "released" if "release" in ops else "edited"
