"""The set-up: ends that fit each other, salts, and trees of a peer that deviates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.vectors import ByteRows
from smc.errors import InconsistentTransfers
from smc.forms import Role
from smc.oblivious import setup
from smc.oblivious.ggm_trees import SeedTrees, leaf_seeds
from smc.oblivious.setup import FLIGHT_BYTES, TRANSFERS, LevelSums, TreeDigest, set_up
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST
from tests.support import dealt
from tests.support.seeds import seeded

RANDOM = seeded()
Z = 4.9  # standard deviations: a false alarm once in a million


def ends(session):
    return set_up(session.role, session.channel, session.random), session.channel.traffic


def test_the_set_up_takes_two_rounds_and_gives_ends_that_fit():
    (alice, there), (bob, back) = run_pair(ends, ends)
    assert there.rounds == back.rounds == 2
    assert there.sent == back.sent == SETUP_COST.alice_bytes > sum(FLIGHT_BYTES)
    for sent, received in ((alice, bob), (bob, alice)):
        # The peer's trees are the streams of the sender, which is the same rows on both sides.
        choices, columns = RANDOM.words(3)[None], np.empty((128, 3), dtype=np.uint64)
        matrix = received.bit_receiver._end.extend(choices, columns)
        offset = np.unpackbits(sent.bit_sender.offset.view(np.uint8), bitorder="little").astype(bool)
        shifted = np.where(offset[:, None], choices, np.uint64(0))
        assert (sent.bit_sender._end.extend(matrix.copy()) == columns ^ shifted).all()
        assert sent.salt == received.peer_salt
    assert alice.salt != bob.salt
    assert alice.session == bob.session


def test_the_extensions_take_other_keys_of_the_same_transfers():
    keys = [RANDOM.bytes(16) for _ in range(2 * TRANSFERS)]
    made = [forest.level_keys(keys).reshape(-1, 2, 2) for forest in setup._FORESTS]
    assert [len(each) for each in made] == [128, 160]
    assert len({row.tobytes() for each in made for pair in each for row in pair}) == 2 * (128 + 160)
    chosen = setup._FORESTS[1].level_keys(keys[1::2])
    assert (chosen.reshape(-1, 2) == made[1][:, 1]).all()


def deviating(monkeypatch, kind, change):
    """Run a set-up in which Alice sends `change(message, number)` for her messages of this kind."""
    honest = Channel.send
    channels: list[Channel] = []
    sent = []

    def send(self, message):
        if type(message) is kind and self in channels:
            message = change(message, len(sent))
            sent.append(message)
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    monkeypatch.setattr(setup, "BaseTransfers", dealt.BaseTransfers)

    def cheat(session):
        channels.append(session.channel)
        return ends(session)

    return run_pair(cheat, ends)


def flipped(field, row=0, byte=0):
    def change(message):
        values = getattr(message, field).values.copy()
        values[row, byte] ^= 1
        return replace(message, **{field: ByteRows(values)})

    return change


@pytest.mark.parametrize("extension", [0, 1])
@pytest.mark.parametrize(("kind", "field"), [(TreeDigest, "digest"), (LevelSums, "tags")])
def test_a_wrong_digest_or_sum_of_tags_ends_the_session(monkeypatch, extension, kind, field):
    with pytest.raises(InconsistentTransfers) as found:
        deviating(
            monkeypatch,
            kind,
            lambda message, number: flipped(field)(message) if number == extension else message,
        )
    # The same words for either extension, and none about the place.
    assert str(found.value) == str(InconsistentTransfers())


@pytest.mark.parametrize("extension", [0, 1])
def test_both_sums_of_a_level_bent_are_always_found(monkeypatch, extension):
    def change(message, number):
        return flipped("sums", 1, 16)(flipped("sums", 1)(message)) if number == extension else message

    with pytest.raises(InconsistentTransfers):
        deviating(monkeypatch, LevelSums, change)


def checked(depth, bent):
    """Whether a guest of one tree takes the sums, of which (level, side) are bent, and its choices."""
    trees = SeedTrees(b"name", Role.ALICE, depth)
    leaves, sums = trees.grow(RANDOM.words(2).reshape(1, 2))
    shown = trees.commit(leaves)
    keys = RANDOM.words(4 * depth).reshape(1, depth, 2, 2)
    choices = RANDOM.bits(depth)
    masked = sums ^ keys
    for level, side in bent:
        masked[0, level, side, 0] ^= np.uint64(1 << 7)
    chosen = np.take_along_axis(keys, choices[None, :, None, None].astype(np.int64), axis=2)[:, :, 0]
    found, missing = trees.regrow(masked.view(np.uint8).reshape(-1, 32), choices[None], chosen)
    right = trees.check(found, missing, shown.tag_sums, shown.digest)
    known = np.arange(1 << depth) != missing[0]
    assert (found[0][known] == leaves[0][known]).all() or not right
    return right, choices


@pytest.mark.parametrize("depth", [2, 4])
def test_honest_trees_pass(depth):
    assert all(checked(depth, [])[0] for _ in range(200))


@pytest.mark.parametrize("bent", [[(0, 0)], [(1, 1)], [(0, 1), (1, 0)], [(0, 0), (1, 1), (3, 0)]])
def test_bent_sums_pass_only_where_choices_were_guessed(bent):
    count, depth = 600, 4
    passed = 0
    for _ in range(count):
        right, choices = checked(depth, bent)
        # It passes where the guest opens none of the bent sums: the owner has guessed all these choices.
        assert right == all(choices[level] != side for level, side in bent)
        passed += right
    chance = 0.5 ** len(bent)
    assert abs(passed - count * chance) < Z * (count * chance * (1 - chance)) ** 0.5


def test_seeds_and_tags_are_not_the_leaves_and_seeds_are_of_one_session():
    trees = SeedTrees(b"name", Role.ALICE, 4)
    leaves, _ = trees.grow(RANDOM.words(4).reshape(2, 2))
    seeds = [leaf_seeds(leaves, session, Role.ALICE, 4) for session in (b"1", b"2")]
    seen = [each.reshape(-1, 2) for each in (leaves, *seeds, trees._tags(leaves))]
    assert len({row.tobytes() for part in seen for row in part}) == 2 * 16 * 5
