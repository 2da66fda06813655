"""An IDE is connected, and taken off again, without one foreign byte of its configuration changing."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tetrarium import connect
from tetrarium.cli import main
from tetrarium.connect import Command, Places, Refused, Standing, Wish, files
from tetrarium.connect.edits import BEGIN, END

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "connect"
ENDPOINT = Command("/opt/tetrarium/tetrarium-mcp", ("--data-dir", "/srv/my memories/空间"))
PROGRAM = Command("/opt/tetrarium/tetrarium")
HOME_FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.jsonc",
    "opencode-v1": ".config/opencode/opencode.json",
    "zed": ".config/zed/settings.json",
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "zed": ".zed/settings.json",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home of 某人"
    folder.mkdir()
    return folder


@pytest.fixture
def places(home: Path) -> Places:
    return Places(home=home, ledger=home / "ledger", environment={}, platform="linux")


def within(places: Places, project: Path) -> Places:
    return Places(home=places.home, ledger=places.ledger, environment={}, platform="linux", project=project)


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def golden(name: str, when: str) -> bytes:
    return next(GOLDEN.glob(f"{name}.{when}.*")).read_bytes()


@pytest.mark.parametrize("name", HOME_FILES)
def test_each_configuration_gains_our_entry_and_keeps_every_other_byte(name: str, home: Path, places: Places) -> None:
    file = written(home / HOME_FILES[name], golden(name, "before"))
    ide = name.removesuffix("-v1")
    plan = connect.plan(ide, places, Wish(endpoint=ENDPOINT))
    assert file.read_bytes() == golden(name, "before")
    connect.apply(plan, places)
    assert file.read_bytes() == golden(name, "after")
    assert connect.plan(ide, places, Wish(endpoint=ENDPOINT)).changes == ()
    assert connect.undo(ide, places).restored == (file,)
    assert file.read_bytes() == golden(name, "before")


def test_a_projects_own_file_is_written_like_its_golden_twin(home: Path, places: Places) -> None:
    project = home / "shop"
    file = written(project / ".mcp.json", golden("claude-code-project", "before"))
    inside = within(places, project)
    connect.apply(connect.plan("claude-code", inside, Wish(endpoint=ENDPOINT)), inside)
    assert file.read_bytes() == golden("claude-code-project", "after")


@pytest.mark.parametrize("name", [one.name for one in connect.IDES])
def test_what_did_not_exist_is_made_and_is_gone_after_the_undo(name: str, home: Path, places: Places) -> None:
    for scope in (places, within(places, home / "shop")):
        (home / "shop").mkdir(exist_ok=True)
        before = everything_below(home)
        if scope.project and name not in PROJECT_FILES:
            with pytest.raises(Refused, match="no configuration of a project"):
                connect.plan(name, scope, Wish(endpoint=ENDPOINT))
            continue
        applied = connect.apply(connect.plan(name, scope, Wish(endpoint=ENDPOINT)), scope)
        expected = (
            home / "shop" / PROJECT_FILES[name] if scope.project else home / HOME_FILES[name].replace(".jsonc", ".json")
        )
        assert [one.path for one in applied] == [expected]
        connect.undo(name, scope)
        assert everything_below(home) == before
        assert sorted(path.name for path in home.iterdir()) == ["ledger", "shop"]
        assert list((home / "shop").iterdir()) == []


def test_what_others_changed_since_stays_and_only_ours_goes(home: Path, places: Places) -> None:
    file = written(home / HOME_FILES["zed"], golden("zed", "before"))
    connect.apply(connect.plan("zed", places, Wish(endpoint=ENDPOINT)), places)
    file.write_bytes(file.read_bytes().replace(b'"vim_mode": true', b'"vim_mode": false'))
    undone = connect.undo("zed", places)
    assert undone.cleaned == (file,)
    assert file.read_bytes() == golden("zed", "before").replace(b'"vim_mode": true', b'"vim_mode": false')


def test_an_entry_that_was_there_comes_back_even_when_others_changed_the_file(home: Path, places: Places) -> None:
    file = written(home / HOME_FILES["gemini"], golden("gemini", "before"))
    connect.apply(connect.plan("gemini", places, Wish(endpoint=ENDPOINT)), places)
    file.write_bytes(file.read_bytes().replace(b"api-key", b"oauth"))
    connect.undo("gemini", places)
    assert file.read_bytes() == golden("gemini", "before").replace(b"api-key", b"oauth")


def test_connecting_twice_in_different_ways_is_undone_to_the_first_bytes(home: Path, places: Places) -> None:
    file = written(home / HOME_FILES["codex"], golden("codex", "before"))
    for arguments in ((), ("--data-dir", "/elsewhere")):
        wish = Wish(
            endpoint=Command(ENDPOINT.program, arguments), program=PROGRAM, hooks=("session-start", "session-end")
        )
        connect.apply(connect.plan("codex", places, wish), places)
    assert b"/elsewhere" in file.read_bytes()
    assert (home / ".codex" / "hooks.json").is_file()
    connect.undo("codex", places)
    assert file.read_bytes() == golden("codex", "before")
    assert not (home / ".codex" / "hooks.json").exists()


@pytest.mark.parametrize(
    ("ide", "content", "words"),
    [
        ("cursor", b'{\n  "mcpServers": {\n', "Line 3, column 1"),
        ("cursor", b'{"mcpServers": [1]}', "mcpServers is not an object"),
        ("zed", b'{"a": 1}\n{"b": 2}', "Line 2, column 1"),
        ("vscode", b'{"servers": {}, "servers": {}}', "stands twice"),
        ("codex", b"model = \n", "Line 1, column 9"),
        ("codex", b"mcp_servers = { docs = { } }\n", "without rewriting"),
        ("gemini", '{"caf\xe9": 1}'.encode("latin-1"), "not UTF-8"),
        ("claude-code", b'{"a": 1}\0', "Line 1, column 9"),
    ],
)
def test_a_broken_file_is_refused_with_the_place_and_stays_as_it_is(
    ide: str, content: bytes, words: str, home: Path, places: Places
) -> None:
    file = written(home / HOME_FILES[ide], content)
    with pytest.raises(Refused) as refused:
        connect.plan(ide, places, Wish(endpoint=ENDPOINT))
    assert words in str(refused.value)
    assert str(file) in str(refused.value)
    assert file.read_bytes() == content
    standing = {found.name: found for found in connect.detect(places, ENDPOINT)}[ide]
    assert (standing.standing, bool(standing.problem)) == (Standing.BROKEN, True)


def test_a_link_is_followed_and_the_mode_stays(home: Path, places: Places) -> None:
    real = written(home / "dotfiles" / "cursor.json", b'{"mcpServers": {}}')
    real.chmod(0o600)
    (home / ".cursor").mkdir()
    link = home / ".cursor" / "mcp.json"
    link.symlink_to(real)
    connect.apply(connect.plan("cursor", places, Wish(endpoint=ENDPOINT)), places)
    assert link.is_symlink()
    assert b"tetrarium" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o600
    connect.undo("cursor", places)
    assert (link.is_symlink(), real.read_bytes()) == (True, b'{"mcpServers": {}}')


def test_the_copy_that_is_kept_is_the_file_as_it_was_and_only_its_owner_reads_it(home: Path, places: Places) -> None:
    written(home / HOME_FILES["vscode"], golden("vscode", "before"))
    (applied,) = connect.apply(connect.plan("vscode", places, Wish(endpoint=ENDPOINT)), places)
    assert applied.backup is not None
    assert applied.backup.read_bytes() == golden("vscode", "before")
    if os.name != "nt":
        assert places.ledger.stat().st_mode & 0o077 == 0


def test_what_is_installed_is_found_and_told_how_it_stands(home: Path, places: Places) -> None:
    written(home / HOME_FILES["zed"], golden("zed", "after"))
    written(home / HOME_FILES["gemini"], golden("gemini", "before"))
    (home / ".codex").mkdir()
    found = {one.name: one.standing for one in connect.detect(places, ENDPOINT)}
    assert found["zed"] is Standing.CONNECTED
    assert found["gemini"] is Standing.OTHER
    assert found["codex"] is Standing.OPEN
    assert found["windsurf"] is Standing.ABSENT


def test_windows_and_mac_keep_their_files_where_those_systems_do(tmp_path: Path) -> None:
    environment = {"APPDATA": str(tmp_path / "roaming"), "LOCALAPPDATA": str(tmp_path / "local")}
    windows = Places(home=tmp_path, ledger=tmp_path, environment=environment, platform="win32")
    mac = Places(home=tmp_path, ledger=tmp_path, environment={}, platform="darwin")
    support = tmp_path / "Library" / "Application Support"
    assert connect.ide_named("vscode").files(windows) == (tmp_path / "roaming" / "Code" / "User" / "mcp.json",)
    assert connect.ide_named("vscode").files(mac) == (support / "Code" / "User" / "mcp.json",)
    assert connect.ide_named("zed").files(mac) == (tmp_path / ".config" / "zed" / "settings.json",)
    assert connect.ide_named("claude-desktop").files(mac) == (support / "Claude" / "claude_desktop_config.json",)
    own = tmp_path / "local" / "Packages" / "Claude_pzs8" / "LocalCache" / "Roaming" / "Claude"
    own.mkdir(parents=True)
    assert connect.ide_named("claude-desktop").files(windows) == (own / "claude_desktop_config.json",)


def test_hooks_and_habits_stand_beside_those_of_others_and_go_without_a_trace(home: Path, places: Places) -> None:
    project = home / "shop"
    theirs = b'{\r\n  "permissions": {"allow": []},\r\n  "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}\r\n}\r\n'
    settings = written(home / ".claude" / "settings.json", theirs)
    habits = written(project / "CLAUDE.md", b"# Shop\r\n\r\nUse tabs.")
    wish = Wish(endpoint=ENDPOINT, program=PROGRAM, hooks=("session-start", "session-end"), instructions=project)
    connect.apply(connect.plan("claude-code", places, wish), places)
    hooks: dict[str, Any] = json.loads(settings.read_bytes())["hooks"]
    assert [group["hooks"][0]["command"] for group in hooks["SessionStart"]] == [
        "mine",
        "/opt/tetrarium/tetrarium hook session-start --ide claude-code",
    ]
    assert list(hooks) == ["SessionStart", "SessionEnd"]
    text = habits.read_text("utf-8")
    assert text.startswith("# Shop\n\nUse tabs.\n\n" + BEGIN)
    assert text.endswith(END + "\n")
    assert b"\r\n" in habits.read_bytes()
    assert connect.plan("claude-code", places, wish).changes == ()
    connect.undo("claude-code", places)
    assert (settings.read_bytes(), habits.read_bytes()) == (theirs, b"# Shop\r\n\r\nUse tabs.")
    assert not (home / ".claude.json").exists()


def test_hooks_of_a_project_name_it_and_stay_out_of_what_is_shared(home: Path, places: Places) -> None:
    project = home / "the shop"
    project.mkdir()
    inside = within(places, project)
    wish = Wish(endpoint=ENDPOINT, program=PROGRAM, hooks=("session-start",))
    applied = connect.apply(connect.plan("claude-code", inside, wish), inside)
    assert [one.path.relative_to(project).as_posix() for one in applied] == [".mcp.json", ".claude/settings.local.json"]
    hooks = json.loads((project / ".claude" / "settings.local.json").read_bytes())["hooks"]
    assert hooks["SessionStart"][0]["hooks"][0]["command"].endswith("--ide claude-code --project 'the shop'")


def test_cursor_gets_a_rule_with_its_heading_and_codex_shares_the_file_of_agents(home: Path, places: Places) -> None:
    for ide, file in (("cursor", ".cursor/rules/tetrarium.mdc"), ("codex", "AGENTS.md"), ("gemini", "GEMINI.md")):
        connect.apply(connect.plan(ide, places, Wish(endpoint=ENDPOINT, instructions=home / "p")), places)
        text = (home / "p" / file).read_text("utf-8")
        assert ("alwaysApply: true" in text) == (ide == "cursor")
        assert "void_recall" in text
        connect.undo(ide, places)
        assert not (home / "p" / file).exists()


def test_half_a_pair_of_markers_is_left_alone(home: Path, places: Places) -> None:
    file = written(home / "p" / "AGENTS.md", f"mine\n{BEGIN}\nmore of mine\n".encode())
    with pytest.raises(Refused, match="do not pair up"):
        connect.plan("codex", places, Wish(endpoint=ENDPOINT, instructions=home / "p"))
    assert file.read_bytes() == f"mine\n{BEGIN}\nmore of mine\n".encode()


# --- the command ------------------------------------------------------------------------------------


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody at a shell whose home is empty but for Zed and an installed Codex."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("TETRARIUM_DATA_DIR", str(home / "space"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    written(home / HOME_FILES["zed"], golden("zed", "before"))
    (home / ".codex").mkdir()
    return home


def test_without_an_ide_the_command_lists_what_is_here(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect"]) == 0
    said = capsys.readouterr().out
    assert "zed             not connected" in said
    assert "windsurf" in said.split("Not found:")[1]
    assert main(["connect", "--json"]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["ides"]} == {one.name for one in connect.IDES}


def test_the_command_shows_the_change_does_it_tries_it_out_and_takes_it_back(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = person / HOME_FILES["zed"]
    assert main(["connect", "zed", "--dry-run"]) == 0
    assert '+    "tetrarium": {' in capsys.readouterr().out
    assert main(["connect", "zed"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert file.read_bytes() == golden("zed", "before")
    assert main(["connect", "zed", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "Tested: tetrarium" in said
    assert " tools (MCP" in said
    entry = json.loads("{" + file.read_text("utf-8").split('"tetrarium": {')[1].split("}")[0] + "}")
    assert Path(entry["command"]).is_absolute()
    # An IDE does not pass on the variable by which this shell names its space.
    assert entry["args"][-2:] == ["--data-dir", str(person / "space")]
    assert main(["connect", "zed", "--undo"]) == 0
    assert "is as it was" in capsys.readouterr().out
    assert file.read_bytes() == golden("zed", "before")
    assert main(["connect", "zed", "--undo"]) == 1
    assert "nothing to undo" in capsys.readouterr().err


def test_the_way_back_that_is_told_is_the_whole_command(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = person / "a project"
    project.mkdir()
    assert main(["connect", "cursor", "--project", str(project), "--yes"]) == 0
    told = capsys.readouterr().out.split("To take this back: ")[1]
    made = [file for file in project.rglob("*") if file.is_file()]
    assert made
    program, *words = shlex.split(told)
    assert program == "tetrarium"
    assert main(words) == 0
    assert not [file for file in project.rglob("*") if file.is_file()]


def test_the_entry_can_be_printed_for_any_other_client(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "print", "--data-dir", "somewhere"]) == 0
    said = capsys.readouterr().out
    entry = json.loads(said[said.index("{") : said.rindex("}") + 1])["mcpServers"]["tetrarium"]
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["args"][-1]).is_absolute()
    assert "[mcp_servers.tetrarium]" in said
    assert main(["connect", "emacs"]) == 1
    assert "connect print" in capsys.readouterr().err


def test_a_space_with_blanks_and_chinese_is_connected_under_a_c_locale(person: Path) -> None:
    (person / ".cursor").mkdir()
    bare = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    script = "import sys; from tetrarium.cli import main; sys.exit(main())"
    command = [
        sys.executable,
        "-c",
        script,
        "connect",
        "cursor",
        "--yes",
        "--hooks",
        "--data-dir",
        str(person / "空 间"),
    ]
    done = subprocess.run(command, env={**os.environ, **bare}, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    entry = json.loads((person / ".cursor" / "mcp.json").read_bytes())["mcpServers"]["tetrarium"]
    assert entry["args"][-2:] == ["--data-dir", str(person / "空 间")]
    hooks = json.loads((person / ".cursor" / "hooks.json").read_bytes())
    assert hooks["version"] == 1
    assert shlex.split(hooks["hooks"]["sessionEnd"][0]["command"])[-6:-4] == ["--data-dir", str(person / "空 间")]


def test_an_endpoint_that_does_not_answer_is_told_with_what_it_said(tmp_path: Path) -> None:
    silent = Command(sys.executable, ("-c", "import sys; sys.exit('no space left')"))
    with pytest.raises(Refused, match="no space left"):
        connect.try_out(silent)
    with pytest.raises(Refused, match="does not start"):
        connect.try_out(Command(str(tmp_path / "missing")))


def test_a_file_that_changes_between_the_look_and_the_write_is_left_alone(home: Path, places: Places) -> None:
    file = written(home / HOME_FILES["cursor"], b"{}")
    plan = connect.plan("cursor", places, Wish(endpoint=ENDPOINT))
    file.write_bytes(b'{"other": 1}')
    with pytest.raises(Refused, match="changed by another program"):
        connect.apply(plan, places)
    assert file.read_bytes() == b'{"other": 1}'
    assert list(places.ledger.iterdir()) == []


def test_a_file_that_is_marked_read_only_is_left_alone(home: Path, places: Places) -> None:
    file = written(home / HOME_FILES["cursor"], b"{}")
    file.chmod(0o444)
    with pytest.raises(Refused, match="read-only"):
        connect.apply(connect.plan("cursor", places, Wish(endpoint=ENDPOINT)), places)
    assert (file.read_bytes(), list(places.ledger.iterdir())) == (b"{}", [])


def test_a_disk_that_fails_leaves_the_old_file_and_nothing_else(
    home: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(home / HOME_FILES["cursor"], b"{}")
    plan = connect.plan("cursor", places, Wish(endpoint=ENDPOINT))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(Refused, match="No space left"):
        connect.apply(plan, places)
    assert file.read_bytes() == b"{}"
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
