"""What one client may write in a short time, so that an agent that runs in circles cannot fill a memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tetrarium.config import DEFAULTS
from tetrarium.errors import TooFast


class Allowance:
    """A stock of writes that refills steadily: `burst` at once, `rate` a second in the long run."""

    def __init__(
        self,
        burst: int = DEFAULTS.write_burst,
        rate: float = DEFAULTS.write_rate,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left = float(burst)
        self._seen = clock()

    def spend(self) -> None:
        """Take one. Raises TooFast, with the seconds until there is one, when none is left."""
        now = self._clock()
        self._left = min(float(self._burst), self._left + (now - self._seen) * self._rate)
        self._seen = now
        if self._left < 1:
            wait = math.ceil((1 - self._left) / self._rate)
            raise TooFast(
                f"This client has written more than {self._burst} times in a short while; nothing was stored.",
                advice=f"Store what matters, not every step. Try again in {wait} s.",
            )
        self._left -= 1
