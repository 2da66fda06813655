"""A call that is sent twice under one key, at whatever point the first run broke off, writes once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tetrarium
from tetrarium.errors import InvalidInput
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.service import MemoryService

OLD = "The billing service listens on port 8080 behind the proxy."
NEW = "The billing service moved to port 9090, because 8080 collided with the health check."
CALLER = Caller("pytest 1", "lantern")

CALLS: dict[str, tuple[str, Callable[[str, str], dict[str, Any]]]] = {
    "store": ("memory_create", lambda old, other: {"content": NEW, "supersedes": old, "force": True}),
    "store shortly": ("void_store", lambda old, other: {"content": NEW}),
    "store what is there": ("memory_create", lambda old, other: {"content": OLD, "labels": "again"}),
    "decide": ("decision_record", lambda old, other: {"title": "Port", "decision": NEW, "rationale": "It collided."}),
    "learn": (
        "pattern_learn",
        lambda old, other: {"when": "A port is taken", "steps": ["Look for a free one", "Move there"]},
    ),
    "edit and inhibit": ("memory_update", lambda old, other: {"id": old, "content": NEW, "action": "inhibit"}),
    "pin": ("memory_update", lambda old, other: {"id": old, "pinned": True}),
    "undo": ("memory_update", lambda old, other: {"id": old, "action": "undo"}),
    "forget": ("memory_forget", lambda old, other: {"ids": [old]}),
    "link": ("memory_link", lambda old, other: {"id": old, "other": other, "type": "related_to"}),
    "judge": ("memory_feedback", lambda old, other: {"id": old, "verdict": "helped"}),
}


def run(service: MemoryService, tool: str, arguments: dict[str, Any], key: str) -> dict[str, Any]:
    verb = BY_NAME[tool].call(arguments, CALLER)
    return dict(service.once(key, lambda: verb(service)).structured)


def everything(service: MemoryService) -> list[tuple[Any, ...]]:
    memories = (service.get(memory) for memory in service.snapshot().ids)
    return [
        (m.id, m.content, m.revision, str(m.standing), m.pinned, m.helped, len(service.versions(m.id)))
        for m in memories
    ]


def with_an_edited_memory(path: Path) -> tuple[MemoryService, str, str]:
    service = tetrarium.open_space(path)
    old = service.store(OLD, project="lantern", client=CALLER.client).id
    other = service.store("The heron nests in the reeds by the quay.", project="lantern", client=CALLER.client).id
    assert old
    assert other
    service.update(old, labels="port", client=CALLER.client)
    return service, old, other


@pytest.mark.parametrize("name", CALLS)
def test_the_second_run_of_a_call_writes_nothing_and_answers_the_same(tmp_path: Path, name: str) -> None:
    tool, arguments = CALLS[name]
    service, old, other = with_an_edited_memory(tmp_path / "space")
    first = run(service, tool, arguments(old, other), "relay-1 5")
    before = everything(service)
    service.close()
    with tetrarium.open_space(tmp_path / "space") as later:
        assert run(later, tool, arguments(old, other), "relay-1 5") == first
        assert everything(later) == before


def test_a_call_of_two_transactions_goes_on_where_it_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service, old, *_ = with_an_edited_memory(tmp_path / "space")
    arguments = {"id": old, "content": NEW, "action": "inhibit"}
    with monkeypatch.context() as broken:
        broken.setattr(type(service), "inhibit", _die)
        with pytest.raises(KeyboardInterrupt):
            run(service, "memory_update", arguments, "relay-1 5")
    assert service.get(old).revision == 3
    answer = run(service, "memory_update", arguments, "relay-1 5")
    assert (answer["revision"], answer["state"]) == (3, "inhibited")
    service.close()


def test_a_forgetting_by_filter_is_not_repeated(tmp_path: Path) -> None:
    service, *_ = with_an_edited_memory(tmp_path / "space")
    confirm = run(service, "memory_forget", {"labels": "port"}, "relay-1 5")["confirm"]
    first = run(service, "memory_forget", {"labels": "port", "confirm": confirm}, "relay-1 6")
    assert first["done"]
    assert run(service, "memory_forget", {"labels": "port", "confirm": confirm}, "relay-1 6") == first
    restored = run(service, "memory_forget", {"ids": first["ids"], "restore": True}, "relay-1 7")
    assert run(service, "memory_forget", {"ids": first["ids"], "restore": True}, "relay-1 7") == restored
    assert service.stats().live == 2
    service.close()


def test_the_same_call_under_another_key_is_another_call(tmp_path: Path) -> None:
    service, *_ = with_an_edited_memory(tmp_path / "space")
    arguments = {"content": NEW, "force": True}
    one, other = (run(service, "memory_create", arguments, f"relay-{n} 5")["id"] for n in range(2))
    assert one != other
    service.close()


def test_what_wrote_nothing_is_found_out_again(tmp_path: Path) -> None:
    service, old, *_ = with_an_edited_memory(tmp_path / "space")
    for _ in range(2):
        with pytest.raises(InvalidInput, match="is not inhibited"):
            run(service, "memory_update", {"id": old, "action": "release"}, "relay-1 5")
    assert run(service, "memory_create", {"content": OLD}, "relay-1 6")["outcome"] == "merged"
    service.close()


def test_a_memory_forgotten_for_good_is_quoted_by_no_kept_answer(tmp_path: Path) -> None:
    service, old, *_ = with_an_edited_memory(tmp_path / "space")
    run(service, "memory_forget", {"labels": "port"}, "relay-1 4")
    run(
        service,
        "memory_update",
        {"id": old, "content": "The heron nests in the reeds by the harbour wall."},
        "relay-1 5",
    )
    run(service, "memory_create", {"content": "The heron nests in the reeds by the quay wall."}, "relay-1 6")
    service.forget(old, permanently=True)
    service.close()
    assert b"harbour" not in (tmp_path / "space" / "space.tetrarium").read_bytes()


def _die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
