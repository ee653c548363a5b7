"""What persons have signed, out of the entries of the ledger: each signature is checked as it is read.

An entry counts only if its signature is by a key of the file of persons that was in force before it, and
that person was allowed the act. So whoever writes into the ledger or changes a file gains nothing by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Final

from commons.logs.lines import START, Link
from parties.errors import ConfigError, PolicyError
from parties.ledger.entries import SIGNED, Entry, LedgerError
from parties.person_roles import PersonRole
from parties.persons.declaration import DeclaredPerson, Persons, digest_of, parse_persons
from parties.persons.keys import PersonKey
from parties.persons.roles import MEANING, Act, holders
from parties.persons.shared import SHARED, read_count
from parties.persons.statement import PersonStatement, Presented, SignedAct, check_signed, read_moment

STANDING = (Act.PERSONS, Act.POLICY, Act.PIN, Act.POOLS)
"""Acts that put something into force until the next one about the same thing."""

TOGETHER_DAYS: Final = 30
"""Within so many days those sign who put a version into force together."""

_ROLE_CODE = "person"


class Register:
    """What persons have signed so far.

    Args:
        party: whose ledger it is; each signature names it.
        entries: the first entries, in their order.

    Raises:
        LedgerError: a signature among them is not valid, or not by somebody who was allowed it.
    """

    def __init__(self, party: str, entries: Iterable[Entry] = ()) -> None:
        self._party = party
        self._persons: Persons | None = None
        self._standing: dict[tuple[Act, str], Entry] = {}
        self._waiting: dict[Act, list[SignedAct]] = defaultdict(list)
        self._statements: set[bytes] = set()
        self._decided: dict[str, list[SignedAct]] = defaultdict(list)
        self._last: Link = START
        self.signed = 0
        self.add(entries)

    @property
    def persons(self) -> Persons | None:
        """The persons in force; None before a first file was signed."""
        return self._persons

    @property
    def text(self) -> str:
        """The text of the file of persons in force; empty before a first was signed."""
        entry = self._standing.get((Act.PERSONS, ""))
        return entry.text if entry is not None else ""

    def follow(self, entries: Sequence[Entry]) -> Register:
        """The register of a ledger that is this one's, with entries more; a new one if it is another."""
        number, last = self._last
        if number >= len(entries) or (number >= 0 and entries[number].hash != last):
            return Register(self._party, entries)
        self.add(entries[number + 1 :])
        return self

    def add(self, entries: Iterable[Entry]) -> None:
        """Take up the next entries. Raises as the class does."""
        for entry in entries:
            if entry.event == SIGNED:
                self._take(entry)
            self._last = entry.link

    def in_force(self, act: Act, about: str = "") -> str:
        """The digest of what a standing act has put into force, hexadecimal; empty if nothing was.

        Args:
            act: one of `STANDING`.
            about: the peer of a pin.
        """
        entry = self._standing.get((act, about))
        return entry.job if entry is not None else ""

    def before(self, act: Act, about: str = "") -> str:
        """The hash of the entry that put it into force: what the next statement about it has as `after`."""
        entry = self._standing.get((act, about))
        return entry.hash if entry is not None else ""

    def signatures_needed(self, act: Act) -> int:
        """How many stewards have to sign a standing act before it is in force; 1 for anybody who may."""
        entry = self._standing.get((Act.POLICY, ""))
        return read_count(entry.job) if act in SHARED and entry is not None else 1

    def waiting(self, act: Act, digest: str) -> dict[str, str]:
        """Who has signed a version that needs further signatures: names by the words for the persons.

        Args:
            act: one of `SHARED`.
            digest: of the version, hexadecimal.
        """
        return {
            one.statement.person: one.name for one in self._waiting[act] if one.statement.digest == digest
        }

    def decisions(self, digest: str) -> tuple[SignedAct, ...]:
        """What was signed about a contract with that digest, hexadecimal, in order."""
        return tuple(self._decided.get(digest, ()))

    def admit(
        self, act: Act, peer: str, digest: str, presented: Presented, *, document: bytes = b""
    ) -> SignedAct:
        """Check a signature for an act that is about to be done.

        Args:
            act: the act.
            peer: with or about which peer.
            digest: of what is done, hexadecimal.
            presented: what was handed in.
            document: for `PERSONS`, the file that is put into force.

        Raises:
            PolicyError: it is not by somebody who may do it now, or is not about this act (code `person`).
            ConfigError: the document is not a valid file of persons.
        """
        after = self.before(act, peer) if act in STANDING else ""
        statement = PersonStatement(
            act, self._party, peer, digest, presented.person, presented.behalf, presented.moment, after
        )
        try:
            day = read_moment(presented.moment).date()
        except ValueError:
            raise _refusal("The signature has no time.", "Sign again with this release.") from None
        persons = self._persons
        if persons is None:
            if act is not Act.PERSONS:
                raise _refusal(
                    "Nobody's key is in force yet.", "Sign the first persons.toml with `duetto person sign`."
                )
            persons = parse_persons(document)
        word, person = self._signer(persons, presented)
        _check_present(word, person, day)
        _check_may(word, person, act)
        if presented.behalf:
            _check_delegate(persons, word, presented.behalf, act, day)
        if act in SHARED:
            self._check_together(act, digest, word, person, document)
        if statement.text in self._statements:
            raise _refusal("This signature was used before.", "Sign once more for another act.")
        signed = check_signed(statement, person.name, PersonKey.parse(presented.key), presented.signature)
        if signed is None:
            raise _refusal(
                f"The signature of {person.name} is not valid for this act at {self._party}: something else "
                "was signed, or what it is about has changed since.",
                "Look at it again, and sign what is shown now.",
            )
        return signed

    def _check_together(
        self, act: Act, digest: str, word: str, person: DeclaredPerson, document: bytes
    ) -> None:
        """Check that a signature counts among those that are needed, and that there can be so many again."""
        needed = self.signatures_needed(act)
        if needed > 1 and PersonRole.STEWARD not in person.roles:
            raise _refusal(
                f"{person.name} is no steward, and a rule in force asks for {needed} persons: then {needed} "
                f"stewards sign to {MEANING[act]}.",
                "Let the stewards sign.",
            )
        if word in self.waiting(act, digest):
            raise _refusal(
                f"{person.name} has signed this already, and {needed} stewards have to.",
                "Let another steward sign.",
            )
        after = parse_persons(document) if act is Act.PERSONS else self._persons
        count = needed if act is Act.PERSONS else read_count(digest)
        stewards = sum(PersonRole.STEWARD in one.roles for one in after.persons.values()) if after else 0
        if count > max(1, stewards):
            raise _refusal(
                f"A rule asks for {count} persons, so {count} stewards have to sign changes of persons and "
                f"policy; there would be {stewards}, and nobody could change anything any more.",
                "Let there be more stewards in persons.toml first, or ask for fewer persons in policy.toml.",
            )

    def _signer(self, persons: Persons, presented: Presented) -> tuple[str, DeclaredPerson]:
        found = None
        if presented.key:
            try:
                found = persons.find(PersonKey.parse(presented.key))
            except ConfigError:
                found = None
        if found is None or found[0] != presented.person:
            raise _refusal(
                "The signature is by a key that persons.toml gives to nobody of that name."
                if presented.key
                else "This needs the signature of a person, and none was given.",
                "Sign with --key FILE, your own key file; `duetto person list` shows whose are in force.",
            )
        return found

    def _take(self, entry: Entry) -> None:
        try:
            act = Act(entry.act)
            document = entry.text.encode()
            presented = Presented(
                entry.person, entry.behalf, entry.moment, entry.key, bytes.fromhex(entry.signature)
            )
            if act in STANDING and entry.subject != self.before(act, entry.peer):
                raise ValueError("does not follow the version before")
            if act is Act.PERSONS and digest_of(document).hex() != entry.job:
                raise ValueError("is about another text")
            signed = self.admit(act, entry.peer, entry.job, presented, document=document)
            if signed.name != entry.actor:
                raise ValueError("names another person")
            persons = parse_persons(document) if act is Act.PERSONS else None
        except (ValueError, PolicyError, ConfigError) as problem:
            why = str(getattr(problem, "what", problem)).rstrip(".")
            raise LedgerError(
                f"Entry {entry.sequence} of the ledger is not validly signed by a person: {why}.",
                "Somebody has written into the ledger. Compare it with a backup; do not edit it.",
            ) from None
        self._statements.add(signed.statement.text)
        self.signed += 1
        if act not in STANDING:
            self._decided[entry.job].append(signed)
        elif self._is_enough(act, signed):
            self._standing[act, entry.peer] = entry
            if persons is not None:
                self._persons = persons
                self._waiting.clear()

    def _is_enough(self, act: Act, signed: SignedAct) -> bool:
        """Whether a version is in force by a further signature; else it waits for more."""
        needed = self.signatures_needed(act)
        if needed == 1:
            return True
        since = read_moment(signed.statement.moment) - timedelta(days=TOGETHER_DAYS)
        mine = [one for one in self._waiting[act] if read_moment(one.statement.moment) >= since]
        self._waiting[act] = [*mine, signed]
        if len(self.waiting(act, signed.statement.digest)) < needed:
            return False
        self._waiting[act].clear()
        return True


def fields_of(signed: SignedAct, document: str = "") -> dict[str, str]:
    """The fields of the entry of the ledger that keeps a signed act."""
    said = signed.statement
    return {
        "job": said.digest,
        "peer": said.peer,
        "act": said.act.value,
        "actor": signed.name,
        "person": said.person,
        "behalf": said.behalf,
        "key": signed.key.text,
        "moment": said.moment,
        "signature": signed.signature.hex(),
        "subject": said.after,
        "text": document,
    }


def statement_of(entry: Entry, party: str) -> PersonStatement:
    """The statement that an entry `signed` keeps.

    Raises:
        ValueError: its act is unknown.
    """
    return PersonStatement(
        Act(entry.act),
        party,
        entry.peer,
        entry.job,
        entry.person,
        entry.behalf,
        entry.moment,
        entry.subject,
    )


def _check_present(word: str, person: DeclaredPerson, day: date) -> None:
    if not person.is_valid(day):
        raise _refusal(
            f"The keys of {person.name} are valid until {person.until} only.",
            f"Let a steward or an operator move until below [persons.{word}].",
        )
    absence = person.absence(day)
    if absence is not None:
        raise _refusal(
            f"{person.name} is absent from {absence.begin} until {absence.end} and signs nothing meanwhile.",
            f"Let {absence.delegate or 'somebody else'} sign, or end the absence in persons.toml.",
        )


def _check_may(word: str, person: DeclaredPerson, act: Act) -> None:
    if not person.may(act):
        roles = " and ".join(sorted(role.value for role in person.roles))
        raise _refusal(
            f"{person.name} is {roles} and may not do the act {act.value!r}.",
            f"Let a person do it who is {holders(act)}, or give {word!r} that role in persons.toml.",
        )


def _check_delegate(persons: Persons, word: str, behalf: str, act: Act, day: date) -> None:
    absent = persons.persons.get(behalf)
    absence = absent.absence(day) if absent is not None else None
    if absent is None or absence is None or absence.delegate != word or not absent.may(act):
        raise _refusal(
            f"{word!r} does not sign for {behalf!r} on {day}: persons.toml has no absence of that day with "
            "this delegate, or that person may not do it either.",
            "Sign in your own name, without --for.",
        )


def _refusal(what: str, hint: str) -> PolicyError:
    return PolicyError(what, hint, code=_ROLE_CODE)
