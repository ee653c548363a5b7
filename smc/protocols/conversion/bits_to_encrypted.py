"""Encrypted bits to one encrypted integer: what type 8 has over type 2, no message.

    Alice (sk)            Bob (E(z_0), ..., E(z_(bits-1)))
                            E(z) = sum of 2**i E(z_i)

Inputs: SE bit by bit: `bits` ciphertexts per value, the least significant first, value after value.
Outputs: SE; the ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: nobody anything.
Assumes: nothing.
Cost: none but `bits - 1` squarings and multiplications per value at Bob.
Reference: thesis, section 2.3.3, type 8, after [GHJR15].
"""

from __future__ import annotations

from smc.ciphers.paillier import Ciphertexts
from smc.errors import DomainError
from smc.forms import Form
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder


def _count(ciphertexts: int, parameters: Parameters) -> int:
    count, rest = divmod(ciphertexts, parameters.bits)
    if rest:
        raise DomainError(
            f"{ciphertexts} encrypted bits do not make whole numbers of {parameters.bits} bits.",
            "Give every value the same number of bits.",
        )
    return count


def alice(session: FullSession, parameters: Parameters, value: KeyHolder) -> KeyHolder:
    """Alice: has the key."""
    del session
    return KeyHolder(_count(len(value), parameters))


def bob(session: FullSession, parameters: Parameters, value: Encrypted) -> Encrypted:
    """Bob: Horner's rule from the most significant bit."""
    _count(len(value), parameters)
    cipher = session.peer
    bits = cipher.ciphertexts_of(value).values
    total = Ciphertexts(cipher.public, bits[parameters.bits - 1 :: parameters.bits])
    for position in range(parameters.bits - 2, -1, -1):
        digit = Ciphertexts(cipher.public, bits[position :: parameters.bits])
        total = cipher.add(cipher.add(total, total), digit)
    return Encrypted(total)


def cost(parameters: Parameters) -> Cost:
    """No message."""
    del parameters
    return Cost()


SPEC = Spec(
    name="bits-to-encrypted",
    inputs=(Form.SE,),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    bitwise=True,
)
