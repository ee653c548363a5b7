"""Deviations that bend results and that nothing finds: before an opening the peer learns nothing by them.

Of each a test shows that it does what it is for, so that the others look at something: results are others. It
hears what it would have heard if it had followed the protocol, or what is uniform whoever has which rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.vectors import Bits, ByteRows
from smc.ciphers.lattice_ring import pack_limbs
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.circuits import DigitOffers, Openings
from smc.oblivious.correlated_transfers import TransferChoiceColumns, TransferColumns
from smc.protocols.intersection import exact, opprf
from smc.protocols.intersection.exact import IntersectionMatches
from smc.protocols.intersection.oprf import OprfStore
from smc.secret.joins.circuit_psi import align
from smc.secret.lattice.matrices import HeldMatrix, LatticeResponse, PeerMatrix, layout_of
from smc.secret.sharing.bounds import Bounds
from tests.support import dealt
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, transcripts

RANDOM = seeded()
COUNT = 6400
"""Keys of a side, of which a table has 127 words of 64 bins: no slot is padding, which nothing masks."""

_dealt = pytest.fixture(scope="module", autouse=True)(dealt.dealing)


def seeds():
    """The randomness of both sides, the same in every run."""
    return tuple(Randomness.from_seed(b"bent results", role.value) for role in Role)


def replacing(session, kind, change):
    """Let a side send something else in the place of each message of a kind."""
    honest = session.channel.send
    session.channel.send = lambda message: honest(change(message) if type(message) is kind else message)


def points(count):
    """Random keys."""
    return RANDOM.words(2 * count).reshape(-1, 2)


# all rows are said to match


def test_a_receiver_that_says_all_rows_match_hears_what_an_honest_one_does(monkeypatch):
    own, other = points(50), points(60)
    other[:20] = own[:20]

    def told(*, lies):
        def side(session):
            if session.role is Role.BOB:
                return exact.send(session, other, len(own), tell=True)
            if lies:
                every = IntersectionMatches(Bits(np.ones(len(other), dtype=np.uint8)))
                replacing(session, IntersectionMatches, lambda message: every)
            return exact.receive(session, own, len(other), tell=True)

        return transcripts(monkeypatch, side, randomness=seeds())

    (found, said), honest = told(lies=False)
    (also, believed), lying = told(lies=True)
    assert said.sum() == 20
    assert believed.all()
    assert found.tolist() == also.tolist() == [True] * 20 + [False] * 30
    assert lying[Role.ALICE] == honest[Role.ALICE]


# stores of other payloads, and keys in some of their bins


def one_payload(values):
    """No key but the first can match: the tags of all others are random."""
    number = np.arange(len(values)) % COUNT
    values[number > 0, 0] = RANDOM.words(int((number > 0).sum()))
    return values


def one_bin(values):
    """Keys are in the bin of the first hash function alone."""
    values[COUNT:] = RANDOM.words(values[COUNT:].size).reshape(-1, values.shape[1])
    return values


def aligned(monkeypatch, bend, mine, theirs, program):
    """Rows brought together while Bob bends his store, and what each side has received."""
    honest = opprf.okvs.encode
    keys = {Role.ALICE: mine, Role.BOB: theirs}
    columns = {Role.ALICE: np.zeros((COUNT, 0)), Role.BOB: np.ones((COUNT, 1))}

    def side(session):
        role = session.role
        return program(
            align(
                session,
                keys[role],
                COUNT,
                columns[role].astype(np.int64),
                [],
                [Bounds(0, 1)],
                owner=Role.ALICE,
            )
        )

    with monkeypatch.context() as patch:
        patch.setattr(
            opprf.okvs, "encode", lambda inputs, values, *rest: honest(inputs, bend(values.copy()), *rest)
        )
        return transcripts(patch, side)


def members(found):
    """The rows of Alice that are said to be Bob's, too."""
    bits = found.member.reveal()
    return found.rows[np.asarray(bits, dtype=bool)] if found.rows is not None else None


@pytest.mark.parametrize("has_it", [True, False])
def test_a_store_with_one_payload_bends_the_members(monkeypatch, has_it):
    """Opened, the number of matches would be whether Alice has that key."""
    mine, theirs = points(COUNT), points(COUNT)
    theirs[int(not has_it) : 100] = mine[int(not has_it) : 100]
    (rows, _), _ = aligned(monkeypatch, one_payload, mine, theirs, members)
    assert rows.tolist() == [0] * has_it


def test_keys_in_one_bin_alone_bend_the_members(monkeypatch):
    """Opened, they would tell which of its bins a common key lies in."""
    placed, honest = [], opprf.cuckoo.place
    monkeypatch.setattr(opprf.cuckoo, "place", lambda *given: placed.append(honest(*given)) or placed[-1])
    mine = points(COUNT)
    (rows, _), _ = aligned(monkeypatch, one_bin, mine, mine, members)
    (table,) = placed
    first = table.slots[(table.slots >= 0) & (table.hashes == 0)]
    assert sorted(rows.tolist()) == sorted(first.tolist())
    assert 0 < len(first) < COUNT


@pytest.mark.parametrize("common", [0, COUNT])
@pytest.mark.parametrize("bend", [one_payload, one_bin])
def test_what_comes_after_a_bent_store_is_uniform_whoever_has_which_rows(monkeypatch, bend, common):
    mine, theirs = points(COUNT), points(COUNT)
    theirs[:common] = mine[:common]
    _, seen = aligned(monkeypatch, bend, mine, theirs, lambda found: None)
    heard: dict[str, list[bytes]] = {}
    for kind, body in seen[Role.BOB]:
        heard = {} if kind == OprfStore.__name__ else {**heard, kind: [*heard.get(kind, []), body]}
    # What is of the rows of Alice: choices, offers and openings of the test of equality and the selection.
    kinds = (TransferColumns, TransferChoiceColumns, DigitOffers, Openings)
    assert {kind.__name__ for kind in kinds} <= heard.keys()
    # Openings say nothing with those of Bob either, which are the other shares of the same.
    openings = heard[Openings.__name__]
    theirs = [body for kind, body in seen[Role.ALICE] if kind == Openings.__name__][-len(openings) :]
    words = (np.frombuffer(b"".join(bodies), dtype=np.uint64) for bodies in (openings, theirs))
    opened = np.bitwise_xor(*words).tobytes()
    for kind, body in {**{kind: b"".join(bodies) for kind, bodies in heard.items()}, "": opened}.items():
        if len(body) > 4096:
            assert byte_statistic(body) < BYTES_BOUND, kind


# answers to lattice ciphertexts


def test_an_evaluator_that_answers_with_monomials_hears_what_an_honest_one_does(monkeypatch):
    layout = layout_of(4, 3, 2, 100, 16)
    parameters = layout.parameters
    limbs = np.zeros((parameters.limbs, 1, parameters.degree), dtype=np.int64)
    limbs[-1] = 1 << 10

    def multiplied(*, bends):
        def side(session):
            if session.role is Role.BOB:
                held = HeldMatrix(session, layout, np.full((3, 2), 7, dtype=np.uint64))
                return held.times(4)
            if bends:
                body = ByteRows(pack_limbs(limbs, parameters.second_bits)[None])
                replacing(session, LatticeResponse, lambda message: LatticeResponse(body))
            return PeerMatrix(session, layout).times(np.full((4, 3), 9))

        return transcripts(monkeypatch, side, randomness=seeds())

    (_, shares), honest = multiplied(bends=False)
    (_, others), bending = multiplied(bends=True)
    assert (shares != others).any()
    assert bending[Role.ALICE] == honest[Role.ALICE]
