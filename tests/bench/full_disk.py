"""A disk that really fills up: a small tmpfs, filled by somebody else while a space is open on it.

    python tests/bench/full_disk.py [--folder FOLDER_ON_A_SMALL_DISK]

Without a folder it mounts a tmpfs of 32 MB, for which it must be root on Linux. Asked: is it said, do reads work, can memories
be deleted (through the reserve), does the reserve come back, is anything lost?
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import tetrarium
from tetrarium import paths
from tetrarium.errors import DiskFull, UserError
from tetrarium.service import MemoryService

SIZE = "32m"
RESERVE = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    a = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    if a.folder:
        fill_up(a.folder)
        return
    with tempfile.TemporaryDirectory() as mounted:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", mounted], check=True)
        try:
            fill_up(Path(mounted))
        finally:
            subprocess.run(["umount", mounted], check=True)


def fill_up(disk: Path) -> None:
    folder, filler = disk / "space", disk / "filler"
    with tetrarium.open_space(folder, reserve_bytes=RESERVE) as space:
        ids = [stored(space, number) for number in range(60)]
        while space.maintain():
            pass
        print(
            f"reserve kept: {(folder / paths.RESERVE_FILE).stat().st_size / 1e6:.1f} MB, backups {len(space.backups())}"
        )
        fill(filler)
        before = len(ids)
        try:
            ids.extend(stored(space, number) for number in range(60, 100_000))
        except DiskFull as error:
            print(f"after {len(ids) - before} more stores on the full disk: {error}")
        check(space, ids, "reads work")
        try:
            space.backup()
        except UserError as error:
            print(f"a backup: {type(error).__name__}: {error.message}")
        for memory_id in ids[:10]:
            space.forget(memory_id, permanently=True)
        given = not (folder / paths.RESERVE_FILE).exists()
        print(f"10 memories deleted for good on the full disk; the reserve was given up for it: {given}")
        ids = ids[10:]
        check(space, ids, "after the deletion")
        filler.unlink()
        while space.maintain():
            pass
        print(
            f"room again: reserve back {(folder / paths.RESERVE_FILE).exists()}, store works: {stored(space, 99_999)}"
        )
    with tetrarium.open_space(folder) as space:
        check(space, ids, "after a restart")
        assert space.health().state != "bad"
    print("nothing lost")


def stored(space: MemoryService, number: int) -> str:
    text = (
        f"Note {number}: the gate of hall {number * 7 % 97} opens at minute {number * 31 % 1440}. "
        + "More of it. " * 40
    )
    return str(space.store(text, force=True).id)


def fill(file: Path) -> None:
    """Take whatever room is left."""
    block = os.urandom(4096)
    with suppress(OSError), file.open("wb", buffering=0) as stream:
        while stream.write(block):
            pass


def check(space: MemoryService, ids: list[str], when: str) -> None:
    present = set(space.snapshot().ids)
    lost = [memory_id for memory_id in ids if memory_id not in present]
    print(f"{when}: {len(ids) - len(lost)} of {len(ids)} acknowledged memories, lost {len(lost)}, search finds {len(space.search('hall gate', limit=5).hits)}")  # fmt: skip
    assert not lost


if __name__ == "__main__":
    main()
