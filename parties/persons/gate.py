"""The gate before everything that a person has to sign, once a party has a file of persons.

`Gate.admit` alone makes an `Admitted`, and what acts takes one: a way past the gate does not type-check, and
fails when it runs. Without persons in force an act is admitted without a signature, as names were before.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from commons.logs.lines import canonical
from parties.clock import wall
from parties.errors import ConfigError, PolicyError
from parties.ledger.book import Ledger
from parties.ledger.entries import Entry, LedgerError
from parties.person_roles import PersonRole
from parties.persons.declaration import FILE, Persons, digest_of, parse_persons, read_file
from parties.persons.register import Register, fields_of
from parties.persons.roles import Act, Needed
from parties.persons.shared import policy_digest
from parties.persons.statement import Presented, SignedAct, read_moment
from parties.pki.identity import PeerIdentity
from parties.pki.signing import key_text

FRESH: Final = timedelta(minutes=10)
"""How far the time of a signature may lie from the clock here when it is handed in."""

NO_FILE: Final = f"No {FILE}: names under decisions are as people wrote them."

_STOPS: Final = (Act.DENY, Act.CANCEL)
_MADE: Final = object()
SIGN: Final = "Let a person who may sign it run `duetto person sign --key FILE`, which shows it first."


@dataclass(frozen=True, slots=True)
class Admitted:
    """Leave to act. Only `Gate.admit` makes one.

    Attributes:
        act: what may be done.
        digest: about what, hexadecimal.
        signed: the signature; None where no persons are in force.
    """

    act: Act
    digest: str
    signed: SignedAct | None
    made: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.made is not _MADE:
            raise TypeError("only the gate admits")

    def check(self, act: Act, digest: str) -> None:
        """Check that it is about an act.

        Raises:
            ValueError: it is about another one, which is a defect of the program.
        """
        if (self.act, self.digest) != (act, digest):
            raise ValueError("admitted for another act")


@dataclass(frozen=True, slots=True)
class Approvals:
    """How far the approvals of a contract have come.

    Attributes:
        needed: what the rule asks for.
        names: of the persons whose signatures count, in the order of signing.
        signers: their words in persons.toml.
    """

    needed: Needed
    names: tuple[str, ...]
    signers: tuple[str, ...]

    @property
    def missing(self) -> int:
        """How many are still needed."""
        return max(0, self.needed.count - len(self.names))

    @property
    def text(self) -> str:
        """The same in words."""
        if self.needed.count == 1 and not self.names:
            return f"the approval of a {self.needed.role.value}"
        role, number = self.needed.role.value, self.missing
        more = f"{_NUMBERS.get(number, number)} {'more ' if self.names else ''}{role}{'s' * (number > 1)}"
        verb = "is" if number == 1 else "are"
        so_far = f"{len(self.names)} of {self.needed.count} approvals"
        names = f": {', '.join(self.names)}" if self.names else ""
        return f"{so_far}{names}" + (f"; {more} {verb} needed" if number else "")


_NUMBERS: Final = {1: "one", 2: "two", 3: "three"}


class Gate:
    """What persons have signed at a party, and what follows from it. Thread-safe.

    Args:
        party: its name.
        home: its folder, in which `persons.toml` lies.
        ledger: the local ledger.
    """

    def __init__(self, party: str, home: Path, ledger: Ledger) -> None:
        self.party: Final = party
        self.path: Final = home / FILE
        self._ledger = ledger
        self._lock = threading.Lock()
        self._register = Register(party)

    def register(self) -> Register:
        """What was signed, as the ledger stands now.

        Raises:
            LedgerError: the ledger is broken, or an entry is not validly signed.
        """
        entries = self._ledger.entries()
        with self._lock:
            self._register = self._register.follow(entries)
            return self._register

    @property
    def is_likely(self) -> bool:
        """Whether acts have to be signed, as far as is known without reading the ledger; decides nothing."""
        return self.path.exists() or self._register.persons is not None

    def persons(self) -> Persons | None:
        """The persons by whose keys acts are signed now; None if names are as people write them.

        Raises:
            ConfigError: the file is missing though it was in force, or is another one than was signed.
            LedgerError: as `register`.
        """
        return self._look()[0]

    def text_in_force(self) -> str:
        """The text of the persons.toml in force, by the ledger; empty if none is. Raises as `register`."""
        return self.register().text

    def _look(self) -> tuple[Persons | None, Register]:
        """The persons, and the register by which they are in force. Raises as `persons`."""
        data, register = read_file(self.path), self.register()
        if data is None and register.persons is None:
            return None, register
        if data is None:
            raise ConfigError(
                f"{self.path} is missing, and the ledger says that acts here are signed by persons.",
                "Bring the file back; `duetto person restore` writes the one that is in force.",
            )
        if digest_of(data).hex() != register.in_force(Act.PERSONS):
            parse_persons(data)
            if register.persons is None:
                raise ConfigError(f"Nobody has signed {self.path} yet, so it is not in force.", SIGN)
            raise ConfigError(
                f"{self.path} {_why_unsigned(register, Act.PERSONS, digest_of(data).hex(), 'changed')}.",
                f"{SIGN} `duetto person restore` brings back the one in force.",
            )
        return register.persons, register

    def admit(self, act: Act, digest: str, peer: str = "", presented: Presented | None = None) -> Admitted:
        """Leave to do an act now.

        Args:
            act: the act.
            digest: about what, hexadecimal.
            peer: with or about which peer.
            presented: the signature that was handed in; None if none was.

        Raises:
            PolicyError: persons are in force, and it is not signed by one who may do it (code `person`).
            ConfigError: as `persons`.
            LedgerError: as `register`.
        """
        try:
            persons, register = self._look()
        except LedgerError:
            # A broken ledger runs no job, and nobody is kept from stopping one.
            if act not in _STOPS or self.is_likely:
                raise
            return Admitted(act, digest, None, _MADE)
        if persons is None:
            return Admitted(act, digest, None, _MADE)
        if presented is not None:
            check_fresh(presented)
            signed = register.admit(act, peer, digest, presented)
            return Admitted(act, digest, signed, _MADE)
        raise PolicyError(
            f"At {self.party} a person has to sign this ({act.value}), and no signature was given.",
            "Give your key to the command, such as `duetto job approve ID --key FILE`; `duetto person list` "
            "shows who has one.",
            code="person",
        )

    def keep(self, admitted: Admitted) -> Entry | None:
        """Write a signature into the ledger, before what it allows is done; None if there is none.

        Raises:
            PolicyError: it was used meanwhile, or the persons in force are others by now.
            LedgerError: the ledger is broken or cannot be written.
        """
        if admitted.signed is None:
            return None
        return self.write(admitted.signed)

    def write(self, signed: SignedAct, document: bytes = b"") -> Entry:
        """Write a signed act that holds against the ledger as it stands. Raises as `keep`."""
        said = signed.statement
        given = Presented(said.person, said.behalf, said.moment, signed.key.text, signed.signature)

        def check(entries: Sequence[Entry]) -> None:
            with self._lock:
                self._register = register = self._register.follow(entries)
            register.admit(said.act, said.peer, said.digest, given, document=document)

        return self._ledger.sign(fields_of(signed, document.decode()), check)

    # What has to be signed before jobs run

    def require(self, act: Act, digest: str, what: str, about: str = "") -> None:
        """Do nothing if a version is in force, or no persons are.

        Args:
            act: a standing act.
            digest: of the version, hexadecimal.
            what: how the error calls it, such as `policy.toml`.
            about: the peer of a pin.

        Raises:
            PolicyError: nobody has signed it.
            ConfigError: as `persons`.
            LedgerError: as `register`.
        """
        persons, register = self._look()
        known = register.in_force(act, about)
        if persons is None or known == digest:
            return
        raise PolicyError(f"{what} {_why_unsigned(register, act, digest, known)}.", SIGN)

    def require_policy(self, data: bytes) -> None:
        """The same for the bytes of the policy."""
        self.require(Act.POLICY, policy_digest(data), "policy.toml")

    def require_peer(self, peer: PeerIdentity) -> None:
        """The same for the keys of a peer."""
        self.require(Act.PIN, pin_digest(peer), f"The key of the peer {peer.name!r}", peer.name)

    # Approvals

    def in_role(self, role: PersonRole) -> frozenset[str]:
        """The words of those in a role. Raises as `persons`."""
        persons = self.persons()
        everybody = persons.persons.items() if persons is not None else ()
        return frozenset(word for word, one in everybody if role in one.roles)

    def approvals(self, digests: Sequence[str], needed: Needed, days: int) -> Approvals:
        """Whose signatures count as approvals of a contract now.

        A person counts once, by whatever key and for whomever signed; and only while that person is in
        persons.toml in the role and with that key. So a key in other hands counts no more once it is
        replaced, and no key counts for two who have changed their words.

        Args:
            digests: of the contract, complete and as a draft, hexadecimal.
            needed: what the rule asks for.
            days: how long a signature counts.
        """
        persons, register = self._look()
        since = self._ledger.clock.now() - timedelta(days=days)
        names: dict[str, str] = {}
        for signed in (one for digest in digests for one in register.decisions(digest)):
            said, held = signed.statement, persons.find(signed.key) if persons is not None else None
            is_late = read_moment(said.moment) < since
            if said.act is not Act.APPROVE or is_late or held is None:
                continue
            word, person = held
            if word == said.person and needed.role in person.roles:
                names.setdefault(word, signed.name)
        return Approvals(needed, tuple(names.values()), tuple(names))


def _why_unsigned(register: Register, act: Act, digest: str, known: str) -> str:
    """Why a version is not in force, to follow its name; `known` is not empty where another one is."""
    found = register.waiting(act, digest)
    if found:
        so_far = f"{len(found)} of {register.signatures_needed(act)} stewards"
        return f"was changed, and is signed by {so_far} until now: {', '.join(found.values())}"
    return "was changed since it was signed" if known else "is not signed"


def pin_digest(peer: PeerIdentity) -> str:
    """What is signed of a peer, hexadecimal: its name and the keys by which it is known.

    Its TLS certificate is not among them: a renewed one is taken only with the peer's own signature.
    """
    known = {"name": peer.name, "signing": key_text(peer.signing), "paillier": peer.paillier.fingerprint}
    return digest_of(canonical(known)).hex()


def text_digest(text: str) -> str:
    """What is signed of a text such as a job file, hexadecimal."""
    return digest_of(text.encode()).hex()


def prune_digest(days: int) -> str:
    """What is signed of deleting results that are older."""
    return text_digest(f"results older than {days} days")


def check_fresh(presented: Presented) -> None:
    """Check that a signature was made just now.

    Raises:
        PolicyError: its time is not within `FRESH` of this machine's (code `person`).
    """
    try:
        apart = abs(wall() - read_moment(presented.moment))
    except ValueError:
        apart = 2 * FRESH
    if apart > FRESH:
        raise PolicyError(
            "The signature is not of the last ten minutes by the clock of this machine.",
            "Sign again; if it goes on, set the clocks.",
            code="person",
        )
