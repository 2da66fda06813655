"""Many clients, one host: relays start it, share it, lose it, and their clients notice nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from clients import HELLO, LINGER, PATIENCE, Pipe, host_of, kill_host, stop_host
from tetrarium.mcp import meeting
from tetrarium.mcp.allowance import Allowance
from tetrarium.mcp.host import Host
from tetrarium.mcp.session import Session
from tetrarium.service import open_space

TEXT = "The importer reads GB18030 files because the bank still sends them in that encoding."


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Path]:
    space = tmp_path / "a space of 记忆"
    yield space
    stop_host(space)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A space whose host stays warm from test to test, because one client stays."""
    space = tmp_path_factory.mktemp("shared") / "space"
    staying = Pipe(space).hello()
    staying.call("void_stats")
    yield space
    staying.end()
    stop_host(space)


def texts_in(space: Path) -> Counter[str]:
    with open_space(space) as service:
        return Counter(service.get(memory).content for memory in service.snapshot().ids)


def note(client: str, number: int) -> dict[str, Any]:
    """Arguments of a store that no deduplication can hide."""
    return {"content": f"{client} notes that shelf {number} holds {number * number + 7} bolts.", "force": True}


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | more


def imported(errors: bytes) -> set[str]:
    return {line.rsplit(b"|", 1)[1].strip().decode() for line in errors.splitlines() if line.startswith(b"import time")}


def test_a_relay_loads_the_standard_library_and_nothing_else(shared: Path) -> None:
    pipe = Pipe(shared, environment={"PYTHONPROFILEIMPORTTIME": "1"}).hello()
    assert pipe.call("void_stats")["structuredContent"]
    assert pipe.leave()[0] == 0
    bare = subprocess.run([sys.executable, "-X", "importtime", "-c", ""], capture_output=True, check=True)
    loaded = imported(b"".join(pipe.errors)) - imported(bare.stderr)
    assert "tetrarium.mcp.relay" in loaded
    ours = {name for name in loaded if name.split(".")[0] == "tetrarium"}
    jython = {"org"}  # what the standard library's `copy` looks for, in vain
    assert {name.split(".")[0] for name in loaded - ours} - jython <= sys.stdlib_module_names
    assert ours <= {
        "tetrarium", "tetrarium.config", "tetrarium.errors", "tetrarium.paths", "tetrarium.mcp",
        *(f"tetrarium.mcp.{name}" for name in ("arguments", "ledger", "lines", "meeting", "projects", "relay", "route")),
    }  # fmt: skip


def test_clients_that_start_together_share_one_host_and_lose_nothing(space: Path) -> None:
    pipes = [Pipe(space) for _ in range(3)]

    def store(pipe: Pipe, name: str) -> None:
        pipe.hello()
        for number in range(8):
            assert pipe.call("memory_create", **note(name, number))["structuredContent"]["outcome"] == "stored"

    threads = [threading.Thread(target=store, args=(pipe, f"client{n}")) for n, pipe in enumerate(pipes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    host = host_of(space)
    assert host not in (None, *(pipe.process.pid for pipe in pipes))
    assert [pipe.leave()[0] for pipe in pipes] == [0, 0, 0]
    stop_host(space)
    assert texts_in(space) == Counter(note(f"client{n}", number)["content"] for n in range(3) for number in range(8))


def test_a_killed_host_is_replaced_without_the_client_noticing(space: Path) -> None:
    pipe = Pipe(space).hello()
    first = pipe.call("memory_create", **note("before", 1))["structuredContent"]
    killed = kill_host(space)
    for number in range(20):  # some of them reach the next host twice: written by the first, answered by none
        arguments = note("under way", number)
        pipe.request(number, "tools/call", {"name": "memory_create", "arguments": arguments})
        if number == 10:
            assert pipe.call("memory_update", id=first["id"], content=TEXT)["structuredContent"]["revision"] == 2
            pipe.request(
                "edit", "tools/call", {"name": "memory_update", "arguments": {"id": first["id"], "pinned": True}}
            )
            pipe.request(
                "undo", "tools/call", {"name": "memory_update", "arguments": {"id": first["id"], "action": "undo"}}
            )
            assert kill_host(space) != killed
    outcomes = [pipe.answer(number)["result"]["structuredContent"]["outcome"] for number in range(20)]
    assert outcomes == ["stored"] * 20
    assert not pipe.answer("edit")["result"]["isError"]
    assert pipe.answer("undo")["result"]["structuredContent"]["revision"] == 3
    recalled = pipe.call("void_recall", query="how many bolts does the shelf hold")["structuredContent"]
    assert {block["source"] for block in recalled["blocks"]} == {"pipe 1"}  # the handshake was repeated
    assert pipe.leave()[0] == 0
    stop_host(space)
    expected = [note("before", 1)["content"], *(note("under way", number)["content"] for number in range(20))]
    assert texts_in(space) == Counter(expected)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_the_official_client_survives_its_host_in_both_eras(shared: Path, era: str) -> None:
    endpoint = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tetrarium.mcp", "--data-dir", str(shared), *LINGER],
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), Client(endpoint, mode=era) as client:
            assert len((await client.list_tools()).tools) > 5
            stored = await client.call_tool("memory_create", note(era, 1))
            host = kill_host(shared)
            again = await client.call_tool("memory_create", note(era, 2))
            assert not stored.is_error
            assert not again.is_error
            assert host_of(shared) not in (None, host)

    asyncio.run(run())


def test_what_a_client_watches_is_watched_by_the_next_host_too(shared: Path) -> None:
    watching, other = Pipe(shared).hello(), Pipe(shared).hello()
    assert watching.ask("resources/subscribe", {"uri": "memory://stats"})["result"] is not None
    kill_host(shared)
    assert not other.call("memory_create", **note("watched", 1))["isError"]
    assert watching.ask("ping", {})["result"] == {}  # it has reached the next host
    assert not other.call("memory_create", **note("watched", 2))["isError"]
    assert watching.answer(None)["params"] == {"uri": "memory://stats"}
    assert [pipe.leave()[0] for pipe in (watching, other)] == [0, 0]


def test_a_host_that_is_asked_to_end_hands_its_clients_on(space: Path) -> None:
    pipe = Pipe(space).hello()
    pipe.call("memory_create", **note("first", 1))
    before = host_of(space)
    assert before is not None
    for number in range(10):
        pipe.request(number, "tools/call", {"name": "memory_create", "arguments": note("second", number)})
    os.kill(before, signal.SIGTERM)
    assert {pipe.answer(number)["result"]["structuredContent"]["outcome"] for number in range(10)} == {"stored"}
    assert pipe.call("void_stats")["structuredContent"]["memories"] == 11
    assert host_of(space) not in (None, before)
    assert pipe.leave()[0] == 0


def test_an_older_host_makes_room_for_a_newer_one(space: Path) -> None:
    space.mkdir()
    told, telling = os.pipe()
    lock = meeting.Lock(space)
    assert lock.take()
    options = ["--host", "--status", str(telling), "--lock", str(lock.descriptor), "--data-dir", str(space), *LINGER]
    program = (
        f"import tetrarium; tetrarium.__version__ = '0.0.9'; from tetrarium.mcp.__main__ import main; main({options})"
    )
    (space / "host.log").touch()
    subprocess.run([sys.executable, "-c", program], pass_fds=(telling, lock.descriptor), env=environment(), check=True)
    os.close(telling)
    lock.close()
    assert os.read(told, 64) == meeting.READY
    os.close(told)
    older = host_of(space)
    pipe = Pipe(space).hello()
    assert pipe.call("memory_create", content=TEXT)["structuredContent"]["outcome"] == "stored"
    assert host_of(space) not in (None, older)
    assert pipe.leave()[0] == 0


def test_a_host_survives_the_process_group_and_the_process_tree_of_its_client(space: Path) -> None:
    pipe = Pipe(space).hello()
    pipe.call("memory_create", content=TEXT)
    host = host_of(space)
    assert host is not None
    told = Path(f"/proc/{host}/stat").read_text().rsplit(") ", 1)[1].split()
    parent, group, session = int(told[1]), int(told[2]), int(told[3])
    assert parent != pipe.process.pid
    assert group != os.getpgid(pipe.process.pid)
    assert session != os.getsid(pipe.process.pid)
    pipe.process.kill()
    pipe.process.wait(PATIENCE)
    other = Pipe(space).hello()
    assert host_of(space) == host
    hits = other.call("memory_search", query="importer encoding bank")["structuredContent"]["hits"]
    assert [hit["content"] for hit in hits] == [TEXT]
    assert other.leave()[0] == 0
    lock = meeting.Lock(space)
    assert lock.take(PATIENCE)  # after the time to linger nobody owns the space any more
    lock.close()
    assert not (space / "space.host").exists()
    assert not list(space.glob("*-wal"))
    pipe.end()


def test_what_a_crashed_host_left_behind_is_no_owner(space: Path) -> None:
    space.mkdir()
    listening, address = meeting.listen(
        meeting.shared_folder(space)
    )  # its process number is that of a living one: ours
    meeting.announce(space, address)
    listening.close()
    assert Path(address.socket).exists()
    pipe = Pipe(space).hello()
    assert pipe.call("memory_create", content=TEXT)["structuredContent"]["outcome"] == "stored"
    assert host_of(space) not in (None, os.getpid())
    assert pipe.leave()[0] == 0


@pytest.mark.parametrize("trap", ["a lock that is a link", "a socket that is a link"])
def test_where_no_host_can_be_shared_the_client_gets_one_of_its_own(space: Path, trap: str, tmp_path: Path) -> None:
    space.mkdir()
    if trap == "a lock that is a link":
        (space / "space.lock").symlink_to(tmp_path / "elsewhere")
    else:
        listening, address = meeting.listen(meeting.shared_folder(space))
        moved = Path(address.socket).rename(Path(address.socket).with_suffix(".moved"))
        Path(address.socket).symlink_to(moved)
        meeting.announce(space, address)
    pipe = Pipe(space).hello()
    assert pipe.call("memory_create", content=TEXT)["structuredContent"]["outcome"] == "stored"
    assert pipe.leave()[0] == 0
    assert not (tmp_path / "elsewhere").exists()
    if trap == "a lock that is a link":
        (space / "space.lock").unlink()
    else:
        listening.close()
        moved.unlink()
        meeting.withdraw(meeting.shared_folder(space), address)
    assert texts_in(space) == {TEXT: 1}


def test_every_spelling_of_a_folder_is_one_space(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shared)
    host = host_of(shared)
    for spelling in (f"{shared}/", f"{shared.parent}/./{shared.name}", str(tmp_path / "link")):
        pipe = Pipe(Path(shared), "--data-dir", spelling).hello()
        assert not pipe.call("void_stats")["isError"]
        assert pipe.leave()[0] == 0
        assert host_of(shared) == host


def test_a_client_that_stops_reading_stops_nobody_else(shared: Path) -> None:
    writer = Pipe(shared).hello()
    writer.call("memory_create", content="The ledger of transfers. " + "Row after row of crowns moves on. " * 6_000)
    deaf = subprocess.Popen(
        [sys.executable, "-m", "tetrarium.mcp", "--data-dir", str(shared), *LINGER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert deaf.stdin
    deaf.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode() + b"\n")
    ask = {"name": "void_recall", "arguments": {"query": "ledger of transfers", "budget": 100_000}}
    for number in range(2, 30):  # 200 kB each, which nobody reads
        line = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": ask}
        deaf.stdin.write(json.dumps(line).encode() + b"\n")
    deaf.stdin.flush()
    for number in range(10):
        assert not writer.call("memory_create", **note("writer", number))["isError"]
    assert deaf.poll() is None
    deaf.kill()
    deaf.communicate(timeout=PATIENCE)
    assert writer.leave()[0] == 0


def test_sixty_four_interleaved_calls_a_storm_of_cancels_and_ids_used_twice(shared: Path) -> None:
    pipe = Pipe(shared).hello()
    search = {"name": "memory_search", "arguments": {"query": "bolts on shelves"}}
    for number in range(64):
        pipe.request(number, "tools/call", search)
    assert all("structuredContent" in pipe.answer(number)["result"] for number in reversed(range(64)))
    for number in range(64, 264):
        pipe.request(number, "tools/call", search)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        pipe.send(json.dumps(cancel).encode())
    assert pipe.ask("ping", {})["result"] == {}
    for _ in range(3):
        pipe.request("same", "tools/call", {"name": "memory_create", "arguments": note("twice", len(pipe.lines))})
        assert pipe.answer("same")["result"]["structuredContent"]["outcome"] == "stored"
    assert pipe.leave()[0] == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in pipe.lines)


def test_a_client_that_writes_in_circles_is_told_to_wait_and_still_may_read(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []

    async def lines() -> AsyncIterator[bytes]:
        yield json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
        for number in range(1, 5):
            asked = {"name": "memory_create", "arguments": note("circles", number)}
            yield json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked}).encode()
        yield b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"void_stats"}}'
        while len(sent) < 6:
            await answered.wait()
            answered.clear()

    async def write(line: bytes) -> None:
        sent.append(json.loads(line))
        answered.set()

    async def run() -> None:
        host = Host(tmp_path / "space")
        async with asyncio.timeout(PATIENCE):
            await Session(host, allowance=Allowance(burst=2, rate=0.01)).serve(lines(), write)
        host.close()

    answered = asyncio.Event()
    asyncio.run(run())
    results = {message["id"]: message["result"] for message in sent}
    assert [results[number].get("isError", False) for number in range(1, 6)] == [False, False, True, True, False]
    assert "Try again in 100 s" in results[3]["content"][0]["text"]
    assert results[5]["structuredContent"]["memories"] == 2


def test_a_client_that_is_killed_in_the_middle_of_a_call_harms_nobody(shared: Path) -> None:
    other = Pipe(shared).hello()
    host = host_of(shared)
    for number in range(3):
        pipe = Pipe(shared).hello()
        pipe.request(1, "tools/call", {"name": "memory_create", "arguments": note("killed", number)})
        pipe.process.kill()
        pipe.end()
        assert not other.call("memory_search", query="bolts")["isError"]
    assert host_of(shared) == host
    assert other.leave()[0] == 0


def test_many_calls_leave_no_descriptor_open(shared: Path) -> None:
    pipe = Pipe(shared).hello()
    host = host_of(shared)

    def open_files(process: int | None) -> int:
        return len(os.listdir(f"/proc/{process}/fd"))

    pipe.call("memory_create", **note("descriptors", 0))
    before = open_files(host), open_files(pipe.process.pid)
    for number in range(60):
        pipe.call("memory_create", **note("descriptors", number))
        pipe.call("void_recall", query=f"how many bolts are on shelf {number}")
    assert (open_files(host), open_files(pipe.process.pid)) == before
    assert pipe.leave()[0] == 0
