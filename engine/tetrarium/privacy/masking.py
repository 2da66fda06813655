"""The secrets of one request: masked field by field before anything else reads it, and remembered by kind.

Whatever is not text passes as it is; the checks of the request refuse it later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from tetrarium.model import SecretPolicy
from tetrarium.privacy import secrets

MASK, REFUSE, ALLOW = "mask", "refuse", "allow"
ACTIONS = (MASK, REFUSE, ALLOW)

CLIENT = "client"
"""The field of a client's name, which is masked as it comes in, whatever the space does with secrets."""

Given = TypeVar("Given")


class Masking:
    """Masks the texts of one request under a space's policy; `found` are (kind, field) in the order of finding."""

    def __init__(self, policy: SecretPolicy) -> None:
        self._policy = policy
        self.found: list[tuple[str, str]] = []

    @property
    def is_refused(self) -> bool:
        """Whether the space refuses what holds a secret, and this does. What a client is called is masked, never
        refused: no request of it could say otherwise."""
        return self._policy.action == REFUSE and any(field != CLIENT for _, field in self.found)

    def text(self, value: Given, field: str) -> Given:
        """A text without its secrets; None and what is no text as it is."""
        if not isinstance(value, str) or self._policy.action == ALLOW:
            return value
        masked, kinds = secrets.mask(value, mail=self._policy.mail)
        self.found += [(kind, field) for kind in kinds]
        return cast("Given", masked)

    def words(self, value: Given, field: str) -> Given:
        """The same for a list of words, or words in one text."""
        if isinstance(value, str) or not isinstance(value, Sequence):
            return self.text(value, field)
        return cast("Given", tuple(self.text(word, field) for word in value))

    def client(self, name: Given) -> Given:
        """A client's name, which came in masked: what was masked in it is remembered."""
        if isinstance(name, str):
            self.found += [(kind, CLIENT) for kind in secrets.masks_in(name)]
        return name

    def told(self) -> str:
        """What was masked, as a sentence; "" when nothing was."""
        if not self.found:
            return ""
        counts = Counter(f"{kind} ({field})" for kind, field in self.found)
        kinds = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts.items())
        return f"Masked before it was stored: {kinds}."

    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, _ in self.found)


def masked_texts(texts: dict[str, str], *, mail: bool) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Of stored columns those that change when their secrets are masked, and (kind, column) of what was found."""
    changed: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for column, value in texts.items():
        masked, kinds = secrets.mask(value, mail=mail)
        if kinds:
            changed[column] = masked
            found += [(kind, column) for kind in kinds]
    return changed, found


def by_kind(found: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Kind → how many, most frequent first."""
    return dict(Counter(kind for kind, _ in found).most_common())
