"""The states of a job and the ways between them."""

from __future__ import annotations

from enum import Enum

from parties.errors import JobError


class State(Enum):
    """Where a job stands."""

    WAITING_OWN = "waiting-own-approval"
    PROPOSED = "proposed"
    WAITING_PEER = "waiting-peer"
    APPROVED = "approved"
    RUNNING = "running"
    KEPT = "kept"
    FINISHED = "finished"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the job has ended; only another reason may follow, see `jobs.agreement.standing`."""
        return self in (State.FINISHED, State.FAILED, State.DENIED, State.CANCELLED)


_UNFINISHED = {State.FAILED, State.DENIED, State.CANCELLED}
WAYS = {
    State.WAITING_OWN: {State.PROPOSED, State.APPROVED, *_UNFINISHED},
    State.PROPOSED: {State.WAITING_PEER, State.APPROVED, *_UNFINISHED},
    State.WAITING_PEER: {State.APPROVED, *_UNFINISHED},
    State.APPROVED: {State.RUNNING, *_UNFINISHED},
    State.RUNNING: {State.KEPT, *_UNFINISHED},
    State.KEPT: {State.FINISHED, State.FAILED},
    State.FINISHED: set[State](),
    State.FAILED: {State.CANCELLED, State.DENIED},
    State.CANCELLED: {State.DENIED},
    State.DENIED: set[State](),
}
"""Which state may follow which."""


WAITING = (State.WAITING_OWN, State.PROPOSED, State.WAITING_PEER, State.APPROVED)
"""The states in which a job waits for a person or for the peer, and no longer than the party is patient."""


def check_way(job_id: str, before: State, after: State) -> None:
    """Check that `after` may follow `before`.

    Raises:
        JobError: it may not.
    """
    if after not in WAYS[before]:
        raise JobError(
            f"Job {job_id} is {before.value} and cannot become {after.value}.",
            "Look at it with `duetto job show`.",
            code="state",
        )
