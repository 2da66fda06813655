"""Lines of the wire: cut anywhere, bounded, and answered by their id wherever it can be made out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tetrarium.mcp.lines import Splitter, Unreadable, read_json


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=20), st.data())
def test_lines_come_out_as_they_went_in_however_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    splitter, found = Splitter(), list[bytes]()
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == lines
    assert (splitter.rest(), splitter.rest()) == (b"rest", b"")


@given(st.integers(1, 200), st.integers(1, 64))
def test_a_line_that_is_too_long_is_not_kept_and_still_seen_to_be_too_long(size: int, piece: int) -> None:
    splitter, found = Splitter(limit=50), list[bytes]()
    stream = b"x" * size + b"\nnext\n"
    for start in range(0, len(stream), piece):
        found += splitter.feed(stream[start : start + piece])
    assert found[1:] == [b"next"]
    assert len(found[0]) == min(size, 51)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":NaN}}',
        b'{"method":"x","params":{"a":NaN},"jsonrpc":"2.0","id":7}',
        b' { "id" : 7 , nonsense',
        b'{"params":{"a":[NaN,Infinity],"id":8},"id":7,"method":"x","jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\xff"}}',
    ],
)
def test_the_id_of_an_unreadable_request_is_found_where_it_is_certain(line: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(line)
    assert json.loads(caught.value.answer())["id"] == 7


@pytest.mark.parametrize(
    "line", [b'{"params":{"id":7}, broken', b'{"jsonrpc":"2.0","method":"x","params":{"a":NaN,"id":7}', b"id 7"]
)
def test_an_id_that_may_be_somebody_elses_is_not_answered_for(line: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(line)
    assert caught.value.request is None
