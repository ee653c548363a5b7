"""Declared columns in use: orders, missing cells, codes that are numbers; and what protects nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import AnonymizerError, SpecError, TableError, UnreachableError
from anonymizer.gate.gate import Gate
from anonymizer.gate.streaming import stream
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.methods.conditions.constraints import Closeness, DistinctDiversity, constraint
from anonymizer.methods.perturbation.exponential import ExponentialMechanism
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.perturbation.pram import PRAM
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressCells, SuppressMissing, SuppressRecords
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import parse
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age", "city"), sensitive=("pain",))
CITIES = ValueHierarchy([[c, "north" if c in "ab" else "south", ANY] for c in "abcd"])
AGES = ValueHierarchy([[str(age), f"{age // 10}0s", ANY] for age in range(20, 60)])
HIERARCHIES = {"city": CITIES, "age": AGES}
PAIN = ("low", "medium", "high")


def people(rows: int = 80) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "age": 20 + (number * 7) % 40,
            "city": ["abcd"[i % 4] for i in number],
            "pain": [PAIN[i % 3] for i in number],
        }
    )


def ordered_t(frame, schema=None) -> float:
    """The ordered t of the classes of cities."""
    table = Table.of(frame, ROLES, HIERARCHIES, schema)
    codes, kinds = Closeness("pain", 0.2, ordered=True).encode(table)
    del kinds
    order = table.codes("pain").values.tolist()
    return [order[code] for code in sorted(set(codes.tolist()))]


def test_texts_have_no_order_but_a_declared_one():
    with pytest.raises(TableError, match="'pain' holds texts without an order") as caught:
        ordered_t(people())
    assert "ordered = true" in caught.value.hint
    declared = Schema({"pain": Column("category", categories=PAIN, ordered=True)})
    assert ordered_t(people(), declared) == list(PAIN)
    categorical = people().astype({"pain": pd.CategoricalDtype(list(PAIN), ordered=True)})
    assert ordered_t(categorical) == list(PAIN)
    enum = pl.from_pandas(people()).with_columns(pl.col("pain").cast(pl.Enum(PAIN)))
    assert ordered_t(enum) == list(PAIN)
    with pytest.raises(TableError, match="'pain'"):
        ordered_t(people().astype({"pain": "category"}))
    with pytest.raises(TableError, match=r"'worst'.*not among"):
        ordered_t(people().replace({"pain": {"high": "worst"}}), declared)


def test_the_guarantee_says_what_t_is_measured_against():
    table = Table.of(people(), ROLES, HIERARCHIES)
    release = LocalRecoding(k=4, constraints=(Closeness("pain", 0.5),)).release(table)
    (t,) = [one for one in release.guarantees if one.kind == "t-closeness"]
    assert t.sensitive == "pain"
    assert "table" in t.condition


@pytest.mark.parametrize("treatment", ["value", "drop", "impute"])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_the_simulator_runs_however_missing_cells_are_treated(treatment, library):
    frame = people().astype({"age": float})
    frame.loc[::9, "city"] = None
    frame.loc[::11, "age"] = np.nan
    schema = Schema({name: Column(missing=treatment) for name in ("age", "city")})
    original = Table.of(library(frame), ROLES, HIERARCHIES, schema)
    pipeline = Pipeline(steps=[("k", LocalRecoding(k=4))])
    release = pipeline.release(original)
    found = simulate_attack(original, release.table, pipeline)
    assert len(found.found) == len(frame)
    assert found.found.tolist() == found.released.tolist()
    assert 0 < found.risk <= 1 / 4
    gaps = frame["city"].isna() | frame["age"].isna()
    assert len(release) == (len(frame) - gaps.sum() if treatment == "drop" else len(frame))
    assert found.released.all() == (treatment != "drop")


def test_the_mend_of_the_error_for_gaps_leads_to_a_release_that_is_measured():
    frame = people()
    frame.loc[::9, "city"] = None
    original = Table.of(frame, ROLES, HIERARCHIES)
    with pytest.raises(TableError, match="suppress-missing"):
        Pipeline(steps=[("k", LocalRecoding(k=4))]).release(original)
    pipeline = Pipeline(steps=[("gaps", SuppressMissing()), ("k", LocalRecoding(k=4))])
    release = pipeline.release(original)
    assert 0 < simulate_attack(original, release.table, pipeline).risk <= 1 / 4


def test_gaps_that_stay_are_candidates_of_each_other():
    frame = people()
    frame.loc[[3, 4, 5], "city"] = None
    roles = Roles(quasi_identifiers=("city",))
    original = Table.of(frame, roles)
    pipeline = Pipeline(steps=[("part", Sampling(rate=0.99))])
    found = simulate_attack(original, pipeline.fit_transform_table(original), pipeline)
    assert found.found.tolist() == found.released.tolist()
    assert set(found.candidates[[3, 4, 5]]) <= {0.0, 2.0, 3.0}


def test_imputed_cells_are_the_middle_the_median_or_the_commonest():
    frame = pd.DataFrame({"a": [1.0, None, 9.0, 9.0], "b": [1.0, None, 9.0, 9.0], "c": ["x", None, "y", "y"]})
    schema = Schema(
        {
            "a": Column("integer", 0, 120, missing="impute"),
            "b": Column(missing="impute"),
            "c": Column(missing="impute"),
        }
    )
    steps = [("part", Sampling(rate=1.0))]
    out = Pipeline(steps=steps, schema=schema).fit_transform(frame)
    assert out.iloc[1].tolist() == [60, 9, "y"]


def test_codes_that_are_numbers_are_categories_unless_declared_as_numbers():
    frame = pd.DataFrame({"sex": [1, 2] * 100, "region": [float(i % 19) for i in range(200)]})
    roles = Roles(quasi_identifiers=("sex", "region"))
    hierarchies = {"sex": ValueHierarchy([["1", ANY], ["2", ANY]])}
    assert set(PRAM(retention=0.5).release(Table.of(frame, roles)).changed) == {"sex", "region"}
    mechanism = ExponentialMechanism(epsilon=0.1)
    assert set(mechanism.release(Table.of(frame, roles, hierarchies)).changed) == {"sex"}
    schema = Schema({"sex": Column("integer"), "region": Column("integer")})
    with pytest.raises(TableError, match="would change nothing"):
        PRAM(retention=0.5).release(Table.of(frame, roles, None, schema))


LEAVES = [f"v{i}" for i in range(30)]
UNEVEN = ValueHierarchy([*([leaf, "group", ANY] for leaf in LEAVES), ["alone", "other", ANY]])


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_the_loss_of_the_exponential_mechanism_is_that_of_its_matrix(epsilon):
    """30 values in one group and one alone: the sums of weights differ, and epsilon D / 2 is exceeded."""
    frame = pd.DataFrame({"code": [*LEAVES, "alone"] * 5})
    roles = Roles(quasi_identifiers=("code",))
    schema = Schema({"code": Column("category", categories=(*LEAVES, "alone"))})
    method = ExponentialMechanism(epsilon=epsilon)
    release = method.release(Table.of(frame, roles, {"code": UNEVEN}, schema))
    _, matrix = method.transitions_["code"]
    exact = max(
        abs(np.log(matrix[one, out] / matrix[other, out]))
        for one in range(len(matrix))
        for other in range(len(matrix))
        for out in range(len(matrix))
    )
    cell, record = release.guarantees
    assert cell.number("epsilon") == pytest.approx(exact)
    assert record.number("epsilon") == release.manifest.epsilon == cell.number("epsilon")
    assert epsilon * 4 / 2 < exact <= epsilon * 4


def test_laws_over_values_that_the_data_decide_promise_nothing():
    frame = pd.DataFrame({"code": [*LEAVES, "alone"] * 5})
    roles = Roles(quasi_identifiers=("code",))
    schema = Schema({"code": Column("category", categories=(*LEAVES, "alone"))})
    for method in (ExponentialMechanism(), PRAM(retention=0.3), PRAM(retention=1.0)):
        assert not method.release(Table.of(frame, roles, {"code": UNEVEN})).guarantees
    (cell, _) = PRAM(retention=0.3).release(Table.of(frame, roles, None, schema)).guarantees
    assert cell.number("epsilon") == pytest.approx(np.log(0.3 / (0.7 / 30)))
    assert not PRAM(retention=1.0).release(Table.of(frame, roles, None, schema)).guarantees
    assert not PRAM(retention=0.3, random_state=1).release(Table.of(frame, roles, None, schema)).guarantees


@pytest.mark.parametrize(
    ("later", "kept"),
    [
        (Sampling(rate=0.5), False),
        (SuppressRecords(k=6), True),
        (SuppressRecords(k=6, columns=("city",)), True),
        (PRAM(retention=0.5, columns=("city",)), False),
        (PRAM(retention=0.5, columns=("pain",)), True),
    ],
)
def test_later_steps_take_promises_away(later, kept):
    steps = [("k", LocalRecoding(k=4)), ("later", later)]
    pipeline = Pipeline(steps=steps)
    release = pipeline.release(Table.of(people(), ROLES, HIERARCHIES))
    assert any(one.number("k") == 4 for one in release.guarantees) is kept
    assert any("'later'" in note and "k-anonymity" in note for note in release.notes) is not kept


def test_a_changed_sensitive_column_takes_diversity_away():
    first = LocalRecoding(k=2, constraints=(DistinctDiversity("pain", 2),))
    steps = [("k", first), ("cells", SuppressCells(minimum_rows=30, columns=("pain",)))]
    release = Pipeline(steps=steps).release(Table.of(people(), ROLES, HIERARCHIES))
    assert [one.kind for one in release.guarantees] == ["k-anonymity"]


@pytest.mark.parametrize(
    "given",
    [
        {"model": "distinct-l-diversity", "l": 0},
        {"model": "distinct-l-diversity", "l": -3},
        {"model": "entropy-l-diversity", "l": 0.5},
        {"model": "recursive-cl-diversity", "l": 1, "c": 2.0},
        {"model": "recursive-cl-diversity", "l": 2, "c": 0.0},
        {"model": "t-closeness", "t": 5.0},
        {"model": "t-closeness", "t": -0.1},
        {"model": "delta-presence", "low": 0.9, "high": 0.1},
        {"model": "delta-presence", "low": 0.0, "high": float("nan")},
    ],
)
def test_constraints_that_ask_for_nothing_are_refused(given):
    with pytest.raises(SpecError, match="outside"):
        constraint({"column": "pain", **given})


TEXTS = {"roles": {"quasi_identifiers": ["city"], "sensitive": ["pain"]}}
NUMBERS = {"roles": {"quasi_identifiers": ["age"], "sensitive": ["pain"]}}


@pytest.mark.parametrize(
    ("document", "step", "word"),
    [
        ({}, {"method": "local-recoding", "k": 5}, "no quasi-identifiers"),
        ({"roles": {}}, {"method": "mondrian", "k": 5}, "no quasi-identifiers"),
        ({"roles": {"sensitive": ["pain"]}}, {"method": "suppress-records", "k": 5}, "no quasi-identifiers"),
        ({"roles": {"quasi_identifiers": []}}, {"method": "incognito"}, "no quasi-identifiers"),
        ({"roles": {"quasi_identifiers": []}, "release_as_is": True}, {"method": "mdav"}, "change nothing"),
        (TEXTS, {"method": "local-recoding", "k": 1}, "k is 1"),
        (TEXTS, {"method": "suppress-records", "k": 1}, "k is 1"),
        (TEXTS, {"method": "suppress-cells", "minimum_rows": -1}, "minimum_rows is -1"),
        (TEXTS, {"method": "local-recoding", "columns": []}, "change nothing"),
        (TEXTS, {"method": "pram", "columns": []}, "change nothing"),
        (TEXTS, {"method": "rank-swapping"}, "change nothing"),
        (TEXTS, {"method": "top-bottom-coding"}, "change nothing"),
        (TEXTS, {"method": "exponential-mechanism"}, "change nothing"),
        (TEXTS, {"method": "noise", "epsilon": 1.0}, "change nothing"),
        (TEXTS, {"method": "dp-noise"}, "change nothing"),
        (NUMBERS, {"method": "dp-noise", "columns": ["age"]}, "not declared"),
        (NUMBERS, {"method": "dp-noise", "epsilon": 1e300}, "epsilon"),
        (NUMBERS, {"method": "dp-noise", "distribution": "gaussian", "delta": 1e-300}, "delta"),
        (NUMBERS, {"method": "top-bottom-coding", "bounds": {"age": [float("inf"), None]}}, "'age'"),
        (NUMBERS, {"method": "sampling", "unchanged": ""}, "unchanged"),
        ({**NUMBERS, "release_as_is": True}, {"method": "sampling"}, "release_as_is"),
        ({"roles": {}, "release_as_is": True}, {"method": "sampling"}, "release_as_is"),
    ],
)
def test_what_protects_nothing_is_refused(tmp_path, document, step, word):
    with pytest.raises(AnonymizerError, match=word) as caught:
        parse({**document, "steps": [step]}, tmp_path).pipeline().fit_transform(people())
    assert caught.value.hint


def test_a_release_as_it_is_can_be_meant(tmp_path):
    document = {
        "release_as_is": True,
        "roles": {"quasi_identifiers": []},
        "steps": [{"method": "sampling", "rate": 0.5}],
    }
    spec = parse(document, tmp_path)
    assert len(spec.pipeline().fit_transform(people())) == 40
    assert [one.finding for one in spec.accept] == ["roles"]


def test_a_step_that_may_change_nothing_says_why(tmp_path):
    document = {**NUMBERS, "steps": [{"method": "sampling", "rate": 1.0, "unchanged": "All are asked."}]}
    (one,) = parse(document, tmp_path).accept
    assert (one.finding, one.column, one.why) == ("unchanged", "1-sampling", "All are asked.")


def test_by_chunks_nothing_is_filled_from_the_data(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    column = {"missing": "impute"}
    document = {**NUMBERS, "columns": {"age": column}, "steps": [{"method": "suppress-missing"}]}
    with pytest.raises(SpecError, match="'age' are filled by the whole table"):
        stream(parse(document, tmp_path), tmp_path / "people.csv", tmp_path / "out.csv", 10, Gate())
    assert not (tmp_path / "out.csv").exists()


def test_columns_that_say_nothing_cannot_be_filled():
    frame = people().assign(city=None)
    for treatment, kind in (("impute", TableError), ("drop", UnreachableError)):
        schema = Schema({"city": Column(missing=treatment)})
        with pytest.raises(kind):
            Pipeline(steps=[("n", Noise(epsilon=1.0, columns=("age",)))], schema=schema).fit_transform(frame)
