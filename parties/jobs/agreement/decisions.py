"""Who decided on a job, as entries of the ledger; nothing is signed without an approval in it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from parties.audit.lines import DECIDED, ENTRIES, SIGNED
from parties.audit.writer import Audit
from parties.contracts.contract import Contract
from parties.contracts.records import Record
from parties.errors import JobError, PolicyError
from parties.ledger.book import Ledger
from parties.ledger.entries import APPROVED, CANCELLED, DENIED, Entry
from parties.persons.declaration import NAME, NAME_HINT, NAME_LENGTH
from parties.persons.gate import Admitted, Approvals, Gate
from parties.persons.roles import Act, Needed
from parties.policy.verdict import Verdict
from parties.texts import is_plain
from smc.errors import UsageError

MIN_LETTERS: Final = 8
"""Of the beginning of a job's name by which somebody decides on it."""

ACTS: Final = {APPROVED: Act.APPROVE, DENIED: Act.DENY, CANCELLED: Act.CANCEL}
"""What a person signs, by the event of the decision."""


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
        if not NAME.fullmatch(self.name) or not is_plain(self.name) or self.uid < 0:
            raise UsageError(
                f"The name {self.name[:NAME_LENGTH]!r} of who decides is not valid.",
                f"Give {NAME_HINT} (on the command line: --as NAME).",
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
        gate: what persons have signed.
    """

    def __init__(self, ledger: Ledger, audit: Audit, gate: Gate) -> None:
        self._ledger = ledger
        self._audit = audit
        self._gate = gate

    def keep(self, admitted: Admitted) -> None:
        """Write the signature of a person under an act, if there is one, into audit log and ledger.

        Raises:
            PolicyError: it does not hold any more.
            LedgerError: it cannot be written.
        """
        if (signed := admitted.signed) is not None:
            said = signed.statement
            about: dict[str, str | int] = {"act": said.act.value, "digest": said.digest}
            about |= {"peer": said.peer, "actor": signed.name, "person": said.person, "behalf": said.behalf}
            about |= {"key": signed.key.text, "signature": signed.signature.hex()}
            self._audit.write(SIGNED, **about, **{ENTRIES: len(self._ledger.entries())})
            self._gate.keep(admitted)

    def of_person(self, event: str, digest: bytes, peer: str, person: Person, admitted: Admitted) -> Entry:
        """Write what a person decided, and the signature under it.

        Args:
            event: `approved`, `denied` or `cancelled`.
            digest: of the contract as it stands, 32 bytes.
            peer: the other party.
            person: who decided, and from which account; the name is that of the signature if there is one.
            admitted: the gate's leave for it.

        Raises:
            LedgerError: it cannot be written.
        """
        admitted.check(ACTS[event], digest.hex())
        self.keep(admitted)
        name = admitted.signed.name if admitted.signed is not None else person.name
        return self._decide(event, digest.hex(), peer, actor=name, uid=person.uid)

    def approve(
        self, contract: Contract, peer: str, person: Person, admitted: Admitted, verdict: Verdict
    ) -> Approvals | None:
        """Write that a person approves a contract; if others have to as well, the decision waits for them.

        Args:
            contract: as it stands.
            peer: the other party.
            person: as of `of_person`.
            admitted: as of `of_person`.
            verdict: of the policy, which says who has to approve.

        Returns:
            How far the approvals have come; None where no persons are in force, and one is enough.

        Raises:
            PolicyError: the rule asks for persons with keys, and there are none; or this person has approved.
            LedgerError: it cannot be written.
        """
        digest = contract.digest.hex()
        if admitted.signed is None:
            if verdict.needed is not None:
                raise PolicyError(
                    f"Rule {verdict.rule!r} asks for approval by a {verdict.needed.role.value}, and there "
                    "is no persons.toml that says who is one.",
                    'Begin one with `duetto person add`, or write approval = "person" in the rule.',
                    code="person",
                )
            self.of_person(APPROVED, contract.digest, peer, person, admitted)
            return None
        admitted.check(Act.APPROVE, digest)
        before, word = self._approvals(contract, verdict), admitted.signed.statement.person
        if word not in self._gate.in_role(before.needed.role):
            raise PolicyError(
                f"{admitted.signed.name} is no {before.needed.role.value}; rule {verdict.rule!r} wants one.",
                f"Let a {before.needed.role.value} approve the job; `duetto person list` names them.",
                code="person",
            )
        # Where none is missing, an earlier decision was signed and then not written: it is made good now.
        if word in before.signers and before.missing:
            raise PolicyError(
                f"{admitted.signed.name} has approved this job before: {before.text}.",
                "Another person has to approve it; a second key or a delegation does not count twice.",
                code="person",
            )
        self.keep(admitted)
        now = self._approvals(contract, verdict)
        if not now.missing:
            self._decide(APPROVED, digest, peer, actor=", ".join(now.names), uid=person.uid)
        return now

    def approvals(self, contract: Contract, verdict: Verdict) -> Approvals | None:
        """How far the approvals of a contract have come; None where no persons are in force.

        Raises:
            ConfigError: the file of persons is not the one that was signed.
            LedgerError: the ledger cannot be read.
        """
        return None if self._gate.persons() is None else self._approvals(contract, verdict)

    def of_rule(self, contract: Contract, peer: str, rule: str) -> Entry:
        """Write that a rule approves a contract, so that nobody is asked.

        Raises:
            LedgerError: it cannot be written.
        """
        return self._decide(APPROVED, contract.digest.hex(), peer, rule=rule)

    def require(self, record: Record, judge: Callable[[], Verdict]) -> None:
        """Do nothing if the contract of a job is approved here; an approval of its draft is carried over.

        Where persons are in force, what the ledger says of an approval by people is not enough: the
        signatures have to be there.

        Args:
            record: the job.
            judge: gives the verdict of the policy, for which nobody is asked where no persons are in force.

        Raises:
            JobError: nobody has approved it, or too few.
            LedgerError: the ledger cannot be read or written.
        """
        job = record.contract.digest.hex()
        if self._gate.persons() is not None and (verdict := judge()).needs_person:
            self._require_signed(record, verdict)
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

    def require_fresh(self, record: Record, verdict: Verdict) -> None:
        """Do nothing unless a person approved the job longer ago than an approval holds.

        An approval by a rule does not age: the rule itself is asked again before a run.

        Args:
            record: the job, which is approved.
            verdict: of the policy: for how long an approval holds, and whose it has to be.

        Raises:
            JobError: the approval has expired (code `approval-expired`), or lacks signatures.
            LedgerError: the ledger cannot be read.
        """
        days = verdict.approval_days
        digests = (record.contract.draft.digest.hex(), record.contract.digest.hex())
        found = [self._approval(job) for job in (digests if record.outgoing else digests[1:])]
        people = [entry for entry in found if entry is not None and entry.actor]
        if any(self._ledger.is_older(entry, days) for entry in people):
            raise JobError(
                f"The approval of job {record.job_id} is older than the {days} days for which it holds.",
                "Submit the job again, or raise approval_days in the rule that allows it.",
                code="approval-expired",
            )
        if self._gate.persons() is not None:
            self._require_signed(record, verdict)

    def _require_signed(self, record: Record, verdict: Verdict) -> None:
        found = self._approvals(record.contract, verdict)
        if found.missing:
            raise JobError(
                f"Job {record.job_id} lacks signatures of persons: {found.text}.",
                "Submit it again and let them approve it.",
                code="approval",
            )

    def _approvals(self, contract: Contract, verdict: Verdict) -> Approvals:
        digests = (contract.draft.digest.hex(), contract.digest.hex())
        return self._gate.approvals(digests, verdict.needed or Needed(), verdict.approval_days)

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
