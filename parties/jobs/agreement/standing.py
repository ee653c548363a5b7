"""Where a job stands on both sides, and how what one side says changes the other: one small table.

Each side tells the other where a job stands for it until the other has answered with its own standing (see
`parties.jobs.agreement.outbox`). Words repeat and overtake each other; the rules are such that both sides
come to the same end whatever the order:

local state      the peer says                  becomes
kept             kept, finished                 finished
kept             failed, cancelled, denied,     failed, then as below
                 or does not know the job
not ended        failed, cancelled, denied      the same
not begun        kept, finished                 failed: the database here is older than the run
not ended        does not know the job          failed
failed           cancelled, denied              the same
cancelled        denied                         the same
finished         anything                       finished

A job is finished if and only if both sides have kept their results. A side keeps its own before it says END,
and from then on it does not decide alone: END from the peer, or the word `kept`, finishes the job, and only
a word of the peer that it has failed ends it otherwise. A side that has not kept its result can fail at any
time, and then says so. Of two other ends the later one in the order failed, cancelled, denied holds on both
sides.
"""

from __future__ import annotations

from typing import Final

from parties.contracts.records import Summary
from parties.contracts.state import WAITING, State
from parties.errors import JobError, PolicyError
from parties.jobs.agreement.messages import PeerState
from parties.ports.interfaces import Outage
from smc.errors import DuettoError

OLDER: Final = "older-database"
"""Stable code of a job that has run, of which a database that was restored does not know."""

_WORDS: Final = {
    State.PROPOSED: PeerState.PENDING,
    State.WAITING_PEER: PeerState.PENDING,
    State.RUNNING: PeerState.RUNNING,
    State.KEPT: PeerState.KEPT,
    State.FINISHED: PeerState.FINISHED,
    State.FAILED: PeerState.FAILED,
    State.CANCELLED: PeerState.CANCELLED,
    State.DENIED: PeerState.DENIED,
}
_ENDS: Final = {
    PeerState.FAILED: State.FAILED,
    PeerState.UNKNOWN: State.FAILED,
    PeerState.CANCELLED: State.CANCELLED,
    PeerState.DENIED: State.DENIED,
}
_DONE: Final = (PeerState.KEPT, PeerState.FINISHED)
_ORDER: Final = (State.FAILED, State.CANCELLED, State.DENIED)


def word_of(state: State, *, outgoing: bool) -> PeerState:
    """What a side says of a job in some state; of a job that it has not proposed yet, that it knows none."""
    if state is State.WAITING_OWN:
        return PeerState.UNKNOWN if outgoing else PeerState.PENDING
    if state is State.APPROVED:
        return PeerState.CONFIRMED if outgoing else PeerState.APPROVED
    return _WORDS[state]


def settle(own: State, word: PeerState) -> tuple[State, ...]:
    """The states that follow, one after the other, when the peer says a word about a job.

    Signatures are not settled here: `approved` and `confirmed` change nothing.
    """
    end = State.FAILED if own in WAITING and word in _DONE else _ENDS.get(word)
    if own is State.KEPT:
        if word in _DONE:
            return (State.FINISHED,)
        return () if end is None else (State.FAILED, *settle(State.FAILED, word))
    if end is None or own is State.FINISHED:
        return ()
    if own not in _ORDER:
        return (end,)
    if word is PeerState.UNKNOWN or _ORDER.index(end) <= _ORDER.index(own):
        return ()
    return (end,)


def reason(state: State, word: PeerState, code: str, peer: str) -> DuettoError:
    """The error with which a job ends here because of what the peer says of it."""
    if state is State.DENIED:
        return PolicyError(f"{peer} denied the job.", "Ask the other institution.", code="denied")
    if state is State.CANCELLED:
        return JobError(f"{peer} cancelled the job.", "Ask the other institution.", code="cancelled")
    if word is PeerState.UNKNOWN:
        return JobError(f"{peer} does not know the job any more.", "Submit it again.", code="peer-unknown")
    if word in _DONE:
        return JobError(
            f"The database of the jobs here is older than what {peer} knows: there the job is {word.value}.",
            "What it has spent stays spent. See `duetto job aside`: a result of it may have been put aside.",
            code=OLDER,
        )
    why = f" with code {code!r}" if code else ""
    hint = "The peer has the reason, and shows it with its job; submit the job again."
    return JobError(f"The job failed at {peer}{why}.", hint, code="peer-failed")


RESTART: Final = "this daemon, which begins no more jobs, to be started again"
"""What a job waits for that was approved while the daemon is drained."""

_OURS: Final = "a person of this party, to approve or deny it"
_THEIRS: Final = "a person at {peer}, to approve or deny it"


def usual_waits(peer: str) -> tuple[str, str]:
    """What `waits_for` says of jobs whose state says the same."""
    return _OURS, _THEIRS.format(peer=peer)


def waits_for(job: Summary, trouble: str, outage: Outage | None, approvals: str = "") -> str:
    """What an unfinished job waits for, for people; empty if for nothing.

    Args:
        job: the job.
        trouble: why the peer could not be reached lately; empty if it could.
        outage: for how long its session has had no connection; None if it has one.
        approvals: how far those of persons with keys have come; empty where no such persons are in force.
    """
    if outage is not None and not job.state.is_final:
        return (
            f"a new connection to {job.peer}: lost for {outage.seconds:.0f} s, trying again "
            f"(limit {outage.limit:.0f} s)"
        )
    away = f" ({trouble})" if trouble else ""
    other = {
        State.PROPOSED: f"an answer of {job.peer} to the proposal",
        State.WAITING_PEER: _THEIRS.format(peer=job.peer),
        State.APPROVED: f"a session with {job.peer}" if job.outgoing else f"{job.peer}, to begin the session",
        State.KEPT: f"{job.peer} to confirm that it saved its result",
    }
    if job.state is State.WAITING_OWN:
        return approvals or _OURS
    return other[job.state] + away if job.state in other else ""
