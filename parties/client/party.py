"""This party and its jobs, as scripts and notebooks see them: what the running daemon answers."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from typing_extensions import override

from parties.client.connection import CALL_SECONDS, WAIT_ON, WAITED, Connection
from parties.client.job_file import job_text
from parties.client.result import Result
from parties.closed_peers import Closure
from parties.config import load
from parties.contracts.state import State
from parties.errors import DaemonUnavailable, JobError, PeerBusy
from parties.jobs.agreement.decisions import own_person
from parties.jobs.faults import from_code
from parties.persons.gate import prune_digest, text_digest
from parties.persons.roles import Act
from parties.results.frames import pandas
from parties.rpc.pb.duetto.v1 import control_pb2 as pb

LOOK_SECONDS = 2.0
"""Pause between two looks at a job where it cannot be watched."""

_SHOWN = (
    *("job_id", "digest", "state", "analysis", "title", "role", "peer", "direction"),
    *("created", "updated", "stage", "done", "of", "elapsed_seconds", "estimated_seconds"),
    *("waits_for", "format", "older_release", "result_deleted"),
)

OnProgress = Callable[["Job"], None]


class Party(Connection):
    """This party, by its running daemon. Usable as a context manager.

    Args:
        config_path: the party's `duetto.toml` or its folder; looked for like `duetto --config` if None. Or
            the socket of a role.
        signer: signs what is done, where the party has a `persons.toml`; see `parties.persons.signer`.

    Raises:
        ConfigError: there is no configuration, or it is wrong.
    """

    @override
    def __repr__(self) -> str:
        return f"Party({self.name!r})"

    def _repr_html_(self) -> str:
        from parties.client.display import party_html

        return party_html(self.name, self.status)

    def submit(self, job: Path | str | Mapping[str, Any]) -> Job:
        """Submit a job.

        Args:
            job: a job file's path, its text (a string of several lines), or its document as a mapping.

        Raises:
            DuettoError: the job is wrong, refused here or by the peer, or a daemon cannot be reached.
        """
        toml = job_text(job)
        act = self.act(Act.SUBMIT, text_digest(toml))
        return Job(self, self.call("Submit", pb.JobText(toml=toml, act=act)))

    def run(
        self,
        job: Path | str | Mapping[str, Any],
        progress: OnProgress | bool = True,
        timeout: float | None = None,
    ) -> Result:
        """Submit a job, wait for it, and return its result; all as of `submit`, `wait` and `Job.result`."""
        return self.submit(job).wait(progress, timeout).result()

    def check(self, job: Path | str | Mapping[str, Any]) -> dict[str, Any]:
        """Check a job without submitting it: verdict, reasons, who would learn what. Raises as `submit`."""
        return _document(self.call("Check", pb.JobText(toml=job_text(job))))

    def estimate(
        self,
        job: Path | str | Mapping[str, Any],
        rows: int = 0,
        rtt_ms: float = 0,
        mbit: float = 0,
        peer_rows: int = 0,
    ) -> dict[str, Any]:
        """What a job would cost.

        Args:
            job: as for `submit`.
            rows: rows a side; 0 takes those of the local data.
            rtt_ms: round trip of the network, in milliseconds.
            mbit: rate of the network in Mbit/s; 0 is unlimited.
            peer_rows: rows of the peer, where they are others; 0 takes as many.
        """
        link = {"rtt_ms": rtt_ms, "mbit": mbit}
        request = pb.EstimateRequest(toml=job_text(job), rows=rows, **link, peer_rows=peer_rows)
        return _document(self.call("Estimate", request))

    def jobs(self, *states: str, limit: int = 0, before: str = "") -> list[Job]:
        """Jobs, the newest first.

        Args:
            states: only those in one of these states, such as `running`; none means any.
            limit: at most so many; 0 is all.
            before: only those that came before the job of this name: the last one of the page before.

        Raises:
            UsageError: one of the states is unknown.
            JobError: there is no job `before`.
        """
        request = pb.ListRequest(states=states, limit=limit, before=before)
        return [Job(self, message) for message in self.stream("List", request, CALL_SECONDS)]

    def jobs_frame(self, *states: str, limit: int = 0) -> Any:
        """Jobs as a pandas DataFrame, the newest first: id, state, analysis, peer, title and times.

        Raises:
            ConfigError: pandas is not installed.
            UsageError: one of the states is unknown.
        """
        columns = ("id", "state", "analysis", "peer", "title", "created")
        jobs = self.jobs(*states, limit=limit)
        frame = pandas().DataFrame({name: [getattr(job, name) for job in jobs] for name in columns})
        return frame.assign(state=[job.state.value for job in jobs])

    def forget(self, job_id: str) -> Job:
        """Delete the local result of a job, which is named by at least 8 characters; see `Job.forget`."""
        return self.job(job_id).forget()

    def prune(self, older_than_days: int) -> int:
        """Delete the results of jobs that finished longer ago; how many. Contracts and certificates stay."""
        act = self.act(Act.PRUNE, prune_digest(older_than_days))
        return int(self.call("Prune", pb.PruneRequest(older_than_days=older_than_days, act=act)).deleted)

    def job(self, job_id: str) -> Job:
        """A job by its name or the beginning of it.

        Raises:
            JobError: there is none, or several.
        """
        return Job(self, self.call("Show", pb.JobName(job_id=job_id)))

    def status(self, timeout: float = CALL_SECONDS) -> dict[str, Any]:
        """The daemon's peers, number of jobs by state, where it listens, and whether its files are whole.

        `reversed` has the peers that it cannot dial and that keep a connection open for its calls; `draining`
        what `drain` returns, or None where it begins jobs.

        Args:
            timeout: seconds to wait for an answer.
        """
        reply = self.call("Status", pb.StatusRequest(), timeout)
        return {
            "party": reply.party,
            "peers": list(reply.peers),
            "jobs": dict(reply.jobs),
            "ledger_whole": reply.ledger_whole,
            "ledger_problem": reply.ledger_problem,
            "listens": reply.listens,
            "database_lost": reply.database_lost,
            "reversed": list(reply.reversed),
            "draining": _draining(reply.draining) if reply.HasField("draining") else None,
        }

    def closed(self) -> dict[str, Closure]:
        """The peers with which nothing is run, by name."""
        found = self.call("Status", pb.StatusRequest()).closed
        return {one.peer: Closure(one.peer, one.job, one.code, one.since) for one in found}

    def open_peer(self, peer: str, name: str = "") -> None:
        """Open a peer that a failed check has closed.

        Args:
            peer: its name.
            name: who opens it; the account's if empty.

        Raises:
            UsageError: it is not closed.
        """
        closed = self.closed().get(peer)
        act = self.act(Act.OPEN, closed.digest, peer) if closed else None
        who = own_person(name)
        self.call("OpenPeer", pb.PeerDecision(peer=peer, actor=who.name, uid=who.uid, act=act))

    def persons_in_force(self) -> str:
        """The text of the persons.toml in force; empty where no acts are signed."""
        return str(self.call("Status", pb.StatusRequest()).persons)

    def reload(self) -> dict[str, list[str]]:
        """Let the daemon read its configuration and peers again; nothing changes if anything is wrong.

        Names of peers that are `added`, `removed`, `changed`; what is for `later`, the next start; and which
        `files`, policy and catalog, are others than before.
        """
        reply = self.call("Reload", pb.ReloadRequest())
        names = ("added", "removed", "changed", "later", "files")
        return {name: list(getattr(reply, name)) for name in names}

    def drain(self, seconds: float = 0) -> dict[str, float]:
        """Let the daemon begin no job any more, and end when those that run have ended.

        Args:
            seconds: after which those that still run are ended; 0 for what is configured.

        Returns:
            The jobs that run, `sessions`, and `seconds_left` of their time.
        """
        return _draining(self.call("Drain", pb.DrainRequest(seconds=seconds)))


class Job:
    """A job as the daemon knows it; `refresh` and `wait` bring it up to date."""

    def __init__(self, party: Party, message: pb.Job) -> None:
        self._party = party
        self._message = message

    @override
    def __repr__(self) -> str:
        return f"Job({self.id!r}, {self.analysis!r} with {self.peer!r}, {self.state.value})"

    def _repr_html_(self) -> str:
        from parties.client.display import job_html

        return job_html(self.describe())

    @property
    def id(self) -> str:
        """Its name on both sides."""
        return self._message.job_id

    @property
    def state(self) -> State:
        """Where it stood when last looked at."""
        return State(self._message.state)

    @property
    def analysis(self) -> str:
        """The name of the analysis."""
        return self._message.analysis

    @property
    def title(self) -> str:
        """What its proposer wrote over it for people; empty if nothing."""
        return self._message.title

    @property
    def asked_by(self) -> str:
        """The person who asks, as its proposer names it; empty if it names none."""
        return self._words("asked_by")

    @property
    def purpose(self) -> str:
        """Why, as its proposer says; empty if it does not."""
        return self._words("purpose")

    def _words(self, key: str) -> str:
        return "" if self.is_older else str(self.contract["spec"]["job"].get(key, ""))

    @property
    def created(self) -> dt.datetime:
        """When it was proposed, in UTC."""
        return dt.datetime.fromisoformat(self._message.created)

    @property
    def peer(self) -> str:
        """The other party."""
        return self._message.peer

    @property
    def is_older(self) -> bool:
        """Whether its contract has the format of an older release, which is shown but not worked with."""
        return self._message.older_release

    @property
    def progress(self) -> tuple[str, int, int]:
        """Stage, and how much of how much is done, while it runs."""
        return self._message.stage, self._message.done, self._message.of

    @property
    def elapsed(self) -> float:
        """For how many seconds it had run when last looked at; 0 if it does not run."""
        return self._message.elapsed_seconds

    @property
    def estimated(self) -> float:
        """How many seconds the whole run is estimated to take; 0 if it does not run or nobody knows."""
        return self._message.estimated_seconds

    @property
    def waits_for(self) -> str:
        """What an unfinished job waits for, for people; empty if for nothing."""
        return self._message.waits_for

    @property
    def facts(self) -> dict[str, Any]:
        """What the run cost, with the estimate, and who learned what; empty before the end."""
        return json.loads(self._whole.facts_json) if self._whole.facts_json else {}

    @property
    def leakage(self) -> dict[str, list[str]]:
        """What `alice` and `bob` learn from the job, and what is `public`."""
        document: dict[str, list[str]] = json.loads(self._whole.leakage_json)
        return document

    @property
    def audit(self) -> dict[str, Any]:
        """How the run of a covert job is audited, see `parties.jobs.covert`; empty for other jobs."""
        document: dict[str, Any] = json.loads(self._whole.audit_json or "{}")
        return document

    @property
    def shown(self) -> str:
        """The digest of the contract as it stands, hexadecimal: what an approval is about."""
        return self._whole.shown

    @property
    def contract(self) -> dict[str, Any]:
        """What was, or is to be, signed."""
        document: dict[str, Any] = json.loads(self._whole.contract_json)
        return document

    @property
    def _whole(self) -> pb.Job:
        """What the daemon says of the job, papers included; listings and watching leave those out."""
        if not self._message.contract_json:
            self.refresh()
        return self._message

    def describe(self) -> dict[str, Any]:
        """All that the daemon says of the job, as plain values."""
        message = self._message
        error = {"code": message.error.code, "what": message.error.what, "hint": message.error.hint}
        return {name: getattr(message, name) for name in _SHOWN} | {"error": error if error["code"] else None}

    def refresh(self) -> Job:
        """Look again."""
        self._message = self._party.call("Show", pb.JobName(job_id=self.id))
        return self

    def watch(self, timeout: float | None = None) -> Iterator[Job]:
        """This job now and after every change, until it has ended.

        Where as many watch as the daemon lets, this job is looked at every few seconds instead.

        Raises:
            JobError: it has not ended in `timeout` seconds (code `timeout`).
        """
        until = None if timeout is None else time.monotonic() + timeout
        try:
            for message in self._party.stream("Watch", pb.JobName(job_id=self.id), timeout):
                self._message = message
                yield self
            return
        except PeerBusy:
            yield self.refresh()
        while not self.state.is_final:
            if until is not None and time.monotonic() > until:
                raise JobError(WAITED, WAIT_ON, code="timeout")
            time.sleep(LOOK_SECONDS)
            yield self.refresh()

    def wait(self, progress: OnProgress | bool = True, timeout: float | None = None) -> Job:
        """Wait for the result.

        Args:
            progress: called with the job after every change; True shows a bar on a terminal and in a
                notebook, False nothing.
            timeout: seconds; None waits for ever.

        Raises:
            DuettoError: the job failed, was denied or cancelled; of the kind of what ended it.
            JobError: it has not ended in time (code `timeout`); it goes on.
        """
        from parties.client.progress import following

        with following(progress) as show:
            for job in self.watch(timeout):
                show(job)
        if not self.state.is_final:
            raise DaemonUnavailable("The daemon stopped while the job was watched.", "Start it again.")
        if self.state is not State.FINISHED:
            error = self._message.error
            raise from_code(error.code, error.what or f"Job {self.id} is {self.state.value}.", error.hint)
        return self

    def result(self) -> Result:
        """This party's result.

        Raises:
            JobError: the job has not finished.
        """
        pieces = self._party.stream("Result", pb.JobName(job_id=self.id), CALL_SECONDS)
        document = json.loads(b"".join(piece.data for piece in pieces))
        return Result.from_document(document, self._report)

    def _report(self, result: Result) -> str:
        from parties.client.report import report_html

        config = load(self._party.config_path)
        return report_html(config, result, self.describe(), self.contract, self.certificate())

    def certificate(self) -> dict[str, Any]:
        """The signed certificate, to be checked with `duetto job verify`.

        Raises:
            JobError: the job has not finished.
        """
        return _document(self._party.call("Certificate", pb.JobName(job_id=self.id)))

    def cancel(self, name: str = "") -> Job:
        """Give the job up; the peer gets to know. The name is as of `approve`."""
        return self._decide("Cancel", name)

    def forget(self) -> Job:
        """Delete the local result; contract, certificate and costs stay.

        Raises:
            JobError: the job has no result here.
        """
        act = self._party.act(Act.FORGET, self.shown, self.peer)
        self._message = self._party.call("Forget", pb.JobName(job_id=self.id, act=act))
        return self

    def approve(self, name: str = "", shown: str = "") -> Job:
        """Allow the job, where the local policy asks for a person.

        Args:
            name: who decides, for the ledger; the account's if empty.
            shown: the digest of what that person has looked at; that of this object's contract if empty.

        Raises:
            JobError: the contract is another one (code `shown`), or the job does not wait for a person.
        """
        return self._decide("Approve", name, shown=shown or self.shown)

    def deny(self, reason: str = "", name: str = "") -> Job:
        """Refuse the job, where the local policy asks for a person. Reason and name stay at home."""
        return self._decide("Deny", name, reason=reason)

    def _decide(self, verb: str, name: str, **further: str) -> Job:
        person = own_person(name)
        act = self._party.act(Act(verb.lower()), further.get("shown") or self.shown, self.peer)
        decision = pb.Decision(job_id=self.id, actor=person.name, uid=person.uid, act=act, **further)
        self._message = self._party.call(verb, decision)
        return self


def _draining(reply: pb.Draining) -> dict[str, float]:
    return {"sessions": reply.sessions, "seconds_left": reply.seconds_left}


def _document(report: pb.Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(report.json)
    return document
