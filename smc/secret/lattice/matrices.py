"""Products of two matrices, one of each party, by additive lattice encryption.

    Alice (X, n x m, entries of bounded size)              Bob (Y, m x k, modulo 2**w)
                             <-- seed, encrypted Y --
                             -- responses -->
      shares of X Y modulo 2**w, by rounding what each can compute

Alice is the evaluator, Bob the key holder, or the reverse.

A polynomial holds n' rows of X or k' columns of Y, and m' of the inner places, n' m' k' = N:

    x = sum_ij X_ij X^(i m' k' - j)        y = sum_jl Y_jl X^(l m' + j)

Of x y the coefficient i m' k' + l m' is the sum over j of X_ij Y_jl: terms of other j lie at exponents that
m' does not divide, and none wraps around onto it. So every m'-th coefficient is wanted, and of the others
nobody computes a share: those are inner products of shifted rows. What Y holds is encrypted once and serves
any number of batches of rows.

Inputs: Y at the key holder, once; rows of X at the evaluator, batch by batch.
Outputs: shares modulo 2**w of the rows times Y.
Learns: neither party anything. The evaluator sees ciphertexts; what the key holder gets does not depend on
what it encrypted, and is uniform to it under the assumption. Of all results of the run that the layout is for
any is off by one with probability 2**-30 at most.
Assumes: `smc.ciphers.lattice`. A key holder that deviates learns nothing; an evaluator that does learns
nothing before shares are opened.
Cost: `MatrixLayout.query_bytes` once, and `MatrixLayout.response_bytes` for each batch.
Reference: Huang, Lu, Hong and Ding, Cheetah, USENIX Security 2022, section 3, and Hao et al., Iron, NeurIPS
2022, section 3, for the coefficients; `smc.ciphers.lattice` for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.ciphers.lattice import DEGREES, SEED_BYTES, LatticeParameters, OwnLattice, PeerLattice
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    pack_limbs,
    pack_words,
    packed_limbs_size,
    packed_size,
    unpack_limbs,
    unpack_words,
)
from smc.errors import UsageError
from smc.oblivious.spans import SPAN_BYTES
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

_BATCH_WORDS: Final = 1 << 20
"""About how many complex numbers the products of a batch of rows may take."""


@dataclass(frozen=True, slots=True)
class LatticeSeed(Message, kind="lattice-seed", hidden=True):
    """What the public polynomials are drawn from, from the key holder."""

    seed: ByteRows


@dataclass(frozen=True, slots=True)
class LatticeQuery(Message, kind="lattice-query", hidden=True):
    """The first components of all ciphertexts under one secret, from the key holder."""

    limbs: ByteRows


@dataclass(frozen=True, slots=True)
class LatticeResponse(Message, kind="lattice-response", hidden=True):
    """Second components of the products of a batch of rows."""

    second: ByteRows


@dataclass(frozen=True, slots=True)
class MatrixLayout:
    """How the matrices of a run are laid into polynomials.

    Attributes:
        parameters: of the encryption.
        rows: n of all calls with one matrix together.
        times: how many matrices Y the rows are multiplied by, one after the other; results of all are exact
            together.
        bound: of the size of X's entries, likewise.
        inner: m.
        columns: k.
        rows_each: n', rows of X in a polynomial.
        inner_each: m', inner places in a polynomial.
    """

    parameters: LatticeParameters
    rows: int
    times: int
    bound: int
    inner: int
    columns: int
    rows_each: int
    inner_each: int

    @property
    def columns_each(self) -> int:
        """k', columns of Y in a polynomial."""
        return self.parameters.degree // (self.rows_each * self.inner_each)

    @property
    def secrets(self) -> int:
        """How many secrets there are, one for each polynomial of columns."""
        return -(-self.columns // self.columns_each)

    @property
    def factors(self) -> int:
        """How many polynomials the inner places take."""
        return -(-self.inner // self.inner_each)

    @property
    def query_size(self) -> int:
        """Bytes of the ciphertexts under one secret."""
        limbs = self.parameters.limbs * (self.factors + 1) * self.parameters.degree
        return packed_size(limbs, LIMB_BITS)

    @property
    def query_bytes(self) -> int:
        """Bytes from the key holder, once."""
        return SEED_BYTES + self.secrets * self.query_size

    def response_size(self, rows: int) -> int:
        """Bytes from the evaluator for one batch of so many rows."""
        blocks = -(-rows // self.rows_each)
        return packed_limbs_size(blocks * self.parameters.degree, self.parameters.second_bits)

    def response_bytes(self, rows: int) -> int:
        """Bytes from the evaluator for a call with so many rows."""
        full, rest = divmod(rows, self.batch_rows)
        return full * self.response_size(self.batch_rows) + (self.response_size(rest) if rest else 0)

    @property
    def weight(self) -> int:
        """What a run takes: bytes, and a byte's time for each coefficient that is transformed."""
        blocks, limbs = -(-self.rows // self.rows_each), self.parameters.limbs
        transforms = (self.factors + 1) * (blocks + 2 * limbs * self.secrets) + blocks * limbs
        return self.query_bytes + self.response_bytes(self.rows) + transforms * self.parameters.degree

    @property
    def batch_rows(self) -> int:
        """Rows that are multiplied at once, as memory and the buffers of transports allow."""
        each = self.secrets * self.parameters.limbs * self.parameters.degree // (2 * self.inner_each)
        blocks = min(_BATCH_WORDS // each, SPAN_BYTES // (2 * self.response_size(self.rows_each)))
        return self.rows_each * max(1, blocks)

    def batches(self, rows: int) -> Iterator[slice]:
        """Rows in such batches."""
        yield from chunks(rows, self.batch_rows)

    def rows_as_polynomials(self, rows: Whole) -> Whole:
        """x_0, ..., x_(D-1) of rows of X.

        Args:
            rows: shape (n, m).

        Returns:
            Shape (ceil(n / n'), D, N).
        """
        blocks = -(-len(rows) // self.rows_each)
        padded = np.zeros(
            (blocks * self.rows_each, self.factors * self.inner_each), dtype=np.int64, like=rows
        )
        padded[: len(rows), : self.inner] = rows
        parts = padded.reshape(blocks, self.rows_each, self.factors, self.inner_each).transpose(0, 2, 1, 3)
        degree = self.parameters.degree
        places = np.arange(self.rows_each)[:, None] * (degree // self.rows_each) - np.arange(self.inner_each)
        result = np.zeros((blocks, self.factors, degree), dtype=np.int64, like=rows)
        # X^-j is -X^(N - j).
        result[..., places % degree] = parts * np.where(places < 0, -1, 1)
        return result

    def columns_as_polynomials(self, number: int, matrix: Word) -> Word:
        """y_0, ..., y_(D-1) of the columns under one secret.

        Args:
            number: of the secret.
            matrix: Y, shape (m, k).

        Returns:
            Shape (D, N).
        """
        first = number * self.columns_each
        part = matrix[:, first : first + self.columns_each]
        shape = (self.factors * self.inner_each, self.parameters.degree // self.inner_each)
        padded = np.zeros(shape, dtype=np.uint64, like=matrix)
        padded[: self.inner, : part.shape[1]] = part
        result: Word = padded.reshape(self.factors, self.inner_each, -1).transpose(0, 2, 1)
        return result.reshape(self.factors, -1)


@cache
def layout_of(
    rows: int, inner: int, columns: int, bound: int, width: int, times: int = 1
) -> MatrixLayout | None:
    """The layout that is cheapest for a run, or None where no secure parameters are exact.

    Args:
        rows: n of all calls with one matrix together.
        inner: m.
        columns: k.
        bound: of the size of X's entries.
        width: w.
        times: how many matrices Y the rows are multiplied by.
    """
    found = [
        MatrixLayout(parameters, rows, times, bound, inner, columns, 1 << row_bits, 1 << inner_bits)
        for degree in DEGREES
        for row_bits in range(degree.bit_length())
        for inner_bits in range(degree.bit_length() - row_bits)
        if (
            parameters := LatticeParameters.of(
                degree, width, bound, inner << row_bits, -(-inner >> inner_bits), rows * columns * times
            )
        )
        is not None
    ]
    return min(found, key=attrgetter("weight"), default=None)


class HeldMatrix:
    """The key holder's side of a run: its matrix is encrypted and sent when it is made.

    Args:
        session: this side; the peer makes a `PeerMatrix` at the same place.
        layout: public.
        matrix: Y, shape (m, k); integers modulo 2**w.
    """

    def __init__(self, session: Session, layout: MatrixLayout, matrix: Word) -> None:
        if matrix.shape != (layout.inner, layout.columns):
            raise UsageError(
                f"The matrix has the shape {matrix.shape}, and its layout is for "
                f"{(layout.inner, layout.columns)}.",
                "Make the layout for the matrix.",
            )
        self._session, self._layout = session, layout
        self._cipher = OwnLattice(layout.parameters, layout.secrets, layout.factors, session.random)
        session.channel.send(LatticeSeed(byte_row(self._cipher.seed)))
        for number in range(layout.secrets):
            limbs = self._cipher.encrypt(number, layout.columns_as_polynomials(number, matrix))
            session.channel.send(LatticeQuery(ByteRows(pack_words(limbs.reshape(-1), LIMB_BITS)[None])))

    def times(self, rows: int) -> Word:
        """The peer's rows times the matrix.

        Args:
            rows: of the peer's.

        Returns:
            Local shares modulo 2**w, shape (rows, k).

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        result = np.empty((rows, self._layout.columns), dtype=np.uint64)
        for part in self._layout.batches(rows):
            result[part] = self.receive(part.stop - part.start)
        return result

    def receive(self, rows: int) -> Word:
        """One batch of `times`, which the peer gives by `PeerMatrix.send`."""
        layout, parameters = self._layout, self._layout.parameters
        packed = self._session.channel.recv(LatticeResponse, ExpectedByteRows(1, layout.response_size(rows)))
        blocks = -(-rows // layout.rows_each)
        second = unpack_limbs(packed, (blocks, parameters.degree), parameters.second_bits)
        wanted = partial(_select_wanted, layout, rows)
        return self._cipher.decrypt(second, layout.inner_each, wanted).reshape(rows, -1)


class PeerMatrix:
    """The evaluator's side of a run: takes the peer's encrypted matrix when it is made.

    Args:
        session: this side; the peer makes a `HeldMatrix` at the same place.
        layout: public.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """

    def __init__(self, session: Session, layout: MatrixLayout) -> None:
        self._session, self._layout = session, layout
        parameters = layout.parameters
        seed = session.channel.recv(LatticeSeed, ExpectedByteRows(1, SEED_BYTES)).tobytes()
        self._cipher = PeerLattice(parameters, seed, layout.secrets, layout.factors, session.random)
        shape = (parameters.limbs, layout.factors + 1, parameters.degree)
        for number in range(layout.secrets):
            data = session.channel.recv(LatticeQuery, ExpectedByteRows(1, layout.query_size))
            self._cipher.take(number, unpack_words(data, int(np.prod(shape)), LIMB_BITS).reshape(shape))

    def times(self, rows: Whole) -> Word:
        """Local rows times the peer's matrix.

        Args:
            rows: shape (n, m), of the size that the layout was made for.

        Returns:
            Local shares modulo 2**w, shape (n, k).

        Raises:
            UsageError: the rows have another shape or larger entries than the layout is for.
        """
        result = np.empty((len(rows), self._layout.columns), dtype=np.uint64, like=rows)
        for part in self._layout.batches(len(rows)):
            result[part] = self.send(rows[part])
        return result

    def send(self, rows: Whole) -> Word:
        """One batch of `times`, which the peer takes by `HeldMatrix.receive`. Raises as `times`."""
        layout, parameters = self._layout, self._layout.parameters
        if rows.shape[1:] != (layout.inner,) or np.any(np.abs(rows) > layout.bound):
            raise UsageError(
                f"The layout is for rows of {layout.inner} entries up to {layout.bound}.",
                "Make the layout for the rows that will be multiplied.",
            )
        wanted = partial(_select_wanted, layout, len(rows))
        polynomials = layout.rows_as_polynomials(rows)
        second, shares = self._cipher.respond(polynomials, layout.inner_each, wanted)
        packed = pack_limbs(second, parameters.second_bits)
        self._session.channel.send(LatticeResponse(ByteRows(packed[None])))
        return shares.reshape(-1, layout.columns)


def _select_wanted(layout: MatrixLayout, rows: int, coefficients: Whole) -> Whole:
    """Folded coefficients of polynomials, row by row of their matrix.

    Args:
        layout: of the run.
        rows: how many of the first ones are not padding.
        coefficients: shape (R, K, n' k').

    Returns:
        Shape (rows * k,).
    """
    blocks, secrets = coefficients.shape[:2]
    parts = coefficients.reshape(blocks, secrets, layout.rows_each, -1).transpose(0, 2, 1, 3)
    return parts.reshape(blocks * layout.rows_each, -1)[:rows, : layout.columns].reshape(-1)


def cost(rows: int, inner: int, columns: int, bound: int, width: int) -> Cost:
    """The exact cost of one call of `times` for all rows, with the query; the key holder is Bob.

    Raises:
        UsageError: no secure parameters are exact for these sizes.
    """
    layout = layout_of(rows, inner, columns, bound, width)
    if layout is None:
        raise UsageError(
            f"No lattice is exact and secure for entries up to {bound} and words of {width} bits.",
            "Multiply by oblivious transfer.",
        )
    return Cost((Flight.BOB, Flight.ALICE), layout.response_bytes(rows), layout.query_bytes)


SPEC: Final = Procedure(
    name="lattice-matrix-product",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    example={"rows": 100, "inner": 128, "columns": 100, "bound": 128, "width": 24},
)
