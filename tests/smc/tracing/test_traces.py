"""A traced run takes the rounds and bytes of a real one, step by step, and never has data or a result."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import DomainError, ProtocolViolation, TooManyRowsError, UsageError
from smc.forms import Role
from smc.levels import records_of
from smc.network import Network
from smc.numeric.shape_arrays import ShapeArray
from smc.oblivious.engine import ObliviousEngine
from smc.oblivious.laned_engine import LanedEngine
from smc.oblivious.silent_engine import SilentEngine
from smc.pair import run_pair
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.intersection import oprf, single_oprf
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.noise import noise
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.orders import permutation
from smc.secret.products import bit_words, common_ones, grouped, lattice_multiply
from smc.secret.sharing.bounds import Bounds
from smc.tracing.channel import TraceEnded
from smc.tracing.engine import TracedEngine, UntraceableError
from smc.tracing.repeats import traced_once
from smc.tracing.session import TracedSession, trace

MANY = 70_000
SLOW = Network(20, 100)


def words(session, count):
    """Random words; in a traced run their shape."""
    return session.random.words(count)


def bits(session, count):
    return session.random.bits(count)


def compared(count, width, *, silent=False):
    def step(session):
        own = words(session, count) >> np.uint64(64 - width)
        engine = session.oblivious
        if session.role is Role.ALICE:
            return engine.greater_equal_x(own, width, silent=silent)
        return engine.greater_equal_y(own, width, silent=silent)

    return step


def equal(session):
    return session.oblivious.equal(words(session, 500), 64, holds_x=session.role is Role.BOB)


def below(count, *, silent=False):
    return lambda session: session.oblivious.below(
        words(session, count), np.full(count, 1 << 40, dtype=np.uint64), silent=silent
    )


def conjunction(count):
    return lambda session: session.oblivious.and_bits(bits(session, count), bits(session, count))


def one_way(session):
    engine = session.oblivious
    if session.role is Role.ALICE:
        return engine.correlate(words(session, 300))
    return engine.receive(bits(session, 300))


def exchanged(count):
    return lambda session: session.oblivious.exchange(words(session, count), bits(session, count))


def prepared(session):
    """Triples and transfers made ahead, of which the last step finds too few."""
    engine = session.oblivious
    engine.setup()
    engine.deliver(700, 5)
    engine.and_bits(bits(session, 300), bits(session, 300))
    engine.bits_to_arithmetic(bits(session, 400))
    engine.exchange(words(session, 300), bits(session, 300))
    engine.bits_to_arithmetic(bits(session, 100))


def ordered(session):
    """Silent transfers made ahead, enough for the first comparison alone."""
    engine = session.oblivious
    engine.order_silent(2000)
    engine.and_bits(bits(session, 10), bits(session, 10))
    engine.deliver(10)
    for _ in range(2):
        compared(3000, 32, silent=True)(session)
    engine.exchange(words(session, 10), bits(session, 10), 20)
    engine.order_silent(100, 500, 4)
    engine.deliver()
    engine.and_bits(bits(session, 250), bits(session, 250))
    engine.exchange(words(session, 500), bits(session, 500), 32)
    engine.exchange(words(session, 1), bits(session, 1))


def blocks(*, silent):
    def step(session):
        engine = session.oblivious
        if session.role is Role.BOB:
            for _ in range(2):
                engine.receive_blocks(bits(session, 200_000), silent=silent)
            return
        if silent:
            begun = [engine.begin_blocks(200_000, silent=True) for _ in range(2)]
            for end in begun:
                end()
        else:
            for _ in range(2):
                engine.send_blocks(200_000)

    return step


def vole(session):
    """Both ways, twice one way: each direction is set up once."""
    for holder in (Role.ALICE, Role.ALICE, Role.BOB):
        if session.role is holder:
            session.oblivious.vole_send(100).answer()
        else:
            received = session.oblivious.vole_receive(100)
            received.verify(received.challenge())


def vole_after_silent(session):
    """Silent transfers that nobody has checked yet do not hold vector OLE back."""
    compared(300, 20, silent=True)(session)
    vole(session)
    session.oblivious.verify()


def functions(session):
    for holder in Role:
        if session.role is holder:
            oprf.send(session, 100).values(words(session, 14).reshape(-1, 2), 3)
            instances = np.zeros(7, dtype=np.int64)
            single_oprf.send(session, 100).values(instances, words(session, 14).reshape(-1, 2), 3)
        else:
            points = words(session, 200).reshape(-1, 2)
            oprf.receive(session, points).values(points, 3)
            single_oprf.receive(session, points, 3)


def rows(session):
    engine = session.oblivious
    return engine.send_rows(65) if session.role is Role.ALICE else engine.receive_rows(bits(session, 65))


def overlapped(session):
    return common_ones.overlaps(session, bits(session, 50 * 4 * 300).reshape(50, 4, 300), Role.BOB)


def overlapped_silently(session):
    """A step that states its cost, with transfers that the next check covers."""
    common_ones.overlaps(session, bits(session, 1_200 * 16 * 20).reshape(1_200, 16, 20), Role.BOB)
    session.oblivious.verify()


def summed(session):
    size = {Role.ALICE: 40, Role.BOB: 70}
    own, peer = size[session.role], size[session.role.other]
    grouped.sums(
        session,
        [words(session, own * 3).reshape(own, 3) >> np.uint64(40)],
        bits(session, own * 2).reshape(own, 2),
        grouped.Grouping(peer, 3, 2),
        bits(session, peer * 2).reshape(peer, 2),
        64,
    )


def permuted(session):
    order = session.random.permutation(900) if session.role is Role.BOB else None
    return permutation.permute(session, words(session, 900), Role.BOB, order)


def arithmetic(session):
    x, y = (SecretInts.from_shares(session, words(session, 50), Bounds(0, 1000)) for _ in range(2))
    largest = (x * y).reshape(10, 5).maximum()[1]
    return SecretInts.from_bits(x > y), largest // 7


def noisy(session):
    return noise.draw(session, [DiscreteLaplace.of(1)] * 3)


def multiplied(session):
    return lattice_multiply.multiply(session, [words(session, 9000)])


def gated(session):
    return mux.select(session, bits(session, 90), words(session, 90), Role.BOB)


def joint(session):
    own = 7 if session.role is Role.ALICE else 9
    (peer,) = exchange_counts(session, [own])
    toss(session)
    SecretBits(session, bits(session, own + peer)).reveal()


STEPS = {
    "comparison": compared(300, 20),
    "comparisons of many bits": compared(100, 64),
    "silent comparison": compared(300, 20, silent=True),
    "equality": equal,
    "bounds": below(200),
    "silent bounds": below(200, silent=True),
    "conjunction": conjunction(1000),
    "one way": one_way,
    "exchange": exchanged(300),
    "prepared": prepared,
    "ordered": ordered,
    "blocks": blocks(silent=False),
    "silent blocks": blocks(silent=True),
    "vole": vole,
    "vole after silent comparisons": vole_after_silent,
    "functions": functions,
    "rows": rows,
    "overlaps": overlapped,
    "silent overlaps": overlapped_silently,
    "sums": summed,
    "permutation": permuted,
    "arithmetic": arithmetic,
    "noise": noisy,
    "lattice products": multiplied,
    "mux": gated,
    "public": joint,
}


def measured(step, lanes=1, network=None):
    """Rounds, and bytes of Alice and of Bob in a run."""

    def side(session):
        step(session)
        return session.channel.traffic

    alice, bob = run_pair(side, lanes=lanes, network=network)
    return max(alice.rounds, bob.rounds), alice.sent, bob.sent


def traced(step, lanes=1, network=None):
    found = trace(step, network, lanes)
    return found.rounds, found.alice_bytes, found.bob_bytes


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_what_a_run_takes(name):
    assert traced(STEPS[name]) == measured(STEPS[name])


@pytest.mark.parametrize("name", STEPS)
def test_a_trace_knows_the_protocols_of_a_run(name, monkeypatch):
    """Which families of transfers, and which other modules send: by these the level of a job is known."""
    sent, honest = set(), Channel.send

    def send(channel, message):
        sent.add(type(message).__module__)
        honest(channel, message)

    found = trace(STEPS[name]).modules
    monkeypatch.setattr(Channel, "send", send)
    run_pair(STEPS[name])
    families = {family for family, parts in FAMILIES.items() if parts & sent}
    assert {module for module in found if module.startswith("smc.oblivious")} == families
    others = {module for module in sent if not module.startswith("smc.oblivious")}
    others = {module for module in others if not PRICED.get(module, set()) & found}
    assert others <= found
    for module in {*sent, *found}:
        assert records_of(module), module


FAMILIES = {
    "smc.oblivious.transfers": {"smc.oblivious.base_ot"},
    "smc.oblivious.silent_ot": {"smc.oblivious.silent_transfers"},
    "smc.oblivious.vole": {"smc.oblivious.vole"},
}
PRICED = {
    "smc.secret.lattice.matrices": {"smc.secret.lattice.factors"},
    "smc.secret.products.gilboa": {"smc.secret.products.repeated"},
    "smc.secret.sharing.masks": {"smc.secret.products.repeated"},
}
"""Modules that send in steps of which a trace takes the price, and those of the steps."""


@pytest.mark.parametrize("name", ["permutation", "arithmetic", "overlaps", "noise"])
def test_a_slow_network_chooses_the_same_way(name):
    assert traced(STEPS[name], network=SLOW) == measured(STEPS[name], network=SLOW)


@pytest.mark.parametrize(
    "step",
    [
        compared(MANY, 64),
        compared(MANY, 64, silent=True),
        below(MANY),
        below(MANY, silent=True),
        conjunction(20 * MANY),
        exchanged(2 * MANY),
    ],
)
@pytest.mark.parametrize("before", [None, one_way])
def test_lanes_are_opened_once_and_share_large_batches(step, before):
    def run(session):
        if before is not None:
            before(session)
        step(session)
        step(session)

    assert traced(run, lanes=3) == measured(run, lanes=3)


@pytest.mark.parametrize("name", ["permutation", "bits to words", "known"])
def test_what_is_done_again_with_the_same_shapes_costs_as_much_each_time(name):
    gone_through = []

    @traced_once
    def known(session, rows):
        return exchange_counts(session, [len(rows)])

    @traced_once
    def step(session, rows):
        gone_through.append(session.role)
        if name == "permutation":
            order = np.arange(len(rows), like=rows) if session.role is Role.ALICE else None
            return permutation.permute(session, rows, Role.ALICE, order)
        if name == "known":
            return known(session, rows)
        return bit_words.to_words(session, rows.astype(np.uint8) & 1, 32)

    def run(session):
        for count in (MANY, 50, MANY, MANY):
            step(session, words(session, count))

    found = traced(run)
    each = {"permutation": 2, "bits to words": 2, "known": 4}[name]
    assert len(gone_through) == 2 * (each + (name != "known"))  # with the one that sets up
    gone_through.clear()
    assert found == measured(run)
    assert len(gone_through) == 8


def test_the_engine_of_a_trace_makes_none_of_the_real_one():
    own = {name for name, each in vars(TracedEngine).items() if inspect.isfunction(each)}
    public = {
        name
        for engine in (ObliviousEngine, SilentEngine, LanedEngine)
        for name, each in vars(engine).items()
        if inspect.isfunction(each) and not name.startswith("_")
    }
    # Comparisons of either side and the rest come down to these.
    assert public - own <= {"greater_equal_x", "greater_equal_y", "equal", "send_blocks", "close"}


def test_what_is_opened_has_no_values_of_either_side():
    opened = []

    def run(session):
        secret = SecretInts.from_shares(session, words(session, 4), Bounds(3, 9))
        opened.append(secret.reveal())
        opened.append(SecretBits(session, bits(session, 4)).reveal())

    trace(run)
    assert [found.tolist() for found in opened if found.dtype == np.int64] == [[3] * 4] * 2
    assert all(isinstance(found, ShapeArray) for found in opened if found.dtype == np.bool_)


def test_a_traced_session_takes_no_real_channel():
    def run(session):
        assert isinstance(session, TracedSession)
        session.oblivious.fill_pool(10, 8, holds_x=True)

    with pytest.raises(UntraceableError, match="cannot be traced"):
        trace(run)


def test_a_run_that_is_refused_costs_what_was_sent_before():
    def refuses(session):
        if session.role is Role.BOB:
            raise DomainError("Bob refuses.", "Ask him.")
        exchange_counts(session, [1])
        compared(10, 8)(session)

    found = trace(refuses)
    assert found.alice_bytes > 0
    assert found.bob_bytes == 0


@pytest.mark.parametrize(
    "error", [UsageError("A program errs.", "Mend it."), TooManyRowsError("No run takes as many.", "Split.")]
)
def test_what_no_data_could_mend_is_raised(error):
    def fails(session):
        if session.role is Role.BOB:
            raise error
        compared(10, 8)(session)

    with pytest.raises(UsageError, match=str(error)[:10]):
        trace(fails)


def test_an_error_that_is_no_refusal_is_raised():
    def fails(session):
        if session.role is Role.BOB:
            raise ProtocolViolation("Bob fails.")
        compared(10, 8)(session)

    with pytest.raises(ProtocolViolation, match="Bob fails"):
        trace(fails)


@pytest.mark.parametrize("goes_on", [conjunction(8), lambda session: session.channel.hear("blocks", 8)])
def test_a_side_that_goes_on_alone_is_found(goes_on):
    def run(session):
        if session.role is Role.ALICE:
            session.oblivious.setup()
            goes_on(session)
        else:
            session.oblivious.setup()

    with pytest.raises(ProtocolViolation, match="the other one went on"):
        trace(run)


def test_a_step_that_meets_a_message_is_found():
    def run(session):
        if session.role is Role.ALICE:
            session.channel.hear("blocks", 8)
        else:
            session.oblivious.and_bits(bits(session, 8), bits(session, 8))
            session.channel.tell("blocks", 8)

    with pytest.raises(ProtocolViolation, match="blocks and a step of the engine"):
        trace(run)


def test_sides_that_expect_other_sizes_are_found():
    def run(session):
        words = session.random.words(3 if session.role is Role.ALICE else 4)
        SecretInts.from_shares(session, words, Bounds(0, 9)).reveal()

    with pytest.raises((ProtocolViolation, TraceEnded)):
        trace(run)
