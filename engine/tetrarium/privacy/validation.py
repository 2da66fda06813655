"""Whether a line of a file can be a record: every field there, of its form, within bounds, and none unknown.

Pure. A file is somebody else's until it has passed: nothing here trusts a type, a size or a number.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tetrarium.geometry.lattice import REACH
from tetrarium.model import Category, Cause, MemoryType
from tetrarium.storage.exchange import Field, Form, Record, moment
from tetrarium.storage.identity import is_id

MAX_WORDS = 500
"""Words of one list; more than any store gives a memory."""

MAX_MARKS = 1_000
"""Questions that the store remembers of one memory."""

_MARK = re.compile(r"[0-9A-F]{16}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CHOICES: dict[tuple[str, str], frozenset[str]] = {
    ("memory", "category"): frozenset(Category),
    ("version", "category"): frozenset(Category),
    ("memory", "memory_type"): frozenset(MemoryType),
    ("plan", "cause"): frozenset(Cause),
}
_EXTRA = {"memory": ("place", "cluster", "asked", "found_by")}


def parsed(line: bytes) -> Record:
    """The object of a line. Raises ValueError that says why it is none."""
    try:
        record = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg}, column {error.colno})") from None
    if not isinstance(record, dict):
        raise ValueError("it is not a JSON object")
    return record


def problem(record: Record, fields: tuple[Field, ...]) -> str:
    """Why a record cannot be one of its kind; "" when it can."""
    kind = record["kind"]
    known = {field.name for field in fields} | {"kind", *_EXTRA.get(kind, ())}
    if strange := sorted(record.keys() - known):
        return f"unknown field '{strange[0][:40]}'"
    for field in fields:
        if why := _field_problem(kind, field, record):
            return f"field '{field.name}' {why}"
    return _MORE[kind](record) if kind in _MORE else ""


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _field_problem(kind: str, field: Field, record: Record) -> str:
    if field.name not in record:
        return "" if field.form is Form.PLAIN else "is missing"
    value = record[field.name]
    if value is None:
        return "" if field.optional else "is empty"
    choices = _CHOICES.get((kind, field.name))
    if choices is not None and value not in choices:
        return "has a value that there is not"
    return "" if _FORMS[field.form](value) else f"is not {field.form}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MAX_WORDS and all(map(_is_text, value))


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and isinstance(moment(value), int)
    except ValueError:
        return False


def _is_bytes(value: Any) -> bool:
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() == {"base64"} and _is_bytes(value["base64"])
    return isinstance(value, bool) or _is_text(value) or _is_whole(value) or _is_number(value)


_FORMS: dict[Form, Callable[[Any], bool]] = {
    Form.TEXT: _is_text,
    Form.WHOLE: _is_whole,
    Form.NUMBER: _is_number,
    Form.FLAG: lambda value: isinstance(value, bool),
    Form.WORDS: _is_words,
    Form.MOMENT: _is_moment,
    Form.MEMORY: is_id,
    Form.BYTES: _is_bytes,
    Form.PLAIN: _is_plain,
}


def _memory_problem(record: Record) -> str:
    place, cluster, asked = record.get("place"), record.get("cluster"), record.get("asked")
    text = record["content"]
    checks = (
        (is_id(record["id"]), "field 'id' is not an id of a memory"),
        (bool(text) and text == text.strip() and not _CONTROL.search(text), "the content is empty or not clean text"),
        (0 <= record["importance"] <= 1, "the importance is not from 0 to 1"),
        (all(record[name] >= 0 for name in _COUNTS), "a count is below 0"),
        (record["revision"] >= 1, "the revision is below 1"),
        (_is_text(record.get("found_by")), "field 'found_by' is not text"),
        (
            isinstance(asked, list)
            and len(asked) <= MAX_MARKS
            and all(isinstance(m, str) and _MARK.fullmatch(m) for m in asked)
            and len(set(asked)) == len(asked),
            "field 'asked' is not a list of marks",
        ),
        ((place is None) == (cluster is None), "place and cluster do not go together"),
        (place is None or _is_place(place, cluster), "the place is none of the lattice"),
    )
    return next((why for holds, why in checks if not holds), "")


_COUNTS = ("position", "access_count", "helped", "misled", "distinct_queries", "stored_again")


def _is_place(place: Any, cluster: Any) -> bool:
    inside = isinstance(place, list) and len(place) == 3 and all(_is_whole(x) and abs(x) <= REACH for x in place)
    return inside and _is_whole(cluster) and 0 < cluster < 2**53


def _vector_problem(record: Record) -> str:
    data = base64.b64decode(record["vector"])
    if not data or len(data) % 2:
        return "the vector is not made of float16"
    numbers = np.frombuffer(data, np.float16)
    return "" if np.isfinite(numbers).all() and numbers.any() else "the vector has no direction"


def _version_problem(record: Record) -> str:
    if record["revision"] < 1:
        return "the revision is below 1"
    if not _is_word_list(record["entities"]):
        return "field 'entities' is neither empty nor a JSON list of texts"
    return "" if 0 <= record["importance"] <= 1 else "the importance is not from 0 to 1"


def _is_word_list(text: str) -> bool:
    try:
        return not text or _is_words(json.loads(text))
    except (ValueError, RecursionError):
        return False


def _move_problem(record: Record) -> str:
    voxel = [record[f"from_{axis}"] for axis in "ijk"]
    return "" if voxel.count(None) in (0, 3) else "the place it came from is half a place"


_MORE: Mapping[str, Callable[[Record], str]] = {
    "memory": _memory_problem,
    "vector": _vector_problem,
    "version": _version_problem,
    "relation": lambda record: "a memory is related to itself" if record["source"] == record["target"] else "",
    "move": _move_problem,
}

_CALIBRATION = ("cosine_mean", "cosine_std", "keyword_mean", "keyword_std", "tau")


def space_problem(record: Record) -> str:
    """Why a line about the space as a whole cannot be one."""
    if record.keys() != {"kind", "calibration", "recalls", "next_cluster"}:
        return "a line about the space has calibration, recalls and next_cluster"
    measured, recalls, following = record["calibration"], record["recalls"], record["next_cluster"]
    if measured is not None and not (
        isinstance(measured, dict)
        and measured.keys() == {"at", "model", *_CALIBRATION}
        and _is_whole(measured["at"])
        and _is_text(measured["model"])
        and all(_is_number(measured[name]) for name in _CALIBRATION)
        and measured["cosine_std"] > 0
        and measured["keyword_std"] > 0
    ):
        return "the calibration is none"
    if recalls is not None and not (
        isinstance(recalls, dict)
        and recalls.keys() == {"count", "void_fraction_sum"}
        and _is_whole(recalls["count"])
        and recalls["count"] >= 0
        and _is_number(recalls["void_fraction_sum"])
    ):
        return "the count of recalls is none"
    return "" if _is_whole(following) and 0 < following < 2**53 else "next_cluster is no number of a cluster"
