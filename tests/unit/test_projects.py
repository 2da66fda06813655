"""One project for one place, however its path is written; and a name stays the name that it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tetrarium.mcp.projects import project_name, project_of
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.service import MemoryService


@pytest.mark.parametrize(
    "spelling",
    [
        "C:\\code\\a b\\proj",
        "c:\\code\\a b\\proj\\",
        "C:/code/a b/proj",
        "/mnt/c/code/a b/proj",
        "/mnt/c/code/a b/proj/",
        "/c%3A/code/a%20b/proj",
        "c%3a/code/a%20b/proj/",
        "file:///c%3A/code/a%20b/proj",
        "file:///mnt/c/code/a%20b/proj/",
        "/mnt/c/code/a b/./other/../proj",
        "\\\\server\\share\\proj",
        "  /somewhere/proj  ",
    ],
)
def test_spellings_of_a_place_are_one_project(spelling: str) -> None:
    assert project_name(spelling) == "proj"


@pytest.mark.parametrize(
    "name", ["lantern", "org/lantern", "灯笼", "a b", "100%", "c%3Alike", "C: drive notes", "*", ""]
)
def test_a_name_stays_what_it_is(name: str) -> None:
    assert project_name(name) == name


@pytest.mark.parametrize("top", ["/", "C:\\", "C:", "c%3A/", "file:///", "/..", "file:///C:/"])
def test_the_top_of_a_drive_is_no_project(top: str) -> None:
    assert project_name(top) == ""


def test_a_link_is_the_folder_that_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "100%25 项目").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "100%25 项目")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", f"{tmp_path}/link/")
    assert project_of(None) == "100%25 项目"
    assert project_of("harbor") == "harbor"
    assert project_of("") == ""


def test_a_tool_takes_a_path_for_the_project_that_it_is(space: MemoryService) -> None:
    caller = Caller("pytest 1", "")
    stored = BY_NAME["memory_create"].call(
        {"content": "The lantern module writes its cache to /var/lantern.", "project": "C:\\code\\you\\lantern"},
        caller,
    )(space)
    assert space.get(stored.structured["id"]).source.project == "lantern"
