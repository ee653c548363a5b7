"""The border between the network and the jobs: what each side offers the other.

`JobPort` is implemented by the jobs and called by the network, from many threads at once. `PeerPort` is
implemented by the network and called by the jobs. The bodies of `propose` and `tell` are opaque here; they
are at most `MESSAGE_LIMIT` bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from smc.errors import DuettoError
from smc.forms import Role
from smc.network import Network

if TYPE_CHECKING:
    from parties.pki.identity import PeerIdentity
    from smc.channel.channel import Channel
    from smc.channel.transport import Transport
    from smc.numeric.random import Randomness
    from smc.pieces import Report
    from smc.protocols.full_session import FullSession

MESSAGE_LIMIT: Final = 256 << 10
"""The largest body of a job message, in bytes."""

REVERSED: Final = "{peer} cannot be dialled; it keeps a connection open, over which jobs run"
"""What people are told of a peer of which `PeerPort.is_reversed` holds."""


def _silent(stage: str, done: int, of: int) -> None:
    del stage, done, of


def _unheard(error: DuettoError | None) -> None:
    del error


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """What a dialling peer said about the session that it opens; checked for form, not yet for truth.

    Attributes:
        session_id: 32 bytes to which both sides contributed a nonce.
        job_id: the job that it wants to run.
        job_digest: the digest of the job's contract, 32 bytes.
        dialler_role: the role that the dialling party takes.
        dialler_key: fingerprint of the dialler's Paillier key, hexadecimal.
        own_key: fingerprint of this party's Paillier key as the dialler knows it, hexadecimal.
    """

    session_id: bytes
    job_id: str
    job_digest: bytes
    dialler_role: Role
    dialler_key: str
    own_key: str


@dataclass(frozen=True, slots=True)
class Outage:
    """A connection of a session that was cut and has not come back.

    Attributes:
        seconds: for how long by now.
        limit: after how many seconds the session ends.
    """

    seconds: float
    limit: float


class Evidence(Protocol):
    """What one side of a covert run says and keeps of it, as the session needs it."""

    @property
    def commitment(self) -> bytes:
        """To the seed and the part of the coin, which the peer gets first; 64 bytes."""
        ...

    @property
    def public(self) -> bytes:
        """What the peer gets for its randomness once it has committed itself, 16 bytes."""
        ...

    def commit(self, commitment: bytes) -> None:
        """Take in the peer's commitment; raises ProtocolViolation if it has another size."""
        ...

    def give(self, public: bytes) -> None:
        """Take in what the peer gives for this side's randomness; raises as `commit`."""
        ...

    def randomness(self) -> Randomness:
        """The source of all randomness of the run."""
        ...

    def record(self, transport: Transport) -> Transport:
        """The transport, of which all frames are recorded from now on."""
        ...

    def took_key(self) -> None:
        """Note that the run has taken the local Paillier key."""
        ...

    def finish(self, channel: Channel) -> None:
        """Sign the record and end the session in order, as `Channel.finish` does."""
        ...


@dataclass(frozen=True, slots=True)
class SessionTask:
    """What one side does in a session.

    Attributes:
        job_id: the job.
        job_digest: digest of its contract; both sides must name the same one.
        role: this side's role; the peer must have the other.
        run: the work. When it returns, the session says END and waits for the peer's END; when it raises,
            the peer gets the stable code.
        report: called with the progress; may raise to end the session.
        deadline_seconds: the session is ended when it has lasted so long.
        ended: called once when the session is over on this side, with the error or None. Only then is it
            certain that the peer, too, got to the end.
        network: the link by which both sides choose protocols, as the contract says.
        lanes: into how many parts both sides cut large batches, likewise; 1 for no cutting.
        idle: whether it is no job's: it takes no place, begins only while no job runs, and is ended with the
            code `gave-way` as soon as one comes.
        evidence: of a covert job, what is kept of the run; None for others.
    """

    job_id: str
    job_digest: bytes
    role: Role
    run: Callable[[FullSession], None] = field(repr=False)
    report: Report = field(default=_silent, repr=False)
    deadline_seconds: float = 3600.0
    ended: Callable[[DuettoError | None], None] = field(default=_unheard, repr=False)
    network: Network | None = None
    lanes: int = 1
    idle: bool = False
    evidence: Evidence | None = field(default=None, repr=False)


class JobPort(Protocol):
    """The jobs, as the network calls them; of a `DuettoError` raised here the peer gets the stable code."""

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Answer a peer's proposal."""
        ...

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Take note of where a job stands for the peer; answer where it stands here."""
        ...

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        """The local part in the session that `peer` opens.

        Raises:
            DuettoError: there is no such job, or it may not run now.
        """
        ...

    def stop(self) -> None:
        """End all work; the daemon is going down."""
        ...


class PeerPort(Protocol):
    """The peers, as the jobs call them."""

    def names(self) -> tuple[str, ...]:
        """The names of the paired parties."""
        ...

    def public(self, peer: str) -> PeerIdentity:
        """The public keys of a peer.

        Raises:
            ConfigError: no such peer is paired.
        """
        ...

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Send a proposal and return the answer.

        Raises:
            PeerError: of the kind that the failure has; `PeerRefused` carries the peer's code.
        """
        ...

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Tell where a job stands and return where it stands for the peer. Raises as `propose` does."""
        ...

    def run_session(self, peer: str, task: SessionTask) -> None:
        """Dial, agree, run the task in the calling thread and end the session in order.

        Raises:
            DuettoError: what `task.run` raised, or what went wrong with the peer.
        """
        ...

    def cancel_session(self, job_id: str) -> bool:
        """End the running session of a job, whichever side dialled; it raises `Cancelled` there.

        Returns:
            Whether there was one.
        """
        ...

    def outage(self, job_id: str) -> Outage | None:
        """For how long the running session of a job has had no connection; None if it has one."""
        ...

    def is_reversed(self, peer: str) -> bool:
        """Whether a peer cannot be dialled, and keeps a connection open over which it is called."""
        ...

    def give_way(self) -> None:
        """Take note that a job comes: what is done in idle time ends."""
        ...
