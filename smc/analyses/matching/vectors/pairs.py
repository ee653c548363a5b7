"""Which pairs of vectors match, from their secret scores, a strip of Alice's rows at a time.

By a threshold each score is compared with it. For the nearest ones the least score of each of Alice's rows is
found as a row of bits (`smc.secret.comparison.argmin_one_hot`) and set aside by adding more than scores
differ by, and so on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.vectors.inner_products import InnerProducts, ProductPlan
from smc.analyses.matching.vectors.scores import VectorMeasure, Whole, scores
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.comparison import argmin_one_hot, msb
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

Bit = NDArray[np.uint8]


def alike(session: Session, measure: VectorMeasure, own: Whole, alice: int, bob: int) -> Bit:
    """The matches of all pairs.

    Args:
        session: this side of the run.
        measure: what is public.
        own: the local vectors, shape (n, d).
        alice: Alice's rows.
        bob: Bob's rows.

    Returns:
        Local XOR shares, shape (alice, ranks * bob): bit r * bob + j of row i shows whether they match, by a
        threshold with one rank only, or whether j is the one of rank r among those nearest to i.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    first = session.role is Role.ALICE
    found = []
    # Every run compares; set up first, both parties wait for each other but once.
    session.oblivious.setup()
    plan = ProductPlan.of(measure, alice, bob)
    products = InnerProducts(session, plan, own)
    strips = list(plan.strips())
    for done, strip in enumerate(strips):
        session.report("pairs", done, len(strips))
        words = scores(measure, session.role, own[strip] if first else own, products.strip(strip))
        if measure.limit is None:
            found.append(_nearest(session, measure, words))
        else:
            margins = np.uint64(measure.limit % (1 << 64) if first else 0) - words
            bits = msb.nonnegative(session, margins.reshape(-1), measure.differences)
            found.append(bits.reshape(words.shape))
    session.report("pairs", len(strips), len(strips))
    return np.concatenate(found)


def _nearest(session: Session, measure: VectorMeasure, words: NDArray[np.uint64]) -> Bit:
    ranks = []
    for rank in range(measure.parameters.nearest):
        bits = argmin_one_hot.one_hot(session, words, measure.differences)
        ranks.append(bits)
        if rank + 1 < measure.parameters.nearest:
            chosen = session.oblivious.bits_to_arithmetic(bits.reshape(-1))
            words = np.add(words, chosen.reshape(bits.shape) * np.uint64(measure.aside), dtype=np.uint64)
    return np.concatenate(ranks, axis=1)


def count_matched(session: Session, bits: Bit, bob: int) -> tuple[SecretInts, SecretInts]:
    """How many of Alice's rows and of Bob's have a match, one secret number each.

    Args:
        session: this party's side of the run.
        bits: from `alike`.
        bob: Bob's rows.
    """
    words = session.oblivious.bits_to_arithmetic(bits.reshape(-1)).reshape(len(bits), -1, bob)
    sides = (words.sum(axis=(1, 2), dtype=np.uint64), words.sum(axis=(0, 1), dtype=np.uint64))
    alice, bob_rows = (
        SecretInts.from_bits(SecretInts(session, matches, Bounds(0, bits.size)) >= 1).sum()
        for matches in sides
    )
    return alice, bob_rows


def plain_alike(measure: VectorMeasure, alice: Whole, bob: Whole) -> NDArray[np.bool_]:
    """The same in the clear; of equal scores the earlier row is nearer."""
    found = measure.plain(alice, bob)
    if measure.limit is not None:
        return found <= measure.limit
    ranks = measure.parameters.nearest
    order = np.argsort(found, axis=1, kind="stable")[:, :ranks]
    bits = np.zeros((len(alice), ranks, len(bob)), dtype=np.bool_)
    bits[np.arange(len(alice))[:, None], np.arange(ranks)[None], order] = True
    return bits.reshape(len(alice), -1)
