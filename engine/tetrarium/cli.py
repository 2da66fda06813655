"""Commands for scripts and terminals: store, search, recall, stats, clusters, doctor, and the demo.

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
from dataclasses import asdict
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

_PLANS = {
    "fission": "split clusters that hold two topics",
    "merge": "merge clusters that mean the same, or the two that are named",
    "attach": "attach lone memories and small clusters to the cluster that takes their kind",
    "mend": "bring back what deletions cut off",
    "layout": "move whole clusters, as they are, near those that mean nearly the same",
    "settle": "give the places inside clusters out anew, so that relatives stand together",
}

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
    _common(parser, first=True)
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
    _add_clusters(commands)
    doctor = commands.add_parser("doctor", help="examine the places and embeddings of the space, and repair them")
    _common(doctor)
    doctor.add_argument("--repair", action="store_true", help="put right what is wrong; no memory is lost")
    doctor.set_defaults(run=_doctor)
    return parser


def _add_clusters(commands: Any) -> None:
    """`tetrarium clusters …`: look at the landscape, name it, rearrange it and take that back."""
    clusters = commands.add_parser("clusters", help="list, name, split, merge and settle clusters; log and undo")
    verbs = clusters.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, about: str, run: Any) -> Any:
        parser = verbs.add_parser(name, help=about, description=about)
        _common(parser)
        parser.set_defaults(run=run)
        return parser

    listing = verb("list", "clusters, largest first", _list_clusters)
    listing.add_argument("--limit", type=int, default=40, help="how many (default 40)")
    verb("show", "one cluster closely", _show_cluster).add_argument("cluster", type=int)
    naming = verb("name", "give a cluster a name that sticks; an empty one takes it back", _name_cluster)
    naming.add_argument("cluster", type=int)
    naming.add_argument("name")
    for cause, about in _PLANS.items():
        planning = verb(cause, about, _plan_clusters)
        planning.add_argument("cluster", type=int, nargs="?", help="only this cluster")
        if cause == "merge":
            planning.add_argument("onto", type=int, nargs="?", help="the cluster to merge it with")
        planning.add_argument("--apply", action="store_true", help="do it; without, only show what would be done")
        planning.set_defaults(cause=cause)
    verb("log", "plans that were applied, newest first", _plan_log)
    verb("undo", "take an applied plan back, to the last place", _undo_plan).add_argument("plan")
    neighbours = verb("neighbours", "memories whose tetrahedra share vertices with one", _show_neighbours)
    neighbours.add_argument("memory")
    way = verb("path", "a shortest way between two memories through shared vertices", _show_path)
    way.add_argument("memory")
    way.add_argument("other")


def _common(command: argparse.ArgumentParser, *, first: bool = False) -> None:
    """Options that may stand before the command or after it; after it they say nothing unless they are given."""
    command.add_argument(
        "--data-dir",
        type=Path,
        default=None if first else argparse.SUPPRESS,
        metavar="DIR",
        help="folder of the space (default: TETRARIUM_DATA_DIR, else the user's)",
    )
    command.add_argument(
        "--json", action="store_true", default=False if first else argparse.SUPPRESS, help="answer in JSON"
    )


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


def _list_clusters(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        found = sorted(service.snapshot().clusters, key=lambda cluster: (-cluster.size, cluster.id))
        figures = service.stats().figures
    if options.json:
        _write(_json({"clusters": [asdict(c) for c in found[: options.limit]], "figures": asdict(figures)}))
        return 0
    for cluster in found[: options.limit]:
        _write(f"{cluster.id:6}  {cluster.size:6}  {cluster.name}")
    _write(
        f"{len(found)} clusters, {figures.mean_size:.1f} memories each (lone ones aside); purity {figures.purity:.1%}, "
        f"alone {figures.orphan_rate:.1%}, association density {figures.association_density:.3f}, "
        f"shared vertices {figures.shared_vertices:.2f} a memory"
    )
    return 0


def _show_cluster(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        found = service.cluster(options.cluster)
        medoid = service.get(found.medoid)
    if options.json:
        _write(_json(asdict(found)))
        return 0
    named = " (named by a person)" if found.is_named else ""
    _write(f"Cluster {found.id}: {found.name}{named}, {found.size} memories")
    _write(f"purity {found.purity:.1%}, entropy {found.entropy:.2f}, radius {found.radius:.1f} edges")
    _write(f"words: {', '.join(found.words)}")
    if found.aliases:
        _write(f"earlier ids: {', '.join(map(str, found.aliases))}")
    _write(f"most typical: {medoid.id}  {_first_line(medoid.content)}")
    return 0


def _name_cluster(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        found = service.name_cluster(options.cluster, from_system(options.name), client="command line")
    _write(_json(asdict(found)) if options.json else f"Cluster {found.id} is called {found.name}")
    return 0


def _plan_clusters(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        plan = service.plan_clusters(options.cause, options.cluster, onto=getattr(options, "onto", None))
        record = service.apply_plan(plan) if options.apply and len(plan) else None
    if options.json:
        _write(_json(asdict(record) if record else asdict(plan)))
        return 0
    for why in plan.why or ("Nothing to do.",):
        _write(why)
    if record:
        _write(
            f"Applied as {record.id}: {record.moves} moves"
            + (f", {record.skipped} steps left out" if record.skipped else "")
        )
    elif len(plan):
        _write(f"{len(plan)} moves in {len(plan.steps)} steps; --apply does it.")
    return 0


def _plan_log(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        records = service.plans()
    if options.json:
        _write(_json([asdict(record) for record in records]))
        return 0
    for record in records:
        undone = f", undone by {record.undone_by}" if record.undone_by else ""
        _write(f"{record.id}  {record.started_at:%Y-%m-%d %H:%M}  {record.cause}: {record.moves} moves{undone}")
        for why in record.why:
            _write(f"      {why}")
    return 0


def _undo_plan(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        record = service.undo_plan(options.plan)
    left = f", {record.skipped} steps left out" if record.skipped else ""
    _write(_json(asdict(record)) if options.json else f"Undone as {record.id}: {record.moves} moves{left}")
    return 0


def _show_neighbours(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        found = service.neighbours(options.memory)
    if options.json:
        rows = [{"id": n.memory.id, "shared": n.shared, "similarity": round(n.similarity, 3)} for n in found]
        _write(_json(rows))
        return 0
    for n in found:
        _write(f"{n.shared} shared  {n.similarity:5.2f}  {n.memory.id}  {_first_line(n.memory.content)}")
    if not found:
        _write("No memory shares a vertex with it.")
    return 0


def _show_path(options: argparse.Namespace) -> int:
    with _space(options.data_dir) as service:
        way = service.path_between(options.memory, options.other)
    if options.json:
        _write(_json([memory.id for memory in way]))
        return 0
    for memory in way:
        _write(f"{memory.id}  {_first_line(memory.content)}")
    if not way:
        _write("They stand in different clusters: no way leads from one to the other.")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    """0: healthy, or healthy now; 1: damage found (or left)."""
    with _space(options.data_dir) as service:
        report = service.examine()
        repaired = service.repair() if options.repair and not report.is_healthy else None
        after = service.examine() if repaired else report
    if options.json:
        _write(_json({"found": asdict(report), "left": asdict(after)}))
        return 0 if after.is_healthy else 1
    for finding in report.findings:
        _write(f"{finding.count} {finding.about}: {', '.join(finding.examples)}")
    if report.is_healthy:
        _write(f"Healthy: {report.memories} memories, every place and embedding as it should be.")
    elif repaired:
        left = "nothing is left" if after.is_healthy else f"{len(after.findings)} kinds of damage are left"
        _write(f"Repaired as {repaired.id}: {repaired.moves} places; {left}.")
    else:
        _write("--repair puts this right; no memory is lost.")
    return 0 if after.is_healthy else 1


def _first_line(content: str) -> str:
    line = content.splitlines()[0]
    return line if len(line) <= 100 else f"{line[:99]}…"


def _json(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, default=str)


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
