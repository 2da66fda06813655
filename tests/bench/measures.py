"""What the benchmarks measure with: CPU time of the calling thread, medians, memory, tables.

The machine's neighbours decide wall times; CPU time and ratios inside one run are what a bar rests on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np

from tetrarium.indexing.embedding import Embedder
from tetrarium.model import Float32


class Watch:
    """CPU and wall time of many runs, in milliseconds."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []

    @contextmanager
    def run(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.cpu.append((time.thread_time() - cpu) * 1e3)
        self.wall.append((time.perf_counter() - wall) * 1e3)

    def __str__(self) -> str:
        return f"cpu {spread(self.cpu)} · wall {spread(self.wall)} · n = {len(self.cpu)}"


class KeptPassages:
    """The real embedder with its passage vectors kept in a file, so that a benchmark embeds a corpus once."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder, self._file = embedder, file
        self._kept: dict[str, Float32] = {}
        if file and file.exists():
            saved = np.load(file, allow_pickle=False)
            self._kept = dict(zip(saved["texts"].tolist(), saved["vectors"], strict=True))
        self.name, self.dimension = embedder.name, embedder.dimension

    def pieces(self, text: str) -> list[tuple[str, float]]:
        return self._embedder.pieces(text)

    def embed_query(self, text: str) -> Float32:
        return self._embedder.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Float32:
        new = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if new:
            self._kept.update(zip(new, self._embedder.embed_passages(new), strict=True))
        return np.stack([self._kept[text] for text in texts])

    def prepare(self, texts: Sequence[str]) -> None:
        """Embed what is new, and write the file."""
        before = len(self._kept)
        self.embed_passages(texts)
        if self._file and len(self._kept) > before:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, texts=np.array(list(self._kept)), vectors=np.stack(list(self._kept.values())))


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """p50 / p95."""
    return f"{np.percentile(values, 50):.2f} / {np.percentile(values, 95):.2f} {unit}"


def memory_mb() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1e6


def bare_commit(folder: Path, runs: int = 300) -> Watch:
    """The floor of a durable store: one row of 200 bytes in a WAL file with synchronous=FULL."""
    watch = Watch()
    connection = apsw.Connection(str(folder / "floor.db"))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)")
    for _ in range(runs):
        with watch.run():
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO t (x) VALUES (zeroblob(200))")
            connection.execute("COMMIT")
    connection.close()
    return watch


def table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Three columns: what, measured, target or floor."""
    lines = ["| what | measured | target or floor |", "|---|---|---|"]
    return "\n".join(lines + [f"| {a} | {b} | {c} |" for a, b, c in rows])
