"""The ways our programs are started, and what the bundle is made of; the bundle itself is tried by `dev.py bundle`."""

from __future__ import annotations

import ast
import configparser
import importlib.util
import os
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tetrarium import paths

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SUFFIX = ".exe" if os.name == "nt" else ""


def part_of_packaging(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_frozen_program_names_its_neighbour_and_never_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / f"tetrarium{SUFFIX}"))
    with pytest.raises(FileNotFoundError, match="not whole"):
        paths.program("tetrarium-mcp")
    (tmp_path / f"tetrarium-mcp{SUFFIX}").touch()
    assert paths.program("tetrarium-mcp") == [str(tmp_path / f"tetrarium-mcp{SUFFIX}")]


def test_an_installed_program_is_the_script_of_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_script_folders", lambda: [tmp_path / "none", tmp_path])
    (tmp_path / f"tetrarium{SUFFIX}").touch()
    assert paths.program("tetrarium") == [str(tmp_path / f"tetrarium{SUFFIX}")]
    with pytest.raises(KeyError):
        paths.program("tetrarium-daemon")


@pytest.mark.parametrize("name", paths.PROGRAMS)
def test_without_scripts_this_python_runs_the_module_and_no_namesake_of_the_current_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_script_folders", list)
    for decoy in ("tetrarium", "tetrarium_gui", "mcp"):
        (tmp_path / decoy).mkdir()
        (tmp_path / decoy / "__init__.py").write_text("raise SystemExit('a decoy')")
    done = subprocess.run(
        [*paths.program(name), "--version"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / room) for room in ("engine", "gui"))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.split()[:1]) == (0, [name]), done.stderr


def test_the_programs_are_those_that_a_wheel_installs() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert {name: entry.split(":")[0].removesuffix(".__main__") for name, entry in scripts.items()} == paths.PROGRAMS


def test_finding_programs_and_folders_loads_nothing_outside_the_standard_library() -> None:
    code = "import sys; before = set(sys.modules); from tetrarium import paths; paths.program('tetrarium'); print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    foreign = {name.split(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names) - {"tetrarium"}
    assert {name for name in foreign if not name.startswith("_")} == set()


def test_the_recipe_of_the_bundle_names_files_that_exist() -> None:
    recipe = (PACKAGING / "tetrarium.spec").read_text("utf-8")
    texts = [node.value for node in ast.walk(ast.parse(recipe)) if isinstance(node, ast.Constant)]
    entries = [text for text in texts if isinstance(text, str) and text.startswith("start_")]
    assert sorted(entries) == ["start_endpoint.py", "start_window.py"]
    for entry in entries:
        source = (PACKAGING / entry).read_text("utf-8")
        assert "freeze_support()" in source
        (module,) = {
            str(node.module)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tetrarium")
        }
        assert importlib.util.find_spec(module) is not None
    assert {"tetrarium", "tetrarium-mcp"} <= set(texts)


def test_the_bundle_is_built_from_what_the_project_asks_for_and_for_any_processor() -> None:
    wanted = part_of_packaging("bundle").requirements()
    assert wanted[wanted.index("--no-binary") + 1] == "hnswlib"
    for name in ("pyinstaller", "PySide6-Essentials", "onnxruntime", "hnswlib"):
        assert any(wish.startswith(name) for wish in wanted), name


def test_the_icon_is_drawn_once_and_packed_for_every_system() -> None:
    icons = part_of_packaging("icons")
    assert ElementTree.parse(icons.DRAWING).getroot().get("viewBox") == "0 0 256 256"
    pictures = {16: b"small", 256: b"a larger one"}
    packed = icons.ico(pictures)
    assert struct.unpack_from("<HHH", packed) == (0, 1, 2)
    for number, (size, png) in enumerate(pictures.items()):
        width, *_, length, place = struct.unpack_from("<BBBBHHII", packed, 6 + 16 * number)
        assert (width, packed[place : place + length]) == (size % 256, png)
    mac = icons.icns({b"ic07": b"png"})
    assert (mac[:4], struct.unpack(">I", mac[4:8])[0], mac[8:]) == (b"icns", len(mac), b"ic07\0\0\0\x0bpng")


def test_the_desktop_entry_starts_the_window_with_our_icon() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]  # keys of desktop entries have capitals
    entry.read(PACKAGING / "tetrarium.desktop", encoding="utf-8")
    told = entry["Desktop Entry"]
    assert (told["Type"], told["Exec"], told["Icon"], told["Terminal"]) == (
        "Application",
        "tetrarium",
        "tetrarium",
        "false",
    )


def test_a_program_without_streams_gets_real_ones() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGING)!r}); import start_window, subprocess; keep = sys.__stderr__\n"
        "sys.stdin = sys.stdout = sys.stderr = None; start_window.give_streams()\n"
        "print('nobody reads this'); subprocess.run([sys.executable, '-c', ''], stdout=sys.stdout, stdin=sys.stdin)\n"
        "keep.write(f'{sys.stdout.fileno() > 2} {sys.stdin.read()!r}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "True ''")
