"""Entry of the frozen `tetrarium-mcp`: a console program, since standard input and output are its wire."""

from __future__ import annotations

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()
    from tetrarium.mcp.__main__ import main

    sys.exit(main())
