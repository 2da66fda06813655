"""store, search, recall, stats: each is the agents' tool of the same meaning, its arguments as options."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from tetrarium.cli.terminal import caller, common, counted, space, standard_input, write
from tetrarium.config import DEFAULTS
from tetrarium.errors import InvalidInput, UserError
from tetrarium.mcp.answers import Answer
from tetrarium.mcp.arguments import Argument, from_system
from tetrarium.mcp.tools import BY_NAME, Tool

COMMANDS = {
    "store": BY_NAME["memory_create"],
    "search": BY_NAME["memory_search"],
    "recall": BY_NAME["void_recall"],
    "stats": BY_NAME["void_stats"],
}

READING = {"memory_search", "void_recall"}
LOOKING = {*READING, "void_stats"}
EVERY_PROJECT = "*"

_EXPLAINED = {
    "store": "store one memory",
    "search": "search by words and meaning, with filters",
    "recall": "recall for a question within a token budget",
    "stats": "health of the space",
}


def add(commands: Any) -> None:
    """Their parsers."""
    for name, tool in COMMANDS.items():
        command = commands.add_parser(name, help=_EXPLAINED[name], description=tool.description)
        common(command)
        for argument in tool.arguments:
            _add(command, argument)
        if name == "store":
            command.add_argument(
                "--jsonl", action="store_true", help="read memories from standard input, one JSON object a line"
            )
        command.set_defaults(run=_store_lines_or_one if name == "store" else _run, tool=tool)


def show(answer: Answer, *, in_json: bool, asked: int = 0) -> None:
    """An answer as lines for people, or as its record. asked: how many hits the page was to have."""
    if in_json:
        write(json.dumps(answer.structured, ensure_ascii=False))
        return
    if "hits" in answer.structured:
        write("\n".join(_search_lines(answer.structured, asked)))
    elif "blocks" in answer.structured:
        write("\n".join(_recall_lines(answer.structured)))
    else:
        write(answer.text)


def _add(command: argparse.ArgumentParser, argument: Argument) -> None:
    """An option for an argument of a tool; the required text comes without a name, or from standard input."""
    about = argument.about.replace("%", "%%")
    option = "--" + argument.name.replace("_", "-")
    if argument.required:
        command.add_argument(
            argument.name, nargs="?", metavar="TEXT", help=f"{about} '-' or none: from standard input."
        )
    elif argument.kind == "flag":
        command.add_argument(option, action="store_true", default=None, help=about)
    elif argument.kind == "texts":
        command.add_argument(option, action="append", metavar="A,B", help=about)
    else:
        command.add_argument(option, metavar="|".join(argument.choices) or argument.kind.upper(), help=about)


def _run(options: argparse.Namespace) -> int:
    tool: Tool = options.tool
    given = _given(tool, options)
    if tool.name in READING:
        if not given["query"].strip():
            raise InvalidInput("The query is empty.", advice="Give words to look for, or a question.")
        # A person at a shell looks at the whole space; an agent's endpoint keeps to its project.
        given.setdefault("project", EVERY_PROJECT)
    work = tool.call(given, caller())
    with space(options.data_dir, makes=tool.name not in LOOKING) as service:
        answer = work(service)
    show(answer, in_json=options.json, asked=int(given.get("limit", DEFAULTS.search_page)))
    return 0 if answer.structured.get("outcome", "stored") in ("stored", "merged") else 1


def _store_lines_or_one(options: argparse.Namespace) -> int:
    if not options.jsonl:
        return _run(options)
    code = 0
    shared = _options_given(options.tool, options)
    with space(options.data_dir, makes=True) as service:
        for number, fields in _json_lines():
            try:
                answer = options.tool.call(shared | fields, caller())(service)
            except UserError as error:
                raise type(error)(f"Line {number}: {error.message}", advice=error.advice) from None
            show(answer, in_json=options.json)
            code = code or (0 if answer.structured["outcome"] in ("stored", "merged") else 1)
    return code


def _json_lines() -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(standard_input().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            raise InvalidInput(
                f"Line {number} is not a JSON object.",
                advice='Write {"content": "…"} on each line; the lines before are stored.',
            )
        yield number, fields


def _given(tool: Tool, options: argparse.Namespace) -> dict[str, Any]:
    texts = {a.name: _text(a, getattr(options, a.name)) for a in tool.arguments if a.required}
    return texts | _options_given(tool, options)


def _options_given(tool: Tool, options: argparse.Namespace) -> dict[str, Any]:
    """What the named options say; a list option may come several times."""
    named = {a: getattr(options, a.name) for a in tool.arguments if not a.required}
    return {a.name: _option(value, whole=a.whole) for a, value in named.items() if value is not None}


def _option(value: str | bool | list[str], *, whole: bool) -> str | bool:
    if isinstance(value, bool):
        return value
    if whole and isinstance(value, list) and len(value) > 1:
        return json.dumps([from_system(text) for text in value], ensure_ascii=False)
    return from_system(",".join(value) if isinstance(value, list) else value)


def _text(argument: Argument, given: str | None) -> str:
    return _text_from_input(argument) if given is None or given == "-" else from_system(given)


def _text_from_input(argument: Argument) -> str:
    if sys.stdin.isatty():
        raise InvalidInput(f"The {argument.name} is missing.", advice="Give it as an argument, or on standard input.")
    return standard_input().strip()


def _search_lines(found: dict[str, Any], asked: int) -> Iterator[str]:
    yield f"{len(found['hits'])} of {counted(found['total'])}"
    yield from _hit_lines(found["hits"])
    if "next_offset" in found:
        cut = len(found["hits"]) < asked
        yield f"more: --offset {found['next_offset']}" + (" (a page holds no more words than this)" if cut else "")


def _recall_lines(recall: dict[str, Any]) -> Iterator[str]:
    yield f"{counted(len(recall['blocks']))}, {recall['token_usage']} of {recall['budget']} tokens"
    yield from _hit_lines(recall["blocks"])
    for zone in recall["void_zones"]:
        yield f"void: {', '.join(zone['theme'])} ({zone['size']} memories, best {zone['best_score']:.2f}) – {zone['reason']}"
    if (more := recall["void_zones_total"] - len(recall["void_zones"])) > 0:
        yield f"void: {more} more zones"
    if recall["budget_voided_total"]:
        best = (
            f", best {recall['best_left_out']} ({recall['best_left_out_tokens']} tokens)"
            if "best_left_out" in recall
            else ""
        )
        yield f"over budget: {counted(recall['budget_voided_total'])}{best}"
    if recall["inhibited_skipped"]:
        yield f"superseded, kept silent: {recall['inhibited_skipped']}"
    if "note" in recall:
        yield recall["note"]


def _hit_lines(hits: list[dict[str, Any]]) -> Iterator[str]:
    for hit in hits:
        where = f"  {hit['project']}" if "project" in hit else ""
        yield f"{hit['score']:.2f}  {hit['category']}  {hit['created_at'][:10]}{where}  {hit['id']}"
        text = hit["content"] or f"(about {hit['omitted_tokens']} tokens; recall with a larger --budget shows it)"
        yield from (f"      {line}" for line in text.splitlines())
