"""Where relays and host meet: one owner, an address that can be trusted, a folder that nobody else can enter."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import platformdirs
import pytest

from tetrarium import paths
from tetrarium.mcp import meeting
from tetrarium.mcp.meeting import Lock, NoMeeting


def test_there_is_one_owner_and_none_once_it_is_gone(tmp_path: Path) -> None:
    one, other = Lock(tmp_path), Lock(tmp_path)
    assert one.is_free()
    assert one.take()
    assert not other.is_free()
    assert not other.take(0.05)
    one.close()
    assert other.take()
    other.close()


def test_socket_address_and_lock_are_for_this_user_only(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    listening, address = meeting.listen(tmp_path)
    meeting.announce(tmp_path, address)
    place = Path(address.socket)
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    for file in (place, tmp_path / paths.ADDRESS_FILE, tmp_path / paths.LOCK_FILE):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert len(os.fsencode(place)) <= meeting.LONGEST_SOCKET
    assert len(address.token) == 64
    assert meeting.address_of(tmp_path) == address
    connection = meeting.connect(address)
    assert meeting.is_same_user(connection)
    connection.close()
    meeting.withdraw(tmp_path, address)
    assert not place.exists()
    assert meeting.address_of(tmp_path) is None
    listening.close()
    lock.close()


def test_the_address_of_a_later_host_is_not_withdrawn(tmp_path: Path) -> None:
    first, former = meeting.listen(tmp_path)
    second, later = meeting.listen(tmp_path)
    meeting.announce(tmp_path, later)
    meeting.withdraw(tmp_path, former)
    assert meeting.address_of(tmp_path) == later
    assert Path(later.socket).exists()
    meeting.withdraw(tmp_path, later)
    first.close()
    second.close()


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"wire": 1}', '{"wire":1,"process":1,"socket":"x","token":"y","more":1}']
)
def test_half_an_address_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / paths.ADDRESS_FILE).write_text(content)
    assert meeting.address_of(tmp_path) is None


def test_a_folder_that_others_can_enter_holds_no_socket_of_ours(tmp_path: Path) -> None:
    place = tmp_path / "open" / "x.sock"
    place.parent.mkdir(mode=0o755)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place))
    with pytest.raises(NoMeeting, match="of this user's own"):
        meeting.connect(meeting.Address(meeting.WIRE, 1, str(place), "x"))
    listening.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("file", [paths.LOCK_FILE, paths.ADDRESS_FILE])
def test_what_another_user_left_is_not_trusted(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text("{}")
    os.chown(tmp_path / file, 12_345, 12_345)
    with pytest.raises(NoMeeting, match="another user"):
        Lock(tmp_path) if file == paths.LOCK_FILE else meeting.address_of(tmp_path)


def test_a_folder_that_cannot_be_made_is_no_meeting_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoMeeting):
        meeting.shared_folder(tmp_path / "file" / "space")


@pytest.mark.parametrize("named", [None, "", "/somewhere/else", "relative"])
def test_the_default_folder_is_the_platforms_own(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TETRARIUM_DATA_DIR", "VOID_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    if named is not None:
        monkeypatch.setenv("XDG_DATA_HOME", named)
    assert paths.default_data_dir() == Path(platformdirs.user_data_dir("Tetrarium", appauthor=False)) / "default"
