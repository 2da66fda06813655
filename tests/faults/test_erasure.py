"""Erased means no byte in any file: through every feature, killed in the middle, with others in the way, with a clock that leaps."""

from __future__ import annotations

import base64
import gzip
import io
import sys
import time
import zipfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import numpy as np
import pytest
import zstandard

import tetrarium
from tetrarium import paths
from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.service import WINDOW, MemoryService
from tetrarium.storage.migrations import SCHEMA_VERSION

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import erasure as proof

TOKEN = "zanzibarquokka7731prototype"
FACT = f"The secret project {TOKEN} is unveiled in 上海的旧船坞仓库 next spring."
OTHER = "The payment worker retries a failed charge three times, then parks the job."
DAY = 86_400.0


@pytest.mark.parametrize("stage", ["", "erase_in"])
def test_half_of_the_memories_are_erased_and_no_byte_of_them_is_found(tmp_path: Path, stage: str) -> None:
    """Nine memories through every feature; the benchmark `erasure` takes fifty and more stages. With a stage, the erasing process is
    killed there and the next one that opens the space goes on."""
    marked = proof.lived(tmp_path, memories=9, others=6, seed=4)
    gone, kept = marked[::2], marked[1::2]
    assert len(proof.hits(tmp_path, gone)) >= 3
    ids = [one.id for one in gone]
    if stage:
        proof.killed_erasure(tmp_path, stage, ids)
    with tetrarium.open_space(tmp_path, picture_size=1) as space:
        if not stage:
            space.erase(ids)
        assert space.pending_erasures() == ()
        assert space.prove_deleted(gone[0].token).is_gone
        assert space.prove_deleted(kept[0].token).residues
        assert {memory_id for memory_id in ids if memory_id in space.snapshot().ids} == set()
        for backup in space.backups():
            assert space.preview_restore(backup.name).leaving >= 0
    assert proof.hits(tmp_path, gone) == {}
    assert len(proof.hits(tmp_path, kept)) >= 3


def planted(folder: Path) -> dict[str, bytes]:
    """Files that hold the text in the forms that the search has to find."""
    plain = FACT.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.txt", plain * 3)
    return {
        "plain": b"\0" * 5_000 + plain,
        "folded": FACT.casefold().encode(),
        "utf16": FACT.encode("utf-16-be"),
        "json": FACT.encode("ascii", "backslashreplace"),
        "base64 a": base64.b64encode(plain),
        "base64 b": base64.b64encode(b"x" + plain),
        "base64 c": base64.b64encode(b"xy" + plain),
        "zlib": b"head" + zlib.compress(plain) + b"tail",
        "gzip": gzip.compress(plain),
        "zip": packed.getvalue(),
        "zstd": zstandard.ZstdCompressor().compress(plain * 2),
        "nested": zlib.compress(gzip.compress(plain)),
        "infix": TOKEN[9:17].encode(),
    }


def test_the_search_finds_a_text_in_every_form_and_says_where(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(OTHER)
        assert space.prove_deleted(FACT).is_gone
        vector = space._space.embed_passages([FACT])[0]
        assert vector is not None
        forms = planted(tmp_path) | {"half": vector.astype(np.float16).tobytes(), "float": vector.tobytes()}
        (tmp_path / "logs").mkdir()
        for name, content in forms.items():
            (tmp_path / "logs" / name).write_bytes(content)
        found = space.prove_deleted(FACT)
        assert {residue.file.removeprefix("logs/") for residue in found.residues} == set(forms)
        assert next(residue for residue in found.residues if residue.file == "logs/plain").offset == 5_000
        assert "gzip" in next(residue for residue in found.residues if residue.file == "logs/nested").inside
        assert {residue.form for residue in found.residues if residue.file == "logs/half"} == {"vector, float16"}


def test_words_that_kept_memories_use_too_prove_nothing_and_are_named(space: MemoryService) -> None:
    space.store("The gateway caches answers for one minute only.")
    doubtful = str(space.store("The gateway caches nothing in the evening, said Hyacinthe.").id)
    found = space.erase_with_proof([doubtful])
    assert found.is_gone
    assert {"gateway"} <= set(found.skipped)
    with pytest.raises(InvalidInput):
        space.prove_deleted("  ")


def test_a_text_that_is_still_stored_is_said_to_be(space: MemoryService) -> None:
    memory_id = space.store(FACT).id
    found = space.prove_deleted(TOKEN)
    assert (found.still_stored, found.is_gone) == ((memory_id,), False)


def test_a_reader_in_the_way_delays_the_bytes_and_not_the_deletion(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, busy_timeout=50) as space:
        memory_id = str(space.store(FACT).id)
        reader = apsw.Connection(str(tmp_path / paths.STORE_FILE))
        reader.execute("BEGIN; SELECT count(*) FROM memories").fetchall()
        try:
            space.erase([memory_id])
            assert not space.search(TOKEN)
            assert [pending.memory for pending in space.pending_erasures()] == [memory_id]
        finally:
            reader.close()
        space.maintain()
        assert space.pending_erasures() == ()
        assert space.prove_deleted(FACT).is_gone


def test_a_copy_that_cannot_be_gone_through_stays_listed(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        memory_id = str(space.store(FACT).id)
        name = space.backup().name
        file = tmp_path / paths.BACKUPS / name
        file.write_bytes(b"damaged" + file.read_bytes()[7:])
        space.erase([memory_id])
        (pending,) = space.pending_erasures()
        assert (pending.memory, pending.backups) == (memory_id, (name,))
        file.unlink()
    with tetrarium.open_space(tmp_path) as space:
        assert space.pending_erasures() == ()


def test_going_back_to_a_backup_does_not_bring_back_what_is_being_erased(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, erased_at_once=0) as space:
        memory_id = str(space.store(FACT).id)
        space.store(OTHER)
        name = space.backup().name
        space.erase([memory_id])
        assert space.pending_erasures()
        space.restore_backup(name, client=WINDOW)
        space.maintain()
        assert space.pending_erasures() == ()
        with pytest.raises(NotFound):
            space.get(memory_id)
        assert space.prove_deleted(FACT).is_gone


def test_a_filter_erases_for_good_only_with_the_token_of_its_own_preview(space: MemoryService) -> None:
    memory_id = str(space.store(FACT, labels=["old"]).id)
    kept = space.store(OTHER).id
    pinned = str(space.store("The ledger is closed on the last day of May.", labels=["old"]).id)
    space.update(pinned, pinned=True)
    trash = space.forget_matching(labels="old")
    preview = space.forget_matching(labels="old", permanently=True)
    assert (preview.done, preview.total, preview.spared) == (False, 1, 1)
    assert not space.forget_matching(labels="old", permanently=True, confirm=trash.confirm).done
    done = space.forget_matching(labels="old", permanently=True, confirm=preview.confirm)
    assert (done.done, done.ids) == (True, (memory_id,))
    assert set(space.snapshot().ids) == {kept, pinned}
    assert space.prove_deleted(FACT).is_gone


def test_an_agent_erases_nothing_of_a_person(space: MemoryService) -> None:
    memory_id = str(space.store(FACT).id)
    with pytest.raises(NotTrusted):
        space.erase([memory_id], client="claude")
    assert space.get(memory_id).content == FACT


def at(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    """Let the wall clock say a moment (seconds)."""
    monkeypatch.setattr("tetrarium.service.erasing.time.time", lambda: moment)
    monkeypatch.setattr("tetrarium.storage.memories.now", lambda: datetime.fromtimestamp(moment, UTC))


def maintained(space: MemoryService) -> None:
    space._tidied = float("-inf")
    for _ in range(50):
        if not space.maintain():
            return


def settled(space: MemoryService, monkeypatch: pytest.MonkeyPatch, start: float, days: float) -> float:
    """Days of ordinary time, looked at twice a day; gives the moment at their end."""
    for half in range(int(days * 2) + 1):
        at(monkeypatch, start + half * DAY / 2)
        maintained(space)
    return start + int(days * 2) * DAY / 2


def test_the_trash_is_erased_after_its_time_but_never_what_is_pinned(
    space: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, pinned = (str(space.store(text).id) for text in (FACT, OTHER))
    space.update(pinned, pinned=True)
    for memory_id in (old, pinned):
        space.forget(memory_id)
    now = settled(space, monkeypatch, time.time(), 29)
    assert len(space.trashed()) == 2
    settled(space, monkeypatch, now, 2)
    assert [one.memory.id for one in space.trashed()] == [pinned]
    assert space.prove_deleted(FACT).is_gone


def test_a_clock_that_leaps_erases_nothing_before_a_day_has_passed(
    space: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.time()
    expiring = str(space.store(FACT, expires_at=datetime.now(UTC) + timedelta(hours=1)).id)
    trashed = str(space.store(OTHER).id)
    space.forget(trashed)
    settled(space, monkeypatch, start, 2)
    for leap in (3650 * DAY, -5 * DAY, 3650 * DAY):
        at(monkeypatch, start + leap)
        maintained(space)
        assert space.get(expiring).content == FACT
        assert [one.memory.id for one in space.trashed()] == [trashed]
    settled(space, monkeypatch, start + 3650 * DAY, 1.5)
    with pytest.raises(NotFound):
        space.get(expiring)
    assert space.trashed() == ()


@pytest.mark.expects_log_warning
def test_too_many_are_never_erased_at_once_without_a_person(
    space: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.time()
    until = datetime.now(UTC) + timedelta(hours=1)
    for number in range(60):
        space.store(f"Remark {number} on the harbour, which expires within {number} minutes.", expires_at=until, force=True)  # fmt: skip
    settled(space, monkeypatch, start, 2)
    settled(space, monkeypatch, start + 400 * DAY, 2)
    assert space.stats().memories == 60
    assert len(space.overdue()) == 60
    space.erase([memory.id for memory in space.overdue()])
    assert space.stats().memories == 0


@pytest.mark.parametrize("schema", range(1, SCHEMA_VERSION))
def test_a_memory_is_erased_in_the_copy_made_before_a_migration_too(tmp_path: Path, schema: int) -> None:
    file = Path(__file__).parents[1] / "data" / f"space-schema-{schema}.db.gz"
    (tmp_path / paths.STORE_FILE).write_bytes(gzip.decompress(file.read_bytes()))
    with tetrarium.open_space(tmp_path) as space:
        assert [backup.cause for backup in space.backups()] == ["migration"]
        memory = space.page(limit=1)[0]
        assert len(proof.hits(tmp_path, [proof.Marked(memory.id, memory.content[:24], b"")])) >= 2
        space.erase([memory.id])
        assert space.pending_erasures() == ()
        assert space.prove_deleted(memory.content).is_gone
