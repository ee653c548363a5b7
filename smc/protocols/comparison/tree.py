"""Tree-based comparison: Protocols 1 and 2 of the thesis, without the root.

    Point holder (sk, p)                        Range holder (pk, R)
      E(H(i, p >> i)), i < bits  -- points -->
                                 <-- tests --   E(r_i (H(i, p >> i) - H(i, a_i)))  if R has a node (i, a_i),
                                                E(uniform)                         if not; shuffled
      p in R  iff  one of them is zero

    Protocol 1, delta to x's holder:  p = x, R = [y, n)
    Protocol 1, delta to y's holder:  p = y, R = [0, x]
    Protocol 2, delta shared:         p = x, R = [y, n) xor-flipped to [0, y) by Bob's random s^B

Inputs: PN-NP, plain integers of `bits` bits, any batch.
Outputs: PN or NP (Protocol 1), or SS with modulus 2 (Protocol 2, steps 1-3). Steps 4 and 5 of Protocol 2,
    to shares modulo another number, are the conversions `bit-to-encrypted` and `encrypted-to-shared`.
Learns: the point holder whether p lies in R, which is delta or delta xor a uniform bit of Bob's; nothing from
    the place of the zero (shuffle) or the other values (uniform r_i in Z_N^*, erratum 5). The range holder
    learns nothing.
Assumes: semi-honest parties; the cipher is semantically secure: DCR for Paillier's, which is meant here. The
    steps, `smc.protocols.trees.membership`, ask for no more than an additively homomorphic cipher with a zero
    test, and `elgamal_tree` runs them on another.
    Every ciphertext that the range holder returns is re-randomised (erratum 3). The range holder does the
    same work on every layer, so neither sizes nor counts of operations depend on R.
Cost: 2 flights, `bits` ciphertexts each way; `bits` encryptions and zero tests at the point holder, `bits`
    powers and re-randomisations at the range holder.
Reference: thesis, section 8.1.3, Protocols 1 and 2, "Improvement", after [NNPC10]; errata 1, 3-5, 8, 9.
    Protocol 1 is announced there for type 5, whose output goes to Bob, but as printed it tells Alice; here
    are both.
"""

from __future__ import annotations

from smc.protocols.engines import PAILLIER
from smc.protocols.spec import Cost, Parameters
from smc.protocols.trees import membership


def cost(parameters: Parameters) -> Cost:
    """Two flights; Alice has the points."""
    return membership.nodes_cost(parameters.count * parameters.bits, parameters.alice_ciphertext_bytes)


SPEC, SPEC_ALICE_LEARNS, SPEC_BOB_LEARNS = membership.records(
    "tree", __name__, cost, lambda session: session, engine=PAILLIER
)
