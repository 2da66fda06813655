"""PNG, ICO and ICNS from the one drawing, `resources/icons/tetrarium.svg`.

    python packaging/icons.py FOLDER

ICO and ICNS are containers that take PNG pictures as they are, so a few bytes of header make them.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

DRAWING = Path(__file__).resolve().parents[1] / "resources" / "icons" / "tetrarium.svg"
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
"""Pixels; what Windows asks for."""
ICNS_TYPES = {128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}
"""Pixels and the names under which macOS looks for PNG pictures of that size."""
PNG_SIZE = 256
"""Pixels; for desktop entries."""


def main(argv: list[str]) -> int:
    """Write `tetrarium.png`, `.ico` and `.icns` into the folder."""
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    pictures = drawn(sorted({*ICO_SIZES, *ICNS_TYPES, PNG_SIZE}))
    (folder / "tetrarium.png").write_bytes(pictures[PNG_SIZE])
    (folder / "tetrarium.ico").write_bytes(ico({size: pictures[size] for size in ICO_SIZES}))
    (folder / "tetrarium.icns").write_bytes(icns({ICNS_TYPES[size]: pictures[size] for size in ICNS_TYPES}))
    return 0


def drawn(sizes: list[int]) -> dict[int, bytes]:
    """The drawing as PNG in each size (pixels)."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QIODevice
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    renderer, pictures = QSvgRenderer(str(DRAWING)), {}
    for size in sizes:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")
        pictures[size] = bytes(buffer.data().data())
    del application
    return pictures


def ico(pictures: dict[int, bytes]) -> bytes:
    """A Windows icon of PNG pictures by size (pixels, at most 256)."""
    entries, bodies, place = [], [], 6 + 16 * len(pictures)
    for size, png in pictures.items():
        entries.append(struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), place))
        bodies.append(png)
        place += len(png)
    return struct.pack("<HHH", 0, 1, len(pictures)) + b"".join(entries) + b"".join(bodies)


def icns(pictures: dict[bytes, bytes]) -> bytes:
    """A macOS icon of PNG pictures by type name."""
    blocks = b"".join(name + struct.pack(">I", len(png) + 8) + png for name, png in pictures.items())
    return b"icns" + struct.pack(">I", len(blocks) + 8) + blocks


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
