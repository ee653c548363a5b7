"""Both sides come to the same end of a job, whatever is lost, repeated or late: rules, and two managers."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.contracts.state import WAYS, State
from parties.errors import JobError
from parties.jobs.agreement.messages import JobStatus, PeerState, parse_status
from parties.jobs.agreement.standing import settle, word_of
from parties.ports.interfaces import Outage
from smc.errors import PeerLost
from smc.forms import Role
from tests.parties.jobs.joined import ANN, approve, job_file, wait_final, wait_state
from tests.support.clocks import Moved

ENDS = [state for state in State if state.is_final]
DONE = (State.KEPT, State.FINISHED)
KNOWN = [state for state in State if state is not State.WAITING_OWN]


def possible(one: State, other: State) -> bool:
    """A side finishes only when it knows that the other has kept its result."""
    return (one is not State.FINISHED or other in DONE) and (other is not State.FINISHED or one in DONE)


def said(own: State, word: PeerState) -> State:
    for state in settle(own, word):
        assert state in WAYS[own], (own, word, state)
        own = state
    return own


@given(
    st.sampled_from([(p, q) for p in KNOWN for q in KNOWN if possible(p, q)]),
    st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6),
)
def test_two_sides_that_have_told_each_other_agree(states, exchanges):
    """In any order of words, of which any answer may be lost, and in the end one word each way."""
    sides = [*states]
    for speaker, answer_is_lost in [*exchanges, (0, False), (1, False)]:
        listener = 1 - speaker
        sides[listener] = said(sides[listener], word_of(sides[speaker], outgoing=not speaker))
        if not answer_is_lost:
            sides[speaker] = said(sides[speaker], word_of(sides[listener], outgoing=not listener))
    if any(side in ENDS for side in sides) or sides[0] is sides[1] is State.KEPT:
        assert sides[0] is sides[1]
    if State.FINISHED in states:
        assert sides == [State.FINISHED] * 2


@pytest.mark.parametrize("own", list(State))
@pytest.mark.parametrize("word", list(PeerState))
def test_every_word_in_every_state_leads_by_a_way_that_exists(own, word):
    last = said(own, word)
    assert own is not State.FINISHED or last is State.FINISHED
    assert last is not State.FINISHED or own in DONE, "only who has kept its result finishes"


def agreed(pair, job_id, *states):
    """Both sides' states of a job, when they have ended and nothing is owed any more."""
    found = [wait_final(manager, job_id).state for manager in (pair.north, pair.south)]
    deadline = threading.Event()
    for _ in range(200):
        found = [manager.store.summary(job_id).state for manager in (pair.north, pair.south)]
        owed = [*pair.north._outbox.debts("south"), *pair.south._outbox.debts("north")]
        if found[0] is found[1] and job_id not in owed:
            break
        deadline.wait(0.05)
    assert found[0] is found[1], found
    assert job_id not in owed
    assert found[0] in states
    return found[0]


@pytest.mark.parametrize("canceller", ["north", "south"])
def test_a_cancel_that_the_peer_could_not_hear_reaches_it_later(pair, canceller):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.network.down = True
    pair.network.managers[canceller].cancel(job_id, ANN)
    pair.network.down = False
    agreed(pair, job_id, State.CANCELLED)


def test_a_denial_that_the_peer_could_not_hear_survives_a_restart(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.network.down = True
    pair.south.deny(job_id, ANN, "no")
    pair.stop("south")
    pair.network.down = False
    pair.start("south")
    agreed(pair, job_id, State.DENIED)


def test_cancel_here_and_denial_there_end_alike(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.network.down = True
    pair.south.deny(job_id, ANN, "no")
    pair.north.cancel(job_id, ANN)
    pair.network.down = False
    agreed(pair, job_id, State.DENIED)


def test_an_approved_job_survives_the_absence_of_the_other_machine(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.stop("north")
    approve(pair.south, job_id)
    pair.stop("south")
    pair.start("north")
    waiting = pair.north.store.summary(job_id)
    assert "a person at south" in pair.north.waits_for(waiting)
    pair.start("south")
    agreed(pair, job_id, State.FINISHED)


def test_a_listener_learns_that_an_approved_job_has_failed_at_the_proposer(pair, monkeypatch):
    """It was left approved for ever: the proposer could not say that it had failed."""
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.network.down = True
    approve(pair.south, job_id)
    pair.north.store.fail(job_id, PeerLost("The connection broke."))
    pair.network.down = False
    agreed(pair, job_id, State.FAILED)
    assert pair.south.store.summary(job_id).error_code == "peer-failed"
    assert "'peer-lost'" in pair.south.store.summary(job_id).error_what


@pytest.mark.parametrize("behind", ["north", "south"])
def test_a_side_that_kept_its_result_and_lost_the_end_asks_and_finishes(pair, behind, monkeypatch):
    """It is killed between its own END and the peer's: the result that was paid for is not thrown away."""
    manager = pair.network.managers[behind]
    monkeypatch.setattr(manager.store, "finish", lambda job_id: None)
    job_id = pair.north.submit(job_file("1/2")).job_id
    wait_state(manager, job_id, State.KEPT)
    pair.network.down = True
    pair.stop(behind)
    manager = pair.start(behind)
    assert manager.store.summary(job_id).state is State.KEPT
    with pytest.raises(JobError, match="kept and cannot become cancelled"):
        manager.cancel(job_id, ANN)
    with pytest.raises(JobError, match="no result"):
        manager.result(job_id)
    assert "to confirm that it saved its result" in manager.waits_for(manager.store.summary(job_id))
    pair.network.down = False
    agreed(pair, job_id, State.FINISHED)
    assert manager.result(job_id)


def test_a_result_that_only_one_side_kept_is_no_result(pair, monkeypatch):
    def full(*_):
        raise JobError("The disk is full.", code="disk-full")

    monkeypatch.setattr(pair.south.store, "keep", full)
    job_id = pair.north.submit(job_file("1/2")).job_id
    agreed(pair, job_id, State.FAILED)
    with pytest.raises(JobError, match="no result"):
        pair.north.result(job_id)


@pytest.mark.parametrize("verb", ["propose", "tell"])
def test_answers_that_get_lost_change_nothing(pair, verb):
    """Each first answer is lost after the peer has acted on the word."""
    lost = []

    def lose(answer):
        if len(lost) < 3:
            lost.append(answer)
            raise PeerLost("The connection broke.")
        return answer

    pair.network.spoil = {verb: lose}
    job_id = pair.north.submit(job_file("1/2")).job_id
    agreed(pair, job_id, State.FINISHED)
    assert lost
    assert [len(manager.store.all()) for manager in (pair.north, pair.south)] == [1, 1]


def test_what_waits_too_long_ends_on_both_sides_and_frees_its_place(pair, monkeypatch):
    monkeypatch.setattr("parties.jobs.agreement.negotiation.OPEN_JOBS", 1)
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    moved = Moved(datetime.now(UTC))
    moved.seconds = pair.south.store._clock.elapsed()
    moved.passes(timedelta(days=15))
    later = moved.starts_again()
    monkeypatch.setattr(pair.south.store, "_clock", later)  # first: what ends then has ended just now
    monkeypatch.setattr(pair.south.ledger, "clock", later)
    agreed(pair, job_id, State.FAILED)
    assert pair.south.store.summary(job_id).error_code == "expired"
    assert "'expired'" in pair.north.store.summary(job_id).error_what
    pair.north.submit(job_file())


def test_a_peer_that_lost_its_jobs_does_not_leave_them_waiting_here(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.stop("south")
    for file in (pair.folder / "south").glob("jobs.sqlite*"):
        file.unlink()
    pair.start("south")
    assert wait_final(pair.north, job_id).error_code == "peer-unknown"


def test_nothing_is_owed_for_what_the_peer_never_saw(pair):
    pair.allow("north", approval="person")
    for end in (
        lambda job_id: pair.north.deny(job_id, ANN, "no"),
        lambda job_id: pair.north.cancel(job_id, ANN),
    ):
        end(pair.north.submit(job_file()).job_id)
    assert pair.north._outbox.debts("south") == []
    assert pair.network.said == []


def test_the_outbox_is_filled_by_the_database_itself(pair):
    """Whoever changes a state, and also with no courier at work, owes the word."""
    pair.network.down = True
    job_id = pair.north.submit(job_file()).job_id
    assert pair.north._outbox.debts("south") == [job_id]
    pair.stop("north")
    north = pair.start("north", resume=False)
    assert north._outbox.debts("south") == [job_id]
    north.store.fail(job_id, JobError("x"))
    assert north._outbox.debts("south") == [job_id]
    north._outbox.acknowledge(job_id, State.PROPOSED)
    assert north._outbox.debts("south") == [job_id], "an old word is acknowledged, not the new one"
    north._outbox.acknowledge(job_id, State.FAILED)
    assert north._outbox.debts("south") == []


def test_a_cancel_of_a_running_job_is_not_overtaken_by_its_result(pair):
    """Once its result is kept a job is not cancelled, and a cancelled job keeps no result."""
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.north, job_id, State.RUNNING)
    pair.north.cancel(job_id, ANN)
    stop.set()
    agreed(pair, job_id, State.CANCELLED)


def test_a_running_job_ends_when_the_peer_says_so(pair):
    stop = threading.Event()
    pair.analysis["south"].stops = {Role.BOB: stop}
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.RUNNING)
    answer = pair.south.tell("north", JobStatus(job_id, PeerState.FAILED, "interrupted").encode())
    assert parse_status(answer).word is PeerState.FAILED
    stop.set()
    agreed(pair, job_id, State.FAILED)


def test_a_job_that_a_rule_allows_is_signed_when_it_is_proposed_again(pair, monkeypatch):
    """A daemon that was killed between keeping a proposal and signing it asks no person for it."""
    call, sign = pair.network.call, pair.south._negotiation._sign
    monkeypatch.setattr(pair.south._negotiation, "_sign", lambda record, **changes: None)

    def killed(verb, me, peer, body):
        answer = call(verb, me, peer, body)
        if verb != "propose":
            return answer
        monkeypatch.setattr(pair.network, "call", call)
        monkeypatch.setattr(pair.south._negotiation, "_sign", sign)
        raise PeerLost("The connection broke.")

    monkeypatch.setattr(pair.network, "call", killed)
    job_id = pair.north.submit(job_file()).job_id
    agreed(pair, job_id, State.FINISHED)


def test_a_running_job_says_on_both_sides_that_its_connection_is_lost(pair):
    stop = pair.analysis["south"].stops[Role.BOB] = threading.Event()
    job_id = pair.north.submit(job_file()).job_id
    assert pair.analysis["south"].reached[Role.BOB].wait(10)
    watching = pair.north.watch(job_id)
    while (seen := next(watching)).state is not State.RUNNING:
        pass
    assert pair.north.waits_for(seen) == ""
    pair.network.outages[job_id] = Outage(12.4, 120)
    shown = next(job for job in watching if pair.north.waits_for(job))
    for manager, peer in ((pair.north, "south"), (pair.south, "north")):
        text = f"a new connection to {peer}: lost for 12 s, trying again (limit 120 s)"
        assert manager.waits_for(shown if peer == "south" else manager.store.summary(job_id)) == text
    del pair.network.outages[job_id]
    stop.set()
    agreed(pair, job_id, State.FINISHED)
    assert pair.north.waits_for(pair.north.store.summary(job_id)) == ""
