"""`tetrarium relations` and `tetrarium link`: the knowledge graph from a terminal."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import CLIENT, as_json, common, first_line, space, write
from tetrarium.mcp.arguments import from_system


def add(commands: Any) -> None:
    """Their parsers."""
    relations = commands.add_parser("relations", help="what belongs to a memory or an entity, and why")
    common(relations)
    relations.add_argument("start", help="id of a memory, or a person, file or symbol")
    relations.add_argument("--depth", type=int, default=1, help="edges to go (1 to 3, default 1)")
    relations.add_argument("--type", action="append", default=[], metavar="TYPE", help="only these types")
    relations.add_argument("--limit", type=int, default=40, help="nodes to show (default 40)")
    relations.set_defaults(run=_show)
    link = commands.add_parser("link", help="state that a memory is related to another, or take it back")
    common(link)
    link.add_argument("memory")
    link.add_argument("other")
    link.add_argument("--type", default="", metavar="TYPE", help="as caused_by, part_of (default related_to)")
    link.add_argument("--note", default="", help="why")
    link.add_argument("--remove", action="store_true", help="take it back")
    link.set_defaults(run=_link)


def _show(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.relations(
            from_system(options.start), depth=options.depth, kinds=options.type, limit=options.limit
        )
    if options.json:
        write(as_json(asdict(found)))
        return 0
    for edge in found.edges:
        note = f"  {first_line(edge.note)}" if edge.note else ""
        write(f"{edge.source}  {edge.kind}  {edge.target}  ({edge.origin.replace('_', ' ')}){note}")
    for node in found.nodes:
        if node.excerpt:
            write(f"{node.id}  {first_line(node.excerpt)}")
    if not found.edges:
        write("Nothing is related to it.")
    if found.cut:
        write(f"{found.cut} more; --limit shows them.")
    return 0


def _link(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        if options.remove:
            removed = service.unrelate(options.memory, options.other, options.type, client=CLIENT)
            write(as_json({"removed": removed}) if options.json else f"Took back: {removed}")
            return 0
        made = service.relate(
            options.memory, options.other, options.type or "related_to", note=from_system(options.note), client=CLIENT
        )
    write(as_json(asdict(made)) if options.json else f"{made.source}  {made.kind}  {made.target}")
    return 0
