"""Who decided on a job, as entries of the ledger; nothing is signed without an approval in it."""

from __future__ import annotations

import os
import pwd
import re
from dataclasses import dataclass
from typing import Final

from parties.audit.lines import DECIDED, ENTRIES
from parties.audit.writer import Audit
from parties.contracts.contract import Contract
from parties.contracts.records import Record
from parties.errors import JobError
from parties.ledger.book import Ledger
from parties.ledger.entries import APPROVED, Entry
from parties.texts import is_plain
from smc.errors import UsageError

NAME_LENGTH: Final = 80

MIN_LETTERS: Final = 8
"""Of the beginning of a job's name by which somebody decides on it."""

_NAME = re.compile(rf"\w[\w .,'@()-]{{0,{NAME_LENGTH - 1}}}")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at home who decides.

    Attributes:
        name: as that person says; whoever can use the control socket can say any.
        uid: the number of the account at this machine, as the person's program says.

    Raises:
        UsageError: the name is not one that can be written into the ledger.
    """

    name: str
    uid: int

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or not is_plain(self.name) or self.uid < 0:
            raise UsageError(
                "The name of the person who decides is not valid.",
                f"Give up to {NAME_LENGTH} letters, digits, spaces and .,'@()- with --as, a letter first.",
            )


def own_person(name: str = "") -> Person:
    """The person who runs this process: by its account, unless a name is given."""
    uid = os.getuid()
    try:
        return Person(name or pwd.getpwuid(uid).pw_name, uid)
    except KeyError:
        return Person(str(uid), uid)


class Decisions:
    """Writes decisions and looks for them.

    Args:
        ledger: the local ledger.
        audit: the audit log of the home.
    """

    def __init__(self, ledger: Ledger, audit: Audit) -> None:
        self._ledger = ledger
        self._audit = audit

    def of_person(self, event: str, digest: bytes, peer: str, person: Person) -> Entry:
        """Write what a person decided.

        Args:
            event: `approved`, `denied` or `cancelled`.
            digest: of the contract as it stands, 32 bytes.
            peer: the other party.
            person: who decided.

        Raises:
            LedgerError: it cannot be written.
        """
        return self._decide(event, digest.hex(), peer, actor=person.name, uid=person.uid)

    def of_rule(self, contract: Contract, peer: str, rule: str) -> Entry:
        """Write that a rule approves a contract, so that nobody is asked.

        Raises:
            LedgerError: it cannot be written.
        """
        return self._decide(APPROVED, contract.digest.hex(), peer, rule=rule)

    def require(self, record: Record) -> None:
        """Do nothing if the contract of a job is approved here; an approval of its draft is carried over.

        Raises:
            JobError: nobody has approved it.
            LedgerError: the ledger cannot be read or written.
        """
        job = record.contract.digest.hex()
        if self._approval(job) is not None:
            return
        draft = self._approval(record.contract.draft.digest.hex()) if record.outgoing else None
        if draft is None:
            raise JobError(
                f"Job {record.job_id} has no approval in the ledger.", "Submit it again.", code="approval"
            )
        self._decide(
            APPROVED,
            job,
            record.peer,
            actor=draft.actor,
            uid=draft.uid,
            rule=draft.rule,
            subject=draft.hash,
        )

    def require_fresh(self, record: Record, days: int) -> None:
        """Do nothing unless a person approved the job longer ago than an approval holds.

        An approval by a rule does not age: the rule itself is asked again before a run.

        Args:
            record: the job, which is approved.
            days: for how long an approval holds.

        Raises:
            JobError: the approval has expired (code `approval-expired`).
            LedgerError: the ledger cannot be read.
        """
        digests = (record.contract.draft.digest.hex(), record.contract.digest.hex())
        found = [self._approval(job) for job in (digests if record.outgoing else digests[1:])]
        people = [entry for entry in found if entry is not None and entry.actor]
        if any(self._ledger.is_older(entry, days) for entry in people):
            raise JobError(
                f"The approval of job {record.job_id} is older than the {days} days for which it holds.",
                "Submit the job again, or raise approval_days in the rule that allows it.",
                code="approval-expired",
            )

    def _decide(
        self,
        event: str,
        job: str,
        peer: str,
        *,
        actor: str = "",
        uid: int = -1,
        rule: str = "",
        subject: str = "",
    ) -> Entry:
        about: dict[str, str | int] = {"decision": event, "digest": job, "peer": peer, "rule": rule}
        if actor:
            about |= {"actor": actor, "uid": uid}
        self._audit.write(DECIDED, **about, **{ENTRIES: len(self._ledger.entries())})
        return self._ledger.decide(event, job, peer, actor=actor, uid=uid, rule=rule, subject=subject)

    def _approval(self, job: str) -> Entry | None:
        found = self._ledger.decision(job)
        return found if found is not None and found.event == APPROVED else None


def check_named(job_id: str) -> None:
    """Check that a job on which somebody decides is named clearly enough.

    Args:
        job_id: its name, or the beginning of it that was written.

    Raises:
        JobError: it is shorter than `MIN_LETTERS`.
    """
    if len(job_id) < MIN_LETTERS:
        raise JobError(
            f"{job_id!r} is too short to decide on a job by.",
            f"Write at least the first {MIN_LETTERS} characters of its name; `duetto job list` has it.",
            code="short-name",
        )


def check_shown(record: Record, shown: str) -> None:
    """Check that a person who decides was shown the contract as it stands.

    Args:
        record: the job.
        shown: digest of what was shown, hexadecimal.

    Raises:
        JobError: it was another one.
    """
    if shown != record.contract.digest.hex():
        raise JobError(
            f"What was shown is not the contract of job {record.job_id} as it stands.",
            f"Look at it with `duetto job show {record.job_id}`, and give the digest that is named there.",
            code="shown",
        )
