"""What this party owes its peers a word about, on disk with the jobs themselves.

A row says that the peer has not yet heard, or not yet answered, where a job stands. The database writes
it in the same transaction as the state of the job, by a trigger, whoever changes the state: no word can be
forgotten, by no line of the program and by no crash. There is one row for a job, since only its newest state
matters; it goes when the peer has acknowledged that state, or when the job has moved on to a state about
which nothing is owed. Telling twice does no harm, see `parties.jobs.agreement.standing`.

state of the job               the peer is owed
proposed (sent)                the proposal
waiting for the peer           the question how it has decided
approved (sent)                this party's signature, and the session
approved (the peer's job)      this party's signature
kept                           the word that the result is kept
failed, cancelled, denied      that word, if the peer may not know it yet
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from parties.contracts.state import State
from parties.jobs.storage.database import Database
from parties.jobs.storage.reading import FILE
from parties.jobs.storage.results import ResultFolder

_SCHEMA: Final = (
    "create table if not exists outbox (job_id text primary key, peer text not null)",
    """create trigger if not exists outbox_of_new_jobs after insert on jobs
    when new.outgoing and new.state = 'proposed' begin
        insert or replace into outbox values (new.job_id, new.peer);
    end""",
    # The last conditions: of a job that the peer never saw, and of its own answer, it need not hear.
    """create trigger if not exists outbox_of_moved_jobs after update of state on jobs
    when new.state != old.state begin
        delete from outbox where job_id = new.job_id;
        insert into outbox select new.job_id, new.peer where (
            new.state in ('kept', 'failed', 'cancelled', 'denied')
            or (new.outgoing and new.state in ('proposed', 'waiting-peer', 'approved'))
            or (not new.outgoing and new.state = 'approved')
        )
        and not (old.outgoing and old.state = 'waiting-own-approval' and new.state != 'proposed')
        and not (old.outgoing and old.state = 'proposed' and new.state = 'denied');
    end""",
    """create trigger if not exists outbox_of_dropped_jobs after delete on jobs begin
        delete from outbox where job_id = old.job_id;
    end""",
    """insert or ignore into outbox select job_id, peer from jobs
    where state = 'kept' or (outgoing and state in ('proposed', 'waiting-peer', 'approved'))
    or (not outgoing and state = 'approved')""",
)


class Outbox:
    """The words that are owed. Thread-safe.

    Args:
        home: the folder of the party, whose store is open already.

    Raises:
        StorageError: the database cannot be opened or written.
    """

    def __init__(self, home: Path) -> None:
        self._changed = threading.Condition()
        self._database = Database(home / FILE, ResultFolder(home))
        with self._database.transaction():
            for statement in _SCHEMA:
                self._database.execute(statement)

    def close(self) -> None:
        """Close the database."""
        with self._changed:
            self._database.close()

    def debts(self, peer: str) -> list[str]:
        """The jobs about which a peer is owed a word, the oldest debt first.

        Raises:
            StorageError: the database cannot be read.
        """
        with self._changed:
            rows = self._database.rows("select job_id from outbox where peer = ? order by rowid", (peer,))
        return [row["job_id"] for row in rows]

    def acknowledge(self, job_id: str, state: State) -> None:
        """Take note that the peer knows that a job is in a state; nothing happens if it has moved on.

        Raises:
            StorageError: the database cannot be written.
        """
        with self._changed:
            self._database.execute(
                "delete from outbox where job_id = ? and exists "
                "(select 1 from jobs where job_id = outbox.job_id and state = ?)",
                (job_id, state.value),
            )
            self._changed.notify_all()

    def wait(self, job_id: str, seconds: float) -> bool:
        """Wait until nothing is owed about a job; whether that was so in time."""
        query = "select 1 from outbox where job_id = ?"
        with self._changed:
            return self._changed.wait_for(lambda: not self._database.rows(query, (job_id,)), seconds)
