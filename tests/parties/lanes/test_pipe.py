"""What goes through the pipe to a lane's worker comes out as it was."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from parties.lanes.pipe import answer_of, answer_words, call_of, call_words, frame_of, frame_words
from parties.workers.pipe import Pipe, array_data
from smc.channel.channel import Clock, Traffic
from smc.channel.message import FRAME_BYTES, Frame
from smc.errors import Cancelled
from smc.oblivious.lanes import LaneAnswer, LaneCall

counters = st.integers(0, 2**48)
unsigned = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64])
held = st.lists(
    unsigned.flatmap(
        lambda kind: arrays.arrays(kind, arrays.array_shapes(max_dims=2, min_side=0, max_side=9))
    ),
    max_size=3,
).map(tuple)


def through(words, *data):
    """What the other end gets."""
    here, there = (Pipe(end) for end in socket.socketpair())
    try:
        with ThreadPoolExecutor(1) as thread:
            sent = thread.submit(here.put, words, *data)
            got = there.get()
            sent.result(10)
        return got
    finally:
        here.close()
        there.close()


@given(counters, counters, st.binary(max_size=300))
def test_frames(sequence, depth, data):
    frame = Frame(sequence, "some-kind", depth, len(data), data, 3)
    found = frame_of(*through(frame_words(frame), frame.data), 3)
    assert found == frame
    assert bytes(found.data) == data


def test_a_whole_frame():
    frame = Frame(0, "kind", 1, FRAME_BYTES, memoryview(bytes(range(256)) * (FRAME_BYTES // 256)), 1)
    assert frame_of(*through(frame_words(frame), frame.data), 1).data == frame.data


@given(held, counters, st.booleans() | st.none())
def test_calls_and_answers(given_arrays, number, choice):
    clock = Clock(number, 2, 3)
    call = LaneCall("equal", given_arrays, {"bits": 5, "holds_x": choice})
    found, at = call_of(*through(call_words(call, clock), *array_data(call.arrays)))
    assert (found.method, found.options, at) == (call.method, call.options, clock)
    answer = LaneAnswer(given_arrays, Traffic(number, 2, 3, 4), clock)
    back = answer_of(*through(answer_words(answer), *array_data(answer.arrays)))
    assert (back.traffic, back.clock) == (answer.traffic, answer.clock)
    for got in (found.arrays, back.arrays):
        assert len(got) == len(given_arrays)
        for one, other in zip(got, given_arrays, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)


def test_a_part_of_an_array_goes_as_it_is():
    whole = np.arange(20, dtype=np.uint64).reshape(4, 5)
    call = LaneCall("equal", (whole[1:, ::2], whole[:, 3]))
    found, _ = call_of(*through(call_words(call, Clock()), *array_data(call.arrays)))
    assert [each.tolist() for each in found.arrays] == [each.tolist() for each in call.arrays]


@pytest.mark.parametrize("begun", [b"", b"\0\0", b"\0\0\0\x02\0\0\0\x05{}ab"])
def test_an_end_that_goes_is_noticed(begun):
    here, there = socket.socketpair()
    pipe = Pipe(there)
    here.sendall(begun)
    here.close()
    with pytest.raises(EOFError):
        pipe.get()
    pipe.close()


def test_closing_wakes_whoever_waits_and_may_happen_twice():
    here, there = (Pipe(end) for end in socket.socketpair())
    threading.Timer(0.1, here.close).start()
    with pytest.raises((EOFError, OSError)):
        there.get()
    here.close()
    with pytest.raises((EOFError, OSError)):
        here.get()
    there.close()


@pytest.mark.parametrize("begun", [b"", b"\0\0", b"\0\0\0\x02\0\0\0\x05{}ab"])
def test_whoever_waits_asks_whether_to_go_on_also_amid_words_and_data(begun):
    here, there = socket.socketpair()
    there.sendall(begun)
    pipe = Pipe(here, unwanted)
    with pytest.raises(Cancelled):
        pipe.get()
    with pytest.raises(Cancelled):
        pipe.put({}, bytes(1 << 24))
    pipe.close()
    there.close()


def unwanted():
    raise Cancelled("Nobody wants it any more.")
