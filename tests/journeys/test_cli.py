"""The commands for scripts and terminals, on a real space."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tetrarium
from tetrarium.cli import main

TEXT = "The nightly export runs at 02:30 because the bank closes its gateway at three."
CORRECTION = "The nightly export runs at 01:30 now, since the bank closes its gateway at two."


@pytest.fixture
def space(tmp_path: Path) -> str:
    return str(tmp_path / "space")


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    """The JSON of a command that must succeed."""
    assert main([*argv, "--json"]) == 0
    parsed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return parsed


def run(
    *argv: str, given: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, with a bare environment."""
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    script = "import sys; from tetrarium.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", script, *argv],
        input=given,
        capture_output=True,
        timeout=100,
        env=bare | (environment or {}),
    )


def test_a_memory_is_stored_found_recalled_corrected_and_counted(
    space: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--data-dir", space)
    old = answer(capsys, "store", TEXT, "--keywords", "export,bank", "--labels", "ops", "--labels", "nightly", *at)
    assert (old["outcome"], old["keywords"]) == ("stored", ["export", "bank"])
    assert [hit["id"] for hit in answer(capsys, "search", "export", "--labels", "ops,nightly", *at)["hits"]] == [
        old["id"]
    ]
    new = answer(capsys, "store", CORRECTION, "--supersedes", old["id"], "--reason", "the bank changed its hours", *at)
    assert new["superseded"] == [old["id"]]
    recalled = answer(capsys, "recall", "when does the export run", "--budget", "500", *at)
    assert [block["id"] for block in recalled["blocks"]] == [new["id"]]
    assert answer(capsys, "stats", *at)["inhibited"] == 1


def test_answers_are_readable_without_json(space: str, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--data-dir", space)
    assert main(["store", TEXT, *at]) == 0
    assert capsys.readouterr().out.startswith("Stored memory ")
    assert main(["search", "export", *at]) == 0
    assert f"      {TEXT}" in capsys.readouterr().out
    assert main(["recall", "export", *at]) == 0
    assert "of 4000 tokens" in capsys.readouterr().out
    assert main(["stats", *at]) == 0
    assert "1 memory" in capsys.readouterr().out


def test_text_comes_from_standard_input_when_it_is_missing_or_a_dash(space: str) -> None:
    for argv, text in ((["store"], TEXT), (["store", "-"], CORRECTION)):
        stored = run(*argv, "--json", "--data-dir", space, given=("\ufeff" + text + "\n").encode())
        assert json.loads(stored.stdout)["outcome"] == "stored"
    found = run("search", "-", "--json", "--data-dir", space, given=b"nightly export")
    assert {hit["content"] for hit in json.loads(found.stdout)["hits"]} == {TEXT, CORRECTION}


def test_several_memories_come_as_json_lines(space: str) -> None:
    lines = [
        {"content": "The first lamp stands at the harbor gate.", "category": "fact"},
        {"content": "The second lamp stands on the mole, red, and blinks twice.", "labels": ["light"]},
        {"content": "ok thanks!"},
    ]
    given = "\n\n".join(json.dumps(line) for line in lines).encode()
    done = run("store", "--jsonl", "--json", "--project", "lamps", "--data-dir", space, given=given)
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == ["stored", "stored", "noise"]
    assert done.returncode == 1
    assert json.loads(run("search", "lamp", "--project", "lamps", "--json", "--data-dir", space).stdout)["total"] == 2


def test_a_bad_json_line_is_named_and_the_lines_before_it_stay(space: str) -> None:
    done = run(
        "store", "--jsonl", "--data-dir", space, given=json.dumps({"content": TEXT}).encode() + b'\n{"content": 5'
    )
    assert done.returncode == 2
    assert b"Line 2" in done.stderr
    unknown = run("store", "--jsonl", "--data-dir", space, given=b'{"contents": "x"}')
    assert unknown.returncode == 2
    assert b"Line 1" in unknown.stderr
    assert b"content" in unknown.stderr
    assert json.loads(run("stats", "--json", "--data-dir", space).stdout)["memories"] == 1


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        ([], 2, "COMMAND"),
        (["search", "", "--labels", "x"], 2, "query is empty"),
        (["recall", "  "], 2, "query is empty"),
        (["remember"], 2, "invalid choice"),
        (["search", "x", "--limit", "500"], 2, "'limit'"),
        (["search", "x", "--since", "lately"], 2, "'since'"),
        (["store", TEXT, "--category", "idea"], 2, "one of decision"),
        (["store", TEXT, "--supersedes", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], 1, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ],
)
def test_what_cannot_be_done_is_said_on_standard_error(
    space: str, capsys: pytest.CaptureFixture[str], argv: list[str], code: int, words: str
) -> None:
    at = ["--data-dir", space] if argv and argv[0] in ("search", "store", "recall") else []
    assert main([*argv, *at]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert "Traceback" not in said.err


def test_the_folder_may_be_named_before_the_command_or_after_it(
    space: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data-dir", space, "--json", "store", TEXT]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert [hit["id"] for hit in answer(capsys, "search", "export", "--data-dir", space)["hits"]] == [stored["id"]]
    elsewhere = str(tmp_path / "elsewhere")
    assert main(["--data-dir", space, "--json", "stats", "--data-dir", elsewhere]) == 0
    assert json.loads(capsys.readouterr().out)["memories"] == 0
    assert main(["--data-dir", space, "--json", "clusters", "list"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_noise_gives_exit_code_1_and_the_reason(space: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "ok thanks!", "--data-dir", space]) == 1
    assert "noise" in capsys.readouterr().out


def test_an_empty_space_answers_every_reading_command(space: str, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--data-dir", space)
    assert answer(capsys, "search", "anything", *at)["hits"] == []
    assert answer(capsys, "recall", "anything", *at)["blocks"] == []
    assert answer(capsys, "stats", *at)["memories"] == 0


def test_output_is_utf_8_whatever_the_locale_says(space: str) -> None:
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    content = "导出任务在凌晨一点半运行，因为银行两点关闭网关 🏦。"
    assert run("store", "--data-dir", space, given=content.encode(), environment=plain).returncode == 0
    found = run("search", "银行网关", "--data-dir", space, environment=plain)
    assert content in found.stdout.decode("utf-8")


def test_input_that_is_not_utf_8_is_refused(space: str) -> None:
    refused = run("store", "--data-dir", space, given="Größe".encode("latin-1"))
    assert refused.returncode == 2
    assert b"not UTF-8" in refused.stderr


def test_a_reader_that_leaves_early_is_no_error(space: str) -> None:
    lines = "\n".join(
        json.dumps({"content": f"Lamp number {n} of the harbor shines for {n * 3} minutes each night."})
        for n in range(30)
    )
    assert run("store", "--jsonl", "--data-dir", space, given=lines.encode()).returncode == 0
    script = "import sys; from tetrarium.cli import main; sys.exit(main())"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = subprocess.Popen(
        [sys.executable, "-c", script, "search", "lamp", "--limit", "30", "--data-dir", space],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert command.stdout
    assert command.stderr
    command.stdout.close()
    errors = command.stderr.read()
    command.stderr.close()
    assert (command.wait(timeout=100), errors) == (0, b"")


def test_the_demo_fills_a_space_once_and_answers_three_questions(
    space: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = answer(capsys, "demo", "--data-dir", space)
    assert first["stored"] > 100
    assert len(first["recalls"]) == 3
    assert all(0 < recall["token_usage"] <= recall["budget"] for recall in first["recalls"])
    assert main(["demo", "--data-dir", space]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Sample space: ")
    assert "stored just now" not in shown
    assert shown.count("\n? ") == 3


def test_a_command_that_only_reads_says_that_it_made_the_space(space: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["search", "export"], ["clusters", "list"], ["doctor"], ["restore"]):
        folder = f"{space} {command[0]}"
        main([*command, "--data-dir", folder])
        said = capsys.readouterr().err
        assert f"tetrarium: There was no space in {folder}; a new, empty one was made.\n" in said
        main([*command, "--data-dir", folder])
        assert "There was no space" not in capsys.readouterr().err
    assert main(["store", TEXT, "--data-dir", space]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_folder_whose_name_is_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/x\xff")
    chinese = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for folder, environment in ((odd, {}), (str(tmp_path / "记忆"), chinese)):
        for command in ("stats", "encrypt"):
            refused = run(
                command, "--data-dir", folder, environment={"TETRARIUM_PASSPHRASE": "long enough"} | environment
            )
            assert refused.returncode == 1
            assert b"Choose another with --data-dir" in refused.stderr
            assert refused.stderr.count(b"\n") == 1
    assert not [*tmp_path.iterdir()]


def test_an_export_overwrites_no_file_unless_it_is_forced(
    space: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text("precious", "utf-8")
    main(["store", TEXT, "--data-dir", space])
    assert main(["export", str(file), "--data-dir", space]) == 1
    assert "--force" in capsys.readouterr().err
    assert file.read_text("utf-8") == "precious"
    assert main(["export", str(file), "--force", "--data-dir", space]) == 0
    assert capsys.readouterr().out.startswith("1 memory in ")
    assert TEXT in file.read_text("utf-8")


def test_a_page_that_is_shorter_than_asked_says_why(space: str, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--data-dir", space)
    with tetrarium.open_space(space) as opened:
        for n in range(40):
            opened.store(f"Lamp {n} of the harbor. " + f"It shines {n} minutes at night. " * 40, force=True)
    assert main(["search", "lamp", "--limit", "100", *at]) == 0
    assert "(a page holds no more words than this)" in capsys.readouterr().out
    assert main(["search", "lamp", "--limit", "2", *at]) == 0
    shown = capsys.readouterr().out
    assert "more: --offset 2" in shown
    assert "a page holds" not in shown


def test_a_missing_text_on_a_terminal_is_a_mistake(
    space: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert main(["store", "--data-dir", space]) == 2
    assert "content is missing" in capsys.readouterr().err


def test_clusters_are_listed_named_rearranged_and_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        code = main([*words, "--data-dir", str(tmp_path)])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    with tetrarium.open_space(tmp_path) as space:
        for n in range(40):
            word, text = [
                ("payments", f"Refund {n} of the payments ledger was charged twice and the invoice went out again."),
                ("kubernetes", f"Pod {n} does not start: the helm chart names an ingress that kubernetes has not."),
            ][n % 2]
            space.store(text, keywords=[word], force=True)
        one, other = sorted(cluster.id for cluster in space.snapshot().clusters)[:2]
        near = space.snapshot().ids[0]
    assert "2 clusters" in run("clusters", "list")
    assert "is called Money" in run("clusters", "name", str(one), "Money")
    assert "Money (named by a person)" in run("clusters", "show", str(one))
    assert "--apply does it" in run("clusters", "merge", str(one), str(other))
    applied = json.loads(run("clusters", "merge", str(one), str(other), "--apply", "--json"))
    assert applied["moves"] == 20
    assert "1 cluster," in run("clusters", "list")
    assert "merge: 20 moves" in run("clusters", "log")
    assert "Undone" in run("clusters", "undo", applied["id"])
    assert "2 clusters" in run("clusters", "list")
    assert "shared" in run("clusters", "neighbours", near)
    assert near in run("clusters", "path", near, near)
    assert "Nothing to do." in run("clusters", "fission")
    assert main(["clusters", "show", "999", "--data-dir", str(tmp_path)]) == 1
