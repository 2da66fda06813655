"""Tells a client that resources have changed, in the way of its era.

Up to 2025-11-25 a client subscribes to URIs, and is told of a changed list once it has asked for the list; since
2026-07-28 it opens a stream that names what it wants. Both are fed by the events of the space, which arrive on the
lane: they are gathered, each URI once, and told together, once an interval. What other processes commit is looked
for in the same rhythm while somebody watches.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from tetrarium.config import DEFAULTS
from tetrarium.mcp.calls import Calls
from tetrarium.mcp.context import Context, no_resource
from tetrarium.mcp.resource_texts import Address, address_of
from tetrarium.mcp.resources import STATS

if TYPE_CHECKING:
    from tetrarium.events import Event
    from tetrarium.service import MemoryService

MAX_WATCHED = 1_000
"""Resources that one client may watch."""

MAX_STREAMS = 16
"""Streams that one client may hold open."""

_LISTED = ("stored", "edited", "inhibited", "released", "removed")
"""Changes after which the list of resources may read differently."""


class Notices:
    """What one client wants to hear of, and the telling. Lives on the loop; only `_heard` runs on the lane."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self.bus, max_subscriptions=MAX_STREAMS)
        self._spelled: dict[str, set[str]] = {}
        self._subscribed: set[str] = set()
        self._session: ServerSession | None = None
        self._has_list = False
        self._pending: set[str] = set()
        self._list_changed = False
        self._wanted: Counter[str] = Counter()
        self._begun = asyncio.Event()
        self._ear: Future[Callable[[], None]] | None = None
        self._version = 0

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Handshake era: watch one resource. It need not exist yet."""
        if address_of(params.uri) is None:
            raise no_resource(context, params.uri, "Only memory:// resources can be watched.")
        if params.uri not in self._subscribed and len(self._subscribed) >= MAX_WATCHED:
            message = f"{MAX_WATCHED} resources are watched already; let one go first."
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        self._session = context.session
        if params.uri not in self._subscribed:
            self._subscribed.add(params.uri)
            self._want([params.uri], 1)
        self._watch()
        return types.EmptyResult()

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        if params.uri in self._subscribed:
            self._subscribed.discard(params.uri)
            self._want([params.uri], -1)
        return types.EmptyResult()

    def has_list(self, context: Context) -> None:
        """Handshake era: who has the list wants to know when it changes."""
        self._session, self._has_list = context.session, True
        self._watch()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Since 2026-07-28: one stream of notices, until the client cancels it or leaves."""
        uris = (params.notifications.resource_subscriptions or [])[:MAX_WATCHED]
        self._want(uris, 1)
        self._watch()
        try:
            return await self._streams(context, params)
        finally:
            self._want(uris, -1)

    async def run(self) -> None:
        """Look and tell, once an interval, until cancelled."""
        await self._begun.wait()
        while True:
            await asyncio.sleep(DEFAULTS.notice_interval)
            self._calls.aside(lambda service: service.catch_up())
            await self._tell()

    def end(self) -> None:
        """The client is leaving: its streams end in good order, and the space is heard no more."""
        self._streams.close()
        if (ear := self._ear) is not None:
            self._ear = None
            self._calls.aside(lambda service: ear.result(0)())

    def _want(self, uris: Iterable[str], more: int) -> None:
        """Somebody watches these from now on, or no longer. A client may spell an address in several ways."""
        for uri in uris:
            self._wanted[uri] += more
        self._wanted = +self._wanted
        spelled: dict[str, set[str]] = {}
        for uri in self._wanted:
            if address := address_of(uri):
                spelled.setdefault(address.uri, set()).add(uri)
        self._spelled = spelled  # a new one: the lane may be reading the old one

    def _watch(self) -> None:
        """From now on hear what changes. The lane keeps the order: what a later call changes is not missed."""
        if self._ear is None or (self._ear.done() and not _succeeded(self._ear)):
            loop = asyncio.get_running_loop()
            self._ear = self._calls.submit(lambda service: self._listen_to(service, loop))
        self._begun.set()

    def _listen_to(self, service: MemoryService, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        self._version = service.stats().version
        return service.events.subscribe(lambda event: self._heard(service, event, loop))

    def _heard(self, service: MemoryService, event: Event, loop: asyncio.AbstractEventLoop) -> None:
        """On the lane: which resources an event touches."""
        from tetrarium.events import Recalled, SpaceChanged

        if isinstance(event, SpaceChanged):
            changes = event.changes
            touched = (*changes.edited, *changes.inhibited, *changes.released, *changes.removed, *changes.moved)
            uris = {STATS, *(Address("item", memory_id).uri for memory_id in touched)}
            uris |= self._clusters(service.changed_clusters(self._version))
            self._version = changes.version
            listed = any(getattr(changes, word) for word in _LISTED)
        elif isinstance(event, Recalled):
            uris, listed = {STATS}, True
        else:
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to tell
            loop.call_soon_threadsafe(self._gather, uris, listed)

    def _clusters(self, changed: set[int] | None) -> set[str]:
        if changed is None:  # too long ago to tell which: all that somebody watches
            return {uri for uri in self._spelled if uri.startswith("memory://cluster/")}
        return {Address("cluster", str(cluster)).uri for cluster in changed}

    def _gather(self, uris: set[str], listed: bool) -> None:
        self._pending |= uris & self._spelled.keys()
        self._list_changed |= listed

    async def _tell(self) -> None:
        uris = sorted(spelled for uri in self._pending for spelled in self._spelled.get(uri, ()))
        listed, self._pending, self._list_changed = self._list_changed, set(), False
        for uri in uris:
            if self._session is not None and uri in self._subscribed:
                await self._session.send_resource_updated(uri)
            await self.bus.publish(ResourceUpdated(uri=uri))
        if listed:
            if self._session is not None and self._has_list:
                await self._session.send_resource_list_changed()
            await self.bus.publish(ResourcesListChanged())


def _succeeded(ear: Future[Callable[[], None]]) -> bool:
    return not ear.cancelled() and ear.exception() is None
