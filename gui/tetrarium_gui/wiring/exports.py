"""The export of a selection: JSON lines that come in again, Markdown to read, CSV for a spreadsheet.

What takes longer than a second says how far it is and can be stopped. The file appears whole or not at all.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from tetrarium.model import Memory
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.state import Notice
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

COLUMNS = ("id", "content", "category", "keywords", "labels", "importance", "created_at", "client", "author", "project")
"""Of a table."""
FORMS = {".jsonl": "jsonl", ".md": "markdown", ".csv": "csv"}
"""By the ending of the file; others are JSON lines."""
PATIENCE = 1_000
"""Milliseconds after which an export says how far it is."""
LOOK = 250


class Stopped(Exception):
    """The person has stopped the export."""


class Exports(QObject):
    """Asks where to, writes, tells."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        self._stop, self._lines = Event(), 0
        self._clock = QTimer(self)
        self._clock.timeout.connect(self._tell_progress)

    def ask_file(self, ids: Sequence[str]) -> None:
        """Choose where to write the memories, and as what; the dialog does not block."""
        dialog = QFileDialog(self._desk.window, t("bulk.export_title"))
        dialog.setNameFilters([t(f"bulk.as_{form}") for form in FORMS.values()])
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("jsonl")
        endings = tuple(ending.removeprefix(".") for ending in FORMS)
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix(endings[max(0, dialog.nameFilters().index(chosen))])
        )
        dialog.fileSelected.connect(lambda name: self.export(ids, Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export(self, ids: Sequence[str], path: Path) -> None:
        """Write the memories in the form that the ending says. Raises no error: it tells."""
        form = FORMS.get(path.suffix.lower(), "jsonl")
        self._stop, self._lines = Event(), 0
        stop = self._stop

        def verb(s: Any) -> int:
            with _whole(path) as file:
                out = _Watched(file, stop, self._count)
                if form == "csv":
                    _table((s.get(memory_id) for memory_id in ids), out)
                else:
                    s.export(out, form=form, ids=ids, client=CLIENT)
            return len(ids)

        def told(count: int) -> None:
            self._end()
            self._desk.tell(t("bulk.exported", count=count), str(path))

        self._clock.start(PATIENCE)
        self._desk.bridge.edit(verb, told, otherwise=lambda error: self._failed(error, path))

    # --- inside ---------------------------------------------------------------------------------
    def _count(self) -> None:
        self._lines += 1  # from the engine's thread: a figure that is only looked at

    def _tell_progress(self) -> None:
        self._clock.setInterval(LOOK)
        self._desk.status.show_work(t("bulk.exporting", count=self._lines), self._stop.set)

    def _end(self) -> None:
        if self._clock.interval() == LOOK:
            self._desk.status.end_work()
        self._clock.stop()

    def _failed(self, error: Exception, path: Path) -> bool:
        self._end()
        if isinstance(error, Stopped):
            self._desk.tell(t("bulk.export_stopped"), done=False)
            return True
        if isinstance(error, OSError):
            reason = error.strerror or type(error).__name__
            self._desk.notices.show_notice(Notice(t("bulk.not_exported", path=path), reason))
            return True
        return False


class _Watched(io.RawIOBase):
    """A stream that counts lines, and ends where the person says so."""

    def __init__(self, file: IO[bytes], stop: Event, count: Callable[[], None]) -> None:
        super().__init__()
        self._file, self._stop, self._count = file, stop, count

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._stop.is_set():
            raise Stopped
        self._count()
        return self._file.write(data)


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there when all of it is written, for this person only, or not at all."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _table(memories: Iterator[Memory], out: io.RawIOBase) -> None:
    """Rows of a spreadsheet, the first with their names."""
    line = io.StringIO(newline="")
    writer = csv.writer(line)
    for row in _rows(memories):
        writer.writerow(row)
        out.write(line.getvalue().encode())
        line.seek(0)
        line.truncate()


def _rows(memories: Iterator[Memory]) -> Iterator[Sequence[str]]:
    yield COLUMNS
    for memory in memories:
        source = memory.source
        values: dict[str, Any] = {name: getattr(memory, name, None) for name in COLUMNS} | {
            "category": memory.category.value, "created_at": memory.created_at.isoformat(),
            "client": source.client, "author": source.author, "project": source.project,
        }  # fmt: skip
        yield [_cell(values[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    """A cell that no spreadsheet runs as a formula."""
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
