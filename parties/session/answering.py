"""What a party answers to calls of a peer, whichever way they have come."""

from __future__ import annotations

import logging
from collections.abc import Callable

from parties.pki import Identity
from parties.pki.offers import Renewals
from parties.ports.interfaces import MESSAGE_LIMIT, JobPort
from parties.ports.terms import Terms
from parties.rpc.greeting import check_greeting, make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.errors import DuettoError, ProtocolViolation

log = logging.getLogger(__name__)


class Answering:
    """Greetings, proposals and words about jobs.

    What is raised becomes a code for the peer: see `parties.rpc.refusal.code_of`.

    Args:
        identity: this party's keys.
        port: the jobs.
        terms: the local versions and parameters.
        renewals: of certificates, announced and heard with greetings.
    """

    def __init__(
        self, identity: Identity, port: JobPort, terms: Terms | None = None, renewals: Renewals | None = None
    ) -> None:
        self._identity = identity
        self._terms = terms or Terms()
        self._renewals = renewals or Renewals()
        self.port = port

    def hello(self, peer: str, greeting: pb.Greeting, key_exchange: str = "") -> pb.Greeting:
        """Answer a greeting; a mismatch of versions is for the caller to judge and for the log.

        Args:
            peer: who calls.
            greeting: its greeting.
            key_exchange: what TLS negotiated, where the caller cannot see it.

        Raises:
            DuettoError: it is malformed, or gives another name.
        """
        theirs = check_greeting(greeting, peer)
        try:
            self._terms.agree(theirs)
        except DuettoError as error:
            log.warning("greeting of %(peer)s: %(error)s", {"peer": peer, "error": error})
        self._renewals.hear(peer, greeting.renewal)
        return make_greeting(self._identity, self._terms, self._renewals.own, key_exchange)

    def propose(self, peer: str, request: pb.JobMessage) -> pb.JobMessage:
        """Hand a proposal to the jobs; raises what they raise, or ProtocolViolation if it is too long."""
        return self._job_call(self.port.propose, peer, request)

    def tell(self, peer: str, request: pb.JobMessage) -> pb.JobMessage:
        """Hand the peer's word about a job to the jobs; raises as `propose`."""
        return self._job_call(self.port.tell, peer, request)

    def _job_call(
        self, call: Callable[[str, bytes], bytes], peer: str, request: pb.JobMessage
    ) -> pb.JobMessage:
        if len(request.body) > MESSAGE_LIMIT:
            raise ProtocolViolation(f"A message of {len(request.body)} bytes is longer than the limit.")
        return pb.JobMessage(body=call(peer, request.body))
