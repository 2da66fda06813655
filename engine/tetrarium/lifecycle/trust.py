"""Who may correct whom: a memory of lower trust never takes out one of higher trust.

Three levels, read from the name of the client that stored a memory or asks for a change: a person (the
window, the command line, the owner's own program, which names no client), an agent, an import. Imports no
record of the engine, so that the protocol's session can guard the names before the engine is loaded.
"""

from __future__ import annotations

from enum import IntEnum

WINDOW = "window"
"""The client name of the window."""

COMMAND_LINE = "tetrarium"
"""The client name of the command line, before its version."""

SAMPLE = "sample"
"""The client name of the sample memories."""

IMPORTS = frozenset({"import", SAMPLE})
"""Client names of what was read in, not said."""


class Trust(IntEnum):
    """How much a source may change."""

    IMPORT = 1
    AGENT = 2
    PERSON = 3


def trust_of(client: str) -> Trust:
    """The trust of a client by its name."""
    name = client.strip().casefold()
    if name in IMPORTS:
        return Trust.IMPORT
    if name in ("", WINDOW) or name.split(" ")[0] == COMMAND_LINE:
        return Trust.PERSON
    return Trust.AGENT


def agent_name(introduced: str) -> str:
    """The name under which an agent is served: as it introduced itself, but never the name of a person or an import."""
    return introduced if trust_of(introduced) is Trust.AGENT else f"agent {introduced}".rstrip()


def may_change(client: str, owner: str) -> bool:
    """Whether a client may inhibit, release, rewrite or forget what `owner` stored or decided."""
    return trust_of(client) >= trust_of(owner)
