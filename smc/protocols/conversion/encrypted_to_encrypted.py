"""Encrypted under Bob's key to encrypted under Alice's key.

    Alice (E_B(z), sk_A)                                    Bob (sk_B)
      r uniform in [0, N_min / 4)
      E_B(z + r), E_A(-r), both fresh   -- Switch -->         decrypts z + r
                                                              E_A(z) = E_A(z + r) + E_A(-r)

Inputs: ES, integers of `bits` bits, 2**(bits + 2) <= the smaller N.
Outputs: SE; Bob's ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: Bob z + r, within statistical distance 2**(bits + 2) / N_min of uniform; Alice nothing.
Assumes: semi-honest parties; DCR for both keys.
Cost: 1 flight; two ciphertexts per value; Alice one re-randomisation and one encryption, Bob one decryption.
Reference: thesis, Lemma 3.1 (ES and SE by way of SS), joined into one flight; errata 3, 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Fresh
from smc.errors import KeyMaterialError
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder


@dataclass(frozen=True, slots=True)
class Switch(Message, kind="encrypted-to-encrypted"):
    """Alice to Bob: the masked values under his key, the negated masks under hers."""

    masked: Fresh
    negated: Fresh


def alice(session: FullSession, parameters: Parameters, value: Encrypted) -> KeyHolder:
    """Alice: masks under Bob's key and gives the mask under her own."""
    theirs = session.peer
    bound = min(theirs.public.n, session.own.public.n) // 4
    if bound < 1 << parameters.bits:
        raise KeyMaterialError("The keys are too small to mask these values.", "Use larger keys.")
    masks = session.random.below(bound, len(value))
    masked = theirs.refresh(theirs.add_plain(theirs.ciphertexts_of(value), masks))
    session.channel.send(Switch(masked, session.own.encrypt([-r for r in masks])))
    return KeyHolder(len(value))


def bob(session: FullSession, parameters: Parameters, value: KeyHolder) -> Encrypted:
    """Bob: opens the masked values and takes the masks off under Alice's key."""
    del parameters
    count = len(value)
    masked, negated = session.channel.recv(Switch, session.own.expect(count), session.peer.expect(count))
    return Encrypted(session.peer.add_plain(negated, session.own.decrypt(masked)))


def cost(parameters: Parameters) -> Cost:
    """Two ciphertexts per value."""
    count = parameters.count
    size = count * (parameters.alice_ciphertext_bytes + parameters.bob_ciphertext_bytes)
    return Cost((Flight.ALICE,), size, 0, {"mask": 2 * count}, {"decrypt": count})


SPEC = Spec(
    name="encrypted-to-encrypted",
    inputs=(Form.ES,),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
)
