"""What both sides agree on before a session moves data.

    dialler                                                   listener
      versions, parameters, nonce, job, role, keys,
      ledgers [commitment]                          -------->   checks, finds the job
                                                    <--------   version, nonce, session id, ledgers
                                                                [commitment, bytes for the dialler's seed]
      checks the session id and the ledgers         -------->   session id again, ledgers as of now
                                                                [bytes for the listener's seed]
      (frames)                                     <------->    checks the ledgers; (frames)

What stands in brackets is said where the job is covert: each side commits itself to its seed before it hears
what the other gives for it.

The session id is a digest over everything said before it and over both names, so both sides know that they
mean the same session. Until the answer has come a cut connection ends the attempt, and from there on the
session goes on over another (`parties.session.resuming`). A side that says no sends a code and ends the
stream. Of the ledgers each says which head its own has and which it has seen of the other's: see
`parties.ledger.heads`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.errors import JobError, PairingError, PeerRefused
from parties.ledger.heads import Heads, Statement
from parties.ports.interfaces import SessionHeader, SessionTask
from parties.ports.terms import Terms, digest
from parties.rpc.packets import to_word
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.refusal import code_of, refusal_error
from parties.rpc.stream import PacketStream
from smc.errors import DuettoError, PeerError, PeerLost, ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness

OPENING_SECONDS = 5.0
"""How long the listener waits for a peer to say which job it means."""

HANDSHAKE_SECONDS = 15.0
"""How long either side waits for the packets of the handshake after that."""

_NONCE_BYTES = 32
_DIGEST_BYTES = 32
_JOB_ID = re.compile(r"[a-z0-9-]{1,64}")
_AGAIN = "Pair the two parties again, both ways."
_NOT_COVERT = "The peer commits itself in a job that is not covert."

Accept = Callable[[SessionHeader], SessionTask]

Endure = Callable[[bytes, bytes, pb.Packet | None], None]
"""Lets the stream outlive its call: called with session id, resume token and a packet to be sent before."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Who the two ends are.

    Attributes:
        own: this party's name.
        own_key: fingerprint of the local Paillier key, hexadecimal.
        peer: the peer's name.
        peer_key: fingerprint of its Paillier key as it was paired, hexadecimal.
        terms: the local versions and parameters.
        peer_signing: checks the peer's signatures.
        heads: what is said and kept of ledgers; None where neither side spends anything.
    """

    own: str
    own_key: str
    peer: str
    peer_key: str
    terms: Terms
    peer_signing: Ed25519PublicKey = field(repr=False)
    heads: Heads | None = field(default=None, repr=False)


def dial(
    stream: PacketStream, sides: Endpoints, task: SessionTask, random: Randomness, endure: Endure
) -> None:
    """Agree on a session as the side that dialled.

    Args:
        stream: the stream, on which nothing was said yet.
        sides: who the two ends are.
        task: the local part.
        random: the source of randomness.
        endure: lets the stream outlive its call.

    Raises:
        PeerRefused: the listener does not take part; `VersionMismatch` if the versions differ.
        LedgerError: a ledger was restored from an old copy; the listener has got the code.
        ProtocolViolation: its answer is not what the protocol demands.
        PeerLost: it is gone or silent.
    """
    opening = pb.Opening(
        oldest_version=sides.terms.oldest,
        newest_version=sides.terms.newest,
        parameters=sides.terms.parameters,
        nonce=random.bytes(_NONCE_BYTES),
        job_id=task.job_id,
        job_digest=task.job_digest,
        role=task.role.value,
        dialler_key=bytes.fromhex(sides.own_key),
        listener_key=bytes.fromhex(sides.peer_key),
    )
    if task.evidence is not None:
        opening.commitment = task.evidence.commitment
    said = _speak(sides, opening.ledgers)
    stream.send(pb.Packet(opening=opening))
    try:
        confirm = _await_answer(stream, sides, opening, said, task, endure)
    except DuettoError as error:
        _refuse(stream, error.stable_code)
        raise
    stream.send(pb.Packet(confirm=confirm))


def _await_answer(
    stream: PacketStream,
    sides: Endpoints,
    opening: pb.Opening,
    said: Statement | None,
    task: SessionTask,
    endure: Endure,
) -> pb.Confirm:
    """Wait for the answer and check it; returns what confirms it."""
    packet = to_word(stream.receive(HANDSHAKE_SECONDS))
    content = packet.WhichOneof("content")
    if content == "refusal":
        raise _refusal(sides, packet.refusal.code)
    if content != "answer":
        raise ProtocolViolation(
            f"An answer to the opening was expected, but the peer sent {content or 'nothing'}."
        )
    answer = packet.answer
    if not sides.terms.oldest <= answer.version <= sides.terms.newest or len(answer.nonce) != _NONCE_BYTES:
        raise ProtocolViolation("The peer's answer to the opening is malformed.")
    session_id = _session_id(opening, answer, sides.own, sides.peer)
    if answer.session_id != session_id:
        raise ProtocolViolation("The two sides disagree on the session.", "Submit the job again.")
    _check_own_ledger(sides, answer.ledgers)
    _check_peer_ledger(sides, answer.ledgers, said)
    confirm = pb.Confirm(session_id=session_id)
    if task.evidence is not None:
        task.evidence.commit(answer.commitment)
        task.evidence.give(answer.public)
        confirm.public = task.evidence.public
    elif answer.commitment or answer.public:
        raise ProtocolViolation(_NOT_COVERT)
    _speak(sides, confirm.ledgers)
    endure(session_id, _token(opening, answer), None)
    return confirm


def first(stream: PacketStream) -> pb.Packet:
    """The first packet of a peer that has dialled.

    Raises:
        DuettoError: none came in time, or an empty one, or a frame; the peer has got the code.
    """
    try:
        return to_word(stream.receive(OPENING_SECONDS))
    except DuettoError as error:
        _refuse(stream, error.stable_code)
        raise


def listen(
    stream: PacketStream,
    sides: Endpoints,
    accept: Accept,
    random: Randomness,
    *,
    opened: pb.Packet,
    endure: Endure,
) -> SessionTask:
    """Agree on a session as the side that was dialled.

    Args:
        stream: the stream, of which the first packet was read.
        sides: who the two ends are.
        accept: finds the local part in the session.
        random: the source of randomness.
        opened: the first packet.
        endure: lets the stream outlive its call.

    Raises:
        DuettoError: the session does not come about; the dialler has got the code.
    """
    try:
        opening = _opening(opened)
        version = sides.terms.agree(Terms(opening.oldest_version, opening.newest_version, opening.parameters))
        answer = pb.Answer(version=version, nonce=random.bytes(_NONCE_BYTES))
        said = _speak(sides, answer.ledgers)
        answer.session_id = _session_id(opening, answer, sides.peer, sides.own)
        header = _header(opening, answer.session_id)
        _check_keys(header, sides)
        _check_own_ledger(sides, opening.ledgers)
        task = accept(header)
        if task.job_digest != header.job_digest or task.role is not header.dialler_role.other:
            raise JobError(
                "The peer means another job or another role by the name of this job.", code="job-differs"
            )
        if task.evidence is not None:
            task.evidence.commit(opening.commitment)
            answer.commitment, answer.public = task.evidence.commitment, task.evidence.public
        elif opening.commitment:
            raise ProtocolViolation(_NOT_COVERT)
    except Exception as error:
        code = code_of(error, f"Session with {sides.peer} refused", peer=sides.peer)
        _refuse(stream, code)
        if isinstance(error, DuettoError):
            raise
        raise DuettoError(
            "A session was refused because of a defect of the program.",
            "The daemon's log names the place; report it.",
            code=code,
        ) from None
    try:
        endure(answer.session_id, _token(opening, answer), pb.Packet(answer=answer))
        packet = to_word(stream.receive(HANDSHAKE_SECONDS))
        if packet.WhichOneof("content") == "refusal":
            raise _refusal(sides, packet.refusal.code)
        if packet.WhichOneof("content") != "confirm" or packet.confirm.session_id != answer.session_id:
            raise ProtocolViolation("The two sides disagree on the session.")
        _check_own_ledger(sides, packet.confirm.ledgers)
        _check_peer_ledger(sides, packet.confirm.ledgers, said)
        if task.evidence is not None:
            task.evidence.give(packet.confirm.public)
    except DuettoError as error:
        if not isinstance(error, PeerRefused | PeerLost):
            _refuse(stream, error.stable_code)
        task.ended(error)
        raise
    return task


def _opening(packet: pb.Packet) -> pb.Opening:
    if packet.WhichOneof("content") != "opening":
        raise ProtocolViolation("A session has to begin with an opening.")
    return packet.opening


def _header(opening: pb.Opening, session_id: bytes) -> SessionHeader:
    sizes = (opening.job_digest, opening.dialler_key, opening.listener_key)
    roles = {role.value: role for role in Role}
    if (
        len(opening.nonce) != _NONCE_BYTES
        or any(len(size) != _DIGEST_BYTES for size in sizes)
        or not _JOB_ID.fullmatch(opening.job_id)
        or opening.role not in roles
    ):
        raise ProtocolViolation("A field of the peer's opening is malformed.")
    return SessionHeader(
        session_id=session_id,
        job_id=opening.job_id,
        job_digest=opening.job_digest,
        dialler_role=roles[opening.role],
        dialler_key=opening.dialler_key.hex(),
        own_key=opening.listener_key.hex(),
    )


def _check_keys(header: SessionHeader, sides: Endpoints) -> None:
    if header.dialler_key != sides.peer_key:
        raise PairingError(f"{sides.peer} uses another Paillier key than was paired.", _AGAIN, code="keys")
    if header.own_key != sides.own_key:
        raise PairingError(f"{sides.peer} knows another Paillier key of this party.", _AGAIN, code="keys")


def _speak(sides: Endpoints, ledgers: pb.Ledgers) -> Statement | None:
    """Write this party's word about both ledgers into a packet that is to be sent, and return it."""
    if sides.heads is None:
        return None
    said = sides.heads.statement(sides.peer)
    ledgers.MergeFrom(pb.Ledgers(own=said.own, seen=said.seen, signature=said.signature))
    return said


def _check_own_ledger(sides: Endpoints, heard: pb.Ledgers) -> None:
    """Check that the local ledger holds what the peer has seen of it."""
    if sides.heads is not None:
        sides.heads.check_own(sides.peer, sides.peer_signing, _statement(heard))


def _check_peer_ledger(sides: Endpoints, heard: pb.Ledgers, said: Statement | None) -> None:
    """Check that the peer's ledger has not gone back, after `_check_own_ledger`.

    Args:
        sides: who the two ends are.
        heard: what the peer says now.
        said: what it had heard in this session before it said that.
    """
    if sides.heads is not None and said is not None:
        sides.heads.check_peer(sides.peer, _statement(heard), said)


def _refusal(sides: Endpoints, code: str) -> PeerError:
    """The error for a refusal; one for a ledger is noted."""
    if sides.heads is not None:
        sides.heads.heard_refusal(sides.peer, code)
    return refusal_error(sides.peer, code)


def _statement(heard: pb.Ledgers) -> Statement:
    return Statement(heard.own, heard.seen, heard.signature)


def _refuse(stream: PacketStream, code: str) -> None:
    try:
        stream.send(pb.Packet(refusal=pb.Refusal(code=code)), last=True)
    except PeerLost:
        return


def _session_id(opening: pb.Opening, answer: pb.Answer, dialler: str, listener: str) -> bytes:
    return digest(
        b"duetto session",
        opening.SerializeToString(deterministic=True),
        str(answer.version).encode(),
        answer.nonce,
        answer.ledgers.SerializeToString(deterministic=True),
        dialler.encode(),
        listener.encode(),
    )


def _token(opening: pb.Opening, answer: pb.Answer) -> bytes:
    """What only the two ends of the session can know: both nonces went over their connection alone."""
    return digest(b"duetto resume", opening.nonce, answer.nonce, answer.session_id)
