"""One LoCoMo conversation through the endpoint, with the SDK's own client, in both eras of the protocol.

    python tests/bench/mcp_locomo.py LOCOMO.zip [--conversation 0] [--questions 50] [--show 3]

The zip holds one JSON file a conversation. Every turn is stored by memory_create with its session; the
questions are asked by void_recall. Printed: time from spawn to tools/list and to the first answer, p50 and
p95 of store and recall over the wire, how many questions find a turn that bears their evidence, resident
memory of the endpoint, and a few answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
import statistics
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

ADVERSARIAL = 5
"""LoCoMo's category of questions without an answer; they are left out."""


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    text: str
    session: str
    said_at: str


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[str]


def load(archive: Path, conversation: int) -> tuple[str, list[Turn], list[Question]]:
    """Name, turns and answerable questions of one conversation, in the order of the archive's names."""
    with zipfile.ZipFile(archive) as files:
        names = sorted(name for name in files.namelist() if name.endswith(".json") and "__MACOSX" not in name)
        raw = json.loads(files.read(names[conversation]))
    sessions = sorted((key for key in raw if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key.split("_")[1]))
    turns = [turn(spoken, key, raw.get(f"{key}_date_time", "")) for key in sessions for spoken in raw[key]]
    ids = {one.id for one in turns}
    asked = [Question(one["question"], evidence(one, ids)) for one in raw["qa"] if one["category"] != ADVERSARIAL]
    return Path(names[conversation]).stem, turns, [one for one in asked if one.evidence]


def turn(spoken: dict[str, Any], session: str, when: str) -> Turn:
    text = f"{spoken['speaker']}: {spoken.get('text', '')}"
    if spoken.get("blip_caption"):
        text += f" [shares {spoken['blip_caption']}]"
    return Turn(spoken["dia_id"], text, session, moment(when))


def moment(when: str) -> str:
    """ "1:56 pm on 8 May, 2023" in ISO form, or nothing."""
    try:
        return datetime.strptime(when, "%I:%M %p on %d %B, %Y").isoformat() + "Z"
    except ValueError:
        return ""


def evidence(question: dict[str, Any], ids: set[str]) -> frozenset[str]:
    named = (pair for part in question.get("evidence", []) for pair in re.findall(r"D:?(\d+):(\d+)", str(part)))
    return frozenset(f"D{int(a)}:{int(b)}" for a, b in named) & ids


async def measure(era: str, turns: list[Turn], questions: list[Question], show: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        endpoint = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tetrarium.mcp", "--data-dir", folder, "--standalone"],
            env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        )
        begun = time.perf_counter()
        async with Client(endpoint, mode=era) as client:
            await client.list_tools()
            listed = time.perf_counter() - begun
            await client.call_tool("void_stats", {})
            ready = time.perf_counter() - begun
            print(f"\n{era}: spawn to tools/list {listed:.2f} s, to the first answer {ready:.2f} s")
            await converse(client, turns, questions, show)
            print(f"  space {size_of(Path(folder)):.1f} MB on disk")
            leaving = time.perf_counter()
        print(f"  left in {time.perf_counter() - leaving:.2f} s, peak memory of the endpoint {peak_memory():.0f} MB")


async def converse(client: Client, turns: list[Turn], questions: list[Question], show: int) -> None:
    of_turn: dict[str, set[str]] = {}
    storing: list[float] = []
    outcomes: dict[str, int] = {}
    for one in turns:
        arguments = {"content": one.text, "session": one.session} | ({"created_at": one.said_at} if one.said_at else {})
        stored, seconds = await timed(client, "memory_create", arguments)
        storing.append(seconds)
        outcomes[stored["outcome"]] = outcomes.get(stored["outcome"], 0) + 1
        if "id" in stored:
            of_turn.setdefault(stored["id"], set()).add(one.id)
    print(f"  store   {figures(storing)}   {outcomes}")
    recalling: list[float] = []
    hits = 0
    tokens: list[int] = []
    for number, question in enumerate(questions):
        recalled, seconds = await timed(client, "void_recall", {"query": question.text})
        recalling.append(seconds)
        tokens.append(recalled["token_usage"])
        hits += any(of_turn.get(block["id"], set()) & question.evidence for block in recalled["blocks"])
        if number < show:
            print(f"    ? {question.text}")
            for block in recalled["blocks"][:2]:
                print(f"      {block['score']:.2f} {block['content'][:110]}")
    print(
        f"  recall  {figures(recalling)}   evidence in the answer {hits}/{len(questions)}, {statistics.mean(tokens):.0f} tokens on average"
    )


async def timed(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], float]:
    begun = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    seconds = time.perf_counter() - begun
    if result.is_error or not isinstance(result.structured_content, dict):
        raise SystemExit(f"{tool} failed: {result.content}")
    return result.structured_content, seconds


def figures(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"n {len(ordered)}, p50 {statistics.median(ordered) * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms, max {ordered[-1] * 1e3:.1f} ms"


def peak_memory() -> float:
    """Largest resident memory of any endpoint that has ended, MB (Linux gives kB, macOS bytes)."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def size_of(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--conversation", type=int, default=0)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args()
    name, turns, questions = load(options.archive, options.conversation)
    print(f"{name}: {len(turns)} turns, {len(questions)} questions ({min(options.questions, len(questions))} asked)")
    for era in ("legacy", "2026-07-28"):
        asyncio.run(measure(era, turns, questions[: options.questions], options.show))


if __name__ == "__main__":
    main()
