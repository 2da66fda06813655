"""What the engine tells whoever listens: frozen events, plain callables.

One notification system inside the engine; Qt signals exist only in the window, which turns these
events into one queued signal (napari's four systems are the warning).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from tetrarium.model import Changes, RecallTrace, SearchResult

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpaceChanged:
    """A commit, own or of another process, has been taken over by the indexes."""

    changes: Changes


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recall was answered; `client` says for whom."""

    trace: RecallTrace
    client: str


@dataclass(frozen=True, slots=True)
class Searched:
    """A search was answered."""

    result: SearchResult
    client: str


Event = SpaceChanged | Recalled | Searched
Listener = Callable[[Event], None]


class Events:
    """Calls every listener on the thread that emits. A listener must return at once."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned callable takes it off again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def emit(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)
