"""Two managers in one process: every way to say no, at home, at the peer, and what the other learns."""

from __future__ import annotations

import logging
import threading

import pytest

from parties.contracts.state import State
from parties.errors import BudgetError, DataError, JobError, PeerRefused
from parties.ledger.entries import LedgerError
from smc.errors import DomainError, DuettoError, UsageError
from smc.forms import Role
from tests.parties.jobs.joined import approve, job_file, run, spent, wait_final, wait_state
from tests.support.keys import toy


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
    assert caught.value.hint
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


def test_the_log_of_who_refuses_says_which_rule_and_why(pair, caplog):
    pair.allow("south", total="1/4")
    with caplog.at_level(logging.INFO, "duetto.jobs"), pytest.raises(PeerRefused):
        pair.north.submit(job_file("1/2"))
    (line,) = (record.getMessage() for record in caplog.records if "and refused" in record.getMessage())
    assert "proposed by north and refused: The policy does not allow this job: rule " in line
    assert "epsilon 0.25 left of 0.25" in line


@pytest.mark.parametrize(
    "spoil",
    [
        lambda pair: (pair.folder / "south" / "numbers.csv").write_text("value\n\n7\n"),
        lambda pair: (pair.folder / "south" / "numbers.csv").unlink(),
    ],
)
def test_what_rows_say_is_told_by_a_run_that_counts(pair, spoil):
    spoil(pair)
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert wait_final(pair.south, job_id).error_code == "data"
    assert "run" in {entry.event for entry in pair.south.ledger.entries()}


def test_more_lanes_than_either_daemon_grants(pair):
    with pytest.raises(JobError, match="asks for 3 lanes; this daemon grants 1") as caught:
        pair.north.submit(job_file() + LANES)
    assert "lanes = 1" in caught.value.hint
    assert "start the daemon again" in caught.value.hint
    assert pair.network.said == []
    pair.lanes["north"] = 3
    pair.stop("north")
    pair.start("north")
    with pytest.raises(PeerRefused, match="grants fewer lanes") as refused:
        pair.north.submit(job_file() + LANES)
    assert refused.value.stable_code == "lanes"
    assert "[compute]" in refused.value.hint
    assert pair.south.store.all() == []


LANES = "\n[compute]\nlanes = 3\n"


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


def test_rows_that_a_run_would_refuse_are_refused_before_a_job_is_proposed(pair):
    pair.analysis["north"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    with pytest.raises(DomainError) as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "overflow"
    assert pair.network.said == []


def test_a_proposer_is_not_told_what_the_rows_would_make_a_run_refuse(pair):
    """Else proposals, which cost nothing, would tell it how many rows there are. Local people see it."""
    pair.analysis["south"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    assert pair.south.store.summary(job_id).state is State.WAITING_OWN
    with pytest.raises(DomainError, match="Too many rows"):
        approve(pair.south, job_id)
