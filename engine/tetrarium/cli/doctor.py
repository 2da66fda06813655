"""`tetrarium doctor`: examine the space, repair what can be repaired."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import as_json, common, space, write


def add(commands: Any) -> None:
    """Its parser."""
    doctor = commands.add_parser("doctor", help="examine the places and embeddings of the space, and repair them")
    common(doctor)
    doctor.add_argument("--repair", action="store_true", help="put right what is wrong; no memory is lost")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    """0: healthy, or healthy now; 1: damage found (or left)."""
    with space(options.data_dir) as service:
        report = service.examine()
        repaired = service.repair() if options.repair and not report.is_healthy else None
        after = service.examine() if repaired else report
    if options.json:
        write(as_json({"found": asdict(report), "left": asdict(after)}))
        return 0 if after.is_healthy else 1
    for finding in report.findings:
        write(f"{finding.count} {finding.about}: {', '.join(finding.examples)}")
    if report.is_healthy:
        write(f"Healthy: {report.memories} memories, every place and embedding as it should be.")
    elif repaired:
        left = "nothing is left" if after.is_healthy else f"{len(after.findings)} kinds of damage are left"
        write(f"Repaired as {repaired.id}: {repaired.moves} places; {left}.")
    else:
        write("--repair puts this right; no memory is lost.")
    return 0 if after.is_healthy else 1
