"""Deletion proof: memories with unique tokens live through every feature, half are erased, every byte is searched.

    python tests/bench/erasure.py [--memories 50] [--others 300] [--seed 1] [--kills 4] [--scale 10000] [--gaps]

Tokens are ASCII of mixed case, Chinese, and long texts whose token lies across the border of a search window and of a
page of the store. The search here is apart from Tetrarium's own: eight characters in a row of a token, as UTF-8,
case-folded, UTF-16, JSON escapes and base64, and the bytes of the vectors, in every file. Then the same again with
the process killed at each step of an erasure, and `prove_deleted` over what is erased and what is kept.
--scale: instead, how long one erasure takes in a space of so many memories (random vectors, no model).
--gaps: instead, what SQLite alone leaves of deleted rows with secure_delete and FTS5's secure-delete, and after VACUUM.
Exit code 1 when a byte of the erased is found, or none of the kept.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import signal
import string
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np

import tetrarium
from tetrarium.service import MemoryService
from tetrarium.storage import memories as rows

LETTERS = string.ascii_letters + string.digits
HANZI = "桥梁灯塔琥珀鲸鱼藤蔓砚台瓷器茶陶鹭芦苇铜铃檀香雁羽墨竹梅兰菊松柏枫槐椿榆桐杉柳桑梓楠槿蕨苔菖蒲荻萍"
SUBJECTS = ("payment worker", "seat map", "kiosk sync", "search index", "release train", "登录令牌", "结算流程")
STAGES = ("compact", "erase_in", "erased", "unlink")
"""What a killed erasure was about to do: write the file anew, go through a backup, strike the journal, drop the picture."""

DYING = """
import os, signal, sys
import tetrarium
from tetrarium.privacy import erasure
folder, stage, ids = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
space = tetrarium.open_space(folder, picture_size=1)
if stage == "unlink":
    erasure._derived = die
elif stage == "erased":
    erasure.rows.erased = die
else:
    setattr(erasure.files, stage, die)
space.erase(ids)
"""


@dataclass(frozen=True, slots=True)
class Marked:
    """A memory with its token and its vector as the store has it."""

    id: str
    token: str
    vector: bytes


def token_of(chance: random.Random, number: int) -> str:
    if number % 3 == 1:
        return "".join(chance.choice(HANZI) for _ in range(16))
    return "".join(chance.choice(LETTERS) for _ in range(24))


def text_of(chance: random.Random, token: str, number: int) -> str:
    about = f"The {chance.choice(SUBJECTS)} is known as {token} inside the team, since spring."
    if number % 3 == 2:
        filling = " ".join(chance.choice(SUBJECTS) for _ in range(900))
        border = chance.choice((4_096, 8_192, 4_080)) - chance.randrange(4, 20)
        return f"{filling[:border]} {token} {filling[: chance.randrange(500, 3_000)]}"
    return about


def lived(folder: Path, *, memories: int, others: int, seed: int) -> list[Marked]:
    """A space whose marked memories went through every feature; closed, reopened and crashed on the way."""
    chance = random.Random(seed)
    marked: list[tuple[str, str]] = []
    with tetrarium.open_space(folder, picture_size=1) as space:
        for number in range(max(memories, others)):
            if number < others:
                subject = chance.choice(SUBJECTS)
                space.store(f"Note {number}: the {subject} needs {number * 7} seconds and {chance.random():.9f} of a core.", force=True)  # fmt: skip
            if number < memories:
                marked.append(_store(space, chance, number))
        _use(space, marked, folder)
    _crash(folder)
    with tetrarium.open_space(folder, picture_size=1) as space:
        space.backup()
        for _ in range(200):
            if not space.maintain():
                break
        found = {memory_id: space._space.reader.number(memory_id) for memory_id, _ in marked}
        vectors = {
            memory_id: space._space.reader.vector_in_trash(int(num or 0), space._space.model)
            for memory_id, num in found.items()
        }
    return [
        Marked(one, token, b"" if (v := vectors[one]) is None else v.astype(np.float16).tobytes())
        for one, token in marked
    ]


def _store(space: MemoryService, chance: random.Random, number: int) -> tuple[str, str]:
    token = token_of(chance, number)
    text = text_of(chance, token, number)
    stored = space.once(
        f"call {number}",
        lambda: space.store(
            text,
            keywords=[token[:20], "team"] if number % 2 else (),
            labels=[f"label {token[-8:]}"] if number % 5 == 0 else (),
            session=f"s{number % 4}",
            file=f"notes/{token}.md" if number % 7 == 0 else "",
            idempotency_key=f"key {number}",
            force=True,
        ),
    )
    assert stored.id is not None
    return stored.id, token


def _use(space: MemoryService, marked: list[tuple[str, str]], folder: Path) -> None:
    """Edits, corrections, feedback, questions, relations, trash, clusters, backups, exports."""
    for number, (memory_id, token) in enumerate(marked):
        memory = space.get(memory_id)
        if number % 2:
            space.update(memory_id, content=memory.content.replace("since spring", f"since summer, see {token}"))
        if number % 4 == 1:
            later = space.store(f"The successor of {token[:4]}… is told elsewhere.", supersedes=memory_id, reason=f"{token[:4]} is old", idempotency_key=f"later {number}", force=True)  # fmt: skip
            space.release(memory_id)
            space.inhibit(str(later.id), reason="a trial")
        space.search(token)
        trace = space.recall(f"What is known as {token}?")
        if trace.blocks:
            space.feedback(trace.blocks[0].id, helped=True, recall_id=trace.id)
        space.explain(memory_id)
        if number % 6 == 0:
            space.relate(memory_id, marked[(number + 1) % len(marked)][0], "refines", note="both are names")
        if number % 8 == 3:
            space.forget(memory_id)
            space.restore(memory_id)
    for cause in ("attach", "settle"):
        plan = space.plan_clusters(cause)
        if len(plan):
            space.apply_plan(plan)
    space.backup()
    with tempfile.TemporaryDirectory() as outside:
        space.export(Path(outside) / "all.jsonl.gz")
    space.snapshot()
    space.maintain()


def _crash(folder: Path) -> None:
    code = "import os, signal, sys, tetrarium; s = tetrarium.open_space(sys.argv[1]); s.recall('team'); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=False, timeout=60)


def forms_of(one: Marked) -> list[bytes]:
    """What must not be found of a token and a vector."""
    size = 8 if one.token.isascii() else 4
    parts = [one.token[at : at + size] for at in range(0, len(one.token) - size + 1, 4)]
    forms = [part.encode() for part in parts] + [part.casefold().encode() for part in parts]
    forms += [one.token.encode(code) for code in ("utf-16-le", "utf-16-be")]
    forms += [] if one.token.isascii() else [json.dumps(part)[1:-1].encode() for part in parts]
    for shift in range(3):
        forms.append(base64.b64encode(b"x" * shift + one.token.encode())[4 * bool(shift) : -4])
    if one.vector:
        full = np.frombuffer(one.vector, np.float16).astype(np.float32).tobytes()
        forms += [one.vector[:32], one.vector[320:352], full[:32], full[640:672]]
    return forms


def hits(folder: Path, marked: list[Marked]) -> dict[str, int]:
    """File → finds of any form of any of these."""
    found: dict[str, int] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes() + path.name.encode()
        count = sum(form in content for one in marked for form in forms_of(one))
        if count:
            found[path.relative_to(folder).as_posix()] = count
    return found


def killed_erasure(folder: Path, stage: str, ids: list[str]) -> None:
    """Erase in a process that is killed at a stage."""
    done = subprocess.run([sys.executable, "-c", DYING, str(folder), stage, ",".join(ids)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, f"{stage}: the process ended with {done.returncode}"


def timed(count: int) -> None:
    """One erasure in a space of many memories, without backups and with one."""
    chance, numbers = random.Random(1), np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name, tetrarium.open_space(name, model="none") as space:
        ids = [
            str(space.store(f"Note {n}: the {chance.choice(SUBJECTS)} is known as {token_of(chance, 0)} and needs {n} s.", force=True).id)
            for n in range(count)
        ]  # fmt: skip
        with space._space.database.write() as connection:
            for num in range(1, count + 1):
                rows.set_vector(connection, num, "none", numbers.standard_normal(384, np.float32))
        for backups, memory_id in ((0, ids[7]), (1, ids[70]), (1, ids[700])):
            while len(space.backups()) < backups:
                space.backup()
            size = sum(p.stat().st_size for p in Path(name).rglob("*") if p.is_file())
            started, cpu = time.perf_counter(), time.process_time()
            space.erase([memory_id])
            wall, cpu = time.perf_counter() - started, time.process_time() - cpu
            print(
                f"{count} memories, {size / 1e6:.1f} MB, {backups} backups: erased in {wall:.2f} s (CPU {cpu:.2f}), pending {len(space.pending_erasures())}"
            )


def gaps(count: int = 4_000) -> None:
    """Tokens of deleted rows that a store as ours keeps between its rows, before and after VACUUM."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "store.db"
        connection = apsw.Connection(str(file))
        connection.execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY;
            CREATE TABLE memories (num INTEGER PRIMARY KEY, tokens TEXT);
            CREATE TABLE versions (num INTEGER, tokens TEXT, PRIMARY KEY (num)) WITHOUT ROWID;
            CREATE VIRTUAL TABLE fulltext USING fts5 (tokens, content='memories', content_rowid='num');
            INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 1);
            """
        ).fetchall()
        tokens = {num: "".join(chance.choice(string.ascii_lowercase) for _ in range(24)) for num in range(1, count + 1)}
        unindex = (
            "INSERT INTO fulltext (fulltext, rowid, tokens) SELECT 'delete', num, tokens FROM memories WHERE num = ?"
        )
        for num, token in tokens.items():
            text = f"memory {token} number {num} {'alpha beta ' * chance.randrange(3, 30)}"
            with connection:
                connection.execute("INSERT INTO memories VALUES (?, ?)", (num, text))
                connection.execute("INSERT INTO fulltext (rowid, tokens) VALUES (?, ?)", (num, text))
                if num % 3 == 0:
                    connection.execute("INSERT INTO versions VALUES (?, ?)", (num, text))
                    connection.execute(unindex, (num,))
                    connection.execute(
                        "UPDATE memories SET tokens = ? WHERE num = ?",
                        (f"{text} {'edited ' * chance.randrange(1, 30)}", num),
                    )
                    connection.execute(
                        "INSERT INTO fulltext (rowid, tokens) SELECT num, tokens FROM memories WHERE num = ?", (num,)
                    )
        dead = [num for num in tokens if num % 2]
        for num in dead:
            with connection:
                connection.execute(unindex, (num,))
                connection.execute("DELETE FROM memories WHERE num = ?", (num,))
                connection.execute("DELETE FROM versions WHERE num = ?", (num,))
        for step in ("SELECT 1", "VACUUM"):
            connection.execute(step)
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            content = file.read_bytes()
            whole = sum(tokens[num].encode() in content for num in dead)
            part = sum(any(tokens[num][at : at + 8].encode() in content for at in (0, 8, 16)) for num in dead)
            print(
                f"{'after VACUUM' if step == 'VACUUM' else 'secure_delete alone'}: of {len(dead)} deleted tokens {whole} whole, {part} at least in part"
            )
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=50)
    parser.add_argument("--others", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=len(STAGES))
    parser.add_argument("--scale", type=int, default=0)
    parser.add_argument("--gaps", action="store_true")
    a = parser.parse_args()
    if a.gaps:
        gaps()
        return
    if a.scale:
        timed(a.scale)
        return
    bad = False
    for stage in ("", *STAGES[: a.kills]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            marked = lived(folder, memories=a.memories, others=a.others, seed=a.seed)
            gone, kept = marked[::2], marked[1::2]
            before = hits(folder, gone)
            ids = [one.id for one in gone]
            started = time.perf_counter()
            if stage:
                killed_erasure(folder, stage, ids)
            space = tetrarium.open_space(folder, picture_size=1)
            if not stage:
                space.erase(ids)
            seconds = time.perf_counter() - started
            own = [len(space.prove_deleted(one.token).residues) for one in (*gone[:3], *kept[:3])]
            pending = len(space.pending_erasures())
            space.close()
            left, there = hits(folder, gone), hits(folder, kept)
            size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
            print(
                f"{f'killed before {stage}' if stage else 'not killed'}: {len(gone)} of {len(marked)} erased in {seconds:.2f} s · files {size / 1e6:.1f} MB · pending {pending}"
            )
            print(
                f"  finds of the erased before {sum(before.values())} in {len(before)} files, after {sum(left.values())} {left or ''} · of the kept {sum(there.values())} in {len(there)} files"
            )
            print(f"  prove_deleted: of three erased {own[:3]}, of three kept {own[3:]}")
            bad |= bool(left or not there or any(own[:3]) or not all(own[3:]) or pending)
    sys.exit(bad)


if __name__ == "__main__":
    main()
