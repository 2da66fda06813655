"""What a relay tells a new host: everything that is unanswered, and what made the session what it is."""

from __future__ import annotations

import json
from typing import Any

from tetrarium.mcp.ledger import Ledger

NAME = "relay-00ff"


def request(number: Any, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def take(ledger: Ledger, message: dict[str, Any], *, sent: bool = True) -> bytes:
    return ledger.take(json.dumps(message).encode(), message, sent=sent)


def answer(number: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode()


def told(ledger: Ledger) -> list[tuple[int, dict[str, Any]]]:
    lines = (line.split(b" ", 1) for line in ledger.for_a_new_host())
    return [(int(number), json.loads(line)) for number, line in lines]


def test_unanswered_requests_are_told_again_in_order_under_their_numbers() -> None:
    ledger = Ledger(NAME)
    assert take(ledger, request(7)).startswith(b"1 {")
    take(ledger, request("7"))
    take(ledger, request(8))
    assert ledger.pass_on(answer(7))
    assert [(number, message["id"]) for number, message in told(ledger)] == [(2, "7"), (3, 8)]
    assert not ledger.is_settled


def test_the_handshake_is_repeated_under_an_id_of_the_relays_own_whose_answer_stays_with_it() -> None:
    ledger = Ledger(NAME)
    take(ledger, request(0, "initialize", protocolVersion="2025-11-25"))
    assert not ledger.has_session
    ledger.pass_on(answer(0))
    take(ledger, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert ledger.has_session
    assert ledger.is_settled
    (number, first), (_, second) = told(ledger)
    assert (number, first["id"], first["params"]) == (1, f"{NAME}-1", {"protocolVersion": "2025-11-25"})
    assert second["method"] == "notifications/initialized"
    assert not ledger.pass_on(answer(f"{NAME}-1"))
    assert ledger.pass_on(answer("another"))


def test_an_unanswered_handshake_is_told_as_it_was() -> None:
    ledger = Ledger(NAME)
    take(ledger, request(0, "initialize"), sent=False)
    take(ledger, request(1), sent=False)
    assert [message["id"] for _, message in told(ledger)] == [0, 1]


def test_the_last_word_on_a_subscription_is_what_a_new_host_hears() -> None:
    ledger = Ledger(NAME)
    for number, (method, uri) in enumerate(
        [("subscribe", "a"), ("subscribe", "b"), ("unsubscribe", "a"), ("subscribe", "b")] * 50
    ):
        take(ledger, request(number, f"resources/{method}", uri=uri))
        ledger.pass_on(answer(number))
    assert [(m["method"], m["params"]["uri"]) for _, m in told(ledger)] == [
        ("resources/unsubscribe", "a"),
        ("resources/subscribe", "b"),
    ]


def test_what_was_cancelled_is_not_told_again() -> None:
    ledger = Ledger(NAME)
    take(ledger, request(1))
    take(ledger, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    take(ledger, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}})
    take(ledger, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5})
    assert told(ledger) == []
    assert ledger.size == 0


def test_an_id_used_twice_at_once_waits_for_two_answers() -> None:
    ledger = Ledger(NAME)
    take(ledger, request(1, name="first"))
    take(ledger, request(1, name="second"))
    ledger.pass_on(answer(1))
    assert [message["params"]["name"] for _, message in told(ledger)] == ["second"]
    ledger.pass_on(answer(1))
    ledger.pass_on(answer(1))
    assert ledger.is_settled


def test_lines_without_an_answer_are_sent_once_when_there_is_a_host() -> None:
    ledger = Ledger(NAME)
    take(ledger, {"jsonrpc": "2.0", "method": "notifications/progress"}, sent=False)
    take(ledger, {"jsonrpc": "2.0", "id": 4, "result": {}}, sent=False)
    ledger.take(b"[]", [], sent=False)
    assert [message for _, message in told(ledger)][2] == []
    assert told(ledger) == []
    assert ledger.size == 0


def test_questions_and_notices_of_the_host_pass_and_settle_nothing() -> None:
    ledger = Ledger(NAME)
    take(ledger, request(1))
    assert ledger.pass_on(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert ledger.pass_on(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    assert not ledger.is_settled
