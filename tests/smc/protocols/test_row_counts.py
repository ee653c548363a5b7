"""Row counts: what a peer announces does not become an allocation before it was checked."""

from __future__ import annotations

import tracemalloc

import pytest

from smc.channel.vectors import Residues, residues_bytes
from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.exchange.records import counts_cost
from smc.protocols.exchange.row_counts import MAX_ROWS, Counts, RowCount, exchange_counts
from smc.protocols.intersection import exact, opprf
from smc.secret.joins.circuit_psi import align

KEYS = Randomness.from_seed(b"row counts", "keys").words(10).reshape(-1, 2)
LITTLE = 1 << 20


def says(count, width=1 << 32):
    """A peer that announces so many rows and then waits."""

    def peer(session):
        session.channel.send(Counts(Residues([count], width)))

    return peer


def told(session):
    return exchange_counts(session, [len(KEYS)])[0]


VICTIMS = {
    "receiver of an intersection": lambda s: exact.receive(s, KEYS, told(s)),
    "sender of an intersection": lambda s: exact.send(s, KEYS, told(s)),
    "receiver of a programmed function": lambda s: opprf.receive(s, KEYS, told(s), 1),
    "sender of a programmed function": lambda s: opprf.send(s, KEYS, KEYS, told(s)),
    "alignment": lambda s: align(s, KEYS, told(s), KEYS[:, :0].view("int64"), (), ()),
}


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("count", [MAX_ROWS + 1, 2**31, 2**32 - 1, 2**34, 2**40 - 1])
def test_an_enormous_announcement_is_a_violation_and_takes_no_memory(victim, count):
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolViolation):
            run_pair(VICTIMS[victim], says(count, 1 << 32 if count < 1 << 32 else 1 << 40), timeout=10)
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


def test_the_limit_of_a_run_binds_the_peer_and_is_named():
    with pytest.raises(ProtocolViolation, match="announced 8 rows; this run has room for 7"):
        run_pair(lambda s: exchange_counts(s, [8], most=[7]), says(8))
    assert run_pair(*[lambda s: exchange_counts(s, [7], most=[7])] * 2) == ([7], [7])


def test_each_count_has_its_own_limit():
    def alice(session):
        return exchange_counts(session, [1, 1], most=[5, 9])

    assert run_pair(alice, lambda s: exchange_counts(s, [5, 9])) == ([5, 9], [1, 1])
    with pytest.raises(ProtocolViolation, match="10 rows; this run has room for 9"):
        run_pair(alice, lambda s: exchange_counts(s, [5, 10]))


def test_a_side_that_has_too_many_rows_itself_says_so_before_it_sends():
    with pytest.raises(DomainError, match="Split"):
        run_pair(lambda s: exchange_counts(s, [MAX_ROWS + 1]), lambda s: None)


@pytest.mark.parametrize("count", [-1, MAX_ROWS + 1, 2**63])
def test_there_is_no_row_count_out_of_bounds(count):
    with pytest.raises(ProtocolViolation, match="at most"):
        RowCount(count)


def test_as_many_rows_as_allowed_can_be_announced():
    assert RowCount(MAX_ROWS) == MAX_ROWS
    (heard, traffic), _ = run_pair(
        lambda s: (exchange_counts(s, [0, 3]), s.channel.traffic),
        lambda s: exchange_counts(s, [MAX_ROWS, 0]),
    )
    assert heard == [MAX_ROWS, 0]
    assert traffic.sent == counts_cost(2).alice_bytes == residues_bytes(1 << 32, 2)


def test_rows_of_vector_ole_are_not_made_by_the_billion():
    with pytest.raises(UsageError, match="keys are more than"):
        run_pair(lambda s: s.oblivious.vole_send(1 << 40), lambda s: s.oblivious.vole_receive(3))
