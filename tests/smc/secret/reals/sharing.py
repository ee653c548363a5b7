"""Programs over secret reals, run by both parties in this process, and over shapes."""

from __future__ import annotations

import numpy as np

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.numeric.shape_arrays import shape_array
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import trace


def reals(session, values, lower, upper, scale):
    """Numbers rounded to the scale, in shares that follow from them: the same at both sides."""
    held = np.rint(np.ldexp(np.asarray(values, dtype=np.float64), scale)).astype(np.int64)
    bounds = Bounds(int(np.floor(np.ldexp(lower, scale))), int(np.ceil(np.ldexp(upper, scale))))
    label = f"{held.tolist()} {bounds} {scale}"
    mask = Randomness.from_seed(b"reals", label).words(held.size).reshape(held.shape)
    shares = mask if session.role is Role.ALICE else held.view(np.uint64) - mask
    return SecretReals(SecretInts.from_shares(session, shares, bounds, scale))


def opened(program):
    """What `program` opens, which both sides agree on; numbers, or a tuple of arrays."""
    alice, bob = run_pair(program, timeout=60)
    assert np.array_equal(np.asarray(alice), np.asarray(bob))
    return alice


def cost_of_run(program, *secrets):
    """Bytes of either direction and rounds of a program, with the set-up of transfers."""

    def side(session):
        session.oblivious.setup()
        program(*(secret(session) for secret in secrets))
        return session.channel.traffic

    alice, bob = run_pair(side, timeout=60)
    return alice.sent, bob.sent, max(alice.rounds, bob.rounds)


def cost_of_trace(program, *secrets):
    """The same of a run over shapes."""

    def side(session):
        session.oblivious.setup()
        program(*(as_shapes(secret(session)) for secret in secrets))

    found = trace(side)
    return found.alice_bytes, found.bob_bytes, found.rounds


def as_shapes(values):
    """Reals of which only the shape is known."""
    ints = values.ints
    shares = shape_array(ints.shape, np.uint64)
    return SecretReals(SecretInts.from_shares(ints.session, shares, ints.bounds, ints.scale))
