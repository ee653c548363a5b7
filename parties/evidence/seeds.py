"""The seed of a covert run and the coin that says whether it is due: commitments, and what follows from them.

Both parties commit to a seed and to their part of the coin before either knows anything of the other. The
randomness of a run is that of a party's seed and bytes of the peer, so neither chooses it, though the one
that dials may leave before anything is said of the run, and draw again. The coin is that of both parts, so
neither knows it before the run has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from parties.ports.terms import digest
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.numeric.rounding import DIGEST_BYTES, rounding_digest

SEED_BYTES: Final = 32
PART_BYTES: Final = 16
"""Of what each side gives to the randomness of the other, and to the coin."""
COMMITMENT_BYTES: Final = 64 + DIGEST_BYTES
"""A digest over the seed, one over the part of the coin, and how the party's machine rounds."""

_SEED: Final = b"duetto evidence seed v1"
_COIN: Final = b"duetto evidence part of the coin v1"
_RUN: Final = b"duetto evidence randomness v1"
_TOSS: Final = b"duetto evidence coin v1"


@dataclass(frozen=True, slots=True)
class Secrets:
    """What one side commits to, secret until the run is audited; the coin's part until the run has ended.

    Attributes:
        seed: 32 uniform bytes.
        part: of the coin, 16 uniform bytes.
    """

    seed: bytes = field(repr=False)
    part: bytes = field(repr=False)

    @classmethod
    def draw(cls, random: Randomness) -> Secrets:
        """New ones."""
        return cls(random.bytes(SEED_BYTES), random.bytes(PART_BYTES))

    def commitment(self, job_digest: bytes, role: Role) -> bytes:
        """To both, and how this machine rounds, 72 bytes; the part of the coin is told at the end."""
        return (
            _to_seed(job_digest, role, self.seed) + _to_part(job_digest, role, self.part) + rounding_digest()
        )


def opens_seed(commitment: bytes, job_digest: bytes, role: Role, seed: bytes) -> bool:
    """Whether a seed is the one that a party has committed to."""
    return commitment[:32] == _to_seed(job_digest, role, seed)


def opens_part(commitment: bytes, job_digest: bytes, role: Role, part: bytes) -> bool:
    """Whether a part of the coin is the one that a party has committed to."""
    return commitment[32:64] == _to_part(job_digest, role, part)


def rounds_as_here(commitment: bytes) -> bool:
    """Whether the machine of the party that made it finds the floating-point numbers that this one does."""
    return commitment[64:] == rounding_digest()


def run_seed(seed: bytes, given: bytes) -> bytes:
    """The seed of all randomness of one side's run, 32 bytes.

    Args:
        seed: that the side has committed to.
        given: 16 bytes of the peer, which came after the commitment.
    """
    return digest(_RUN, seed, given)


def is_due(job_digest: bytes, parts: Mapping[Role, bytes], rate: Fraction) -> bool:
    """Whether the coin says that a run is audited, which it does with probability `rate`."""
    tossed = int.from_bytes(digest(_TOSS, job_digest, *(parts[role] for role in Role)), "big")
    return tossed * rate.denominator < rate.numerator << 256


def check_size(name: str, data: bytes, size: int) -> bytes:
    """Bytes of the peer, which have to be `size`.

    Raises:
        ProtocolViolation: they are not.
    """
    if len(data) != size:
        raise ProtocolViolation(f"The peer's {name} has {len(data)} bytes; {size} were expected.")
    return data


def _to_seed(job_digest: bytes, role: Role, seed: bytes) -> bytes:
    return digest(_SEED, job_digest, role.value.encode(), seed)


def _to_part(job_digest: bytes, role: Role, part: bytes) -> bytes:
    return digest(_COIN, job_digest, role.value.encode(), part)
