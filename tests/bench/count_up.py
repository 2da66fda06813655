"""The Nth write, sync, truncation or rename fails, for every N until a day of a space runs clean.

    python tests/bench/count_up.py [--every 1] [--kinds once,dead,full]

once: only that operation fails; dead: it and all after it; full: the same, for want of room. Afterwards the disk works again:
what was acknowledged must be there, what was not must be there wholly or not at all, and the doctor must find nothing.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
sys.unraisablehook = lambda _: None  # SQLite ignores some failures of temporary files, and the driver tells of each

from failing_disk import counted_disk, day_on_a_failing_disk  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", default="once,dead,full")
    a = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    broken = 0
    with counted_disk() as disk, tempfile.TemporaryDirectory() as folder:
        for kind in a.kinds.split(","):
            number, runs, failed = 1, 0, True
            while failed:
                work = Path(folder) / f"{kind}{number}"
                failed, wrong = day_on_a_failing_disk(work, disk, number, dead=kind != "once", full=kind == "full")
                if wrong:
                    broken += 1
                    print(f"{kind}, operation {number}: {'; '.join(wrong)}", flush=True)
                shutil.rmtree(work)
                runs, number = runs + 1, number + a.every
            print(
                f"{kind}: {runs} days, a day has fewer than {number} operations; broken promises so far {broken}",
                flush=True,
            )
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
