"""Results that stay in shares: nothing is opened, and none leaves before the peer's transfers are checked."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import InconsistentTransfers, UsageError
from smc.forms import ComparisonType, Role
from smc.network import Network
from smc.oblivious.correlated_transfers import TransferColumns
from smc.oblivious.silent_consistency import SilentAnswer
from smc.oblivious.silent_transfers import Refill
from smc.pair import run_pair
from smc.planning.route import plan_comparison
from smc.planning.run import prepare, run_plan
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain
from tests.support.bent_transfers import bend_refill, bend_refills

COUNT, BITS = 64, 12
X, Y = (step * np.arange(COUNT) % (1 << BITS) for step in (797, 1201))
SLOW = Network(rtt_ms=20, mbit=100)
NUMBER = Schema("integer", lower=0, upper=(1 << BITS) - 1)
CARDS = 4000


def comparison(engine):
    """A job whose delta stays in shares, and the columns of both sides."""
    study = ANALYSES["comparison"].parse({"type": "PN-NP-SS", "bits": BITS, "engine": engine})
    return study, {Role.ALICE: {"x": Column(X, NUMBER)}, Role.BOB: {"y": Column(Y, NUMBER)}}


def matching():
    """Exact matching whose figures stay in shares."""
    parameters = {"method": "exact", "keys": ["card"], "output": "shares"}
    study = ANALYSES["matching"].parse(parameters | {"values": [{"side": "bob", "column": "v"}]})
    cards = {
        role: Column([str(number + start) for number in range(CARDS)], Schema("text"))
        for role, start in ((Role.ALICE, 0), (Role.BOB, CARDS // 2))
    }
    values = Column(np.arange(CARDS) % 100, NUMBER)
    return study, {Role.ALICE: {"card": cards[Role.ALICE]}, Role.BOB: {"card": cards[Role.BOB], "v": values}}


def bend(message):
    """Bend a refill, or half of the rows of a matrix of extended transfers."""
    bend_refill(message)
    if isinstance(message, TransferColumns):
        message.matrix.values[:16] ^= 255


def run(program, *, bends=None, network=None):
    """What Alice ends with, a result or an error, and how many messages of each kind Bob has sent.

    Bob bends his messages of the kind `bends`.
    """
    ends, sent = {}, Counter()

    def side(session):
        if session.role is Role.BOB:
            honest = session.channel.send

            def send(message):
                sent[type(message)] += 1
                if type(message) is bends:
                    bend(message)
                honest(message)

            session.channel.send = send
        try:
            ends[session.role] = program(session)
        except Exception as error:
            ends[session.role] = error
            raise

    try:
        run_pair(side, network=network)
    except Exception:
        if bends is None:
            raise
    return ends[Role.ALICE], sent


def study_of(study, data):
    """The program of a job."""
    return lambda session: run_study(study, session, data[session.role], frozenset(Role), Limits(0).of_both)


def job(name):
    """The program of a job, the link it is planned for, and a message of the transfers that it makes."""
    if name == "matching":
        return study_of(*matching()), SLOW, Refill
    return study_of(*comparison(name)), None, Refill if name == "silent" else TransferColumns


@pytest.mark.parametrize("name", ["silent", "oblivious", "matching"])
def test_a_job_gives_no_shares_that_rest_on_bent_transfers(name):
    program, network, message = job(name)
    ended, sent = run(program, bends=message, network=network)
    assert sent[message]
    assert type(ended) is InconsistentTransfers


@pytest.mark.parametrize("name", ["silent", "matching"])
def test_an_honest_job_whose_results_are_shares_is_checked_before_it_has_them(name):
    program, network, message = job(name)
    ended, sent = run(program, network=network)
    assert sent[message]
    assert sent[SilentAnswer]
    assert ended.tables


class Forgetful:
    """A comparison that makes transfers after its last opening, and checks nothing; Bob's are bent or not."""

    def __init__(self, *, bends):
        self._study, _ = comparison("oblivious")
        self._bends = bends

    def __getattr__(self, name):
        return getattr(self._study, name)

    def run(self, session, data, recipients, release):
        outcome = self._study.run(session, data, recipients, release)
        if self._bends and session.role is Role.BOB:
            bend_refills(session.channel)
        transfers(session)
        return outcome


def forgetful(given, *, bends):
    """Its program, which notes what a run gives."""
    program = study_of(Forgetful(bends=bends), comparison("oblivious")[1])

    def side(session):
        given[session.role] = program(session).tables

    return side


def test_a_run_checks_what_its_study_has_not():
    given = {}
    with pytest.raises(InconsistentTransfers):
        run_pair(forgetful(given, bends=True))
    assert Role.ALICE not in given


def test_without_that_check_alone_a_run_gives_what_rests_on_bent_transfers(monkeypatch):
    """So the test above falls without it; the session ends all the same, by the check before its end."""
    honest, given = Session.verify, {}

    def verify(session):
        if sys._getframe(1).f_code is not run_study.__code__:
            honest(session)

    monkeypatch.setattr(Session, "verify", verify)
    with pytest.raises(InconsistentTransfers):
        run_pair(forgetful(given, bends=True))
    assert Role.ALICE in given


def test_the_channel_ends_no_session_in_which_nobody_has_checked(monkeypatch):
    """The gate of the channel, below both: an honest session ends with a typed error without any check."""
    given = {}
    monkeypatch.setattr(Session, "verify", lambda session: None)
    with pytest.raises(UsageError, match="nobody has checked"):
        run_pair(forgetful(given, bends=False))
    assert given.keys() == set(Role)


# outside of jobs


def plan(engine):
    """A plan that opens nothing."""
    given = Parameters(COUNT, BITS, 0, 0)
    return plan_comparison(ComparisonType.parse("PN-NP-SS"), given, engine=engine, delta_modulus=2)


def held(session):
    """What a party holds of x and y."""
    alice = session.role is Role.ALICE
    x, y = X.astype(np.uint64), Y.astype(np.uint64)
    return (Plain(x), Nothing(COUNT)) if alice else (Nothing(COUNT), Plain(y))


@pytest.mark.parametrize(("engine", "message"), [("silent", Refill), ("oblivious", TransferColumns)])
def test_a_plan_gives_no_shares_that_rest_on_bent_transfers(engine, message):
    made = plan(engine)
    ended, sent = run(lambda s: run_plan(made, s, *held(s)), bends=message)
    assert sent[message]
    assert type(ended) is InconsistentTransfers


def test_the_price_of_a_plan_has_the_check_at_its_end():
    made = plan("silent")

    def program(session):
        ready = prepare(made, session)
        before = session.channel.traffic
        ready.run(*held(session))
        after = session.channel.traffic
        return after.sent - before.sent, after.received - before.received, after.rounds - before.rounds

    traffic, sent = run(program)
    price = made.cost(Parameters(COUNT, BITS, 0, 0))
    assert sent[SilentAnswer] == 1
    assert traffic == (price.alice_bytes, price.bob_bytes, price.rounds)


def transfers(session):
    """Transfers of chosen bits that whoever wrote the program has not checked."""
    engine = session.oblivious
    if session.role is Role.ALICE:
        return engine.receive_blocks(np.zeros(64, dtype=np.uint8), silent=True)
    return engine.send_blocks(64, silent=True)


def test_a_pair_of_programs_ends_in_the_check_that_they_forget():
    failed = []

    def side(session):
        if session.role is Role.BOB:
            bend_refills(session.channel)
        verify = session.oblivious.verify

        def told():
            try:
                verify()
            except InconsistentTransfers:
                failed.append(session.role)
                raise

        session.oblivious.verify = told
        transfers(session)

    with pytest.raises(InconsistentTransfers):
        run_pair(side)
    assert failed == [Role.ALICE]


def test_no_channel_ends_with_transfers_that_are_unchecked():
    def side(session):
        session.oblivious.setup_silent()
        session.oblivious.verify()
        transfers(session)
        with pytest.raises(UsageError, match="nobody has checked"):
            session.channel.finish()
        session.verify()
        return True

    assert run_pair(side) == (True, True)
