"""Jobs whose declared columns do not fit: the proposer learns why, and nothing is kept at the other party."""

from __future__ import annotations

import pytest

from parties.errors import JobError
from parties.jobs.messages import Answer, Word, parse_answer
from parties.jobs.state import State
from smc.errors import UsageError
from tests.parties.jobs.joined import job_file


def test_the_proposer_finds_for_itself_why_columns_do_not_fit(pair):
    pair.declare("south", unit="months")
    with pytest.raises(UsageError, match="The units of column v differ") as caught:
        pair.north.submit(job_file("1/2"))
    assert caught.value.mend == "Declare the same unit."
    record = pair.north.store.all()[0]
    assert (record.state, record.error_code) == (State.FAILED, "usage")
    assert pair.south.store.all() == []


def test_a_peer_that_calls_fitting_columns_unfit(pair):
    def unfit(answer):
        return Answer(Word.UNFIT, parse_answer(answer).contract).encode()

    pair.network.spoil["propose"] = unfit
    with pytest.raises(JobError, match="this party does not") as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "contract"
    assert pair.north.store.all()[0].state is State.FAILED
