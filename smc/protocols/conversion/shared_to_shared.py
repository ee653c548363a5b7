"""Shared modulo one number to shared modulo another, by oblivious transfer.

    Alice (z^A)                                       Bob (z^B)
      t^A = [z^A >= M / 2]                              t^B = [z^B >= M / 2]
      sender of M t^A       == correlated transfer modulo M' ==       chooser of t^B
      z^A - M t^A + her share of M t^A t^B              z^B - M t^B + his share of M t^A t^B

    z = z^A + z^B - M (t^A or t^B), since z < M / 2: if neither share reaches M / 2, their sum stays below M;
    if one does, the sum reaches M, as z would reach M / 2 otherwise.

Inputs: SS modulo M, integers of `bits` bits, 2**(bits + 1) <= M: a number or a Paillier N.
Outputs: SS modulo M' of the same integers, for any other M' >= 2**bits: 2**64, a prime, a Paillier N, or 2
    (XOR shares) for bits. Both shares are uniform modulo M', as those of `bit-to-shared` are.
Learns: nobody anything.
Assumes: what `smc.protocols.correlated` assumes.
Cost: as `bit-to-shared`: 2 flights per span of 16 MiB; per value 4 bytes of matrix from Bob and a number
    modulo M' from Alice. The first use in a session sets up `TRANSFERS`.
Reference: duetto; widening of shares whose top bit is known to be 0, as in Rathee et al., SIRNN, IEEE S&P
    2021, and Demmler, Schneider and Zohner, ABY, NDSS 2015 (A2B and back), for any two moduli.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from smc.forms import Form, Role
from smc.moduli import Modulus
from smc.oblivious.bitmatrix import Bit
from smc.protocols import correlated
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Parameters, Sharing, Spec
from smc.protocols.transfer_costs import TRANSFERS
from smc.values import Share

_WORDS: Final = 1 << 64


def applies(parameters: Parameters) -> bool:
    """Whether the values are below M / 2, and the new modulus is another one."""
    taken = parameters.modulus_in
    return taken != parameters.modulus_out and _has_room(parameters, taken)


def _has_room(parameters: Parameters, modulus: Modulus | None) -> bool:
    if isinstance(modulus, Role):  # a key of k bits has N >= 2**(k - 1)
        return parameters.modulus_bits(modulus) > parameters.bits + 1
    return modulus is not None and modulus >= 2 << parameters.bits


def alice(session: Session, parameters: Parameters, value: Share) -> Share:
    """Alice: sends the transfers.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    modulus = parameters.number_out
    rest, tops = _without_tops(parameters, value)
    lost = correlated.select_numbers(tops, parameters.number_in % modulus, 0, modulus)
    return correlated.share(rest + correlated.send(session, lost, modulus), modulus)


def bob(session: Session, parameters: Parameters, value: Share) -> Share:
    """Bob: chooses.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    modulus = parameters.number_out
    rest, tops = _without_tops(parameters, value)
    return correlated.share(rest + correlated.choose(session, tops, modulus), modulus)


def _without_tops(parameters: Parameters, value: Share) -> tuple[correlated.Numbers, Bit]:
    """The local z - M t, as a sum of two numbers modulo M', and t."""
    taken, modulus = parameters.number_in, parameters.number_out
    shares = np.array(value.values, dtype=np.uint64 if taken <= _WORDS else object)
    tops = np.array(shares > (taken - 1) // 2, dtype=np.uint8)
    if shares.dtype == object or modulus > _WORDS:
        shares = shares.astype(object) % modulus
    elif modulus < _WORDS:
        shares %= np.uint64(modulus)
    return correlated.numbers(shares, modulus) + correlated.select_numbers(
        tops, -taken % modulus, 0, modulus
    ), tops


SPEC: Final = Spec(
    name="shared-to-shared",
    against=Against.PRIVATE,
    inputs=(Form.SS,),
    output=Form.SS,
    alice=alice,
    bob=bob,
    cost=correlated.cost,
    takes=Sharing.ANY,
    gives=Sharing.ANY,
    improves="shared-to-encrypted",
    setups=(TRANSFERS,),
    applies=applies,
    arrays=True,
)
