"""Clustering under differential privacy: the noise of every iteration and what is made of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.clustering import privacy
from smc.analyses.clustering import reference as twin
from smc.analyses.disclosure.limits import Limits
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.clustering_runs import (
    BASE,
    COLUMNS,
    HORIZONTAL,
    SPLIT,
    blobs,
    joint,
    named,
    parsed,
    plain,
    shape_of,
    table,
    watched,
)
from tests.support import openings
from tests.support.costs import stated
from tests.support.studies import changed

MISS = Fraction(1, 10**7)


def noisy(epsilon, extra=""):
    return parsed(HORIZONTAL + f'epsilon = "{epsilon}"\n' + extra)


def planned(study, rows=40):
    data = table(blobs(rows))
    found = privacy.plan(study.parameters, shape_of(study, data, data).scaled)
    assert found is not None
    return found


def test_epsilon_is_split_over_all_numbers_of_all_iterations():
    found = planned(noisy(6))
    part = Fraction(6, 3 * 4)  # iterations * (columns + 1)
    assert found.part == part
    assert found.count.rate == part / 2  # a replaced row leaves one cluster and enters another
    assert [distribution.rate for distribution in found.sums] == [part / (2 * 4095)] * 3
    assert len(found.distributions) == 3 * 4
    several = planned(noisy(6, "rows_per_person = 5\n"))
    assert several.count.rate == part / 10
    assert several.sums[0].rate == part / (10 * 4095)


@given(st.integers(0, 4095), st.integers(0, 63))
def test_a_row_moves_twice_a_centred_sum_by_at_most_the_range(value, other):
    """What the sensitivity of a sum rests on, from the centred sums of a table with and without the row."""
    largest = 4095
    without = 2 * other - largest
    assert abs((2 * (other + value) - 2 * largest) - without) <= largest


def test_counts_differ_by_the_stated_noise():
    study = changed(noisy("0.3"), iterations=1)
    values = blobs(300)
    alice, bob = table(values[:100]), table(values[100:])
    distribution = DiscreteLaplace.of(Fraction(3, 10) / 8)
    first, second = joint(study, alice, bob)
    assert named(first)["centres"] == named(second)["centres"]
    scaled = shape_of(study, alice, bob).scaled
    whole = np.concatenate([scaled.whole(side, ("x", "y", "z")).astype(np.int64) for side in (alice, bob)])
    labels = twin.assign_rows(scaled, whole, scaled.scale_centres(study.parameters.centres))
    exact = np.bincount(labels, minlength=3)
    width = distribution.half_width(MISS / 3)
    differences = np.array(named(first)["centres"]["size"]) - exact
    assert (np.abs(differences) <= width).all()


def test_runs_differ():
    """Three counts with noise of scale 120 are the same in two runs with a chance of about 1e-8."""
    values = blobs(40)
    sizes = {
        tuple(named(joint(noisy("0.1"), table(values), table(values))[0])["centres"]["size"])
        for _ in range(2)
    }
    assert len(sizes) > 1


def test_with_little_noise_the_centres_are_those_of_the_twin():
    values = np.repeat(np.array([[-300], [0], [300]]), [2000, 3000, 1000], axis=0)
    values = np.repeat(values, 3, axis=1)
    alice, bob = table(values[:2500]), table(values[2500:])
    study = noisy(100)
    found, expected = (named(run(study, alice, bob)[0]) for run in (joint, plain))
    assert set(found) == {"centres", "labels"}
    assert found["labels"] == expected["labels"]
    for name in ("x", "y", "z"):
        for one, other in zip(found["centres"][name], expected["centres"][name], strict=True):
            # part = 100 / 12; the sum's noise is below 30 times 4095 / part but with probability 1e-12
            assert abs(one - other) < 30 * 100 / (100 / 12) / 1000


def test_centres_stay_within_the_bounds_whatever_the_noise():
    outcome, _ = joint(noisy("0.01"), table(blobs(10)), table(blobs(10)))
    for name in ("x", "y", "z"):
        assert all(-50.001 <= value <= 50.001 for value in named(outcome)["centres"][name])


@pytest.mark.parametrize("layout", [COLUMNS, SPLIT, COLUMNS + 'layout = "arbitrary"\n'])
def test_cost_is_as_declared(layout):
    study = parsed(BASE + layout + 'start = "uniform"\nepsilon = "1"\nlabels = false\n')
    values = blobs(40)
    if layout == SPLIT:
        data = table(values[:, :1], ("x",)), table(values[:, 1:], ("y", "z"))
    else:
        data = table(values), table(values // 2)
    recipients = frozenset({Role.BOB})
    outcomes, channels = watched(study, *data, recipients)
    assert not outcomes[0].tables
    declared = stated(study, *data, recipients)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(c.traffic.rounds for c in channels) == declared.rounds
    opened = [kind for c in channels for kind, _ in c.sent if kind in openings.OPENINGS]
    assert opened == [openings.SHARES, openings.SHARES]


def test_the_guarantee_is_stated():
    details = joint(noisy(6), table(blobs(20)), table(blobs(20)))[0].details
    assert details["epsilon"] == "6"
    assert details["epsilon_per_number"] == "1/2"
    assert 0 < details["delta"] < 2**-40
    assert "replaced" in details["neighbours"]
    loss = noisy(6).facts(frozenset(Role)).loss
    assert loss.epsilon == 6
    assert details["delta"] <= loss.delta


def test_a_person_with_more_rows_than_stated_is_refused():
    alice = table(blobs(4), persons=[0, 1, 1, 2])
    with pytest.raises(UsageError, match="rows_per_person"):
        joint(noisy(1), alice, table(blobs(9)))
    joint(noisy(1, "rows_per_person = 2\n"), alice, table(blobs(9)))


def test_too_little_epsilon_is_refused():
    with pytest.raises(DomainError, match="Noisy sums"):
        joint(changed(noisy("1"), epsilon=Fraction(1, 10**10)), table(blobs(20)), table(blobs(20)))
    with pytest.raises(UsageError, match="would not fit"):
        planned(changed(noisy("1"), epsilon=Fraction(1, 10**13)))


def test_limits_on_groups_do_not_touch_noisy_results():
    outcome, _ = joint(noisy(100), table(blobs(5)), table(blobs(5)), limits=Limits(minimum_group=9))
    assert None not in named(outcome)["centres"]["size"]


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("total", [0, 100_000, 4095 * 300])
def test_the_interval_of_a_coordinate_holds_what_noise_within_its_quantiles_hides(total, sign):
    """Sum and size are off by the widths of their 97.5 % intervals, in the worst way."""
    found, count = planned(noisy(60)), 300
    largest = found.scaled.columns[0].largest
    off = found.sums[0].half_width(privacy.MISS / 2), found.count.half_width(privacy.MISS / 2)
    assert 0 < off[1] < count
    for both in (sign, -sign):
        size = count + both * off[1]
        deviation = 2 * total - largest * count + sign * off[0]
        centre = (Fraction(min(max(deviation, -size * largest), size * largest), size) + largest) / 2
        ends = found.coordinate(0, centre, size)
        assert 0 <= ends.lower <= Fraction(total, count) <= ends.upper <= largest


def test_the_interval_is_the_whole_range_where_nobody_may_be_in_the_cluster():
    found = planned(noisy(6))
    for count in (-3, 0, found.count.half_width(privacy.MISS / 2)):
        ends = found.coordinate(1, Fraction(7), count)
        assert (ends.lower, ends.upper) == (0, found.scaled.columns[1].largest)


def test_results_have_the_intervals_that_were_expected_before():
    """A column's coordinate amid its bounds has the least width; that of a size is the same for all."""
    study = changed(noisy(20), iterations=1)
    values = blobs(3000)
    alice, bob = table(values[:1500]), table(values[1500:])
    preview = study.preview(alice, Role.ALICE, Limits())
    preview.require()
    rows = preview.details["precision"]
    widths = {row["query"]: row["half_width"] for row in rows}
    assert {row["epsilon"] for row in rows} == {"5"}
    centres = named(joint(study, alice, bob)[0])["centres"]
    for lower, size, upper in zip(
        centres["size_lower_95"], centres["size"], centres["size_upper_95"], strict=True
    ):
        assert (size - lower, upper - size) == (widths["size"], widths["size"])
    for name in ("x", "y", "z"):
        ends = zip(centres[f"{name}_lower_95"], centres[name], centres[f"{name}_upper_95"], strict=True)
        assert all(lower <= centre <= upper for lower, centre, upper in ends)
        assert 0 < widths[f"centre, {name}"] < 1
