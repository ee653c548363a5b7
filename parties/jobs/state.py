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
    FINISHED = "finished"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing follows."""
        return not WAYS[self]


WAYS = {
    State.WAITING_OWN: {State.PROPOSED, State.APPROVED, State.DENIED, State.FAILED, State.CANCELLED},
    State.PROPOSED: {State.WAITING_PEER, State.APPROVED, State.DENIED, State.FAILED, State.CANCELLED},
    State.WAITING_PEER: {State.APPROVED, State.DENIED, State.FAILED, State.CANCELLED},
    State.APPROVED: {State.RUNNING, State.FAILED, State.CANCELLED},
    State.RUNNING: {State.FINISHED, State.FAILED, State.CANCELLED},
    State.FINISHED: set[State](),
    State.FAILED: set[State](),
    State.DENIED: set[State](),
    State.CANCELLED: set[State](),
}
"""Which state may follow which."""


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
