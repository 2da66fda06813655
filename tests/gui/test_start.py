"""How the program starts: with a display, without one, and as a command line."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from tetrarium.cli import commands

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    env |= {"PYTHONPATH": os.pathsep.join([str(ROOT / "engine"), str(ROOT / "gui")]), **environment}
    command = ["-c", code] if code else ["-m", "tetrarium_gui", *arguments]
    return subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_it_says_so_and_ends_with_3() -> None:
    ended = start()
    assert ended.returncode == 3
    assert "DISPLAY" in ended.stderr
    assert ended.stdout == ""


def test_a_subcommand_never_imports_qt(tmp_path: Path) -> None:
    code = (
        "import sys; from tetrarium_gui.__main__ import main\n"
        f"code = main(['stats', '--data-dir', {str(tmp_path)!r}])\n"
        "assert not [m for m in sys.modules if m.startswith(('PySide6', 'pyqtgraph', 'OpenGL'))]\n"
        "sys.exit(code)"
    )
    ended = start(code=code)
    assert ended.returncode == 0, ended.stderr


def test_the_help_names_every_command_and_imports_no_qt() -> None:
    code = (
        "import sys\nfrom tetrarium_gui.__main__ import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n    assert not [m for m in sys.modules if m.startswith(('PySide6', 'apsw'))]\n"
    )
    told = start(code=code)
    assert told.returncode == 0, told.stderr
    listed = [line.split()[0] for line in told.stdout.split("commands:")[1].splitlines() if line.strip()]
    assert listed == [name for name, _ in commands()]
    assert {"store", "restore", "trash", "export", "audit", "encrypt", "rekey", "prove-deleted"} <= {*listed}


def test_the_qt_binding_gives_back_what_it_borrows() -> None:
    """PySide6 6.12.0 loses one reference to None in every call that returns nothing; before Python 3.12 that
    ends the process after some thousand calls. pyproject.toml keeps it out."""
    thing, before = QObject(), sys.getrefcount(None)
    for _ in range(1000):
        thing.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < 100


@pytest.mark.needs_display
@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without asking")
def test_a_terminated_program_closes_its_space_and_ends_well(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "engine"), str(ROOT / "gui")])}
    env |= {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    log = tmp_path / "log"
    with log.open("w") as out:
        program = subprocess.Popen(
            [sys.executable, "-m", "tetrarium_gui", "--data-dir", str(tmp_path / "space")],
            env=env,
            stdout=out,
            stderr=out,
        )
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "space" / "space.tetrarium").exists() and time.monotonic() < deadline:
                assert program.poll() is None, log.read_text()
                select.select([], [], [], 0.05)
            program.send_signal(signal.SIGTERM)
            assert program.wait(timeout=30) == 0, log.read_text()
        finally:
            program.kill()
    assert (tmp_path / "config" / "Tetrarium" / "window.ini").exists()
    assert not (tmp_path / "space" / "space.tetrarium-wal").exists(), "the store was closed"


def test_help_tells_both_ways() -> None:
    ended = start("--help")
    assert ended.returncode == 0
    assert "--sample" in ended.stdout
    assert "recall" in ended.stdout


@pytest.mark.needs_display
def test_an_engine_that_does_not_end_in_time_ends_with_the_program(tmp_path: Path) -> None:
    code = (
        "import sys, threading, time\nfrom pathlib import Path\nfrom PySide6.QtCore import QTimer\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from tetrarium_gui import app, bridge, shell, worker\nworker.DRAIN_TIME = 0.2\nbridge.WATCH_ENDS = 200\n"
        "application = QApplication(sys.argv)\nbegan = threading.Event()\n"
        "def busy(service):\n    began.set()\n    time.sleep(60)\n"
        "original = shell.Shell.show\n"
        "def show(self):\n    original(self)\n    self.bridge.opened.connect(lambda: self.bridge.edit(busy))\n"
        "    leave = lambda: self.window.close() if began.is_set() else QTimer.singleShot(50, leave)\n    leave()\n"
        "shell.Shell.show = show\n"
        f"sys.exit(app.run(Path({str(tmp_path / 'space')!r})))"
    )
    env = {"DISPLAY": os.environ["DISPLAY"], "XDG_CONFIG_HOME": str(tmp_path / "config")}
    ended = start(code=code, **env)
    assert ended.returncode == 0, ended.stderr
    assert "did not end in time" in ended.stderr
