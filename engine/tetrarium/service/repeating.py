"""Calls that may be sent twice: a client whose answer got lost asks again, and nothing is written again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Any, TypeVar

from tetrarium.errors import Bug
from tetrarium.model import Category, Contradiction, Forgetting, Outcome, StoreResult
from tetrarium.service.door import Door
from tetrarium.storage import memories as rows
from tetrarium.storage import retries
from tetrarium.storage.database import Connection, Database

Result = TypeVar("Result")

WRITTEN = (Outcome.STORED, Outcome.MERGED)
"""Outcomes of a store that wrote something; the others may be found out again."""


class Repeating(Door):
    """Writes once."""

    def once(self, key: str, call: Callable[[], Result]) -> Result:
        """Run `call`, of which an earlier run under the same key may have written all, some or nothing.

        A call is a row of transactions. Those that the earlier run made are not made again: each gives what it
        gave then. The first that it did not reach is made, and so are all after it. What a call wrote is known for
        `retry_memory` seconds.
        """
        self._space.attempt = _Attempt(key, self._space.database, timedelta(seconds=self.settings.retry_memory))
        try:
            return call()
        finally:
            self._space.attempt = None


class _Attempt:
    """One run of a call, transaction by transaction (see `Space.write`)."""

    def __init__(self, key: str, database: Database, kept: timedelta) -> None:
        self._key, self._database, self._kept = key, database, kept
        self._step = 0

    def before(self) -> tuple[Any] | None:
        """What the transaction at hand gave in an earlier run, in a tuple; None when it is to be made."""
        known = retries.step_of(self._database, self._key, self._step)
        if known is None:
            return None
        self._step += 1
        return (_decoded(known[0]),)

    def record(self, connection: Connection, result: Any) -> None:
        """Keep, inside the transaction, what it gives."""
        if not isinstance(result, StoreResult) or result.outcome in WRITTEN:
            now = rows.now()
            retries.remember_step(
                connection, self._key, self._step, _encoded(result), now=now, forget_before=now - self._kept
            )

    def done(self) -> None:
        """The transaction is committed."""
        self._step += 1


def _encoded(result: Any) -> Any:
    """The result as JSON values. Raises Bug for a kind that could not be read again."""
    if isinstance(result, StoreResult | Forgetting):
        return {"kind": type(result).__name__, **asdict(result)}
    if all(isinstance(value, str | int) for value in (result if isinstance(result, tuple) else (result,))):
        return result
    raise Bug(f"A call that may be sent twice gave a {type(result).__name__}, which cannot be kept.")


def _decoded(told: Any) -> Any:
    if isinstance(told, list):
        return tuple(told)
    if not isinstance(told, dict):
        return told
    kind = told.pop("kind")
    if kind == "Forgetting":
        examples = tuple((memory_id, excerpt) for memory_id, excerpt in told["examples"])
        return Forgetting(**told | {"examples": examples, "ids": tuple(told["ids"])})
    return StoreResult(
        **told
        | {
            "outcome": Outcome(told["outcome"]),
            "category": Category(told["category"]) if told["category"] else None,
            "keywords": tuple(told["keywords"]),
            "superseded": tuple(told["superseded"]),
            "candidates": (),
            "contradicts": tuple(Contradiction(**found) for found in told["contradicts"]),
        }
    )
