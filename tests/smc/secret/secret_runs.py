"""Programs over secret integers, run by both parties in this process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from tests.support.seeds import seeded

RANDOM = seeded()
TOP = (1 << 63) - 1


@dataclass
class Secret:
    """Integers to be shared: by random shares, or as the input of their owner."""

    held: np.ndarray
    bounds: Bounds
    owner: Role | None = None
    scale: int = 0

    def __post_init__(self):
        self.held = np.array(self.held, dtype=np.int64)
        self.mask = RANDOM.words(self.held.size).reshape(self.held.shape)

    def at(self, session) -> SecretInts:
        """This side."""
        if self.owner is not None:
            mine = self.held if session.role is self.owner else None
            return SecretInts.from_plain(session, mine, self.owner, self.bounds, self.held.shape, self.scale)
        shares = self.mask if session.role is Role.ALICE else self.held.view(np.uint64) - self.mask
        return SecretInts.from_shares(session, shares, self.bounds, self.scale)


def tight(held, owner=None, scale=0):
    """A secret with the tightest bounds."""
    held = np.array(held, dtype=np.int64)
    return Secret(held, Bounds(int(held.min()), int(held.max())), owner, scale)


def uniform(shape, lower, upper):
    """Random integers in [lower, upper]."""
    count = int(np.prod(shape))
    drawn = RANDOM.below(upper - lower + 1, count)
    return np.array([lower + value for value in drawn], dtype=np.int64).reshape(shape)


def results(program, *secrets):
    """What `program` gives at Alice and at Bob."""

    def side(session):
        return program(*(secret.at(session) for secret in secrets))

    return run_pair(side, side)


def opened(program, *secrets):
    """The opened result of `program`, which both sides agree on."""
    alice, bob = results(lambda *own: program(*own).reveal(), *secrets)
    assert (alice == bob).all()
    return alice


def measured(program, *secrets):
    """Traffic of `program` alone, after the set-up of oblivious transfer: Alice's and Bob's."""

    def side(session):
        own = [secret.at(session) for secret in secrets]
        session.oblivious.setup()
        before = session.channel.traffic
        program(*own)
        return session.channel.traffic.since(before)

    return run_pair(side, side)


def check_cost(declared, program, *secrets):
    """Demand that measured bytes and rounds are the declared ones."""
    alice, bob = measured(program, *secrets)
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(alice.rounds, bob.rounds) == declared.rounds


def secret_bits(session, bits, mask):
    """Random XOR shares of known bits."""
    return SecretBits(session, mask if session.role is Role.ALICE else bits ^ mask)
