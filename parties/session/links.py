"""Streams that peers keep open to this party, over which it calls those that it cannot dial.

    this party (cannot dial)                                  peer (can dial)
                                                    <--------   Link: a stream that stays open
      greeting, proposal, word about a job          -------->   does as if it had come by a call of its own
                                                    <--------   the answer, or the code of a refusal
      wish for a session                            -------->
                                                    <--------   Run: a stream for one session
      opening, as the dialler                       -------->   goes on as the listener

Who dials in the sense of the handshake does not change with who has opened the connection: the party that
proposed a job opens its session, and resumes it after a cut. All calls of `Run` from one peer are alike, so
each serves the session that has waited longest.

A party has one link from each peer; a newer one ends the older. What the peer may do by it is bounded: it
answers what it was asked, once, with messages as short as those of other calls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from parties.errors import PeerBusy, PeerUnreachable
from parties.pki import PeerIdentity
from parties.ports.terms import Terms
from parties.rpc.client import CALL_SECONDS, PROPOSAL_SECONDS, Hello, check_body, checked_answer, read_answer
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import reverse_pb2 as reverse_pb
from parties.rpc.refusal import refusal_error
from parties.rpc.send_queue import SendQueue
from parties.rpc.stream import PacketStream
from smc.errors import DuettoError, PeerLost, ProtocolViolation

CALLS: Final = 8
"""Calls over one link at once; further ones wait for room."""

SESSION_SECONDS: Final = 15.0
"""How long the peer may take to open a stream for a session after it was asked to."""

log = logging.getLogger(__name__)


class Link:
    """One stream that a peer keeps open, over which calls go beside each other. Thread-safe.

    Attributes:
        peer: the peer's name.
        queue: what is to be sent.
        is_over: no call can be made any more.
    """

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.queue: SendQueue[reverse_pb.ReverseCall] = SendQueue()
        self._room = threading.BoundedSemaphore(CALLS)
        self._changed = threading.Condition()
        self._asked = self._answered = 0
        self._answers: dict[int, reverse_pb.ReverseAnswer | None] = {}
        self.is_over = False

    def ask(self, call: reverse_pb.ReverseCall, wanted: str, seconds: float) -> reverse_pb.ReverseAnswer:
        """Make a call and wait for its answer.

        Args:
            call: what is asked, without a number.
            wanted: the kind of answer that belongs to it.
            seconds: how long the answer may take.

        Raises:
            PeerRefused: the peer says no.
            PeerBusy: as many calls as may be wait for answers; tried again later.
            PeerUnreachable: the stream has ended, before the call.
            PeerLost: it has ended since, or the answer did not come in time.
            ProtocolViolation: the answer is of another kind.
        """
        if not self._room.acquire(timeout=CALL_SECONDS):
            raise PeerBusy(f"{self.peer} has not answered {CALLS} calls yet.", "It is tried again later.")
        try:
            answer = self._answer(call, seconds)
        finally:
            self._room.release()
        content = answer.WhichOneof("content")
        if content == "code":
            raise refusal_error(self.peer, answer.code)
        if content != wanted:
            self.end()
            raise ProtocolViolation(
                f"{self.peer} answered {content or 'nothing'} where {wanted} was expected."
            )
        return answer

    def read(self, answers: Iterable[reverse_pb.ReverseAnswer]) -> None:
        """Read what the peer answers, until the stream ends; then the link has ended, too."""
        try:
            for answer in answers:
                self._take(answer)
        except ProtocolViolation as violation:
            log.warning(
                "the stream that %(peer)s keeps open is ended: %(problem)s",
                {"peer": self.peer, "problem": violation},
            )
        except Exception as problem:  # gRPC's iterator of a broken call raises plain exceptions
            log.debug(
                "the stream that %(peer)s kept open broke: %(kind)s",
                {"peer": self.peer, "kind": type(problem).__name__},
            )
        finally:
            self.end()

    def end(self) -> None:
        """End the stream; whoever waits for an answer hears of it. Also twice."""
        with self._changed:
            self.is_over = True
            self._changed.notify_all()
        self.queue.end()

    def _answer(self, call: reverse_pb.ReverseCall, seconds: float) -> reverse_pb.ReverseAnswer:
        with self._changed:
            if self.is_over:
                raise PeerUnreachable(
                    f"{self.peer} keeps no connection open over which it could be called.",
                    f"Start the daemon of {self.peer!r}, or open the way to it in the firewall.",
                )
            self._asked += 1
            number = call.number = self._asked
            self._answers[number] = None
            self.queue.put(call)
            self._changed.wait_for(lambda: self._answers[number] is not None or self.is_over, seconds)
            answer = self._answers.pop(number)
        if answer is not None:
            return answer
        self.queue.withdraw(call)
        why = "broke" if self.is_over else f"brought no answer within {seconds:g} seconds"
        raise PeerLost(
            f"The connection that {self.peer} keeps open {why}.", "It is tried again when there is another."
        )

    def _take(self, answer: reverse_pb.ReverseAnswer) -> None:
        with self._changed:
            self._answered += 1
            # An answer may come after nobody waits for it any more; there are never more than calls.
            if not 1 <= answer.number <= self._asked or self._answered > self._asked:
                raise ProtocolViolation(f"{self.peer} answered a call that was not made.")
            if answer.number in self._answers:
                self._answers[answer.number] = answer
                self._changed.notify_all()


@dataclass(eq=False)
class _Waiting:
    """A stream of a session that waits for a call of the peer."""

    stream: PacketStream
    has_call: threading.Event = field(default_factory=threading.Event)


class Links:
    """The links of all peers, and which peers this party can dial. Thread-safe.

    Args:
        here: called with the name of a peer that has opened a link, so that what waits for it is done.
    """

    def __init__(self, here: Callable[[str], object] = lambda _: None) -> None:
        self._here = here
        self._changed = threading.Condition()
        self._links: dict[str, Link] = {}
        self._waiting: defaultdict[str, deque[_Waiting]] = defaultdict(deque)
        self._dialled: dict[str, bool] = {}
        self._lost: dict[str, float] = {}

    def attach(self, peer: str) -> Link:
        """Take a new link of a peer, in place of the one before."""
        link = Link(peer)
        with self._changed:
            before, self._links[peer] = self._links.get(peer), link
            self._changed.notify_all()
        if before is not None:
            before.end()
        self._here(peer)
        return link

    def detach(self, link: Link) -> None:
        """Take note that a link is over."""
        link.end()
        with self._changed:
            if self._links.get(link.peer) is link:
                del self._links[link.peer]
                self._lost[link.peer] = time.monotonic()
                self._changed.notify_all()

    def end(self) -> None:
        """End all links; peers that can dial open others."""
        with self._changed:
            links = list(self._links.values())
        for link in links:
            self.detach(link)

    def set_peers(self, names: Iterable[str]) -> None:
        """Forget all other peers, and end their links."""
        kept = set(names)
        with self._changed:
            gone = [link for peer, link in self._links.items() if peer not in kept]
            self._dialled = {peer: through for peer, through in self._dialled.items() if peer in kept}
        for link in gone:
            self.detach(link)

    def note_dialled(self, peer: str, *, through: bool) -> None:
        """Take note whether the last attempt to dial a peer got through."""
        with self._changed:
            self._dialled[peer] = through
            self._changed.notify_all()

    def can_dial(self, peer: str) -> bool:
        """Whether the last attempt to dial a peer got through."""
        return self._dialled.get(peer, False)

    def of(self, peer: str) -> Link | None:
        """The link of a peer, if there is one."""
        link = self._links.get(peer)
        return link if link is not None and not link.is_over else None

    def is_reversed(self, peer: str) -> bool:
        """Whether a peer has a link, and the last attempt to dial it did not get through."""
        return self.of(peer) is not None and self._dialled.get(peer) is False

    def wait_for(self, peer: str, seconds: float) -> Link | None:
        """The link of a peer; waited for where it has just been lost and the peer cannot be dialled."""
        with self._changed:
            left = self._lost.get(peer, -seconds) + seconds - time.monotonic()
            if left > 0:
                self._changed.wait_for(lambda: peer in self._links or self.can_dial(peer), left)
            return self.of(peer)

    def open(self, link: Link, stream: PacketStream) -> None:
        """Let a peer open a stream for a session, and give `stream` its call.

        Raises:
            PeerRefused: the peer says no; `PeerBusy` if it has no room.
            PeerUnreachable: the link is over.
            PeerLost: it broke, or no stream came.
        """
        waiting = _Waiting(stream)
        with self._changed:
            self._waiting[link.peer].append(waiting)
        try:
            until = time.monotonic() + SESSION_SECONDS
            wish = reverse_pb.ReverseCall(session=reverse_pb.SessionWish())
            link.ask(wish, "granted", SESSION_SECONDS)
            if not waiting.has_call.wait(max(until - time.monotonic(), 0.0)):
                raise PeerLost(f"{link.peer} was asked for a stream for a session, and opened none.")
        except DuettoError as error:
            if self._withdraw(waiting):
                stream.call.abandon()
                stream.end_of(stream.call, error)
                raise

    def take(self, peer: str) -> PacketStream | None:
        """The stream that a call of the peer for a session is for; None if none waits for one."""
        with self._changed:
            line = self._waiting[peer]
            waiting = line.popleft() if line else None
        if waiting is None:
            return None
        waiting.has_call.set()
        return waiting.stream

    def _withdraw(self, waiting: _Waiting) -> bool:
        """Wait for no call any more; whether none has come."""
        with self._changed:
            line = self._waiting[waiting.stream.peer]
            if waiting not in line:
                return False
            line.remove(waiting)
            return True


class LinkClient:
    """Calls to a peer over its link, by the names that they have in `PeerClient`.

    Args:
        link: over which it calls.
        peer: the peer's public keys.
        greet: makes this party's greeting.
        terms: the local versions and parameters.
    """

    def __init__(
        self, link: Link, peer: PeerIdentity, greet: Callable[[], pb.Greeting], terms: Terms
    ) -> None:
        self._link = link
        self._peer = peer
        self._greet = greet
        self._terms = terms

    def hello(self) -> Hello:
        """Compare versions, parameters and keys with the peer; raises as `PeerClient.hello`."""
        started = time.time()
        answer = self._link.ask(reverse_pb.ReverseCall(hello=self._greet()), "greeting", CALL_SECONDS)
        return read_answer(answer.greeting, started, self._peer, self._terms)

    def propose(self, contract: bytes) -> bytes:
        """Send a proposal and return the answer; raises as `PeerClient.propose`."""
        check_body(contract, "Propose")
        call = reverse_pb.ReverseCall(propose=pb.JobMessage(body=contract))
        return checked_answer(
            self._link.ask(call, "answer", PROPOSAL_SECONDS).answer, "Propose", self._peer.name
        )

    def tell(self, standing: bytes) -> bytes:
        """Tell where a job stands and return where it stands for the peer. Raises as `propose`."""
        check_body(standing, "Tell")
        call = reverse_pb.ReverseCall(tell=pb.JobMessage(body=standing))
        return checked_answer(self._link.ask(call, "answer", CALL_SECONDS).answer, "Tell", self._peer.name)
