"""The format of exports: what the page says, names in texts, groups of memories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tetrarium.privacy import anonymity
from tetrarium.privacy.pseudonyms import Pseudonyms
from tetrarium.storage.exchange import KINDS, moment, told

PAGE = Path(__file__).resolve().parents[2] / "docs" / "export.md"


def test_the_page_tells_every_kind_and_field_in_its_order() -> None:
    for section in KINDS:
        (part,) = re.findall(rf"^### {section.name}\n(.*?)(?=^##)", PAGE.read_text("utf-8"), re.S | re.M)
        rows = re.findall(r"^\| (\w+) \| (.*?)\?? \|$", part, re.M)[1:]
        assert rows[: len(section.fields)] == [(field.name, str(field.form)) for field in section.fields]


@pytest.mark.parametrize("value", [0, -1, 1_790_000_000_123_456, -2_208_988_800_000_000, 7_258_118_400_000_001])
def test_a_time_comes_back_to_the_microsecond(value: int) -> None:
    assert moment(told(value)) == value


@pytest.mark.parametrize("text", ["2026-11-30", "2026-11-30T10:00:00Z", "2026-11-30T10:00:00.000000+", "x" * 27])
def test_what_is_no_time_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|isoformat"):
        moment(text)


def test_names_are_replaced_as_whole_words_in_every_script() -> None:
    names = Pseudonyms(
        {"author": ["Ana", "王小明", "Ana Lindqvist"], "file": ["src/app/main.py"], "project": ["Kiosk"]}
    )
    assert names.in_text("Ana told Ana Lindqvist: see banana") == "person-1 told person-3: see banana"
    assert names.in_text("请王小明看一下main.py。KIOSK, kiosks") == "请person-2看一下file-1。project-1, kiosks"
    assert names.in_text("nobody is named here") == "nobody is named here"


def test_coarser_levels_are_taken_only_as_far_as_needed() -> None:
    rows = [(n, "p", "a", "c", f"2026-{1 + n % 2:02}-{1 + n % 28:02}") for n in range(56)]
    assert anonymity.check(rows, 5).below == 28
    found = anonymity.coarsened(rows, 5, 0.0)
    assert (found.level.name, found.below, found.smallest) == ("month", 0, 28)
