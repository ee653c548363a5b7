"""Several numbers in one Paillier plaintext.

A pack is the integer sum(v_i * 2**(slot_bits * i)) of values v_i in [0, 2**slot_bits). Whoever holds E(v_i)
builds its ciphertext with Horner's rule: `slot_bits` squarings and one product per value. Refreshing and
decrypting then cost once per pack instead of once per value.

The values have to fit their slots when the pack is opened: a value that is too large, or negative, runs over
into the next slot. Protocols add masks that see to it and state their bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeVar

import gmpy2
from gmpy2 import mpz

from smc.ciphers.paillier import Ciphertexts, Paillier
from smc.errors import KeyMaterialError, ProtocolViolation, UsageError
from smc.numeric.modular import spread

T = TypeVar("T")

MASK_BITS: Final = 64
"""How many bits a mask has beyond those of what it hides: each value is hidden within statistical distance
2**-64, so 2**24 of them together within 2**-40."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How values are laid out.

    Attributes:
        slot_bits: bits of a slot, at least 1.
        slots: values per pack, at least 1.
    """

    slot_bits: int
    slots: int

    @classmethod
    def under(cls, key_bits: int, slot_bits: int) -> Self:
        """As many slots as plaintexts under a key of `key_bits` bits hold.

        Raises:
            KeyMaterialError: not even one fits.
        """
        slots = (key_bits - 1) // slot_bits  # every modulus of key_bits bits exceeds 2**(key_bits - 1)
        if slots < 1:
            raise KeyMaterialError(
                f"A key of {key_bits} bits is too small for masked values of {slot_bits} bits.",
                "Use a larger key, or compare numbers of fewer bits.",
            )
        return cls(slot_bits, slots)

    def packs(self, count: int) -> int:
        """Packs that hold `count` values; all but the last are full."""
        return -(-count // self.slots)

    def squarings(self, count: int) -> int:
        """What `pack` adds to the operation count `square`."""
        return (count - self.packs(count)) * self.slot_bits

    def pack(self, cipher: Paillier, values: Ciphertexts) -> Ciphertexts:
        """Ciphertexts of the packs, not fresh.

        Args:
            cipher: the cipher of the values' key.
            values: ciphertexts of integers; the first value goes to the lowest slot of the first pack.

        Raises:
            KeyMaterialError: the ciphertexts are under another key, or its plaintexts hold no such pack.
        """
        key = cipher.public
        if values.key != key:
            raise KeyMaterialError(
                f"Ciphertexts under another key than {key.fingerprint[:16]} were given.",
                "Use the cipher of the key that encrypted them.",
            )
        if self.slots * self.slot_bits >= key.bits:
            raise KeyMaterialError(
                f"{self.slots} slots of {self.slot_bits} bits do not fit under a key of {key.bits} bits.",
                "Use fewer slots, or a larger key.",
            )
        cipher.operations["square"] += self.squarings(len(values))
        groups = self._groups(values.values)
        fixed = (mpz(1) << self.slot_bits, key.n_squared)
        return Ciphertexts(key, spread(_horner, len(groups), cipher.public_executor, (groups,), fixed))

    def join(self, values: Sequence[int]) -> list[int]:
        """The packs of known integers, as plaintexts.

        Raises:
            UsageError: a value does not fit its slot.
        """
        if any(value < 0 or value >> self.slot_bits for value in values):
            raise UsageError(
                f"A value does not fit into a slot of {self.slot_bits} bits.",
                "Use non-negative values, or wider slots.",
            )
        return [int(gmpy2.pack([int(v) for v in group], self.slot_bits)) for group in self._groups(values)]

    def split(self, packs: Sequence[int], count: int) -> list[int]:
        """The values in opened packs.

        Args:
            packs: non-negative integers.
            count: how many values they hold together.

        Raises:
            UsageError: there are more or fewer packs than that takes.
            ProtocolViolation: a pack holds more than its slots; the peer made it.
        """
        if len(packs) != self.packs(count):
            raise UsageError(
                f"{count} values fill {self.packs(count)} packs, but {len(packs)} were given.",
                "Give all packs, and the number of values that were packed.",
            )
        values: list[int] = []
        for pack in packs:
            due = min(self.slots, count - len(values))
            slots = [int(value) for value in gmpy2.unpack(mpz(pack), self.slot_bits)]
            if len(slots) > due:
                raise ProtocolViolation("A pack from the peer holds more than its slots can.")
            values += slots + [0] * (due - len(slots))
        return values

    def _groups(self, values: Sequence[T]) -> list[Sequence[T]]:
        return [values[start : start + self.slots] for start in range(0, len(values), self.slots)]


def _horner(groups: Sequence[Sequence[mpz]], shift: mpz, modulus: mpz) -> list[mpz]:
    packs = []
    with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
        for group in groups:
            pack = group[-1]
            for value in group[-2::-1]:
                pack = gmpy2.powmod(pack, shift, modulus) * value % modulus
            packs.append(pack)
    return packs
