"""`tetrarium doctor`: look at every part of the space; put right what can be put right."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import as_json, common, space, write
from tetrarium.model import CheckState, Health


def add(commands: Any) -> None:
    """Its parser."""
    about = "look at the store, its indexes, places, records and backups; without --fix nothing is changed"
    doctor = commands.add_parser("doctor", help=about, description=about)
    common(doctor)
    fix = "put right what can be put right, after a copy of what is there"
    doctor.add_argument("--fix", "--repair", dest="fix", action="store_true", help=fix)
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    """0: nothing is damaged, or is any more; 1: damage found (or left)."""
    with space(options.data_dir) as service:
        found = service.health()
        after = service.heal() if options.fix and found.state is CheckState.BAD else found
    if options.json:
        write(as_json({"found": _as_record(found), "left": _as_record(after)}))
    else:
        _tell(found)
        if after is not found:
            write(f"\nWhat was there is kept as {after.kept}. Now:" if after.kept else "\nNothing could be put right.")
            _tell(after)
        elif found.state is not CheckState.BAD:
            write("Healthy: nothing is damaged.")
    return 1 if after.state is CheckState.BAD else 0


def _as_record(health: Health) -> dict[str, Any]:
    return asdict(health) | {"state": str(health.state)}


def _tell(health: Health) -> None:
    for check in health.checks:
        examples = f" ({', '.join(check.examples)})" if check.examples else ""
        remedy = f" {check.remedy}" if check.remedy else ""
        write(f"{check.state:5} {check.name:12} {check.words}.{examples}{remedy}")
