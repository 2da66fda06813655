"""Does a recall on something absent answer nothing, and one on something present still answer?

    python tests/bench/absent.py [--n 3000] [--locomo locomo.zip] [--bilingual bilingual.jsonl] [--cache folder]

Spaces: generated notes without a third of their topics (seed 7), conversations, the bilingual set, the sample. Each is
asked its own questions (a right memory among the candidates of a recall that answers nothing is lost), and what it
cannot know: general knowledge, the topics withheld, another conversation, another corpus. Prints the share answered
with nothing. The other corpora are software too: a question on their deployments is near what a space does know.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from generated_notes import TOPICS, generate, questions
from measures import KeptPassages
from retrieval import Pool, bilingual, locomo

import tetrarium
from tetrarium import paths
from tetrarium.service import MemoryService, fill_sample

GENERAL = (
    "What is the offside rule in football?",
    "Which vaccinations does a puppy need?",
    "How deep is the Mariana trench?",
    "Who composed the Goldberg variations?",
    "How long should sourdough proof in the fridge?",
    "What is the capital of Mongolia?",
    "Which mushrooms are poisonous?",
    "How do I prune a fig tree?",
    "What did Napoleon say at Waterloo?",
    "How much does a flight to Lisbon cost?",
    "What is the best cure for a migraine?",
    "Who won the chess olympiad in 1972?",
    "When does the museum of modern art open on Sundays?",
    "What was the name of the vet who treated the neighbour's horse?",
    "How many calories are in an avocado?",
    "Which knee exercises help after surgery?",
    "How do glaciers move?",
    "What is the tax rate on inheritance in Portugal?",
    "Where can I buy a used cello?",
    "Which constellation is visible in June?",
    "What is the difference between a violin and a viola?",
    "Who painted the ceiling of the Sistine chapel?",
    "How do bees find their way home?",
    "What is the boiling point of mercury?",
    "Which bus goes from the station to the stadium?",
    "How do I knit a cable pattern?",
    "What spices go into a biryani?",
    "When was the treaty of Westphalia signed?",
    "What size of shoes does my nephew wear?",
    "How do I remove a wine stain from a carpet?",
    "Why is the swimming pool closed in August?",
    "Who is the goalkeeper of the national team?",
    "What did the dentist recommend for grinding teeth?",
    "How often should a bonsai be watered?",
    "Which wine goes with grilled octopus?",
    "How high is the rent of the flat on Elm Street?",
    "What did grandma name her parrot?",
    "Does the hotel in Vienna have a sauna?",
    "How do volcanoes form?",
    "What was the score of the handball final?",
    "足球里的越位规则是什么?",
    "小狗需要打哪些疫苗?",
    "马里亚纳海沟有多深?",
    "红烧肉怎么做才不腻?",
    "长城是哪一年开始修建的?",
    "高血压应该吃什么药?",
    "国家大剧院星期天几点开门?",
    "怎么给无花果树剪枝?",
    "邻居家的猫叫什么名字?",
    "去里斯本的机票多少钱?",
    "谁画了西斯廷教堂的天顶?",
    "水银的沸点是多少度?",
    "盆景多久浇一次水?",
    "牙医对磨牙有什么建议?",
    "六月能看到哪个星座?",
    "孩子的幼儿园什么时候开学?",
    "做手工面条要放多少盐?",
    "游泳池八月为什么关闭?",
    "外婆给鹦鹉起了什么名字?",
    "手球决赛的比分是多少?",
)
"""Questions that no memory of a developer or of two friends answers."""

Own = list[tuple[str, set[str]]]


@contextmanager
def filled(texts: Sequence[dict[str, Any]], cache: Path | None) -> Iterator[tuple[MemoryService, list[str]]]:
    """A space of these memories (arguments of `store`), and their ids in order."""
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder) as space:
        passages = KeptPassages(space._space.embedder, cache)
        passages.prepare([text["content"] for text in texts])
        space._space.embedder = passages
        yield space, [str(space.store(**text, force=True).id) for text in texts]


def row(name: str, kind: str, space: MemoryService, asked: Sequence[str]) -> None:
    empty = sum(not space.recall(question, project="*").blocks for question in asked)
    print(f"| {name} | {kind} | {empty / len(asked):.3f} | {len(asked)} |", flush=True)


def own_row(name: str, space: MemoryService, own: Own) -> None:
    lost, found = 0, 0
    for question, gold in own:
        trace = space.recall(question, project="*")
        present = not gold or bool(gold & {candidate.id for candidate in trace.candidates})
        found += present
        lost += present and not trace.blocks
    print(f"| {name} | its own: lost | {lost / found:.3f} | {found} |", flush=True)


def generated(n: int, cache: Path | None, others: dict[str, list[str]]) -> None:
    notes, labels = generate(10_000, seed=7)
    withheld = set(random.Random(5).sample(sorted(TOPICS), len(TOPICS) // 3))
    kept = [i for i, label in enumerate(labels) if label["topic"] not in withheld][:n]
    asked = questions(labels, seed=7, count=600)
    with filled([notes[i] for i in kept], cache) as (space, ids):
        line = dict(zip(kept, ids, strict=True))
        own = [(q["query"], {line[g] for g in q["gold"] if g in line}) for q in asked if q["topic"] not in withheld]
        own_row(
            "generated",
            space,
            [
                pair
                for pair, q in zip(own, (q for q in asked if q["topic"] not in withheld), strict=True)
                if pair[1] or not q["gold"]
            ],
        )
        row("generated", "topics withheld", space, [q["query"] for q in asked if q["topic"] in withheld])
        strangers = [f"time-out of the {word} in zzz-{number}" for number, word in enumerate(sorted(TOPICS)[:40])]
        row("generated", "unknown identifiers", space, strangers)
        for kind, texts in others.items():
            row("generated", kind, space, texts)


def pool(name: str, found: Pool, cache: Path | None, others: dict[str, list[str]]) -> None:
    texts = [{"content": m["text"], "session": m["session"]} for m in found.memories]
    with filled(texts, cache) as (space, ids):
        of = {memory["id"]: i for memory, i in zip(found.memories, ids, strict=True)}
        own_row(name, space, [(q["text"], {of[g] for g in q["gold"]}) for q in found.questions])
        for kind, asked in others.items():
            row(name, kind, space, asked)


def sample(others: dict[str, list[str]]) -> None:
    told = json.loads((paths.resources() / "sample" / "questions.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder) as space:
        fill_sample(space)
        own_row("sample", space, [(q["query"], set()) for q in told])
        for kind, asked in others.items():
            row("sample", kind, space, asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=3_000)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--bilingual", type=Path)
    parser.add_argument("--cache", type=Path, help="folder that keeps embeddings for the next run")
    a = parser.parse_args()
    kept = (lambda name: a.cache / f"{name}.npz") if a.cache else (lambda name: None)
    rng = random.Random(5)
    talks = list(locomo(a.locomo, "dev")) if a.locomo else []
    pairs = next(bilingual(a.bilingual, "dev")) if a.bilingual else Pool([], [])
    general = {"general knowledge": list(GENERAL)}
    notes = {"generated notes": [q["query"] for q in questions(generate(10_000, seed=7)[1], seed=7, count=60)]}
    software = {"bilingual set": [q["text"] for q in pairs.questions]} if pairs.questions else {}
    spoken = [q["text"] for talk in talks for q in talk.questions]
    spoken_ = {"conversations": rng.sample(spoken, 120)} if spoken else {}
    print("| space | asked | share | n |\n|---|---|---|---|")
    generated(a.n, kept("notes-10000-7"), general | spoken_ | software)
    for number, talk in enumerate(talks):
        other = [q["text"] for i, told in enumerate(talks) if i != number for q in told.questions]
        asked = general | {"another conversation": rng.sample(other, 120)} | notes | software
        pool(f"conversation {number + 1}", talk, kept(f"LoCoMo-dev-{number}"), asked)
    if pairs.memories:
        pool("bilingual", pairs, kept("bilingual-dev-0"), general | spoken_ | notes)
    sample(general | spoken_ | notes | software)


if __name__ == "__main__":
    main()
