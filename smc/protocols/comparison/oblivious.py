"""Comparison by oblivious transfer: PN x NP -> SS, XOR shares of x >= y.

    Alice (x)                                 Bob (y)
      choices: upper digits     -- matrices --  choices: lower digits       (both at once)
      lower digits              -- offers --    upper digits                (both at once)
      carry tree over digits    -- openings --  carry tree            ceil(log2 digits) times
      d_A = 1 ^ [x < y]_A                       d_B = [x < y]_B       d_A ^ d_B = (x >= y)

Inputs: x, Alice's, and y, Bob's: n integers in [0, 2**bits), 1 <= bits <= 256.
Outputs: XOR shares (modulus 2) of x >= y, n each.
Learns: neither party anything; every message is masked by fresh transfers.
Assumes: 128-bit oblivious transfer as in `smc.oblivious.base_ot` (a curve and module
learning with errors), `smc.oblivious.softspoken` and `smc.oblivious.ot_1_of_16` (AES).
Cost: 2 + ceil(log2 d) rounds for d = ceil(bits / 4) digits, per span of up to 16 MiB of matrices (155,000
pairs of 32 bits); per pair and digit 20 bytes of matrix one way and 3.75 bytes of offers the other, and 4.4
bytes each way per join. The first use in a session sets up `TRANSFERS`.
Reference: digits and tree as in `smc.oblivious.circuits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smc.errors import UsageError
from smc.protocols.session import Session
from smc.values import Nothing, Plain, Share, of_array

if TYPE_CHECKING:
    from smc.protocols.spec import Parameters


def alice(session: Session, parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """The side that holds x.

    Raises:
        UsageError: the batch is not of the declared size.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    _check_count(parameters, len(x), len(y))
    return Share(of_array(session.oblivious.greater_equal_x(x.values, parameters.bits)), 2)


def bob(session: Session, parameters: Parameters, x: Nothing, y: Plain) -> Share:
    """The side that holds y.

    Raises:
        UsageError: the batch is not of the declared size.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    _check_count(parameters, len(x), len(y))
    return Share(of_array(session.oblivious.greater_equal_y(y.values, parameters.bits)), 2)


def _check_count(parameters: Parameters, *lengths: int) -> None:
    if any(length != parameters.count for length in lengths):
        raise UsageError(
            f"The batch was declared with {parameters.count} pairs; x and y have {lengths}.",
            "Give x and y the declared length.",
        )
