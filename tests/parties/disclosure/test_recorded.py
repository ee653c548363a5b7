"""A record and the ledger's entry for it: both stand or neither, however the job ends between them."""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter

import pytest

from parties.disclosure.history import History
from parties.disclosure.log import HistoryError, OverlapError
from parties.ledger.accounting import Account
from smc.analyses.studies.facts import Whom
from tests.parties.disclosure.history_runs import job, record


class Full(Exception):
    """What a ledger ends with that cannot be written."""


def fail(path, less):
    assert path.stat().st_size > less
    raise Full


def test_persons_are_taken_back_where_the_ledger_gets_no_entry(history):
    kept = job(history, range(40), job="aaaa")
    record(history, kept)
    before = history.path.read_bytes()
    for names in (range(40), range(50)):
        with pytest.raises(Full), history.record(job(history, names, job="bbbb"), lambda: False):
            fail(history.path, len(before))
        assert history.path.read_bytes() == before
    assert [record.job for record in history.records()] == ["aaaa"]
    record(history, job(history, range(50), job="cccc"))  # it would be another record's data if it had stayed
    assert [record.job for record in History(history.path.parent).records()] == ["aaaa", "cccc"]


def unknown():
    raise HistoryError("The ledger cannot be read.", "")


@pytest.mark.parametrize("is_released", [lambda: True, unknown])
def test_persons_stay_where_the_ledger_has_its_entry_or_cannot_tell(history, is_released):
    with pytest.raises(Full), history.record(job(history, range(40), job="aaaa"), is_released):
        raise Full
    assert [record.job for record in history.records()] == ["aaaa"]


@pytest.mark.parametrize("names", [range(3), range(5000)])
@pytest.mark.parametrize("call", ["pwrite", "fsync"])
def test_a_record_that_a_full_disk_cuts_off_leaves_the_file_as_it_was(history, monkeypatch, call, names):
    record(history, job(history, range(40), job="aaaa"))
    before, real = history.path.read_bytes(), os.pwrite
    asked = job(history, names, job="bbbb", minimum=1)

    def full(file, data=b"", place=0):
        real(file, bytes(data)[: len(data) // 2], place)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, call, full)
        with pytest.raises(HistoryError, match="No space left"):
            record(history, asked)
    assert [record.job for record in history.records()] == ["aaaa"]
    record(history, asked)
    assert history.path.read_bytes().startswith(before)
    assert [record.job for record in History(history.path.parent).records()] == ["aaaa", "bbbb"]


def test_a_job_between_both_files_is_not_taken_for_one_that_the_ledger_lacks(history):
    """Another one is judged while the first has its persons kept and its entry not yet written."""
    mine, known, entered = job(history, range(40), job="aaaa"), Counter(), threading.Event()
    found = []

    def judge():
        entered.set()
        found.append(history.unlisted_jobs(mine.account, mine.peer, lambda: known))

    other = threading.Thread(target=judge)
    with history.record(mine, bool) as digest:
        other.start()
        entered.wait(10)
        other.join(0.2)
        assert other.is_alive()
        known[digest] += 1
    other.join(10)
    assert found == [()]


def shown(history, whom, **changes):
    """Keep a job whose figures are about these; the code of the refusal, if it is refused."""
    try:
        record(history, job(history, range(9), whom=whom, **changes))
    except OverlapError as refusal:
        return refusal.stable_code
    return None


def test_a_clustering_stands_alone_towards_a_peer(history):
    assert shown(history, Whom.MATCHES) is None
    assert shown(history, Whom.CLUSTERS) is None
    assert shown(history, Whom.MATCHES) is None
    for whom in (Whom.CLUSTERS, Whom.CELLS, Whom.FITS):
        assert shown(history, whom) == "overlap"
    # another peer, other people, no limits; and what the peer does not get
    assert shown(history, Whom.CLUSTERS, peer="west") is None
    assert shown(history, Whom.CLUSTERS, account=Account.of("others"), dataset="others") is None
    assert shown(history, Whom.CLUSTERS, minimum=1) is None
    assert shown(history, None) is None


def test_no_clustering_follows_tables_or_what_is_not_known(history):
    assert shown(history, Whom.CELLS) is None
    assert shown(history, Whom.CELLS) is None
    assert shown(history, Whom.CLUSTERS) == "overlap"
