"""Comparison by silent transfers between two parties."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import DomainError, PeerError, ProtocolViolation, UsageError
from smc.forms import ComparisonType, Form
from smc.network import Network
from smc.oblivious import silent_circuits, silent_transfers
from smc.oblivious.circuits import DigitShifts, Openings
from smc.oblivious.consistency import proof_bytes
from smc.oblivious.correlated_transfers import TransferColumns
from smc.oblivious.lpn import PRODUCTION, LpnSet
from smc.oblivious.silent_circuits import PairOffers, SilentDigits
from smc.oblivious.silent_transfers import Refill, SilentTransfers
from smc.oblivious.transfers import Transfers
from smc.pair import run_pair
from smc.planning.route import plan_comparison
from smc.protocols.comparison.silent import SPEC
from smc.protocols.spec import Cost, Parameters
from smc.values import Nothing, Plain
from tests.smc.planning import test_every_type as every_type
from tests.support.holdings import edge_pairs
from tests.support.seeds import seeded
from tests.support.transcript import truncated

RANDOM = seeded()
SETUP_COST = sum((setup.cost for setup in SPEC.setups), Cost())
TOY = LpnSet(log_length=8, trees=60, depth=4, group=4)
Z = 4.9  # standard deviations: a false alarm once in a million


def compare(batches, *, swapped=False):
    """Compare batches of (x, y, bits) in one session; shares, and the traffic of the set-up and of each."""

    def side(holds_x):
        def run(session):
            session.oblivious.setup_silent()
            marks, shares = [session.channel.traffic], []
            for x, y, bits in batches:
                given = Parameters(len(x), bits, 0, 0)
                if holds_x:
                    share = SPEC.alice(session, given, Plain(x), Nothing(len(x)))
                else:
                    share = SPEC.bob(session, given, Nothing(len(x)), Plain(y))
                shares.append(np.asarray(share.values))
                marks.append(session.channel.traffic)
            parts = [after.since(before) for before, after in pairwise(marks)]
            return shares, [marks[0], *parts], marks[-1].rounds

        return run

    first, second = (False, True) if swapped else (True, False)
    return run_pair(side(first), side(second))


def check(batches, **options):
    (a, there, rounds), (b, back, rounds_back) = compare(batches, **options)
    swapped = options.get("swapped", False)
    assert (there[0].sent, back[0].sent) == (SETUP_COST.alice_bytes, SETUP_COST.bob_bytes)
    assert there[0].rounds == back[0].rounds == SETUP_COST.rounds
    total = SETUP_COST
    for (x, y, bits), left, right, out, back_ in zip(batches, a, b, there[1:], back[1:], strict=True):
        assert (left ^ right).tolist() == [int(v >= w) for v, w in zip(x, y, strict=True)]
        declared = SPEC.cost(Parameters(len(x), bits, 0, 0))
        declared = declared.mirror if swapped else declared
        assert (out.sent, back_.sent) == (declared.alice_bytes, declared.bob_bytes)
        total += declared
    assert max(rounds, rounds_back) == total.rounds


def batch(pairs, bits):
    x, y = zip(*pairs, strict=True)
    return list(x), list(y), bits


def test_edge_values_of_many_widths_cost_as_declared():
    widths = (1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 63, 64, 65, 128, 256)
    check([batch(edge_pairs(bits), bits) for bits in widths])


def test_all_pairs_of_three_bits_and_the_other_party_first():
    pairs = [(x, y) for x in range(8) for y in range(8)]
    check([batch(pairs, 3), batch(pairs, 5)], swapped=True)


def test_large_batches():
    count = 40_000
    x = RANDOM.words(count) & np.uint64(0xFFFFFFFF)
    y = RANDOM.words(count) & np.uint64(0xFFFFFFFF)
    y[: count // 2] = x[: count // 2] ^ np.uint64(1)
    check([(x, y, 32)])


def test_a_batch_across_spans(monkeypatch):
    monkeypatch.setattr(silent_circuits, "SPAN_WORDS", 40)
    x, y = (RANDOM.words(500) & np.uint64(255) for _ in range(2))
    assert len(list(SilentDigits.of(8).spans(500))) == 2
    check([(x, y, 8)])


def test_bytes_of_a_million_comparisons():
    for bits, most in ((32, 38), (64, 80)):
        declared = SPEC.cost(Parameters(1_000_000, bits, 0, 0))
        assert declared.alice_bytes + declared.bob_bytes < most * 1_000_000
        assert declared.rounds <= 2 * (3 + bits.bit_length() - 2)
    assert SPEC.cost(Parameters(1_000_000, 32, 0, 0)).rounds == 7


def test_the_planner_takes_it_on_a_slow_network_and_not_on_a_fast_one():
    kind = ComparisonType(Form.PN, Form.NP, Form.SS)
    given = Parameters(1_000_000, 32, 2048, 2048)
    slow = plan_comparison(kind, given, engine="auto", network=Network(20, 100))
    fast = plan_comparison(kind, given, engine="auto", network=Network(0.1, 10_000))
    one = plan_comparison(kind, Parameters(1, 32, 2048, 2048), engine="auto", network=Network(20, 100))
    assert slow.engine == "silent"
    assert fast.engine == "oblivious"
    assert one.engine == "oblivious"
    assert slow.chunk(given) >= 1_000_000


@pytest.mark.parametrize("name", ["PN-NP-SS", "NP-PN-PP", "SS-SS-SS", "SE-SE-SE", "PN-ES-SE"])
def test_types_through_the_planner(name):
    kind = ComparisonType(*(Form[form] for form in name.split("-")))
    pairs = edge_pairs(9)
    modulus = 1 << 64 if Form.SS in (kind.x, kind.y) else every_type.Role.ALICE
    results, plan = every_type.compare(kind, pairs, 9, engine="silent", modulus=modulus)
    assert results == every_type.expected(pairs)
    assert plan.engine == "silent"


def test_sizes_do_not_depend_on_values():
    sizes = set()
    for v, w in ((0, 4095), (4095, 0), (7, 7)):
        (_, there, _), (_, back, _) = compare([([v] * 70, [w] * 70, 12)])
        sizes.add(tuple((part.sent, part.received, part.messages) for part in (*there, *back)))
    assert len(sizes) == 1


@pytest.mark.parametrize("value", [0, (1 << 16) - 1])
def test_messages_about_digits_look_uniform(monkeypatch, value):
    sent = {DigitShifts.__name__: [], PairOffers.__name__: [], Openings.__name__: []}
    honest = Channel.send

    def send(self, message):
        kind = type(message).__name__
        if kind in sent:
            sent[kind].append(message.encode())
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    compare([([value] * 6400, [value] * 6400, 16)])
    for kind, messages in sent.items():
        assert messages, kind
        bits = np.unpackbits(np.frombuffer(b"".join(messages), dtype=np.uint8))
        assert abs(int(bits.sum()) - bits.size / 2) < Z * (bits.size / 4) ** 0.5


def over_toy(session):
    """Silent transfers of small sizes on top of a session's base transfers."""
    transfers = Transfers(session.role, session.channel, session.random)
    return SilentTransfers(session.role, session.channel, session.random, transfers, TOY)


@pytest.mark.parametrize("words", [1, 7, 8, 50])
def test_pads_of_both_directions(words):
    def side(session):
        silent = over_toy(session)
        before = session.channel.traffic
        return silent.pads(words), silent.pads(1), session.channel.traffic.since(before)

    a, b = run_pair(side, side)
    for mine, theirs in ((a, b), (b, a)):
        for pads, others in zip(mine[:2], theirs[:2], strict=True):
            assert (others.chosen == pads.zero & ~others.choices | pads.one & others.choices).all()
    assert a[0].zero.shape == (4, words)
    assert a[2].rounds == 2


def test_triples_and_one_of_four_transfers():
    words = 24
    a, b = run_pair(lambda s: over_toy(s).pads(words), lambda s: over_toy(s).pads(words))
    left, right = a.triples(), b.triples()
    assert ((left.a ^ right.a) & (left.b ^ right.b) == left.c ^ right.c).all()
    offered, (choices, taken) = a.offer(), b.take()
    assert offered.shape == (4, 2, words // 2)
    low, high = choices
    for value, where in enumerate((~(low | high), low & ~high, high & ~low, low & high)):
        assert not ((offered[value] ^ taken) & where).any()
    assert len({plane.tobytes() for pad in offered for plane in pad}) == 8


@pytest.mark.parametrize(
    "kind", [TransferColumns.__name__, Refill.__name__, DigitShifts.__name__, PairOffers.__name__]
)
def test_truncated_messages_are_refused(monkeypatch, kind):
    channels = truncated(monkeypatch, kind)

    def cheat(session):
        channels.append(session.channel)
        return session.oblivious.greater_equal_y([1, 2, 3], 8, silent=True)

    with pytest.raises(ProtocolViolation):
        run_pair(cheat, lambda s: s.oblivious.greater_equal_x([1, 2, 3], 8, silent=True))


def test_an_engine_that_failed_is_not_used_again():
    def bad(session):
        with pytest.raises(DomainError):
            session.oblivious.greater_equal_x([256], 8, silent=True)
        for silent in (True, False):
            with pytest.raises(UsageError, match="failed"):
                session.oblivious.greater_equal_x([1], 8, silent=silent)
        raise UsageError("as it should be")

    def other(session):
        session.oblivious.greater_equal_y([1], 8, silent=True)

    with pytest.raises((UsageError, PeerError)):
        run_pair(bad, other)


def test_both_engines_share_a_session():
    def side(holds_x):
        def run(session):
            engine = session.oblivious
            call = engine.greater_equal_x if holds_x else engine.greater_equal_y
            values = [1, 2, 3] if holds_x else [3, 2, 1]
            return [call(values, 2, silent=silent) for silent in (False, True, False, True)]

        return run

    a, b = run_pair(side(True), side(False))
    assert all((left ^ right).tolist() == [0, 1, 1] for left, right in zip(a, b, strict=True))


def test_the_batch_must_have_the_declared_size():
    given = Parameters(3, 4, 0, 0)
    with pytest.raises(UsageError):
        run_pair(
            lambda s: SPEC.alice(s, given, Plain([1]), Nothing(3)),
            lambda s: SPEC.bob(s, given, Nothing(3), Plain([1, 2, 3])),
        )


def test_reserve_rows_of_the_first_portion():
    (step,) = silent_transfers.setup(PRODUCTION)
    matrix = 256 * -(-(PRODUCTION.reserve_rows + 128) // 64)
    assert step.first == step.second == matrix + proof_bytes(1, 32)
