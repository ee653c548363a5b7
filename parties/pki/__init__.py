"""Keys, certificates and pairing files of a party."""

from parties.pki.identity import Identity, PeerIdentity

__all__ = ["Identity", "PeerIdentity"]
