"""`tetrarium clusters …`: look at the landscape, name it, rearrange it and take that back."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import CLIENT, as_json, common, counted, first_line, space, write
from tetrarium.mcp.arguments import from_system

_PLANS = {
    "fission": "split clusters that hold two topics",
    "merge": "merge clusters that mean the same, or the two that are named",
    "attach": "attach lone memories and small clusters to the cluster that takes their kind",
    "mend": "bring back what deletions cut off",
    "layout": "move whole clusters, as they are, near those that mean nearly the same",
    "settle": "give the places inside clusters out anew, so that relatives stand together",
}


def add(commands: Any) -> None:
    """`tetrarium clusters …`: look at the landscape, name it, rearrange it and take that back."""
    clusters = commands.add_parser("clusters", help="list, name, split, merge and settle clusters; log and undo")
    verbs = clusters.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, about: str, run: Any) -> Any:
        parser = verbs.add_parser(name, help=about, description=about)
        common(parser)
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


def _list_clusters(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = sorted(service.snapshot().clusters, key=lambda cluster: (-cluster.size, cluster.id))
        figures = service.stats().figures
    if options.json:
        write(as_json({"clusters": [asdict(c) for c in found[: options.limit]], "figures": asdict(figures)}))
        return 0
    for cluster in found[: options.limit]:
        write(f"{cluster.id:6}  {cluster.size:6}  {cluster.name}")
    write(
        f"{len(found)} {'cluster' if len(found) == 1 else 'clusters'}, {figures.mean_size:.1f} memories each (lone ones aside); purity {figures.purity:.1%}, "
        f"alone {figures.orphan_rate:.1%}, association density {figures.association_density:.3f}, "
        f"shared vertices {figures.shared_vertices:.2f} a memory"
    )
    return 0


def _show_cluster(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.cluster(options.cluster)
        medoid = service.get(found.medoid)
    if options.json:
        write(as_json(asdict(found)))
        return 0
    named = " (named by a person)" if found.is_named else ""
    write(f"Cluster {found.id}: {found.name}{named}, {counted(found.size)}")
    write(f"purity {found.purity:.1%}, entropy {found.entropy:.2f}, radius {found.radius:.1f} edges")
    write(f"words: {', '.join(found.words)}")
    if found.aliases:
        write(f"earlier ids: {', '.join(map(str, found.aliases))}")
    write(f"most typical: {medoid.id}  {first_line(medoid.content)}")
    return 0


def _name_cluster(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.name_cluster(options.cluster, from_system(options.name), client=CLIENT)
    write(as_json(asdict(found)) if options.json else f"Cluster {found.id} is called {found.name}")
    return 0


def _plan_clusters(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        plan = service.plan_clusters(options.cause, options.cluster, onto=getattr(options, "onto", None))
        record = service.apply_plan(plan) if options.apply and len(plan) else None
    if options.json:
        write(as_json(asdict(record) if record else asdict(plan)))
        return 0
    for why in plan.why or ("Nothing to do.",):
        write(why)
    if record:
        write(
            f"Applied as {record.id}: {counted(record.moves, 'move')}"
            + (f", {record.skipped} steps left out" if record.skipped else "")
        )
    elif len(plan):
        write(f"{counted(len(plan), 'move')} in {counted(len(plan.steps), 'step')}; --apply does it.")
    return 0


def _plan_log(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        records = service.plans()
    if options.json:
        write(as_json([asdict(record) for record in records]))
        return 0
    for record in records:
        undone = f", undone by {record.undone_by}" if record.undone_by else ""
        write(
            f"{record.id}  {record.started_at:%Y-%m-%d %H:%M}  {record.cause}: {counted(record.moves, 'move')}{undone}"
        )
        for why in record.why:
            write(f"      {why}")
    return 0


def _undo_plan(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        record = service.undo_plan(options.plan)
    left = f", {record.skipped} steps left out" if record.skipped else ""
    write(as_json(asdict(record)) if options.json else f"Undone as {record.id}: {counted(record.moves, 'move')}{left}")
    return 0


def _show_neighbours(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        found = service.neighbours(options.memory)
    if options.json:
        rows = [{"id": n.memory.id, "shared": n.shared, "similarity": round(n.similarity, 3)} for n in found]
        write(as_json(rows))
        return 0
    for n in found:
        write(f"{n.shared} shared  {n.similarity:5.2f}  {n.memory.id}  {first_line(n.memory.content)}")
    if not found:
        write("No memory shares a vertex with it.")
    return 0


def _show_path(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        way = service.path_between(options.memory, options.other)
    if options.json:
        write(as_json([memory.id for memory in way]))
        return 0
    for memory in way:
        write(f"{memory.id}  {first_line(memory.content)}")
    if not way:
        write("They stand in different clusters: no way leads from one to the other.")
    return 0
