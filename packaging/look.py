"""Take a picture of the whole screen, with the client's conversation in a window of its own beside what runs there.

    python packaging/look.py PICTURE [CONVERSATION]

Run by the smoke test with a Python that has Qt. Prints how many different colours the picture has.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QApplication, QPlainTextEdit

AT, SIZE = (770, 500), (640, 380)
"""Place and size of the client's window on the screen, pixels."""
AREA = (0, 0, 1440, 900)
"""The part of the screen that the window fills, pixels."""
SETTLED = 700
"""Milliseconds until the window is drawn."""


def main(argv: list[str]) -> int:
    """Save the picture; 0 when there is one."""
    application = QApplication([])
    if argv[1:]:
        client = QPlainTextEdit(Path(argv[1]).read_text("utf-8"))
        client.setWindowTitle("client")
        client.setFont(QFont("monospace", 8))
        client.setStyleSheet("background: #101418; color: #C9D1D9; border: 2px solid #58A6FF; padding: 6px;")
        client.setGeometry(*AT, *SIZE)
        client.show()
    QTimer.singleShot(SETTLED, application.quit)
    application.exec()
    picture = QGuiApplication.primaryScreen().grabWindow(0, *AREA)
    image = picture.toImage().scaled(200, 125)
    print(len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}))
    return 0 if picture.save(argv[0]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
