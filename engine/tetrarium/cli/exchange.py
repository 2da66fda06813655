"""`tetrarium export`, `import`, `imports`: memories out and in, with a preview and an undo."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from tetrarium.cli.terminal import CLIENT, as_json, common, counted, space, write
from tetrarium.errors import InvalidInput, UserError
from tetrarium.mcp.arguments import from_system
from tetrarium.model import ExportReport, ImportReport


def add(commands: Any) -> None:
    """Their parsers."""
    export = commands.add_parser("export", help="write memories to a file, whole, filtered or under pseudonyms")
    common(export)
    export.add_argument("file", help="'-': standard output; .gz, .zip and .zst pack it")
    export.add_argument("--markdown", action="store_true", help="for reading; without, JSON Lines that can be imported")
    export.add_argument("--vectors", action="store_true", help="embeddings too (they can be read back into text)")
    export.add_argument("--labels", default="", metavar="A,B", help="memories with all of these")
    export.add_argument("--categories", default="", metavar="A,B", help="memories of any of these")
    export.add_argument("--project", default="*", metavar="NAME", help="of one project ('' for those of none)")
    export.add_argument("--since", metavar="TIME", help="made then or later")
    export.add_argument("--until", metavar="TIME", help="made before")
    export.add_argument("--ids", default="", metavar="A,B", help="these memories")
    export.add_argument("--pseudonyms", action="store_true", help="replace people, clients, sessions, projects, files")
    export.add_argument("--k", type=int, default=0, metavar="K", help="hide each person among at least K memories")
    export.add_argument(
        "--remedy", choices=("generalise", "suppress"), default="", help="what to do where fewer than K are alike"
    )
    export.add_argument("--force", action="store_true", help="overwrite the file if there is one")
    export.set_defaults(run=_export)

    reading = commands.add_parser(
        "import",
        help="look at an exported file, a memory.jsonl, or notes in Markdown, and take it in",
        description="Takes in an export of Tetrarium, the memory.jsonl of a knowledge-graph memory server, or the notes of "
        "agents in Markdown (CLAUDE.md, AGENTS.md, MEMORY.md, .cursorrules). Shows what would come in; --apply does it.",
    )
    common(reading)
    reading.add_argument("file", type=Path)
    reading.add_argument(
        "--project", default="", metavar="NAME", help="of notes and knowledge graphs: the project they are about"
    )
    reading.add_argument("--apply", action="store_true", help="do it; without, only show what would be done")
    reading.add_argument("--foreign", action="store_true", help="a file of somebody else's: its people are none here")
    reading.add_argument("--skip-refused", action="store_true", help="take the rest when lines are refused")
    reading.set_defaults(run=_import)

    imports = commands.add_parser("imports", help="list what was imported, and undo it")
    common(imports)
    imports.add_argument(
        "--undo", metavar="ID", help="take out exactly what this import brought; its id, as `imports` lists it"
    )
    imports.set_defaults(run=_imports)


def _export(options: argparse.Namespace) -> int:
    if options.file != "-" and not options.force and Path(options.file).is_file():
        raise UserError(
            f"{options.file} is there already; nothing was written.", advice="Name another file, or say --force."
        )
    to: Path | BinaryIO = sys.stdout.buffer if options.file == "-" else Path(options.file)
    with space(options.data_dir, whole=False) as service:  # all of a space is written as it is read
        report = service.export(
            to,
            form="markdown" if options.markdown else "jsonl",
            vectors=options.vectors,
            labels=from_system(options.labels),
            categories=[x.strip() for x in options.categories.split(",") if x.strip()],
            project=from_system(options.project),
            since=options.since,
            until=options.until,
            ids=[x.strip() for x in options.ids.split(",") if x.strip()],
            pseudonyms=options.pseudonyms,
            k=options.k,
            remedy=options.remedy,
            client=CLIENT,
        )
    if options.file == "-":
        sys.stdout.buffer.flush()
        return 0
    write(as_json(asdict(report)) if options.json else _exported(report, options.file))
    return 0


def _exported(report: ExportReport, file: str) -> str:
    told = [f"{counted(report.memories)} in {file}, {report.size:,} bytes before packing."]
    if report.pseudonyms:
        told.append(f"{report.pseudonyms} names under pseudonyms.")
    if report.anonymity:
        found = report.anonymity
        told.append(
            f"Told by {found.level}: {found.groups} groups, the smallest of {found.smallest}; "
            f"{report.suppressed} memories left out for k = {found.k}."
        )
    return " ".join(told)


def _import(options: argparse.Namespace) -> int:
    """0: imported, or it could be; 1: lines are refused."""
    if not options.file.is_file():
        raise InvalidInput(f"{options.file} is not a file.", advice="Name an exported file.")
    with space(options.data_dir, makes=True) as service:
        if options.apply:
            report = service.import_file(
                options.file,
                foreign=options.foreign,
                skip_refused=options.skip_refused,
                project=from_system(options.project),
                client=CLIENT,
            )
        else:
            report = service.preview_import(options.file, foreign=options.foreign, project=from_system(options.project))
    write(as_json(asdict(report)) if options.json else _imported(report))
    return 1 if report.refused_count and not report.batch else 0


def _imported(report: ImportReport) -> str:
    told = [f"Read as {report.form}: nobody in it counts as a person here."] if report.form else []
    told += [
        f"{report.new} new memories, {report.same} that are here already, "
        f"{report.conflicting_count} with another text here (kept as they are)."
    ]
    if report.placed_anew:
        told.append(f"{report.placed_anew} cannot keep their place and get another one.")
    if report.left_out:
        told.append("Left out: " + ", ".join(f"{n} of kind {kind}" for kind, n in report.left_out.items()) + ".")
    if report.as_person:
        names = ", ".join(repr(name) for name in report.as_person)
        told.append(f"Memories of {names} count as a person's own; --foreign if the file is not yours.")
    told += [f"Line {line.line} is refused: {line.why}." for line in report.refused]
    if report.refused_count > len(report.refused):
        told.append(f"{report.refused_count - len(report.refused)} more lines are refused.")
    if report.batch:
        told.append(f"Imported as {report.batch}; `tetrarium imports --undo {report.batch}` takes it back.")
    elif report.new:
        told.append("--apply imports them.")
    return "\n".join(told)


def _imports(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        if options.undo:
            undone = service.undo_import(options.undo, client=CLIENT)
            kept = f"; {undone.kept} were edited since and are kept" if undone.kept else ""
            write(as_json(asdict(undone)) if options.json else f"{counted(undone.removed)} taken out again{kept}.")
            return 0
        batches = service.imports()
    if options.json:
        write(as_json([asdict(batch) for batch in batches]))
        return 0
    for batch in batches:
        state = "undone" if batch.undone_at else counted(batch.memories)
        write(f"{batch.id}  {batch.at:%Y-%m-%d %H:%M}  {batch.file}  {state}")
    if not batches:
        write("Nothing was imported into this space.")
    return 0
