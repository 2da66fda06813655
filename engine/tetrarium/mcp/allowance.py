"""What one client may write in a short time, so that an agent that runs in circles cannot fill a memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tetrarium.config import DEFAULTS
from tetrarium.errors import TooFast


class Allowance:
    """A stock of writes that refills steadily: `write_burst` at once, `write_rate` a second in the long run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = float(DEFAULTS.write_burst)
        self._seen = clock()

    def spend(self) -> None:
        """Take one. Raises TooFast, with the seconds until there is one, when none is left."""
        now = self._clock()
        self._left = min(float(DEFAULTS.write_burst), self._left + (now - self._seen) * DEFAULTS.write_rate)
        self._seen = now
        if self._left < 1:
            wait = math.ceil((1 - self._left) / DEFAULTS.write_rate)
            raise TooFast(
                f"This client has written more than {DEFAULTS.write_burst} times in a short while; nothing was stored.",
                advice=f"Store what matters, not every step. Try again in {wait} s.",
            )
        self._left -= 1
