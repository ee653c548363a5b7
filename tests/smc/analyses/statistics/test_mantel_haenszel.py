"""Ratios pooled over strata that nobody sees: figures, limits, and what chosen rows of a peer find."""

from __future__ import annotations

import tomllib
from dataclasses import astuple
from fractions import Fraction
from functools import partial
from math import log2, sqrt

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Agreed, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.horizontal.stratified import coarse, exact_figures
from smc.analyses.statistics.kinds.mantel_haenszel import PooledFigures
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds
from tests.smc.analyses.statistics_runs import BOTH, joint
from tests.smc.analyses.test_estimates import check
from tests.support.held_bounds import unwatched

ARM = Schema("category", categories=("new", "usual", "other"))
STATE = Schema("category", categories=("well", "ill", "dead"))
SITES = 12
SITE = Schema("category", categories=tuple(f"site {place}" for place in range(SITES)))
SCHEMAS = {"arm": ARM, "state": STATE, "site": SITE}
JOB = """
noise = "none"
maximum_rows = 100000
[[queries]]
kind = "mantel-haenszel"
column = "state"
event = "dead"
by = "arm"
labels = ["new", "usual"]
strata = "site"
"""
FIVE = Limits(minimum_group=5)


def strata(count, seed, rows=120, least=60):
    """Counts of a side, by default none below five."""
    drawn = np.random.default_rng(seed)
    first, second = drawn.integers(least, rows, count), drawn.integers(least, rows, count)
    events, others = drawn.binomial(first, 0.3), drawn.binomial(second, 0.2)
    return np.array([events, first - events, others, second - others])


def side(cells):
    """Rows with these counts, shape (4, sites): the event, or one of the other labels by turns."""
    arms, states, sites = [], [], []
    for place, row in enumerate(cells):
        for site, count in enumerate(row):
            arms += [place // 2] * count
            states += [2 if place % 2 == 0 else turn % 2 for turn in range(count)]
            sites += [site] * count
    return {
        "arm": Column(np.array([*arms, 2]), ARM),
        "state": Column(np.array([*states, 2]), STATE),
        "site": Column(np.array([*sites, 0]), SITE),
    }


def job(text=JOB):
    return STATISTICS.parse(tomllib.loads(text))


def shown(outcome):
    main, table = (each.columns for each in outcome.tables)
    rows = zip(*(table[name] for name in list(table)[1:]), strict=True)
    return {name: values[0] for name, values in main.items()}, dict(zip(table["term"], rows, strict=True))


def figure(outcome):
    return outcome.tables[0].columns["value"][0]


def test_the_figures_are_those_of_statsmodels():
    """Of statsmodels 0.15.0: `StratifiedTable` with `test_null_odds()`."""
    drawn = np.random.default_rng(12)
    expected = {
        6: (2.3489418171790977, 0.41885039252556205, 1.9283703850428362, 4.0529212930153),
        100: (1.3985464660153097, 0.08650915262170995, 1.28861700671011, 15.281958837779083),
    }
    for count, (odds, error, risk, chi_square) in expected.items():
        first, second = drawn.integers(2, 30, count), drawn.integers(2, 30, count)
        a, c = drawn.binomial(first, 0.3), drawn.binomial(second, 0.2)
        found = PooledFigures.of(np.array([a, first - a, c, second - c], dtype=float))
        assert found.odds_ratio == pytest.approx(odds, rel=1e-12)
        assert sqrt(found.odds_variance) == pytest.approx(error, rel=1e-9)
        assert found.risk_ratio == pytest.approx(risk, rel=1e-12)
        assert found.chi_square == pytest.approx(chi_square, rel=1e-9)
        n = first + second
        spread = ((first * second * (a + c) - a * c * n) / n**2).sum()
        pooled = (a * second / n).sum() * (c * first / n).sum()
        assert found.risk_variance == pytest.approx(spread / pooled, rel=1e-12)


@pytest.mark.parametrize(
    ("maximum_rows", "error", "megabytes"), [(100_000, 3e-6, 5.8), (10_000_000, 3e-4, 5.9)]
)
def test_in_secret_they_are_the_same(maximum_rows, error, megabytes):
    """The more rows a side may have, the fewer bits are left for fractions."""
    sides = strata(100, 1, least=2), strata(100, 2, least=2)
    sides[0][:, 7] = sides[1][:, 7] = 0  # an empty stratum
    sides[0][:, 8], sides[1][:, 8] = [1, 0, 0, 0], 0  # and one of one row

    def run(own):
        def one(session):
            ratios, variances, chi_square = exact_figures(session, own, maximum_rows)
            sealed = ratios.seal(variances, chi_square)
            return sealed.read(sealed.ints.reveal()), session.channel.traffic

        return one

    (found, first), (other, second) = run_pair(*map(run, sides))
    (odds, risk), (odds_variance, risk_variance), (chi_square,) = found
    expected = PooledFigures.of((sides[0] + sides[1]).astype(float))
    assert astuple(expected) == pytest.approx(
        (odds, odds_variance, risk, risk_variance, chi_square), rel=error
    )
    assert [part.tolist() for part in other] == [part.tolist() for part in found]
    assert first.sent + second.sent < megabytes * 1e6
    assert first.rounds < 330


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.BOB})])
def test_the_run_tells_rounded_figures(recipients):
    sides = strata(SITES, 3), strata(SITES, 4)
    study = job()
    study.check(SCHEMAS, SCHEMAS)
    outcomes = joint(study, *map(side, sides), recipients, FIVE)
    assert (outcomes[0].tables == ()) == (Role.ALICE not in recipients)
    main, terms = shown(outcomes[1])
    exact = PooledFigures.of((sides[0] + sides[1]).astype(float))
    for name, ratio, variance in (
        ("odds ratio", exact.odds_ratio, exact.odds_variance),
        ("risk ratio", exact.risk_ratio, exact.risk_variance),
    ):
        error = ratio * sqrt(variance)
        value, low, high, less, more = terms[name]
        assert abs(value - ratio) <= error / 64
        assert value * 2 ** -np.floor(log2(error / 32)) % 1 == 0  # a multiple of the power of two below
        assert low == high == value
        assert (more / less) == pytest.approx(np.exp(2 * 1.96 * sqrt(variance)), rel=0.02)
    assert terms["chi-square"][0] == pytest.approx(exact.chi_square, abs=2**-7)
    assert main["value"] == terms["odds ratio"][0]
    assert 0 <= main["p_value"] <= 1
    twin, _ = shown(study.reference(*map(side, sides), BOTH)[0])
    assert twin["value"] == pytest.approx(exact.odds_ratio)


def test_rounding_is_to_the_power_of_two_below_the_width():
    values = [1.7031, 0.0312, 55.5, 3.3, 100.0]
    widths = [0.01, 3e-5, 0.7, 2e-9, 1.9]

    def run(session):
        def shared(numbers, scale):
            held = np.rint(np.ldexp(np.array(numbers), scale)).astype(np.int64)
            plain = held if session.role is Role.ALICE else None
            ints = SecretInts.from_plain(session, plain, Role.ALICE, Bounds(0, 1 << (scale + 7)), 5, scale)
            return SecretReals(ints)

        found = coarse(shared(values, 20), shared(np.square(widths), 30), 1, 16, power=2)
        return found.reveal()

    steps = [2.0 ** max(-15, np.floor(log2(width))) for width in widths]
    for one in run_pair(run, run):
        found = np.array(one)
        assert np.abs(found - values).max() <= max(steps) / 2
        for value, exact, step in zip(found, values, steps, strict=True):
            assert value / step % 1 == 0 or step == 2.0**-15
            assert abs(value - exact) <= step / 2 + 2**-20


@pytest.mark.parametrize("few", [0, 1, 4])
def test_a_side_with_a_small_cell_in_one_stratum_does_not_let_it_be_used(few):
    sides = strata(SITES, 5), strata(SITES, 6)
    sides[0][0][3] = few  # of Alice's died in the new arm of a site
    alice, bob = map(side, sides)
    with pytest.raises(DisclosureRefused):
        joint(job(), alice, bob, limits=FIVE)
    assert figure(joint(job(), alice, bob, limits=NO_LIMITS)[0]) is not None
    assert figure(joint(job(), alice, bob, frozenset({Role.ALICE}), FIVE)[0]) is not None  # nobody else's


@pytest.mark.parametrize("theirs", [0, 1, 2000])
def test_no_limit_of_a_peer_moves_those_of_a_side(theirs):
    """Bob's own policy changes from job to job; what it tells him of Alice's rows does not depend on it."""
    sides = strata(SITES, 3), strata(SITES, 4)
    alice, bob = map(side, sides)
    own = {Role.ALICE: FIVE, Role.BOB: Limits(minimum_group=theirs)}
    both = FIVE.stricter(own[Role.BOB])

    def run(data):
        def one(session):
            agreed = Agreed(Owned(own[session.role]), both)
            return run_study(job(), session, data, frozenset({Role.BOB}), agreed)

        return one

    assert figure(run_pair(run(alice), run(bob))[1]) is not None


def flooded(site, rows=4000):
    """Bob's rows: very many in the new arm without the event everywhere but in one site, so that a d / n is 0
    there; and in that site one of each."""
    cells = np.zeros((4, SITES), dtype=np.int64)
    cells[1] = rows
    cells[:, site] = [1, 1, 1, 1]
    return cells


def test_limits_count_each_cell_so_no_choice_of_rows_makes_the_figures_those_of_few():
    """Bob floods all sites but one: the figures are those of one site, of which limits would show a table."""
    victim, bob = strata(SITES, 8), flooded(7)
    total = (victim + bob).astype(float)
    for limits in (NO_LIMITS, FIVE):
        found = figure(joint(job(), side(victim), side(bob), frozenset({Role.BOB}), limits)[1])
        assert found == pytest.approx(PooledFigures.of(total).odds_ratio, rel=0.02)
    for place, count in enumerate(victim):
        weights = np.repeat((total[3 - place] / total.sum(axis=0)), count)
        assert weights.sum() ** 2 / (weights**2).sum() >= count.min()  # Kish's number


@pytest.mark.parametrize(
    ("places", "is_shown"),
    [
        ([], True),
        ([(slice(None), 0)], True),  # nobody of a site
        ([(0, 0)], False),  # all of an arm of a site are well
        ([(0, slice(1, None)), (1, slice(1, None))], False),  # all of the new arm are of one site
    ],
)
def test_where_zeros_are_shown_no_line_tells_of_everybody_in_it(places, is_shown):
    limits = Limits(minimum_group=5, zeros="shown")
    victim, bob = strata(SITES, 8), strata(SITES, 9)
    for place in places:
        victim[place] = 0
    run = partial(joint, job(), side(victim), side(bob), frozenset({Role.BOB}), limits)
    if is_shown:
        assert figure(run()[1]) is not None
        return
    with pytest.raises(DisclosureRefused):
        run()


def test_data_without_events_have_no_figures_and_blame_nobody():
    cells = strata(SITES, 9)
    cells[0] = cells[2] = 0
    with unwatched():
        outcome, other = joint(job(), side(cells), side(cells))
    assert outcome == other
    assert figure(outcome) is None
    assert len(outcome.tables) == 1


def test_the_auditor_is_told_of_the_cells_of_each_stratum():
    told = []

    class Remembering:
        def allows(self, shown):
            return True

        def record(self, shown):
            told.append(shown)

    sides = strata(SITES, 3), strata(SITES, 4)

    def run(data):
        def one(session):
            if session.role is Role.ALICE:
                return run_study(job(), session, data, BOTH, FIVE.of_both, auditor=Remembering())
            return run_study(job(), session, data, BOTH, FIVE.of_both)

        return one

    run_pair(*(run(side(cells)) for cells in sides))
    (table,) = [each for shown in told for each in getattr(shown, "tables", ())]
    assert table.equations.tolist() == np.eye(4 * SITES, dtype=bool).tolist()
    assert np.bincount(table.members.cells).tolist() == sides[0].T.reshape(-1).tolist()


def test_an_auditor_that_objects_closes_the_run():
    class Objecting:
        def allows(self, shown):
            return not hasattr(shown, "tables")

        def record(self, shown):
            assert self.allows(shown)

    def run(session):
        data = side(strata(SITES, 3))
        if session.role is Role.ALICE:
            return run_study(job(), session, data, BOTH, FIVE.of_both, auditor=Objecting())
        return run_study(job(), session, data, BOTH, FIVE.of_both)

    with pytest.raises(DisclosureRefused):
        run_pair(run, run)


def test_where_limits_count_persons_each_brings_one_row():
    alice, bob = (side(strata(SITES, seed)) for seed in (3, 4))
    rows = len(alice["arm"])
    alice[PERSONS] = Column(np.arange(rows) // 2, Schema("integer"))
    with pytest.raises(DomainError, match="Several rows"):
        joint(job(), alice, bob, limits=FIVE)
    assert figure(joint(job(), alice, bob)[0]) is not None


@pytest.mark.parametrize("limits", [NO_LIMITS, FIVE, Limits(dominance=Fraction(1, 2))])
def test_estimates_are_what_runs_cost(limits):
    alice = side(strata(SITES, 3))
    check(
        job(),
        alice,
        {name: Column(column.array[::-1], column.schema) for name, column in alice.items()},
        limits,
    )


def test_who_learns_what():
    leakage = job().leakage(frozenset({Role.BOB}))
    assert leakage.alice == ()
    said = " ".join(leakage.bob)
    assert "rounded to a power of two below a 32nd of their standard errors" in said
    assert "one bit" in said
    assert "exact results" not in said
    facts = job().facts(BOTH)
    assert facts.sorts_by == {"arm", "state", "site"}
    assert (facts.exact.count, facts.asked.queries) == (1, {"mantel-haenszel"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('noise = "none"', 'epsilon = "1"'), "has no noise"),
        (('strata = "site"', ""), "strata is missing"),
        (('strata = "site"', "strata = []"), "strata is missing"),
        (('strata = "site"', 'strata = "arm"'), "names a column twice"),
        (('strata = "site"', 'strata = ["a", "b", "c", "d"]'), "more than 3 columns"),
        (('event = "dead"', 'event = "gone"'), "'gone' is not a label"),
        (('labels = ["new", "usual"]', ""), "two groups"),
        (("100000", "40000000"), "rows of a side strata are not pooled"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(UsageError, match=words) as caught:
        job(JOB.replace(*change)).check(SCHEMAS, SCHEMAS)
    assert caught.value.hint
