"""What is remembered of one exact job, and which exact figures must not lie beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parties.disclosure.log import OverlapError
from parties.disclosure.participants import ParticipantSet
from smc.analyses.studies.facts import Whom

_UNKNOWN: Final = "figures"
"""What jobs of older releases have shown."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One exact job.

    Attributes:
        job: name of the job.
        time: when its results were about to be opened, RFC 3339 in UTC; for people.
        account: the population.
        dataset: this party's data set.
        peer: the other party.
        key: which secret made the hashes, hexadecimal.
        persons: how many took part.
        digest: of the hashes, hexadecimal.
        stored: how many hashes follow the line; 0 where an earlier record has the same.
    """

    job: str
    time: str
    account: str
    dataset: str
    peer: str
    key: str
    persons: int
    digest: str
    stored: int


@dataclass(frozen=True, slots=True)
class FigureRecord(JobRecord):
    """One exact job, of which it is known what its figures are about; those of older releases do not say it.

    Attributes:
        whom: as `smc.analyses.studies.facts.Whom`; empty where the other party got no figures.
    """

    whom: str


@dataclass(frozen=True, slots=True)
class TableRecord:
    """One exact table that was opened to the other party, see `parties.disclosure.equations.Shown`.

    Attributes:
        job: name of the job.
        account: the population.
        dataset: this party's data set.
        peer: the other party.
        key: which secret made the hashes, hexadecimal.
        table: digest of what follows the line, hexadecimal.
        entries: how many entries there are.
        cells: how many cells.
        equations: how many opened counts.
        summed: how many sums were opened beside each count.
        stored: how many words of 8 bytes follow, see `Shown.encoded`; 0 where an earlier record has the same.
    """

    job: str
    account: str
    dataset: str
    peer: str
    key: str
    table: str
    entries: int
    cells: int
    equations: int
    summed: int
    stored: int


@dataclass(frozen=True, slots=True)
class SignedRecord(TableRecord):
    """One exact table some of whose sums have a bound below 0.

    Attributes:
        signed: how many sums follow counted from 0, behind those that are not.
    """

    signed: int


def check_together(earlier: JobRecord, participants: ParticipantSet) -> None:
    """Check that a clustering, or what would lie beside one, is the only exact figure of known persons.

    Of clusters recipients know the lines: between those of two clusterings, or beside a cell of a table or a
    group of a model, lie rows that nobody has counted. Rows that the peer varies move the lines, so equal
    parameters do not help.

    Raises:
        OverlapError: it is not.
    """
    if participants.whom is None or participants.minimum < 2:
        return
    shown = earlier.whom if isinstance(earlier, FigureRecord) else _UNKNOWN
    clash = {
        Whom.CLUSTERS: {Whom.CLUSTERS.value, Whom.CELLS.value, Whom.FITS.value, _UNKNOWN},
        Whom.CELLS: {Whom.CLUSTERS.value},
        Whom.FITS: {Whom.CLUSTERS.value},
    }
    if shown not in clash.get(participants.whom, ()):
        return
    raise OverlapError(
        f"Job {earlier.job} has shown the other party exact {shown} about these people, and "
        f"exact {participants.whom.value} beside them would tell of the few between two lines.",
        "Add noise to the job (epsilon).",
    )
