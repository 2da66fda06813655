"""Looking at a store's bytes beside SQLite: the locks of this process stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tetrarium
from tetrarium import paths
from tetrarium.storage import descriptors

ELSEWHERE = """
import sys, tetrarium
with tetrarium.open_space(sys.argv[1]) as space:
    space.store("Another program stores this, then leaves as if it were the last one here.")
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")


def test_what_is_stored_after_a_look_at_the_bytes_outlives_the_leaving_of_another_program(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with tetrarium.open_space(folder) as space:
        space.store("The first memory of this space is about the harbour.")
        space.prove_deleted("nothing of the kind was ever stored")
        with descriptors.reading(folder / paths.STORE_FILE) as stream:
            assert stream.read(15) == b"SQLite format 3"
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(folder)], check=True, timeout=60)
        kept = space.store("This one is stored after the other program has gone.").id
        assert (folder / f"{paths.STORE_FILE}-wal").stat().st_ino, "the log that is written to has a name"
    with tetrarium.open_space(folder) as again:
        assert kept in [memory.id for memory in again.page()]
        assert again.stats().memories == 3


def test_a_descriptor_is_kept_while_a_connection_is_open_and_not_longer(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with tetrarium.open_space(folder):
        with descriptors.reading(folder / paths.STORE_FILE) as stream:
            stream.read(1)
        assert not stream.closed
    assert stream.closed
    with descriptors.reading(folder / paths.STORE_FILE) as alone:
        alone.read(1)
    assert alone.closed
