"""What many recalls do to the next one: almost nothing, and what they do is bounded."""

from __future__ import annotations

import json
import random
from pathlib import Path

import tetrarium
from tetrarium import paths
from tetrarium.service import MemoryService, fill_sample


def test_the_questions_of_a_project_asked_twenty_times_over_keep_their_best_five(space: MemoryService) -> None:
    fill_sample(space)
    told = json.loads((paths.resources() / "sample" / "questions.json").read_text("utf-8"))
    questions = [question["query"] for question in told[:12]]

    def best() -> dict[str, set[str]]:
        found = {}
        for question in random.Random(len(seen)).sample(questions, len(questions)):
            found[question] = {block.id for block in space.recall(question).blocks[:5]}
        return found

    seen: list[dict[str, set[str]]] = []
    for _ in range(20):
        seen.append(best())
        space.maintain()
    shared = [len(seen[-1][q] & seen[0][q]) / max(1, len(seen[0][q])) for q in questions]
    assert sum(shared) / len(shared) >= 0.95


def test_a_memory_that_answers_every_question_is_damped_and_one_that_answers_its_own_is_raised(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, hub_questions=5) as space:
        hub = str(space.store("The deploy of every service goes through the release train on Tuesdays.").id)
        own = str(space.store("The archive of invoices is kept in the cellar for ten years.").id)
        for number in range(20):
            space.recall(f"release train deploy service {'abcdefghijklmnopqrst'[number]}quux on Tuesdays", budget=130)
            space.recall("where is the archive of invoices kept?", budget=130)
        space.maintain()
        parts = {
            hit.id: hit.parts
            for question in ("release train deploy", "archive of invoices")
            for hit in space.search(question)
        }
        assert parts[hub].access < 1.0 < parts[own].access
        assert 1.0 - parts[hub].access <= space.settings.hub_span


def test_the_last_recalls_of_each_client_are_kept_and_nobody_pushes_out_those_of_another(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, kept_traces=3) as space:
        space.store("The archive of invoices is kept in the cellar for ten years.")
        mine = space.recall("where is the archive?", client="one").id
        others = [space.recall(f"archive of invoices {number}", client="two").id for number in range(5)]
        assert [trace.id for trace in space.traces(client="two")] == others[:1:-1]
        assert [trace.id for trace in space.traces(client="one")] == [mine]
        assert space.trace(client="one").id == mine
