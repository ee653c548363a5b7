"""Information loss against formulas written out, and Definition 4.6 on data with a known answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.hierarchies.labels import middles_of, spans_of
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.correlations import correlations
from anonymizer.utility.features import Features
from anonymizer.utility.learning import MODELS, holdout, learning_utility
from anonymizer.utility.loss import average_class_size, discernibility
from anonymizer.utility.marginals import marginal
from anonymizer.utility.penalty import column_penalty
from anonymizer.utility.propensity import propensity

TOWNS = ValueHierarchy([["a", "north", ANY], ["b", "north", ANY], ["c", "south", ANY], ["d", "south", ANY]])
HIERARCHIES = {"town": TOWNS, "age": IntervalHierarchy.of_widths(0, 100, [10, 50])}
ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "town"), sensitive=("ill",))


def people(count, seed=1):
    r = Randomness(seed)
    age, town = r.integers(100, count), r.integers(4, count)
    ill = (age + 40 * (town > 1) + 10 * r.normal(count) > 90).astype(np.int64)
    return pd.DataFrame(
        {
            "name": [str(place) for place in range(count)],
            "age": age,
            "town": np.array(list("abcd"), dtype=object)[town],
            "ill": np.array(["no", "yes"], dtype=object)[ill],
        }
    )


def table(count, seed=1):
    return Table.of(people(count, seed), ROLES, HIERARCHIES)


def test_labels_are_read_as_numbers():
    spans = spans_of(["[20, 30)", "< 17", ">= 90", ANY, "39", 4.5, "north", "(-1e2, 3]", "[1-2]"])
    assert spans[:6].tolist() == [
        [20, 30],
        [-np.inf, 17],
        [90, np.inf],
        [-np.inf, np.inf],
        [39, 39],
        [4.5, 4.5],
    ]
    assert np.isnan(spans[6]).all()
    assert spans[7].tolist() == [-100, 3]
    assert np.isnan(spans[8]).all()
    assert middles_of(["[20, 30)", "< 17", ">= 90", "39"]).tolist() == [25, 17, 90, 39]
    assert numbers_of(Table.of(pd.DataFrame({"x": ["north", "3"]})), "x") is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9, unique=True).map(sorted))
def test_every_label_of_a_hierarchy_is_read_as_its_span(bounds):
    hierarchy = IntervalHierarchy([bounds], open_ends=True)
    labels, spans = hierarchy.spans(1, "x")
    read = spans_of(labels)
    assert read[:, 0].tolist() == spans[:, 0].tolist()
    assert np.nextafter(read[:-1, 1], -np.inf).tolist() == spans[:-1, 1].tolist()


def test_discernibility_and_class_size_by_hand():
    release = Table.of(pd.DataFrame({"age": [1, 1, 2], "town": ["a", "a", "a"]}), ROLES_OPEN)
    assert discernibility(release, ("age", "town"), 5) == 4 + 1 + 2 * 5
    assert average_class_size(release, ("age", "town")) == 1.5


ROLES_OPEN = Roles(quasi_identifiers=("age", "town"))


def test_penalty_by_hand():
    original = table(400)
    release = Generalization(levels={"age": 1, "town": 1}).fit_transform_table(original)
    assert column_penalty(original, release, "town") == pytest.approx(1 / 3)
    assert column_penalty(original, release, "age") == pytest.approx(0.1)
    fewer = release.take(np.arange(100))
    assert column_penalty(original, fewer, "town") == pytest.approx(0.25 / 3 + 0.75)
    assert column_penalty(original, original, "age") == 0
    starred = release.replace({"town": np.array([ANY] * 400, dtype=object)})
    assert column_penalty(original, starred, "town") == 1
    free = release.replace({"age": np.array(["[20, 30]"] * 400, dtype=object)})
    assert column_penalty(Table.of(people(400)), free, "age") == pytest.approx(10 / 99)
    unknown = release.replace({"town": np.array(["east"] * 400, dtype=object)})
    assert np.isnan(column_penalty(original, unknown, "town"))


def test_marginals_spread_labels_over_what_they_cover():
    original = Table.of(
        pd.DataFrame({"age": [5, 15, 15, 25], "town": ["a", "a", "b", "c"]}), ROLES_OPEN, HIERARCHIES
    )
    release = Table.of(
        pd.DataFrame({"age": ["[0, 20)", "[0, 20)", ANY, None], "town": ["north", "east", "c", "c"]})
    )
    town, age = (marginal(original, release, name) for name in ("town", "age"))
    assert town.labels == ("a", "b", "c", "missing", "elsewhere")
    assert town.original.tolist() == [2, 1, 1, 0, 0]
    assert town.release.tolist() == [0.5, 0.5, 2, 0, 1]
    assert age.release.tolist() == pytest.approx([1 + 1 / 3, 1 + 1 / 3, 1 / 3, 1, 0])
    p, q = town.original / 4, town.release / 4
    assert town.hellinger == pytest.approx(np.sqrt(1 - np.sqrt(p * q).sum()))
    used = (town.original + town.release) > 0
    expected = stats.entropy(town.original[used] + 0.5, town.release[used] + 0.5)
    assert town.kl == pytest.approx(expected)


def test_noise_that_leaves_the_range_is_counted():
    original = table(1000)
    release = original.replace({"age": original.numbers("age") + 1000})
    found = marginal(original, release, "age", bins=10)
    assert len(found.labels) == 12
    assert found.original[:-2] == pytest.approx(100, rel=0.3)
    assert found.release.tolist() == [0] * 9 + [1000, 0, 0]
    assert marginal(original, original, "age").kl == 0


def test_correlations_equal_scipy():
    frame = people(500)
    frame["income"] = frame["age"] ** 2 * 1.0
    before = Table.of(frame)
    found = correlations(before, before, ("age", "income", "town", "ill"))
    assert found.difference == 0
    strength = {tuple(pair): one for pair, one in zip(found.pairs.tolist(), found.original, strict=True)}
    assert len(strength) == 6
    assert found.part == 1
    assert strength[0, 1] == pytest.approx(stats.pearsonr(frame.age, frame.income)[0])
    counts = pd.crosstab(frame.town, frame.ill).to_numpy()
    assert strength[2, 3] == pytest.approx(stats.contingency.association(counts, "cramer"))
    groups = [part.age.to_numpy() for _, part in frame.groupby("ill")]
    f = stats.f_oneway(*groups).statistic
    assert strength[0, 3] == pytest.approx(np.sqrt(f / (f + len(frame) - 2)))
    shuffled = frame.assign(income=frame.income.to_numpy()[Randomness(2).permutation(500)])
    other = correlations(before, Table.of(shuffled), ("age", "income"))
    assert other.difference == pytest.approx(strength[0, 1] - other.release[0])


def test_of_many_columns_some_pairs_are_drawn():
    cells = Randomness(5).normal(40 * 120).reshape(40, 120)
    cells[:, 1::2] = cells[:, ::2]
    wide = Table.of(pd.DataFrame({f"c{n}": cells[:, n] for n in range(120)}))
    found = correlations(wide, wide, wide.names, random_state=1)
    assert len({tuple(pair) for pair in found.pairs.tolist()}) == len(found.pairs) == 2000
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    assert found.part == pytest.approx(2000 / 7140)
    assert np.bincount(found.pairs.ravel(), minlength=120).min() > 10
    twins = (found.pairs[:, 0] % 2 == 0) & (found.pairs[:, 1] == found.pairs[:, 0] + 1)
    assert found.original[twins] == pytest.approx(1)
    assert np.abs(found.original[~twins]).max() < 0.8
    assert found.difference == 0


def test_propensity_of_many_columns_sees_a_part_of_them():
    cells = Randomness(6).integers(40, 400 * 200).reshape(400, 200)
    wide = Table.of(pd.DataFrame({f"c{n}": cells[:, n].astype(str) for n in range(200)}))
    ratios = [
        propensity(wide, wide.take(Randomness(seed).integers(400, 400)), wide.names, random_state=seed)
        for seed in range(5)
    ]
    assert {one.columns for one in ratios} == {100}
    assert 0.5 < np.mean([one.ratio for one in ratios]) < 2
    shifted = wide.replace({name: np.array(["39"] * 400, dtype=object) for name in wide.names})
    assert propensity(wide, shifted, wide.names).ratio > 5


def test_propensity_is_as_expected_for_draws_of_the_original_and_more_for_others():
    original = table(600)
    ratios = [
        propensity(original, original.take(Randomness(seed).integers(600, 300)), ("age", "town")).ratio
        for seed in range(40)
    ]
    assert 0.7 < np.mean(ratios) < 1.4
    older = original.replace({"age": original.numbers("age") + 60})
    assert propensity(original, older, ("age", "town")).ratio > 20
    assert propensity(original, original, ("age", "town")).pmse < 1e-12


def test_features_of_intervals_and_numbers_meet():
    release = Table.of(pd.DataFrame({"age": ["[0, 10)", "[10, 20)", ANY], "town": ["north", None, "south"]}))
    numbers = Table.of(pd.DataFrame({"age": [5, 15, 40], "town": ["north", "south", "west"]}))
    middle = Features.learn(release, ("age", "town"))
    assert middle.of(numbers)[:2, 0].tolist() == middle.of(release)[:2, 0].tolist()
    assert middle.of(release)[2, 0] == 0
    assert middle.of(release)[:, 1:].tolist() == [[1, 0], [0, 0], [0, 1]]
    one_hot = Features.learn(release, ("age",), "one-hot")
    assert one_hot.of(numbers).sum(axis=1).tolist() == [2, 2, 1]
    with pytest.raises(TableError, match="one-hot"):
        Features.learn(release, ("age",), "onehot")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=3, max_size=40))
def test_f_measure_equals_scikit_learn(pairs):
    from anonymizer.utility.learning import _f_measure

    truth, guesses = (np.array(side) for side in zip(*pairs, strict=True))
    assert _f_measure(truth, guesses, ["a"]) == pytest.approx(
        f1_score(truth, guesses, labels=["a"], average="macro", zero_division=0)
    )


@pytest.mark.parametrize("model", sorted(MODELS))
def test_learning_from_the_original_and_from_noise(model):
    train, test = holdout(table(800), 0.25, random_state=1)
    assert len(test) == 200
    assert not set(train.origin) & set(test.origin)
    same = learning_utility(train, train, test, target="ill", model=model, random_state=1)
    assert same.original > 0.7
    assert 0.9 < same.ratio < 1.1
    noise = train.replace({"ill": train.frame["ill"].to_numpy()[Randomness(3).permutation(len(train))]})
    spoiled = learning_utility(train, noise, test, target="ill", model=model, random_state=1)
    assert spoiled.ratio < 0.8
    again = learning_utility(train, noise, test, target="ill", model=model, random_state=1)
    assert again == spoiled


def test_test_rows_are_generalized_but_get_no_noise():
    train, test = holdout(table(800), random_state=1)
    pipeline = Pipeline(
        steps=[
            ("noise", Noise(columns=("age",), epsilon=0.5, random_state=1)),
            ("g", Generalization(levels={"town": 1})),
            ("sample", Sampling(rate=0.5, random_state=1)),
        ]
    )
    release = pipeline.fit_transform_table(train)
    seen = pipeline.recode(test)
    assert len(seen) == len(test)
    assert seen.numbers("age").tolist() == test.numbers("age").tolist()
    assert set(seen.codes("town").values) == {"north", "south"}
    found = learning_utility(train, release, test, target="ill", model="logistic", recoding=pipeline)
    assert found.ratio > 0.8


def test_learning_errors_name_the_hint():
    train, test = holdout(table(60), random_state=1)
    with pytest.raises(TableError, match="'svm'"):
        learning_utility(train, train, test, target="ill", model="smv")
    with pytest.raises(TableError, match="no column 'il'"):
        learning_utility(train, train, test, target="il")
    with pytest.raises(TableError, match="no class 'maybe'"):
        learning_utility(train, train, test, target="ill", positive="maybe")
    constant = train.replace({"ill": np.array(["no"] * len(train), dtype=object)})
    with pytest.raises(TableError, match="fewer than two classes"):
        learning_utility(constant, train, test, target="ill")
    assert learning_utility(train, constant, test, target="ill", model="logistic").release == 0
