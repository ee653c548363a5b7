"""What of a home has to be signed by a person, and is not signed as it is now."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date

from commons.logs.lines import canonical
from parties.config import Config
from parties.errors import ConfigError
from parties.kept_pools import KeptPools
from parties.person_roles import PersonRole
from parties.persons.declaration import FILE, Persons, digest_of, parse_persons, read_file
from parties.persons.gate import NO_FILE, Gate, check_fresh, pin_digest
from parties.persons.roles import Act
from parties.persons.shared import policy_digest
from parties.persons.statement import Presented
from parties.pki.home import load_pairing, load_peer
from parties.pki.signing import key_text


@dataclass(frozen=True, slots=True)
class Pending:
    """A version of something that no person has signed.

    Attributes:
        act: of which kind.
        about: the peer of a pin; else empty.
        digest: what is to be signed, hexadecimal.
        what: for people.
        document: the file of persons; else empty.
        shown: lines of what is put into force, for people; empty where `document` says it.
        needed: how many have to sign; more than one are stewards.
        signed: who of them has, names by the words for the persons.
    """

    act: Act
    about: str
    digest: str
    what: str
    document: bytes = b""
    shown: tuple[str, ...] = ()
    needed: int = 1
    signed: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What it is, and how far its signatures have come."""
        if self.needed == 1:
            return self.what
        names = f": {', '.join(self.signed.values())}" if self.signed else ""
        return f"{self.what} ({len(self.signed)} of {self.needed} stewards{names})"


def pools_digest(pools: tuple[KeptPools, ...]) -> str:
    """What is signed of the pools of a configuration, hexadecimal."""
    return digest_of(canonical({"pools": [asdict(one) for one in pools]})).hex()


def pending(config: Config, gate: Gate) -> list[Pending]:
    """What a person has to sign before jobs run, the file of persons first; nothing without such a file.

    Raises:
        ConfigError: a file is missing or wrong.
        PairingError: a peer's pairing file is not the pinned one.
        LedgerError: the ledger is broken.
    """
    register = gate.register()
    return [
        replace(one, needed=register.signatures_needed(one.act), signed=register.waiting(one.act, one.digest))
        for one in _standing(config)
        if register.in_force(one.act, one.about) != one.digest
    ]


def changes(gate: Gate, one: Pending) -> list[str]:
    """What a new file of persons changes of the one in force; all of other things, which are not kept.

    Args:
        gate: of the party.
        one: what is to be signed.
    """
    if one.act is not Act.PERSONS:
        return [*one.shown]
    before, after = gate.text_in_force().splitlines(), one.document.decode().splitlines()
    changed = difflib.unified_diff(before, after, "in force", "now", lineterm="", n=1)
    lines = [line for line in list(changed)[2:] if not line.startswith("@@")]
    return [*lines, *_changed_keys(gate.register().persons, parse_persons(one.document))]


def _changed_keys(before: Persons | None, after: Persons) -> Iterator[str]:
    """Whose keys come and go, by their fingerprints: lines of a file alone do not show it."""

    def held(persons: Persons | None) -> dict[tuple[str, str], str]:
        there = persons.persons if persons is not None else {}
        return {(word, key.fingerprint): one.name for word, one in there.items() for key in one.key}

    old, new = held(before), held(after)
    for (word, fingerprint), name in (new | old).items():
        if (word, fingerprint) not in old:
            yield f"{name} ({word}) gets the key {fingerprint}"
        elif (word, fingerprint) not in new:
            yield f"{name} ({word}) loses the key {fingerprint}"


def put_into_force(gate: Gate, one: Pending, presented: Presented) -> None:
    """Take a person's signature under a version, which is in force by it or by the last that is needed.

    Args:
        gate: of the party.
        one: the version.
        presented: the signature.

    Raises:
        PolicyError: it is not by somebody who may sign this now (code `person`).
        ConfigError: the file of persons is wrong.
        LedgerError: the ledger is broken or cannot be written.
    """
    check_fresh(presented)
    signed = gate.register().admit(one.act, one.about, one.digest, presented, document=one.document)
    gate.write(signed, one.document)


def _standing(config: Config) -> Iterator[Pending]:
    data = read_file(config.home / FILE)
    if data is None:
        return
    parse_persons(data)
    yield Pending(Act.PERSONS, "", digest_of(data).hex(), FILE, data)
    policy = read_file(config.policy)
    if policy is not None:
        lines = tuple(policy.decode(errors="replace").splitlines())
        yield Pending(Act.POLICY, "", policy_digest(policy), config.policy.name, shown=lines)
    for peer in config.peers:
        identity = load_peer(config, peer)
        keys = (
            f"fingerprint of the pairing file {load_pairing(config, peer).fingerprint}",
            f"key that signs {key_text(identity.signing)}",
            f"Paillier key {identity.paillier.fingerprint}",
        )
        what = f"the keys of the peer {peer.name}"
        yield Pending(Act.PIN, peer.name, pin_digest(identity), what, shown=keys)
    if config.pools:
        lines = tuple(canonical(asdict(one)).decode() for one in config.pools)
        yield Pending(Act.POOLS, "", pools_digest(config.pools), "the pools in duetto.toml", shown=lines)


def standing_line(config: Config, gate: Gate, today: date) -> str:
    """In one line how decisions are signed here, for people.

    Raises:
        LedgerError: the ledger is broken.
    """
    try:
        persons = gate.persons()
        if persons is None:
            return NO_FILE
        waiting = [one.text for one in pending(config, gate)]
    except ConfigError as problem:
        return f"{problem.what} {problem.hint}"
    counted = [
        f"{len(found)} {role.value}{'s' * (len(found) > 1)}"
        for role in PersonRole
        if (found := persons.of_role(role, today))
    ]
    there = f"Persons sign what they decide: {', '.join(counted) or 'nobody is there today'}."
    if not waiting:
        return there
    return f"{there} Not signed: {', '.join(waiting)}; run `duetto person sign --key FILE`."
