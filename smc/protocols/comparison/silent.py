"""Comparison by silent oblivious transfer: PN x NP -> SS, XOR shares of x >= y, for slow networks.

    Alice (x)                                 Bob (y)
                  -- refills --                 silent transfers, both directions at once
      random choice ^ upper digits  -- -->    <-- -- random choice ^ lower digits
      lower digits              -- offers --    upper digits                (both at once)
      carry tree over digits    -- openings --  carry tree            ceil(log2 digits) times
      d_A = 1 ^ [x < y]_A                       d_B = [x < y]_B       d_A ^ d_B = (x >= y)

Inputs: x, Alice's, and y, Bob's: n integers in [0, 2**bits), 1 <= bits <= 256.
Outputs: XOR shares (modulus 2) of x >= y, n each.
Learns: neither party anything; every message is masked by fresh transfers.
Assumes: what `smc.protocols.comparison.oblivious` assumes, and regular-noise LPN with a
10-local code, k = 2**17, 2336 bins of 2**10 rows (`smc.oblivious.lpn`), over 128 bits; the offset of
transfers is uniform on 127 bits.
Cost: 3 + ceil(log2 d) rounds for d = ceil(bits / 2) digits, per span of up to 2**19 words of transfers each
way (1,082,000 pairs of 32 bits); per pair and digit one byte of shifts and offers, per join 0.75 bytes, and
0.17 bytes per transfer each way of refills, of which a small batch needs a whole first portion of 28 kB.
For 32 bits and large batches that is 37.7 bytes in both directions together. Every batch makes what it needs
and keeps nothing but the reserve for the next one, so a cost depends on the batch alone. The first use in a
session sets up `TRANSFERS` and `SILENT_TRANSFERS`.
Reference: as in `smc.oblivious.silent_ot` and `smc.oblivious.silent_circuits`.
"""

from __future__ import annotations

from typing import Final

from smc.forms import Form
from smc.oblivious.silent_circuits import PrefetchedWords, comparison
from smc.protocols.against import Against
from smc.protocols.engines import SILENT
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.protocols.transfer_costs import SILENT_TRANSFERS, TRANSFERS, cost_of
from smc.values import Nothing, Plain, Share, of_array


def alice(session: Session, parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """The side that holds x.

    Raises:
        UsageError: the batch is not of the declared size.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    parameters.check_pairs(len(x), len(y))
    bits = session.oblivious.greater_equal_x(x.values, parameters.bits, silent=True)
    return Share(of_array(bits), 2)


def bob(session: Session, parameters: Parameters, x: Nothing, y: Plain) -> Share:
    """The side that holds y.

    Raises:
        UsageError: the batch is not of the declared size.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    parameters.check_pairs(len(x), len(y))
    bits = session.oblivious.greater_equal_y(y.values, parameters.bits, silent=True)
    return Share(of_array(bits), 2)


def cost(parameters: Parameters) -> Cost:
    """Exact cost without the set-up; operations count the rows of transfers that a party makes."""
    stock = PrefetchedWords()
    total = cost_of(comparison(parameters.count, parameters.bits, parameters.lanes, stock=stock))
    made = {"ot_silent": stock.rows}
    return Cost(total.flights, total.alice_bytes, total.bob_bytes, made, made)


SPEC: Final = Spec(
    name="silent",
    against=Against.PRIVATE,
    inputs=(Form.PN, Form.NP),
    output=Form.SS,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=SILENT,
    gives=Sharing.XOR,
    setups=(TRANSFERS, SILENT_TRANSFERS),
    arrays=True,
)
