"""What every handler of the protocol needs of a request: who asks, in which revision, and how to refuse."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from tetrarium.lifecycle.trust import agent_name
from tetrarium.mcp.arguments import visible

Context = ServerRequestContext[dict[str, Any]]

_NOT_FOUND_BEFORE_2026 = -32002
"""The code for a resource that does not exist, up to revision 2025-11-25; since then it is an invalid parameter."""


def client_name(context: Context) -> str:
    """The name of the client that a request comes from."""
    return peer_name(context.session)


def peer_name(session: ServerSession) -> str:
    """`name version` of the client, as it introduced itself; one short line, because it is shown beside memories.

    Never the name of a person's program: what an agent stores must not pass for what a person said. Nor a secret that
    somebody wrote into it.
    """
    from tetrarium.privacy.secrets import mask  # with the first call: the handshake is not to wait for its rules

    params = session.client_params
    introduced = f"{params.client_info.name} {params.client_info.version}" if params else ""
    return agent_name(mask(visible(" ".join(introduced.split())))[0][:72])


def refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Every list here is one page: a cursor is not one of ours."""
    if params is not None and params.cursor:
        raise MCPError(code=types.INVALID_PARAMS, message="This list has one page; ask without a cursor.")


def no_resource(context: Context, uri: object, reason: str) -> MCPError:
    """The error for a resource that does not exist, in the code of the client's revision."""
    code = _NOT_FOUND_BEFORE_2026 if context.protocol_version < "2026" else types.INVALID_PARAMS
    return MCPError(code=code, message=visible(f"Resource not found. {reason}")[:500], data={"uri": str(uri)})
