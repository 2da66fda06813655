"""Write a space with every feature of its time, by the program of that time: how space-schema-5 … 9 came to be.

    git worktree add --detach OLD COMMIT && PYTHONPATH=OLD/engine python tests/data/make_space.py space-schema-N.db.gz

The commits: 5 192ee7f · 6 00a78cf · 7 e5d0b19 · 8 614b6ce · 9 f109928, each one in which that step was the newest.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path
from typing import Any

import tetrarium
from tetrarium.storage.migrations import SCHEMA_VERSION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with tetrarium.open_space(Path(folder)) as space:
            fill(space)
        store = Path(folder) / "space.tetrarium"
        a.out.write_bytes(gzip.compress(store.read_bytes(), 9, mtime=0))
    raise SystemExit(f"schema {SCHEMA_VERSION}, {a.out.stat().st_size} bytes")


def fill(space: Any) -> None:
    """Eleven memories and all that could be done with them. `space`: a service of any age from schema 5 on."""

    def store(text: str, **given: Any) -> str:
        return str(space.store(text, **given).id)

    payment = store(
        "The payment worker retries a failed charge three times, then parks the job.",
        keywords=["payments", "retry"], labels=["payments"], client="claude-code 2.0", project="shop",
    )  # fmt: skip
    export = store(
        "The nightly export runs at 02:30 because the bank closes its gateway at three.", keywords=["export", "bank"]
    )
    decision = store("We chose PostgreSQL for its partial indexes, not MySQL.", category="decision")
    timeout = store("支付服务的超时时间是三十秒，重试两次以后放弃。")
    session = {"client": "claude-code 2.0", "session": "monday"}
    store("The kiosk syncs its seat map every four minutes over the depot's wireless.", **session)
    deploys = store("Deploys on Fridays need a second reviewer from the platform team.", **session)
    search = store("The search index is rebuilt with `make index` after every schema change.")
    store("Login tokens live for fifteen minutes and are refreshed silently.", idempotency_key="login")
    ledger = store("The ledger is closed on the last working day of the month.")
    refunds = store("Refunds over 500 euros need the signature of two people.")
    store("The nightly export runs at 01:30 now, since the bank closes its gateway at two.", supersedes=[export])
    space.update(search, content="The search index is rebuilt with `make search-index` after every schema change.")
    space.update(deploys, category="context")
    space.forget(ledger)
    space.inhibit(refunds, reason="nobody knows")
    space.feedback(payment, True, client="claude-code 2.0")
    space.update(decision, pinned=True)
    space.relate(payment, timeout, "depends_on", note="same service")
    space.recall("when does the nightly export run")
    space.recall("how often does the kiosk sync")
    space.apply_plan(space.plan_clusters("layout"))
    space.name_cluster(space.get(payment).cluster, "Payments", client="window")
    if SCHEMA_VERSION >= 8:
        space.exclude("pattern", "lunch menu")
    while space.maintain():
        pass


if __name__ == "__main__":
    main()
