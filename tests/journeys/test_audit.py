"""Who read and wrote what: all of it, in order, without a word of what was said; and no row can go unnoticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.cli import main
from tetrarium.errors import InvalidInput, UserError
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.service import MemoryService, auditor

TEXT = "The quokkabarometer of the payment worker retries three times before it parks a job."
OTHER = "The quokkabarometer of the payment worker retries four times now."


def noted(space: MemoryService) -> list[tuple[str, str, str, int]]:
    """(verb, kind, client, memories), oldest first."""
    return [(e.verb, e.kind, e.client, e.count) for e in reversed(space.audit(limit=1_000))]


def stored_rows(space: MemoryService) -> int:
    return int(raw(space.path, "SELECT count(*) FROM audit")[0][0])  # type: ignore[arg-type]


def raw(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(folder / paths.STORE_FILE))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def used(space: MemoryService) -> tuple[str, str]:
    """A little life under two clients; gives the ids of its two memories."""
    old = str(space.store(TEXT, client="cursor 1", session="quokkasession").id)
    space.recall("quokkabarometer retries", client="cursor 1")
    new = str(space.store(OTHER, supersedes=old, client="codex 2").id)
    space.get(new)
    with pytest.raises(InvalidInput):
        space.release(new, client="codex 2")
    space.forget(new, client="codex 2")
    return old, new


def test_every_read_and_write_is_noted_in_order_with_who_and_how_many(space: MemoryService) -> None:
    old, new = used(space)
    assert noted(space) == [
        ("store", "write", "cursor 1", 1),
        ("recall", "read", "cursor 1", 1),
        ("store", "inhibit", "codex 2", 1),
        ("get", "read", "", 1),
        ("release", "refused", "codex 2", 0),
        ("forget", "delete", "codex 2", 1),
    ]
    assert [e.verb for e in space.audit(client="codex 2")] == ["forget", "release", "store"]
    assert [e.verb for e in space.audit(memory_id=old)] == ["store", "recall", "store"]
    assert [e.verb for e in space.audit(memory_id=new, verb="forget")] == ["forget"]
    assert space.audit()[-1].session == "quokkasession"
    assert space.audit(since="2199-01-01") == ()


def test_the_audit_holds_no_content_no_question_and_no_id(space: MemoryService) -> None:
    old, new = used(space)
    space.maintain()
    rows = repr(raw(space.path, "SELECT verb, kind, client, hex(ids), ids, hash FROM audit")).casefold()
    assert "recall" in rows
    for word in ("quokkabarometer", "retries", old, new):
        assert word.casefold() not in rows


def test_a_read_writes_nothing_and_is_noted_in_a_quiet_moment_or_before_the_next_write(space: MemoryService) -> None:
    space.store(TEXT)
    assert stored_rows(space) == 1
    space.recall("quokkabarometer")
    space.search("payment worker")
    assert stored_rows(space) == 1
    space.maintain()
    assert stored_rows(space) == 3
    space.page()
    space.store(OTHER)
    assert [verb for verb, *_ in noted(space)] == ["store", "recall", "search", "page", "store"]


def test_a_write_that_fails_is_not_noted_and_takes_no_read_with_it(space: MemoryService) -> None:
    old = str(space.store(TEXT).id)
    space.get(old)
    with pytest.raises(UserError):
        space.release(old)
    space.inhibit(old)
    assert [(verb, kind) for verb, kind, *_ in noted(space)] == [
        ("store", "write"), ("get", "read"), ("release", "refused"), ("inhibit", "inhibit"),
    ]  # fmt: skip


def test_two_programs_write_one_chain(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as one, tetrarium.open_space(tmp_path) as two:
        for n in range(4):
            one.store(f"The first program says that worker {n} needs {n} minutes.", client="one", force=True)
            two.recall("worker minutes", client="two")
            two.store(f"The second program says that kiosk {n} needs {n} minutes.", client="two", force=True)
        assert [client for _, _, client, _ in noted(one)] == ["one", "two", "two"] * 4
        assert one.verify_audit().is_sound
    with tetrarium.open_space(tmp_path) as again:
        assert again.verify_audit().rows == 12


def alter(connection: apsw.Connection) -> None:
    connection.execute("UPDATE audit SET client = 'nobody' WHERE seq = 3")


def drop(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM audit WHERE seq = 3")


def reorder(connection: apsw.Connection) -> None:
    connection.execute("UPDATE audit SET seq = -1 WHERE seq = 3")
    connection.execute("UPDATE audit SET seq = 3 WHERE seq = 5")
    connection.execute("UPDATE audit SET seq = 5 WHERE seq = -1")


def truncate(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM audit WHERE seq >= 3")


def truncate_and_say_so(connection: apsw.Connection) -> None:
    truncate(connection)
    connection.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'audit'")


def exchange_ids(connection: apsw.Connection) -> None:
    connection.execute("UPDATE audit SET ids = zeroblob(8) WHERE seq = 3")


@pytest.mark.parametrize(
    ("tamper", "kind"),
    [
        (alter, "altered"), (exchange_ids, "altered"), (drop, "dropped"), (reorder, "reordered"),
        (truncate, "truncated"), (truncate_and_say_so, "truncated"),
    ],
)  # fmt: skip
def test_tampering_is_found_at_the_first_bad_row(
    tmp_path: Path, tamper: Callable[[apsw.Connection], None], kind: str
) -> None:
    with tetrarium.open_space(tmp_path) as space:
        used(space)
        assert space.verify_audit().is_sound
    connection = apsw.Connection(str(tmp_path / paths.STORE_FILE))
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        tamper(connection)
    connection.execute("DROP TRIGGER audit_never_changes; DROP TRIGGER audit_never_goes")
    tamper(connection)
    connection.close()
    with tetrarium.open_space(tmp_path) as space:
        proof = space.verify_audit()
        assert (proof.first_bad, proof.kind) == (3, kind)


def test_an_anchor_kept_elsewhere_proves_what_the_folder_alone_cannot(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        used(space)
        anchor = space.verify_audit().anchor
    connection = apsw.Connection(str(tmp_path / paths.STORE_FILE))
    connection.execute("DROP TRIGGER audit_never_changes; DROP TRIGGER audit_never_goes")
    truncate_and_say_so(connection)
    connection.close()
    (tmp_path / paths.AUDIT_FILE).unlink()
    with tetrarium.open_space(tmp_path) as space:
        assert space.verify_audit().is_sound
        proof = space.verify_audit(anchor)
        assert (proof.first_bad, proof.kind) == (3, "truncated")
        with pytest.raises(InvalidInput):
            space.verify_audit("my anchor")


def test_mass_reads_mass_deletions_and_bursts_of_inhibition_are_flagged(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, audit_reads=30, audit_deletions=5, audit_inhibitions=5) as space:
        ids = [
            str(space.store(f"Worker number {n} waits {n} minutes for its lease.", force=True, client="agent").id)
            for n in range(12)
        ]
        for _ in range(3):
            space.search("worker lease minutes", limit=8, client="calm")
        assert space.audit_flags() == ()
        for _ in range(4):
            space.search("worker lease minutes", limit=10, client="greedy")
        for memory_id in ids[:6]:
            space.inhibit(memory_id, client="silencer")
        space.forget_all(ids[6:], client="eraser")
        assert space.audit_flags() == space.stats().audit_flags
        assert {(flag.kind, flag.client, flag.count) for flag in space.audit_flags()} == {
            ("read", "greedy", 40), ("inhibit", "silencer", 6), ("delete", "eraser", 6),
        }  # fmt: skip
        told = BY_NAME["void_stats"].call({}, Caller(client="claude-code 3", project=""))(space).text
        assert "Unusual in the last day: greedy read 40 memories from" in told
        (check,) = [check for check in space.health().checks if check.name == "audit"]
        assert check.state == "warn"
        assert "eraser deleted 6 memories" in check.words
        assert "silencer inhibited 6 memories" in check.words


def test_a_tools_call_is_noted_under_its_client(space: MemoryService) -> None:
    caller = Caller(client="claude-code 3", project="")
    stored = BY_NAME["memory_create"].call({"content": TEXT}, caller)(space)
    BY_NAME["void_recall"].call({"query": "quokkabarometer"}, caller)(space)
    BY_NAME["memory_update"].call({"id": stored.structured["id"], "importance": 0.9}, caller)(space)
    space.get(stored.structured["id"])
    assert [(verb, client) for verb, _, client, _ in noted(space)] == [
        ("store", "claude-code 3"), ("recall", "claude-code 3"), ("update", "claude-code 3"),
        ("inhibitions", "claude-code 3"), ("get", ""),
    ]  # fmt: skip


def test_every_verb_of_the_door_is_sorted_into_reads_writes_and_the_rest() -> None:
    verbs = {name for name in dir(MemoryService) if not name.startswith("_")} - {"settings", "events"}
    sorted_verbs = (auditor.READS, auditor.WRITES, auditor.UNNOTED)
    assert verbs - frozenset().union(*sorted_verbs) == set()
    assert sum(map(len, sorted_verbs)) == len(frozenset().union(*sorted_verbs))


def test_the_command_line_lists_proves_and_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--data-dir", str(tmp_path / "space"))
    assert main(["store", TEXT, *at]) == 0
    capsys.readouterr()
    assert main(["audit", "list", "--json", *at]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["verb"], entry["client"].split()[0]) == ("store", "tetrarium")
    assert main(["audit", "verify", *at]) == 0
    assert capsys.readouterr().out.startswith("Sound: 1 rows")
    assert main(["audit", "flags", *at]) == 0
    assert "Nothing unusual" in capsys.readouterr().out
    (tmp_path / "space" / paths.AUDIT_FILE).write_text('[9, "00"]')
    assert main(["audit", "verify", *at]) == 1
    assert "Row 2 is the first bad one (truncated)" in capsys.readouterr().out


def test_the_audit_goes_on_when_the_space_goes_back_to_a_backup(space: MemoryService) -> None:
    backup = space.backup()
    space.store(TEXT, client="cursor 1")
    space.restore_backup(backup.name)
    space.store(OTHER, client="cursor 1")
    assert [verb for verb, *_ in noted(space)] == ["store", "restore_backup", "store"]
    assert space.verify_audit().is_sound
