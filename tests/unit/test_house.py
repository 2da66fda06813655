"""The house rules that a machine can check: floors, headless engine, settings, paths, silence."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from tetrarium.config import Settings

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "engine"
GUI = ROOT / "gui"
PATIENCE = 60.0
"""Seconds that a child process may take."""

WINDOW_MODULES = ("PySide6", "shiboken6", "pyqtgraph", "OpenGL", "qtawesome", "qtpy", "tetrarium_gui")
PERSONAL_FOLDER = re.compile(
    r"(?<![\w.~%-])(?:/(?:home|Users)/(?!you\b|someone\b)\w|/(?:root|work)/\w|[A-Za-z]:\\+Users\\+(?!you\b|someone\b)\w)"
)
"""A path that works on one machine only; "you" and "someone" are nobody's folders."""

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def sources(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def files_of_the_tree() -> Iterator[Path]:
    """Every file that is ours: what is made by tools lies in hidden folders or in these."""
    made = {"__pycache__", "dist", "build", "artifacts", "node_modules"}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            f for f in folders if f not in made and not f.endswith(".egg-info") and (f[0] != "." or f == ".ci")
        ]
        yield from (Path(folder, name) for name in names if name != ".git")


def prints(path: Path) -> bool:
    calls = (node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == "print" for function in calls)


def fresh_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ENGINE), str(GUI)])},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_import_contracts_hold() -> None:
    done = fresh_python(
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["tetrarium", "tetrarium.service", "tetrarium.mcp", "tetrarium.cli"])
def test_the_engine_loads_no_module_of_the_window(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(m for m in sys.modules if m.split('.')[0] in {WINDOW_MODULES!r}))"
    done = fresh_python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_importing_the_engine_loads_no_model_and_no_index_library() -> None:
    code = "import sys, tetrarium.service; print(*sorted({'onnxruntime', 'sentencepiece', 'hnswlib'} & sys.modules.keys()))"
    done = fresh_python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_every_setting_says_its_unit_its_source_and_what_it_is_for() -> None:
    for field in fields(Settings):
        assert set(field.metadata) >= {"unit", "source", "about"}, field.name
        assert field.metadata["source"], field.name
        assert field.metadata["about"].endswith("."), field.name


def test_every_setting_is_used() -> None:
    code = "\n".join(
        path.read_text("utf-8") for room in (ENGINE, GUI) for path in sources(room) if path.name != "config.py"
    )
    words = set(re.findall(r"\w+", code))
    assert [field.name for field in fields(Settings) if field.name not in words] == []


def test_no_file_names_a_folder_of_a_person_or_a_machine() -> None:
    found = []
    for path in files_of_the_tree():
        content = path.read_bytes()
        if b"\0" in content[:8_192]:
            continue
        if match := PERSONAL_FOLDER.search(content.decode("utf-8", "replace")):
            found.append(f"{path.relative_to(ROOT)}: {match.group()}")
    assert found == []


def test_nothing_in_the_house_prints_but_the_command_line() -> None:
    quiet = [path for path in (*sources(ENGINE), *sources(GUI)) if path != ENGINE / "tetrarium" / "cli" / "terminal.py"]
    assert [path for path in quiet if prints(path)] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for room in (ENGINE, GUI) for path in sources(room) if path.stem in VAGUE_NAMES] == []


def test_the_model_runtime_leaves_nothing_behind_that_reports_to_its_maker(tmp_path: Path) -> None:
    code = "import tetrarium; s = tetrarium.open_space('space'); s.store('The gateway caches for one minute only.'); s.close()"
    environment = {
        "PYTHONPATH": os.pathsep.join([str(ENGINE), str(GUI)]),
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["space"]


def test_no_statement_follows_a_pragma_in_one_call() -> None:
    """The driver stops at the first row, which many pragmas give; what follows in the same text is then never run."""
    followed = re.compile(r"execute\(\s*f?[\"']PRAGMA [^\"']*;\s*\w", re.IGNORECASE)
    wrong = [str(path.relative_to(ROOT)) for path in sources(ENGINE) if followed.search(path.read_text("utf-8"))]
    assert not wrong
