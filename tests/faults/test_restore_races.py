"""A space goes back to a backup, or memories are embedded, while other programs read and write: nothing they did is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tetrarium
from tetrarium.service import MemoryService
from tetrarium.storage import restoring

FACT = "The payment worker retries a failed charge three times, then parks the job."
OTHER = "The kiosk syncs its seat map every four minutes over the depot's wireless."
READING = """
import sys, tetrarium
with tetrarium.open_space(sys.argv[1]) as space:
    for number in range(100_000):
        space.search("when does the kiosk sync", client="reader")
        while space.maintain():
            pass
        print(number + 1, flush=True)
"""


def test_what_another_program_read_in_the_last_moment_before_a_restore_stays_in_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tetrarium.open_space(tmp_path) as space, tetrarium.open_space(tmp_path) as other:
        space.store(FACT)
        copy = space.backup().name
        space.store(OTHER)
        overwrite = restoring.overwrite

        def overwrite_late(*args: object, **given: object) -> bool:
            other.search("kiosk", client="reader")
            other.exclude("pattern", "lunch menu")
            other.maintain()
            return overwrite(*args, **given)  # type: ignore[arg-type]

        monkeypatch.setattr(restoring, "overwrite", overwrite_late)
        space.restore_backup(copy)
        assert [m.content for m in space.page()] == [FACT]
        assert len(other.audit(client="reader")) == 1
        assert [e.pattern for e in space.exclusions()] == ["lunch menu"]
        assert space.verify_audit().is_sound
        assert other.verify_audit().is_sound
        space.undo()
        assert {m.content for m in other.page()} == {FACT, OTHER}
        assert other.verify_audit().is_sound


def test_no_row_of_the_audit_is_lost_while_one_program_reads_and_another_goes_back_and_forth(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
        copy = space.backup().name
        space.store(OTHER)
        reader = subprocess.Popen([sys.executable, "-c", READING, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        try:
            assert reader.stdout is not None
            reader.stdout.readline()
            for _ in range(4):
                space.restore_backup(copy)
                space.undo()
        finally:
            reader.terminate()
        told, _ = reader.communicate(timeout=60)
        noted = int(told.split()[-1])
        assert space.verify_audit().is_sound
        assert len(space.audit(client="reader", limit=1_000)) >= min(noted, 1_000)
        assert len(space.audit(verb="restore_backup")) == 4
        assert {m.content for m in space.page()} == {FACT, OTHER}


def without_a_model(space: MemoryService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space._space, "embed_passages", lambda texts: [None] * len(texts))


def meaning(space: MemoryService, text: str) -> float:
    """The cosine of the first memory's embedding with that of a text; 0 where it has none."""
    (wanted,) = space._space.embed_passages([text])
    assert wanted is not None
    vectors = space._space.indexes.vectors
    return float(np.dot(wanted, vectors.vectors([1])[0])) if 1 in vectors else 0.0


def test_an_edit_while_the_model_is_away_leaves_no_embedding_of_the_words_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tetrarium.open_space(tmp_path) as space:
        memory_id = str(space.store(FACT).id)
        without_a_model(space, monkeypatch)
        space.update(memory_id, content=OTHER)
        monkeypatch.undo()
        assert meaning(space, FACT) == 0
        space.maintain()
        assert meaning(space, OTHER) > 0.999


def test_an_embedding_of_words_that_another_program_has_changed_meanwhile_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tetrarium.open_space(tmp_path) as space, tetrarium.open_space(tmp_path) as other:
        memory_id = str(space.store(FACT).id)
        without_a_model(space, monkeypatch)
        space.update(memory_id, content=f"{FACT} Twice.")
        monkeypatch.undo()
        embed = space._space.embed_passages

        def embed_slowly(texts: list[str]) -> list[object]:
            vectors = embed(texts)
            other.update(memory_id, content=OTHER)
            return list(vectors)

        monkeypatch.setattr(space._space, "embed_passages", embed_slowly)
        space.maintain()
        monkeypatch.undo()
        assert space.get(memory_id).content == OTHER
        for _ in range(3):
            space.maintain()
        assert meaning(space, OTHER) > 0.999
