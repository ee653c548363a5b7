"""A peer that keeps to the protocol, chooses rows, jobs and its own policy, and keeps what it receives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from parties.catalog.columns.persons import identities
from parties.disclosure.auditor import JobAuditor
from parties.disclosure.history import History
from parties.disclosure.participants import ParticipantSet, persons_of
from parties.ledger.accounting import Account
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import DAYS, PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused, PeerAborted
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.agreement import Agreement
from tests.smc.analyses.transcripts import watched

VICTIM, PEER = Role.BOB, Role.ALICE
POLICY = Limits(minimum_group=10, dominance=Fraction(4, 5))
LOOSE = Limits()
"""Of a peer that wants to see everything: its own part, which is empty, is let out."""
COST = Schema("integer", lower=0, upper=100_000, unit="euro")
AGE = Schema("integer", lower=0, upper=120, unit="years")
DIAGNOSES = Schema("category", categories=("appendicitis", "asthma", "diabetes", "fracture", "HIV"))


def patients(**columns):
    """The victim's rows, each of a person of its own."""
    schemas = {"cost": COST, "age": AGE, "diagnosis": DIAGNOSES}
    found = {
        name: Column(np.array(values, dtype=np.int64), schemas[name]) for name, values in columns.items()
    }
    rows = len(next(iter(found.values())))
    return found | {PERSONS: Column(np.arange(rows), Schema("integer"))}


class Victim:
    """A party with a history, towards which one peer runs job after job."""

    def __init__(self, folder, data, policy=POLICY, overlap=20):
        self._history, self._data, self._policy, self._overlap = History(folder), data, policy, overlap

    def auditor(self):
        names = [str(row) for row in range(len(next(iter(self._data.values()))))]
        persons = identities(names, self._history.secret())
        job = ParticipantSet(
            "00ff",
            Account.of("patients"),
            "patients",
            "peer",
            persons_of(persons),
            self._overlap,
            group=self._policy.minimum_group,
            dominance=self._policy.dominance,
        )
        return JobAuditor(self._history, job, persons)

    def asked(self, study, rows=0, policy=LOOSE, recipients=frozenset({PEER}), brought=None):
        """What the peer, who brings rows of its own and a policy, receives in a job; and its outcome."""
        brought = brought or {}
        rows = max([rows, *map(len, brought.values())])
        theirs = {
            name: replace(c, values=np.array(brought.get(name, np.zeros(rows)), np.int64))
            for name, c in self._data.items()
        }
        theirs[PERSONS] = Column(np.arange(rows), Schema("integer"))
        seen = {role: [] for role in Role}

        def side(session):
            own, data = (policy, theirs) if session.role is PEER else (self._policy, self._data)
            limits = Agreed(Owned(own), self._policy.stricter(policy))
            auditor = [self.auditor()] if session.role is VICTIM else []
            gate = [lambda channel: None]
            return run_study(study, watched(session, seen), data, recipients, limits, *gate, *auditor)

        try:
            outcome = run_pair(side, side)[0]
        except (DisclosureRefused, PeerAborted):
            outcome = None
        return seen[PEER], outcome


def statistics(**query):
    return STATISTICS.parse({"noise": "none", "maximum_rows": 10_000, "queries": [query]})


def answers(received):
    """What the peer got beside what it asked for: nothing but whether the victim goes on."""
    assert {type(message) for message in received} <= {Agreement}
    return [message.answer.encode() for message in received]


def test_fine_bins_show_nobody_who_is_there(tmp_path):
    """9,090 bins of 11 euro: the cells of a few would be the 400 costs, to within 10 euro."""
    drawn = np.random.default_rng(7)
    histogram = statistics(kind="histogram", column="cost", edges=list(range(0, 100_000, 11)))
    for costs in (drawn.integers(0, 99_990, 400), drawn.integers(0, 50, 400)):
        victim = Victim(tmp_path, patients(cost=costs))
        received, outcome = victim.asked(histogram, recipients=frozenset({VICTIM}))
        assert answers(received) == [b"\x01"]
        assert outcome.tables == ()
        received, outcome = victim.asked(histogram)
        assert answers(received) == [b"\x00"]
        assert outcome is None


@pytest.mark.parametrize("recipients", [frozenset({VICTIM}), frozenset({PEER})])
def test_the_peers_own_policy_measures_nothing(tmp_path, recipients):
    """By its smallest group it would bisect counts, by its dominance the largest part of a sum."""
    data = patients(cost=[35_735, *range(100, 499)])
    bins = statistics(kind="histogram", column="cost", edges=[0, 200, 300, 100_000])
    total = statistics(kind="sum", column="cost")
    for study, policies in (
        (bins, [Limits(minimum_group=m) for m in (2, 10, 99, 101, 250)]),
        (total, [Limits(10, Fraction(part, 100)) for part in (1, 20, 40, 80)]),
    ):
        heard = []
        for place, policy in enumerate(policies):
            (folder := tmp_path / f"{study.parameters.queries[0].kind}{place}").mkdir()
            received, _ = Victim(folder, data).asked(study, rows=9000, policy=policy, recipients=recipients)
            heard.append([(type(message), message.encode()) for message in received])
        if recipients == {VICTIM}:
            assert all(kind is Agreement for each in heard for kind, _ in each)
        assert heard == [heard[0]] * len(heard)


def test_a_number_that_is_one_persons_does_not_follow_from_two_sums(tmp_path):
    """All patients, and all but the eleven of an age, one of whom has nearly all of their cost."""
    costs = [98_765, *range(150, 160), *(9_000 + np.random.default_rng(9).integers(0, 2_723, 389))]
    ages = [95] * 11 + [50] * 389
    victim = Victim(tmp_path, patients(cost=costs, age=ages), overlap=10)
    _, everybody = victim.asked(statistics(kind="sum", column="cost"))
    assert everybody.tables[0].columns["value"] == [sum(costs)]
    group = {"column": "age", "equals": 95}
    _, eleven = victim.asked(statistics(kind="sum", column="cost", where=[group]))
    assert eleven.tables[0].columns["value"] == [None]
    others = {"column": "age", "not_equals": 95}
    received, outcome = victim.asked(statistics(kind="sum", column="cost", where=[others]))
    assert outcome is None
    assert answers(received) == [b"\x00"]


def test_most_of_a_number_is_not_one_persons_that_follows_from_two_sums(tmp_path):
    """The eleven's cost is one person's by nine tenths. Leverage, which looks at squares, stands against
    nothing here: how the other ten differ hides her in both sums together as well as in one of them."""
    costs = [9_000, *range(10, 190, 18), *(96 + np.arange(389) % 7)]
    victim = Victim(tmp_path, patients(cost=costs, age=[95] * 11 + [50] * 389), overlap=10)
    _, everybody = victim.asked(statistics(kind="sum", column="cost"))
    assert everybody.tables[0].columns["value"] == [sum(costs)]
    others = {"column": "age", "not_equals": 95}
    received, outcome = victim.asked(statistics(kind="sum", column="cost", where=[others]))
    assert outcome is None
    assert answers(received) == [b"\x00"]


def test_the_only_patient_of_an_age_keeps_the_diagnosis(tmp_path):
    """Zeros beside the one withheld cell of a row would tell that the oldest patient has HIV."""
    drawn = np.random.default_rng(3)
    data = patients(
        age=[97, *drawn.integers(90, 96, 500), *drawn.integers(98, 121, 500)],
        diagnosis=[4, *drawn.integers(0, 5, 1000)],
    )
    edges = {"age": [90, 96, 98, 121]}
    study = statistics(kind="crosstab", columns=["age", "diagnosis"], edges=edges)
    for policy in (POLICY, replace(POLICY, zeros="shown")):
        received, outcome = Victim(tmp_path, data, policy).asked(study)
        assert outcome is None
        assert answers(received) == [b"\x00"]


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_a_flag_that_nobody_or_everybody_has_is_withheld_like_a_cell_of_nobody(tmp_path, kind):
    """The cross table withholds its cells; the sum of the flag would say 0 of 60, or 60 of 60."""
    flag, group = Schema("integer", lower=0, upper=1), Schema("category", categories=tuple("abcdefghijklm"))
    for having, is_shown in ((0, False), (3, False), (30, True), (60, False)):
        has = [int(row < (having if place == 0 else 30)) for place in range(13) for row in range(60)]
        data = patients(age=np.zeros(13 * 60)) | {
            "has": Column(np.array(has, dtype=np.int64), flag),
            "group": Column(np.repeat(np.arange(13), 60), group),
        }
        study = statistics(kind=kind, column="has", by="group")
        folders = [tmp_path / f"{having} {zeros}" for zeros in ("withheld", "shown")]
        for folder in folders:
            folder.mkdir()
        _, outcome = Victim(folders[0], data).asked(study)
        found = outcome.tables[0].columns
        shown = dict(zip(found["group"], found["value"], strict=True))
        assert (shown["a"] is not None) == is_shown, having
        assert sum(value is not None for value in shown.values()) > 10  # one more hides it in the total
        policy = replace(POLICY, zeros="shown")
        _, outcome = Victim(folders[1], data, policy).asked(study)
        assert (outcome.tables[0].columns["value"][0] is not None) == (having != 3)


@pytest.mark.parametrize(("having", "is_shown"), [(3, False), (30, True), (60, False)])
def test_nor_does_a_flag_that_is_a_weight_tell_that_everybody_has_it(tmp_path, having, is_shown):
    """The sum of the weights would be the number of rows."""
    flag, group = Schema("integer", lower=0, upper=1), Schema("category", categories=tuple("abcdefghijklm"))
    has = [int(row < (having if place == 0 else 30)) for place in range(13) for row in range(60)]
    data = patients(age=40 + np.arange(13 * 60) % 37) | {
        "has": Column(np.array(has, dtype=np.int64), flag),
        "group": Column(np.repeat(np.arange(13), 60), group),
    }
    study = statistics(kind="weighted-mean", column="age", weight="has", by=["group"])
    _, outcome = Victim(tmp_path, data).asked(study)
    assert (outcome.tables[0].columns["value"][0] is not None) == is_shown


@pytest.mark.parametrize("rare", [0, 3, 12])
def test_a_sum_of_few_prices_does_not_tell_how_many_have_the_rare_one(tmp_path, rare):
    """Values stand in a public list, and of 40 who each have one of three a sum says how many have which."""
    prices, group = np.array([1250, 11_735, 91_377]), Schema("category", categories=tuple("abcdefgh"))
    chosen = [
        place for number in [rare, *[15] * 7] for place in [2] * number + [0, 1] * 12 + [0] * (16 - number)
    ]
    data = patients(cost=prices[chosen]) | {"group": Column(np.repeat(np.arange(8), 40), group)}
    for kind in ("sum", "mean"):
        folder = tmp_path / kind
        folder.mkdir()
        _, outcome = Victim(folder, data).asked(statistics(kind=kind, column="cost", by="group"))
        found = outcome.tables[0].columns["value"]
        assert (found[0] is not None) == (rare >= 10)
        assert sum(value is not None for value in found) >= 6


def test_the_only_two_patients_of_an_age_keep_their_diagnoses(tmp_path):
    """No line has persons in one cell only; zeros alone would tell that nobody of the age has another one."""
    drawn = np.random.default_rng(3)
    data = patients(
        age=[97, 97, *drawn.integers(90, 96, 500), *drawn.integers(98, 121, 500)],
        diagnosis=[3, 4, *drawn.integers(0, 5, 1000)],
    )
    edges = {"age": [90, 92, 94, 96, 98, 121]}  # two of 25 cells are of a few
    study = statistics(kind="crosstab", columns=["age", "diagnosis"], edges=edges)
    received, outcome = Victim(tmp_path, data).asked(study)
    assert outcome is None
    assert answers(received) == [b"\x00"]
    (tmp_path / "shown").mkdir()  # the rest of the table stands against nothing, so it is for the zeros
    assert Victim(tmp_path / "shown", data, replace(POLICY, zeros="shown")).asked(study)[1] is not None


def test_a_cell_below_the_overlap_stands_beside_a_smallest_group_that_it_reaches(tmp_path):
    """As in the example of docs/policy.md: 12 persons, minimum_group = 10, overlap = 20."""
    ages = np.repeat([20, 50, 80], [12, 200, 188])
    victim = Victim(tmp_path, patients(age=ages))
    study = statistics(kind="histogram", column="age", edges=[0, 30, 60, 100])
    for _ in range(2):
        _, outcome = victim.asked(study)
        assert list(outcome.tables[1].columns["count"])[:3] == [12, 200, 188]


ID = Schema("integer", lower=0, upper=10**6)
CAME = Schema("integer", lower=18_262, upper=22_000, unit=DAYS)


@pytest.mark.parametrize("origin", ["2020-01-01", "1000-01-01"])
def test_a_constant_date_hides_nobody_who_dominates_a_sum_over_matches(origin):
    """Twelve matches with 1,866 days since 2020, 1,800 of them one person's: whatever the first day is."""
    study = MATCHING.parse(
        {
            "method": "exact",
            "keys": ["id"],
            "output": "statistics",
            "values": [{"side": "bob", "column": "days"}],
            "derived": {"days": {"from": origin, "to": "came", "unit": "days"}},
        }
    )
    numbers = Column(np.arange(12), ID)

    def run(came):
        theirs = {"id": numbers, "came": Column(CAME.lower + np.array(came), CAME)}
        return run_pair(
            lambda s: run_study(study, s, {"id": numbers}, frozenset({PEER}), POLICY.of_both),
            lambda s: run_study(study, s, theirs, frozenset({PEER}), POLICY.of_both),
        )[0]

    with pytest.raises(DisclosureRefused):
        run([1800, *range(1, 12)])
    even = run(range(140, 152))
    assert even.tables


def pooled_over_ages(youngest):
    """Is an expensive stay more frequent with diabetes than with asthma, at the same age, from an age on?"""
    query = {
        "kind": "mantel-haenszel",
        "column": "price",
        "event": "high",
        "by": "diagnosis",
        "labels": ["diabetes", "asthma"],
        "strata": "decade",
        "where": [{"column": "age", "at_least": youngest}],
    }
    derived = {
        "price": {"column": "cost", "cuts": [500], "labels": ["low", "high"]},
        "decade": {"column": "age", "cuts": [30, 40, 50, 60, 70]},
    }
    return STATISTICS.parse({"noise": "none", "maximum_rows": 10_000, "queries": [query], "derived": derived})


def test_pooled_figures_about_groups_that_differ_in_few_are_not_shown_beside_each_other(tmp_path):
    drawn = np.random.default_rng(8)
    ages = np.append(drawn.integers(21, 90, 2_000), [20, 20])
    costs = np.append(drawn.integers(0, 1000, 2_000), [900, 900])
    data = patients(cost=costs, age=ages, diagnosis=np.append(drawn.integers(1, 3, 2_000), [2, 2]))
    victim = Victim(tmp_path, data)
    _, everybody = victim.asked(pooled_over_ages(18))
    assert everybody.tables[0].columns["value"][0] is not None
    received, without = victim.asked(pooled_over_ages(21))
    assert answers(received) == [b"\x00"]
    assert without is None
    _, again = victim.asked(pooled_over_ages(18))
    assert again.tables == everybody.tables  # of the same rows the same figures


def test_the_peers_own_policy_measures_nothing_of_pooled_figures(tmp_path):
    """By its smallest group it would bisect how many persons decide the sums."""
    drawn = np.random.default_rng(8)
    data = patients(
        cost=drawn.integers(0, 1000, 400),
        age=drawn.integers(21, 90, 400),
        diagnosis=drawn.integers(1, 3, 400),
    )
    shown = []
    for group in (0, 10, 90, 200):
        (folder := tmp_path / str(group)).mkdir()
        policy = Limits(minimum_group=group)
        _, outcome = Victim(folder, data).asked(pooled_over_ages(18), policy=policy)
        shown.append(None if outcome is None else outcome.tables)
    assert shown == [shown[0]] * 4
    assert shown[0] is not None


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "crosstab", "columns": ["old", "diagnosis"]},
        {"kind": "histogram", "column": "diagnosis", "by": "old"},
        {"kind": "histogram", "column": "old", "by": "diagnosis"},
        {"kind": "count", "by": ["old", "diagnosis"]},
        {"kind": "count", "by": ["diagnosis", "old"]},
        {"kind": "mean", "column": "cost", "by": ["old", "diagnosis"]},
    ],
    ids=["crosstab", "bins by groups", "groups by bins", "count", "count turned", "mean"],
)
def test_zeros_that_are_shown_tell_of_no_line_with_one_cell_in_any_wording(tmp_path, query):
    """The only patient above 96: of all diagnoses but one 0 would be shown."""
    drawn = np.random.default_rng(1)
    age, diagnosis = np.where(np.arange(600) % 2, 70, 92), drawn.integers(0, 5, 600)
    age[0], diagnosis[0] = 97, 4
    data = patients(cost=drawn.integers(0, 1000, 600), age=age, diagnosis=diagnosis)
    labels = ["below 90", "90 to 95", "96 and above"]
    old = {"column": "age", "cuts": [90, 96], "labels": labels}
    study = STATISTICS.parse(
        {"noise": "none", "maximum_rows": 10_000, "derived": {"old": old}, "queries": [query]}
    )
    policy = replace(POLICY, zeros="shown")
    assert Victim(tmp_path, data, policy, overlap=10).asked(study)[1] is None
    without = {name: replace(column, values=column.array[1:]) for name, column in data.items()}
    (tmp_path / "without").mkdir()
    assert Victim(tmp_path / "without", without, policy, overlap=10).asked(study)[1] is not None
