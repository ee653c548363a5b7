"""The programmed function on bins: payloads where both have the key, uniform words elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import PeerError, ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.coins import toss
from smc.protocols.intersection import cuckoo, okvs, opprf
from smc.protocols.intersection.records import cost_opprf
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic

RANDOM = seeded()


def keys(count):
    return RANDOM.words(2 * count).reshape(count, 2)


def run(receiver, sender, payloads, role=Role.ALICE):
    """What both get, and their traffic."""

    def asks(session):
        found = opprf.receive(session, receiver, len(sender), payloads.shape[1])
        return found, session.channel.traffic

    def answers(session):
        found = opprf.send(session, sender, payloads, len(receiver))
        return found, session.channel.traffic

    if role is Role.ALICE:
        return run_pair(asks, answers)
    second, first = run_pair(answers, asks)
    return first, second


def opened(received, shares):
    """The payload of each own key of the receiver, by its number, and the words of empty bins."""
    total = received.values + shares
    taken = received.slots >= 0
    return dict(zip(received.slots[taken].tolist(), total[taken].tolist(), strict=True)), total[~taken]


@pytest.mark.parametrize(("own", "theirs", "common"), [(0, 5, 0), (5, 0, 0), (1, 1, 1), (60, 90, 30)])
@pytest.mark.parametrize("words", [1, 3])
def test_common_keys_get_their_payloads(own, theirs, common, words):
    mine, other = keys(own), keys(theirs)
    other[:common] = mine[:common]
    payloads = RANDOM.words(theirs * words).reshape(theirs, words)
    (received, _), (shares, _) = run(mine, other, payloads)
    found, _ = opened(received, shares)
    assert sorted(found) == list(range(own))
    assert [found[i] for i in range(common)] == payloads[:common].tolist()


def test_what_a_key_outside_decodes_to_is_uniform():
    """The sender's payloads are all zero: any structure would show."""
    mine, other = keys(3000), keys(2000)
    (received, _), (shares, _) = run(mine, other, np.zeros((2000, 4), dtype=np.uint64))
    total = np.ascontiguousarray(received.values + shares)
    for words in (total, received.values, shares):
        assert chi_square(words) < BYTES_BOUND


def test_the_store_is_uniform_even_where_all_keys_match(monkeypatch):
    stores = []
    honest = okvs.encode
    monkeypatch.setattr(opprf.okvs, "encode", lambda *args: stores.append(honest(*args)) or stores[-1])
    mine = keys(3000)
    run(mine, mine, np.zeros((3000, 2), dtype=np.uint64))
    assert chi_square(stores[0]) < BYTES_BOUND


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(("own", "theirs", "words"), [(0, 0, 1), (3, 7, 1), (500, 40, 2)])
def test_the_cost_is_the_declared_one(own, theirs, words, role):
    payloads = np.zeros((theirs, words), dtype=np.uint64)
    (_, alice), (_, bob) = run(keys(own), keys(theirs), payloads, role)
    declared = cost_opprf(own, theirs, words, fresh=True)
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(alice.rounds, bob.rounds) == declared.mirror.rounds == declared.rounds


def test_a_store_of_another_size_is_refused():
    def asks(session):
        return opprf.receive(session, keys(10), 6, 1)

    def answers(session):
        return opprf.send(session, keys(5), np.zeros((5, 1), dtype=np.uint64), 10)

    with pytest.raises(ProtocolViolation):
        run_pair(asks, answers)


def test_sizes_depend_on_counts_alone(monkeypatch):
    seen = []
    honest = Channel._message

    def message(self, kind, size):
        data = honest(self, kind, size)
        seen.append((kind, len(data)))
        return data

    monkeypatch.setattr(Channel, "_message", message)
    logs = []
    for mine, other in ((keys(50), keys(70)), (same := keys(70), same)):
        seen.clear()
        run(mine[:50], other, np.ones((70, 2), dtype=np.uint64))
        logs.append(sorted(seen))
    assert logs[0] == logs[1]


def test_the_inputs_of_hash_functions_differ():
    one = keys(1)
    inputs = opprf._inputs(np.repeat(one, cuckoo.HASHES, axis=0), np.arange(3, dtype=np.uint8))
    assert len(np.unique(inputs, axis=0)) == cuckoo.HASHES


def chi_square(words):
    return byte_statistic(np.ascontiguousarray(words).tobytes())


def test_a_count_that_the_peer_only_announces_takes_no_memory():
    """The peer says that it has 2**27 keys, takes part in the toss of the seed and leaves."""
    words = []

    def answers(session):
        drawn = session.random.words
        session.random.words = lambda count: words.append(count) or drawn(count)
        opprf.send(session, keys(3), RANDOM.words(24).reshape(3, 8), 1 << 27)

    with pytest.raises((PeerError, ProtocolViolation)):
        run_pair(toss, answers)
    assert sum(words, 0) < 1 << 20
