"""Prompts and completions, with the SDK's own client in both eras."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from wired import CLIENT, ERAS, converse, store

from tetrarium.indexing.tokens import budget_tokens
from tetrarium.mcp.host import Host
from tetrarium.service import MemoryService, open_space

PREFERENCE = "Ada prefers short commit messages in the imperative, because the log is read in a terminal."
DECISION = "We decided to keep SQLite instead of Postgres, because a laptop has no server to look after."
SESSION = "Today the importer learnt GB18030; open is the export, and next comes the nightly backup."
OLD = "The billing service listens on port 8080 behind the proxy."
NEW = "The billing service moved to port 9090, because 8080 collided with the proxy's health check."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "space"


def told(result: types.GetPromptResult) -> tuple[str, dict[str, str]]:
    """The words of a prompt, and the texts of the resources it embeds by URI."""
    first, *others = result.messages
    assert isinstance(first.content, types.TextContent)
    embedded = {}
    for message in others:
        assert isinstance(message.content, types.EmbeddedResource)
        assert isinstance(message.content.resource, types.TextResourceContents)
        embedded[str(message.content.resource.uri)] = message.content.resource.text
    return first.content.text, embedded


@pytest.mark.parametrize("era", ERAS)
def test_a_session_starts_with_who_it_works_with_and_where_the_work_stands(folder: Path, era: str) -> None:
    async def journey(client: Client, host: Host) -> None:
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["session_start", "session_end", "review"]
        assert all(prompt.title and prompt.description for prompt in prompts)
        words, embedded = told(await client.get_prompt("session_start"))
        assert "holds nothing yet" in words
        assert not embedded

        preference = await store(client, PREFERENCE, category="preference")
        decision = await store(client, DECISION, category="decision")
        session = await store(client, SESSION, category="session")
        old = await store(client, OLD, category="fact")
        new = await store(client, NEW, category="fact", supersedes=[old])
        words, embedded = told(await client.get_prompt("session_start"))
        assert list(embedded) == [f"memory://item/{i}" for i in (preference, session, decision, new)]
        assert "where the work stands (1)" in words
        text = embedded[f"memory://item/{preference}"]
        assert PREFERENCE in text
        assert f"from {CLIENT}" in text
        assert "not an instruction" in text

        words, embedded = told(await client.get_prompt("session_start", {"task": "change the port of billing"}))
        assert "change the port of billing" in words
        assert NEW in next(iter(embedded.values()))
        assert not any(OLD in text for text in embedded.values())

    converse(folder, era, journey)


def test_a_prompt_never_embeds_more_than_its_budget(folder: Path) -> None:
    with open_space(folder) as service:
        for number in range(32):
            service.store(
                f"Preference {number}: the team wants module {number * 7} reviewed by two people"
                + ", since it broke twice" * (number % 5 + 1)
                + ".",
                category=("preference", "decision", "session", "bug")[number % 4],
                force=True,
            )

    async def journey(client: Client, host: Host) -> None:
        for budget in (1, 300, 2_000):
            for name in ("session_start", "session_end", "review"):
                given = {"budget": str(budget)} | ({"task": "review of modules"} if name == "session_start" else {})
                _, embedded = told(await client.get_prompt(name, given))
                contents = [text.rsplit("~~~", 2)[1].split("\n", 1)[1] for text in embedded.values()]
                assert sum(budget_tokens(content) for content in contents) <= budget
        _, embedded = told(await client.get_prompt("session_start", {"budget": "2000"}))
        assert len(embedded) > 8

    converse(folder, "legacy", journey)


def test_a_session_ends_with_what_it_stored_and_recalled(folder: Path) -> None:
    with open_space(folder) as service:
        service.store("Another client stored that the cache lives in memory only.", client="other 1.0")

    async def journey(client: Client, host: Host) -> None:
        words, embedded = told(await client.get_prompt("session_end"))
        assert "Nothing was stored by you" in words
        mine = await store(client, DECISION, category="decision")
        await client.call_tool("void_recall", {"query": "why SQLite"})
        words, embedded = told(await client.get_prompt("session_end"))
        assert list(embedded) == [f"memory://item/{mine}"]
        assert "memory_feedback" in words
        assert mine in words

    converse(folder, "legacy", journey)


def test_a_review_names_contradictions_the_misled_the_stale_and_the_inhibited(folder: Path) -> None:
    now = datetime.now(UTC)
    ids: dict[str, str] = {}

    def keep(service: MemoryService, name: str, content: str, **more: object) -> None:
        stored = service.store(content, **more)  # type: ignore[arg-type]  # one helper for all arguments
        assert stored.id
        ids[name] = stored.id

    with open_space(folder) as service:
        keep(service, "misled", "Restarting the queue worker cures slow uploads.", labels=["queue"])
        service.recall("slow uploads")
        service.feedback(ids["misled"], False)
        keep(service, "one", "Retries are enabled for the payment worker today.")
        keep(service, "other", "Retries are disabled for the payment worker today.")
        keep(service, "stale", "The beta gateway keeps sessions for an hour.", created_at=now - timedelta(days=400))
        keep(service, "pinned", "Never deploy the gateway on Fridays.", created_at=now - timedelta(days=400))
        service.update(ids["pinned"], pinned=True)
        keep(service, "expiring", "The trial key of the map service works.", expires_at=now + timedelta(days=3))
        keep(service, "old", OLD)
        keep(service, "new", NEW, supersedes=[ids["old"]], reason="the port collided")
        assert len(service.contradictions()) == 1

    async def journey(client: Client, host: Host) -> None:
        words, embedded = told(await client.get_prompt("review"))
        assert f"{ids['other']} and {ids['one']}" in words or f"{ids['one']} and {ids['other']}" in words
        assert f"Misled: {ids['misled']}." in words
        assert f"Expires soon: {ids['expiring']}." in words
        assert f"Not used for long: {ids['stale']}." in words
        assert f"- {ids['old']} by {ids['new']}" in words
        assert "the port collided" in words
        wanted = {ids[name] for name in ("one", "other", "misled", "expiring", "stale")}
        assert {uri.rsplit("/", 1)[1] for uri in embedded} == wanted
        assert OLD not in words
        assert not any(OLD in text for text in embedded.values())

        _, embedded = told(await client.get_prompt("review", {"label": "queue"}))
        assert {uri.rsplit("/", 1)[1] for uri in embedded} == {ids["misled"]}
        words, embedded = told(await client.get_prompt("review", {"project": "elsewhere", "label": "nowhere"}))
        assert "nothing to review" in words

    converse(folder, "2026-07-28", journey)


@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_that_cannot_be_written_says_why(folder: Path, era: str) -> None:
    async def journey(client: Client, host: Host) -> None:
        for name, given, why in (
            ("session_begin", {}, "Did you mean session_"),
            ("review", {"category": "idea"}, "one of decision"),
            ("session_start", {"budget": "lots"}, "'budget'"),
            ("session_start", {"tsk": "x"}, "Did you mean task"),
        ):
            with pytest.raises(MCPError, match=why) as refused:
                await client.get_prompt(name, given)
            assert refused.value.error.code == types.INVALID_PARAMS

    converse(folder, era, journey)


@pytest.mark.parametrize("era", ERAS)
def test_labels_categories_projects_and_ids_are_completed(folder: Path, era: str) -> None:
    async def journey(client: Client, host: Host) -> None:
        first = await store(client, PREFERENCE, labels=["style", "git"], category="preference")
        second = await store(client, DECISION, labels=["storage", "style"], project="harbor")
        old = await store(client, OLD)
        await store(client, NEW, supersedes=[old])
        await client.call_tool("void_recall", {"query": "commit messages"})

        async def offered(
            ref: types.PromptReference | types.ResourceTemplateReference, name: str, value: str
        ) -> list[str]:
            return list((await client.complete(ref, {"name": name, "value": value})).completion.values)

        review = types.PromptReference(name="review")
        assert await offered(review, "label", "") == ["git", "style"]
        assert await offered(review, "label", "ST") == ["style"]
        assert await offered(review, "category", "dec") == ["decision"]
        assert await offered(review, "project", "har") == ["harbor"]
        assert await offered(review, "budget", "1") == []
        inside = await client.complete(review, {"name": "label", "value": ""}, context_arguments={"project": "harbor"})
        assert set(inside.completion.values) == {"git", "storage", "style"}
        assert inside.completion.values[0] == "style"

        item = types.ResourceTemplateReference(uri="memory://item/{id}")
        assert await offered(item, "id", first[:26].lower()) == [first]
        assert await offered(item, "id", "commit mess") == [first]
        assert old not in await offered(item, "id", "")
        assert second not in await offered(item, "id", "")
        recall = types.ResourceTemplateReference(uri="memory://recall/{id}")
        assert len(await offered(recall, "id", "commit")) == 1
        cluster = types.ResourceTemplateReference(uri="memory://cluster/{id}")
        assert await offered(cluster, "id", "no such topic") == []
        with pytest.raises(MCPError):
            await offered(types.PromptReference(name="nothing"), "label", "")
        with pytest.raises(MCPError):
            await offered(types.ResourceTemplateReference(uri="file://{path}"), "path", "")

    converse(folder, era, journey)


def test_no_answer_of_a_completion_has_more_than_a_hundred_values(folder: Path) -> None:
    with open_space(folder) as service:
        for part in range(8):
            service.store(
                f"Labels of part {part} mark the modules of the importer.",
                labels=[f"label-{part}-{number}" for number in range(20)],
                force=True,
            )

    async def journey(client: Client, host: Host) -> None:
        offered = await client.complete(types.PromptReference(name="review"), {"name": "label", "value": "label"})
        assert len(offered.completion.values) == 100
        assert offered.completion.total == 160
        assert offered.completion.has_more

    converse(folder, "legacy", journey)
