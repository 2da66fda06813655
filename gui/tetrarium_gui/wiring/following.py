"""Every connected agent, followed live: who is there, and what each asks and gets, as the host of the space tells it.

What no host tells – programs that run their own engine – is told by the audit, which every program writes: a while later,
and without the question. A question is told once, whoever tells it first: both say who asked, what, and when.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QObject, QTimer, Signal

from tetrarium.model import AuditEntry
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.panels.activity import Happening
from tetrarium_gui.state import Highlight, highlight_of_recall
from tetrarium_gui.watch import Attached, Clients, Missed, News, RecallSeen, SearchSeen, can_watch
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.lighting import Lighting
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t

COMES_BACK = 4_000
"""Milliseconds for which a client that was cut off counts as connected: its relay is reaching the next host."""
SAME = 2.0
"""Seconds between a question as the host tells it and as the audit notes it, at most."""
PATIENCE = 1_500
"""Milliseconds for which a note of the audit waits for the host to tell the same, with the question."""
REMEMBERED = 1_000
"""Questions that are remembered, so as not to tell one twice."""
LATE = 15.0
"""Seconds after which a question that only the audit tells is not lit any more: a quiet moment comes after five."""
VERBS = {"recall": "recalled", "gather": "recalled", "search": "searched"}
"""What the audit calls a question, and what the feed does."""


class Following(QObject):
    """Connects what the host tells with Activity, the lights of the space and the top bar."""

    clients_changed = Signal(object)  # names of the connected clients, or None: that cannot be known here

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        follow = desk.commands["follow"]
        follow.setChecked(bool(desk.settings.value("follow", True, type=bool)))
        self.lighting = Lighting(desk, following=follow.isChecked())
        self.clients: Counter[str] = Counter()
        self._there: Counter[str] = Counter()  # of the last word of a host
        self._leaving = QTimer(self)
        self._leaving.setSingleShot(True)
        self._leaving.setInterval(COMES_BACK)
        self._leaving.timeout.connect(self._take_leave)
        self._told = Told()
        activity = desk.panels.activity
        self._feed = WhenSeen(desk.docks["activity"], activity.show_feed)
        follow.toggled.connect(self._follow)
        activity.set_following(follow)
        activity.ids_opened.connect(self._light)
        activity.note_opened.connect(lambda title, note: self._find(note, title, desk.state.set_highlight))
        desk.bridge.news.connect(self._take)
        desk.bridge.asked_elsewhere.connect(self._wait_for_host)

    def introduce(self) -> None:
        """Tell who is connected, to those who began to listen."""
        self.clients_changed.emit(tuple(sorted(self.clients.elements())) if can_watch() else None)

    # --- the host -------------------------------------------------------------------------------
    def _take(self, news: Sequence[News]) -> None:
        happenings: list[Happening] = []
        for told in news:
            if isinstance(told, Clients):
                unnamed = Counter({t("live.unnamed"): told.count - len(told.names)})
                happenings += self._meet(Counter(told.names) + unnamed, datetime.fromtimestamp(told.at, UTC))
            elif isinstance(told, Attached):
                if not told.here:
                    self._meet(Counter())
            elif isinstance(told, Missed):
                happenings.append(Happening("missed", "", t("live.missed", count=told.count)))
            elif isinstance(told, RecallSeen | SearchSeen) and self._told.by_host(told.kind, told.client, told.at):
                happenings.append(_asked(told))
                if told.fresh and isinstance(told, RecallSeen):
                    self.lighting.show(_highlight(told))
                    if told.trace is not None:
                        self._desk.status.show_time("recall", told.trace.elapsed_ms)
        self._add(happenings)

    def _meet(self, there: Counter[str], at: datetime | None = None) -> list[Happening]:
        """Who is connected now: the new ones are told at once, those who left when they do not come back."""
        self._there = there
        come = there - self.clients
        self.clients |= there
        if self.clients != there:
            self._leaving.start()
        if come:
            self.introduce()
        return [Happening("joined", name, t("live.joined"), at=at) for name in come.elements()]

    def _take_leave(self) -> None:
        gone = self.clients - self._there
        self.clients = Counter(self._there)
        if gone:
            self.introduce()
            self._add([Happening("left", name, t("live.left")) for name in gone.elements()])

    # --- the audit ------------------------------------------------------------------------------
    def _wait_for_host(self, entries: Sequence[AuditEntry]) -> None:
        others = [entry for entry in entries if entry.client != CLIENT]
        if others:
            QTimer.singleShot(PATIENCE, self, lambda: self._take_notes(others))

    def _take_notes(self, entries: Sequence[AuditEntry]) -> None:
        new = [e for e in entries if self._told.by_note(VERBS[e.verb], e.client, e.at.timestamp())]
        self._add([Happening(VERBS[e.verb], e.client, _unheard(e), note=e.seq, at=e.at) for e in new])
        recalls = [e for e in new if VERBS[e.verb] == "recalled" and e.count]
        if recalls and time.time() - recalls[-1].at.timestamp() < LATE and self.lighting.is_free:
            last = recalls[-1]
            self._find(last.seq, t("live.lit", client=last.client, query=_unheard(last)), self.lighting.show)

    def _find(self, note: int, title: str, show: Callable[[Highlight], object]) -> None:
        """Show the memories of a note: it has marks of them, which the engine looks for."""
        self._desk.bridge.ask(
            "note", lambda s: s.named_in(note), lambda ids: show(Highlight(title, ids)), otherwise=lambda _: True
        )

    # --- both -----------------------------------------------------------------------------------
    def _add(self, happenings: Sequence[Happening]) -> None:
        if happenings:
            self._desk.panels.activity.add(happenings)
            self._feed.ask()

    def _light(self, title: str, ids: tuple[str, ...]) -> None:
        """A person opened something of which only the memories are known."""
        self._desk.state.set_highlight(Highlight(title, ids))

    def _follow(self, following: bool) -> None:
        self._desk.settings.setValue("follow", following)
        self.lighting.follow(following)


class Told:
    """The questions that were told, by hosts and by notes of the audit: each of the two answers whether this one is new.

    A host may tell a question again (to a window that comes back), with the same moment. A note is the
    same question when it stands nearest in time, of those of its client that no other note stands for.
    """

    def __init__(self) -> None:
        self._by_hosts: dict[tuple[str, str, float], None] = {}
        self._without_note: list[tuple[str, str, float]] = []
        self._without_host: list[tuple[str, str, float]] = []

    def by_host(self, kind: str, client: str, at: float) -> bool:
        question = (kind, client, at)
        if question in self._by_hosts:
            return False
        self._by_hosts[question] = None
        if len(self._by_hosts) > REMEMBERED:
            del self._by_hosts[next(iter(self._by_hosts))]
        return not _taken(question, self._without_host, self._without_note)

    def by_note(self, kind: str, client: str, at: float) -> bool:
        return not _taken((kind, client, at), self._without_note, self._without_host)


def _taken(
    question: tuple[str, str, float], told: list[tuple[str, str, float]], ours: list[tuple[str, str, float]]
) -> bool:
    """Take the same question off those that the other side told; else put it to ours."""
    kind, client, at = question
    same = [other for other in told if other[:2] == (kind, client) and abs(other[2] - at) < SAME]
    if same:
        told.remove(min(same, key=lambda other: abs(other[2] - at)))
        return True
    ours.append(question)
    del ours[:-REMEMBERED]
    return False


def _unheard(entry: AuditEntry) -> str:
    return t("live.unheard", count=entry.count)


def _asked(told: RecallSeen | SearchSeen) -> Happening:
    query, at = " ".join(told.query[:160].split()), datetime.fromtimestamp(told.at, UTC)
    if isinstance(told, SearchSeen):
        words = t("live.found", count=told.total, query=query)
        return Happening("searched", told.client, words, ids=told.ids, at=at)
    words = t("live.recalled", query=query, kept=len(told.ids), void=told.void_fraction)
    return Happening("recalled", told.client, words, trace=told.trace, ids=told.ids, at=at)


def _highlight(told: RecallSeen) -> Highlight:
    title = t("live.lit", client=told.client, query=" ".join(told.query[:160].split()))
    if told.trace is None:
        return Highlight(title, told.ids)
    whole = highlight_of_recall(told.trace)
    return Highlight(title, whole.lit, whole.void)
