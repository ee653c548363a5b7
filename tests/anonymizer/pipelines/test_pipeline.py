"""Pipelines: steps in order, parameters, where rows come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from anonymizer.errors import HierarchyError, SpecError, TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.methods.perturbation.exponential import ExponentialMechanism
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.candidates import exactly
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "city"), sensitive=("illness",))
HIERARCHIES = {
    "age": IntervalHierarchy([[20, 40, 60]], open_ends=True),
    "city": ValueHierarchy([[c, "north" if c in "ab" else "south", ANY] for c in "abcd"]),
}


def people(rows: int = 60) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "name": [f"p{i}" for i in number],
            "age": 18 + (number * 11) % 60,
            "city": ["abcd"[i % 4] for i in number],
            "illness": ["uvw"[i % 3] for i in number],
        },
    )


def three(seed: int = 1) -> list:
    return [
        ("noise", Noise(epsilon=1.0, columns=("age",), digits=0, random_state=seed)),
        ("coarser", Generalization(levels={"city": 1})),
        ("part", Sampling(rate=0.8, random_state=seed + 1)),
    ]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_steps_run_in_order_and_identifiers_go_first(library):
    pipeline = Pipeline(steps=three(), roles=ROLES, hierarchies=HIERARCHIES)
    frame = library(people().set_axis(500 + 2 * np.arange(60)))
    release = pipeline.fit_transform(frame, keep_index=True)
    assert list(release.columns) == ["age", "city", "illness"]
    assert len(release) == len(pipeline.origin_) == 48
    assert set(release["city"]) == {"north", "south"}
    assert list(release["illness"]) == [people()["illness"].tolist()[i] for i in pipeline.origin_]
    by_hand = Table.of(frame, ROLES, HIERARCHIES).without(("name",))
    for _, method in three():
        by_hand = method.fit_transform_table(by_hand)
    assert list(by_hand.native["age"]) == list(release["age"])
    if library is pd.DataFrame:
        assert release.index.tolist() == [500 + 2 * i for i in pipeline.origin_]


def test_origins_are_composed_over_steps_that_drop_rows():
    frame = people()
    frame.loc[frame.index[:40], "city"] = "d"
    steps = [
        ("first", Sampling(rate=0.5, random_state=3)),
        ("k", SuppressRecords(k=6, columns=("city",))),
        ("then", Sampling(rate=0.5, random_state=4)),
    ]
    pipeline = Pipeline(steps=steps, roles=ROLES)
    release = pipeline.fit_transform(frame, keep_index=True)
    assert release.index.tolist() == frame.index[pipeline.origin_].tolist()
    assert pipeline.sampling_rate == 0.25


def test_transform_applies_what_was_learned_and_fit_changes_nothing_given():
    frame = people()
    before = frame.copy()
    pipeline = Pipeline(
        steps=[("coarser", Generalization(levels={"age": 1, "city": 1}))],
        roles=ROLES,
        hierarchies=HIERARCHIES,
    ).fit(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert pipeline.transform(frame.iloc[:7])["city"].tolist() == [
        "north",
        "north",
        "south",
        "south",
    ] * 1 + [
        "north",
        "north",
        "south",
    ]


def test_roles_given_to_fit_come_before_those_of_the_constructor():
    pipeline = Pipeline(steps=[("s", Sampling(rate=0.9))], roles=ROLES)
    release = pipeline.fit_transform(people(), roles=Roles(quasi_identifiers=("age",)))
    assert "name" in release.columns


def test_parameters_of_steps_and_clones():
    pipeline = Pipeline(steps=three(), roles=ROLES, hierarchies=HIERARCHIES)
    params = pipeline.get_params()
    assert params["part__rate"] == 0.8
    assert params["noise"] is pipeline.steps[0][1]
    assert "part__rate" not in pipeline.get_params(deep=False)
    copy = clone(pipeline)
    assert copy.steps[0][1] is not pipeline.steps[0][1]
    assert copy.fit_transform(people()).equals(pipeline.fit_transform(people()))
    copy.set_params(part__rate=0.5, noise=Noise(epsilon=9.0, columns=("age",)))
    assert len(copy.fit_transform(people())) == 30
    assert copy.get_params()["noise__epsilon"] == 9.0
    assert pipeline.get_params()["part__rate"] == 0.8
    with pytest.raises(ValueError, match="rat"):
        copy.set_params(part__rat=1)
    with pytest.raises(ValueError, match="nothing"):
        copy.set_params(nothing=1)


def test_errors_name_what_is_wrong():
    with pytest.raises(SpecError, match="'a'"):
        Pipeline(steps=[("a", Sampling()), ("a", Sampling())]).fit(people())
    with pytest.raises(TableError, match="no rows"):
        Pipeline(steps=three(), roles=ROLES, hierarchies=HIERARCHIES).fit_transform(people()[:0])
    with pytest.raises(HierarchyError, match="'city'"):
        Pipeline(steps=three(), roles=ROLES).fit_transform(people())
    with pytest.raises(TableError, match="'citty'"):
        Pipeline(steps=[("g", Generalization(levels={"citty": 1}))]).fit(people())


STEPS = st.permutations(
    [
        ("age", Noise(epsilon=1.0, columns=("age",), digits=0)),
        ("coarser", Generalization(levels={"city": 1})),
        ("change", ExponentialMechanism(epsilon=1.0, columns=("city",))),
        ("part", Sampling(rate=0.7)),
    ]
)


def changed_first(steps) -> bool:
    """Whether categories are changed before they become labels, which have no hierarchy of their own."""
    names = [name for name, _ in steps]
    return names.index("change") < names.index("coarser")


@settings(max_examples=25, deadline=None)
@given(STEPS.filter(changed_first), st.integers(0, 99))
def test_every_released_row_is_a_candidate_of_its_record(steps, seed):
    """Whatever the order of the steps: the simulators are composed as the methods are."""
    pipeline = Pipeline(steps=steps, roles=ROLES, hierarchies=HIERARCHIES)
    for name, method in steps:
        if name != "coarser":
            method.set_params(random_state=seed)
    original = Table.of(people(), ROLES, HIERARCHIES)
    release = pipeline.fit_transform_table(original)
    found = simulate_attack(original, release, pipeline, rate=pipeline.sampling_rate)
    assert found.found.tolist() == found.released.tolist()
    assert found.n_q >= 1


def test_categories_changed_among_numbers_are_candidates():
    frame = pd.DataFrame({"grade": [1, 1, 2, 2, 3, 3, 4, 4] * 5})
    hierarchies = {"grade": ValueHierarchy([[str(i), "low" if i < 3 else "high", ANY] for i in range(1, 5)])}
    steps = [
        ("change", ExponentialMechanism(epsilon=0.1, columns=("grade",), confidence=1.0, random_state=2)),
        ("coarser", Generalization(levels={"grade": 1})),
    ]
    for count in (1, 2):
        pipeline = Pipeline(steps=steps[:count], roles=Roles(quasi_identifiers=("grade",)))
        original = Table.of(frame, pipeline.roles, hierarchies)
        found = simulate_attack(original, pipeline.fit_transform_table(original), pipeline)
        assert found.found.all()
        assert found.n_q == 40


def test_columns_that_no_step_touches_stay_exact():
    pipeline = Pipeline(steps=three(), roles=ROLES, hierarchies=HIERARCHIES)
    pipeline.fit(people())
    candidates = exactly(np.array(["a", "b"], dtype=object), numeric=False)
    assert pipeline.simulate("illness", candidates) is candidates


@pytest.mark.parametrize("method", [LocalRecoding, Mondrian])
def test_a_column_that_two_steps_recode_is_told_with_the_first(method):
    steps = [("first", method(k=3)), ("second", method(k=5))]
    with pytest.raises(HierarchyError) as error:
        Pipeline(steps=steps, roles=ROLES, hierarchies=HIERARCHIES).fit_transform(people())
    assert "'age'" in error.value.what
    assert "The step 'first' before has changed this column." in error.value.what
    assert "one of the two steps" in error.value.hint


def test_a_column_that_one_step_cannot_read_is_told_without_another():
    frame = people().assign(age=["old", *["young"] * 59])
    with pytest.raises(HierarchyError) as error:
        Pipeline(steps=[("only", LocalRecoding(k=3))], roles=ROLES, hierarchies=HIERARCHIES).fit_transform(
            frame
        )
    assert "'old', which is not a number" in error.value.what
    assert "step" not in str(error.value)


def test_a_method_is_a_step_of_a_pipeline_of_scikit_learn():
    method = Noise(epsilon=9.0, columns=("age",), random_state=1)
    whole = make_pipeline(method, FunctionTransformer(lambda frame: frame[["age"]]))
    assert "epsilon=9.0" in repr(method)
    assert whole.fit_transform(people()).shape == (len(people()), 1)
    assert whole.get_params()["noise__epsilon"] == 9.0
