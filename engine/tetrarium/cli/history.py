"""`tetrarium history …`: what was done, and taking it back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import CLIENT, as_json, common, counted, space, write
from tetrarium.errors import InvalidInput
from tetrarium.model import BulkUndo, HistoryEntry


def add(commands: Any) -> None:
    """Their parsers."""
    history = commands.add_parser("history", help="list what was done, undo it, redo it")
    verbs = history.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, about: str, run: Any) -> Any:
        parser = verbs.add_parser(name, help=about, description=about)
        common(parser)
        parser.set_defaults(run=run)
        return parser

    listing = verb("list", "what was done and by whom, newest first", _list)
    listing.add_argument("--limit", type=int, default=20, help="how many (default 20)")
    listing.add_argument("--client", default="", help="only of this client")
    listing.add_argument("--since", help="only from this time on, ISO 8601")
    undo = verb("undo", "take one entry back, or everything that a client did", _undo)
    undo.add_argument("entry", type=int, nargs="?", help="number of the entry, as `list` shows it")
    undo.add_argument("--client", help="everything that this client did: first a preview, then with its --confirm")
    undo.add_argument("--since", help="with --client: only from this time on, ISO 8601")
    undo.add_argument("--confirm", default="", metavar="TOKEN", help="with --client: do what the preview said")
    verb("redo", "do again what was taken back", _redo).add_argument("entry", type=int, help="number of the entry")


def _list(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        entries = service.history(limit=options.limit, client=options.client, since=options.since)
    _tell(entries, options.json)
    return 0


def _undo(options: argparse.Namespace) -> int:
    if (options.entry is None) == (options.client is None):
        raise InvalidInput("Name one entry, or a client.", advice="`tetrarium history list` shows both.")
    with space(options.data_dir) as service:
        if options.client is None:
            _tell([service.undo(options.entry, client=CLIENT)], options.json)
            return 0
        bulk = service.undo_client(options.client, options.since, confirm=options.confirm, by=CLIENT)
    _tell_bulk(bulk, options.json)
    return 0 if bulk.done or not options.confirm else 1


def _redo(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        _tell([service.redo(options.entry, client=CLIENT)], options.json)
    return 0


def _tell(entries: Sequence[HistoryEntry], json: bool) -> None:
    if json:
        write(as_json([asdict(entry) for entry in entries]))
        return
    for entry in entries:
        undone = "  (taken back)" if entry.undone else "" if entry.reversible else "  (no way back)"
        who = entry.client or "-"
        write(f"{entry.id:6}  {entry.at.astimezone():%Y-%m-%d %H:%M}  {who}  {entry.op}: {entry.summary}{undone}")
    if not entries:
        write("Nothing was done.")


def _tell_bulk(bulk: BulkUndo, json: bool) -> None:
    if json:
        write(as_json(asdict(bulk)))
        return
    counts = ", ".join(f"{count} {op}" for op, count in bulk.by_op.items()) or "nothing"
    what = f"{counts}; {counted(bulk.memories)}"
    write(f"Taken back as entry {bulk.entry}: {what}" if bulk.done else f"Would be taken back: {what}")
    for entry, why in bulk.spared:
        write(f"  spared, entry {entry}: {why}")
    if bulk.spared_total > len(bulk.spared):
        write(f"  spared: {bulk.spared_total - len(bulk.spared)} more")
    if bulk.confirm:
        write(f"--confirm {bulk.confirm} does it.")
