"""The greeting that both sides show each other before anything else."""

from __future__ import annotations

import time

from parties.errors import PairingError
from parties.pki import Identity
from parties.ports.terms import Terms
from parties.release import release
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.errors import ProtocolViolation

_DIGEST_BYTES = 32
_RELEASE_CHARACTERS = 32
_RENEWAL_BYTES = 1 << 14
_GROUP_CHARACTERS = 32


def make_greeting(
    identity: Identity, terms: Terms, renewal: bytes = b"", key_exchange: str = ""
) -> pb.Greeting:
    """This party's greeting, with the time of now.

    Args:
        identity: this party.
        terms: the versions and parameters that it speaks.
        renewal: its pairing file, if that holds a certificate that follows the one in use.
        key_exchange: in an answer, what TLS negotiated for the connection: the caller cannot see it.
    """
    return pb.Greeting(
        oldest_version=terms.oldest,
        newest_version=terms.newest,
        parameters=terms.parameters,
        party=identity.name,
        key=bytes.fromhex(identity.paillier.public.fingerprint),
        unix_ms=time.time_ns() // 1_000_000,
        release=release()[:_RELEASE_CHARACTERS],
        renewal=renewal,
        key_exchange=key_exchange[:_GROUP_CHARACTERS],
    )


def check_greeting(greeting: pb.Greeting, peer: str) -> Terms:
    """Check the form of a peer's greeting.

    Returns:
        The peer's versions and parameters.

    Raises:
        ProtocolViolation: a field is malformed.
        PairingError: the peer calls itself by another name than the one it was paired under.
    """
    if (
        len(greeting.key) != _DIGEST_BYTES
        or len(greeting.parameters) != _DIGEST_BYTES
        or len(greeting.renewal) > _RENEWAL_BYTES
        or len(greeting.release) > _RELEASE_CHARACTERS
        or not greeting.release.isprintable()
        or len(greeting.key_exchange) > _GROUP_CHARACTERS
        or not greeting.key_exchange.isprintable()
    ):
        raise ProtocolViolation(f"The greeting of {peer} is malformed.")
    if greeting.party != peer:
        raise PairingError(
            f"The peer does not call itself {peer!r}.", "Pair the two parties again, both ways."
        )
    return Terms(greeting.oldest_version, greeting.newest_version, greeting.parameters)
