"""The oblivious engine between two parties."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import DomainError, PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import cost
from smc.oblivious.base import BaseKeys
from smc.oblivious.circuits import LeafCorrections, Openings
from smc.oblivious.engine import ObliviousEngine
from smc.oblivious.transfers import Pads, Triples
from smc.pair import run_pair
from smc.protocols.comparison.oblivious import SETUP_COST, SPEC, cost_of
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain

RANDOM = Randomness()
Z = 4.9  # standard deviations: a false alarm once in a million


def both(alice, bob, **options):
    """Results and traffic of both sides."""
    return run_pair(
        lambda s: (alice(s.oblivious), s.channel.traffic),
        lambda s: (bob(s.oblivious), s.channel.traffic),
        **options,
    )


def compare(x, y, bits):
    """XOR of both sides' shares of x >= y, and both traffics."""
    (a, there), (b, back) = both(
        lambda e: e.greater_equal_x(x, bits), lambda e: e.greater_equal_y(y, bits)
    )
    return (a ^ b).tolist(), there, back


def edge_pairs(bits):
    top = (1 << bits) - 1
    edges = {0, 1, top >> 1, (top + 1) >> 1, max(top - 1, 0), top}
    return [(x, y) for x in edges for y in edges]


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 256])
def test_comparison_on_edge_and_random_values(bits):
    pairs = edge_pairs(bits)
    pairs += [(v, v) for v in RANDOM.below(1 << bits, 10)]
    pairs += list(zip(RANDOM.below(1 << bits, 100), RANDOM.below(1 << bits, 100), strict=True))
    x, y = zip(*pairs, strict=True)
    result, _, _ = compare(x, y, bits)
    assert result == [a >= b for a, b in pairs]


def test_comparison_of_all_pairs_of_four_bits():
    pairs = [(x, y) for x in range(16) for y in range(16)]
    x, y = zip(*pairs, strict=True)
    assert compare(x, y, 4)[0] == [a >= b for a, b in pairs]


@pytest.mark.parametrize("count", [1, 7, 1000, 100_000])
def test_cost_is_as_declared_and_results_right_at_any_batch(count):
    bits = 16
    x, y = RANDOM.below(1 << bits, count), RANDOM.below(1 << bits, count)
    result, there, back = compare(x, y, bits)
    assert result == [a >= b for a, b in zip(x, y, strict=True)]
    declared = SETUP_COST + cost_of(cost.comparison(count, bits))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == back.rounds == declared.rounds


def test_rounds_are_logarithmic():
    rounds = [cost_of(cost.comparison(100, bits)).rounds for bits in (1, 2, 4, 32, 64, 128)]
    assert rounds == [2, 3, 4, 7, 8, 9]


def test_words_are_accepted_as_values():
    x = RANDOM.words(50)
    (a, _), (b, _) = both(lambda e: e.greater_equal_x(x, 64), lambda e: e.greater_equal_y(x[::-1].copy(), 64))
    assert ((a ^ b) == (x >= x[::-1])).all()


@pytest.mark.parametrize("swapped", [False, True])
def test_spec_runs_and_costs_as_declared_also_mirrored(swapped):
    parameters = Parameters(count=40, bits=20, alice_key_bits=2048, bob_key_bits=2048)
    x, y = RANDOM.below(1 << 20, 40), RANDOM.below(1 << 20, 40)

    def x_side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        share = SPEC.alice(session, parameters, Plain(x), Nothing(40))
        return share, session.channel.traffic.since(before)

    def y_side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        share = SPEC.bob(session, parameters, Nothing(40), Plain(y))
        return share, session.channel.traffic.since(before)

    runs = run_pair(y_side, x_side) if swapped else run_pair(x_side, y_side)
    declared = SPEC.cost(parameters).mirror if swapped else SPEC.cost(parameters)
    assert runs[0][0].modulus == runs[1][0].modulus == 2
    result = [a ^ b for a, b in zip(runs[0][0].values, runs[1][0].values, strict=True)]
    assert result == [a >= b for a, b in zip(x, y, strict=True)]
    assert (runs[0][1].sent, runs[1][1].sent) == (declared.alice_bytes, declared.bob_bytes)
    assert runs[0][1].rounds == declared.rounds


def test_spec_refuses_another_batch_size():
    parameters = Parameters(count=3, bits=4, alice_key_bits=2048, bob_key_bits=2048)
    with pytest.raises(UsageError):
        run_pair(
            lambda s: SPEC.alice(s, parameters, Plain([1]), Nothing(3)),
            lambda s: SPEC.bob(s, parameters, Nothing(3), Plain([1, 2, 3])),
        )


@pytest.mark.parametrize("count", [1, 8, 9, 300_000])
def test_and_of_shared_bits(count):
    left, right = RANDOM.bits(2 * count).reshape(2, -1), RANDOM.bits(2 * count).reshape(2, -1)
    (a, there), (b, back) = both(
        lambda e: e.and_bits(left[0], right[0]), lambda e: e.and_bits(left[1], right[1])
    )
    assert ((a ^ b) == ((left[0] ^ left[1]) & (right[0] ^ right[1]))).all()
    declared = SETUP_COST + cost_of(cost.conjunction(count))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


@pytest.mark.parametrize("count", [1, 9, 300_000])
@pytest.mark.parametrize("sender", [None, Role.BOB])
def test_words_from_shared_bits(count, sender):
    bits = RANDOM.bits(2 * count).reshape(2, -1)
    says = {role: None if sender is None else role is sender for role in Role}
    (a, there), (b, back) = both(
        lambda e: e.to_words(bits[0], says[Role.ALICE]), lambda e: e.to_words(bits[1], says[Role.BOB])
    )
    assert ((a + b) == (bits[0] ^ bits[1])).all()
    declared = cost_of(cost.to_words(count))
    declared = SETUP_COST + (declared if sender is None else declared.mirror)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


def test_correlated_transfers():
    deltas, choices = RANDOM.words(1000), RANDOM.bits(1000)
    (a, _), (b, _) = both(lambda e: e.correlate(deltas), lambda e: e.receive(choices))
    assert ((a + b) == deltas * choices).all()


def test_words_below_public_bounds():
    count = 10_000  # more than a block
    own, other = RANDOM.words(count), RANDOM.words(count)
    bounds = RANDOM.words(count)
    shared = own ^ other
    bounds[:6] = [0, 1, (1 << 64) - 1, shared[3], shared[4] + np.uint64(1), shared[5] - np.uint64(1)]
    (a, there), (b, back) = both(lambda e: e.below(own, bounds), lambda e: e.below(other, bounds))
    assert ((a ^ b) == (shared < bounds)).all()
    declared = SETUP_COST + cost_of(cost.below(count))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


def test_an_empty_batch_sends_nothing():
    none: list[int] = []
    (a, there), _ = both(lambda e: e.greater_equal_x(none, 8), lambda e: e.greater_equal_y(none, 8))
    assert len(a) == 0
    assert there.messages == 0
    empty = np.empty(0, dtype=np.uint8)
    (words, there), _ = both(lambda e: e.to_words(empty), lambda e: e.to_words(empty))
    assert words.dtype == np.uint64
    assert there.messages == 0
    assert cost.comparison(0, 8) == cost.to_words(0) == cost.below(0) == ()


def test_setup_runs_once():
    def twice(engine):
        engine.setup()
        engine.setup()

    (_, there), (_, back) = both(twice, twice)
    assert (there.sent, back.sent) == (SETUP_COST.alice_bytes, SETUP_COST.bob_bytes)
    assert there.rounds == SETUP_COST.rounds == 2


def test_many_steps_in_one_session():
    def steps(side):
        def run(engine):
            compare_side = (engine.greater_equal_x, engine.greater_equal_y)[side]
            shares = [compare_side([1, 2, 3], 2), compare_side([3, 2, 1], 2)]
            both_true = engine.and_bits(shares[0], shares[1])
            return engine.to_words(both_true)

        return run

    (a, _), (b, _) = both(steps(0), steps(1))
    assert (a + b).tolist() == [1, 1, 1]


# What goes wrong


def spoil(monkeypatch, kind, change):
    """Let Alice send `change(message)` in the place of every message of this kind."""
    honest = Channel.send

    def send(self, message):
        if type(message).__name__ == kind and self is channels[0]:
            message = change(message)
        honest(self, message)

    channels: list[Channel] = []
    monkeypatch.setattr(Channel, "send", send)
    return channels


@pytest.mark.parametrize("kind", ["Offer", "Choice", "Columns", "LeafCorrections", "Openings"])
def test_truncated_messages_are_refused(monkeypatch, kind):
    class Short:
        def __init__(self, message):
            self._message = message

        def kind(self):
            return type(self._message).kind()

        def encode(self):
            return self._message.encode()[:-1]

    channels = spoil(monkeypatch, kind, Short)

    def cheat(session):
        channels.append(session.channel)
        return session.oblivious.greater_equal_y([1, 2, 3], 8)

    with pytest.raises(ProtocolViolation):
        run_pair(cheat, lambda s: s.oblivious.greater_equal_x([1, 2, 3], 8))


@pytest.mark.parametrize("kind", [LeafCorrections, Openings])
def test_set_padding_is_refused(monkeypatch, kind):
    class Padded:
        def __init__(self, message):
            self._message = message

        def kind(self):
            return type(self._message).kind()

        def encode(self):
            data = bytearray(self._message.encode())
            data[-1] |= 1
            return bytes(data)

    channels = spoil(monkeypatch, kind.__name__, Padded)

    def cheat(session):
        channels.append(session.channel)
        return session.oblivious.greater_equal_y([1, 2, 3], 3)

    with pytest.raises(ProtocolViolation, match="padding"):
        run_pair(cheat, lambda s: s.oblivious.greater_equal_x([1, 2, 3], 3))


def test_a_message_out_of_order_is_refused():
    with pytest.raises(ProtocolViolation):
        run_pair(
            lambda s: s.oblivious.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8)),
            lambda s: (s.oblivious.setup(), s.channel.send(Openings(LeafBits))) and s.oblivious.setup(),
        )


class LeafBits:
    @staticmethod
    def encode():
        return b"\x00"


def test_sides_of_different_size_do_not_run():
    with pytest.raises(PeerError):
        run_pair(
            lambda s: s.oblivious.greater_equal_x([1] * 100, 8),
            lambda s: s.oblivious.greater_equal_y([1] * 200, 8),
        )


@pytest.mark.parametrize("step", ["compare", "words", "setup"])
def test_an_engine_that_failed_is_not_used_again(step):
    def failing(session):
        engine = session.oblivious
        engine.setup()
        with pytest.raises(DomainError):
            engine.greater_equal_x([16], 4)
        with pytest.raises(UsageError, match="not used again"):
            {
                "compare": lambda: engine.greater_equal_x([1], 4),
                "words": lambda: engine.to_words(np.ones(1, np.uint8)),
                "setup": engine.setup,
            }[step]()

    run_pair(failing, lambda s: s.oblivious.setup())


def test_an_engine_is_not_used_again_after_the_peer_broke_the_protocol():
    def victim(session):
        engine = session.oblivious
        with pytest.raises(ProtocolViolation):
            engine.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8))
        sent = session.channel.traffic.sent
        with pytest.raises(UsageError, match="not used again"):
            engine.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8))
        assert session.channel.traffic.sent == sent

    def attacker(session):
        session.oblivious.setup()
        session.channel.send(Openings(LeafBits))

    with pytest.raises(PeerError):  # the frames that the victim did not take
        run_pair(victim, attacker)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.greater_equal_x([1], 0),
        lambda e: e.greater_equal_x([-1], 4),
        lambda e: e.and_bits(np.ones(2, np.uint8), np.ones(3, np.uint8)),
        lambda e: e.and_bits(np.full(2, 2, np.uint8), np.ones(2, np.uint8)),
        lambda e: e.to_words(np.ones(2, np.int64)),
        lambda e: e.below(np.ones(2, np.uint64), np.ones(3, np.uint64)),
    ],
)
def test_wrong_arguments_are_named(call):
    engine = ObliviousEngine(Role.ALICE, None, RANDOM)  # fails before it needs a channel
    with pytest.raises(UsageError):
        call(engine)


# What a party sees


def recorded(monkeypatch):
    """Bodies of all messages received, by receiving channel."""
    honest = Channel._message
    seen: dict[int, list[tuple[str, bytes]]] = {}

    def message(self, kind, size):
        data = honest(self, kind, size)
        seen.setdefault(id(self), []).append((kind, data))
        return data

    monkeypatch.setattr(Channel, "_message", message)
    return seen


@pytest.mark.parametrize("value", [0, (1 << 32) - 1])
def test_sizes_do_not_depend_on_inputs(monkeypatch, value):
    seen = recorded(monkeypatch)
    compare([value] * 33, [(1 << 32) - 1 - value] * 33, 32)
    sizes = sorted([(kind, len(data)) for kind, data in rows] for rows in seen.values())
    seen.clear()
    compare(RANDOM.below(1 << 32, 33), RANDOM.below(1 << 32, 33), 32)
    assert sizes == sorted([(kind, len(data)) for kind, data in rows] for rows in seen.values())


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 255), (255, 0), (255, 255)])
def test_shares_and_views_are_uniform_for_constant_inputs(monkeypatch, x, y):
    count = 20_000
    seen = recorded(monkeypatch)
    (a, _), (b, _) = both(
        lambda e: e.greater_equal_x([x] * count, 8), lambda e: e.greater_equal_y([y] * count, 8)
    )
    for shares in (a, b):
        assert abs(int(shares.sum()) - count / 2) < Z * (count / 4) ** 0.5
    assert ((a ^ b) == (x >= y)).all()
    for rows in seen.values():
        for kind, data in rows:
            if kind.endswith(("Offer", "Choice")):
                continue  # points: uniform on the curve, not as bytes
            bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
            slack = 8 + 64 * 128  # padding of bit vectors and of matrices
            assert abs(int(bits.sum()) - len(bits) / 2) < Z * (len(bits) / 4) ** 0.5 + slack * (len(bits) < 1e4)


def test_shares_are_independent_of_the_result():
    count = 40_000
    x, y = RANDOM.below(4, count), RANDOM.below(4, count)
    (a, _), (b, _) = both(lambda e: e.greater_equal_x(x, 2), lambda e: e.greater_equal_y(y, 2))
    truth = np.array([i >= j for i, j in zip(x, y, strict=True)])
    for shares in (a, b):
        for part in (truth, ~truth):
            ones, size = int(shares[part].sum()), int(part.sum())
            assert abs(ones - size / 2) < Z * (size / 4) ** 0.5


def test_word_shares_are_uniform_in_their_top_bits():
    count = 40_000
    bits = np.zeros(count, dtype=np.uint8)
    for (shares, _) in both(lambda e: e.to_words(bits), lambda e: e.to_words(bits)):
        counts = np.bincount((shares >> np.uint64(60)).astype(int), minlength=16)
        statistic = float(((counts - count / 16) ** 2 / (count / 16)).sum())
        assert statistic < 56.5  # chi-square with 15 degrees, 1e-6


def test_secrets_are_not_in_reprs():
    secret = np.array([123456789], dtype=np.uint64)
    for record in (BaseKeys(b"s", [(b"k0", b"k1")], secret, [b"k0"]), Pads(secret, secret, secret),
                   Triples(secret, secret, secret)):
        assert "123456789" not in repr(record)
        assert "k0" not in repr(record)
