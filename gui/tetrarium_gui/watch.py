"""The thread that watches the host of the space: it hears what agents do, and hands it over to the window in batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from tetrarium.mcp import meeting
from tetrarium.mcp.news import Attached, Clients, Committed, Missed, News, RecallSeen, SearchSeen
from tetrarium.mcp.watcher import Watcher

NEWS_KEPT = 200
"""News of the host that wait for the window; of more the oldest are dropped."""

__all__ = ["Attached", "Clients", "Missed", "News", "RecallSeen", "SearchSeen", "WatchThread", "can_watch"]

can_watch = meeting.possible
"""Whether agents share a host on this system, which can be watched."""


class WatchThread(QThread):
    """Hears what the host of the space tells. News are kept until the window takes them, all at once.

    hurry: called for what the host has committed, on this thread.
    """

    arrived = Signal()

    def __init__(self, hurry: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("watch")
        self._hurry = hurry
        self._door = threading.Lock()
        self._news: deque[News] = deque()
        self._missed = 0
        self._watcher: Watcher | None = None
        self._left = False

    def watch(self, folder: Path) -> None:
        """Begin, where hosts can be watched. From the window's thread."""
        if self._watcher is None and not self._left and can_watch():
            self._watcher = Watcher(folder, self._hear)
            self.start()

    def take(self) -> tuple[News, ...]:
        """What came since the last time; first how many had to be dropped. From the window's thread."""
        with self._door:
            missed, self._missed = self._missed, 0
            news = tuple(self._news)
            self._news.clear()
        return (Missed(missed), *news) if missed else news

    def leave(self) -> None:
        """End, for good; returns at once, `wait` waits."""
        if self._watcher is not None and not self._left:
            self._watcher.stop()
        self._left = True

    def run(self) -> None:
        assert self._watcher is not None
        self._watcher.run()

    def _hear(self, told: News) -> None:
        if isinstance(told, Committed):
            self._hurry()
            return
        with self._door:
            first = not self._news
            if len(self._news) == NEWS_KEPT:
                self._news.popleft()
                self._missed += 1
            self._news.append(told)
        if first:
            self.arrived.emit()
