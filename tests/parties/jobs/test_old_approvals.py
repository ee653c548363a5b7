"""Approvals by people that are older than a rule lets them be, by a clock that the test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from parties.contracts.state import State
from parties.errors import ConfigError
from parties.jobs.agreement.decisions import own_person
from parties.policy.rules import APPROVAL_DAYS, parse_policy
from tests.parties.jobs.joined import ROLES, job_file, wait_final
from tests.support.clocks import Moved


@pytest.fixture
def later(pair, monkeypatch):
    def move(**by):
        """A clock that has run on for so long."""
        for manager in pair.network.managers.values():
            time = Moved(datetime.now(UTC) + timedelta(**by))
            monkeypatch.setattr(manager.housekeeper, "wait_days", 1000)
            monkeypatch.setattr(manager.ledger, "clock", time.clock)

    return move


def approve(manager, job_id):
    manager.approve(job_id, own_person("Ann"), manager.store.digest(job_id).hex())


def approved_while_cut(pair, name):
    """A job that a person of that party has approved before the two met."""
    pair.allow(name, approval="person")
    manager = pair.network.managers[name]
    job_id = pair.north.submit(job_file()).job_id
    pair.network.down = True
    approve(manager, job_id)
    return job_id


def limit(pair, name, days):
    policy = pair.folder / name / "policy.toml"
    policy.write_text(policy.read_text() + f"approval_days = {days}\n")


@pytest.mark.parametrize("name", ROLES)
@pytest.mark.parametrize(
    ("days", "written", "holds"),
    [(APPROVAL_DAYS - 1, None, True), (APPROVAL_DAYS + 1, None, False), (3, 2, False), (40, 60, True)],
)
def test_a_job_begins_while_its_approval_holds(pair, later, name, days, written, holds):
    job_id = approved_while_cut(pair, name)
    if written is not None:
        limit(pair, name, written)
    later(days=days)
    pair.network.down = False
    records = {side: wait_final(pair.network.managers[side], job_id) for side in ROLES}
    expected = State.FINISHED if holds else State.FAILED
    assert {record.state for record in records.values()} == {expected}
    if not holds:
        assert "approval-expired" in {record.error_code for record in records.values()} | {
            word for record in records.values() for word in record.error_what.split("'")
        }
        assert pair.north.ledger.entries()[-1].event != "spent"


def test_an_approval_by_a_rule_does_not_age(pair, later):
    later(days=400)
    assert wait_final(pair.north, pair.north.submit(job_file()).job_id).state is State.FINISHED


@pytest.mark.parametrize("days", [0, -1, "3"])
def test_days_are_a_number_of_days(days):
    with pytest.raises(ConfigError, match="approval_days"):
        parse_policy({"rules": [{
            "analyses": ["*"], "peers": ["*"], "datasets": ["*"], "columns": ["*"],
            "recipients": ["both"], "approval_days": days,
        }]}, "policy.toml")  # fmt: skip
