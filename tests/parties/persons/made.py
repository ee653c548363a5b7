"""Persons with keys for tests: their file, and their signatures under acts of a party."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.person_roles import PersonRole
from parties.persons.declaration import FILE, digest_of
from parties.persons.gate import Gate, pin_digest
from parties.persons.keys import PrivateKey
from parties.persons.register import STANDING
from parties.persons.roles import Act
from parties.persons.shared import policy_digest
from parties.persons.statement import PersonStatement, Presented, now, present

PEOPLE = {
    "weber": ("Dr Weber", "steward"),
    "klein": ("Prof Klein", "steward"),
    "adler": ("A. Adler", "analyst"),
    "otto": ("O. Otto", "operator"),
    "vogt": ("V. Vogt", "viewer"),
    "auer": ("U. Auer", "auditor"),
}


def key(number: int) -> PrivateKey:
    """A key that is the same in every run."""
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


KEYS = {word: key(number) for number, word in enumerate(PEOPLE, 1)}
OF_ROLE = {PersonRole(role): word for word, (_, role) in reversed(PEOPLE.items())}
STRANGER = key(99)


def persons_toml(*without: str, extra: str = "", **further: str) -> str:
    """The file of `PEOPLE`, some left out, some with lines more."""
    blocks = [
        f'[persons.{word}]\nname = "{name}"\nroles = ["{role}"]\nkey = "{KEYS[word].public.text}"\n'
        + further.get(word, "")
        for word, (name, role) in PEOPLE.items()
        if word not in without
    ]
    return "\n".join(blocks) + extra


def signed(
    gate: Gate,
    act: Act,
    digest: str,
    who: str,
    peer: str = "",
    *,
    by: PrivateKey | None = None,
    behalf: str = "",
    moment: str = "",
    party: str = "",
) -> Presented:
    """The signature of somebody under an act at a party."""
    after = gate.register().before(act, peer) if act in STANDING else ""
    statement = PersonStatement(act, party or gate.party, peer, digest, who, behalf, moment or now(), after)
    return present(statement, by or KEYS[who])


def put_in_force(
    gate: Gate,
    act: Act,
    data: bytes,
    who: str,
    about: str = "",
    digest: str = "",
    by: PrivateKey | None = None,
) -> None:
    """Let somebody sign a standing act, as `duetto person sign` does."""
    digest = digest or (policy_digest(data) if act is Act.POLICY else digest_of(data).hex())
    presented = signed(gate, act, digest, who, about, by=by)
    document = data if act is Act.PERSONS else b""
    gate.write(gate.register().admit(act, about, digest, presented, document=document), document)


def begin(gate: Gate, home: Path, peer: object, text: str = "", who: str = "weber") -> None:
    """Put persons, policy and peer of a home into force."""
    data = (text or persons_toml()).encode()
    (home / FILE).write_bytes(data)
    put_in_force(gate, Act.PERSONS, data, who)
    put_in_force(gate, Act.POLICY, (home / "policy.toml").read_bytes(), who)
    put_in_force(gate, Act.PIN, b"", who, peer.name, pin_digest(peer))
