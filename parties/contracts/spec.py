"""The job file: what is to be computed, on which data, for whom."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from commons.settings.bounds import Between, Terms
from commons.settings.marks import Key, Length, Matching, UnfitError, Wrong
from commons.settings.reader import read_declared
from commons.settings.table import StrictTable
from commons.settings.toml import parse
from parties.audit_terms import COVERT, AuditTerms
from parties.contracts import canonical
from parties.errors import JobError
from parties.exits import why_unreadable
from parties.texts import BLANKS, FINGERPRINT, NAME, unfit
from smc.channel.message import MAX_LANES
from smc.forms import Role
from smc.network import Network

SECONDS = 3600
"""The deadline of a job that names none."""

_MAX_SHOWN = 10**15
MAX_RTT_MS = 10_000
MAX_MBIT = 1_000_000
"""The slowest answers and the fastest link for which jobs are planned."""

COVERT_LINK: Final = Network(0, 100)
"""For what covert jobs are planned that name no link: what comes in is sealed and kept on the disk, so that
bytes are dear although they arrive at once. Large batches of comparisons are silent then, of 20 instead of
126 bytes."""

USUAL_LANES = 1
"""Of a job that names none: its batches are not cut."""

SPEC_BYTES = 64 << 10
"""The longest job file."""


_MOST_TERM: Final = 10**6
_AUDIT: Final = 'Add [audit] with auditor = "NAME" and key, as `duetto evidence auditor show` prints them.'
_SECURITY: Final = 'Write security = "covert" below [job], or remove [audit].'
_WORD: Final = Matching(NAME, "is not a plain word", "Use letters, digits, point, hyphen, underscore.")
_OR_NONE: Final = re.compile(f"(?:{NAME.pattern})?")
_LANES: Final = f"Write 1 to {MAX_LANES}, and no more than the smaller machine has cores."
_MEASURED: Final = "Write what `duetto doctor` measures."
_COLUMNS: Final = (
    'Write columns = { x = "age" }: on the left a plain word by which the job calls the column, on the '
    "right its name in the catalog."
)


@dataclass(frozen=True, slots=True)
class Side:
    """One party's part in a job.

    Attributes:
        party: the party's name.
        dataset: its data set; empty if the analysis asks no data of it.
        columns: names in the job to columns of its catalog.
    """

    party: str
    dataset: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job file, checked for form.

    Attributes:
        analysis: name of the analysis.
        alice: Alice's part.
        bob: Bob's part.
        recipients: who gets the plain results.
        parameters: of the analysis, plain values without floats.
        title: for people.
        asked_by: the person who asks, as the proposer names it; nobody checks it.
        purpose: why, in the proposer's words.
        seconds: deadline of the run.
        network: the link that both sides plan for; None where the job names none and is not covert.
        lanes: into how many parts both sides cut large batches, to work on them at once.
        audit: how runs are audited, for a covert job; None for others.
    """

    analysis: str
    alice: Side
    bob: Side
    recipients: frozenset[Role]
    parameters: Mapping[str, Any]
    title: str = ""
    asked_by: str = ""
    purpose: str = ""
    seconds: int = SECONDS
    network: Network | None = None
    lanes: int = USUAL_LANES
    audit: AuditTerms | None = None

    def side(self, role: Role) -> Side:
        """The part of a role."""
        return self.alice if role is Role.ALICE else self.bob

    def role_of(self, party: str) -> Role:
        """The role of a party.

        Raises:
            JobError: it has none in this job.
        """
        for role in Role:
            if self.side(role).party == party:
                return role
        raise JobError(
            f"The job is between {self.alice.party!r} and {self.bob.party!r}; this party is {party!r}.",
            "Correct alice and bob below [job].",
        )

    def document(self) -> dict[str, Any]:
        """The job as the document of a job file, complete and in one order."""
        more: dict[str, Any] = {} if self.network is None else {"network": asdict(self.network)}
        if self.lanes != USUAL_LANES:
            more["compute"] = {"lanes": self.lanes}
        covert: dict[str, str] = {}
        if self.audit is not None:
            covert, more["audit"] = {"security": COVERT}, self.audit.document()
        words = {"asked_by": self.asked_by, "purpose": self.purpose}
        return {
            "job": {
                "analysis": self.analysis,
                "title": self.title,
                "alice": self.alice.party,
                "bob": self.bob.party,
                "recipients": sorted(role.value for role in self.recipients),
                **{key: text for key, text in words.items() if text},
                **covert,
            },
            "alice": _side_document(self.alice),
            "bob": _side_document(self.bob),
            "parameters": dict(self.parameters),
            "limits": {"seconds": self.seconds},
        } | more


def _side_document(side: Side) -> dict[str, Any]:
    return {"dataset": side.dataset, "columns": dict(side.columns)}


def read_spec(path: Path) -> JobSpec:
    """Read a job file.

    Raises:
        JobError: it is missing, too long, or wrong; says where and how to fix it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise JobError(
            f"{path} cannot be read: {why_unreadable(problem)}.",
            "Give the path of a job file.",
        ) from None
    return parse_spec(text, path.name)


def parse_spec(text: str, place: str = "job file") -> JobSpec:
    """Read the text of a job file.

    Raises:
        JobError: it is wrong; says where and how to fix it.
    """
    if len(text.encode()) > SPEC_BYTES:
        raise JobError(
            f"{place} is longer than {SPEC_BYTES} bytes.", "Shorten it, or split it into several jobs."
        )
    return spec_from_document(parse(text, place, JobError), place)


@dataclass(frozen=True, slots=True)
class DataSection:
    """The data that a side brings.

    Attributes:
        dataset: its data set; empty if the analysis asks no data of it.
        columns: names in the job to columns of its catalog.
    """

    dataset: Annotated[
        str, Matching(_OR_NONE, "is not a plain word", "Name a data set of the catalog, not a file.")
    ] = ""
    columns: Annotated[
        Mapping[str, Annotated[str, Length(1, 128)]],
        _WORD,
        Wrong("is not a table", _COLUMNS, entry="has an invalid entry"),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.columns) != bool(self.dataset):
            raise UnfitError("dataset", "and columns come together or not at all", "Add the missing one.")


@dataclass(frozen=True, slots=True)
class NetworkSection:
    """The link that both sides plan for.

    Attributes:
        rtt_ms: round-trip time in milliseconds.
        mbit: bandwidth of each direction in Mbit/s.
    """

    rtt_ms: Annotated[int, Between(0, MAX_RTT_MS, _MEASURED)]
    mbit: Annotated[int, Between(1, MAX_MBIT, _MEASURED)]


@dataclass(frozen=True, slots=True)
class AuditSection:
    """How the runs of a covert job are audited.

    Attributes:
        auditor: the auditor's name.
        key: fingerprint of the auditor's keys.
        rate: the probability with which a run is audited that both sides brought to its end.
    """

    auditor: Annotated[str, _WORD]
    key: Annotated[
        str,
        Matching(FINGERPRINT, "is not 64 hexadecimal digits", "Copy it from `duetto evidence auditor show`."),
    ]
    rate: Annotated[Fraction, Terms(_MOST_TERM)] = Fraction(1, 10)

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise UnfitError("rate", "is not above 0 and at most 1", 'Write rate = "1/10".')


@dataclass(frozen=True, slots=True)
class JobFile:
    """The sections of a job file.

    Attributes:
        analysis: name of the analysis.
        alice_party: the party in the role of Alice.
        bob_party: the party in the role of Bob.
        recipients: who gets the plain results.
        title: for people.
        asked_by: the person who asks, for people of the peer; nobody checks it.
        purpose: why, for people of the peer.
        alice: the data that Alice brings.
        bob: the data that Bob brings.
        parameters: of the analysis.
        seconds: deadline of the run.
        network: the link that both sides plan for.
        lanes: into how many parts both sides cut large batches, to work on them at once.
        security: `private`, or `covert`: with evidence by which a side that deviates is convicted.
        audit: how the runs of a covert job are audited.
    """

    analysis: Annotated[str, Key("job.analysis"), _WORD]
    alice_party: Annotated[str, Key("job.alice"), _WORD]
    bob_party: Annotated[str, Key("job.bob"), _WORD]
    recipients: Annotated[frozenset[Role], Key("job.recipients")]
    title: Annotated[str, Key("job.title"), Length(maximum=200)] = ""
    asked_by: Annotated[str, Key("job.asked_by"), Length(maximum=80)] = ""
    purpose: Annotated[str, Key("job.purpose"), Length(maximum=500)] = ""
    alice: DataSection = field(default_factory=DataSection)
    bob: DataSection = field(default_factory=DataSection)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: Annotated[int, Key("limits.seconds"), Between(minimum=1)] = SECONDS
    network: NetworkSection | None = None
    lanes: Annotated[int, Key("compute.lanes"), Between(1, MAX_LANES, _LANES)] = USUAL_LANES
    security: Annotated[Literal["private", "covert"], Key("job.security")] = "private"
    audit: AuditSection | None = None

    def __post_init__(self) -> None:
        if self.security == COVERT and self.audit is None:
            raise UnfitError("security", "is covert without a section [audit]", _AUDIT, "job")
        if self.security != COVERT and self.audit is not None:
            raise UnfitError("auditor", "stands in a job that is not covert", _SECURITY, "audit")
        if self.alice_party == self.bob_party:
            raise UnfitError("bob", "is the same party as alice", "Name the two parties.", "job")


def spec_from_document(document: Any, place: str) -> JobSpec:
    """Check a parsed job file, or the document that a contract carries.

    Raises:
        JobError: it is wrong; says where and how to fix it.
    """
    _check_texts(document, place)
    found = read_declared(JobFile, StrictTable(document, place, JobError))
    _check_parameters(found.parameters, f"{place}, parameters")
    spec = JobSpec(
        analysis=found.analysis,
        alice=Side(found.alice_party, found.alice.dataset, found.alice.columns),
        bob=Side(found.bob_party, found.bob.dataset, found.bob.columns),
        recipients=found.recipients,
        parameters=found.parameters,
        title=found.title,
        asked_by=found.asked_by,
        purpose=found.purpose,
        seconds=found.seconds,
        network=_link(found),
        lanes=found.lanes,
        audit=None if found.audit is None else AuditTerms(**asdict(found.audit)),
    )
    try:
        canonical.encode({"contract": {"spec": spec.document()}})
    except (TypeError, ValueError):
        raise JobError(
            f"{place} is nested too deeply or has too large a number.",
            "Remove the inner tables and numbers that no job needs.",
        ) from None
    return spec


def _link(found: JobFile) -> Network | None:
    """The link of a job; of a covert one that names none, `COVERT_LINK`."""
    if found.network is not None:
        return Network(found.network.rtt_ms, found.network.mbit)
    return COVERT_LINK if found.security == COVERT else None


def _check_texts(document: Any, place: str) -> None:
    try:
        found = unfit(document, place)
    except RecursionError:
        raise JobError(
            f"{place} is nested too deeply.", "Remove the inner tables and numbers that no job needs."
        ) from None
    if found:
        raise JobError(
            f"{found}: the text has characters that cannot be printed or seen, or more than {BLANKS} blanks "
            "in a row.",
            "Write letters, digits and signs in one line; leave out control, direction and fill characters.",
        )


def _check_parameters(value: Any, place: str) -> None:
    """Refuse what has no canonical form, floats above all."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_parameters(inner, f"{place}, {key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            _check_parameters(inner, f"{place}, entry {number}")
    elif not isinstance(value, str | bool | int):
        whole = f"Write {value:.0f} for a whole number. " if _is_whole(value) else ""
        raise JobError(
            f"{place} is a {'number with a point' if _is_decimal(value) else type(value).__name__}.",
            f'{whole}Write a fraction as a string, such as "0.5" or "1/2".',
        )


def _is_whole(value: Any) -> bool:
    return _is_decimal(value) and math.isfinite(value) and abs(value) < _MAX_SHOWN and value % 1 == 0


def _is_decimal(value: Any) -> bool:
    return type(value).__name__ in ("Decimal", "float")
