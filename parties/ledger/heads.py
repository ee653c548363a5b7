"""The heads of both ledgers, shown at the beginning of every session, so that an old copy is noticed.

    one side                                          other side
      own head, newest head seen of yours  -------->    is what was seen in its ledger?
      is what was seen in its ledger?      <--------    own head, newest head seen of yours

A party whose ledger lacks what its peer has seen was restored from an old copy: it computes with nobody
until the newest copy is back. What a side says is signed and kept by the other, as evidence.

Sessions overlap, so a statement that was made before an entry may be read after another session has shown
that entry. A statement is therefore compared only with what its reader had seen before the speaker could
make it: the reader's own statement, to which the speaker's is the reply, says how much that was.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from commons.logs.lines import GENESIS
from parties.ledger import doubts
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.doubts import Doubt, Notes, Whose
from parties.ledger.entries import HEAD_BYTES, NOTHING, LedgerError, pack, unpack
from parties.pki.files import PRIVATE, write_atomically
from parties.pki.signing import SigningKey
from smc.errors import ProtocolViolation

FILE: Final = "heads.json"
SIGNATURE_BYTES: Final = 64

_DOMAIN = b"duetto ledger heads v1\0"
_HEAD = re.compile(rf"[0-9a-f]{{{2 * HEAD_BYTES}}}")
_SIGNATURE = re.compile(rf"[0-9a-f]{{{2 * SIGNATURE_BYTES}}}")
_LOG = logging.getLogger("duetto.ledger")


@dataclass(frozen=True, slots=True)
class Statement:
    """One party's word about both ledgers.

    Attributes:
        own: number (8 bytes, big-endian) and hash (32 bytes) of the last entry of its ledger; zeros if it
            has none.
        seen: the same of the newest entry of the receiver's ledger that it has seen.
        signature: its Ed25519 signature, 64 bytes.
    """

    own: bytes
    seen: bytes
    signature: bytes = field(repr=False)

    def is_by(self, speaker: str, hearer: str, key: Ed25519PublicKey) -> bool:
        """Whether the holder of a key has said it, as the party `speaker` to the party `hearer`."""
        try:
            key.verify(self.signature, _signed_text(speaker, hearer, self.own, self.seen))
        except InvalidSignature:
            return False
        return True


class Heads:
    """What a party says of its ledger and keeps of its peers'. Thread-safe; one process.

    Args:
        name: this party's name.
        signing: this party's signing key.
        ledger: the local ledger.
        path: the file in which the heads of the peers are kept; notes of refused sessions lie beside it.
    """

    def __init__(self, name: str, signing: SigningKey, ledger: Ledger, path: Path) -> None:
        self._name = name
        self._signing = signing
        self._ledger = ledger
        self._path = path
        self._notes = Notes(path.with_name(doubts.FILE))
        self._lock = threading.Lock()

    def statement(self, peer: str) -> Statement:
        """What the peer gets.

        Raises:
            LedgerError: the local ledger is broken, or the kept heads are.
        """
        head = self._ledger.head()
        own = pack(head.sequence, head.hash) if head else pack(*NOTHING)
        seen = pack(*self.newest_seen(peer))
        return Statement(own, seen, self._signing.sign(_signed_text(self._name, peer, own, seen)))

    def check_own(self, peer: str, key: Ed25519PublicKey, said: Statement) -> None:
        """Check what a peer says of the local ledger.

        Raises:
            LedgerError: the local ledger lacks an entry that the peer has seen.
            ProtocolViolation: the statement is malformed or not signed by the peer.
        """
        if (len(said.own), len(said.seen)) != (HEAD_BYTES, HEAD_BYTES):
            raise ProtocolViolation(f"What {peer} says of the ledgers is malformed.")
        if not said.is_by(peer, self._name, key):
            raise ProtocolViolation(f"What {peer} says of the ledgers is not signed by it.")
        if any(said.seen):
            try:
                self._ledger.require(*unpack(said.seen))
            except LedgerError as error:
                _LOG.error("session with %(peer)s refused: %(error)s", {"peer": peer, "error": error})
                self._note(peer, Whose.OWN)
                raise

    def check_peer(self, peer: str, said: Statement, before: Statement) -> None:
        """Check that the peer's ledger has not gone back, and keep its head if it is the newest.

        Args:
            peer: the peer.
            said: its statement, of which `check_own` has been passed.
            before: this party's statement of the same session that the peer had when it made `said`.

        Raises:
            LedgerError: it is older than what had been seen of it, or it has another entry in the place of
                one that was seen (code `peer-ledger`); or the head cannot be kept.
        """
        head = unpack(said.own)
        with self._lock:
            newest = self.newest_seen(peer)
            for seen in (unpack(before.seen), newest):
                forked = head[0] == seen[0] and seen[1] not in (GENESIS, head[1])
                if forked or head[0] < unpack(before.seen)[0]:
                    _LOG.error(
                        "session refused: the ledger of %(peer)s lacks entry %(entry)d, seen before",
                        {"peer": peer, "entry": seen[0]},
                    )
                    self._notes.add(peer, Whose.PEER)
                    raise LedgerError(
                        f"The ledger of {peer!r} is older than what this party has seen of it.",
                        "Ask that party to bring back the newest copy of its ledger.",
                        code="peer-ledger",
                    )
            if head > newest:
                self._keep(peer, said)
            self._notes.clear(peer)

    def heard_refusal(self, peer: str, code: str) -> None:
        """Note that the peer has refused a session, if it was for a ledger.

        Args:
            peer: the peer.
            code: its code.
        """
        whose = {"ledger": Whose.PEER, "peer-ledger": Whose.OWN}.get(code)
        if whose is not None:
            self._note(peer, whose)

    def newest_seen(self, peer: str) -> tuple[int, str]:
        """Number and hash of the newest entry of the peer's ledger that this party has seen.

        Raises:
            LedgerError: the local ledger or the file of the heads is broken.
        """
        kept = read_statements(self._path).get(peer)
        found = [unpack(kept.own)] if kept else []
        return max([*found, self._ledger.last_seen(peer) or NOTHING])

    def _note(self, peer: str, whose: Whose) -> None:
        with self._lock:
            self._notes.add(peer, whose)

    def _keep(self, peer: str, said: Statement) -> None:
        kept = read_statements(self._path) | {peer: said}
        document = {
            name: {part: getattr(one, part).hex() for part in ("own", "seen", "signature")}
            for name, one in kept.items()
        }
        text = json.dumps(document, indent=1, sort_keys=True)
        try:
            write_atomically(self._path, text.encode() + b"\n", PRIVATE)
        except OSError as problem:
            raise _broken_error(self._path, type(problem).__name__) from None


def read_statements(path: Path) -> dict[str, Statement]:
    """The newest statements of the peers, by their names, as they are kept; none if there is no file.

    Raises:
        LedgerError: the file cannot be read or holds something else.
    """
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise _broken_error(path, type(problem).__name__) from None
    if not isinstance(document, dict) or not all(map(_is_statement, document.values())):
        raise _broken_error(path, "it holds something else")
    return {
        name: Statement(**{part: bytes.fromhex(text) for part, text in entry.items()})
        for name, entry in document.items()
    }


def ledger_doubts(ledger: Ledger) -> list[Doubt]:
    """Whose ledgers stand against jobs: by the signed words that are kept, and the notes of refused sessions.

    Args:
        ledger: the local ledger; heads and notes lie beside it.

    Raises:
        LedgerError: the ledger or the file of the heads is broken.
    """
    home = ledger.path.parent
    found = {peer: Doubt.note(peer, whose) for peer, whose in Notes(home / doubts.FILE).all().items()}
    for peer, word in read_statements(home / FILE).items():
        if any(word.seen):
            try:
                ledger.require(*unpack(word.seen))
            except LedgerError as error:
                what = f"By the signed word of {peer}: {error.what} Jobs with {peer} are refused."
                found[peer] = Doubt(peer, Whose.OWN, what, error.hint)
    return [found[peer] for peer in sorted(found)]


def open_heads(home: Path, name: str, signing: SigningKey, ledger: Ledger | None = None) -> Heads:
    """What the party of that folder, name and key says and keeps of ledgers."""
    return Heads(name, signing, ledger or open_ledger(home), home / FILE)


def _signed_text(speaker: str, hearer: str, own: bytes, seen: bytes) -> bytes:
    names = [name.encode() for name in (speaker, hearer)]
    return _DOMAIN + b"".join(len(name).to_bytes(4, "big") + name for name in names) + own + seen


def _broken_error(path: Path, why: str) -> LedgerError:
    return LedgerError(
        f"The heads of the peers' ledgers in {path.name} cannot be read or written: {why}.",
        "Restore the file, or delete it; the ledger itself remembers what the peers have signed.",
    )


def _is_statement(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and set(entry) == {"own", "seen", "signature"}
        and all(isinstance(value, str) for value in entry.values())
        and all(_HEAD.fullmatch(entry[name]) is not None for name in ("own", "seen"))
        and _SIGNATURE.fullmatch(entry["signature"]) is not None
    )
