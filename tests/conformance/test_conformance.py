"""Judged by others: the official conformance suite at both revisions, the Inspector, two clients of the TypeScript SDK.

The suite knows streamable HTTP only, so `http_relay` stands between it and the endpoint's lines, and it wants fixtures
by fixed names, which `suite_fixtures` puts in front of the shipped session. Everything is pinned (`node_packages`);
where npm cannot be reached these tests are skipped and say so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from node_packages import INSPECTOR, PACKAGES, Node, NoNode, node_with

from clients import LINGER, Pipe
from tetrarium.mcp.prompts import PROMPTS
from tetrarium.mcp.resources import TEMPLATES
from tetrarium.mcp.tools import TOOLS

HERE = Path(__file__).resolve().parent
SUITE = ("@modelcontextprotocol", "conformance", "dist", "index.js")
PATIENCE = 200.0
"""Seconds that one program may take on a busy machine."""

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the fixture endpoint forks"),
]

SCORED = {"2025-11-25": (30, 69), "2026-07-28": (37, 120)}
"""Scenarios that the suite scores at a revision, and the checks that pass in them."""

TIMED = {"server-stateless"}
"""Scenarios that wait half a second for an answer and no longer. On a machine that is busy with two judges they are asked
again, alone, before they are believed."""

UNSCORED = {
    "2025-11-25": {
        "server-session-lifecycle": "added after the revision; passes",
        "json-schema-2020-12": "pending in the suite; passes",
        "server-sse-polling": "pending in the suite, HTTP only; nothing is checked",
    },
    "2026-07-28": {
        "json-schema-2020-12": "pending in the suite; passes",
        "http-header-validation": "pending in the suite, HTTP only: a pipe has no headers",
        "http-custom-header-server-validation": "pending in the suite, HTTP only",
        **{
            f"tasks-{name}": "the tasks extension: no tool of ours runs long enough for it"
            for name in (
                "lifecycle",
                "capability-negotiation",
                "wire-fields",
                "request-state-removal",
                "mrtr-input",
                "request-headers",
                "dispatch-and-envelope",
                "status-notifications",
                "required-task-error",
                "mrtr-composition",
            )
        },
    },
}
"""What the suite runs and does not score, and why it does not bind us."""


@pytest.fixture(scope="session")
def node() -> Node:
    return _node(PACKAGES)


def _node(packages: dict[str, str]) -> Node:
    try:
        return node_with(packages)
    except NoNode as reason:
        pytest.skip(f"conformance is not judged here: {reason}")


@pytest.fixture(scope="session")
def verdicts(node: Node, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The checks of every scenario, by revision. Both revisions are judged at the same time."""
    folder = tmp_path_factory.mktemp("conformance")
    with _relay(folder) as url, ThreadPoolExecutor() as both:
        judging = {revision: both.submit(_judge, node, url, revision, folder) for revision in SCORED}
        judged = {revision: future.result() for revision, future in judging.items()}
        for revision, found in judged.items():
            for name in TIMED & found.keys():
                if any(check["status"] not in ("SUCCESS", "INFO") for check in found[name]):
                    found |= _judge(node, url, revision, folder, "--scenario", name, "--spec-version", revision)
        return judged


@contextmanager
def _relay(folder: Path) -> Iterator[str]:
    door = folder / "door"
    endpoint = ("fixture_endpoint.py", str(door), "--standalone", "--data-dir", str(folder / "space"))
    with _program(*endpoint, "--log-level", "error"), _program("http_relay.py", str(door)) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def _program(script: str, *arguments: str) -> Iterator[str]:
    """A program of this folder, from its first line on until its input ends."""
    pipe = subprocess.PIPE
    command = [sys.executable, str(HERE / script), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def _judge(node: Node, url: str, revision: str, folder: Path, *choice: str) -> dict[str, list[dict[str, Any]]]:
    results = folder / "-".join((revision, *choice))
    chosen = choice or ("--requirements", revision)
    done = node.run(node.module(*SUITE), "server", "--url", url, *chosen, "-o", str(results), timeout=PATIENCE)
    assert results.is_dir(), done.stdout[-4_000:] + done.stderr[-2_000:]
    return {
        path.parent.name.removeprefix("server-").rsplit("-", 6)[0]: json.loads(path.read_text("utf-8"))
        for path in sorted(results.glob("*/checks.json"))
    }


@pytest.mark.parametrize("revision", SCORED)
def test_every_scored_scenario_of_the_official_suite_passes(
    verdicts: dict[str, dict[str, list[dict[str, Any]]]], revision: str
) -> None:
    judged = {name: checks for name, checks in verdicts[revision].items() if name not in UNSCORED[revision]}
    blamed = [
        f"{name}: {check['id']}: {check.get('errorMessage')}"
        for name, checks in judged.items()
        for check in checks
        if check["status"] not in ("SUCCESS", "INFO")
    ]
    assert blamed == []
    passed = Counter(check["status"] for checks in judged.values() for check in checks)["SUCCESS"]
    assert (len(judged), passed) == SCORED[revision]
    assert set(verdicts[revision]) - set(judged) == set(UNSCORED[revision])


@pytest.mark.parametrize("revision", SCORED)
def test_every_message_on_the_wire_follows_the_schema_of_its_revision(
    verdicts: dict[str, dict[str, list[dict[str, Any]]]], revision: str
) -> None:
    checks = [check for found in verdicts[revision].values() for check in found if check["id"] == "wire-schema-valid"]
    assert len(checks) > 25
    assert [check for check in checks if check["status"] != "SUCCESS"] == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_client_of_the_typescript_sdk_works_a_day(node: Node, tmp_path: Path, era: str) -> None:
    done = node.run(
        str(HERE / "typescript_client.mjs"),
        era,
        node.module(),
        *_command(tmp_path / "space"),
        timeout=PATIENCE,
        PYTHONPATH=os.pathsep.join(path for path in sys.path if path),
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    seen = json.loads(done.stdout)
    memory = seen.pop("id")
    assert seen == {
        "server": "tetrarium",
        "tools": len(TOOLS),
        "stored": "stored",
        "recalled": [memory],
        "listed": True,
        "templates": [template.uri_template for template in TEMPLATES],
        "read": True,
        "prompts": [prompt.name for prompt in PROMPTS],
        "embedded": [f"memory://item/{memory}"],
        "completed": ["gateway"],
        "refused": -32002 if era == "legacy" else -32602,
        "updated": f"memory://item/{memory}",
    }


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Path]:
    """A space whose host stays from call to call, because one client stays."""
    staying = Pipe(tmp_path / "space").hello()
    yield tmp_path / "space"
    staying.end()


def test_the_inspector_sees_tools_resources_and_prompts(warm: Path) -> None:
    node = _node(INSPECTOR)
    launcher = node.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")

    def inspect(*method: str) -> dict[str, Any]:
        done = node.run(
            launcher,
            "--cli",
            *_command(warm),
            "--method",
            *method,
            timeout=PATIENCE,
            PYTHONPATH=os.pathsep.join(path for path in sys.path if path),
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    assert [tool["name"] for tool in inspect("tools/list")["tools"]] == [tool.name for tool in TOOLS]
    assert inspect("resources/read", "--uri", "memory://stats")["contents"][0]["mimeType"] == "application/json"
    assert inspect("prompts/get", "--prompt-name", "session_start")["messages"][0]["role"] == "user"


def _command(space: Path) -> list[str]:
    return [sys.executable, "-m", "tetrarium.mcp", *LINGER, "--data-dir", str(space), "--log-level", "error"]
