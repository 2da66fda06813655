"""kill -9 in random moments of a space's life: is anything lost that was acknowledged?

    python tests/bench/kills.py [--kills 100] [--seed 1]

A child lives: it stores, corrects, edits, deletes (to the trash and for good), undoes, copies the space, goes back to a
copy – each step announced before and acknowledged after. It is killed at a random moment. The store must then hold what was
acknowledged, with the announced step wholly done or not at all, and be sound: SQLite's full check, every row's hash,
the full-text index, all places. Every tenth child instead brings a space of an older schema up to date.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import tetrarium
from tetrarium import paths
from tetrarium.errors import InvalidInput
from tetrarium.service import MemoryService
from tetrarium.storage import backups, checks
from tetrarium.storage.migrations import SCHEMA_VERSION

DATA = Path(__file__).resolve().parents[1] / "data"
State = tuple[frozenset[str], frozenset[str]]
"""Ids outside the trash, and those of them that are inhibited."""


@dataclass
class Life:
    """What the parent knows: the state acknowledged last, the state in each copy, and what went wrong."""

    state: State = (frozenset(), frozenset())
    copies: dict[str, State] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    """Whose deletion for good was begun: in no state from then on may they be missed."""
    gone: set[str] = field(default_factory=set)
    """Whose deletion for good was acknowledged: they come back from no copy."""
    done: Counter[str] = field(default_factory=Counter)
    killed_in: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="live here, and leave what is left for a look")
    a = parser.parse_args()
    chance = random.Random(a.seed)
    life = Life()
    with nullcontext(a.keep) if a.keep else tempfile.TemporaryDirectory() as folder:
        space, old = Path(folder) / "space", Path(folder) / "old"
        for number in range(a.kills):
            if number % 10 == 9:
                killed_migration(old, 1 + number // 10 % (SCHEMA_VERSION - 1), chance.uniform(0.0, 0.25), life)
            else:
                killed_life(space, chance.randrange(1 << 30), chance.uniform(0.01, 0.7), life)
        with tetrarium.open_space(space) as opened:
            while opened.maintain():
                pass
            if left := opened.pending_erasures():
                life.wrong.append(f"at the end: still being deleted for good: {[e.memory for e in left]}")
            if back := {*opened.snapshot().ids} & life.gone:
                life.wrong.append(f"at the end: deleted for good, and there again: {sorted(back)}")
            changed = [copy.name for copy in backups.copies(space) if not backups.is_unchanged(copy)]
            if changed:
                life.wrong.append(f"at the end: copies that are not as noted: {changed}")
            healthy = opened.health().state != "bad"
            sound = opened.examine().is_healthy
            memories = opened.stats().memories
    print(f"kills {a.kills} · acknowledged {life.done.total()}: {told(life.done)}")
    print(f"killed in the middle of: {told(life.killed_in)}")
    print(
        f"memories at the end {memories} · health {'good' if healthy else 'BAD'} · places {'good' if sound else 'BAD'}"
    )
    for wrong in life.wrong:
        print("WRONG", wrong)
    print(f"LOST OR BROKEN: {len(life.wrong)}")
    raise SystemExit(bool(life.wrong) or not healthy or not sound)


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "nothing"


# --- a child's life ------------------------------------------------------------------------------


def live(folder: Path, seed: int, say: int) -> None:
    """Change the space without a pause, each step announced and acknowledged."""
    chance = random.Random(seed)
    with tetrarium.open_space(folder, reserve_bytes=0, check_at_open=0) as space:
        space.warm_up()
        os.write(say, b"ready\n")
        for number in range(1_000_000):
            name, arguments = chosen(space, chance)
            os.write(say, f"begin {name} {' '.join(arguments)}\n".encode())
            result = step(space, name, arguments, number, seed)
            os.write(say, f"done {result}\n".encode())


def chosen(space: MemoryService, chance: random.Random) -> tuple[str, list[str]]:
    table = space.snapshot()
    live_ids = [i for i, out in zip(table.ids, table.inhibited.tolist(), strict=True) if not out]
    if len(live_ids) < 5:
        return "store", []
    name = chance.choices(
        ["store", "supersede", "edit", "trash", "purge", "backup", "restore", "undo"], [8, 4, 3, 2, 1, 1, 1, 2]
    )[0]
    if name in ("supersede", "edit", "trash", "purge"):
        return name, [chance.choice(live_ids)]
    if name == "restore":
        asked = [b.name for b in space.backups() if b.cause == "asked"]
        return (name, [chance.choice(asked)]) if asked else ("backup", [])
    return name, []


def step(space: MemoryService, name: str, arguments: list[str], number: int, seed: int) -> str:
    text = f"Note {seed % 9973}-{number}: the gate of hall {number * 7 % 97} opens at minute {number * 31 % 1440}."
    if name == "store":
        return str(space.store(text, force=True).id)
    if name == "supersede":
        return str(space.store(text, supersedes=arguments, force=True).id)
    if name == "edit":
        return space.update(arguments[0], content=text).id
    if name in ("trash", "purge"):
        space.forget(arguments[0], permanently=name == "purge")
        return arguments[0]
    if name == "backup":
        made = space.backup()
        for extra in [b for b in space.backups() if b.cause == "asked"][4:]:
            for suffix in ("", ".sum"):
                (space.path / paths.BACKUPS / f"{extra.name}{suffix}").unlink()
        return made.name
    if name == "restore":
        return space.restore_backup(arguments[0]).name
    newest = next(e for e in space.history(limit=200) if e.reversible and not e.undone and e.undoes is None)
    try:
        space.store(text, force=True) if newest.op == "restore backup" else space.undo(newest.id)
    except InvalidInput:  # refused, and nothing changed: a memory of it was deleted for good
        space.store(text, force=True)
    snapshot = space.snapshot()
    out = [i for i, inhibited in zip(snapshot.ids, snapshot.inhibited.tolist(), strict=True) if inhibited]
    return f"{','.join(snapshot.ids)} {','.join(out)}"


# --- the parent ----------------------------------------------------------------------------------


def killed_life(folder: Path, seed: int, after: float, life: Life) -> None:
    lines = run_and_kill(lambda say: live(folder, seed, say), after)
    state, under_way = life.state, ""
    for line in lines:
        kind, *words = line.split()
        if kind == "begin":
            under_way = " ".join(words)
            life.erased |= {*words[1:]} if words[0] == "purge" else set()
        elif kind == "crash":
            life.wrong.append(line)
        elif kind == "done" and under_way:
            name, *arguments = under_way.split()
            life.done[name] += 1
            state = after_step(state, name, arguments, words, life)
            under_way = ""
    found, broken, erasing = state_of(folder)
    if back := (found[0] & life.gone) - erasing:
        life.wrong.append(f"{under_way or 'between steps'}: deleted for good, and there again: {sorted(back)}")
    if under_way:
        life.killed_in[under_way.split()[0]] += 1
    for copy in backups.copies(folder):
        life.copies.setdefault(copy.name, state)  # made, but not acknowledged
    if not may_be(found, state, under_way, life):
        life.wrong.append(f"{under_way or 'between steps'}: {difference(state, found)}")
    if broken:
        life.wrong.append(f"{under_way}: {broken}")
    life.state = found


def after_step(state: State, name: str, arguments: list[str], words: list[str], life: Life) -> State:
    ids, out = state
    result = words[0] if words else ""
    if name == "undo":
        silenced = words[1] if len(words) > 1 else ""
        return frozenset(filter(None, result.split(","))), frozenset(filter(None, silenced.split(",")))
    if name == "store":
        return ids | {result}, out
    if name == "supersede":
        return ids | {result}, out | {*arguments}
    if name in ("trash", "purge"):
        life.gone |= {*arguments} if name == "purge" and words else set()
        return ids - {*arguments}, out - {*arguments}
    if name == "backup":
        life.copies[result] = state
    if name == "restore":
        life.copies[result] = state
        return life.copies[arguments[0]]
    return state


def may_be(found: State, state: State, under_way: str, life: Life) -> bool:
    """Whether a state is the acknowledged one, with the step under way wholly done or not at all.

    What is being deleted for good is left aside: a copy that is gone back to may still hold it, or hold it no longer.
    """

    def same(expected: State) -> bool:
        return all(one - life.erased == other - life.erased for one, other in zip(found, expected, strict=True))

    if same(state):
        return True
    name, *arguments = under_way.split() or [""]
    new = found[0] - state[0]
    if name in ("store", "supersede") and len(new) == 1:
        return same(after_step(state, name, arguments, [*new], life))
    if name in ("trash", "purge"):
        return same(after_step(state, name, arguments, [], life))
    if name == "restore":
        return same(life.copies[arguments[0]])
    return name == "undo"


def difference(state: State, found: State) -> str:
    return f"lost {sorted(state[0] - found[0])}, extra {sorted(found[0] - state[0])}, inhibited {sorted(state[1] ^ found[1])}"


def state_of(folder: Path) -> tuple[State, str, set[str]]:
    """What a store holds after a crash, what is wrong with it, and whose deletion for good is to be gone on with.

    A copy that such a deletion was at work in has no hash that fits until it is finished; it must be sound all the same.
    """
    from tetrarium.storage.database import Database
    from tetrarium.storage.privacy import PrivacyReader

    database = Database.open(folder, busy_timeout=5_000)
    try:
        connection = database.connection
        damage = checks.examined(connection)
        rows = connection.execute(
            "SELECT id, EXISTS (SELECT 1 FROM inhibitions WHERE target = num AND lifted_at IS NULL) FROM memories "
            "WHERE trashed_at IS NULL"
        ).fetchall()
        places = connection.execute(
            "SELECT count(*) FROM memories m LEFT JOIN places p USING (num) WHERE (m.trashed_at IS NULL) <> (p.num IS NOT NULL)"
        ).fetchall()
        broken = f"{damage}" if damage else f"{places[0][0]} places too many or missing" if places[0][0] else ""
        erasing = {erasure.memory for erasure, _ in PrivacyReader(database).erasures()}
    finally:
        database.close()
    for copy in backups.copies(folder):
        if not backups.is_unchanged(copy) and (not erasing or backups.damage_of(copy)):
            broken += f" backup {copy.name} is damaged"
    return (frozenset(i for i, _ in rows), frozenset(i for i, out in rows if out)), broken, erasing


def killed_migration(folder: Path, schema: int, after: float, life: Life) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    store = folder / paths.STORE_FILE
    store.write_bytes(gzip.decompress((DATA / f"space-schema-{schema}.db.gz").read_bytes()))
    with closing(backups.opened(store)) as connection:
        before = set(connection.execute("SELECT id, content FROM memories").fetchall())

    def migrate(say: int) -> None:
        os.write(say, b"ready\n")
        tetrarium.open_space(folder, reserve_bytes=0).close()
        os.write(say, b"done\n")

    lines = run_and_kill(migrate, after)
    life.done["migrate"] += "done" in lines
    life.killed_in["migrate"] += "done" not in lines
    _, broken, _ = state_of(folder)  # opens it: what was cut short is finished
    with closing(backups.opened(store)) as connection:
        if set(connection.execute("SELECT id, content FROM memories").fetchall()) != before or broken:
            life.wrong.append(f"migration from schema {schema}: {broken or 'memories differ'}")


def run_and_kill(work: Callable[[int], None], after: float) -> list[str]:
    """Fork a child, kill it some seconds after it is ready; gives the lines that it said."""
    hear, say = os.pipe()
    child = os.fork()
    if not child:
        os.close(hear)
        try:
            work(say)
        except Exception as error:  # noqa: BLE001 # a child has nobody above it: what it meets is told to the parent
            os.write(say, f"crash {error!r}\n".encode())
        os._exit(0)
    os.close(say)
    with open(hear, encoding="utf-8") as stream:
        first = stream.readline()
        if first.startswith("ready"):
            time.sleep(after)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [line.strip() for line in (first, *stream.readlines()) if line.endswith("\n")]


if __name__ == "__main__":
    main()
