"""Noise by OpenDP: the budget, the distribution, and an audit of the claim."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chisquare, kstest, laplace, norm

from anonymizer.dp.audit import event_loss
from anonymizer.errors import AnonymizerError, TableError
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.swapping import Swapping
from anonymizer.methods.reduction.coding import TopBottomCoding
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressMissing
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import read
from anonymizer.risk.candidates import exactly
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ALARM = 1e-6
SCHEMA = Schema({"age": Column("integer", 0, 100), "pay": Column("float", 0, 5)})


def people(rows: int) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame({"age": number % 101, "pay": (number % 50) / 10.0})


def test_the_budget_of_a_record_is_shared_by_its_columns():
    method = DpNoise(epsilon=1.0, columns=("age", "pay"))
    (*cells, record) = method.release(Table.of(people(3), schema=SCHEMA)).guarantees
    assert method.scales_ == pytest.approx({"age": 200.0, "pay": 10.0})
    assert [(one.columns, one.number("epsilon")) for one in cells] == [(("age",), 0.5), (("pay",), 0.5)]
    assert (record.unit, record.columns, record.neighbours) == ("record", ("age", "pay"), "replace")
    assert record.number("epsilon") == pytest.approx(1)
    method = DpNoise(epsilon=1.0, delta=1e-6, distribution="gaussian", columns=("age",)).fit(
        people(3), schema=SCHEMA
    )
    assert method.spent_["age"] == pytest.approx((1.0, 1e-6), rel=1e-3)
    # less than the classic bound sqrt(2 ln(1.25 / delta)), more than nothing
    assert 300 < method.scales_["age"] < 100 * np.sqrt(2 * np.log(1.25e6))


@pytest.mark.parametrize(("distribution", "shape"), [("laplace", laplace), ("gaussian", norm)])
def test_the_law_is_the_stated_one(distribution, shape):
    frame = people(10_000)
    method = DpNoise(
        epsilon=2.0, delta=1e-5 * (distribution == "gaussian"), distribution=distribution, columns=("pay",)
    )
    out = method.fit_transform(frame, schema=SCHEMA)
    noise = (out["pay"] - frame["pay"]) / method.scales_["pay"]
    assert kstest(noise, shape.cdf).pvalue > ALARM
    assert (out["age"] == frame["age"]).all()


def test_whole_numbers_stay_whole_and_get_geometric_noise():
    frame = pl.DataFrame({"age": [50] * 20_000})
    method = DpNoise(epsilon=1.0, bounds={"age": (48, 52)}, columns=("age",))
    out = method.fit_transform(frame, schema=SCHEMA.among(["age"]))
    assert out["age"].dtype == frame["age"].dtype
    # Pr[z] is proportional to e^(-|z| / 4)
    alpha = np.exp(-1 / 4)
    inner = np.arange(-15, 16)
    distribution = (1 - alpha) / (1 + alpha) * alpha ** np.abs(inner)
    noise = out["age"].to_numpy() - 50
    counts = np.array([(noise == z).sum() for z in inner])
    expected = np.append(distribution, 1 - distribution.sum()) * 20_000
    assert chisquare(np.append(counts, 20_000 - counts.sum()), expected).pvalue > ALARM


@pytest.mark.parametrize(("distribution", "delta"), [("laplace", 0.0), ("gaussian", 1e-3)])
def test_an_audit_finds_no_more_than_the_claim(distribution, delta):
    rows, hits = 10_000, []
    for value in (-1e9, 1e9):
        frame = pd.DataFrame({"pay": np.full(rows, value)})
        method = DpNoise(epsilon=1.0, delta=delta, distribution=distribution, columns=("pay",))
        hits.append(int((method.fit_transform(frame, schema=SCHEMA.among(["pay"]))["pay"] > 2.5).sum()))
    low, high = hits
    assert event_loss(high, low, (rows, rows), delta, ALARM) <= 1.0
    # and the noise is not far more than what is claimed: gaussian noise shows 0.223 with a standard deviation
    # of 0.014, so that it falls below the bar by chance with less than ALARM; twice the noise shows 0.08
    assert event_loss(high, low, (rows, rows), 0.0, 0.01) > 0.12


@pytest.mark.parametrize("clamped", [False, True])
def test_an_attacker_is_confident_as_often_as_stated(clamped):
    frame = people(10_000)
    method = DpNoise(epsilon=4.0, columns=("pay",), clamped=clamped, digits=2)
    out = method.fit_transform(frame, schema=SCHEMA)["pay"].to_numpy()
    assert not clamped or (out.min() >= 0 and out.max() <= 5)
    candidates = method.simulate("pay", exactly(frame["pay"].to_numpy(), numeric=True))
    high, low = (
        np.mean((ends[:, 0] <= out) & (out <= ends[:, 1])) for ends in (candidates.high, candidates.low)
    )
    assert low == 1
    assert high == pytest.approx(0.9, abs=0.1 if clamped else 0.02)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"columns": ("free",)}, "'free' has no bounds"),
        ({"columns": ("name",)}, "'name' is not declared"),
        ({"columns": ("wide",), "epsilon": 1e-4}, "'wide' are too wide"),
        ({"bounds": {"age": (5, 5)}}, "'age' hold no range"),
        ({"bounds": {"age": (0.2, 0.8)}}, "'age' hold no range"),
        ({"bounds": {"age": (0, float("inf"))}}, "'age' are not finite"),
        ({"epsilon": 1e300}, "epsilon is 1e\\+300"),
        ({"epsilon": 1e-300}, "epsilon is 1e-300"),
        ({"distribution": "gaussian", "delta": 1e-300}, "delta is 1e-300"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"distribution": "gaussian"}, "delta"),
        ({"delta": 0.1}, "delta"),
        ({"distribution": "cauchy"}, "'cauchy'"),
    ],
)
def test_refusals_name_what_is_wrong(changes, word):
    frame = people(5).assign(name="x", free=1.5, wide=2.0)
    schema = Schema({**SCHEMA, "free": Column("float"), "wide": Column("float", 0, 1e15)})
    with pytest.raises(AnonymizerError, match=word) as caught:
        DpNoise(**changes).fit(frame, roles=Roles(quasi_identifiers=("age",)), schema=schema)
    assert caught.value.hint


def test_gaps_are_refused_since_they_would_be_released():
    frame = people(5).astype(float)
    frame.loc[2, "pay"] = np.nan
    with pytest.raises(TableError, match="'pay' has 1 cells that are missing"):
        DpNoise(columns=("pay",)).fit(frame, schema=SCHEMA)


@pytest.mark.parametrize("kind", ["integer", "float"])
@pytest.mark.parametrize("cells", [[39, 40], [39.5, 40], ["39", "40"], ["39", "unknown"], [39, None]])
def test_no_cell_decides_the_law_or_the_form_of_what_is_released(kind, cells):
    """Neighbouring tables: what one person's cell is like must not be seen at a glance."""
    schema = Schema({"age": Column(kind, 0, 120, missing="impute")})
    method = DpNoise(epsilon=1.0, columns=("age",))
    released = method.fit_transform(pd.DataFrame({"age": cells * 500}), schema=schema)["age"]
    assert released.dtype == ("int64" if kind == "integer" else "float64")
    assert (released == released.round()).all() == (kind == "integer")
    assert method.scales_["age"] == pytest.approx(120)


def test_two_files_that_differ_in_one_person_have_one_form(tmp_path):
    """The attack on the command: D has 39, its neighbour 39.5, and one look tells them apart."""
    (tmp_path / "s.toml").write_text(
        '[roles]\nquasi_identifiers = ["age"]\n[columns]\n'
        'age = { type = "integer", bounds = [0, 120] }\n[[steps]]\nmethod = "dp-noise"\n'
    )
    spec = read(tmp_path / "s.toml")
    for number, cell in enumerate(("39", "39.5")):
        path = tmp_path / f"{number}.csv"
        path.write_text("age\n" + "41\n" * 200 + f"{cell}\n")
        table = files.table(path).declared(spec.roles, spec.hierarchies, spec.schema)
        assert spec.pipeline().release(table).native["age"].dtype.is_integer()


def test_numbers_are_rounded_to_the_declared_step_and_released_on_it():
    schema = Schema({"pay": Column("float", 0, 5, step=0.25)})
    method = DpNoise(epsilon=1.0, columns=("pay",))
    cells = method.fit_transform(pd.DataFrame({"pay": [1.1] * 2000}), schema=schema)["pay"]
    assert np.array_equal(cells * 4, np.round(cells * 4))
    assert abs(np.median(cells) - 1) < 1
    assert method.scales_["pay"] == pytest.approx(5)


def test_what_steps_of_noise_spend_on_one_record_is_added_up():
    steps = [(name, DpNoise(epsilon=1.0, columns=(name,))) for name in ("age", "pay")]
    steps.append(("again", DpNoise(epsilon=0.25, columns=("age",))))
    roles = Roles(quasi_identifiers=("age",))
    release = Pipeline(steps=steps[:2]).release(Table.of(people(50), roles, None, SCHEMA))
    assert release.guarantees[-1].unit == "record"
    assert release.guarantees[-1].number("epsilon") == pytest.approx(2)
    assert release.manifest.epsilon == pytest.approx(2)
    # noise upon noise: the column has spent no more than the least of its steps
    release = Pipeline(steps=steps).release(Table.of(people(50), roles, None, SCHEMA))
    assert release.manifest.epsilon == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("before", "holds"),
    [
        (Sampling(rate=0.5), True),
        (TopBottomCoding(bounds={"age": (10, 90)}), True),
        (TopBottomCoding(quantiles=(0.1, 0.9), columns=("age",)), False),
        (Swapping(rate=0.9, columns=("age",)), False),
        (Swapping(rate=0.9, columns=("pay",)), True),
        (Swapping(rate=0.9, columns=("pay",), within=("age",)), False),
        (SuppressMissing(columns=("age",)), False),
    ],
)
def test_a_step_before_that_mixes_records_takes_the_claim_away(before, holds):
    steps = [("first", before), ("noise", DpNoise(columns=("age",)))]
    roles = Roles(quasi_identifiers=("age", "pay"))
    release = Pipeline(steps=steps).release(Table.of(people(500), roles, None, SCHEMA))
    assert (release.manifest.epsilon is not None) is holds
    assert any("local-dp" in note and "'first'" in note for note in release.notes) is not holds


def test_imputing_from_the_data_takes_the_claim_away_and_the_middle_does_not():
    frame = people(60).astype({"age": float})
    frame.loc[3, "age"] = np.nan
    for column, holds in ((Column("integer", 0, 100, missing="impute"), True), (Column("integer"), False)):
        schema = Schema({"age": replace(column, missing="impute")})
        method = DpNoise(columns=("age",), bounds={"age": (0, 100)})
        roles = Roles(quasi_identifiers=("age",))
        release = Pipeline(steps=[("noise", method)]).release(Table.of(frame, roles, None, schema))
        assert (release.manifest.epsilon is not None) is holds


@pytest.mark.parametrize(
    "step",
    ['method = "dp-noise"\nepsilon = 1.0', 'method = "synth-histogram"\nepsilon = 1.0'],
)
def test_the_hint_of_an_undeclared_column_is_toml_whatever_it_is_called(tmp_path, run, step):
    pl.DataFrame({"Gewicht (kg)": [60 + i for i in range(30)], "b": ["x", "y"] * 15}).write_csv("data.csv")
    head = '[roles]\nquasi_identifiers = ["Gewicht (kg)", "b"]\n'
    (tmp_path / "s.toml").write_text(f'{head}[[steps]]\n{step}\ncolumns = ["Gewicht (kg)"]\n')
    told = " ".join(run("anonymize data.csv --spec s.toml -o out.csv", 65)[1].split())
    entry = told.partition("Write below [columns]: ")[2].partition(" }")[0]
    assert [*tomllib.loads(f"{entry} }}")] == ["Gewicht (kg)"]
