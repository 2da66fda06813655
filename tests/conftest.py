"""What every test stands on: a space of its own, and logs that must stay quiet."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tetrarium
from clients import stop_host
from tetrarium import paths
from tetrarium.mcp.meeting import NoMeeting
from tetrarium.service import MemoryService


@pytest.fixture(autouse=True)
def _warnings_in_the_log_fail(caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest) -> Iterator[None]:
    """A warning that nobody expects is a fault; a test that provokes one is marked `expects_log_warning`."""
    yield
    if request.node.get_closest_marker("expects_log_warning"):
        return
    loud = [r for when in ("setup", "call") for r in caplog.get_records(when) if r.levelno >= logging.WARNING]
    assert not loud, [f"{record.name}: {record.getMessage()}" for record in loud]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[MemoryService]:
    """An empty space, closed afterwards."""
    with tetrarium.open_space(tmp_path / "space") as opened:
        yield opened


os.environ["TETRARIUM_LINGER"] = "1"  # for hosts that programs of a test start, wherever they pass it on


@pytest.fixture(scope="session", autouse=True)
def _no_host_is_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hosts are nobody's children: a test that fails may leave one, for the second that hosts of tests linger."""
    yield
    for address in tmp_path_factory.getbasetemp().rglob(paths.ADDRESS_FILE):
        with contextlib.suppress(NoMeeting):  # what a test has given away to another user
            stop_host(address.parent)
