"""Every error that leaves the engine.

    EngineError
    ├── UserError            something a person or an agent can put right; `advice` says how
    │   ├── InvalidInput     an argument that cannot be used (empty text, unknown category, bad budget …)
    │   ├── NotFound         no memory, recall or cluster of that id
    │   ├── StaleEdit        the memory changed since the caller read it
    │   ├── NotTrusted       a client may not change what a more trusted one stored
    │   ├── TooFast          a client writes faster than any agent that learns
    │   └── SpaceUnavailable the data folder cannot be used as asked
    │       ├── NewerSpace   written by a newer Tetrarium
    │       ├── DamagedSpace the store is not readable
    │       ├── ReadOnlySpace reads work, writes do not
    │       ├── SpaceLocked  encrypted, and the key is missing or wrong
    │       │   └── PassphraseNeeded  a passphrase opens it; none was given, or a wrong one
    │       ├── DiskFull     no room to write; nothing was stored
    │       └── SpaceBusy    another process held the store for too long
    ├── ModelUnavailable     the embedding model cannot be loaded; search works by keywords
    └── Bug                  our fault

Nothing is swallowed below the two dispatchers (worker loop, protocol session); a message says what
happened, that nothing was lost where that is so, and what to do next.
"""

from __future__ import annotations


class EngineError(Exception):
    """Base of everything the engine raises on purpose."""


class UserError(EngineError):
    """An error that the caller can put right; `advice` is one sentence on how."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".rstrip()


class InvalidInput(UserError):
    """An argument that cannot be used."""


class NotFound(UserError):
    """No memory, recall or cluster answers to that id."""


class StaleEdit(UserError):
    """The memory changed since the caller read it; both texts are in the message's attributes."""

    def __init__(self, message: str, *, stored: str, offered: str, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.stored = stored
        self.offered = offered


class NotTrusted(UserError):
    """A client may not inhibit, release, rewrite or forget what a more trusted one stored; nothing changed."""


class TooFast(UserError):
    """A client has used up what it may write in a short time; the advice says when to try again."""


class SpaceUnavailable(UserError):
    """The data folder cannot be used as asked."""


class NewerSpace(SpaceUnavailable):
    """The space was written by a newer Tetrarium; it is left untouched."""


class DamagedSpace(SpaceUnavailable):
    """The store is not a readable Tetrarium space."""


class ReadOnlySpace(SpaceUnavailable):
    """The folder or the store cannot be written; reads work."""


class SpaceLocked(SpaceUnavailable):
    """The space is encrypted, and its key was not given, is wrong, or cannot be reached."""


class PassphraseNeeded(SpaceLocked):
    """A passphrase opens the space: none was given, or a wrong one (`wrong`). Whoever has a person there may ask."""

    wrong = False


class PassphraseWrong(PassphraseNeeded):
    """The passphrase that was given is not the one of the space."""

    wrong = True


class DiskFull(SpaceUnavailable):
    """There is no room to write; nothing of the request was stored."""


class SpaceBusy(SpaceUnavailable):
    """Another process held the store for longer than the time limit."""


class ModelUnavailable(EngineError):
    """The embedding model cannot be loaded."""


class Bug(EngineError):
    """A state that the code promises cannot happen."""
