"""The knowledge graph through the public door: stated, corrected, contradicting, mentioned, and near in space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tetrarium
from tetrarium.cli import main
from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.model import Origin
from tetrarium.service import MemoryService

CACHE = "The gateway cache keeps answers for five minutes, because the ledger is slow at noon."
OUTAGE = "The outage of March began when `ledger.py` locked the table for a whole backup."
BACKUP = "Backups of the ledger now run at four in the night and never lock a table."


@pytest.fixture
def space(tmp_path: Path) -> Iterator[MemoryService]:
    with tetrarium.open_space(tmp_path) as opened:
        yield opened


def put(space: MemoryService, text: str, **more: object) -> str:
    return str(space.store(text, **more).id)  # type: ignore[arg-type]  # passed on as they came


def kinds(space: MemoryService, start: str, **more: object) -> set[tuple[str, str, str, Origin]]:
    found = space.relations(start, **more)  # type: ignore[arg-type]  # passed on as they came
    return {(edge.source, edge.kind, edge.target, edge.origin) for edge in found.edges}


def test_a_stated_relation_is_seen_from_both_ends_once_and_can_be_taken_back(space: MemoryService) -> None:
    cache, outage = put(space, CACHE), put(space, OUTAGE)
    space.relate(cache, outage, "caused by", note="we saw it in the trace", client="codex 1")
    space.relate(cache, outage, "caused_by", client="codex 1")
    stated = (cache, "caused_by", outage, Origin.STATED)
    assert stated in kinds(space, cache)
    assert stated in kinds(space, outage)
    (edge,) = (edge for edge in space.relations(cache).edges if edge.origin is Origin.STATED)
    assert edge.note == "we saw it in the trace"
    assert space.stats().relations == 1
    assert space.unrelate(cache, outage, client="codex 1") == 1
    assert stated not in kinds(space, cache)
    with pytest.raises(InvalidInput, match="no such relation"):
        space.unrelate(cache, outage)


def test_each_edge_says_where_it_comes_from(space: MemoryService) -> None:
    outage = put(space, OUTAGE, keywords=["ledger", "outage"])
    backup = put(space, BACKUP, keywords=["ledger", "outage"])
    third = put(space, "Ledger outages are told in the channel of the ledger team.", keywords=["ledger", "outage"])
    newer = put(space, "Backups of the ledger now run at five in the night.", supersedes=backup)
    space.relate(outage, third, "mentioned in")
    found = kinds(space, outage)
    assert (outage, "mentioned_in", third, Origin.STATED) in found
    assert (outage, "mentions", "ledger.py", Origin.ENTITY) in found
    assert {origin for _, _, _, origin in found} >= {Origin.SHARED_VERTICES}
    assert (newer, "supersedes", backup, Origin.CORRECTION) in kinds(space, newer)
    assert {edge[1] for edge in kinds(space, outage, kinds=["mentions"])} == {"mentions"}


def test_a_walk_goes_as_far_as_it_is_told_and_names_what_the_limit_left_out(space: MemoryService) -> None:
    ids = [put(space, f"Step {n} of the release: {word} is done by hand.") for n, word in enumerate(("a", "b", "c"))]
    space.relate(ids[1], ids[0], "follows")
    space.relate(ids[2], ids[1], "follows")
    far = {node.id: node.distance for node in space.relations(ids[0], depth=2, kinds=["follows"]).nodes}
    assert far == {ids[0]: 0, ids[1]: 1, ids[2]: 2}
    near = space.relations(ids[1], kinds=["follows"], limit=1)
    assert (len(near.nodes), near.cut) == (2, 1)


def test_an_entity_is_a_start_too_and_leads_to_what_mentions_it(space: MemoryService) -> None:
    outage, other = put(space, OUTAGE), put(space, CACHE)
    found = space.relations("Ledger.py")
    assert [node.id for node in found.nodes] == ["ledger.py", outage]
    assert other not in [node.id for node in found.nodes]


def test_what_was_corrected_is_named_without_its_words_and_what_is_in_the_trash_not_at_all(
    space: MemoryService,
) -> None:
    backup = put(space, BACKUP)
    newer = put(space, "Backups of the ledger run at five now.", supersedes=backup)
    gone = put(space, OUTAGE)
    space.relate(newer, gone)
    space.forget(gone)
    nodes = {node.id: node for node in space.relations(newer).nodes}
    assert nodes[backup].excerpt == ""
    assert gone not in nodes
    space.restore(gone)
    assert (newer, "related_to", gone, Origin.STATED) in kinds(space, newer)


def test_a_stranger_walks_no_further_than_its_project(space: MemoryService) -> None:
    mine, secret = put(space, CACHE, project="mine"), put(space, OUTAGE, project="secret")
    space.relate(mine, secret)
    assert [node.id for node in space.relations(mine, project="mine").nodes][1:] == []
    with pytest.raises(NotFound):
        space.relations(secret, project="mine")


def test_what_cannot_be_related_is_refused_and_nothing_changes(space: MemoryService) -> None:
    one, other = put(space, CACHE, client="window"), put(space, OUTAGE)
    with pytest.raises(InvalidInput, match="itself"):
        space.relate(one, one)
    with pytest.raises(InvalidInput, match="supersedes"):
        space.relate(one, other, "supersedes")
    with pytest.raises(InvalidInput, match="no kind"):
        space.relate(one, other, "; DROP TABLE relations")
    with pytest.raises(NotFound):
        space.relate(one, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    with pytest.raises(NotFound, match="no memory or entity"):
        space.relations("nobody knows this")
    for depth in (0, 4, True):
        with pytest.raises(InvalidInput):
            space.relations(one, depth=depth)
    space.relate(one, other, client="window")
    with pytest.raises(NotTrusted):
        space.unrelate(one, other, client="codex 1")
    assert space.stats().relations == 1


def test_agents_and_the_command_line_reach_the_same_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], space: MemoryService
) -> None:
    cache, outage = put(space, CACHE), put(space, OUTAGE)
    agent = Caller(client="codex 1")
    link, graph = BY_NAME["memory_link"], BY_NAME["knowledge_relations"]
    link.call({"id": cache, "other": outage, "type": "caused_by"}, agent)(space)
    answer = graph.call({"start": cache, "types": ["caused_by"]}, agent)(space)
    assert answer.structured["edges"] == [
        {"source": cache, "type": "caused_by", "target": outage, "origin": "stated"},
    ]
    assert f"{cache} caused_by {outage} (stated)" in answer.text
    folder = str(tmp_path)
    assert main(["relations", cache, "--type", "caused_by", "--data-dir", folder]) == 0
    assert f"{cache}  caused_by  {outage}  (stated)" in capsys.readouterr().out
    assert main(["link", cache, outage, "--remove", "--data-dir", folder]) == 0
    assert graph.call({"start": cache, "types": ["caused_by"]}, agent)(space).structured["edges"] == []
