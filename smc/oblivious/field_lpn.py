"""Learning parity with noise over the field of 2**128 elements: the code and the sizes of vector OLE.

    y = A s + e,    row i of A: five ones, and five times g_i, at places that a public key stream names
                    g_i: 16 bits of the same stream, an element below x**16
                    e: one element, uniform, in each bin of n / t rows at a uniform place; else 0

Assumes: for the sizes of `PRODUCTION` and of `FIRST`, (A, A s + e) cannot be distinguished from (A, uniform)
with s and e uniform. The coefficients g_i are needed: without them A is a matrix of zeros and ones, what
elimination leaves of the rows lies in the space that the few noisy values span over {0, 1}, and one
elimination tells. A call that makes fewer rows uses fewer bins of the same problem and is at least as hard to
break. The estimate, against which attacks, and what is proved of it, are in docs/proofs/vole.md;
`scripts/lpn_estimate` computes its figures.
Reference: Boyle, Couteau, Gilboa and Ishai, Compressing vector OLE, CCS 2018; Liu, Wang, Yang and Yu, The
hardness of LPN over any integer ring and field for PCG applications, EUROCRYPT 2024; Briaud and Oygarden, A
new algebraic approach to the regular syndrome decoding problem, EUROCRYPT 2023.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np

from smc.forms import Role
from smc.oblivious.bitmatrix import Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import LpnSet
from smc.oblivious.workspace import Workspace
from smc.pieces import check_cancelled

PRODUCTION: Final = LpnSet(log_length=15, trees=704, depth=8, group=32)
"""k = 32,768, t = 704, n = 180,224."""

FIRST: Final = LpnSet(log_length=12, trees=1056, depth=5, group=32)
"""k = 4,096, t = 1,056, n = 33,792: so small that its entries can be made of transfers, and used once."""

_DOMAIN: Final = b"duetto/oblivious/field-code/1"
_KEY_BYTES: Final = 16
_PIECE_ROWS: Final = 1024


class FieldCode:
    """The public matrix A, made row by row when it is applied; no rows are used twice.

    Args:
        session: id of the session, which names the matrix.
        sender: the party that sends, as each direction has a matrix of its own.
        sizes: of the problem; a block has a multiple of `numpy_field.ROWS_AT_ONCE` rows.
    """

    def __init__(self, session: bytes, sender: Role, sizes: LpnSet) -> None:
        name = session + sender.value.encode().ljust(8)
        self._key = np.frombuffer(hashlib.sha256(_DOMAIN + name).digest()[:_KEY_BYTES], dtype=np.uint64)
        self._blocks = 0
        self._piece = min(_PIECE_ROWS, sizes.block_rows)
        self._field = make_kernels(Workspace()).field

    def add(self, secret: Word, rows: Word) -> None:
        """Add A s to the rows of the next block; both ends do so for the same blocks in the same order.

        Args:
            secret: s, contiguous, shape (k, a, 2): one vector, or two side by side.
            rows: contiguous, shape (`block_rows`, a, 2), changed in place.
        """
        check_cancelled()
        number = self._blocks
        self._blocks += 1
        self._field.add_code(secret, self._key, number, self._piece, rows)
