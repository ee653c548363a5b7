"""How far masks are from uniform: the stated bound, and the bound against a distance that is computed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import gmpy2
import numpy as np
import pytest

from smc.ciphers.masks import Masks, MaskTables, job_distance
from smc.numeric.random import Randomness
from tests.support.seeds import seeded

JOB = 1 << 25
"""Masks of a million comparisons of 32 bits, in the direction that takes one for each bit."""

POOL = ThreadPoolExecutor(1)


@pytest.mark.parametrize("bits", [512, 1024, 1536, 2048, 3072, 4096])
def test_all_masks_of_a_job_together_are_within_the_promised_distance(bits: int) -> None:
    """Of the group of units modulo a prime factor and modulo N; the threat model says 40 bits or more."""
    modulus = (1 << bits) - 1
    masks = Masks(modulus, modulus, modulus**2, seeded(), POOL, MaskTables())
    distance = job_distance(bits, masks._digits * masks._window, masks._wanted, JOB)
    assert distance < 2**-40


def test_a_job_adds_up_what_single_masks_leave() -> None:
    """With 80 bits of excess each mask is within 2**-41, and a job of 2**25 of them is not within 2**-40."""
    one, job = (job_distance(44 * 70 - 80, 70, 44, masks) for masks in (1, JOB))
    assert one < 2**-40 < job


@pytest.mark.parametrize(("order", "generators", "bits"), [(30, 3, 4), (101, 3, 5), (64, 4, 3)])
def test_the_bound_holds_where_the_distance_can_be_computed(order: int, generators: int, bits: int) -> None:
    """In a cyclic group, written as addition: the mean over many tables of the exact distance of one mask."""
    random = Randomness.from_seed(b"masks", str(order))
    distances = []
    for _ in range(300):
        table = random.below(order, generators)
        chances = np.eye(1, order)[0]
        for each in table:
            chances = np.mean([np.roll(chances, each * s) for s in range(1 << bits)], axis=0)
        distances.append(np.abs(chances - 1 / order).sum() / 2)
    bound = job_distance(int(gmpy2.bit_length(order)), bits, generators, 1)
    assert float(np.mean(distances)) < bound
