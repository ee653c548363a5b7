"""Who a party is: its own keys, and what it knows of a peer."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.pki import certificate
from parties.pki.signing import SigningKey

if TYPE_CHECKING:
    from smc.ciphers.keys import PrivateKey, PublicKey

CHANGE: Final = dt.timedelta(hours=1)
"""So long before a certificate ends the renewed one is used, since clocks differ."""


@dataclass(frozen=True, slots=True)
class Identity:
    """This party with its secret keys, each for one purpose.

    Attributes:
        name: this party's name.
        certificate: the TLS certificate, PEM.
        tls_key: its private key, PEM.
        signing: signs job contracts and ledger entries (Ed25519).
        paillier: the Paillier key.
        renewed: the certificate that follows, and its private key, both PEM; None where there is none yet.
    """

    name: str
    certificate: bytes = field(repr=False)
    tls_key: bytes = field(repr=False)
    signing: SigningKey = field(repr=False)
    paillier: PrivateKey = field(repr=False)
    renewed: tuple[bytes, bytes] | None = field(default=None, repr=False)

    @property
    def certificates(self) -> bytes:
        """The certificate and the one that follows, if there is one; PEM."""
        return self.certificate + (self.renewed[0] if self.renewed else b"")

    def in_use(self, now: dt.datetime) -> Identity:
        """This party with the certificate that it shows at that time, and no other."""
        if self.renewed is None:
            return self
        if now < certificate.ends(self.certificate) - CHANGE:
            return replace(self, renewed=None)
        pem, tls_key = self.renewed
        return replace(self, certificate=pem, tls_key=tls_key, renewed=None)


@dataclass(frozen=True, slots=True)
class PeerIdentity:
    """The public keys of a paired party.

    Attributes:
        name: its name.
        signing: checks its signatures (Ed25519).
        paillier: its Paillier key.
        certificates: its TLS certificates, one or, around a renewal, two; PEM.
    """

    name: str
    signing: Ed25519PublicKey = field(repr=False)
    paillier: PublicKey
    certificates: bytes = field(repr=False)
