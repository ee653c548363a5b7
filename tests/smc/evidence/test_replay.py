"""A run made again from what one side has kept: lanes, kernels, other inputs, records that are cut."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor

import numpy as np
import pytest

from smc.channel.message import END, Frame
from smc.errors import OutOfMemory, PeerLost
from smc.evidence.record import Chain, InMemory
from smc.evidence.replay import NotReplayed, ReplayTransport, replay
from smc.evidence.verdict import Departure, judge
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import kernels
from tests.support.recorded import first_of, named, recorded

RANDOM = Randomness.from_seed(b"tests", "replays")
COUNT = 70_000
X, Y = RANDOM.words(COUNT), RANDOM.words(COUNT)
A, B = (RANDOM.bits(300_000) for _ in range(2))


def compare(count=300, silent=False):
    def side(session):
        engine = session.oblivious
        if session.role is Role.ALICE:
            return engine.greater_equal_x(X[:count], 64, silent=silent)
        return engine.greater_equal_y(Y[:count], 64, silent=silent)

    return side


def conjunction(session):
    own = (A, B) if session.role is Role.ALICE else (B, A)
    return session.oblivious.and_bits(*own)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("role", Role)
def test_a_side_that_follows_the_program_is_cleared(role, silent):
    side = compare(silent=silent)
    each = recorded(side)[role]
    assert each.error is None
    verdict = each.verdict(side)
    assert verdict.is_cleared
    assert verdict.ended


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("side", [compare(COUNT), compare(COUNT, silent=True), conjunction])
def test_lanes_follow_from_the_seed_as_well(side, role):
    sides = recorded(side, lanes=2)
    alice, bob = sides.values()
    assert len(alice.sent.lanes()) == 3
    assert (alice.sent.head, bob.sent.head) == (bob.received.head, alice.received.head)
    assert sides[role].verdict(side).is_cleared


def test_a_bit_changed_in_a_lane_is_named():
    bends = {Role.BOB: in_lane(2)}
    sides = recorded(conjunction, bends=bends, lanes=2)
    found = sides[Role.BOB].verdict(conjunction).deviation
    assert found is not None
    assert found.lane == 2
    assert sides[Role.ALICE].verdict(conjunction).is_cleared


LANED = {
    conjunction: (
        *("base-answer", "base-key-offer", "base-offer", "level-sums", "transfer-columns"),
        *("transfer-mask", "transfer-proof", "transfer-salt", "tree-digest", "triple-openings"),
    ),
    compare(10_000): ("digit-offers", "transfer-choice-columns"),
    compare(10_000, silent=True): (
        *("digit-shifts", "pair-offers", "silent-answer", "silent-challenge", "silent-refill"),
    ),
}
"""Programs, and kinds of messages with data that Bob sends in their lanes."""


@pytest.mark.slow
@pytest.mark.skipif(not kernels.run_compiled(), reason="the kernels are not compiled here")
@pytest.mark.parametrize("by_numpy", [False, True])
@pytest.mark.parametrize(("side", "kind"), [(side, kind) for side, kinds in LANED.items() for kind in kinds])
def test_a_bit_of_each_kind_in_a_lane_is_named(monkeypatch, side, kind, by_numpy):
    """What ran compiled is audited by numpy, and the reverse."""
    if by_numpy:
        monkeypatch.setenv(kernels.VARIABLE, "numpy")
    sides = recorded(side, bends={Role.BOB: in_lane(2, kind)}, lanes=2)
    if by_numpy:
        monkeypatch.delenv(kernels.VARIABLE)
    else:
        monkeypatch.setenv(kernels.VARIABLE, "numpy")
    assert kernels.run_compiled() == by_numpy
    found = sides[Role.BOB].verdict(side).deviation
    assert found is not None
    said = [frame.kind for frame in sides[Role.BOB].sent.lanes()[2]]
    assert (found.lane, found.number, found.kind) == (2, said.index(kind), kind)
    assert sides[Role.ALICE].verdict(side).is_cleared


@pytest.mark.slow
def test_all_kinds_in_lanes_are_tried():
    """Of what a run without lanes sends, but for messages of sessions alone."""
    for side, kinds in LANED.items():
        sent = {frame.kind for frame in recorded(side)[Role.BOB].sent.lanes()[0]}
        tried = {*LANED[conjunction], *kinds}
        assert {*kinds} <= sent <= {*tried, END}, sent ^ tried


def in_lane(lane, kind=None):
    seen = []

    def bend(frame):
        if (
            frame.lane != lane
            or seen
            or len(frame.data) < 1000 * (kind is None)
            or kind not in (None, frame.kind)
        ):
            return frame
        seen.append(frame)
        data = bytes([frame.data[0] ^ 1]) + bytes(frame.data[1:])
        return Frame(frame.sequence, frame.kind, frame.depth, frame.total, data, frame.lane)

    return bend


@pytest.mark.skipif(not kernels.run_compiled(), reason="the kernels are not compiled here")
def test_kernels_make_no_difference(monkeypatch):
    """What ran compiled is audited by numpy, and the reverse."""
    side = compare(silent=True)
    compiled = recorded(side)
    monkeypatch.setenv(kernels.VARIABLE, "numpy")
    assert not kernels.run_compiled()
    by_numpy = recorded(side)
    for role in Role:
        assert compiled[role].sent.head == by_numpy[role].sent.head
        assert compiled[role].verdict(side).is_cleared
    monkeypatch.delenv(kernels.VARIABLE)
    assert by_numpy[Role.BOB].verdict(side).is_cleared


def test_other_data_than_those_of_the_run_are_a_deviation():
    def other(session):
        if session.role is Role.ALICE:
            return compare()(session)
        return session.oblivious.greater_equal_y(X[:300], 64)

    sides = recorded(compare())
    assert sides[Role.BOB].verdict(compare()).is_cleared
    assert named(sides[Role.BOB], other) == ("transfer-choice-columns", 0)
    assert sides[Role.ALICE].verdict(other).is_cleared, "her program is the same"


def test_a_share_of_noise_that_was_not_drawn_is_a_deviation():
    """Bob draws his bits and takes zeros for them: nobody sees it, and the audit does."""

    def side(bits):
        def run(session):
            drawn = session.random.bits(1000)
            own = drawn if bits is None or session.role is Role.ALICE else bits
            return session.oblivious.and_bits(own, own)

        return run

    sides = recorded(side(np.zeros(1000, np.uint8)))
    assert sides[Role.ALICE].error is None
    assert named(sides[Role.BOB], side(None)) == ("triple-openings", 0)
    assert sides[Role.ALICE].verdict(side(None)).is_cleared


def test_randomness_of_another_seed_is_a_deviation():
    each = recorded(compare())[Role.BOB]
    each.seed = bytes(32)
    found = each.verdict(compare()).deviation
    assert found is not None
    assert (found.lane, found.number) == (0, 0)


@pytest.mark.parametrize("role", Role)
def test_a_run_that_was_cut_clears_as_far_as_it_went(role):
    """A side is lost after each of its frames in turn: what it had sent is right, and it did not end."""
    whole = len(recorded(compare())[role].sent.lanes()[0])
    for last in range(1, whole, 3):
        each = recorded(compare(), bends={role: until(last)})[role]
        assert each.error is not None
        verdict = each.verdict(compare())
        assert verdict.is_cleared
        assert not verdict.ended


def until(last):
    def bend(frame):
        if frame.sequence >= last:
            raise PeerLost("The line is cut.")
        return frame

    return bend


def test_an_end_before_the_end_is_a_deviation():
    def early(session):
        return None if session.role is Role.BOB else compare()(session)

    each = recorded(early)[Role.BOB]
    assert each.verdict(compare()).deviation == Departure(0, 0, END)


def test_what_is_left_out_before_the_end_is_named():
    frames = [Frame(number, "some-kind", 1, 1, b"x", 1) for number in range(3)]
    end = Frame(0, END, 1, 0, b"")
    sent, right = Chain(), Chain()
    for frame in (*frames[:2], end):
        sent.add(frame)
    for frame in (*frames, end):
        right.add(frame)
    assert judge(sent, right).deviation == Departure(1, 2, "some-kind")
    assert judge(right, right).is_cleared
    assert judge(right, sent).deviation == Departure(1, 2, "some-kind"), "one more than the program sends"


@pytest.mark.parametrize("change", ["kind", "data", "lane", "order", "count", "total"])
def test_the_head_of_a_chain_holds_all_that_was_said(change):
    frames = [Frame(0, "one", 1, 2, b"ab"), Frame(1, "two", 1, 2, b"cd")]
    first = frames[0]
    other = {
        "kind": [first, Frame(1, "one", 1, 2, b"cd")],
        "data": [first, Frame(1, "two", 1, 2, b"ce")],
        "lane": [first, Frame(1, "two", 1, 2, b"cd", 1)],
        "order": [Frame(0, "two", 1, 2, b"cd"), Frame(1, "one", 1, 2, b"ab")],
        "count": [first],
        "total": [first, Frame(1, "two", 1, 3, b"cd")],
    }[change]
    assert head(frames) == head([first, Frame(1, "two", 7, 2, b"cd")]), "rounds are counted, and not said"
    assert head(frames) != head(other)


def head(frames):
    chain = Chain()
    for frame in frames:
        chain.add(frame)
    return chain.head


def test_frames_are_kept_as_they_were_read():
    """The data of a frame can be a view of memory that is used again."""
    memory, kept = bytearray(b"abc"), InMemory()
    kept.keep(Frame(0, "kind", 1, 3, memoryview(memory)))
    memory[:] = b"xyz"
    assert kept[0].data == b"abc"


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("bent", [False, True])
def test_the_order_in_which_lanes_are_shown_changes_nothing(role, bent):
    """Nobody has signed it: a party shows its frames lane by lane, from the last lane to the first."""
    bends = {Role.BOB: in_lane(2)} if bent else {}
    each = recorded(conjunction, bends=bends, lanes=2)[role]
    shown = sorted(each.frames, key=lambda frame: -frame.lane)
    assert shown != each.frames
    verdict = judge(each.sent, replay(conjunction, role, each.seed, shown, **each.given))
    assert verdict == each.verdict(conjunction)
    assert verdict.is_cleared == (role is Role.ALICE or not bent)


def test_a_replay_ends_where_the_record_does():
    transport = ReplayTransport([])
    with pytest.raises(PeerLost, match="record ends"):
        transport.receive()


def test_a_damaged_record_is_not_the_one_that_the_peer_signed():
    sides = recorded(compare())
    each = sides[Role.BOB]
    damaged = Chain()
    for frame in each.frames[:-1]:
        damaged.add(frame)
    assert damaged.head != sides[Role.ALICE].sent.head == each.received.head


def test_a_seeded_source_that_does_not_replay_is_as_before():
    assert not Randomness.from_seed(b"x", "run").replays
    assert not Randomness().replays
    drawn = Randomness.of_run(b"x").bytes(100)
    assert drawn == Randomness.from_seed(b"x", "run").bytes(100)


def test_the_first_deviation_is_that_of_a_session_before_that_of_its_lanes():
    sides = recorded(compare(), bends={Role.ALICE: first_of("base-offer")})
    assert not sides[Role.ALICE].verdict(compare()).is_cleared


@pytest.mark.parametrize("error", [IndexError, KeyError, ZeroDivisionError])
def test_a_program_that_fails_on_the_data_sends_what_it_sent_before(error):
    """Data that are shown can be anything; what the program sends of them is judged, whatever it raises."""
    each = recorded(compare())[Role.BOB]

    def fails(session):
        compare()(session)
        raise error

    made = replay(fails, Role.BOB, each.seed, each.frames, **each.given)
    assert made.lanes()[0] == each.sent.lanes()[0][:-1]
    assert judge(each.sent, made).deviation == Departure(0, len(made.lanes()[0]), END)


@pytest.mark.parametrize(
    "error",
    [MemoryError, OSError, OutOfMemory, BrokenExecutor, RuntimeError("can't start new thread")],
)
def test_a_machine_without_memory_says_nothing_of_the_program(error):
    each = recorded(compare())[Role.BOB]

    def poor(session):
        raise error

    with pytest.raises(NotReplayed, match="memory"):
        replay(poor, Role.BOB, each.seed, each.frames, **each.given)
