#!/usr/bin/env python3
"""Everything a developer types: make the environment, run Tetrarium, check it.

    python3 dev.py run            the window on the sample space (without a display: the same in text)
    python3 dev.py test [...]     the tests; arguments go to pytest
    python3 dev.py check          format, lint, types, import contracts, then the tests: what CI runs
    python3 dev.py bench [NAME]   the benchmarks of tests/bench, or one of them with its arguments
    python3 dev.py bundle         freeze both programs into dist/Tetrarium, weigh them and try them out
    python3 dev.py setup          the environment only

Standard library only. Works in a fresh clone with any Python from 3.11 on: the first call makes `.venv`
and installs what is missing, later calls see that nothing changed and start at once.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "tetrarium.json"
GUI_TESTS = "tests/gui"
SPREAD = ("-n", str(min(4, 1 + (os.cpu_count() or 2))), "--dist", "loadfile")
"""Tests without a window run side by side, a file in one process: one more than there are processors, since many wait."""
SCREENS = 3
"""Screens of our own on which tests of the window run side by side, a file on one of them: windows on one screen take
each other's keyboard. On a person's own screen they run one after the other."""
LINUX = sys.platform.startswith("linux")

OLDEST_PYTHON = (3, 11)
DISPLAY_PATIENCE = 30.0
"""Seconds that Xvfb may take to start."""

WINDOW_PACKAGES = """
    libgl1 libegl1 libgl1-mesa-dri libopengl0 libxkbcommon0 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1
    libfreetype6 libglib2.0-0 libx11-xcb1 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
    libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1
    fonts-dejavu-core
"""
"""Debian's names of what Qt and OpenGL need on Linux and no Python package brings."""

SHOWN_LINES = 40
"""Lines shown of a command that failed."""


def main() -> int:
    if sys.version_info < OLDEST_PYTHON:
        return complain(
            f"Tetrarium needs Python 3.11 or newer, this is {sys.version.split()[0]}. "
            "Call dev.py with a newer one, say: python3.12 dev.py …"
        )
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=list(COMMANDS))
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="arguments that are passed on")
    told = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.chdir(ROOT)
    developing = told.command != "run"
    try:
        prepare_system(developing)
        prepare_venv(developing)
        return COMMANDS[told.command](told.rest)
    except Unprepared as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


# --- commands ---------------------------------------------------------------------------------------


def run(rest: list[str]) -> int:
    """Open the window on the sample space; without a display do the same job in text."""
    if has_display():
        return call([PYTHON, "-m", "tetrarium_gui", "--sample", *rest])
    say("no display here: the sample space is stored and asked in text instead")
    with tempfile.TemporaryDirectory(prefix="tetrarium-") as folder:
        return call([PYTHON, "-m", "tetrarium_gui", "demo", "--data-dir", folder, *rest])


def test(rest: list[str]) -> int:
    """Run the tests, those of the window in a process of their own; arguments make it one plain pytest call."""
    with screen(SCREENS) as environment:
        if rest:
            return call([PYTHON, "-m", "pytest", *rest], environment)
        folders = [name for name in project()["tool"]["pytest"]["ini_options"]["testpaths"] if has_tests(name)]
        codes = [call([PYTHON, "-m", "pytest", *SPREAD, *(name for name in folders if name != GUI_TESTS)], environment)]
        if GUI_TESTS in folders:
            several = ("-n", str(SCREENS), "--dist", "loadfile") if "TETRARIUM_SCREENS" in environment else ()
            codes.append(call([PYTHON, "-m", "pytest", *several, GUI_TESTS, *choice(environment)], environment))
        return max(codes)


def check(rest: list[str]) -> int:
    """Run every check, also when an earlier one failed; 0 when all are content."""
    steps: dict[str, Callable[[], int]] = {
        "format": lambda: call([PYTHON, "-m", "ruff", "format", "--check", "."]),
        "lint": lambda: call([PYTHON, "-m", "ruff", "check", "."]),
        "types": lambda: call([PYTHON, "-m", "mypy"]),
        "import contracts": lambda: call([PYTHON, "-c", "from importlinter.cli import lint_imports_command as c; c()"]),
        "tests": lambda: test(rest),
    }
    failed = []
    for name, step in steps.items():
        say(name)
        if step() != 0:
            failed.append(name)
    if failed:
        return complain(f"not content: {', '.join(failed)}")
    say("all checks are content")
    return 0


def bench(rest: list[str]) -> int:
    """Run one benchmark with its arguments, or all of them."""
    scripts = {path.stem: path for path in sorted((ROOT / "tests/bench").glob("*.py")) if path.stem[0] != "_"}
    if rest and not rest[0].startswith("-"):
        if rest[0] not in scripts:
            return complain(f"there is no benchmark '{rest[0]}'; there are: {', '.join(scripts)}")
        chosen, rest = [rest[0]], rest[1:]
    else:
        chosen = list(scripts)
    code = 0
    with screen() as environment:
        for name in chosen:
            say(f"bench {name}")
            code = max(code, call([PYTHON, scripts[name], *rest], environment))
    return code


def bundle(rest: list[str]) -> int:
    """Make the bundle of both programs and try it out, with the wheel; arguments go to packaging/bundle.py."""
    return call([PYTHON, ROOT / "packaging/bundle.py", *rest])


def ready(rest: list[str]) -> int:
    say(f"ready: {PYTHON.relative_to(ROOT)}")
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "run": run,
    "test": test,
    "check": check,
    "bench": bench,
    "bundle": bundle,
    "setup": ready,
}


# --- the environment --------------------------------------------------------------------------------


class Unprepared(Exception):
    """The environment cannot be made; the message says what a person can do."""


def prepare_system(developing: bool) -> None:
    """On Linux: install the system packages that are missing as root, else name the command that does."""
    if not LINUX or not (missing := missing_packages(developing)):
        return
    if shutil.which("apt-get") is None:
        if STAMP.exists():
            return  # said once
        say("this system has no apt-get; by Debian's names Tetrarium wants: " + " ".join(missing))
    elif os.geteuid() == 0:
        say("installing system packages: " + " ".join(missing))
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        quietly(["apt-get", "update"], quiet)
        quietly(["apt-get", "install", "-y", "--no-install-recommends", *missing], quiet)
    else:
        say("system packages are missing; if something does not start:\n    sudo apt-get install " + " ".join(missing))


def missing_packages(developing: bool) -> list[str]:
    wanted = WINDOW_PACKAGES.split()
    if developing and shutil.which("Xvfb") is None:
        wanted.append("xvfb")
    if shutil.which("c++") is None and shutil.which("g++") is None:
        wanted.append("g++")
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        wanted.append("python3-dev")
    if importlib.util.find_spec("ensurepip") is None:
        wanted.append("python3-venv")
    if shutil.which("dpkg-query") is None:
        return wanted
    # Newer Debians and Ubuntus have some of them under a name with t64 at its end.
    names = [name + end for name in wanted for end in ("", "t64")]
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *names], capture_output=True, text=True, check=False
    )
    there = {line.split()[0].removesuffix("t64") for line in listed.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in wanted if name not in there]


def prepare_venv(developing: bool) -> None:
    """Make `.venv` and install what pyproject.toml asks for; nothing when that was done already."""
    told = read_stamp()
    if told is None:
        say(f"making .venv with Python {sys.version.split()[0]}")
        quietly([sys.executable, "-m", "venv", "--clear", str(VENV)])
        told = {}
    wanted = {"python": python_id(), "project": project_id()}
    if {key: told.get(key) for key in wanted} == wanted and (told.get("developing") or not developing):
        return
    developing = developing or bool(told.get("developing"))
    install(developing)
    STAMP.write_text(json.dumps({**wanted, "developing": developing}))


def install(developing: bool) -> None:
    told = project()
    wanted = told["project"]["dependencies"] + (told["dependency-groups"]["dev"] if developing else [])
    optional = [name for name in wanted if name.startswith("hnswlib")]
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    say("installing Python packages (the first time this takes a minute or two)")
    quietly([*pip, *(name for name in wanted if name not in optional)])
    quietly([*pip, "--no-deps", "--editable", "."])
    try:
        quietly([*pip, *optional])
    except Unprepared:
        say("hnswlib could not be compiled here; Tetrarium works without it, by exact search")


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def has_tests(folder: str) -> bool:
    return any((ROOT / folder).rglob("test_*.py"))


def read_stamp() -> dict[str, object] | None:
    """What was installed, {} when that is not known; None when there is no .venv that this Python can use."""
    try:
        found = subprocess.run([str(PYTHON), "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    except OSError:
        return None
    if found.returncode != 0 or found.stdout.strip() != sys.version.replace("\r", ""):
        return None
    try:
        told = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def python_id() -> str:
    return sys.version


def project_id() -> str:
    """Changes with whatever decides what is installed, and with the place of the checkout."""
    state = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", "packaging/hatch_build.py"):
        state.update((ROOT / name).read_bytes())
    return state.hexdigest()


# --- the screen -------------------------------------------------------------------------------------


def has_display() -> bool:
    """True when a window can open. An X display is asked: Qt ends the whole process where none answers."""
    if not LINUX:
        return True
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if (wayland := os.environ.get("WAYLAND_DISPLAY")) and Path(runtime, wayland).is_socket():
        return True
    return answers(os.environ.get("DISPLAY", ""))


def answers(display: str) -> bool:
    """True when an X server listens on that display ("host:number.screen")."""
    host, _, number = display.rpartition(":")
    number = number.partition(".")[0]
    if not number.isdigit():
        return False
    if host in ("", "unix"):
        places: list[tuple[socket.AddressFamily, str | tuple[str, int]]] = [
            (socket.AF_UNIX, f"/tmp/.X11-unix/X{number}"),
            (socket.AF_UNIX, f"\0/tmp/.X11-unix/X{number}"),
        ]
    else:
        places = [(socket.AF_INET, (host, 6000 + int(number)))]
    for family, address in places:
        with contextlib.suppress(OSError), socket.socket(family) as door:
            door.settimeout(2.0)
            door.connect(address)
            return True
    return False


@contextlib.contextmanager
def screen(count: int = 1) -> Iterator[dict[str, str]]:
    """An environment in which windows can open: the person's display, or an Xvfb of our own that ends with us.

    count: how many of our own; more than one are listed in TETRARIUM_SCREENS, for tests that run side by side.
    """
    environment = dict(os.environ)
    if has_display():
        yield environment
        return
    if shutil.which("Xvfb") is None:
        say("no display and no Xvfb: the tests that open a real window are left out")
        yield {**environment, "QT_QPA_PLATFORM": "offscreen"}
        return
    servers = []
    try:
        servers += [start_xvfb() for _ in range(count)]
        environment.pop("WAYLAND_DISPLAY", None)
        environment |= {"DISPLAY": f":{servers[0][0]}", "QT_QPA_PLATFORM": "xcb"}
        if count > 1:
            environment["TETRARIUM_SCREENS"] = ",".join(f":{number}" for number, _ in servers)
        yield environment
    finally:
        for _, server in servers:
            server.terminate()
            server.wait()


def start_xvfb() -> tuple[int, subprocess.Popen[bytes]]:
    """Xvfb on a display number of its own choice, ready when it tells the number."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1000x24", "+extension", "GLX", "-noreset"]
    server = subprocess.Popen(
        [*command, "-nolisten", "tcp"], pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    try:
        number = b""
        # To the end of the line: it comes in two writes, and closing the pipe between them ends the server.
        while not number.endswith(b"\n"):
            told, _, _ = select.select([reader], [], [], DISPLAY_PATIENCE)
            part = os.read(reader, 16) if told else b""
            if not part:
                break
            number += part
    finally:
        os.close(reader)
    if not number.endswith(b"\n"):
        server.kill()
        server.wait()
        raise Unprepared("Xvfb did not start.")
    return int(number), server


def choice(environment: dict[str, str]) -> list[str]:
    """pytest's choice of window tests where only Qt's offscreen platform is at hand (it has no OpenGL)."""
    return ["-m", "not needs_display"] if environment.get("QT_QPA_PLATFORM") == "offscreen" else []


# --- talking ----------------------------------------------------------------------------------------


def call(command: list[str | Path], environment: dict[str, str] | None = None) -> int:
    """Run a command in the foreground; its exit code, where a signal counts as failure."""
    sys.stdout.flush()
    code = subprocess.call([str(part) for part in command], env=environment)
    return code if code >= 0 else 128 - code


def quietly(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command without a word. Raises Unprepared with its last lines when it fails."""
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        said = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise Unprepared(f"this failed: {' '.join(command)}\n{said}")


def say(words: str) -> None:
    print(f"· {words}", flush=True)


def complain(words: str) -> int:
    print(f"dev.py: {words}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
