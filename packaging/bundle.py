"""Make the bundle: wheel → clean environment → PyInstaller → `dist/Tetrarium`, measured.

    python3 dev.py bundle [--no-smoke]

The environment `.bundle` holds the wheel, what it depends on and PyInstaller, nothing for developers, so that
nothing creeps in. hnswlib has no wheels and compiles for the processor it finds; there it is built for any
(HNSWLIB_NO_NATIVE), because a bundle travels. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
ENVIRONMENT = ROOT / ".bundle"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = ENVIRONMENT / "tetrarium.json"
BUILD, DIST = ROOT / "build", ROOT / "dist"
BUNDLE = DIST / "Tetrarium"

LARGEST = 350
"""Megabytes (10^6 bytes) that the bundle may have; issue 6."""
STRIPPED = (
    "libpython*",
    "hnswlib*",
    "Stemmer*",
    "python3*/lib-dynload/*.so",
    "zstandard/*.so",
    "cryptography/hazmat/bindings/*.so",
)
"""Binaries of `_internal` that still carry their symbols: compiled on the way here, or published so (51 MB in all)."""
SHOWN_LINES = 40
"""Lines shown of a command that failed."""


class Failed(Exception):
    """A step did not work; the message says which and how."""


def main(argv: list[str] | None = None) -> int:
    """Build, measure and, unless told otherwise, try the bundle out; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-smoke", action="store_true", help="only build and measure")
    options = parser.parse_args(argv)
    try:
        started = time.monotonic()
        wheel = build_wheel()
        prepare_environment(wheel)
        freeze()
        say(f"built in {time.monotonic() - started:.0f} s")
        weigh()
    except Failed as error:
        print(f"bundle: {error}", file=sys.stderr, flush=True)
        return 1
    if options.no_smoke:
        return 0
    return subprocess.call([sys.executable, HERE / "smoke.py", "bundle", "wheel"])


def build_wheel() -> Path:
    """The wheel of this checkout."""
    say("building the wheel")
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    quietly([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT])
    return next(folder.glob("tetrarium-*.whl"))


def prepare_environment(wheel: Path) -> None:
    """`.bundle` with the wheel and its dependencies; those only when they changed."""
    wanted = wish()
    if told() != wanted:
        say("making .bundle, the environment to freeze (a minute or two)")
        quietly([sys.executable, "-m", "venv", "--clear", ENVIRONMENT])
        pip(*requirements(), no_native=True)
        STAMP.write_text(json.dumps(wanted))
    pip("--no-deps", "--force-reinstall", wheel)


def requirements() -> list[str]:
    """What pyproject.toml asks for at run time and to bundle; hnswlib for any processor, so never from a cache."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = project["project"]["dependencies"] + project["dependency-groups"]["bundle"]
    return ["--no-cache-dir", "--no-binary", "hnswlib", *named]


def wish() -> dict[str, str]:
    named = json.dumps(requirements()).encode()
    return {"python": sys.version, "requirements": hashlib.sha256(named).hexdigest(), "place": str(ROOT)}


def told() -> object:
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return None


def freeze() -> None:
    """Run PyInstaller, and lay what a desktop wants beside the programs."""
    say("freezing")
    quietly([PYTHON, HERE / "icons.py", BUILD / "icons"])
    shutil.rmtree(BUNDLE, ignore_errors=True)
    places = ["--distpath", DIST, "--workpath", BUILD / "pyinstaller"]
    quietly([PYTHON, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", *places, HERE / "tetrarium.spec"])
    if sys.platform.startswith("linux") and (strip := shutil.which("strip")):
        quietly([strip, "--strip-unneeded", *(file for part in STRIPPED for file in (BUNDLE / "_internal").glob(part))])
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.md", "README.md"):
        shutil.copy(ROOT / name, BUNDLE / name)
    if sys.platform.startswith("linux"):
        shutil.copy(HERE / "tetrarium.desktop", BUNDLE)
        shutil.copy(BUILD / "icons" / "tetrarium.png", BUNDLE)
        shutil.copy(ROOT / "resources" / "icons" / "tetrarium.svg", BUNDLE)


def weigh() -> None:
    """Tell the size, in all and by part. Raises Failed when the bundle is too large."""
    sizes: dict[str, int] = {}
    for file in BUNDLE.rglob("*"):
        if file.is_file() and not file.is_symlink():
            parts = file.relative_to(BUNDLE).parts
            part = "/".join(parts[:2]) if parts[0] == "_internal" and len(parts) > 2 else "/".join(parts[:-1]) or "."
            sizes[part] = sizes.get(part, 0) + file.stat().st_size
    whole = sum(sizes.values()) / 1e6
    for part, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:10]:
        say(f"  {size / 1e6:6.1f} MB  {part}")
    say(f"{whole:.1f} MB in {BUNDLE.relative_to(ROOT)}")
    if whole > LARGEST:
        raise Failed(f"the bundle has {whole:.0f} MB; more than {LARGEST} are not allowed.")


def pip(*arguments: str | Path, no_native: bool = False) -> None:
    environment = {**os.environ, "HNSWLIB_NO_NATIVE": "1"} if no_native else None
    quietly(
        [PYTHON, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *arguments],
        environment,
    )


def quietly(command: list[str | Path], environment: dict[str, str] | None = None) -> None:
    """Run a command without a word. Raises Failed with its last lines when it fails."""
    done = subprocess.run(
        list(map(str, command)), env=environment, cwd=ROOT, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode != 0:
        said = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise Failed(f"this failed: {' '.join(map(str, command))}\n{said}")


def say(words: str) -> None:
    print(f"· {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
