"""One open space: the store, and everything derived from it, kept in step.

Commit order: embed, neighbours and placement → one IMMEDIATE transaction → after the commit the indexes
and the geometry take the change from the change log. A commit of another process arrives the same way,
so two programs on one space see each other's memories. What was computed before a transaction is
checked inside it: if somebody else has committed meanwhile, it is thrown away and computed again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from tetrarium import paths
from tetrarium.config import Settings
from tetrarium.errors import DamagedSpace, DiskFull, ModelUnavailable, SpaceBusy
from tetrarium.events import Events, SpaceChanged
from tetrarium.geometry.clusters import cluster_name
from tetrarium.geometry.health import usable
from tetrarium.geometry.lattice import Voxel
from tetrarium.geometry.placement import Geometry, Placement
from tetrarium.geometry.places import Misfit
from tetrarium.geometry.similarity import (
    DEFAULT_CALIBRATION,
    KEYWORDS_ONLY_CALIBRATION,
    Calibration,
    calibrate,
    similarity,
)
from tetrarium.indexing.embedding import Embedder, load_embedder
from tetrarium.indexing.indexes import Indexes
from tetrarium.indexing.passages import windows
from tetrarium.indexing.synonyms import FILE as SYNONYMS_FILE
from tetrarium.indexing.synonyms import Synonyms
from tetrarium.lifecycle.ingest import spoken
from tetrarium.model import Changes, Float32, IndexRow
from tetrarium.storage import checks, effects, reserve
from tetrarium.storage import clusters as cluster_rows
from tetrarium.storage import memories as rows
from tetrarium.storage import relations as relation_rows
from tetrarium.storage.checks import Damage
from tetrarium.storage.database import Connection, Database, Stamp
from tetrarium.storage.history import HistoryReader
from tetrarium.storage.seals import INHIBITION, MEMORY, QUARANTINE, VECTOR

log = logging.getLogger(__name__)

Plan = TypeVar("Plan")
Result = TypeVar("Result")

_ATTEMPTS = 20
"""How often a write is computed anew because another process was faster."""

_PAIRS = 4_000
"""Random pairs of memories that calibrate what "similar" means in a space."""

_SEED = 20_261_130
"""Of the random pairs: the same store calibrates the same everywhere."""


class Attempt(Protocol):
    """A run of a call that may be a repetition: it knows the transactions that an earlier run made."""

    def before(self) -> tuple[Any] | None: ...

    def record(self, connection: Connection, result: Any) -> None: ...

    def done(self) -> None: ...


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
        self.attempt: Attempt | None = None
        self._vectors_missing = False
        self._reading: dict[
            int, tuple[list[str], list[Float32]]
        ] = {}  # windows of a long memory, and the vectors so far
        self.clusters = cluster_rows.ClusterReader(self.database)
        self.history = HistoryReader(self.database)
        self.damage = Damage()
        self.check_due = False
        self.erased = 0  # how often a memory, or words of one, went for good, by whichever program
        self.last_entry: int | None = None  # of history, by the last write; None when it changed nothing
        self.relations = relation_rows.RelationReader(self.database)
        self._names: dict[int, str] = {}
        self._told: dict[int, str] = {}  # names from keywords, kept until the cluster changes
        self._marked: dict[int, int] = {}  # cluster → version at which its members last changed
        self._marked_from = 0
        self._data_version = 0
        self.is_loaded = False
        self._geometry: Geometry | None = None
        self.indexes = self._empty_indexes()
        if settings.load_at_open:
            self.load()
        else:
            self._check_if_small()

    def load(self) -> None:
        """Read everything that is derived of the store, unless it was read."""
        if self.is_loaded:
            return
        try:
            self._load()
        except BaseException:
            self.is_loaded = False  # half of it is worse than none
            raise

    @property
    def indexes(self) -> Indexes:
        """Columns, words and vectors; read from the store when they are first asked for."""
        self.load()
        return self._indexes

    @indexes.setter
    def indexes(self, fresh: Indexes) -> None:
        self._indexes = fresh

    @property
    def geometry(self) -> Geometry:
        """Where the memories stand; read as `indexes`."""
        self.load()
        assert self._geometry is not None
        return self._geometry

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
            vector = self.embedder.embed_query(text)
            return vector if is_sound(vector) else None
        except ModelUnavailable as error:
            self._lose_model(error)
            return None

    def pieces(self, text: str) -> list[tuple[str, float]]:
        """A text in pieces of the model's vocabulary with their surprise in nats; [] without a model."""
        if self.embedder is None:
            return []
        try:
            return self.embedder.pieces(text)
        except ModelUnavailable as error:
            self._lose_model(error)
            return []

    def embed_passages(self, texts: Sequence[str]) -> list[Float32 | None]:
        """The unit vector of each text, rounded as the store keeps it (float16); None for all without a model,
        and for a text for which the model gives no direction (zeros, NaN).

        Planning, indexes and a later rebuild must see the same numbers to the last bit.
        """
        if self.embedder is not None:
            try:
                vectors = self.embedder.embed_passages(texts).astype(np.float16).astype(np.float32)
                return [vector if is_sound(vector) else None for vector in vectors]
            except ModelUnavailable as error:
                self._lose_model(error)
        return [None] * len(texts)

    # --- geometry -----------------------------------------------------------------------------

    def place(self, vector: Float32 | None, keywords: Sequence[str]) -> Placement:
        """Where a new memory of that meaning goes. Changes nothing."""
        weights = self.indexes.keyword_weights(keywords)
        meaning = vector if vector is not None else np.zeros(self.dimension, np.float32)
        return self.geometry.plan(meaning, weights, self._relatives(vector, keywords))

    def relatives_of(self, num: int) -> list[tuple[int, float]]:
        """The live memories nearest in meaning to one that is stored, and their similarities; itself not among them."""
        vector = self.indexes.vectors.vectors([num])[0] if num in self.indexes.vectors else None
        return [pair for pair in self._relatives(vector, self.indexes.table.keywords[num]) if pair[0] != num]

    def _relatives(self, vector: Float32 | None, keywords: Sequence[str]) -> list[tuple[int, float]]:
        nums, cosines, keyword_cosines = self.indexes.relatives(vector, keywords, self.settings.relatives)
        # Where either has no vector, the keywords decide, and the vectors say nothing for or against.
        known = np.where(cosines == 0, self.calibration.cosine_mean, cosines)
        likeness = similarity(known, keyword_cosines, self.calibration)
        nearest = np.lexsort((nums, -likeness))[: self.settings.relatives]
        return list(zip(nums[nearest].tolist(), likeness[nearest].tolist(), strict=True))

    # --- writing ------------------------------------------------------------------------------

    def write(
        self,
        plan: Callable[[], Plan],
        commit: Callable[[Connection, Plan], Result],
        *,
        op: str = "change",
        client: str = "",
        frees: bool = False,
    ) -> Result:
        """Compute `plan` on the current state, then commit it in one transaction, and take the change over.

        `plan` must change nothing: it runs again when another process commits in between. op, client: what history
        calls it and who did it; what changes nothing leaves no entry. frees: on a full disk the reserve is given up for it.
        Under an attempt that repeats an earlier one, a transaction that was made then gives what it gave, and changes nothing.
        """
        try:
            return self._write(plan, commit, op, client)
        except DiskFull:
            if not frees or not reserve.release(self.database.path.parent):
                raise
            log.warning("The disk is full: the reserve was given up so that memories can be deleted.")
            done = self._write(plan, commit, op, client)
            self.database.fold_log()
            return done

    def _write(self, plan: Callable[[], Plan], commit: Callable[[Connection, Plan], Result], op: str, client: str) -> Result:  # fmt: skip
        self.load()
        for _ in range(_ATTEMPTS):
            self.catch_up()
            if self.attempt and (before := self.attempt.before()):
                made: Result = before[0]
                return made
            planned = plan()
            try:
                with self.database.write() as connection:
                    if self.reader.last_change() != self.indexes.version:
                        raise _Overtaken
                    effects.begin(connection, op, client, rows.microseconds(rows.now()))
                    result = commit(connection, planned)
                    self.last_entry = effects.finish(connection)
                    if self.attempt:
                        self.attempt.record(connection, result)
            except _Overtaken:
                continue
            except BaseException:
                # `take_out` may have gone ahead of a transaction that then failed.
                self._load_geometry()
                raise
            if self.attempt:
                self.attempt.done()
            self._take_over()
            return result
        raise SpaceBusy(
            "Other programs wrote to this space without a pause; nothing was stored.", advice="Try again in a moment."
        )

    def write_many(
        self, plan: Callable[[], Plan], commit: Callable[[Connection, Plan], Result], *, op: str, client: str = ""
    ) -> Result:
        """As `write`, for a change of so many memories that everything derived is loaded anew.

        `commit` may call `load_within` to look at its own rows before they are committed.
        """
        self.load()
        for _ in range(_ATTEMPTS):
            self.catch_up()
            planned = plan()
            before = set(self.indexes.table.by_id)
            try:
                with self.database.write() as connection:
                    if self.reader.last_change() != self.indexes.version:
                        raise _Overtaken
                    effects.begin(connection, op, client, rows.microseconds(rows.now()))
                    result = commit(connection, planned)
                    self.last_entry = effects.finish(connection)
            except _Overtaken:
                continue
            except BaseException:
                self._load()
                raise
            self._load()
            after = self.indexes.table.by_id
            changes = Changes(
                self.indexes.version,
                stored=tuple(i for i in after if i not in before),
                removed=tuple(i for i in before if i not in after),
            )
            self.events.emit(SpaceChanged(changes))
            return result
        raise SpaceBusy(
            "Other programs wrote to this space without a pause; nothing was stored.", advice="Try again in a moment."
        )

    def load_within(self) -> None:
        """Load everything derived from the rows of the transaction that is open."""
        self._load_rows(quietly=True)

    def catch_up(self) -> Changes | None:
        """Take over what other processes committed. Costs 3 µs when they did not."""
        if not self.is_loaded:
            return None
        version = self.database.data_version()
        if version == self._data_version:
            if self.database.was_replaced() and self.database.path.exists():
                # The store could not be opened any more, and somebody put a backup in its place.
                self.database.reopen(busy_timeout=self.settings.busy_timeout)
                self._check_if_small()
                return self.reload()
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
        made = [(num, vector) for num, vector in zip(part, vectors, strict=True) if vector is not None]
        if not made:
            self._vectors_missing = False  # the model is away, or finds no direction: asked again after the next start
            return 0
        with self.database.write() as connection:
            if self.reader.last_change() != self.indexes.version:
                self._vectors_missing = True
                return len(missing)  # they may say something else by now: when that is taken over
            for num, vector in made:
                rows.set_vector(connection, num, self.model, vector)
                rows.log_change(connection, num, "edit", rows.now())
        self._take_over()
        return len(missing) - len(part)

    def read_long_memories(self, most: int, *, whole: bool = True) -> None:
        """Embed the parts of long memories that are not yet, up to `most` windows. A memory of more waits for a call
        that takes as many, or, without `whole`, goes on in the next one. Nothing is written: a question may do this."""
        room = most
        for num in sorted(num for num in self.indexes.unread if num not in self.indexes.passages):
            if self.embedder is None or room <= 0:
                return
            if num not in self._reading:
                (memory,) = self.reader.memories([num])
                self._reading[num] = windows(spoken(memory.content, memory.source)), []
            texts, read = self._reading[num]
            if whole and len(texts) - len(read) > room:
                return
            vectors = self.embed_passages(texts[len(read) : len(read) + room])
            if any(vector is None for vector in vectors):
                return
            read += [vector for vector in vectors if vector is not None]
            room -= len(vectors)
            if len(read) == len(texts):
                del self._reading[num]
                if texts:
                    self.indexes.passages.put(num, np.stack(read))
                else:
                    self.indexes.unread.discard(num)

    def keep_long_memories(self, most: int) -> bool:
        """Embed and store the parts of long memories, up to `most` windows; True while there are more to do."""
        self.read_long_memories(most, whole=False)
        read = [num for num in sorted(self.indexes.unread) if num in self.indexes.passages]
        if not read or not self.database.writable:
            return bool(self._reading)
        with self.database.write(durable=False) as connection:
            if self.reader.last_change() != self.indexes.version:
                return True  # they may say something else by now: when that is taken over
            for num in read:
                rows.set_passages(connection, num, self.model, self.indexes.passages.of(num))
                rows.log_change(connection, num, "edit", rows.now())
        self._take_over()
        return bool(self.indexes.unread)

    def settle(self, connection: Connection, num: int, placement: Placement) -> None:
        """Store the place of a memory inside a transaction."""
        rows.set_place(connection, num, placement.voxel, placement.component)
        if placement.is_new_component:
            rows.set_meta(connection, "next_component", placement.component + 1)

    def take_out(self, connection: Connection, num: int, erase: Callable[[], None]) -> None:
        """Erase a memory inside a transaction, and store the cluster ids of what falls apart without it."""
        erase()
        origin = self.geometry.places.component_of.get(num, 0)
        moved = self.geometry.remove(num) if num in self.geometry.places.key_of else {}
        rows.set_components(connection, moved)
        for component in {origin, *moved.values()}:
            self._told.pop(component, None)
            self._marked[component] = self.indexes.version + 1
        for fragment in dict.fromkeys(moved.values()):
            cluster_rows.set_origin(connection, fragment, origin, "deletion")
        if moved:
            rows.set_meta(connection, "next_component", self.geometry.places.next_component)
        for member in moved:
            rows.log_change(connection, member, "place", rows.now())

    def bring_in(self, connection: Connection, num: int, keywords: Sequence[str]) -> None:
        """Bring a memory from the trash back inside a transaction, also when several come back in it: to the place in
        which it stood, where that is still its cluster's, else to a new one."""
        rows.take_from_trash(connection, num, now=rows.now())
        vector = self.reader.vector_in_trash(num, self.model)
        before = self.history.last_place(num)
        placement = self.geometry.returning(*before) if before else None
        if placement is None:
            placement = self.place(vector, keywords)
        self.settle(connection, num, placement)
        meaning = vector if vector is not None else np.zeros(self.dimension, np.float32)
        self.geometry.add(num, placement, meaning, self.indexes.keyword_weights(keywords))

    def give_vector(self, connection: Connection, num: int, vector: Float32 | None) -> None:
        """Store the embedding of a memory's new words inside a transaction. Without one, that of the words before goes
        all the same, and the memory is embedded in a quiet moment."""
        if vector is None:
            rows.drop_vectors(connection, [num], now=rows.now())
            self._vectors_missing = self.embedder is not None
        else:
            rows.set_vector(connection, num, self.model, vector)

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
        """The name that a person gave, else the most telling keywords, with those of a memory that is just joining it."""
        if component in self._names:
            return self._names[component]
        if more or component not in self._told:
            name = self._telling_name(component, more)
            if more:
                return name
            self._told[component] = name
        return self._told[component]

    def is_named(self, component: int) -> bool:
        """Whether a person gave the cluster its name."""
        return component in self._names

    def keyword_counts(self, component: int) -> Counter[int]:
        """How many members of a cluster carry each keyword, by code. They name the cluster to agents: words of what is in
        quarantine are not among them."""
        counts = Counter(self.geometry.keyword_counts(component))
        for num in np.flatnonzero(self.indexes.table.quarantined).tolist():
            if self.geometry.places.component_of.get(num) == component:
                counts.subtract(self.indexes.keyword_ids([num])[0])
        return +counts

    def _telling_name(self, component: int, more: Sequence[str]) -> str:
        codes = self.indexes.keyword_codes.names
        counts: Counter[str] = Counter(more)
        if component in self.geometry.places.components:
            counts.update({codes[code]: n for code, n in self.keyword_counts(component).items()})
        frequencies = {word: len(self.indexes.table.by_keyword.get(word, ())) for word in counts}
        return cluster_name(counts, frequencies, len(self.indexes.table))

    def clusters_changed_since(self, version: int) -> set[int] | None:
        """Clusters whose members changed after a version; None when that was before this space was opened."""
        if version < self._marked_from:
            return None
        return {component for component, when in self._marked.items() if when > version}

    def ids_of(self, nums: Sequence[int]) -> list[str]:
        """Ids of memories that are in the space or were, as far as they are still known."""
        ids = self.indexes.table.ids
        known = {num: ids[num] for num in nums if num < len(ids) and ids[num]}
        return [*known.values(), *self.reader.ids([num for num in nums if num not in known])]

    def stamp(self) -> Stamp:
        """The state of the store that the indexes show, for caches."""
        return self.indexes.version, int(self.reader.meta("recalls", {"count": 0})["count"])

    def close(self) -> bool:
        """Close everything; whether all of it is in the store's file now."""
        self._indexes.vectors.close()
        return self.database.close()

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

    def check(self) -> Generator[None]:
        """Compare the whole store with its seals, in slices; what is damaged is left out of everything from then on."""
        with self.database.read() as connection:
            damage = Damage()
            yield from checks.examine(connection, damage)
        self.check_due = False
        if damage != self.damage:
            self._take_damage(damage)
            self.reload()

    def reload(self) -> Changes:
        """Read everything from the store anew, and tell the listeners what is other than before."""
        table = self.indexes.table
        before = set(table.by_id)
        self.indexes.vectors.close()
        self.indexes = self._empty_indexes()
        self._told.clear()
        self._read_all()
        now = set(self.indexes.table.by_id)
        done = Changes(
            self.indexes.version, stored=tuple(now - before), edited=tuple(now & before), removed=tuple(before - now)
        )
        self.events.emit(SpaceChanged(done))
        return done

    @property
    def note(self) -> str:
        """What every answer has to say about the state of the space."""
        return " ".join(filter(None, (self.model_note, self.damage_note)))

    @property
    def damage_note(self) -> str:
        """What is left out of every answer because it is damaged; "" when nothing is."""
        damage = self.damage
        count = len(damage.left_out)
        parts = [f"{count} {'memory is' if count == 1 else 'memories are'} damaged and left out"] if count else []
        if damage.keys(INHIBITION):
            parts.append("records of corrections are damaged")
        told = (MEMORY.code, QUARANTINE.code, INHIBITION.code, VECTOR.code)  # embeddings are made again by themselves
        if any(code not in told for code in (*damage.unsound, *damage.lost)):
            parts.append("places or records are damaged")
        if damage.structure or damage.indexes or damage.fulltext:
            parts.append("the store is damaged")
        return f"Attention: {' and '.join(parts)}; `tetrarium doctor` says more." if parts else ""

    def _take_damage(self, damage: Damage) -> None:
        """Mend what is derived, leave out what is damaged, and stop writing where that could make it worse."""
        if (damage.indexes or damage.fulltext) and not damage.structure and self.database.writable:
            log.warning("An index of the store was damaged and is made anew.")
            with self.database.write() as connection:
                checks.rebuild_indexes(connection)
            with self.database.read() as connection:
                damage = checks.examined(connection)
        self.damage = damage
        if damage:
            log.warning("The store is damaged; `tetrarium doctor` says more.")
        if damage.structure:
            self.database.stop_writing(f"{self.database.path.name} is damaged")
        with self.database.read() as connection:
            checks.leave_out(connection, damage)

    def _load(self) -> None:
        """Read everything from the store; a small one is checked first, so that it never answers from damage."""
        self.is_loaded = True
        self._check_if_small()
        try:
            self._read_all()
        except DamagedSpace:
            if not self.check_due:
                raise
            self.check_now()
            self._read_all()

    def _check_if_small(self) -> None:
        if self.database.size() <= self.settings.check_at_open:
            self.check_now()
        else:
            self.check_due = True

    def look_now(self) -> None:
        """Compare the whole store with its seals, and mend nothing: `damage` is what was found."""
        with self.database.read() as connection:
            damage = checks.examined(connection)
            if damage != self.damage:
                self.damage = damage
                checks.leave_out(connection, damage)
                self.reload()

    def check_now(self) -> None:
        """Compare the whole store with its seals at once; O(n). What is damaged is left out of what is read after."""
        self.check_due = False
        with self.database.read() as connection:
            damage = checks.examined(connection)
        if damage or self.damage:
            self._take_damage(damage)

    def _read_all(self) -> None:
        self._data_version = self.database.data_version()
        with self.database.snapshot():
            self._load_rows()

    def _load_rows(self, *, quietly: bool = False) -> None:
        """Everything from the rows that the connection sees; quietly: places may be missing yet."""
        version = self.reader.last_change()
        nums, matrix = self.reader.vectors(self.model, self.dimension)
        sound = np.isfinite(matrix).all(axis=1) & (np.abs(matrix).max(axis=1, initial=0) > 0)
        if not sound.all():
            log.warning("%d stored vectors cannot be used; `tetrarium doctor` says more.", int((~sound).sum()))
            nums, matrix = nums[sound], matrix[sound]
        self._names = self.clusters.names()
        frequencies = self.reader.document_frequencies()
        self.indexes.vectors.close()
        self.indexes = self._empty_indexes()
        self.indexes.load(self.reader.index_rows(), frequencies, nums, matrix, self._parts(), version=version)
        stored = self.reader.meta("calibration", {})
        self._vectors_missing = self.embedder is not None and len(nums) < len(self.indexes.table)
        if stored.get("model") == self.model:
            self._calibrated_at = int(stored["at"])
            self.calibration = Calibration(**{name: stored[name] for name in self.calibration_values()})
        self._load_geometry(quietly=quietly)

    def _parts(self, nums: Sequence[int] | None = None) -> dict[int, Float32]:
        """Number → vectors of the parts of long memories, where all of them can be used."""
        owners, matrix = self.reader.passages(self.model, self.dimension, nums)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        groups = zip(owners[starts].tolist(), np.split(matrix, starts[1:]) if len(starts) else (), strict=True)
        return {num: parts for num, parts in groups if np.isfinite(parts).all() and parts.any(axis=1).all()}

    def _empty_indexes(self) -> Indexes:
        usual = self.embedder.manifest.question_cosine if self.embedder else None
        return Indexes(self.settings, self.dimension, usual)

    def reload_geometry(self) -> None:
        """Read all places of the store anew, after a repair."""
        for row in self.reader.index_rows():
            self.indexes.table.put(row)
        self._load_geometry()

    def empty_geometry(self) -> Geometry:
        """A geometry of this space's memories in which none stands yet."""
        names = self.indexes.keyword_codes.names
        return Geometry(
            self.settings,
            self.calibration,
            self.indexes.vectors.vectors,
            self.indexes.keyword_ids,
            lambda code: self.indexes.rarity(names[code]),
        )

    def place_again(self, geometry: Geometry, num: int) -> Placement:
        """Where a stored memory goes in a geometry in which it does not stand."""
        (words,) = self.indexes.keyword_ids([num])
        weights = {code: geometry.rarity_of(code) for code in words}
        return geometry.plan(self.indexes.vectors.vectors([num])[0], weights, self.relatives_of(num))

    def _load_geometry(self, *, quietly: bool = False) -> None:
        table = self.indexes.table
        nums = table.numbers()
        sound = usable(nums, table.place[nums], table.component[nums])
        if not sound.all() and not quietly:
            log.warning(
                "%d memories have no place that can be used; `tetrarium doctor` says more.", int((~sound).sum())
            )
        table.component[nums[~sound]] = 0
        placed = nums[sound]
        self._told.clear()
        self._marked.clear()
        self._marked_from = self.indexes.version
        self._geometry = self.empty_geometry()
        moved = self._geometry.load(
            placed, table.place[placed], table.component[placed], self.reader.meta("next_component", 1)
        )
        table.set_components(moved)

    def _take_over(self) -> Changes:
        """Bring indexes and geometry up to the end of the change log, and tell the listeners."""
        changes = self.reader.changes_since(self.indexes.version)
        if any(change.op == "restore" and change.num == cluster_rows.SPACE for change in changes):
            self._check_if_small()
            return self.reload()
        self.erased += sum(change.op in ("purge", "mask") for change in changes)
        ops: dict[int, set[str]] = {}
        for change in changes:
            ops.setdefault(change.num, set()).add(change.op)
        nums = sorted(ops)
        found = {row.num: row for row in self.reader.index_rows(nums)}
        with_vectors, matrix = self.reader.vectors(self.model, self.dimension, nums)
        vectors = dict(zip(with_vectors.tolist(), matrix, strict=True))
        parts = self._parts(nums)
        told: dict[str, list[str]] = {
            word: [] for word in ("stored", "edited", "inhibited", "released", "removed", "moved")
        }
        gone: list[int] = []
        for num in nums:
            self._reading.pop(num, None)  # it says something else now
            row = found.get(num)
            if row is None:
                gone.append(num)
                if num < self.indexes.table.capacity and self.indexes.table.present[num]:
                    told["removed"].append(self.indexes.table.ids[num])
                    self.indexes.drop(num)
                continue
            if ops[num] <= {"inhibit", "release", "standing", "place", "move", "quarantine"}:
                self.indexes.table.put(row)
            else:
                self.indexes.put(row, vectors.get(num), parts.get(num))
            told[_word_for(ops[num])].append(row.id)
        if changes:
            self.indexes.version = changes[-1].seq
        self._stand([num for num in gone if num in self.geometry.places.key_of], list(found.values()), vectors)
        if any("name" in names for names in ops.values()):
            self._names = self.clusters.names()
        self.calibrate_when_due()
        done = Changes(self.indexes.version, **{word: tuple(ids) for word, ids in told.items()})
        if changes:
            self.events.emit(SpaceChanged(done))
        return done

    def _stand(self, gone: list[int], found: Sequence[IndexRow], vectors: dict[int, Float32]) -> None:
        """Let the geometry know of memories that are gone, new, elsewhere, or have a new text."""
        places = self.geometry.places
        moved: dict[int, tuple[Voxel, int]] = {}
        for row in found:
            at = places.component_of.get(row.num, 0)
            self._mark(at, row.component)
            if at and (places.voxel_of(row.num), at) == (row.place, row.component):
                self.geometry.refresh(row.num)
            elif row.component:
                moved[row.num] = (row.place, row.component)
        for num in gone:
            self._mark(places.component_of[num])
        if not moved and not gone:
            return
        if gone or not places.key_of.keys().isdisjoint(moved):
            try:
                self.geometry.change(gone, moved, checked=False)
            except Misfit:
                self._load_geometry()
            return
        for num, (voxel, component) in moved.items():
            meaning = vectors.get(num, np.zeros(self.dimension, np.float32))
            (words,) = self.indexes.keyword_ids([num])
            self.geometry.add(num, Placement(voxel, component, 0, is_new_component=False), meaning, words)

    def _mark(self, *components: int) -> None:
        """The members of clusters have changed, with the version that the indexes hold or the next one."""
        for component in filter(None, components):
            self._told.pop(component, None)
            self._marked[component] = self.indexes.version

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


def is_sound(vector: Float32) -> bool:
    """Whether an embedding has a direction: all numbers finite, not all zero."""
    return bool(np.isfinite(vector).all() and vector.any())


class _Overtaken(Exception):
    """Another process committed between plan and commit."""


def _word_for(ops: set[str]) -> str:
    if ops & {"store", "restore"}:
        return "stored"
    if "inhibit" in ops:
        return "inhibited"
    if ops <= {"place", "move"}:
        return "moved"
    return "released" if "release" in ops else "edited"
