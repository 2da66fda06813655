"""Tetrarium: long-term memory for coding agents.

    import tetrarium

    with tetrarium.open_space("notes") as space:
        space.store("The payment worker retries three times, then parks the job.", keywords=["payments", "retry"])
        for hit in space.search("what happens when a payment fails?"):
            ...

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# Our products are small: on shared cores more BLAS threads only wait for each other (measured: twice the wall
# time of a recall). Whoever sets the variable, or imported numpy before, keeps their own choice.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# onnxruntime's wheels report to their maker unless this stands before it is loaded; nothing leaves this machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

if TYPE_CHECKING:
    from tetrarium.service import MemoryService, open_space

__version__ = "0.1.0"
__all__ = ["MemoryService", "__version__", "open_space"]


def __getattr__(name: str) -> Any:
    if name in ("MemoryService", "open_space"):
        from tetrarium import service

        return getattr(service, name)
    raise AttributeError(f"module 'tetrarium' has no attribute '{name}'")
