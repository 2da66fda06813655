"""Many clients on one space while its host is killed again and again: is anything lost, or written twice?

    python tests/bench/relay_kills.py [--stores 100] [--clients 8] [--calls 200] [--seed 1]

First two clients, started together, store at once. Then eight store, edit, forget, judge, search and recall, while
the host is killed −9 every few seconds. Clients only ever wait for answers. At the end every acknowledged memory
must be there exactly once, with exactly the revision that its acknowledged edits give; every call must have been
answered without an error. Takeover: from a kill to the first answer after it, and to the answer of each call that
was under way.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measures import spread

import tetrarium

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import Pipe, kill_host, stop_host

VERBS = ["store"] * 8 + ["search"] * 4 + ["recall"] * 3 + ["edit"] * 2 + ["judge"] * 2 + ["forget"]


@dataclass
class Client:
    """One client and what it was told."""

    name: str
    pipe: Pipe
    texts: dict[str, str] = field(default_factory=dict)  # id → text
    edits: Counter[str] = field(default_factory=Counter)
    forgotten: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)  # asked, answered

    def call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        asked = time.perf_counter()
        result = self.pipe.call(tool, **arguments)
        self.times.append((asked, time.perf_counter()))
        if result.get("isError"):
            self.errors.append(f"{tool}: {result['content'][0]['text']}")
            return None
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def store(self, number: int) -> None:
        text = f"{self.name} notes that shelf {number} holds {number * number + 7} bolts of batch {self.name}-{number}."
        if stored := self.call("memory_create", content=text, force=True):
            self.texts[stored["id"]] = text

    def mixed(self, calls: int, chance: random.Random) -> None:
        """`calls` calls of all kinds; edits, judgements and forgettings concern what this client stored."""
        for number in range(calls):
            verb = chance.choice(VERBS)
            mine = [memory for memory in self.texts if memory not in self.forgotten]
            if verb == "store" or len(mine) < 3:
                self.store(number)
            elif verb == "search":
                self.call("memory_search", query=f"bolts of batch {self.name}-{chance.randrange(calls)}")
            elif verb == "recall":
                self.call("void_recall", query="which shelf holds the bolts", budget=400)
            else:
                self._change(verb, chance.choice(mine), number)

    def _change(self, verb: str, memory: str, number: int) -> None:
        if verb == "edit":
            text = f"{self.name} moved batch {number} to shelf {number + 1000}, next to the {number * 3} washers."
            if self.call("memory_update", id=memory, content=text):
                self.texts[memory] = text
                self.edits[memory] += 1
        elif verb == "judge":
            self.call("memory_feedback", id=memory, verdict="helped")
        elif self.call("memory_forget", ids=[memory]):
            self.forgotten.add(memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=100)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "two"
        two = [Client(f"client{n}", Pipe(space)) for n in range(2)]
        together(space, two, lambda client, _: [client.store(n) for n in range(a.stores)])
        wrong = report("two clients that store at once", space, two, [])
        space = Path(folder) / "many"
        many = [Client(f"client{n}", Pipe(space)) for n in range(a.clients)]
        kills: list[float] = []
        done = threading.Event()
        killer = threading.Thread(target=kill_often, args=(space, random.Random(a.seed), many, done, kills))
        killer.start()
        together(space, many, lambda client, n: client.mixed(a.calls, random.Random(a.seed * 100 + n)), done)
        killer.join()
        wrong += report(f"{a.clients} clients, the host killed {len(kills)} times", space, many, kills)
    raise SystemExit(bool(wrong))


def together(space: Path, clients: list[Client], work: Any, done: threading.Event | None = None) -> None:
    """Let all clients do their work at once, and leave."""

    def run(client: Client, number: int) -> None:
        client.pipe.hello()
        work(client, number)
        assert client.pipe.leave()[0] == 0

    threads = [threading.Thread(target=run, args=(client, n)) for n, client in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if done:
        done.set()
    stop_host(space)


def kill_often(
    space: Path, chance: random.Random, clients: list[Client], done: threading.Event, kills: list[float]
) -> None:
    """Kill the host, each time two to five seconds after it began to answer."""
    while not done.is_set():
        since = kills[-1] if kills else 0.0
        if not any(client.times and client.times[-1][0] > since for client in clients):
            done.wait(0.05)
        elif not done.wait(chance.uniform(2, 5)):
            kills.append(time.perf_counter())
            kill_host(space)


def report(title: str, space: Path, clients: list[Client], kills: list[float]) -> int:
    """Compare what was acknowledged with what is there, and print it; 1 when they differ."""
    with tetrarium.open_space(space) as service:
        there = [service.get(memory) for memory in service.snapshot().ids]
    texts = Counter(memory.content for memory in there)
    revisions = {memory.id: memory.revision for memory in there}
    lost = doubled = misedited = unforgotten = 0
    for client in clients:
        for memory, text in client.texts.items():
            if memory in client.forgotten:
                unforgotten += memory in revisions
                continue
            lost += texts[text] == 0
            doubled += texts[text] > 1
            misedited += revisions.get(memory) != 1 + client.edits[memory]
    acknowledged = sum(len(client.texts) - len(client.forgotten) for client in clients)
    errors = [error for client in clients for error in client.errors]
    strangers = len(there) - acknowledged
    calls = [pair for client in clients for pair in client.times]
    print(
        f"{title}: {len(calls)} calls · acknowledged {acknowledged} · present {len(there)} · LOST {lost} · DOUBLED {doubled}"
    )
    print(
        f"  edited twice or not at all {misedited} · forgotten and there {unforgotten} · never acknowledged {strangers} · errors {len(errors)} {errors[:2]}"
    )
    print(f"  call {spread([(end - begin) * 1e3 for begin, end in calls])}")
    if kills:
        first = [min((end for _, end in calls if end > kill), default=kill) - kill for kill in kills]
        under_way = [end - kill for kill in kills for begin, end in calls if begin < kill < end]
        print(
            f"  takeover: first answer after a kill {spread(first, 's')} · each call under way {spread(under_way, 's')}, n = {len(under_way)}"
        )
    return int(bool(lost or doubled or misedited or unforgotten or strangers or errors))


if __name__ == "__main__":
    main()
