"""Two managers in one process: from a job file to results on both sides, and every way to say no."""

from __future__ import annotations

import json
import threading
from fractions import Fraction

import pytest

from parties.errors import BudgetError, DataError, JobError, PeerRefused
from parties.jobs.state import State
from parties.ledger.accounting import Account
from parties.ledger.entries import DECISIONS, LedgerError
from parties.ledger.gate import GATE_BYTES, GATE_ROUNDS
from smc.errors import DomainError, DuettoError, UsageError
from smc.forms import Role
from tests.parties.jobs.joined import ANN, approve, job_file, wait_final, wait_state
from tests.support.keys import toy


def results(manager, job_id):
    return json.loads(manager.result(job_id))


def spent(manager, peer):
    return manager.ledger.spent(Account.of("numbers"), peer).loss.epsilon


def run(pair, text=None, sender="north"):
    manager = pair.network.managers[sender]
    job_id = manager.submit(text or job_file()).job_id
    return job_id, wait_final(pair.north, job_id), wait_final(pair.south, job_id)


@pytest.mark.parametrize("sender", ["north", "south"])
def test_a_whole_job_whoever_proposes(pair, sender):
    job_id, north, south = run(pair, sender=sender)
    assert (north.state, south.state) == (State.FINISHED, State.FINISHED)
    assert north.contract.digest == south.contract.digest
    assert (north.own_signature, north.peer_signature) == (south.peer_signature, south.own_signature)
    for manager in (pair.north, pair.south):
        document = results(manager, job_id)
        assert document["outcome"]["tables"] == [{"name": "sum", "columns": {"total": [62]}}]
        facts = document["facts"]
        rounds, both_ways = 1 + GATE_ROUNDS, 8 + GATE_BYTES
        assert (facts["rounds"], facts["sent"], facts["received"]) == (rounds, both_ways, both_ways)
        assert (facts["estimate"]["rounds"], facts["rows"]) == (rounds, 2)
        assert facts["leakage"]["public"] == ["the number of rows"]
        begun, signed = (entry for entry in manager.ledger.entries() if entry.event not in DECISIONS)
        assert (begun.event, begun.job, begun.rule) == ("run", north.contract.digest.hex(), "additions")
        assert (signed.event, signed.subject) == ("countersigned", begun.hash)


def test_only_recipients_get_tables(pair):
    text = job_file().replace('["alice", "bob"]', '["bob"]')
    job_id, *_ = run(pair, text)
    assert results(pair.north, job_id)["outcome"]["tables"] == []
    assert results(pair.south, job_id)["outcome"]["tables"]


def test_a_loss_stands_in_both_ledgers(pair):
    job_id, *_ = run(pair, job_file("1/2"))
    facts = results(pair.north, job_id)["facts"]
    assert {name: facts["estimate"][name] for name in ("rounds", "sent", "received")} == {
        name: facts[name] for name in ("rounds", "sent", "received")
    }
    assert spent(pair.north, "south") == Fraction(1, 2)
    assert spent(pair.south, "north") == Fraction(1, 2)
    written = [entry.event for entry in pair.north.ledger.entries() if entry.event not in DECISIONS]
    assert written == ["run", "spent", "countersigned"]


def test_the_same_job_twice_is_two_jobs(pair):
    assert run(pair)[0] != run(pair)[0]


def test_each_person_is_asked_and_can_approve(pair):
    pair.allow("north", approval="person")
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file("1/2"))
    assert record.state is State.WAITING_OWN
    with pytest.raises(JobError):
        pair.south.store.get(record.job_id)
    assert approve(pair.north, record.job_id).state is State.WAITING_PEER
    assert pair.south.store.get(record.job_id).state is State.WAITING_OWN
    with pytest.raises(JobError, match="waits for nobody"):
        approve(pair.north, record.job_id)
    approve(pair.south, record.job_id[:8])
    assert wait_final(pair.north, record.job_id).state is State.FINISHED
    assert wait_final(pair.south, record.job_id).state is State.FINISHED


def test_a_person_at_home_denies(pair):
    pair.allow("north", approval="person")
    record = pair.north.submit(job_file())
    denied = pair.north.deny(record.job_id, ANN, "not now")
    assert denied.state is State.DENIED
    assert "not now" in denied.error_what
    assert pair.network.said == []


def test_a_person_at_the_peer_denies_and_the_reason_stays_there(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    assert record.state is State.WAITING_PEER
    assert pair.south.deny(record.job_id, ANN, "canary").state is State.DENIED
    found = wait_final(pair.north, record.job_id)
    assert (found.state, found.error_code) == (State.DENIED, "denied")
    assert not any(b"canary" in body for _, body in pair.network.said)


def test_a_decision_that_got_lost_is_asked_for_again(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.down = True
    assert approve(pair.south, record.job_id).state is State.APPROVED
    assert pair.north.store.get(record.job_id).state is State.WAITING_PEER
    pair.network.down = False
    assert wait_final(pair.north, record.job_id).state is State.FINISHED


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda text: text.replace('"value"', '"valeu"'), DataError),
        (lambda text: text.replace('"numbers"', '"nubmers"'), DataError),
        (lambda text: text.replace('"addition"', '"adition"'), JobError),
        (lambda text: text.replace("{ v =", "{ w ="), JobError),
        (lambda text: text.replace("epsilon", "epsilom"), UsageError),
        (lambda text: text.replace('["alice", "bob"]', "[]"), UsageError),
        (lambda text: text.replace("seconds = 60", "seconds = 100000"), JobError),
        (lambda text: text.replace('"north"', '"west"'), JobError),
        (lambda text: text.replace('epsilon = "0"', 'epsilon = "2"'), BudgetError),
    ],
)
def test_what_fails_at_home_is_never_proposed(pair, change, kind):
    with pytest.raises(kind) as caught:
        pair.north.submit(change(job_file()))
    assert caught.value.mend
    assert pair.network.said == []
    assert pair.north.store.all() == []


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("kind", ["share", "ciphertext"])
def test_shares_and_ciphertexts_have_to_fit_the_keys(pair, kind, role):
    key = toy(role.other if kind == "ciphertext" else role).public
    bound = int(key.n_squared if kind == "ciphertext" else key.n)
    home = pair.folder / ("north" if role is Role.ALICE else "south")
    declared = f'type = "share"\nmodulus = "{role.value}"' if kind == "share" else 'type = "ciphertext"'
    catalog = home / "catalog.toml"
    catalog.write_text(catalog.read_text().replace('type = "integer"\nlower = 0\nupper = 1000', declared))
    manager = pair.north if role is Role.ALICE else pair.south
    for value, fits in ((bound - 1, True), (bound, False)):
        (home / "numbers.csv").write_text(
            f"value\n{value:x}\n" if kind == "ciphertext" else f"value\n{value}\n"
        )
        if fits:
            wait_final(manager, manager.submit(job_file()).job_id)
        else:
            with pytest.raises(DataError, match="row 1"):
                manager.submit(job_file())


def test_bad_rows_at_home_are_found_before_anything_is_said(pair):
    (pair.folder / "north" / "numbers.csv").write_text("value\n1\n1001\n")
    with pytest.raises(DataError, match="row 2"):
        pair.north.submit(job_file())
    assert pair.network.said == []


def test_an_unpaired_peer(pair):
    with pytest.raises(DuettoError, match="west"):
        pair.north.submit(job_file().replace('"south"', '"west"'))


@pytest.mark.parametrize(
    ("spoil", "code", "state"),
    [
        (lambda pair: pair.forbid("south"), "policy", State.DENIED),
        (lambda pair: pair.allow("south", total="1/4"), "budget", State.DENIED),
        (
            lambda pair: (pair.folder / "south" / "numbers.csv").write_text("value\n\n7\n"),
            "data",
            State.FAILED,
        ),
        (lambda pair: (pair.folder / "south" / "numbers.csv").unlink(), "data", State.FAILED),
        (lambda pair: (pair.folder / "south" / "policy.toml").write_text("x = 1"), "config", State.FAILED),
        (
            lambda pair: (pair.folder / "south" / "ledger.jsonl").write_text("broken\n"),
            "ledger",
            State.FAILED,
        ),
    ],
)
def test_the_peer_refuses_with_a_code_only(pair, spoil, code, state):
    spoil(pair)
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(job_file("1/2"))
    assert caught.value.stable_code == code
    assert pair.north.store.all()[0].state is state
    assert pair.south.store.all() == []
    assert pair.network.said[-1] == ("propose", code.encode())
    assert {entry.event for entry in pair.north.ledger.entries()} == {"approved"}


def test_a_peer_that_is_away(pair):
    """The job waits for it, says so, and goes on when it is back."""
    pair.network.down = True
    job_id = pair.north.submit(job_file()).job_id
    waiting = pair.north.store.summary(job_id)
    assert (waiting.state, waiting.error_code) == (State.PROPOSED, "")
    assert "an answer of south" in pair.north.waits_for(waiting)
    assert "cannot be reached" in pair.north.waits_for(waiting)
    pair.network.down = False
    assert wait_final(pair.north, job_id).state is State.FINISHED
    assert wait_final(pair.south, job_id).state is State.FINISHED
    assert pair.north.waits_for(pair.north.store.summary(job_id)) == ""


def test_a_broken_ledger_stops_all_jobs(pair):
    (pair.folder / "north" / "ledger.jsonl").write_text("broken\n")
    with pytest.raises(LedgerError):
        pair.north.submit(job_file("1/2"))
    with pytest.raises(LedgerError):
        pair.north.submit(job_file())
    assert pair.north.store.all() == pair.south.store.all() == []


def test_two_jobs_for_the_last_budget(pair):
    for name in ("north", "south"):
        pair.allow(name, total="1")
        pair.analysis[name].stops = {role: threading.Event() for role in Role}
    jobs = [pair.north.submit(job_file("3/4")).job_id for _ in range(2)]
    for job_id in jobs:
        wait_state(pair.north, job_id, State.RUNNING)
    for analysis in pair.analysis.values():
        for stop in analysis.stops.values():
            stop.set()
    ended = [wait_final(pair.north, job_id) for job_id in jobs]
    states = sorted(record.state.value for record in ended)
    assert states in (["failed", "finished"], ["failed", "failed"])
    for manager, peer in ((pair.north, "south"), (pair.south, "north")):
        assert spent(manager, peer) <= 1


@pytest.mark.parametrize("canceller", ["north", "south"])
def test_cancel_in_the_middle_ends_both_and_frees_the_next(pair, canceller):
    stop = threading.Event()
    analysis = pair.analysis[canceller]
    analysis.stops = {Role.ALICE if canceller == "north" else Role.BOB: stop}
    record = pair.north.submit(job_file("1/2"))
    wait_state(pair.north, record.job_id, State.RUNNING)
    wait_state(pair.south, record.job_id, State.RUNNING)
    pair.network.managers[canceller].cancel(record.job_id, ANN)
    stop.set()
    for manager in (pair.north, pair.south):
        # The end of the session may come before the word that it was cancelled, and gives way to it.
        found = wait_state(manager, record.job_id, State.CANCELLED)
        assert not found.kept
        with pytest.raises(JobError, match="no result"):
            manager.result(record.job_id)
    with pytest.raises(JobError):
        pair.north.cancel(record.job_id, ANN)
    analysis.stops = {}
    assert run(pair)[1].state is State.FINISHED


@pytest.mark.parametrize("canceller", ["north", "south"])
def test_cancel_while_waiting(pair, canceller):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.managers[canceller].cancel(record.job_id, ANN)
    assert pair.north.store.get(record.job_id).state is State.CANCELLED
    assert pair.south.store.get(record.job_id).state is State.CANCELLED
    with pytest.raises(JobError):
        approve(pair.south, record.job_id)


@pytest.mark.parametrize("late", [False, True])
def test_an_analysis_that_fails_before_the_gate_spends_nothing_and_later_keeps_the_loss(pair, late):
    pair.analysis["south"].failure = UsageError("Cannot.", "Do not.")
    pair.analysis["south"].fails_late = late
    _, north, south = run(pair, job_file("1/2"))
    assert (south.state, south.error_code, south.error_mend) == (State.FAILED, "usage", "Do not.")
    assert (north.state, north.error_code) == (State.FAILED, "peer-aborted")
    for manager, peer in ((pair.north, "south"), (pair.south, "north")):
        assert spent(manager, peer) == (Fraction(1, 2) if late else 0)


def test_a_defect_of_the_analysis_tells_no_value(pair):
    pair.analysis["north"].failure = ValueError("canary 12345")
    _, north, _ = run(pair)
    assert north.error_code == "internal"
    assert "canary" not in north.error_what


def test_results_around_the_gate_are_thrown_away(pair):
    pair.analysis["north"].skip_gate = pair.analysis["south"].skip_gate = True
    _, north, south = run(pair, job_file("1/2"))
    assert (north.error_code, north.kept) == ("release", False)
    assert not south.kept
    assert run(pair)[1].error_code == "release"  # so are those of a job that spends nothing
    pair.analysis["north"].skip_gate = pair.analysis["south"].skip_gate = False
    assert run(pair)[1].state is State.FINISHED


def test_a_change_of_policy_or_catalog_after_signing_stops_the_run(pair):
    pair.network.down = False
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.declare("south", unit="months")
    with pytest.raises(JobError, match="declarations"):
        approve(pair.south, record.job_id)
    pair.declare("south")
    pair.forbid("north")
    approve(pair.south, record.job_id)
    assert wait_final(pair.north, record.job_id).error_code == "policy"
    assert wait_final(pair.south, record.job_id).state is State.FAILED


def test_runs_per_day_counts_runs(pair):
    path = pair.folder / "south" / "policy.toml"
    path.write_text(path.read_text() + "runs_per_day = 1\n")
    assert run(pair)[1].state is State.FINISHED
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "policy"


# Restarts


def test_after_a_restart_everything_is_known_and_pending_jobs_go_on(pair):
    done = run(pair)[0]
    pair.allow("south", approval="person")
    waiting = pair.north.submit(job_file()).job_id
    pair.stop("north")
    approve(pair.south, waiting)
    pair.start("north")
    assert results(pair.north, done)["outcome"]["tables"]
    assert wait_final(pair.north, waiting).state is State.FINISHED


def test_an_approved_job_is_dialled_again_after_a_restart(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.down = True
    approve(pair.south, record.job_id)
    pair.stop("north")
    pair.network.down = False
    north = pair.start("north", resume=False)
    north._negotiation.tell(record.job_id)
    assert north.store.summary(record.job_id).state is State.APPROVED
    pair.stop("north")
    north = pair.start("north")
    assert wait_final(north, record.job_id).state is State.FINISHED


def test_a_run_is_not_repeated_after_a_restart_and_the_loss_stays(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file("1/2"))
    wait_state(pair.north, record.job_id, State.RUNNING)
    pair.north.store.recover()
    stop.set()
    found = pair.north.store.get(record.job_id)
    assert (found.state, found.error_code) == (State.FAILED, "interrupted")


def test_a_stopped_daemon_fails_what_runs(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file())
    wait_state(pair.north, record.job_id, State.RUNNING)
    threading.Timer(0.2, stop.set).start()
    pair.stop("north")
    assert pair.start("north").store.get(record.job_id).state is State.FAILED
    assert wait_final(pair.south, record.job_id).state is State.FAILED


def test_watching_shows_changes_until_the_end(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file())
    states = []
    for seen in pair.north.watch(record.job_id):
        states.append(seen.state)
        if seen.state is State.RUNNING:
            stop.set()
    assert states[-1] is State.FINISHED
    assert State.RUNNING in states


def test_check_and_estimate_change_nothing(pair):
    report = pair.north.check(job_file("1/2"))
    assert report["verdict"]["allowed"]
    assert (report["role"], report["rows"], report["epsilon"]) == ("alice", 2, "1/2")
    assert report["leakage"]["alice"] == ["the sum"]
    assert pair.north.estimate(job_file("1/2"), 0, 0, 0)["rounds"] == 3
    report = pair.north.estimate(job_file(), 1000, 20.0, 100.0)
    assert report["network_seconds"] == pytest.approx(0.03 + 8 * (8 + GATE_BYTES) / 1e8, abs=1e-6)
    assert report["total_seconds"] == pytest.approx(report["seconds"] + report["network_seconds"], abs=1e-6)
    assert pair.north.store.all() == []
    pair.forbid("north")
    assert not pair.north.check(job_file())["verdict"]["allowed"]


REFUSED_ROWS = {"code": "overflow", "what": "Too many rows.", "mend": "Take others."}


def test_check_and_estimate_tell_what_the_analysis_finds_in_the_own_rows(pair):
    assert pair.north.check(job_file())["preview"] == {
        "notes": ["seen"],
        "details": {"rows": 2},
        "refusal": None,
    }
    assert pair.north.estimate(job_file(), 0, 0, 0)["preview"]["details"] == {"rows": 2}
    assert pair.north.estimate(job_file(), 1000, 0, 0)["preview"] is None
    pair.analysis["north"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    report = pair.north.check(job_file())
    assert report["preview"]["refusal"] == REFUSED_ROWS
    assert report["verdict"]["allowed"]
    assert pair.north.estimate(job_file(), 0, 0, 0)["preview"]["refusal"] == REFUSED_ROWS


def test_rows_that_a_run_would_refuse_are_refused_before_a_job_is_proposed(pair):
    pair.analysis["north"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    with pytest.raises(DomainError) as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "overflow"
    assert pair.network.said == []


def test_a_proposer_is_not_told_what_the_rows_would_make_a_run_refuse(pair):
    """Else proposals, which cost nothing, would tell it how many rows there are. People at home are told."""
    pair.analysis["south"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    assert pair.south.store.summary(job_id).state is State.WAITING_OWN
    with pytest.raises(DomainError, match="Too many rows"):
        approve(pair.south, job_id)


def test_no_value_or_key_in_messages_between_the_parties(pair):
    canary = "777777777777"
    catalog = pair.folder / "south" / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("1000", "1000000000000"))
    (pair.folder / "south" / "numbers.csv").write_text(f"value\n{canary}\n")
    assert run(pair)[1].state is State.FINISHED
    (pair.folder / "south" / "numbers.csv").write_text(f"value\n{canary}0\n")
    with pytest.raises(PeerRefused):
        pair.north.submit(job_file())
    said = b"".join(body for _, body in pair.network.said)
    assert canary.encode() not in said
    assert str(int(pair._identities["south"].paillier.p)).encode() not in said
