"""Owns the tray of an X display, as a desktop's panel does: then programs that start find that there is one."""

from __future__ import annotations

import ctypes
import sys


def main() -> None:
    """Says "ready", then stays until its input ends."""
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XInternAtom.restype = x.XCreateSimpleWindow.restype = x.XDefaultRootWindow.restype = ctypes.c_ulong
    x.XGetSelectionOwner.restype = ctypes.c_ulong
    display = ctypes.c_void_p(x.XOpenDisplay(None))
    window = ctypes.c_ulong(
        x.XCreateSimpleWindow(display, ctypes.c_ulong(x.XDefaultRootWindow(display)), 0, 0, 32, 32, 0, 0, 0)
    )
    selection = ctypes.c_ulong(x.XInternAtom(display, b"_NET_SYSTEM_TRAY_S0", 0))
    x.XSetSelectionOwner(display, selection, window, 0)
    x.XSync(display, 0)
    assert x.XGetSelectionOwner(display, selection) == window.value
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
