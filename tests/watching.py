"""A watcher on a thread, for tests and benchmarks: keeps what it is told, with the moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tetrarium.mcp.news import News
from tetrarium.mcp.watcher import Watcher

PATIENCE = 60.0
"""Seconds that any piece of news may take on a busy machine."""

Kind = TypeVar("Kind")


class Heard:
    """What a watcher was told, in order."""

    def __init__(self) -> None:
        self.news: list[tuple[float, News]] = []
        self._came = threading.Condition()

    def tell(self, told: News) -> None:
        with self._came:
            self.news.append((time.perf_counter(), told))
            self._came.notify_all()

    def of(self, kind: type[Kind]) -> list[Kind]:
        with self._came:
            return [told for _, told in self.news if isinstance(told, kind)]

    def until(self, kind: type[Kind], fits: Callable[[Kind], bool] = lambda _: True) -> Kind:
        """The last piece of news of a kind that fits; waits for it."""
        with self._came:
            assert self._came.wait_for(lambda: any(map(fits, self.of_held(kind))), PATIENCE), self.news[-5:]
            return [told for told in self.of_held(kind) if fits(told)][-1]

    def of_held(self, kind: type[Kind]) -> list[Kind]:
        return [told for _, told in self.news if isinstance(told, kind)]


@contextmanager
def watching(space: Path) -> Iterator[Heard]:
    """A watcher of a space, until the end of the block."""
    heard = Heard()
    watcher = Watcher(space, heard.tell)
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        yield heard
    finally:
        watcher.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
