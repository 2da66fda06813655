"""Commands for scripts and terminals: store, search, recall, stats, and the demo.

Each command is the agents' tool of the same meaning (`mcp.tools`): same arguments as options, same checks,
same record behind `--json`. Exit code 0: done; 1: not done, the reason on standard error in one line;
2: the command was not understood.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tetrarium import __version__
from tetrarium.errors import InvalidInput, UserError
from tetrarium.mcp.__main__ import project_of
from tetrarium.mcp.answers import Answer
from tetrarium.mcp.arguments import Argument, from_system, visible
from tetrarium.mcp.tools import BY_NAME, Caller, Tool
from tetrarium.paths import default_data_dir, resources

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

COMMANDS = {
    "store": BY_NAME["memory_create"],
    "search": BY_NAME["memory_search"],
    "recall": BY_NAME["void_recall"],
    "stats": BY_NAME["void_stats"],
}

READING = {"memory_search", "void_recall"}
EVERY_PROJECT = "*"

DEMO_ANSWERS = {"en-en": "pay-015", "zh-zh": "team-005", "zh-en": "team-016"}
"""The sample memories that the demo asks for, by language of the question and of the memory."""

DEMO_BUDGET = 600
"""Tokens of each of the demo's recalls: a screenful."""

_EXPLAINED = {
    "store": "store one memory",
    "search": "search by words and meaning, with filters",
    "recall": "recall for a question within a token budget",
    "stats": "health of the space",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit code."""
    _speak_utf8()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        options = _parser().parse_args(argv)
    except SystemExit as usage:  # argparse has said what is wrong
        return int(usage.code or 0)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except InvalidInput as error:
        return _complain(error, 2)
    except UserError as error:
        return _complain(error, 1)
    except BrokenPipeError:  # the reader had enough, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # nowhere to write the answer to, a full disk for instance
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _complain(UserError(f"The answer could not be written ({error.strerror})."), 1)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tetrarium", description="Long-term memory for coding agents. Without a command: the window."
    )
    parser.add_argument("--version", action="version", version=f"tetrarium {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, tool in COMMANDS.items():
        command = commands.add_parser(name, help=_EXPLAINED[name], description=tool.description)
        _common(command)
        for argument in tool.arguments:
            _add(command, argument)
        if name == "store":
            command.add_argument(
                "--jsonl", action="store_true", help="read memories from standard input, one JSON object a line"
            )
        command.set_defaults(run=_store_lines_or_one if name == "store" else _run, tool=tool)
    demo = commands.add_parser("demo", help="fill a sample space and answer three questions from it")
    _common(demo)
    demo.set_defaults(run=_demo)
    return parser


def _common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder of the space (default: TETRARIUM_DATA_DIR, else the user's)",
    )
    command.add_argument("--json", action="store_true", help="answer in JSON")


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
        # A person at a shell looks at the whole space; an agent's endpoint keeps to its project.
        given.setdefault("project", EVERY_PROJECT)
    work = tool.call(given, _caller(options))
    with _space(options.data_dir) as service:
        answer = work(service)
    _print(answer, options.json)
    return 0 if answer.structured.get("outcome", "stored") in ("stored", "merged") else 1


def _store_lines_or_one(options: argparse.Namespace) -> int:
    if not options.jsonl:
        return _run(options)
    code = 0
    shared = _options_given(options.tool, options)
    with _space(options.data_dir) as service:
        for number, fields in _json_lines():
            try:
                answer = options.tool.call(shared | fields, _caller(options))(service)
            except UserError as error:
                raise type(error)(f"Line {number}: {error.message}", advice=error.advice) from None
            _print(answer, options.json)
            code = code or (0 if answer.structured["outcome"] in ("stored", "merged") else 1)
    return code


def _json_lines() -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_standard_input().splitlines(), start=1):
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
    return _standard_input().strip()


def _standard_input() -> str:
    """Standard input as UTF-8, whatever the locale says."""
    if not isinstance(sys.stdin, io.TextIOWrapper):
        return str(sys.stdin.read())
    try:
        return str(sys.stdin.buffer.read(), "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is not UTF-8 (byte {error.start}).", advice="Convert it first.") from None


def _caller(options: argparse.Namespace) -> Caller:
    return Caller(client=f"tetrarium {__version__}", project=project_of(None))


def _space(data_dir: Path | None) -> MemoryService:
    from tetrarium.service import open_space  # the engine takes a second to import; `--help` and mistakes need not wait

    return open_space(data_dir)


def _demo(options: argparse.Namespace) -> int:
    from tetrarium.service import fill_sample

    with _space(options.data_dir or default_data_dir().with_name("sample")) as service:
        added = fill_sample(service)
        memories = service.stats().memories
        recalls = [(query, _ask(service, query)) for query in _demo_questions()]
    if options.json:
        _write(
            json.dumps(
                {"stored": added, "memories": memories, "recalls": [answer.structured for _, answer in recalls]},
                ensure_ascii=False,
            )
        )
        return 0
    _write(f"Sample space: {memories} memories" + (f", {added} of them stored just now." if added else "."))
    for query, answer in recalls:
        _write(f"\n? {query}\n")
        _print(answer, as_json=False)
    return 0


def _ask(service: MemoryService, query: str) -> Answer:
    return COMMANDS["recall"].call({"query": query, "budget": DEMO_BUDGET, "project": "*"}, Caller(client="demo"))(
        service
    )


def _demo_questions() -> list[str]:
    """One question a kind, by the memory that answers it; the first of its kind where the sample has changed."""
    questions = json.loads((resources() / "sample" / "questions.json").read_text(encoding="utf-8"))
    chosen = []
    for kind, ref in DEMO_ANSWERS.items():
        of_kind = [question for question in questions if question["kind"] == kind]
        chosen.append(next((question for question in of_kind if ref in question["gold"]), of_kind[0])["query"])
    return chosen


def _print(answer: Answer, as_json: bool) -> None:
    if as_json:
        _write(json.dumps(answer.structured, ensure_ascii=False))
        return
    for key, lines in (("hits", _search_lines), ("blocks", _recall_lines)):
        if key in answer.structured:
            _write("\n".join(lines(answer.structured)))
            return
    _write(answer.text)


def _search_lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"{len(found['hits'])} of {found['total']} memories"
    yield from _hit_lines(found["hits"])
    if "next_offset" in found:
        yield f"more: --offset {found['next_offset']}"


def _recall_lines(recall: dict[str, Any]) -> Iterator[str]:
    yield f"{len(recall['blocks'])} memories, {recall['token_usage']} of {recall['budget']} tokens"
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
        yield f"over budget: {recall['budget_voided_total']} memories{best}"
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


def _write(text: str) -> None:
    print(visible(text))


def _complain(error: UserError, code: int) -> int:
    print(f"tetrarium: {visible(' '.join(str(error).split()))}", file=sys.stderr)
    return code


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
