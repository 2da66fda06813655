"""Entry of the frozen `tetrarium`: the window, or a command.

A windowed program on Windows has no standard streams (`sys.stdout` is None): words that nobody can read go to
a real file that keeps nothing, and when the program was called from a console, to that console.
"""

from __future__ import annotations

import multiprocessing
import os
import sys


def give_streams() -> None:
    """Real files for the standard streams that are missing; nothing where all are there."""
    if sys.stdout is not None and sys.stderr is not None and sys.stdin is not None:
        return
    console = called_from_a_console()
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            place = "CONOUT$" if console else os.devnull
            setattr(sys, name, open(place, "w", encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115


def called_from_a_console() -> bool:
    """Windows: join the console of the caller, if it has one and this is a command; else False."""
    if sys.platform != "win32" or not sys.argv[1:]:
        return False
    import ctypes

    return bool(ctypes.windll.kernel32.AttachConsole(-1))  # ATTACH_PARENT_PROCESS


def speak_utf8() -> None:
    """IDEs and launchers pass no locale; Qt would warn and guess."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        os.environ["LC_ALL"] = "C.UTF-8"


if __name__ == "__main__":
    multiprocessing.freeze_support()
    give_streams()
    speak_utf8()
    from tetrarium_gui.__main__ import main

    sys.exit(main())
