"""A space that nobody reads without its key: no plain text in any file, clear words when the key is missing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

import tetrarium
from tetrarium import paths, service
from tetrarium.cli import main
from tetrarium.errors import DamagedSpace, DiskFull, InvalidInput, NotFound, SpaceBusy, SpaceLocked
from tetrarium.privacy import keys
from tetrarium.service import MemoryService, locking
from tetrarium.storage import cipher, recoding

WORDS = "correct horse battery"
OTHER = "another passphrase"
TOKENS = ("zanzibarquokka", "桑给巴尔短尾", "zanzibarkey", "zanzibarauthor", "zanzibarquestion")


@pytest.fixture(autouse=True)
def _no_key_around(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Neither the environment nor this process knows a key before or after a test."""
    for name in (keys.PASSPHRASE, keys.PASSPHRASE_FILE):
        monkeypatch.delenv(name, raising=False)
    yield
    cipher._keys.clear()
    os.environ.pop(keys.PASSPHRASE_FILE, None)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "space"
    with tetrarium.open_space(folder, picture_size=3, reserve_bytes=0) as space:
        live(space)
        space.backup()
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A closed space with memories, a picture and a backup, in plain text."""
    return shutil.copytree(template, tmp_path / "space")


def live(space: MemoryService) -> None:
    """Touch everything that may write words somewhere."""
    stored = [
        space.store(
            f"The zanzibarquokka worker {n} waits {n} minutes. 桑给巴尔短尾矮袋鼠。",
            keywords=["zanzibarkey"], author="zanzibarauthor", session="one", force=True,
        )
        for n in range(5)
    ]  # fmt: skip
    space.store("The zanzibarquokka worker 0 waits 50 minutes now.", supersedes=str(stored[0].id), reason="zanzibarkey")
    space.update(str(stored[1].id), content="The zanzibarquokka was edited.")
    space.name_cluster(space.get(str(stored[2].id)).cluster, "zanzibarkey")
    space.recall("zanzibarquestion about the zanzibarquokka")
    space.forget(str(stored[3].id))
    space.maintain()


def hits(folder: Path) -> dict[str, int]:
    """Files of a folder that hold one of the words in plain text (UTF-8 or UTF-16), and how often."""
    forms = [form for token in TOKENS for form in (token.encode(), token.encode("utf-16-le"))]
    found = {}
    for file in folder.rglob("*"):
        if file.is_file() and (count := sum(file.read_bytes().count(form) for form in forms)):
            found[file.name] = count
    return found


def told(folder: Path, file: Path, passphrase: str | None = None) -> bytes:
    """The export of a space but for its header."""
    with tetrarium.open_space(folder, passphrase=passphrase) as space:
        space.export(file, vectors=True)
    return file.read_bytes().split(b"\n", 1)[1]


def test_an_encrypted_space_leaves_no_plain_text_in_any_file(folder: Path) -> None:
    assert set(hits(folder)) >= {"space.tetrarium", "space.picture"}
    done = service.encrypt(folder, passphrase=WORDS)
    assert (done.lost, done.plain, hits(folder)) == ((), (), {})
    with tetrarium.open_space(folder, passphrase=WORDS, picture_size=3) as space:
        assert len(space.search("zanzibarquokka", limit=20)) >= 4
        live(space)
        backup = space.backup()
        assert hits(folder) == {}
        space.restore_backup(backup.name)
        space.undo()
        gone = str(space.page()[0].id)
        space.forget(gone)
        space.restore_memory(backup.name, gone)
        assert all(check.state == "ok" for check in space.health().checks if check.name in ("store", "backups"))
    assert service.kept_snapshot(folder) is not None
    assert (folder / paths.SNAPSHOT_FILE).exists()
    assert hits(folder) == {}


def test_a_killed_program_leaves_no_plain_text_behind(folder: Path) -> None:
    service.encrypt(folder, passphrase=WORDS)
    code = (
        "import os, signal, sys, tetrarium; s = tetrarium.open_space(sys.argv[1]); "
        "s.store('The zanzibarquokka is killed.', force=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], env={**os.environ, keys.PASSPHRASE: WORDS}, timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert (folder / "space.tetrarium-wal").stat().st_size > 0
    assert hits(folder) == {}
    with tetrarium.open_space(folder, passphrase=WORDS) as space:
        assert space.search("zanzibarquokka killed").hits[0].content == "The zanzibarquokka is killed."


def test_encrypting_changing_the_key_and_decrypting_keep_every_byte_of_the_truth(folder: Path, tmp_path: Path) -> None:
    before = told(folder, tmp_path / "before.jsonl")
    service.encrypt(folder, passphrase=WORDS)
    assert told(folder, tmp_path / "encrypted.jsonl", WORDS) == before
    service.rekey(folder, passphrase=WORDS, new_passphrase=OTHER)
    with pytest.raises(SpaceLocked):
        tetrarium.open_space(folder, passphrase=WORDS)
    assert told(folder, tmp_path / "other.jsonl", OTHER) == before
    service.decrypt(folder, passphrase=OTHER)
    assert told(folder, tmp_path / "plain.jsonl") == before
    assert not (folder / paths.KEY_FILE).exists()
    with tetrarium.open_space(folder) as space:
        assert space.preview_restore(space.backups()[0].name).staying > 0


def test_a_missing_or_wrong_key_is_said_with_what_to_do_and_nothing_changes(folder: Path, tmp_path: Path) -> None:
    service.encrypt(folder, passphrase=WORDS)
    before = (folder / paths.STORE_FILE).read_bytes()
    with pytest.raises(SpaceLocked, match="Set TETRARIUM_PASSPHRASE"):
        tetrarium.open_space(folder)
    with pytest.raises(SpaceLocked, match="is not the one of the space"):
        tetrarium.open_space(folder, passphrase="not at all this")
    key = (folder / paths.KEY_FILE).read_bytes()
    (folder / paths.KEY_FILE).write_text("{}")
    with pytest.raises(SpaceLocked, match=r"space\.key is missing, damaged"):
        tetrarium.open_space(folder, passphrase=WORDS)
    (folder / paths.KEY_FILE).unlink()
    with pytest.raises(DamagedSpace, match="damaged or is not a Tetrarium space"):
        tetrarium.open_space(folder)
    assert (folder / paths.STORE_FILE).read_bytes() == before
    (folder / paths.KEY_FILE).write_bytes(key)
    with tetrarium.open_space(folder, passphrase=WORDS) as space:
        assert space.stats().memories > 0


def test_files_of_two_encrypted_spaces_cannot_be_exchanged(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    for place in (folder, other):
        service.encrypt(place, passphrase=WORDS)
    shutil.copyfile(other / paths.STORE_FILE, folder / paths.STORE_FILE)
    with pytest.raises(DamagedSpace, match="belongs to another space"):
        tetrarium.open_space(folder, passphrase=WORDS)


def test_a_changed_byte_of_an_encrypted_picture_is_noticed(folder: Path) -> None:
    service.encrypt(folder, passphrase=WORDS)
    with tetrarium.open_space(folder, passphrase=WORDS, picture_size=3):
        pass
    picture = folder / paths.SNAPSHOT_FILE
    data = bytearray(picture.read_bytes())
    assert service.kept_snapshot(folder) is not None
    data[len(data) // 2] ^= 1
    picture.write_bytes(data)
    assert service.kept_snapshot(folder) is None


def test_nothing_is_encrypted_while_another_program_has_the_space_open(folder: Path) -> None:
    with tetrarium.open_space(folder) as space:
        with pytest.raises(SpaceBusy, match="End the agents"):
            service.encrypt(folder, passphrase=WORDS)
        assert not [*folder.glob(f"{paths.KEY_FILE}*")]
        space.store("The space goes on as if nobody had asked.")
    with tetrarium.open_space(folder) as space:
        assert space.stats().memories == 6
    service.encrypt(folder, passphrase=WORDS)
    with tetrarium.open_space(folder, passphrase=WORDS), pytest.raises(SpaceBusy, match="End the agents"):
        service.rekey(folder, passphrase=WORDS, new_passphrase=OTHER)
    assert [file.name for file in folder.glob(f"{paths.KEY_FILE}*")] == [paths.KEY_FILE]
    with tetrarium.open_space(folder, passphrase=WORDS) as space:
        assert space.stats().memories == 6


def test_nobody_can_store_into_a_file_that_is_being_encrypted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody stored meanwhile would be acknowledged, and gone with the file that is replaced."""
    tried: list[str] = []
    recode = recoding._recode

    def meanwhile(connection: apsw.Connection, file: Path, old: bytes | None, new: bytes | None) -> None:
        if file.name == paths.STORE_FILE:
            other = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('DELETE FROM changes')"
            done = subprocess.run([sys.executable, "-c", other, str(file)], capture_output=True, text=True, check=False)
            tried.append(done.stderr)
        recode(connection, file, old, new)

    monkeypatch.setattr(recoding, "_recode", meanwhile)
    service.encrypt(folder, passphrase=WORDS)
    (error,) = tried
    assert "BusyError" in error


def test_an_encryption_or_a_change_of_key_that_was_cut_short_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.write(folder, keys.wrapped_by_passphrase(keys.new_key(), WORDS))  # cut short before the store was swapped
    with tetrarium.open_space(folder) as space:
        memories = space.stats().memories
    service.encrypt(folder, passphrase=WORDS)

    def cut(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(locking, "_take_next", cut)  # … after it was swapped
        with pytest.raises(KeyboardInterrupt):
            service.rekey(folder, passphrase=WORDS, new_passphrase=OTHER)
    with tetrarium.open_space(folder, passphrase=OTHER) as space:
        assert space.stats().memories == memories
    assert not (folder / f"{paths.KEY_FILE}.next").exists()


def test_what_cannot_be_encrypted_or_decrypted_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least 8"):
        service.encrypt(folder, passphrase="short")
    with pytest.raises(InvalidInput, match="neither a passphrase nor a keychain"):
        service.encrypt(folder)
    with pytest.raises(InvalidInput, match="is not encrypted"):
        service.decrypt(folder)
    with pytest.raises(NotFound):
        service.encrypt(tmp_path / "nowhere", passphrase=WORDS)
    assert not (folder / paths.KEY_FILE).exists()


class InMemory(KeyringBackend):
    """A keychain that lives as long as the test."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class PlainFile(InMemory):
    """Stands where the backend that keeps passwords in a plain file stands."""

    __module__ = "keyrings.alt.file"


@pytest.fixture
def keychain() -> Iterator[InMemory]:
    before = keyring.get_keyring()
    backend = InMemory()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def test_a_space_opens_with_the_keychains_key_without_asking_and_is_lost_with_it(
    folder: Path, keychain: InMemory
) -> None:
    service.encrypt(folder, keychain=True)
    assert hits(folder) == {}
    with tetrarium.open_space(folder) as space:
        assert space.stats().memories > 0
    cipher.lock(folder)
    secret = dict(keychain.kept)
    keychain.kept.clear()
    with pytest.raises(SpaceLocked, match="may have been deleted there"):
        tetrarium.open_space(folder)
    keychain.kept.update(secret)
    service.rekey(folder, new_passphrase=OTHER)
    assert keychain.kept == {}
    with tetrarium.open_space(folder, passphrase=OTHER) as space:
        assert space.stats().memories > 0


def test_a_keychain_that_keeps_nothing_or_keeps_it_in_the_open_is_recognised(folder: Path, keychain: InMemory) -> None:
    problems = {"keeps nothing": null.Keyring(), "no keychain": fail.Keyring(), "is a file": PlainFile()}
    for words, backend in problems.items():
        keyring.set_keyring(backend)
        with pytest.raises(InvalidInput, match=words):
            service.encrypt(folder, keychain=True)
    assert not (folder / paths.KEY_FILE).exists()
    assert hits(folder)


def test_the_command_line_encrypts_and_a_headless_program_needs_its_passphrase(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{WORDS}\n")
    secret.chmod(0o600)

    def run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        script = "import sys; from tetrarium.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", script, *argv, "--data-dir", str(folder)], env=bare | environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    at = ("--passphrase-file", str(secret), "--data-dir", str(folder))
    assert main(["encrypt", *at]) == 0
    assert "is encrypted" in capsys.readouterr().out
    alone = run("stats")
    assert (alone.returncode, alone.stdout) == (1, "")
    assert "encrypted with a passphrase, and none was given. Set TETRARIUM_PASSPHRASE" in alone.stderr
    assert run("stats", TETRARIUM_PASSPHRASE_FILE=str(secret)).returncode == 0
    unasked = run("rekey", TETRARIUM_PASSPHRASE_FILE=str(secret))
    assert (unasked.returncode, unasked.stdout) == (2, "")
    assert "--new-passphrase-file" in unasked.stderr
    assert main(["rekey", "--new-passphrase-file", str(secret), *at]) == 0
    assert "was changed" in capsys.readouterr().out
    assert main(["decrypt", *at]) == 0
    assert "is not encrypted any more" in capsys.readouterr().out
    assert not cipher.is_encrypted(folder)


def test_without_room_for_every_file_nothing_is_encrypted_and_no_backup_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {file.name: file.read_bytes() for file in (folder / paths.BACKUPS).iterdir()}
    assert before
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 200_000}))
    with pytest.raises(DiskFull, match="nothing was changed"):
        service.encrypt(folder, passphrase=WORDS)
    monkeypatch.undo()
    assert {file.name: file.read_bytes() for file in (folder / paths.BACKUPS).iterdir()} == before
    assert not (folder / paths.KEY_FILE).exists()
    service.encrypt(folder, passphrase=WORDS)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 200_000}))
    for attempt in (
        lambda: service.rekey(folder, passphrase=WORDS, new_passphrase="other"),
        lambda: service.decrypt(folder, passphrase=WORDS),
    ):
        with pytest.raises(DiskFull, match="nothing was changed"):
            attempt()
    monkeypatch.undo()
    with tetrarium.open_space(folder, passphrase=WORDS) as space:
        assert len(space.backups()) == len(before) // 2


def test_no_connection_puts_anything_aside_in_a_folder_of_the_systems(folder: Path) -> None:
    with closing(cipher.connect(folder / paths.STORE_FILE)) as connection:
        assert connection.pragma("temp_store") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the rights of files elsewhere")
def test_a_passphrase_file_that_others_can_read_is_refused_and_its_words_are_in_no_message(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{WORDS}\n")
    secret.chmod(0o640)
    assert main(["encrypt", "--passphrase-file", str(secret), "--data-dir", str(folder)]) != 0
    told = capsys.readouterr()
    assert "Other users of this computer can read" in told.err
    assert WORDS not in told.out + told.err
    assert not cipher.is_encrypted(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
def test_an_ide_opens_an_encrypted_space_by_the_file_that_its_entry_names(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{WORDS}\n")
    secret.chmod(0o600)
    at = ("--data-dir", str(folder), "--passphrase-file", str(secret))
    assert main(["encrypt", *at]) == 0
    capsys.readouterr()
    assert main(["connect", "print", *at]) == 0
    entry = capsys.readouterr().out
    assert str(secret) in entry
    assert WORDS not in entry
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }}  # fmt: skip
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "void_stats", "arguments": {}}}
    lines = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}, ask]
    for more, opens in ((("--passphrase-file", str(secret)), True), ((), False)):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TETRARIUM_PASS")}
        endpoint = subprocess.Popen(
            [sys.executable, "-m", "tetrarium.mcp", "--standalone", "--data-dir", str(folder), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
        with endpoint:
            assert endpoint.stdin is not None
            assert endpoint.stdout is not None
            for line in lines:
                endpoint.stdin.write(json.dumps(line) + "\n")
            endpoint.stdin.flush()
            answers = [json.loads(endpoint.stdout.readline()) for _ in range(2)]
            endpoint.stdin.close()
        told = json.dumps(answers[1])
        assert ("memories (" in told) == opens
        assert ("--passphrase-file FILE" in told) != opens


def test_a_deletion_is_proved_by_what_the_encrypted_files_hold_and_not_by_their_cipher(folder: Path) -> None:
    service.encrypt(folder, passphrase=WORDS)
    with tetrarium.open_space(folder, passphrase=WORDS, picture_size=3) as space:
        gone = str(space.store("The quibblewombat of the seat map is to be erased for good.", force=True).id)
        space.backup()
        before = space.prove_deleted("The quibblewombat of the seat map is to be erased for good.")
        assert {residue.inside for residue in before.residues} >= {"decrypted"}
        assert {residue.file.split("/")[0] for residue in before.residues} >= {"space.tetrarium", "backups"}
        proof = space.erase_with_proof([gone])
        assert proof.is_gone, proof
