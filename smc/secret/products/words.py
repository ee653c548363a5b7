"""Products of integers that are shared modulo 2**64, element by element and of matrices.

    Alice (x_A, y_A)                                  Bob (x_B, y_B)
      x_A                            == transfers ==    y_B
      y_A                            == transfers ==    x_B
      x_A y_A + her shares of both                      x_B y_B + his shares of both

x y = x_A y_A + x_A y_B + x_B y_A + x_B y_B: the outer terms are local, each of the inner ones is one
party's integers times the other's (`smc.secret.products.gilboa`). No triple is prepared and nothing is
opened: the transfers multiply the shares themselves, which costs what a triple would and saves a round. A
term that is zero because one party owns a factor whole is left out, and an owned factor is cut into no more
bits than its bounds leave. Of many products element by element the inner terms are formed by lattice
encryption (`smc.secret.products.lattice_multiply`) where that sends so much less that it does not take
longer.

Inputs: shares modulo 2**64 of both factors, or one that a party knows whole.
Outputs: shares modulo 2**64 of the products.
Learns: neither party anything.
Assumes: `smc.secret.products.gilboa`, `smc.secret.products.lattice_multiply`.
Cost: `cost_multiply`, `cost_square`, `cost_matmul`; 1536 bytes per product of two shared integers, 12 per
bit of an owned factor; by lattice encryption 196 and 122 in full blocks of 8,192.
Reference: Gilboa, CRYPTO 1999, section 4; see `smc.secret.products.gilboa`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.products import gilboa, lattice_multiply
from smc.secret.sharing.bounds import SHARED, WORD_BITS, Operand

Word = NDArray[np.uint64]
Shape = tuple[int, int, int]

_SLAB_WORDS: Final = 1 << 21

_FEWEST_ENCRYPTED: Final = 1 << 10
"""Below, a block sends more than transfers do."""

_WORK_BYTES: Final = 500
"""What encrypting and decrypting a slot is worth in bytes of transfers, which take work as well."""


def word(value: int) -> np.uint64:
    """An integer modulo 2**64."""
    return np.uint64(value % (1 << WORD_BITS))


def multiply(session: Session, left: Word, right: Word, left_kind: Operand, right_kind: Operand) -> Word:
    """Element-wise product.

    Args:
        session: this side of the run.
        left: local shares, shape (n,).
        right: local shares, shape (n,).
        left_kind: what is public of the left factor.
        right_kind: what is public of the right factor.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    cut = _encrypted_pairs(len(left), left_kind, right_kind)
    inner = []
    if cut:
        holders = _crossing(left_kind, right_kind)
        factors = [(left if session.role is holder else right)[:cut] for holder in holders]
        inner.append(lattice_multiply.multiply(session, factors))
    if cut < len(left):
        inner.append(_multiply_by_transfers(session, left[cut:], right[cut:], left_kind, right_kind))
    return left * right + np.concatenate(inner) if inner else left * right


def _multiply_by_transfers(
    session: Session, left: Word, right: Word, left_kind: Operand, right_kind: Operand
) -> Word:
    """The inner terms of products by transfers."""
    result = np.zeros_like(left)
    if left_kind.owner is None and right_kind.owner is None:
        # Either party's left factor chooses, times the other's right one.
        return gilboa.exchange(session, left, right, WORD_BITS)
    for holder in _crossing(left_kind, right_kind):
        chooses_left = left_kind.entry_bits <= right_kind.entry_bits
        kind = left_kind if chooses_left else right_kind
        mine_is_left = session.role is holder
        own = left if mine_is_left else right
        if mine_is_left is chooses_left:
            integers = own - word(kind.offset)
            result += gilboa.choose(session, integers, kind.entry_bits, 1)[:, 0]
        else:
            result += gilboa.send(session, own[:, None], kind.entry_bits)[:, 0] + own * word(kind.offset)
    return result


def square(session: Session, words: Word) -> Word:
    """The squares of shared integers, from one inner term instead of two.

    Args:
        session: this side of the run.
        words: local shares, shape (n,).

    Returns:
        Local shares, shape (n,).
    """
    cut = _count_encrypted(len(words), 1, _cost_square_transfers)
    inner = [lattice_multiply.multiply(session, [words[:cut]])] if cut else []
    rest = words[cut:]
    if len(rest) and session.role is Role.ALICE:
        inner.append(gilboa.send(session, rest[:, None], WORD_BITS)[:, 0])
    elif len(rest):
        inner.append(gilboa.choose(session, rest, WORD_BITS, 1)[:, 0])
    mixed = np.concatenate(inner) if inner else words
    result: Word = words * words + (mixed << np.uint64(1))
    return result


def matmul(session: Session, left: Word, right: Word, left_kind: Operand, right_kind: Operand) -> Word:
    """Matrix product.

    Args:
        session: this side of the run.
        left: local shares, shape (n, k).
        right: local shares, shape (k, m).
        left_kind: what is public of the left factor.
        right_kind: what is public of the right factor.

    Returns:
        Local shares, shape (n, m).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    result = left @ right
    shape = (*left.shape, right.shape[1])
    for holder in _crossing(left_kind, right_kind):
        own_left = session.role is holder
        if _left_chooses(shape, left_kind, right_kind):
            result += _term(session, left if own_left else right, own_left, shape, left_kind)
        else:
            own = right.T if not own_left else left.T
            result += _term(session, own, not own_left, shape[::-1], right_kind).T
    return result


def _crossing(left: Operand, right: Operand) -> Iterator[Role]:
    """The holders of the left part of every inner term that is not zero."""
    return (role for role in Role if left.owner is not role.other and right.owner is not role)


def _encrypted_pairs(count: int, left: Operand, right: Operand) -> int:
    """How many of so many products are formed by lattice encryption."""
    terms = len(tuple(_crossing(left, right)))
    return _count_encrypted(count, terms, lambda rest: _cost_transfers(rest, left, right))


def _count_encrypted(count: int, terms: int, transfers: Callable[[int], Cost]) -> int:
    """How many of so many products: all if that is cheaper, else those that fill whole blocks, or none."""
    if terms == 0 or count < _FEWEST_ENCRYPTED:
        return 0
    full = lattice_multiply.slots(count + 1) - lattice_multiply.slots(1)

    def cheaper(cut: int) -> bool:
        if cut == 0:
            return False
        lattice, spared = lattice_multiply.cost(cut, terms), transfers(cut)
        work = _WORK_BYTES * terms * lattice_multiply.slots(cut)
        return lattice.alice_bytes + lattice.bob_bytes + work < spared.alice_bytes + spared.bob_bytes

    return count if cheaper(count) else full if cheaper(full) else 0


def _left_chooses(shape: Shape, left: Operand, right: Operand) -> bool:
    rows, inner, columns = shape
    return gilboa.total_bytes(rows * inner, columns, left.entry_bits) <= gilboa.total_bytes(
        inner * columns, rows, right.entry_bits
    )


def _slabs(shape: Shape) -> Iterator[slice]:
    """Rows of the chooser's matrix that are multiplied at once."""
    rows, inner, columns = shape
    size = max(1, _SLAB_WORDS // max(1, inner * columns))
    return chunks(rows, size)


def _term(session: Session, own: Word, chooses: bool, shape: Shape, kind: Operand) -> Word:
    """One inner term of a matrix product; the integers of the left matrix choose.

    Args:
        session: this side of the run.
        own: the chooser's matrix, shape (n, k), or the sender's, shape (k, m).
        chooses: which of both.
        shape: n, k and m.
        kind: of the chooser's matrix.

    Returns:
        Local shares, shape (n, m).
    """
    rows, inner, columns = shape
    result = np.empty((rows, columns), dtype=np.uint64)
    for slab in _slabs(shape):
        height = slab.stop - slab.start
        if chooses:
            integers = (own[slab] - word(kind.offset)).reshape(-1)
            shares = gilboa.choose(session, integers, kind.entry_bits, columns)
        else:
            vectors = np.broadcast_to(own, (height, inner, columns)).reshape(-1, columns)
            shares = gilboa.send(session, vectors, kind.entry_bits)
        result[slab] = shares.reshape(height, inner, columns).sum(axis=1, dtype=np.uint64)
    if not chooses:
        result += own.sum(axis=0, dtype=np.uint64) * word(kind.offset)
    return result


def cost_multiply(count: int, left: Operand = SHARED, right: Operand = SHARED) -> Cost:
    """The exact cost of `multiply`: flights and bytes, without the set-up of oblivious transfer."""
    cut, terms = _encrypted_pairs(count, left, right), len(tuple(_crossing(left, right)))
    total = lattice_multiply.cost(cut, terms) if cut else Cost()
    return total + _cost_transfers(count - cut, left, right) if cut < count else total


def _cost_transfers(count: int, left: Operand, right: Operand) -> Cost:
    if left.owner is None and right.owner is None:
        return cost_of(gilboa.exchange_steps(count, WORD_BITS))
    total = Cost()
    for holder in _crossing(left, right):
        chooses_left = left.entry_bits <= right.entry_bits
        kind = left if chooses_left else right
        cost = cost_of(gilboa.steps(count, 1, kind.entry_bits))
        sender = holder.other if chooses_left else holder
        total += cost if sender is Role.ALICE else cost.mirror
    return total


def cost_square(count: int) -> Cost:
    """The exact cost of `square`."""
    cut = _count_encrypted(count, 1, _cost_square_transfers)
    total = lattice_multiply.cost(cut, 1) if cut else Cost()
    return total + _cost_square_transfers(count - cut) if cut < count else total


def _cost_square_transfers(count: int) -> Cost:
    return cost_of(gilboa.steps(count, 1, WORD_BITS))


def cost_matmul(rows: int, inner: int, columns: int, left: Operand = SHARED, right: Operand = SHARED) -> Cost:
    """The exact cost of `matmul` of an n x k and a k x m matrix."""
    shape = (rows, inner, columns)
    total = Cost()
    for holder in _crossing(left, right):
        if _left_chooses(shape, left, right):
            sender, turned, kind = holder.other, shape, left
        else:
            sender, turned, kind = holder, shape[::-1], right
        for slab in _slabs(turned):
            cost = cost_of(gilboa.steps((slab.stop - slab.start) * turned[1], turned[2], kind.entry_bits))
            total += cost if sender is Role.ALICE else cost.mirror
    return total


SPEC_MULTIPLY: Final = Procedure(
    name="product",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_multiply,
    setups=(TRANSFERS,),
    example={"count": 1000},
)


SPEC_SQUARE: Final = Procedure(
    name="square",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_square,
    setups=(TRANSFERS,),
    example={"count": 1000},
)


SPEC_MATMUL: Final = Procedure(
    name="matrix-product",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_matmul,
    setups=(TRANSFERS,),
    example={"rows": 10, "inner": 8, "columns": 6},
)
