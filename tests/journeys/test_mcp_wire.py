"""The endpoint over bare pipes: what leaves on standard output, what an unreadable line gets, how it leaves."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import HELLO, LINGER, PATIENCE, Pipe
from nonsense import cases, mutations
from tetrarium.mcp.tools import TOOLS

TEXT = "The importer reads GB18030 files because the bank still sends them in that encoding."


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return tmp_path / "space"


@pytest.fixture
def pipe(space: Path) -> Iterator[Pipe]:
    pipe = Pipe(space)
    yield pipe
    pipe.end()


@pytest.mark.parametrize("standalone", [False, True], ids=["relay", "standalone"])
def test_only_the_protocol_leaves_on_standard_output_also_with_debug_logging_and_at_the_end(
    space: Path, standalone: bool
) -> None:
    noisy = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "TETRARIUM_DATA_DIR": "/nowhere"}
    pipe = Pipe(space, "--log-level", "debug", standalone=standalone, environment=noisy).hello()
    pipe.ask("tools/list", {})
    pipe.call("memory_create", content=TEXT)
    for query in ("pre-edit", "GB/s", "don't", '"open', "a:b", "NOT", "*", "x" * 10_000, "\u202e", "NEAR(a b)"):
        assert not pipe.call("memory_search", query=query).get("isError"), query
        assert not pipe.call("void_recall", query=query).get("isError"), query
    pipe.send(b"no json at all")
    code, seconds = pipe.leave()
    assert (code, seconds < 5) == (0, True)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in pipe.lines)
    assert pipe.errors or (space / "host.log").stat().st_size  # the log went where it belongs


def test_text_keeps_every_character_under_a_c_locale_and_a_windows_code_page(space: Path) -> None:
    pipe = Pipe(space, environment={"LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}).hello()
    content = "银行仍然发送 GB18030 文件，所以导入器要先转换编码 🏦👩‍💻 – naïve ﬁ\tß\n第二行"
    stored = pipe.call("memory_create", content=content, keywords="编码，银行")["structuredContent"]
    assert stored["keywords"] == ["编码", "银行"]
    block = pipe.call("void_recall", query="导入器为什么要转换编码？")["structuredContent"]["blocks"][0]
    assert block["content"] == content
    assert pipe.leave()[0] == 0


def test_half_a_character_is_refused_by_name_and_nothing_is_stored(pipe: Pipe) -> None:
    pipe.hello()
    pipe.send(
        rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_create","arguments":{"content":"half \ud800 a character in a long text"}}}'
    )
    result = pipe.answer(1)["result"]
    assert result["isError"]
    assert "'content' holds \\ud800" in result["content"][0]["text"]
    assert pipe.call("void_stats")["structuredContent"]["memories"] == 0


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}', 7, -32602),
        (b'{"jsonrpc":"2.0","id":"a","method":5}', "a", -32600),
        (b'{"id":7,"method":"ping"}', 7, -32600),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/li', 7, -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', 7, -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\xff"}}', 7, -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\\ud800"}}', 7, -32602),
        (
            b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
            7,
            -32700,
        ),
        (b'{"jsonrpc":"2.0","id":7,"method":"nonsense"}', 7, -32601),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"void_stat"}}', 7, -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}', 7, -32602),
        (b'{"method":"tools/call","params":{"arguments":{"importance":NaN}},"id":909,"jsonrpc":"2.0"}', 909, -32700),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{}}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b"[]", None, -32600),
        (b"null", None, -32600),
        (b"\x00\x01\x02", None, -32700),
        (b'{"jsonrpc":"2.0","id":true,"method":7}', None, -32600),
    ],
)
def test_a_request_that_cannot_be_read_is_answered_all_the_same(
    talking: Pipe, alone: Pipe, line: bytes, request_id: Any, code: int
) -> None:
    for pipe in (talking, alone):
        pipe.send(line)
        assert pipe.answer(request_id)["error"]["code"] == code
        assert pipe.ask("ping", {})["result"] == {}


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path_factory.mktemp("talking") / "space").hello()
    yield pipe
    pipe.end()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path_factory.mktemp("alone") / "space", standalone=True).hello()
    yield pipe
    pipe.end()


def test_deep_but_readable_arguments_are_refused_by_name(talking: Pipe) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    assert "'query' cannot be" in talking.call("void_recall", query=deep)["content"][0]["text"]


def test_nonsense_is_answered_wherever_its_id_is_legible_and_never_stops_the_endpoint(
    talking: Pipe, alone: Pipe
) -> None:
    lines = [*cases(), *mutations(500, seed=11)]
    for pipe in (talking, alone):
        for line in lines:
            pipe.send(line.line)
        for request in {line.request for line in lines if line.certain}:
            assert "jsonrpc" in pipe.answer(request)
        assert pipe.ask("ping", {})["result"] == {}
        assert pipe.process.poll() is None


def test_a_megabyte_is_stored_whole_and_recalled_whole(pipe: Pipe) -> None:
    pipe.hello()
    content = "The ledger of every transfer. " + "".join(
        f"Row {number} moves {number * 7} crowns to Ålesund; " for number in range(25_000)
    )
    assert len(content) > 1_000_000
    stored = pipe.call("memory_create", content=content)["structuredContent"]
    listed = pipe.call("memory_search", query="ledger transfer")["structuredContent"]["hits"][0]
    assert (listed["id"], listed["content"]) == (stored["id"], "")
    assert listed["omitted_tokens"] > 200_000
    small = pipe.call("void_recall", query="ledger transfer", budget=1_000)["structuredContent"]
    assert (small["blocks"], small["best_left_out"]) == ([], stored["id"])


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_served(talking: Pipe) -> None:
    long = b'"method":"ping","params":{"x":"' + b"y" * 33_000_000 + b'"}'
    for line in (b'{"jsonrpc":"2.0","id":"long",%b}' % long, b'{%b,"jsonrpc":"2.0","id":"long"}' % long):
        talking.send(line)
        assert talking.answer("long")["error"]["code"] == -32600
    assert talking.ask("ping", {})["result"] == {}


@pytest.mark.parametrize("standalone", [False, True], ids=["relay", "standalone"])
def test_calls_under_way_are_answered_after_the_client_closed_its_side(space: Path, standalone: bool) -> None:
    first = Pipe(space, standalone=standalone).hello()  # so that the time to load the engine is not part of the drain
    first.call("memory_create", content=TEXT)
    for number in range(1, 6):
        first.send(
            json.dumps(
                {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "void_stats"}}
            ).encode()
        )
    code, seconds = first.leave()
    assert (code, seconds < 5) == (0, True)
    assert {json.loads(line)["id"] for line in first.lines} >= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("standalone", [False, True], ids=["relay", "standalone"])
@pytest.mark.parametrize("early", [True, False], ids=["at once", "after a call"])
def test_it_leaves_within_five_seconds_of_the_end_of_its_input(space: Path, early: bool, standalone: bool) -> None:
    pipe = Pipe(space, standalone=standalone)
    if not early:
        pipe.hello().call("memory_create", content=TEXT)
    code, seconds = pipe.leave()
    assert (code, seconds < 5) == (0, True)


@pytest.mark.parametrize("shape", [LINGER, ("--standalone",)], ids=["relay", "standalone"])
def test_it_leaves_when_nobody_reads_its_answers_any_more(space: Path, shape: tuple[str, ...]) -> None:
    unread, unread_in_the_endpoint = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "tetrarium.mcp", "--data-dir", str(space), *shape],
        stdin=subprocess.PIPE,
        stdout=unread_in_the_endpoint,
        stderr=subprocess.PIPE,
    )
    os.close(unread_in_the_endpoint)
    os.close(unread)
    assert process.stdin
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode() + b"\n"
    )
    process.stdin.flush()
    assert process.wait(timeout=PATIENCE) == 0
    assert process.stderr
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_sigterm_closes_the_store_and_what_was_acknowledged_stays(space: Path) -> None:
    pipe = Pipe(space, standalone=True).hello()
    stored = pipe.call("memory_create", content=TEXT)["structuredContent"]
    begun = time.monotonic()
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe._gone() == 0
    assert time.monotonic() - begun < 5
    assert not list(space.glob("*-wal"))
    again = Pipe(space).hello()
    hits = again.call("memory_search", query="importer encoding bank")["structuredContent"]["hits"]
    assert [hit["id"] for hit in hits] == [stored["id"]]
    assert again.leave()[0] == 0


@pytest.mark.parametrize("shape", [LINGER, ("--standalone",)], ids=["relay", "standalone"])
def test_it_leaves_when_the_program_that_started_it_dies_although_its_input_stays_open(
    space: Path, shape: tuple[str, ...]
) -> None:
    still_reading, writing = os.pipe()
    alive, alive_in_the_endpoint = os.pipe()
    script = (
        "import subprocess, sys\n"
        f"endpoint = [sys.executable, '-m', 'tetrarium.mcp', '--data-dir', {str(space)!r}, *{shape!r}]\n"
        f"subprocess.Popen(endpoint, stdin={still_reading}, stdout={alive_in_the_endpoint}, stderr=subprocess.DEVNULL)\n"
        "print('started', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=(still_reading, alive_in_the_endpoint),
    ) as parent:
        os.close(alive_in_the_endpoint)
        assert parent.stdout
        assert parent.stdout.readline() == b"started\n"
        os.write(
            writing, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode() + b"\n"
        )
        assert b"tetrarium" in os.read(alive, 65_536)
        parent.kill()
    ended, _, _ = select.select([alive], [], [], 15)
    assert ended
    assert os.read(alive, 65_536) == b""
    for descriptor in (still_reading, writing, alive):
        os.close(descriptor)


def test_the_tool_list_is_out_before_the_engine_is_loaded(space: Path) -> None:
    pipe = Pipe(space).hello()
    assert len(pipe.ask("tools/list", {})["result"]["tools"]) == len(TOOLS)
    code, _ = pipe.leave()
    assert code == 0


def test_a_folder_that_cannot_be_a_space_is_explained_in_every_call(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    pipe = Pipe(blocked).hello()
    assert len(pipe.ask("tools/list", {})["result"]["tools"]) == len(TOOLS)
    for tool, arguments in (("void_stats", {}), ("memory_create", {"content": TEXT})):
        result = pipe.call(tool, **arguments)
        assert result["isError"]
        assert str(blocked) in result["content"][0]["text"]
        assert "Traceback" not in result["content"][0]["text"]
    assert pipe.leave()[0] == 0


def test_the_project_comes_from_the_option_else_from_the_ides_folder(space: Path) -> None:
    def project_of_a_store(*options: str, environment: dict[str, str] | None = None, content: str) -> str:
        pipe = Pipe(space, *options, environment=environment).hello()
        stored = pipe.call("memory_create", content=content)["structuredContent"]
        hits = pipe.call("memory_search", query=content, project="*")["structuredContent"]["hits"]
        assert pipe.leave()[0] == 0
        return str(next(hit.get("project", "") for hit in hits if hit["id"] == stored["id"]))

    ide = {"CLAUDE_PROJECT_DIR": "/home/someone/my work/lantern/"}
    chinese = {"CLAUDE_PROJECT_DIR": "C:\\项目\\灯笼", "LC_ALL": "C", "PYTHONUTF8": "0"}
    assert project_of_a_store(content="The red lamp is replaced every autumn.", environment=chinese) == "灯笼"
    assert project_of_a_store(content="Lanterns are lit at dusk by the keeper.", environment=ide) == "lantern"
    assert project_of_a_store("--project", "harbor", content="Ships are counted at noon.", environment=ide) == "harbor"
    assert project_of_a_store(content="Bread is baked before sunrise by two people.") == ""


def test_version_and_mistakes_are_answered_before_the_protocol_begins() -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        return subprocess.run(
            [sys.executable, "-m", "tetrarium.mcp", *options],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment,
        )

    assert run("--version").stdout.startswith("tetrarium-mcp ")
    wrong = run("--data-dri", "x")
    assert (wrong.returncode, wrong.stdout) == (2, "")
