"""Tetrarium beside other memory servers, over the same wire, with the same client, in the same minutes.

    python tests/bench/peers.py --server-memory "node …/server-memory/dist/index.js" --yantrikdb "…/bin/yantrikdb-mcp"
                                [--tetrarium "tetrarium-mcp --standalone --data-dir {data}"] [--n 300] [--searches 100] [--writers 100]

Install the peers somewhere outside this repository (npm: @modelcontextprotocol/server-memory, PyPI: yantrikdb-mcp). The
corpus is made up: one-sentence facts of an engineer, each with one word that no other has. Servers are asked in turns,
a few calls each, so that a busy machine hits all of them alike; CPU is that of the server's processes.

Printed: time to tools/list; store; search by the unique word, and by the other words of the sentence, each with the
share of answers that hold the planted fact and their mean length; resident memory, size on disk, characters of the
tool list; and what is left when two servers write into one folder at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import host_of, stop_host

TURN = 10
"""Calls that one server gets before the next one has its turn."""

CALL_PATIENCE = 120.0
"""Seconds after which a call counts as refused."""

_TICK = os.sysconf("SC_CLK_TCK")

ADJECTIVES = [
    "amber",
    "brisk",
    "copper",
    "dusty",
    "eager",
    "frozen",
    "gentle",
    "hollow",
    "ivory",
    "jagged",
    "keen",
    "lunar",
    "mellow",
    "narrow",
    "opaque",
    "plain",
]
NOUNS = [
    "anvil",
    "beacon",
    "cellar",
    "dynamo",
    "furnace",
    "gasket",
    "harbor",
    "ladder",
    "magnet",
    "nozzle",
    "piston",
    "quarry",
    "rotor",
    "socket",
    "turbine",
    "valve",
]
AREAS = [
    "billing",
    "checkout",
    "search",
    "upload",
    "export",
    "queue",
    "mailer",
    "router",
    "scheduler",
    "parser",
    "renderer",
    "indexer",
]
ACTS = ["times out after", "is retried with", "was replaced by", "depends on", "is disabled for", "fails without"]
OBJECTS = [
    "the staging database",
    "a signed token",
    "the nightly job",
    "the feature flag",
    "a warm replica",
    "the retry budget",
]


@dataclass(frozen=True, slots=True)
class Fact:
    key: str
    text: str

    @property
    def words(self) -> str:
        """The sentence without its unique word."""
        return " ".join(self.text.replace(self.key, "").replace(";", "").replace(".", "").split()[3:])


def corpus(count: int, seed: int) -> list[Fact]:
    """Facts that differ; each key stands in one only."""
    draw = random.Random(seed)
    facts = []
    for number in range(count):
        key = f"{draw.choice(ADJECTIVES)}{draw.choice(NOUNS)}{seed}x{number}"
        facts.append(
            Fact(
                key,
                f"In the {draw.choice(AREAS)} service, {key} {draw.choice(ACTS)} {draw.choice(OBJECTS)}; we settled on "
                f"{draw.choice(ADJECTIVES)} {draw.choice(NOUNS)} with a limit of {draw.randint(2, 900)}, because "
                f"{draw.choice(AREAS)} {draw.choice(ACTS)} {draw.choice(OBJECTS)}.",
            )
        )
    return facts


Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Peer:
    """A server: how it is started in a folder, and which of its tools store and search."""

    name: str
    command: str
    environment: Callable[[Path], dict[str, str]]
    store: Callable[[Fact], Call]
    search: Callable[[str], Call]

    def parameters(self, folder: Path) -> StdioServerParameters:
        program, *arguments = [part.replace("{data}", str(folder)) for part in shlex.split(self.command)]
        environment = {**os.environ, **self.environment(folder)}
        return StdioServerParameters(command=program, args=arguments, env=environment, cwd=str(folder))


def peers(options: argparse.Namespace) -> list[Peer]:
    """Those that a command was given for; Tetrarium always."""
    known = (
        Peer(
            "tetrarium",
            options.tetrarium,
            lambda folder: {},
            lambda fact: ("memory_create", {"content": fact.text}),
            lambda query: ("memory_search", {"query": query}),
        ),
        Peer(
            "server-memory",
            options.server_memory,
            lambda folder: {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
            lambda fact: (
                "create_entities",
                {"entities": [{"name": f"note {fact.key}", "entityType": "fact", "observations": [fact.text]}]},
            ),
            lambda query: ("search_nodes", {"query": query}),
        ),
        Peer(
            "yantrikdb-mcp",
            options.yantrikdb,
            # Its automatic choice of an embedder refuses to open again what it wrote with the one it brings along.
            lambda folder: {
                "YANTRIKDB_DB_PATH": str(folder / "memory.db"),
                "YANTRIKDB_EMBEDDER": "bundled",
                "HOME": str(folder),
            },
            lambda fact: ("remember", {"text": fact.text}),
            lambda query: ("recall", {"query": query}),
        ),
    )
    return [peer for peer in known if peer.command]


@dataclass(slots=True)
class Run:
    """One server under way, and what was measured of it."""

    peer: Peer
    folder: Path
    client: Client
    processes: frozenset[int]
    to_tools: float
    tool_characters: int
    wall: dict[str, list[float]] = field(default_factory=lambda: {"store": [], "key": [], "words": []})
    cpu: dict[str, float] = field(default_factory=lambda: {"store": 0.0, "key": 0.0, "words": 0.0})
    hits: dict[str, int] = field(default_factory=lambda: {"key": 0, "words": 0})
    lengths: list[int] = field(default_factory=list)
    refused: int = 0
    resident: float = 0.0

    async def turn(self, kind: str, facts: Iterable[Fact]) -> None:
        """A few calls of one kind."""
        before = cpu_of(self.processes)
        for fact in facts:
            query = fact.words if kind == "words" else fact.key
            tool, arguments = self.peer.store(fact) if kind == "store" else self.peer.search(query)
            begun = time.perf_counter()
            answer = await called(self.client, tool, arguments)
            self.wall[kind].append((time.perf_counter() - begun) * 1e3)
            self.refused += answer is None
            if kind != "store" and answer is not None:
                self.hits[kind] += holds(answer, fact)
                self.lengths.append(len(answer))
        self.cpu[kind] += cpu_of(self.processes) - before


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> str | None:
    """The words of an answer; None when the call was refused."""
    try:
        async with asyncio.timeout(CALL_PATIENCE):
            result = await client.call_tool(tool, arguments)
    except (MCPError, TimeoutError):
        return None
    return None if result.is_error else words_of(result)


def words_of(result: CallToolResult) -> str:
    """What a model gets to read: the text, or the structured form where there is no text."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return text or json.dumps(result.structured_content, ensure_ascii=False)


def holds(answer: str, fact: Fact) -> bool:
    """Whether an answer holds a fact; an echo of the question does not count."""
    following = fact.text.split(fact.key, 1)[1][:24]
    return fact.key in answer and following in answer


async def begin(peer: Peer, folder: Path, stack: AsyncExitStack) -> Run:
    """Start a server, and wait for its tool list."""
    folder.mkdir()
    before, begun = children(), time.perf_counter()
    client = await stack.enter_async_context(Client(peer.parameters(folder), mode="legacy"))
    listed = await client.list_tools()
    seconds = time.perf_counter() - begun
    characters = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed.tools)
    shared = host_of(folder)  # ours: a process that is nobody's child
    processes = children() - before | ({shared} if shared else set())
    return Run(peer, folder, client, frozenset(processes), seconds, characters)


async def measure(chosen: list[Peer], folder: Path, options: argparse.Namespace) -> list[Run]:
    """Store and search, in turns."""
    facts = corpus(options.n, 1)
    picked = random.Random(3).choices(facts, k=options.searches)
    async with AsyncExitStack() as stack:
        runs = [await begin(peer, folder / peer.name, stack) for peer in chosen]
        for run in runs:  # the first call loads a model: it is no part of any figure
            await run.turn("store", facts[:1])
            run.wall["store"].clear()
            run.cpu["store"] = 0.0
        for kind, asked in (("store", facts[1:]), ("key", picked), ("words", picked)):
            for start in range(0, len(asked), TURN):
                for run in runs:
                    await run.turn(kind, asked[start : start + TURN])
        for run in runs:
            run.resident = resident(run.processes)
    for run in runs:
        stop_host(run.folder)
    return runs


@dataclass(frozen=True, slots=True)
class Writers:
    """Facts whose store was acknowledged, those of them that were found, and those whose search was refused."""

    acknowledged: int
    found: int
    unanswered: int


async def two_writers(peer: Peer, folder: Path, count: int) -> Writers:
    """Two servers on one folder write at once; a third looks for everything that was acknowledged."""
    folder.mkdir()
    together = asyncio.Barrier(2)

    async def write(facts: list[Fact]) -> list[Fact]:
        async with Client(peer.parameters(folder), mode="legacy") as client:
            await client.list_tools()
            await together.wait()
            return [fact for fact in facts if await called(client, *peer.store(fact)) is not None]

    written = await asyncio.gather(*(write(corpus(count, seed)) for seed in (11, 12)))
    acknowledged = [fact for facts in written for fact in facts]
    async with Client(peer.parameters(folder), mode="legacy") as client:
        answers = [(fact, await called(client, *peer.search(fact.key))) for fact in acknowledged]
    stop_host(folder)
    found = sum(answer is not None and holds(answer, fact) for fact, answer in answers)
    return Writers(len(acknowledged), found, sum(answer is None for _, answer in answers))


def children() -> set[int]:
    """Processes below this one."""
    found, parents = set(), {os.getpid()}
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                table[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    while parents:
        parents = {process for process, parent in table.items() if parent in parents} - found
        found |= parents
    return found


def cpu_of(processes: Iterable[int]) -> float:
    """Milliseconds of CPU that these have used."""
    total = 0
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICK * 1e3


def resident(processes: Iterable[int]) -> float:
    """Megabytes that these hold in memory."""
    pages = sum(int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in processes)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def on_disk(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def told(run: Run, writers: Writers, searches: int, count: int) -> list[str]:
    def spread(kind: str) -> str:
        values = sorted(run.wall[kind])
        cpu = run.cpu[kind] / max(1, len(values))
        return f"{statistics.median(values):.1f} / {values[int(len(values) * 0.95)]:.1f} ({cpu:.1f})"

    lost = writers.acknowledged - writers.found - writers.unanswered
    unanswered = f", {writers.unanswered} searches refused" if writers.unanswered else ""
    return [
        run.peer.name,
        f"{run.to_tools:.2f} s",
        spread("store"),
        spread("key"),
        spread("words"),
        f"{run.hits['key'] / searches:.2f} / {run.hits['words'] / searches:.2f}",
        f"{statistics.mean(run.lengths):.0f}",
        f"{run.resident:.0f} MB",
        f"{on_disk(run.folder):.2f} MB",
        f"{run.tool_characters:,}",
        str(run.refused),
        f"{writers.acknowledged} of {2 * count}, {lost} lost{unanswered}",
    ]


HEADINGS = (
    "server | to tools/list | store p50 / p95 ms (CPU) | search by key | search by words | hits key / words | "
    "characters an answer | RSS | disk | tool list | refused | two writers: acknowledged"
)


def main() -> None:
    here = f"{shlex.quote(sys.executable)} -m tetrarium.mcp --linger 1 --data-dir {{data}}"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tetrarium", default=here, metavar="COMMAND")
    parser.add_argument("--server-memory", default="", metavar="COMMAND")
    parser.add_argument("--yantrikdb", default="", metavar="COMMAND")
    parser.add_argument("--n", type=int, default=300, help="facts that are stored (default: %(default)s)")
    parser.add_argument("--searches", type=int, default=100, help="questions of each kind (default: %(default)s)")
    parser.add_argument("--writers", type=int, default=100, help="facts of each of two writers (default: %(default)s)")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    chosen = peers(options)
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        runs = asyncio.run(measure(chosen, Path(folder), options))
        print(f"| {HEADINGS} |\n|{'---|' * (HEADINGS.count('|') + 1)}")
        for run in runs:
            writers = asyncio.run(two_writers(run.peer, Path(folder, f"{run.peer.name}-two"), options.writers))
            print(f"| {' | '.join(told(run, writers, options.searches, options.writers))} |", flush=True)


if __name__ == "__main__":
    main()
