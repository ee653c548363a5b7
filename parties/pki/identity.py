"""Who a party is: its own keys, and what it knows of a peer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

if TYPE_CHECKING:
    from smc.ciphers.keys import PrivateKey, PublicKey


@dataclass(frozen=True, slots=True)
class Identity:
    """This party with its secret keys, each for one purpose.

    Attributes:
        name: this party's name.
        certificate: the TLS certificate, PEM.
        tls_key: its private key, PEM.
        signing: signs job contracts and ledger entries (Ed25519).
        paillier: the Paillier key.
    """

    name: str
    certificate: bytes = field(repr=False)
    tls_key: bytes = field(repr=False)
    signing: Ed25519PrivateKey = field(repr=False)
    paillier: PrivateKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class PeerIdentity:
    """The public keys of a paired party.

    Attributes:
        name: its name.
        signing: checks its signatures (Ed25519).
        paillier: its Paillier key.
        certificate: its TLS certificate, PEM.
    """

    name: str
    signing: Ed25519PublicKey = field(repr=False)
    paillier: PublicKey
    certificate: bytes = field(repr=False)
