"""Private set intersection and what it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import DuettoError, ProtocolViolation, UsageError
from smc.numeric.random import Randomness
from smc.oblivious.vole import VoleAnswer, VoleChallenge, VoleSums
from smc.pair import run_pair
from smc.protocols.intersection import cuckoo, exact, oprf
from smc.protocols.intersection.exact import IntersectionMasks, IntersectionMatches
from smc.protocols.intersection.oprf import OprfCommitment, OprfOpening, OprfRequest, OprfStore
from smc.protocols.intersection.records import cost_intersection
from smc.protocols.intersection.sorted_masks import MaskLayout
from tests.smc.oblivious.prf_runs import chi_square, spoiled
from tests.support.seeds import seeded

RANDOM = seeded()


def points(count):
    """Random keys."""
    return RANDOM.words(2 * count).reshape(-1, 2)


def two_sets(first, second, common):
    """Distinct keys of both sides in random order."""
    keys = points(first + second - common)
    a, b = keys[:first], keys[first - common :]
    return a[RANDOM.permutation(first)], b[RANDOM.permutation(second)]


def is_in(keys, others):
    """Which keys are among others."""
    known = {tuple(key) for key in others.tolist()}
    return [tuple(key) in known for key in keys.tolist()]


def matched(a, b, tell=False):
    """What Alice, who receives, and Bob learn, and Bob's traffic."""
    return run_pair(
        lambda s: exact.receive(s, a, len(b), tell=tell),
        lambda s: (exact.send(s, b, len(a), tell=tell), s.channel.traffic),
    )


@pytest.mark.parametrize(
    "sizes",
    [
        (0, 0, 0),
        (0, 3, 0),
        (3, 0, 0),
        (1, 1, 0),
        (1, 1, 1),
        (2, 1, 1),
        (50, 50, 20),
        (50, 3, 3),
        (3, 999, 2),
    ],
)
@pytest.mark.parametrize("tell", [False, True])
def test_the_intersection_and_its_cost(sizes, tell):
    a, b = two_sets(*sizes)
    found, (told, traffic) = matched(a, b, tell)
    assert found.tolist() == is_in(a, b)
    assert (told is not None) == tell
    if told is not None:
        assert told.tolist() == is_in(b, a)
    declared = cost_intersection(len(a), len(b), tell=tell, fresh=True)
    assert (traffic.received, traffic.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert traffic.rounds == declared.rounds


def test_a_large_intersection_and_several_runs_in_a_session():
    a, b = two_sets(30_000, 20_000, 7_000)

    def alice(session):
        return [exact.receive(session, a, len(b)), exact.send(session, a, len(b), tell=True)]

    def bob(session):
        first = exact.send(session, b, len(a))
        before = session.channel.traffic
        second = exact.receive(session, b, len(a), tell=True)
        return first, second, session.channel.traffic.since(before)

    (found, told), (nothing, back, traffic) = run_pair(alice, bob)
    assert found.sum() == told.sum() == back.sum() == 7_000
    assert nothing is None
    assert found.tolist() == told.tolist() == is_in(a, b)
    again = cost_intersection(len(b), len(a), tell=True, fresh=True)
    setup = cost_intersection(1, 1, fresh=True).alice_bytes - cost_intersection(1, 1).alice_bytes
    assert traffic.sent < again.alice_bytes < traffic.sent + setup  # the base transfers ran before


class Tap:
    """What is sent, by the name of the message."""

    def __init__(self, monkeypatch):
        self.sent: dict[str, list[bytes]] = {}
        honest = Channel.send

        def send(channel, message):
            self.sent.setdefault(type(message).__name__, []).append(message.encode())
            honest(channel, message)

        monkeypatch.setattr(Channel, "send", send)

    def sizes(self):
        """Lengths of all messages; those that both sides send go out in either order."""
        return {name: sorted(len(data) for data in sent) for name, sent in self.sent.items()}


def test_sizes_of_messages_tell_row_counts_only(monkeypatch):
    seen = []
    for common in (0, 10, 100):
        with monkeypatch.context() as patch:
            tap = Tap(patch)
            matched(*two_sets(100, 300, common), tell=True)
            seen.append(tap.sizes())
    assert seen[0] == seen[1] == seen[2]


def test_what_the_sender_sees_is_uniform(monkeypatch):
    tap = Tap(monkeypatch)
    matched(*two_sets(3000, 3000, 3000))
    assert chi_square(np.frombuffer(b"".join(tap.sent[OprfStore.__name__]), dtype=np.uint8))


def test_masks_of_other_keys_are_uniform(monkeypatch):
    tap = Tap(monkeypatch)
    matched(*two_sets(10, 10_000, 0))
    layout = MaskLayout.of(10_000, 10)
    lower = b"".join(tap.sent[IntersectionMasks.__name__])[layout.row_bytes :]
    assert chi_square(np.frombuffer(lower, dtype=np.uint8))


def test_the_order_of_masks_does_not_depend_on_that_of_keys(monkeypatch):
    """With the same function both times, the sender's keys turned about give the same bytes."""
    a, b = two_sets(64, 64, 1)
    kept = []
    honest = oprf.send

    def same(session, count):
        kept.append(honest(session, count))
        return kept[0]

    monkeypatch.setattr(exact.oprf, "send", same)
    tap = Tap(monkeypatch)
    run_pair(
        lambda s: [exact.receive(s, a, 64) for _ in range(2)],
        lambda s: [exact.send(s, b, 64), exact.send(s, b[::-1].copy(), 64)],
    )
    first, second = tap.sent[IntersectionMasks.__name__]
    assert first == second


@pytest.mark.parametrize(
    "kind",
    [
        IntersectionMasks.__name__,
        IntersectionMatches.__name__,
        OprfCommitment.__name__,
        OprfOpening.__name__,
        OprfRequest.__name__,
        OprfStore.__name__,
        VoleAnswer.__name__,
        VoleChallenge.__name__,
        VoleSums.__name__,
    ],
)
def test_truncated_messages_are_refused(monkeypatch, kind):
    spoiled(monkeypatch, kind)
    with pytest.raises(ProtocolViolation):
        matched(*two_sets(3, 9, 2), tell=True)


def test_parties_that_disagree_about_sizes_stop():
    a, b = two_sets(5, 5, 2)
    with pytest.raises(DuettoError):
        run_pair(lambda s: exact.receive(s, a, 500), lambda s: exact.send(s, b, 5), timeout=5)
    with pytest.raises(ProtocolViolation):
        run_pair(lambda s: exact.receive(s, a, 5), lambda s: exact.send(s, b, 5000), timeout=5)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50, 217, 218, 4095, 4096, 20_000])
def test_every_key_has_a_bin_of_its_own(count):
    keys, seed = points(count), RANDOM.bytes(16)
    placement = cuckoo.place(keys, seed)
    taken = np.flatnonzero(placement.slots >= 0)
    assert len(placement.slots) == cuckoo.bins_for(count)
    assert sorted(placement.slots[taken].tolist()) == list(range(count))
    options = cuckoo.candidates(keys, seed, cuckoo.bins_for(count))
    assert (options[placement.hashes[taken], placement.slots[taken]] == taken).all()
    bins, numbers, hashes = cuckoo.simple(keys, seed, cuckoo.bins_for(count))
    assert (options[hashes, numbers] == bins).all()
    assert len(bins) == 3 * count


def test_bins_of_a_key_are_distinct_and_uniform():
    options = cuckoo.candidates(points(60_000), bytes(16), 256)
    assert all((options[i] != options[j]).all() for i, j in ((0, 1), (0, 2), (1, 2)))
    assert all(chi_square(each.astype(np.uint8)) for each in options)
    few = cuckoo.candidates(points(100), bytes(16), 3)
    assert (np.sort(few, axis=0) == np.arange(3)[:, None]).all()
    with pytest.raises(UsageError):
        cuckoo.candidates(points(1), bytes(16), 2)


def test_small_tables_exist_but_for_the_stated_chance():
    counts = [*range(1, 30), 50, 100, 150, 200, 217, 218, 256, 300, 400, 512]
    assert all(cuckoo.failure(count, cuckoo.bins_for(count)) < 2**-40 for count in counts)
    assert cuckoo.failure(4, 5) == 1e-3  # four keys in one of ten sets of three bins


def test_keys_without_a_table_are_an_error():
    # five keys in the same three bins
    keys = np.repeat(points(1), 5, axis=0)
    with pytest.raises(DuettoError, match="no place"):
        cuckoo.place(keys, bytes(16))


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_permutations(count):
    orders = [RANDOM.permutation(count).tolist() for _ in range(2)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert count < 2 or orders[0] != orders[1]


def test_equal_words_are_drawn_again():
    stream = iter([bytes(16), bytes(8) + b"\x01" + bytes(7)])
    assert Randomness(lambda _: next(stream)).permutation(2).tolist() == [0, 1]
