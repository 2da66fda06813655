"""Try the programs out as they reach people: the frozen ones, and those that a wheel installs.

    python3 packaging/smoke.py bundle|wheel … [--starts N] [--picture FILE]

They run in a folder with packages named like ours that raise when they are imported, with a space on a path with
blanks and Chinese, in the bare environment that IDEs give. Standard library only; Qt in `.bundle` takes the picture.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bundle  # noqa: E402  # both lie outside the packages
import dev  # noqa: E402

PATIENCE = 60.0
"""Seconds that anything may take."""
DECOYS = ("tetrarium", "tetrarium_gui", "mcp", "numpy", "onnxruntime")
FEWEST_COLOURS = 150
"""Different colours in a small picture of a window that shows something; an empty screen has one."""
LINGER = "0.5"
"""Seconds that the host of a space stays after its last client has left."""
STATEMENT = "The lighthouse keeper of Amrum keeps two lamps burning when the fog comes in from the west."
QUESTION = "How many lamps burn on Amrum in fog?"


class Bad(Exception):
    """A program did not do what it should."""


def main(argv: list[str] | None = None) -> int:
    """0 when everything works."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["bundle", "wheel"])
    parser.add_argument("--starts", type=int, default=5, help="starts to measure (default %(default)s)")
    parser.add_argument("--picture", type=Path, default=ROOT / "build" / "bundle.png", help="where to save the picture")
    options = parser.parse_args(argv)
    try:
        for what in options.what:
            with tempfile.TemporaryDirectory(prefix="tetrarium 烟 ") as folder:
                programs = frozen() if what == "bundle" else installed(Path(folder))
                Trial(what, programs, Path(folder), options).run()
    except Bad as error:
        print(f"smoke: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def frozen() -> Path:
    """The folder of the bundle's programs."""
    if not (bundle.BUNDLE / suffixed("tetrarium")).is_file():
        raise Bad("there is no bundle; python3 dev.py bundle makes one.")
    return bundle.BUNDLE


def installed(folder: Path) -> Path:
    """The scripts of a fresh environment into which the wheel was installed, outside the checkout."""
    wheel = next((ROOT / "build" / "wheel").glob("tetrarium-*.whl"), None) or bundle.build_wheel()
    say(f"installing {wheel.name} into a fresh environment")
    bundle.quietly([sys.executable, "-m", "venv", folder / "env"])
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    bundle.quietly(
        [scripts / suffixed("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    )
    return scripts


class Trial:
    """One set of programs, tried from a folder of decoys."""

    def __init__(self, what: str, programs: Path, folder: Path, options: argparse.Namespace) -> None:
        self.what, self.options = what, options
        self.window, self.endpoint = (programs / suffixed(name) for name in ("tetrarium", "tetrarium-mcp"))
        self.space, self.decoys = folder / "space", folder / "project"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TETRARIUM_LINGER": LINGER}
        if os.name == "nt":
            self.environment |= {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "APPDATA", "LOCALAPPDATA")}
        if what == "bundle":
            self.environment["PYTHONPATH"] = str(self.decoys)  # a frozen program does not look at it
        for name in DECOYS:
            (self.decoys / name).mkdir(parents=True)
            (self.decoys / name / "__init__.py").write_text(f"raise SystemExit('the decoy {name} was imported')\n")

    def run(self) -> None:
        self.commands()
        self.conversation()
        self.opened()
        self.starts()
        self.no_host()
        say(f"{self.what}: content")

    def commands(self) -> None:
        """The programs name each other by absolute paths, and a hook answers in its form."""
        entry = json.loads(self.call(self.window, "connect", "print", "--json"))
        expect([entry["command"], entry["args"]] == [str(self.endpoint), []], f"'connect print' names {entry}")
        self.call(self.window, "demo", "--data-dir", str(self.space))
        started = time.monotonic()
        hook = ("hook", "session-start", "--ide", "cursor", "--seconds", "30")
        said = self.call(self.window, "--data-dir", str(self.space), *hook, given="{}")
        expect("not an instruction" in said, f"the start hook does not say what is known, but: {said}")
        say(f"session-start hook: {time.monotonic() - started:.2f} s")

    def conversation(self) -> None:
        """A client shakes hands, stores and recalls."""
        with self.client() as ask:
            ask("memory_create", content=STATEMENT)
            told = ask("void_recall", query=QUESTION)
            expect(STATEMENT in json.dumps(told), "what was stored is not recalled")

    def starts(self) -> None:
        """Seconds from the start of an endpoint to the handshake's answer, and to the first answer of the engine."""
        self.measured("relay to a cold host", before=self.no_host)
        with self.client():  # keeps the host
            self.measured("relay to a warm host")
        self.no_host()
        self.measured("standalone", "--standalone")

    def measured(self, name: str, *options: str, before: Callable[[], None] = lambda: None) -> None:
        shaken, answered, computed = [], [], 0.0
        for _ in range(self.options.starts):
            before()
            started, computed = time.monotonic(), computed - computing_of_children()
            with self.client(*options) as ask:
                shaken.append(time.monotonic() - started)
                ask("memory_search", query=QUESTION)
                answered.append(time.monotonic() - started)
            computed += computing_of_children()
        for what, figures in (("handshake", shaken), ("first answer", answered)):
            said = f"{statistics.median(figures):.2f} s, at worst {max(figures):.2f} s, n = {len(figures)}"
            say(f"{name}: {what} after {said}")
        say(f"{name}: the endpoint itself computed for {computed / self.options.starts:.2f} s")

    def no_host(self) -> None:
        """Wait until the host of the space has left: it lingers for LINGER seconds."""
        expect(until(lambda: not (self.space / "space.host").exists()), "the host of the space does not leave")

    def opened(self) -> None:
        """The window opens on the sample space while a client stores into it; a picture; it leaves when told."""
        if sys.platform.startswith("linux") and not dev.has_display() and shutil.which("Xvfb") is None:
            say("no screen: the window is left out")
            return
        with dev.screen() as screen:
            environment = self.environment | {
                name: screen[name] for name in ("DISPLAY", "XAUTHORITY", "QT_QPA_PLATFORM") if name in screen
            }
            started = time.monotonic()
            process = subprocess.Popen(
                [self.window, "--data-dir", self.space], cwd=self.decoys, env=environment, stderr=subprocess.PIPE
            )
            try:
                seen = until(lambda: process.poll() is None and self.colours(environment) >= FEWEST_COLOURS)
                expect(seen, "the window shows nothing")
                say(
                    f"window with its memories: {time.monotonic() - started:.1f} s, {resident(process.pid)} MB resident"
                )
                with self.client() as ask:
                    ask("memory_create", content=STATEMENT.replace("Amrum", "Sylt"))
                    ask("void_recall", query=QUESTION, budget=400)
                    self.colours(environment, ask.words())
            finally:
                process.send_signal(signal.SIGTERM)
                _, said = process.communicate(timeout=PATIENCE)
            expect(
                process.returncode == 0 or os.name == "nt",
                f"the window left with {process.returncode}: {said.decode()}",
            )

    def colours(self, environment: dict[str, str], conversation: str = "") -> int:
        """Take a picture of the screen; how many colours it has."""
        picture = self.options.picture if self.what == "bundle" else self.space.with_name("window.png")
        picture.parent.mkdir(parents=True, exist_ok=True)
        words = self.space.with_name("conversation.txt")
        words.write_text(conversation, "utf-8")
        with_words = [words] if conversation else []
        done = subprocess.run(
            [bundle.PYTHON, ROOT / "packaging" / "look.py", picture, *with_words],
            env=environment | {"PYTHONPATH": ""}, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        expect(done.returncode == 0, f"no picture: {done.stderr}")
        return int(done.stdout)

    def call(self, program: Path, *arguments: str, given: str = "") -> str:
        """What a program says. Raises Bad when it fails."""
        done = subprocess.run(
            [program, *arguments], cwd=self.decoys, env=self.environment, input=given.encode(), capture_output=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        expect(done.returncode == 0, f"{program.name} {' '.join(arguments)}: {done.returncode}, {done.stderr.decode()}")
        expect(not done.stderr, f"{program.name} {' '.join(arguments)} complains: {done.stderr.decode()}")
        return done.stdout.decode("utf-8")

    @contextlib.contextmanager
    def client(self, *options: str) -> Iterator[Client]:
        """A client of the endpoint, hands shaken; it has left with 0 afterwards."""
        process = subprocess.Popen(
            [self.endpoint, "--data-dir", self.space, *options], cwd=self.decoys, env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield Client(process)
        finally:
            assert process.stdin
            process.stdin.close()
            code = process.wait(PATIENCE)
        expect(code == 0, f"the endpoint left with {code}")


class Client:
    """Speaks MCP with an endpoint; calling it calls a tool."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._number, self._said = process, 0, []
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "smoke", "version": "1"}}
        told = self._ask("initialize", about)
        expect(told["serverInfo"]["name"] == "tetrarium", f"it is called {told['serverInfo']}")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        expect(not answer.get("isError"), f"{tool}: {answer}")
        self._said += [f"→ {tool} {json.dumps(arguments, ensure_ascii=False)}", f"← {answer['content'][0]['text']}", ""]
        return answer

    def words(self) -> str:
        """The conversation so far, for people."""
        return "MCP client (stdio)\n\n" + "\n".join(self._said)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            answer = json.loads(self._line())
            if answer.get("id") == self._number:
                expect("result" in answer, f"{method}: {answer}")
                return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout
        if os.name != "nt":
            expect(bool(select.select([self._process.stdout], [], [], PATIENCE)[0]), "no answer in time")
        line = self._process.stdout.readline()
        expect(bool(line), "the endpoint closed its output")
        return line


def until(condition: Callable[[], bool]) -> bool:
    """Whether it becomes true in time; each look takes a while by itself."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def computing_of_children() -> float:
    """Seconds that the children that have left computed for, in all."""
    used = os.times()
    return used.children_user + used.children_system


def resident(process: int) -> str:
    """Megabytes of memory of a process, where the system tells."""
    with contextlib.suppress(OSError, IndexError):
        return str(int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000)
    return "?"


def suffixed(name: str) -> str:
    return name + (".exe" if os.name == "nt" else "")


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Bad(otherwise)


def say(words: str) -> None:
    print(f"· {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
