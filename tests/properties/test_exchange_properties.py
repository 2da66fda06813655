"""Whatever a space has lived through, its export taken into an empty space exports to the same bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tetrarium
from tetrarium.errors import UserError
from tetrarium.service import MemoryService

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("\n\t中文é\u2028'\"\\"), max_size=60
)  # fmt: skip
OPS = ("store", "store", "store", "supersede", "edit", "inhibit", "release", "trash", "restore", "purge", "feedback",
       "pin", "name", "plan", "recall", "relate", "undo")  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(OPS), st.integers(0, 11), WORDS), min_size=1, max_size=16)
SUBJECTS = ("payment worker", "登录令牌", "seat map", "kiosk sync")


def live(space: MemoryService, steps: list[tuple[str, int, str]]) -> None:
    """Run the steps; one that the space refuses (inhibited already, never edited …) changes nothing."""
    ids: list[str] = []
    for op, number, words in steps:
        target = ids[number % len(ids)] if ids else ""
        try:
            _step(space, op if ids else "store", target, number, words, ids)
        except UserError:
            continue
    space.maintain()


def _step(space: MemoryService, op: str, target: str, number: int, words: str, ids: list[str]) -> None:
    text = f"The {SUBJECTS[number % 4]} needs {number} minutes. {words}"
    more: dict[str, Any] = {
        "author": words[:8], "session": words[8:12], "project": words[12:14], "labels": [words[14:20]], "force": True,
    }  # fmt: skip
    if op == "store":
        ids.append(str(space.store(text, **more).id))
    elif op == "supersede":
        ids.append(str(space.store(text, supersedes=[target], **more).id))
    elif op == "edit":
        space.update(target, content=text + " Edited.", importance=number / 11)
    elif op == "inhibit":
        space.inhibit(target, reason=words)
    elif op == "release":
        space.release(target)
    elif op == "trash":
        space.forget(target)
    elif op == "restore":
        space.restore(target)
    elif op == "purge":
        space.forget(target, permanently=True)
    elif op == "feedback":
        space.feedback(target, bool(number % 2), client=words[:5])
    elif op == "pin":
        space.update(target, pinned=True, expires_at=f"21{number:02}-01-01")
    elif op == "name":
        space.name_cluster(space.get(target).cluster, words)
    elif op == "plan":
        space.apply_plan(space.plan_clusters(("attach", "merge", "layout")[number % 3]))
    elif op == "relate":
        space.relate(target, ids[-1], words[:6] or "caused_by", note=words)
    elif op == "undo":
        space.undo()
    elif op == "recall":
        space.recall(text, project="*")


def body(file: Path) -> list[bytes]:
    """An export but for its header, which tells the time."""
    return file.read_bytes().split(b"\n")[1:]


def differs(steps: list[tuple[str, int, str]], **given_settings: Any) -> str:
    """Build a space, export, import, export again; "" when nothing differs."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "one.jsonl"), Path(folder, "two.jsonl")
        with tetrarium.open_space(Path(folder, "one"), **given_settings) as space:
            live(space, steps)
            space.export(one, vectors=True)
        with tetrarium.open_space(Path(folder, "two"), **given_settings) as space:
            report = space.import_file(one)
            space.export(two, vectors=True)
            healthy = space.examine().is_healthy
        if report.refused_count:
            return f"refused: {report.refused}"
        if not healthy:
            return "the imported space is not healthy"
        pairs = zip(body(one), body(two), strict=False)
        return next((f"{a!r} became {b!r}" for a, b in pairs if a != b), "")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
@pytest.mark.timeout(300)
def test_any_space_comes_back_from_its_export_byte_for_byte(steps: list[tuple[str, int, str]]) -> None:
    assert differs(steps) == ""
