"""A job as the store keeps it: in short for listings, whole for those who work on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from parties.contracts.contract import FORMAT, Contract
from parties.contracts.state import State
from smc.forms import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a listing says of a job. It is read without parsing the contract, whose release may be another.

    Attributes:
        job_id: its name.
        state: where it stands.
        role: this side's role.
        peer: the other party.
        dataset: the local data set.
        outgoing: whether this party proposed it, and so dials.
        analysis: the name of the analysis.
        title: for people; may be empty.
        format: the format of its contract.
        digest: of the contract, hexadecimal; empty before it is complete.
        created: when it came, RFC 3339 in UTC.
        updated: when its state changed last.
        started: when its run began; empty before.
        kept: whether its result is kept here.
        deleted: when its result was deleted; empty if it was not.
        error_code: stable code of what ended it; empty if nothing did.
        error_what: what happened.
        error_hint: what to do.
    """

    job_id: str
    state: State
    role: Role
    peer: str
    dataset: str
    outgoing: bool
    analysis: str
    title: str
    format: int
    digest: str
    created: str
    updated: str
    started: str
    kept: bool
    deleted: str
    error_code: str
    error_what: str
    error_hint: str

    @property
    def is_readable(self) -> bool:
        """Whether this release knows the format of its contract."""
        return self.format == FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Papers:
    """What is kept about a job besides its summary, as it is stored, whatever release wrote it.

    Attributes:
        contract: the contract, JSON.
        facts: what the run cost, JSON; empty before the end.
        certificate: the signed certificate with the salt of its result, JSON; empty before the end.
    """

    contract: str
    facts: str
    certificate: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Summary):
    """A job of this release, with its contract.

    Attributes:
        contract: the contract, complete or still a draft.
        own_signature: this party's signature under the contract; empty before.
        peer_signature: the peer's.
    """

    contract: Contract
    own_signature: bytes = field(repr=False)
    peer_signature: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job is: `done` of `of` in a stage. Not kept across restarts.

    `seconds` is how long the whole run is estimated to take; 0 if that is not known yet.
    """

    stage: str = ""
    done: int = 0
    of: int = 0
    seconds: float = 0.0
