"""What the host of a space tells those who watch it, as lines of JSON: who is connected, and what each of them asked.

A watcher is a window of the same user. It shows *exactly what an agent got*, so a recall travels as its whole trace,
unless that would be too long for a line: then without. What is read from the wire is checked like any other input:
its shape by pydantic, its inner references by hand, since a panel counts on them. The host imports this before it has
an engine: the records of one are named here, and loaded by who reads.
"""

from __future__ import annotations

import logging
import math
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from tetrarium.model import RecallTrace

log = logging.getLogger(__name__)

LONGEST_LINE = 8_000_000
"""Bytes of one line; a recall that needs more is told without its trace."""
MOST_NAMES = 64
"""Clients that are named; of more only the number is told."""
LONGEST_NAME = 200
"""Characters of a client's name; ours are cut at 72."""
MOST_IDS = 200
"""Memories that one search names."""
LONGEST_QUERY = 4_000
"""Characters of a question outside its trace."""


LATEST = 1e11
"""Seconds since 1970 that no clock of ours tells."""


@dataclass(frozen=True, slots=True)
class Clients:
    """Who is connected now, one name a connection, at most MOST_NAMES of `count`. at: as in what follows."""

    names: tuple[str, ...]
    count: int
    at: float
    kind: Literal["clients"] = "clients"


@dataclass(frozen=True, slots=True)
class RecallSeen:
    """A recall was answered. at: seconds since 1970; ids: what the client got, best first; trace: None where it is
    too long for a line; fresh: False for what was asked before the watcher came."""

    client: str
    at: float
    query: str
    ids: tuple[str, ...]
    void_fraction: float
    trace: RecallTrace | None
    fresh: bool = True
    kind: Literal["recalled"] = "recalled"


@dataclass(frozen=True, slots=True)
class SearchSeen:
    """A search was answered. total: memories that matched; ids: of the page that was given, best first."""

    client: str
    at: float
    query: str
    ids: tuple[str, ...]
    total: int
    fresh: bool = True
    kind: Literal["searched"] = "searched"


@dataclass(frozen=True, slots=True)
class Committed:
    """The host knows this version of the space: who shares the file may look now instead of later."""

    version: int
    kind: Literal["committed"] = "committed"


@dataclass(frozen=True, slots=True)
class Missed:
    """So many of the news before this one were dropped, because they came faster than they were read."""

    count: int
    kind: Literal["missed"] = "missed"


@dataclass(frozen=True, slots=True)
class Attached:
    """Said by the watcher itself, never on the wire: there is a host to watch, or there is none (any more)."""

    here: bool


Asked = RecallSeen | SearchSeen
Told = Clients | Asked | Committed | Missed
News = Told | Attached


def line_of(told: Told) -> bytes:
    """The line of a piece of news, its end included; a recall is told without its trace where that is too long."""
    from pydantic_core import to_json  # with the first watcher: nobody else needs it

    line = to_json(told, inf_nan_mode="constants")
    if len(line) > LONGEST_LINE and isinstance(told, RecallSeen):
        line = to_json(
            RecallSeen(told.client, told.at, told.query, told.ids[:MOST_IDS], told.void_fraction, None, told.fresh)
        )
    return line + b"\n"


def read(line: bytes) -> Told | None:
    """The news of a line; None for what is none: too long, no JSON, of a kind or shape that is not known here."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        told = _adapter().validate_json(line)
    except (ValueError, RecursionError) as error:
        log.debug("a line of the host's cannot be read: %s", str(error)[:200])
        return None
    return told if _is_sound(told) else None


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Told]:
    from typing import Annotated

    from pydantic import ConfigDict, Field, TypeAdapter

    from tetrarium.model import RecallTrace

    adapter: TypeAdapter[Told] = TypeAdapter(
        Annotated[Told, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
    )
    adapter.rebuild(_types_namespace={"RecallTrace": RecallTrace, "Literal": Literal})
    return adapter


def _is_sound(told: Told) -> bool:
    """Whether figures are figures, and every reference inside a trace leads somewhere."""
    if isinstance(told, Clients) and not told.count >= len(told.names) <= MOST_NAMES:
        return False
    names = told.names if isinstance(told, Clients) else (told.client,) if isinstance(told, Asked) else ()
    if any(len(name) > LONGEST_NAME for name in names):
        return False
    if isinstance(told, Clients | Asked) and not 0 <= told.at < LATEST:
        return False
    if isinstance(told, RecallSeen) and not math.isfinite(told.void_fraction):
        return False
    trace = told.trace if isinstance(told, RecallSeen) else None
    return trace is None or _is_whole(trace)


def _is_whole(trace: RecallTrace) -> bool:
    if len(trace.beyond) != len(trace.beyond_scores) or not trace.budget > 0 or trace.token_usage < 0:
        return False
    known = {candidate.id for candidate in trace.candidates}
    zones = range(-1, len(trace.void_zones))
    numbers: list[Any] = [trace.void_fraction, trace.void_target, trace.void_cut, trace.elapsed_ms, trace.embedding_ms]
    numbers += [*trace.beyond_scores, *([] if trace.evidence is None else [trace.evidence])]
    for candidate in trace.candidates:
        numbers += [candidate.score, candidate.profile, *astuple(candidate.parts)]
    for hit in trace.blocks:
        numbers += [hit.score, *astuple(hit.parts)]
    for zone in trace.void_zones:
        numbers += [zone.best_score, zone.profile, zone.gap]
    return (
        all(map(math.isfinite, numbers))
        and all(candidate.zone in zones for candidate in trace.candidates)
        and known.issuperset(hit.id for hit in trace.blocks)
        and all(known.issuperset(zone.members) for zone in trace.void_zones)
    )
