"""`tetrarium audit …`: who read and wrote what, whether all of it is still there, and what was unusual."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import as_json, common, counted, space, write


def add(commands: Any) -> None:
    """Its parsers."""
    audit = commands.add_parser("audit", help="who read and wrote what; proof that nothing of it is missing")
    verbs = audit.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, about: str, run: Any) -> Any:
        parser = verbs.add_parser(name, help=about, description=about)
        common(parser)
        parser.set_defaults(run=run)
        return parser

    listing = verb("list", "reads and writes, newest first", _list)
    listing.add_argument("--limit", type=int, default=40, help="how many (default 40)")
    listing.add_argument("--client", default="", metavar="NAME")
    listing.add_argument("--verb", default="", metavar="NAME", help="store, recall, forget …")
    listing.add_argument("--since", metavar="TIME")
    listing.add_argument("--memory", default="", metavar="ID", help="only what named this memory")
    proof = verb("verify", "follow the chain and name the first bad row", _verify)
    proof.add_argument("--anchor", default="", metavar="COUNT:HASH", help="the end that an earlier proof told")
    verb("flags", "clients that read, deleted or inhibited unusually much", _flags)


def _list(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.audit(
            limit=options.limit, client=options.client, verb=options.verb, since=options.since, memory_id=options.memory
        )
    if options.json:
        write(as_json([asdict(entry) for entry in found]))
        return 0
    for entry in found:
        who = entry.client or "(no client named)"
        write(
            f"{entry.seq:7}  {entry.at:%Y-%m-%d %H:%M:%S}  {entry.kind:7}  {entry.verb}  {counted(entry.count)}  {who}"
        )
    return 0


def _verify(options: argparse.Namespace) -> int:
    """0: sound; 1: a row is bad."""
    with space(options.data_dir) as service:
        proof = service.verify_audit(options.anchor)
    if options.json:
        write(as_json(asdict(proof) | {"is_sound": proof.is_sound}))
    elif proof.is_sound:
        write(f"Sound: {proof.rows} rows. Keep this anchor elsewhere to prove it again: {proof.anchor}")
    else:
        write(f"Row {proof.first_bad} is the first bad one ({proof.kind}): {proof.why}.")
    return 0 if proof.is_sound else 1


def _flags(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.audit_flags()
    if options.json:
        write(as_json([asdict(flag) for flag in found]))
        return 0
    for flag in found:
        write(flag.words)
    if not found:
        write("Nothing unusual in the last day.")
    return 0
