"""A person's own model orders the best memories; whatever it does, a recall is answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tetrarium
from tetrarium.model import Reason
from tetrarium.recall.endpoint import is_loopback, ranking_in
from tetrarium.service import MemoryService

FACTS = [
    "The nightly backup of the ledger runs at two in the morning.",
    "The nightly backup of the photos runs at three in the morning.",
    "The nightly backup of the mails runs at four, with token ghp_0123456789abcdefghijABCDEFGHIJ456789.",
    "The nightly backup of the wiki runs at five in the morning.",
]
QUESTION = "when does the nightly backup run?"


class Model(ThreadingHTTPServer):
    """Speaks the chat protocol on a free loopback port; says what `answer` makes of the request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.status = 200
        self.content: str | None = '{"ranking": [4, 3, 2, 1]}'
        self.hold = threading.Event()
        self.hold.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append({"path": self.path, "key": self.headers["Authorization"], **json.loads(body)})
        self.server.hold.wait(20)
        message = {"choices": [{"message": {"role": "assistant", "content": self.server.content}}]}
        answer = json.dumps(message).encode() if self.server.content is not None else b"<html>nothing</html>"
        try:
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            return  # the asker has left

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.hold.set()
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def space(tmp_path: Path, model: Model) -> Iterator[MemoryService]:
    # The token is there as if it had been stored before secrets were masked: what leaves is masked all the same.
    with tetrarium.open_space(tmp_path / "space", rerank_url=model.url, rerank_model="judge") as opened:
        for fact in FACTS:
            opened.store(fact, force=True)
        yield opened


def order(space: MemoryService) -> list[str]:
    return [block.id for block in space.recall(QUESTION, void_target=0).blocks]


def plain(space: MemoryService) -> list[str]:
    with tetrarium.open_space(space.path) as other:
        return order(other)


def test_the_endpoint_orders_the_best_and_the_answer_and_its_explanation_say_so(
    space: MemoryService, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TETRARIUM_RERANK_KEY", "k-1")
    before = plain(space)
    trace = space.recall(QUESTION, void_target=0)
    assert [block.id for block in trace.blocks] == before[::-1]
    assert trace.reranked_by == "judge"
    asked = model.asked[-1]
    assert (asked["path"], asked["model"], asked["key"]) == ("/v1/chat/completions", "judge", "Bearer k-1")
    assert QUESTION in asked["messages"][1]["content"]
    assert "ghp_" not in asked["messages"][1]["content"]
    assert space.explain(before[0]).reason is Reason.KEPT
    assert space.explain(before[0]).rank == len(before)
    tight = space.recall(QUESTION, budget=trace.token_usage - 1, void_target=0)
    left = space.explain(before[0], tight.id)
    assert left.reason is Reason.OVER_BUDGET
    assert [change.value for change in left.changes] == [trace.token_usage]


@pytest.mark.parametrize(
    ("status", "content"),
    [(500, "{}"), (200, None), (200, "I like them all."), (200, '{"ranking": []}'), (200, '{"ranking": [77]}')],
    ids=["error", "no JSON", "prose", "empty", "out of range"],
)
def test_nonsense_leaves_the_order_as_it_was_and_is_said(
    space: MemoryService, model: Model, status: int, content: str | None
) -> None:
    model.status, model.content = status, content
    trace = space.recall(QUESTION, void_target=0)
    assert [block.id for block in trace.blocks] == plain(space)
    assert trace.reranked_by == ""
    assert "reranker" in trace.note


def test_a_slow_endpoint_is_waited_for_no_longer_than_its_time_and_a_dead_one_not_at_all(
    space: MemoryService, model: Model
) -> None:
    model.hold.clear()
    with tetrarium.open_space(space.path, rerank_url=model.url, rerank_time_limit=0.2) as hurried:
        trace = hurried.recall(QUESTION)
        assert trace.blocks
        assert "0.2 s" in trace.note
    model.hold.set()
    with tetrarium.open_space(space.path, rerank_url="http://127.0.0.1:9/v1") as alone:
        assert order(alone) == plain(space)


def test_no_memory_leaves_the_machine_unless_a_person_allows_it(space: MemoryService, model: Model) -> None:
    asked = len(model.asked)
    with tetrarium.open_space(space.path, rerank_url="http://models.example/v1") as careful:
        assert "rerank_anywhere" in careful.recall(QUESTION).note
    assert len(model.asked) == asked
    assert [
        is_loopback(f"http://{host}/v1") for host in ("localhost:1", "127.0.0.1", "[::1]:8", "127.0.0.1.evil.org")
    ] == [
        True,
        True,
        True,
        False,
    ]


def test_a_ranking_is_read_from_whatever_a_model_wraps_it_in() -> None:
    assert ranking_in('```json\n{"ranking": [3, 1, 1]}\n```', 3) == (2, 0, 1)
    assert ranking_in("no", 3) == ranking_in("[9]", 3) == ()
