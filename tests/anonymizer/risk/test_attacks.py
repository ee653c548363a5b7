"""The attacks: rates and intervals by the book, counting by brute force, planted leaks found."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.measures.risk.attacks import Linkability
from anonymizer.risk.attacks.inference import inference
from anonymizer.risk.attacks.linkability import linkability
from anonymizer.risk.attacks.outcome import Attack, Rate
from anonymizer.risk.attacks.predicates import Index, Predicates
from anonymizer.risk.attacks.rows import Nearest, Rows, align_rows
from anonymizer.risk.attacks.singling_out import singling_out, singling_out_values
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.anonymizer.data import shared

ROLES = Roles(identifiers=("name",), sensitive=("illness",))


def people(count, seed):
    r = Randomness(seed)
    return pd.DataFrame(
        {
            "name": [f"{seed}-{place}" for place in range(count)],
            "age": 18 + r.integers(70, count),
            "height": np.round(170 + 10 * r.normal(count), 1),
            "town": np.array(["Aa", "Bü", "Cc", "Dd"], dtype=object)[r.integers(4, count)],
            "job": np.array([f"job {i}" for i in range(30)], dtype=object)[r.integers(30, count)],
            "income": np.round(np.exp(10 + r.normal(count)), 0),
            "illness": np.array(["flu", "gout", "none"], dtype=object)[r.integers(3, count)],
        }
    )


def leaking(frame, part, seed):
    r = Randomness(seed)
    mixed = pd.DataFrame({name: frame[name].to_numpy()[r.permutation(len(frame))] for name in frame})
    rows = r.permutation(len(frame))[: round(part * len(frame))]
    mixed.iloc[rows] = frame.iloc[rows]
    return mixed.drop(columns="name")


def tables(part, seed=1, count=2000):
    original = people(count, seed)
    return (
        Table.of(original, ROLES),
        Table.of(leaking(original, part, seed + 50)),
        Table.of(people(count // 2, seed + 100), ROLES),
    )


@pytest.mark.parametrize("part", [0.0, 0.2, 0.6])
def test_planted_leaks_are_found_by_all_three(part):
    original, release, control = tables(part)
    found = [
        singling_out(original, release, control, attempts=1000, level=0.999, random_state=1),
        linkability(original, release, control, attempts=1000, level=0.999, random_state=1),
        inference(original, release, control, secret="illness", attempts=1000, level=0.999, random_state=1),
        inference(original, release, control, secret="income", attempts=1000, level=0.999, random_state=1),
    ]
    for one in found:
        low, high = one.interval
        assert low <= part <= high, one
        assert high - low < 0.3
    assert not part or all(one.conclusive for one in found)


def test_on_real_data_intervals_cover_the_planted_fifth():
    original = pd.read_csv(shared("adult_train.csv"))
    control = Table.of(pd.read_csv(shared("adult_test.csv")))
    r = Randomness(3)
    rows = r.permutation(len(original))[: len(original) // 5]
    release = pd.DataFrame(
        {name: original[name].to_numpy()[r.permutation(len(original))] for name in original}
    )
    release.iloc[rows] = original.iloc[rows]
    one, two = Table.of(original), Table.of(release)
    for found in (
        singling_out(one, two, control, attempts=400, level=0.999, random_state=1),
        linkability(one, two, control, attempts=400, level=0.999, random_state=1),
        inference(one, two, control, secret="income", attempts=400, level=0.999, random_state=1),
    ):
        assert found.interval[0] <= 0.2 <= found.interval[1], found


def test_a_perfect_attack_divides_by_nothing():
    original = Table.of(people(300, 4), ROLES)
    release = Table.of(people(300, 4).drop(columns="name"))
    for control in (None, original):
        for found in (
            singling_out(original, release, control, random_state=1),
            linkability(original, release, control, random_state=1),
            inference(original, release, control, secret="illness", random_state=1),
        ):
            assert found.main.value == 1
            assert found.risk == (0 if control else 1)
            assert 0 <= found.interval[0] <= found.risk <= found.interval[1] <= 1


def test_a_link_to_m_people_alike_counts_one_in_m():
    original = Table.of(pd.DataFrame({"age": np.repeat([20, 30, 40], [2, 3, 5]), "town": list("aabbbccccc")}))
    found = linkability(original, original, random_state=1)
    assert found.main.successes == pytest.approx(3)
    assert found.main.value == pytest.approx(0.3)  # a row of m has 1 / m: three classes, one hit each


def test_an_attack_that_hits_the_control_group_too_is_inconclusive():
    frame = people(400, 8)
    control = Table.of(frame.sample(frac=0.7, random_state=1).reset_index(drop=True), ROLES)
    found = linkability(Table.of(frame, ROLES), Table.of(frame.drop(columns="name")), control, random_state=1)
    assert found.control.value > 0.5
    assert not found.conclusive
    assert "100% of the people who are not in the release" in found.objection
    told = Linkability().describe(found)
    assert "linkability (inconclusive)" in str(told.grids)
    assert any("says nothing of the release" in one for one in told.cautions)


def test_an_attack_of_few_attempts_is_inconclusive():
    original, release, control = tables(0.6)
    found = linkability(original, release, control, attempts=8, random_state=1)
    low, high = found.interval
    assert high - low > 0.5
    assert not found.conclusive
    assert "leaves the risk anywhere from" in found.objection


def test_duplicates_single_nobody_out():
    twice = pd.concat([people(100, 5)] * 2, ignore_index=True)
    found = singling_out(Table.of(twice, ROLES), Table.of(twice.drop(columns="name")), random_state=1)
    assert found.risk == 0


def test_single_values_are_told_by_column():
    original, release, control = tables(0.0)
    found = singling_out_values(original, release, control, random_state=1)
    assert "town" not in found
    assert found["income"].main.value > 0.9


def test_numbers_are_read_from_labels_of_intervals():
    original = people(200, 6)
    release = original.drop(columns="name").assign(
        age=[f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in original.age]
    )
    found = linkability(Table.of(original, ROLES), Table.of(release), random_state=1)
    assert found.main.value > 0.9


def test_polars_and_missing_cells():
    frame = people(300, 7)
    frame.loc[::3, "town"] = None
    frame.loc[::4, "age"] = np.nan
    original = Table.of(pl.from_pandas(frame), ROLES)
    release = Table.of(pl.from_pandas(frame.drop(columns="name")))
    assert linkability(original, release, random_state=1).risk == 1
    assert inference(original, release, secret="age", random_state=1).main.value > 0.7
    assert singling_out(original, release, random_state=1).risk > 0.9


def test_errors_name_the_column():
    original, release, _ = tables(0.0, count=50)
    with pytest.raises(TableError, match="'nmae'"):
        inference(original, release, secret="nmae")
    with pytest.raises(TableError, match="both known and secret"):
        inference(original, release, secret="age", known=("age", "town"))
    with pytest.raises(TableError, match="knows no column"):
        linkability(original, release, known=((), ("age",)))
    with pytest.raises(TableError, match="no rows"):
        singling_out(original, release, original.take(np.array([], dtype=np.int64)))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_ends_solve_the_score_equation(counts):
    successes, attempts = counts
    z = NormalDist().inv_cdf(0.975)
    low, high = Rate(successes, attempts).interval(0.95)
    share = successes / attempts
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert abs(share - end) == pytest.approx(z * (end * (1 - end) / attempts) ** 0.5, abs=1e-9)


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
)
def test_the_interval_holds_the_risk(main, control):
    one = Attack("x", Rate(*main), Rate(*control), Rate(0, 1))
    low, high = one.interval
    assert 0 <= low <= one.risk <= high <= 1


def test_the_interval_covers_as_often_as_it_says():
    r = Randomness(8)
    rounds, covered = 2000, 0
    main = (r.uniform(rounds * 400).reshape(rounds, 400) < 0.36).sum(axis=1)
    control = (r.uniform(rounds * 400).reshape(rounds, 400) < 0.2).sum(axis=1)
    for one, two in zip(main, control, strict=True):
        low, high = Attack("x", Rate(int(one), 400), Rate(int(two), 400), Rate(0, 1)).interval
        covered += low <= 0.2 <= high
    assert 0.93 < covered / rounds < 0.97


@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 30), st.integers(0, 2**32))
def test_counting_equals_brute_force(rows, columns, predicates, seed):
    r = Randomness(seed)
    cells = r.integers(6, rows * columns).reshape(columns, rows).astype(float)
    cells[cells == 5] = np.inf
    low = r.integers(6, predicates * columns).reshape(columns, predicates).astype(float)
    high = low + r.integers(3, predicates * columns).reshape(columns, predicates)
    free = r.uniform(low.size).reshape(low.shape) < 0.3
    low[free], high[free] = -np.inf, np.inf
    found = Index(Rows.of_values(cells, np.ones(columns, dtype=bool))).count(Predicates(low, high))
    held = (low[:, :, None] <= cells[:, None, :]) & (cells[:, None, :] <= high[:, :, None])
    assert found.tolist() == held.all(axis=0).sum(axis=1).tolist()


@given(st.integers(1, 40), st.integers(1, 10), st.integers(1, 4), st.integers(0, 2**32))
def test_nearest_rows_equal_brute_force(rows, targets, neighbours, seed):
    r = Randomness(seed)

    def frame(count):
        return pd.DataFrame(
            {
                "number": np.where(r.uniform(count) < 0.2, np.nan, r.integers(8, count)),
                "label": np.array(["a", "b", "c", None], dtype=object)[r.integers(4, count)],
                "other": r.integers(3, count),
            }
        )

    mine, theirs = frame(targets), frame(rows)
    released, own = align_rows(Table.of(theirs), (Table.of(mine),), ("number", "label", "other"))
    near = np.vstack([block for _, block in Nearest(released).near(own, neighbours)])

    def gap(x, y, unit):
        if pd.isna(x) or pd.isna(y):
            return 0.0 if pd.isna(x) and pd.isna(y) else 1.0
        if isinstance(x, str):
            return float(x != y)
        return min(1.0, abs(x - y) / unit)

    units = {name: (theirs[name].max() - theirs[name].min()) or 1 for name in ("number", "other")}
    units = {name: 1 if pd.isna(unit) else unit for name, unit in units.items()} | {"label": 1}
    for place, target in enumerate(mine.to_dict("records")):
        distance = np.array(
            [sum(gap(target[n], row[n], units[n]) for n in units) for row in theirs.to_dict("records")]
        )
        least = np.sort(distance)[min(neighbours, rows) - 1]
        assert near[place].tolist() == (distance <= least + 1e-5).tolist()
