"""What ranking, placing and drawing need of every memory, as columns in memory.

Columns are indexed by the store's own row number (`num`): dense, never reused, so that a row number is
an array index everywhere. Derived and disposable: loaded from the store at open and kept up by the change log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from tetrarium.indexing.keywords import spaced
from tetrarium.indexing.spellings import Spellings
from tetrarium.model import Bool, Float32, Float64, IndexRow, Int32, Int64, UInt8

_FIRST_CAPACITY = 1024


class MemoryTable:
    """Columns of every memory outside the trash. Arrays have length `capacity`; `present` marks the rows in use.

    tokens: as `keywords.spaced` has them; length: how many there are.
    """

    def __init__(self) -> None:
        self.capacity = 0
        self.present: Bool = np.zeros(0, np.bool_)
        self.inhibited: Bool = np.zeros(0, np.bool_)
        self.quarantined: Bool = np.zeros(0, np.bool_)
        self.language: UInt8 = np.zeros(0, np.uint8)
        self.category: UInt8 = np.zeros(0, np.uint8)
        self.memory_type: UInt8 = np.zeros(0, np.uint8)
        self.importance: Float32 = np.zeros(0, np.float32)
        self.created: Float64 = np.zeros(0, np.float64)
        self.accessed: Float64 = np.zeros(0, np.float64)
        self.expires: Float64 = np.zeros(0, np.float64)
        self.access_count: Int32 = np.zeros(0, np.int32)
        self.evidence: Int32 = np.zeros(0, np.int32)
        self.distinct_queries: Int32 = np.zeros(0, np.int32)
        self.pinned: Bool = np.zeros(0, np.bool_)
        self.project: Int32 = np.zeros(0, np.int32)
        self.client: Int32 = np.zeros(0, np.int32)
        self.author: Int32 = np.zeros(0, np.int32)
        self.session: Int32 = np.zeros(0, np.int32)
        self.before: Int64 = np.zeros(0, np.int64)
        self.after: Int64 = np.zeros(0, np.int64)
        self.length: Int32 = np.zeros(0, np.int32)
        self.budget_tokens: Int32 = np.zeros(0, np.int32)
        self.place: Int32 = np.zeros((0, 3), np.int32)
        self.component: Int64 = np.zeros(0, np.int64)
        self.ids: list[str] = []
        self.excerpts: list[str] = []
        self.tokens: list[str] = []
        self.keywords: list[tuple[str, ...]] = []
        self.entities: list[tuple[str, ...]] = []
        self.labels: list[tuple[str, ...]] = []
        self.by_id: dict[str, int] = {}
        self.by_label: dict[str, set[int]] = defaultdict(set)
        self.by_entity: dict[str, set[int]] = defaultdict(set)
        self.by_keyword: dict[str, set[int]] = defaultdict(set)
        self.spellings = Spellings()
        self.languages = Codes()
        self.projects = Codes()
        self.clients = Codes()
        self.authors = Codes()
        self.sessions = Codes()
        self._members: dict[int, list[int]] = {}  # of each session, ascending
        self.projects.code("")

    def __len__(self) -> int:
        return len(self.by_id)

    def load(self, rows: Iterable[IndexRow]) -> None:
        for row in rows:
            self.put(row)

    def put(self, row: IndexRow) -> None:
        """Add a memory, or take over its new state."""
        num = row.num
        if num >= self.capacity:
            self._grow(num + 1)
        if self.present[num]:
            self._forget_words(num)
        self.present[num] = True
        self.inhibited[num], self.quarantined[num] = row.inhibited, row.quarantined
        self.language[num] = self.languages.code(row.language)
        self.category[num], self.memory_type[num] = row.category, row.memory_type
        self.importance[num], self.created[num], self.accessed[num] = row.importance, row.created, row.accessed
        self.expires[num], self.access_count[num] = row.expires, row.access_count
        self.evidence[num], self.distinct_queries[num] = row.evidence, row.distinct_queries
        self.pinned[num] = row.pinned
        self.client[num] = self.clients.code(row.client)
        self.project[num], self.author[num] = self.projects.code(row.project), self.authors.code(row.author)
        self.budget_tokens[num], self.place[num], self.component[num] = row.budget_tokens, row.place, row.component
        self.ids[num], self.excerpts[num], self.tokens[num] = row.id, row.excerpt, spaced(row.tokens)
        self.length[num] = row.tokens.count(" ") + 1 if row.tokens else 0
        self.keywords[num], self.labels[num], self.entities[num] = row.keywords, row.labels, row.entities
        self.by_id[row.id] = num
        for index, words in self._word_indexes(num):
            for word in words:
                if index is self.by_entity and word not in index:
                    self.spellings.add(word)
                index[word].add(num)
        self._link_session(num, row)

    def remove(self, num: int) -> None:
        """Take a memory out."""
        if num >= self.capacity or not self.present[num]:
            return
        self._forget_words(num)
        self.present[num] = self.quarantined[num] = False
        self.by_id.pop(self.ids[num], None)
        self.tokens[num] = self.excerpts[num] = ""
        self.length[num] = 0
        self._leave_session(num)

    @property
    def silent(self) -> Bool:
        """(capacity,) memories that no agent is told: inhibited, or in quarantine."""
        return self.inhibited | self.quarantined

    def numbers(self) -> Int64:
        """(n,) row numbers in use, ascending."""
        return np.flatnonzero(self.present)

    def in_project(self, project: str) -> Bool:
        """(capacity,) memories of a project and global ones; "*" means every project."""
        if project == "*":
            return self.present.copy()
        code = self.projects.find(project)
        mask: Bool = self.present & ((self.project == 0) | (self.project == code))
        return mask

    def with_labels(self, labels: Sequence[str]) -> Bool:
        """(capacity,) memories that carry all of these labels."""
        mask = self.present.copy()
        for label in labels:
            carrying = np.zeros(self.capacity, np.bool_)
            carrying[list(self.by_label.get(label, ()))] = True
            mask &= carrying
        return mask

    def with_keywords(self, keywords: Sequence[str]) -> Bool:
        """(capacity,) memories that have all of these keywords."""
        mask = self.present.copy()
        for keyword in keywords:
            having = np.zeros(self.capacity, np.bool_)
            having[list(self.by_keyword.get(keyword, ()))] = True
            mask &= having
        return mask

    def set_components(self, components: dict[int, int]) -> None:
        for num, component in components.items():
            self.component[num] = component

    def count_access(self, num: int, count: int, when: float) -> None:
        if num < self.capacity and self.present[num]:
            self.access_count[num] += count
            self.evidence[num] += count
            self.accessed[num] = max(self.accessed[num], when)

    def _link_session(self, num: int, row: IndexRow) -> None:
        """Chain the memories of one session in the order in which they were stored, whenever each was taken in: one that
        was edited, or came back from the trash, stands where a space that is opened anew has it."""
        name = f"{row.project}\n{row.session}" if row.session else ""
        session = self.sessions.code(name) if name else 0
        if session == self.session[num]:
            return
        self._leave_session(num)
        if not session:
            return
        self.session[num] = session
        members = self._members.setdefault(session, [])
        at = bisect_left(members, num)
        before = members[at - 1] if at else 0
        after = members[at] if at < len(members) else 0
        members.insert(at, num)
        self._chain(before, num)
        self._chain(num, after)

    def _leave_session(self, num: int) -> None:
        """The memories before and after it in its session become neighbours."""
        session = int(self.session[num])
        if not session:
            return
        self._chain(int(self.before[num]), int(self.after[num]))
        members = self._members[session]
        del members[bisect_left(members, num)]
        if not members:
            del self._members[session]
        self.before[num] = self.after[num] = self.session[num] = 0

    def _chain(self, before: int, after: int) -> None:
        """One memory directly behind another; 0: there is none."""
        if before:
            self.after[before] = after
        if after:
            self.before[after] = before

    def _word_indexes(self, num: int) -> Iterable[tuple[dict[str, set[int]], tuple[str, ...]]]:
        yield self.by_label, self.labels[num]
        yield self.by_entity, self.entities[num]
        yield self.by_keyword, self.keywords[num]

    def _forget_words(self, num: int) -> None:
        for index, words in self._word_indexes(num):
            for word in words:
                members = index[word]
                members.discard(num)
                if not members:
                    del index[word]
                    if index is self.by_entity:
                        self.spellings.drop(word)

    def _grow(self, need: int) -> None:
        capacity = max(_FIRST_CAPACITY, need, 2 * self.capacity)
        extra = capacity - self.capacity
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                blank = np.zeros((extra, *value.shape[1:]), value.dtype)
                setattr(self, name, np.concatenate([value, blank]))
        self.ids += [""] * extra
        self.excerpts += [""] * extra
        self.tokens += [""] * extra
        self.keywords += [()] * extra
        self.labels += [()] * extra
        self.entities += [()] * extra
        self.capacity = capacity


class Codes:
    """Small integers for names, in the order in which they came; the name of 0 is the first one, or ""."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": 0}
        self.names: list[str] = [""]

    def code(self, name: str) -> int:
        """The code of a name, a new one if it has none yet."""
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code

    def find(self, name: str) -> int:
        """The code of a name, or −1."""
        return self._codes.get(name, -1)
