"""The lane: one job at a time, clients in turn, nothing run that was cancelled; and what one client may write."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future

import pytest

from tetrarium.config import DEFAULTS
from tetrarium.errors import TooFast
from tetrarium.mcp.allowance import Allowance
from tetrarium.mcp.lane import Lane

PATIENCE = 30.0


def test_a_single_call_waits_for_one_job_of_a_flood_and_not_for_all() -> None:
    lane, done, go = Lane("lane"), list[str](), threading.Event()
    lane.submit(lambda: go.wait(PATIENCE), "first")
    flood = [lane.submit(lambda n=n: done.append(f"flood {n}"), "flood") for n in range(100)]
    single = [lane.submit(lambda n=n: done.append(f"single {n}"), "single") for n in range(2)]
    go.set()
    for job in [*flood, *single]:
        job.result(PATIENCE)
    assert done[:4] == ["flood 0", "single 0", "flood 1", "single 1"]
    assert [name for name in done if name.startswith("flood")] == [f"flood {n}" for n in range(100)]
    lane.close(lambda: None).result(PATIENCE)


def test_a_job_that_fails_tells_its_caller_and_the_lane_goes_on() -> None:
    lane = Lane("lane")

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lane.submit(fail).result(PATIENCE)
    assert lane.submit(lambda: 5).result(PATIENCE) == 5
    lane.close(lambda: None).result(PATIENCE)


def test_what_was_cancelled_or_dropped_does_not_run() -> None:
    lane, go, begun = Lane("lane"), threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert go.wait(PATIENCE)

    running = lane.submit(wait)
    assert begun.wait(PATIENCE)
    cancelled = lane.submit(lambda: pytest.fail("it ran"))
    assert cancelled.cancel()
    waiting: Future[None] = lane.submit(lambda: pytest.fail("it ran"))
    last = lane.close(lambda: pytest.fail("it ran"))
    lane.drop()
    go.set()
    running.result(PATIENCE)
    for job in (waiting, last):
        with pytest.raises(CancelledError):
            job.result(PATIENCE)
    with pytest.raises(RuntimeError):
        lane.submit(lambda: None)


def test_closing_runs_what_waits_first() -> None:
    lane, done = Lane("lane"), list[int]()
    for number in range(5):
        lane.submit(lambda n=number: done.append(n), number)
    assert lane.close(lambda: list(done)).result(PATIENCE) == [0, 1, 2, 3, 4]


def test_a_client_that_writes_without_end_is_told_when_to_try_again() -> None:
    now = [100.0]
    allowance = Allowance(clock=lambda: now[0])
    for _ in range(DEFAULTS.write_burst):
        allowance.spend()
    with pytest.raises(TooFast, match="Try again in 1 s"):
        allowance.spend()
    now[0] += 2
    for _ in range(int(2 * DEFAULTS.write_rate)):
        allowance.spend()
    with pytest.raises(TooFast):
        allowance.spend()
    now[0] += 1e6
    for _ in range(DEFAULTS.write_burst):
        allowance.spend()
    with pytest.raises(TooFast):
        allowance.spend()
