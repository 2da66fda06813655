"""Places and embeddings damaged by hand: found by the doctor, repaired from what is left, no memory lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
import pytest

import tetrarium
from tetrarium import cli, paths
from tetrarium.model import Float32
from tetrarium.service import MemoryService
from tetrarium.storage.database import Connection

WORDS = ["payments", "kubernetes", "search"]


def fill(space: MemoryService, count: int = 45) -> None:
    for n in range(count):
        word = WORDS[n % 3]
        space.store(f"Note {n}: the {word} side was changed for the {n}th time.", keywords=[word], force=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tetrarium.open_space(tmp_path) as space:
        fill(space)
    return tmp_path


def by_hand(folder: Path, work: Callable[[Connection], object]) -> None:
    """Change the file as a faulty program of ours would have: the rows' own hashes say nothing against it."""
    connection = apsw.Connection(str(folder / paths.STORE_FILE))
    work(connection)
    connection.execute("DELETE FROM seals WHERE kind IN (3, 4)")
    connection.close()


def without_rule(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE p AS SELECT * FROM places; DROP TABLE places;"
        "CREATE TABLE places (num INTEGER PRIMARY KEY, i, j, k, component); INSERT INTO places SELECT * FROM p; DROP TABLE p"
    )


def two_in_one_voxel(connection: Connection) -> None:
    without_rule(connection)
    ((i, j, k, c),) = connection.execute("SELECT i, j, k, component FROM places WHERE num = 3").fetchall()
    connection.execute("UPDATE places SET i = ?, j = ?, k = ?, component = ? WHERE num = 30", (i, j, k, c))


def far_out(connection: Connection) -> None:
    connection.execute("UPDATE places SET i = 2000000000 WHERE num = 5")
    connection.execute("UPDATE places SET component = -4 WHERE num = 6")


def words_for_numbers(connection: Connection) -> None:
    without_rule(connection)
    connection.execute("UPDATE places SET i = 'north', component = 'mine' WHERE num IN (7, 8)")


def torn(connection: Connection) -> None:
    connection.execute(
        "UPDATE places SET i = i + 400 WHERE num % 2 = 0 AND component = (SELECT min(component) FROM places)"
    )


def two_clusters_met(connection: Connection) -> None:
    ((low, high),) = connection.execute("SELECT min(component), max(component) FROM places").fetchall()
    ((i, j, k),) = connection.execute(
        "SELECT i, j, k FROM places WHERE component = ? ORDER BY i LIMIT 1", (low,)
    ).fetchall()
    num = connection.execute("SELECT max(num) FROM places WHERE component = ?", (high,)).get
    assert isinstance(i, int)
    connection.execute("UPDATE places SET i = ?, j = ?, k = ? WHERE num = ?", (i - 1, j, k, num))


DAMAGE: dict[str, tuple[Callable[[Connection], object], set[str]]] = {
    "two memories in one voxel": (two_in_one_voxel, {"place", "rule"}),
    "places that are gone": (lambda c: c.execute("DELETE FROM places WHERE num % 4 = 0"), {"place"}),
    "all places gone": (lambda c: c.execute("DELETE FROM places"), {"place"}),
    "places outside the lattice": (far_out, {"place"}),
    "words for numbers": (words_for_numbers, {"place", "rule"}),
    "a cluster in two parts": (torn, {"torn", "label"}),
    "a vertex with two owners": (two_clusters_met, {"vertex"}),
    "places of memories that are gone": (
        lambda c: c.execute("PRAGMA foreign_keys=OFF; INSERT INTO places VALUES (900, 4000, 0, 0, 77)"),
        {"stray"},
    ),
}


@pytest.mark.expects_log_warning
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_repaired_and_stays_repaired(folder: Path, name: str) -> None:
    work, kinds = DAMAGE[name]
    with tetrarium.open_space(folder) as space:
        before = {memory.id: memory.content for memory in space.page(limit=100)}
        places = dict(zip(space.snapshot().ids, space.snapshot().places.tolist(), strict=True))
    by_hand(folder, work)
    with tetrarium.open_space(folder) as space:
        report = space.examine()
        assert kinds <= {finding.kind for finding in report.findings}
        # A damaged space goes on: it answers and takes new memories.
        assert space.search("kubernetes")[0].content
        space.store("The space goes on while its places are damaged, as it should.", force=True)
        space.repair()
        assert space.examine().is_healthy
        snapshot = space.snapshot()
        assert len(np.unique(snapshot.places, axis=0)) == len(snapshot)
    with tetrarium.open_space(folder) as again:
        assert again.examine().is_healthy
        assert before.items() <= {memory.id: memory.content for memory in again.page(limit=100)}.items()
        now = dict(zip(again.snapshot().ids, again.snapshot().places.tolist(), strict=True))
        if name in ("places that are gone", "places outside the lattice", "words for numbers"):
            assert sum(now[memory_id] == place for memory_id, place in places.items()) >= 30
        assert again.plans()[0].cause == "repair"


@pytest.mark.expects_log_warning
def test_embeddings_without_a_direction_are_dropped_and_made_anew(folder: Path) -> None:
    bad = np.full(384, np.nan, np.float16).tobytes()
    by_hand(folder, lambda c: c.execute("UPDATE vectors SET vector = ? WHERE num = 2", (bad,)))
    by_hand(folder, lambda c: c.execute("UPDATE vectors SET vector = ? WHERE num = 4", (bytes(768),)))
    with tetrarium.open_space(folder) as space:
        assert [(f.kind, f.count) for f in space.examine().findings] == [("vector", 2)]
        space.store("A memory that arrives while two embeddings are broken.", force=True)
        space.repair()
        assert space.examine().is_healthy
        space.maintain()
        assert all(num in space._space.indexes.vectors for num in (2, 4))


class Broken:
    """A model that gives no direction."""

    def __init__(self, value: float) -> None:
        self.value, self.name, self.dimension = value, "broken", 384

    def embed_passages(self, texts: list[str]) -> Float32:
        return np.full((len(texts), 384), self.value, np.float32)

    def embed_query(self, text: str) -> Float32:
        return np.full(384, self.value, np.float32)

    def pieces(self, text: str) -> list[tuple[str, float]]:
        return []


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_model_that_gives_no_direction_leaves_keywords_to_place_and_find(tmp_path: Path, value: float) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space._space.embedder = Broken(value)  # type: ignore[assignment]
        fill(space, 30)
        assert space.examine().is_healthy
        assert "kubernetes" in space.search("kubernetes")[0].content
        assert np.isfinite(space.stats().figures.purity)


def test_two_hundred_memories_of_one_text_stand_side_by_side(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        for _ in range(200):
            space.store("The very same words are stored again and again by a loop.", force=True)
        snapshot = space.snapshot()
        assert len(np.unique(snapshot.places, axis=0)) == 200
        assert len(snapshot.clusters) == 1
        assert np.abs(snapshot.places).max() < 20
        assert space.examine().is_healthy
        for cause in ("fission", "merge", "attach", "settle"):
            space.apply_plan(space.plan_clusters(cause))
        assert space.examine().is_healthy
        assert len(space.snapshot().clusters) == 1


class Turned:
    """Another model: the same meaning in other numbers and on another scale."""

    def __init__(self, real: object) -> None:
        self._real, self.name, self.dimension = real, "turned-1", 384

    def embed_passages(self, texts: list[str]) -> Float32:
        vectors: Float32 = self._real.embed_passages(texts)[:, ::-1]  # type: ignore[attr-defined]
        spread = vectors - vectors.mean(axis=1, keepdims=True) - 0.02
        turned: Float32 = spread / np.linalg.norm(spread, axis=1, keepdims=True)
        return turned

    def embed_query(self, text: str) -> Float32:
        row: Float32 = self.embed_passages([text])[0]
        return row

    def pieces(self, text: str) -> list[tuple[str, float]]:
        return []


def test_after_a_change_of_model_places_stay_and_similarity_is_measured_anew(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, calibration_start=20) as space:
        fill(space)
        places, scale = space.snapshot().places.tolist(), space._space.calibration
        space._space.embedder = Turned(space._space.embedder)  # type: ignore[assignment]
        space._space._calibrated_at = 0
        space._space._vectors_missing = True  # as an opening with the other model finds it
        while space.maintain():
            pass
        assert space.snapshot().places.tolist() == places
        assert space._space.calibration.cosine_mean != scale.cosine_mean
        assert space.examine().is_healthy


@pytest.mark.expects_log_warning
def test_the_doctor_speaks_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--data-dir", str(folder)]) == 0
    assert "45, each as it was written" in capsys.readouterr().out
    by_hand(folder, two_in_one_voxel)
    assert cli.main(["doctor", "--data-dir", str(folder)]) == 1
    assert "--fix" in capsys.readouterr().out
    assert cli.main(["doctor", "--repair", "--json", "--data-dir", str(folder)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["found"]["state"] == "bad"
    assert report["left"]["state"] != "bad"


def test_the_log_of_moves_cannot_be_changed(folder: Path) -> None:
    with tetrarium.open_space(folder, settle_size=11) as space:
        space.apply_plan(space.plan_clusters("settle"))
    for statement in ("DELETE FROM moves", "UPDATE moves SET to_i = 0"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            by_hand(folder, lambda c, statement=statement: c.execute(statement))  # type: ignore[misc]
