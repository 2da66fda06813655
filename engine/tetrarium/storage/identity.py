"""Stable, sortable, unique ids (ULID: 48 bits of milliseconds, 80 random bits, Crockford base 32)."""

from __future__ import annotations

import re
import secrets
import time
from typing import TypeGuard

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FORM = re.compile(f"[0-7][{_ALPHABET}]{{25}}")
_last = 0


def is_id(value: object) -> TypeGuard[str]:
    """Whether something has the form of an id, in capitals."""
    return isinstance(value, str) and len(value) == 26 and _FORM.fullmatch(value) is not None


def new_id() -> str:
    """A ULID greater than every one this process made before, also within a millisecond and after the clock steps back."""
    global _last
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    _last = value if value > _last else _last + 1
    return "".join(_ALPHABET[_last >> shift & 31] for shift in range(125, -1, -5))


def id_of(data: bytes) -> str:
    """An id made of ten bytes, the same each time; it sorts before every one that was drawn."""
    value = int.from_bytes(data[:10])
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))
