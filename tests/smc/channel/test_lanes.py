"""Lanes: conversations over one transport, whatever order frames come in, and what a peer may not send."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from smc.channel import lanes as module
from smc.channel.channel import Channel
from smc.channel.lanes import Lanes
from smc.channel.memory import memory_pair
from smc.channel.message import ABORT, END, MAX_LANES, Frame
from smc.errors import Cancelled, PeerAborted, PeerLost, ProtocolViolation, UsageError


def frame(lane: int, sequence: int = 0, kind: str = "kind", data: bytes = b"x") -> Frame:
    return Frame(sequence, kind, 1, len(data), data, lane)


def test_each_lane_gets_its_frames_in_their_order_whoever_reads():
    near, far = memory_pair(5)
    shared = Lanes(near, 3)
    sent = [frame(lane, number) for number in range(50) for lane in (3, 1, 0, 2)]
    for each in sent:
        far.send(each)

    def read(lane):
        return [shared.receive(lane) for _ in range(50)]

    with ThreadPoolExecutor(4) as threads:
        got = list(threads.map(read, range(4)))
    assert got == [[each for each in sent if each.lane == lane] for lane in range(4)]


def test_a_lane_that_waits_is_woken_by_another_that_reads():
    near, far = memory_pair(5)
    shared = Lanes(near, 2)
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(shared.receive, lane) for lane in (1, 2)]
        far.send(frame(2))
        far.send(frame(1))
        assert [each.result(5).lane for each in waiting] == [1, 2]


@pytest.mark.parametrize("hostile", [frame(3), frame(1, kind=END, data=b""), frame(2, kind=ABORT)])
def test_frames_that_no_lane_may_get_end_all_of_them(hostile):
    near, far = memory_pair(5)
    shared = Lanes(near, 2)
    far.send(hostile)
    with pytest.raises(ProtocolViolation):
        shared.receive(1)
    for lane in range(3):
        with pytest.raises(ProtocolViolation):
            shared.receive(lane)


def test_a_lane_is_not_flooded(monkeypatch):
    monkeypatch.setattr(module, "WAITING_BYTES", 1000)
    near, far = memory_pair(5)
    shared = Lanes(near, 2)
    for number in range(11):
        far.send(frame(2, number, data=bytes(100)))
    with pytest.raises(ProtocolViolation, match="far more than lane 2"):
        shared.receive(1)


def test_what_ends_the_session_reaches_every_lane():
    for said, error in ((frame(0, kind=ABORT, data=b"budget"), PeerAborted), (None, PeerLost)):
        near, far = memory_pair(5)
        shared = Lanes(near, 2)
        far.send(said) if said is not None else far.close()
        with ThreadPoolExecutor(2) as threads:
            for ended in [threads.submit(shared.receive, lane) for lane in (1, 2)]:
                with pytest.raises(error):
                    ended.result(5)


def test_the_session_itself_still_hears_why_the_peer_has_ended():
    near, far = memory_pair(5)
    channel, other = Channel(near), Channel(far)
    shared = Lanes.of(channel, 1)
    other.abort("budget")
    with pytest.raises(PeerAborted):
        shared.receive(1)
    with pytest.raises(PeerAborted, match="budget"):
        channel.finish()


def test_who_gives_up_wakes_those_who_will_wait():
    near, _ = memory_pair(5)
    shared = Lanes(near, 2)
    shared.fail(Cancelled("enough"))
    shared.fail(PeerLost("later"))
    with pytest.raises(Cancelled):
        shared.receive(1)


def test_a_channel_takes_frames_of_its_lane_only():
    near, far = memory_pair(5)
    far.send(frame(1, kind=END, data=b""))
    with pytest.raises(ProtocolViolation, match="lane"):
        Channel(near).finish()


@pytest.mark.parametrize("count", [0, MAX_LANES + 1])
def test_only_so_many_lanes(count):
    with pytest.raises(UsageError):
        Lanes(memory_pair()[0], count)


def test_many_lanes_talk_at_once_over_one_transport():
    near, far = memory_pair(20)
    ends = Lanes(near, 4), Lanes(far, 4)
    barrier = threading.Barrier(8)

    def talk(end, lane):
        barrier.wait()
        for number in range(200):
            end.send(frame(lane, number))
            assert end.receive(lane).sequence == number
        return True

    with ThreadPoolExecutor(8) as threads:
        both = [threads.submit(talk, end, lane) for end in ends for lane in range(1, 5)]
        assert all(each.result(20) for each in both)
