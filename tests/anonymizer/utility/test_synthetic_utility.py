"""Measures of use that do not ask where rows came from, by hand and on synthetic tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case
from anonymizer.measures.utility.accuracy import MODELS as COMPARED
from anonymizer.measures.utility.accuracy import Accuracy
from anonymizer.measures.utility.marginals import Marginals
from anonymizer.measures.utility.moments import Moments
from anonymizer.measures.utility.pairs import PairMarginals
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.learning import MODELS
from anonymizer.utility.objectives import Learning
from anonymizer.utility.pairs import pair_distances

ROLES = Roles(quasi_identifiers=("x", "town"), sensitive=("ill",))


def people(rows: int, seed: int = 1) -> Table:
    r = Randomness(seed)
    x = r.normal(rows)
    frame = pd.DataFrame(
        {
            "x": x,
            "town": np.array(list("ab"), dtype=object)[r.integers(2, rows)],
            "ill": np.array(["no", "yes"], dtype=object)[(x + 0.3 * r.normal(rows) > 0).astype(int)],
        }
    )
    return Table.of(frame, ROLES)


def shuffled(table: Table) -> Table:
    """The same columns with nothing to do with each other."""
    r = Randomness(7)
    frame = table.native
    return Table.of(
        pd.DataFrame({n: frame[n].to_numpy()[r.permutation(len(frame))] for n in frame.columns}), ROLES
    )


def test_distances_of_pairs_by_hand():
    one = Table.of(pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]}))
    two = Table.of(pd.DataFrame({"a": ["x", "x", "y", "z"], "b": ["u", "u", "v", "v"]}))
    found = pair_distances(one, two, ("a", "b"))
    # xu 1/4 to 1/2, xv 1/4 to 0, yu 1/4 to 0, yv 1/4 to 1/4, zv 0 to 1/4
    assert found.mean == pytest.approx(0.5)
    assert found.worst == ("a", "b")
    assert pair_distances(one, one, ("a", "b")).mean == 0
    gaps = Table.of(pd.DataFrame({"a": [None] * 4, "b": ["u", "v", "u", "v"]}))
    assert pair_distances(one, gaps, ("a", "b")).mean == 1
    with pytest.raises(TableError, match="fewer than two"):
        pair_distances(one, two, ("a",))
    with pytest.raises(TableError, match="'c'"):
        pair_distances(one, two, ("a", "c"))


def test_pairs_of_many_columns_are_drawn():
    frame = pd.DataFrame({f"c{place}": Randomness(place).integers(2, 30) for place in range(40)})
    found = pair_distances(Table.of(frame), Table.of(frame), tuple(frame.columns), random_state=1)
    assert len(found.pairs) == 500
    assert found.part == pytest.approx(500 / 780)
    assert (found.distances == 0).all()


def test_pairs_see_what_columns_do_not():
    original = people(3000)
    release = shuffled(original)
    case = Case(original, release, seed=1)
    alone = Marginals().measure(case)
    assert max(one.total_variation for one in alone.values()) == 0
    told = PairMarginals().describe(PairMarginals().measure(case)).values
    assert told["worst_pair"] == ["x", "ill"]
    assert told["worst"] > 0.3


def test_total_variation_of_a_column_by_hand():
    one = Table.of(pd.DataFrame({"a": list("xxyy")}))
    two = Table.of(pd.DataFrame({"a": list("xyyy")}))
    (found,) = Marginals().measure(Case(one, two)).values()
    assert found.total_variation == pytest.approx(0.25)
    values = Marginals().describe({"a": found}).values
    assert values["a"]["total_variation"] == pytest.approx(0.25)


def test_moments_by_hand_and_where_there_are_none():
    one = Table.of(pd.DataFrame({"a": [1.0, 3.0], "b": [-1.0, 1.0], "c": [5.0, 5.0]}))
    two = Table.of(pd.DataFrame({"a": [1.0, 5.0], "b": [-1.0, 1.0], "c": [5.0, 5.0]}))
    found = Moments().measure(Case(one, two))
    assert found.errors["variance"]["a"] == pytest.approx(3.0)  # Eq. 11: (1 - 4) / 1
    assert found.errors["mean"]["a"] == pytest.approx(0.5)
    assert np.isnan(found.errors["mean"]["b"])
    assert np.isnan(found.errors["variance"]["c"])
    assert found.mean("variance") == pytest.approx(1.5)  # Eq. 12 over a and b
    assert Moments().describe(found).values["mean_error"]["variance"] == pytest.approx(1.5)
    assert Moments().lacks(Case(Table.of(pd.DataFrame({"a": ["x"]})), Table.of(pd.DataFrame({"a": ["x"]}))))


def test_accuracy_falls_where_relations_are_lost_and_needs_no_origin():
    original, control = people(600), people(400, seed=2)
    utility = Learning(original, target="ill", random_state=1)
    found = {}
    for name, release in (("same", original), ("shuffled", shuffled(original))):
        case = Case(original, release, control=control, utility=utility, seed=1)
        assert not Accuracy().lacks(case)
        assert case.origin is None
        found[name] = Accuracy().measure(case)
    assert set(found["same"]) == set(COMPARED) <= set(MODELS)
    for model in COMPARED:
        assert found["same"][model].release_accuracy > 0.8
        same = found["same"][model]
        assert same.release_accuracy == pytest.approx(same.original_accuracy, abs=0.1)
        assert found["shuffled"][model].release_accuracy < 0.7
    assert "control" in Accuracy().lacks(Case(original, original, utility=utility))
    assert "predict" in Accuracy().lacks(Case(original, original, control=control))


def test_accuracy_is_that_of_scikit_learn():
    original, control = people(300), people(200, seed=2)
    case = Case(original, original, control=control, utility=Learning(original, target="ill"), seed=1)
    found = Accuracy().measure(case)["logistic"].release_accuracy
    from sklearn.linear_model import LogisticRegression

    sides = []
    mean, scale = original.native["x"].mean(), original.native["x"].std(ddof=0)
    for one in (original, control):
        town = pd.get_dummies(one.native["town"]).to_numpy(dtype=float)
        sides.append(np.column_stack([(one.native["x"] - mean) / scale, town]))
    model = LogisticRegression(max_iter=2000).fit(sides[0], original.native["ill"])
    assert found == pytest.approx(accuracy_score(control.native["ill"], model.predict(sides[1])), abs=0.011)


def test_a_report_on_a_synthetic_table_has_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(400).native.to_csv("data.csv", index=False)
    people(200, seed=2).native.to_csv("held.csv", index=False)
    Path("spec.toml").write_text(
        '[roles]\nquasi_identifiers = ["x", "town"]\nsensitive = ["ill"]\n[columns]\n'
        'x = { type = "float", bounds = [-5, 5] }\ntown = { type = "category", categories = ["a", "b"] }\n'
        'ill = { type = "category", categories = ["no", "yes"] }\n'
        '[[steps]]\nmethod = "synth-histogram"\nepsilon = 5.0\nbins = 10\n'
    )
    words = "anonymize data.csv --spec spec.toml -o out.csv --report r.html --target ill"
    measures = "accuracy,moments,pair-marginals,marginals,y-privacy"
    out, _ = run(f"{words} --measures {measures} --holdout held.csv --json", status=0)
    told = json.loads(out)
    assert told["utility"]["accuracy"]["logistic"]["release"] > 0.75
    assert told["utility"]["pair-marginals"]["mean"] < 0.3
    assert told["utility"]["moments"]["columns"]["x"]["variance"] < 1
    assert told["guarantees"][0]["kind"] == "dp"
    manifest = json.loads(Path("out.csv.manifest.json").read_text())
    assert len(manifest["discretisation"]["x"]["edges"]) == 11
    assert manifest["epsilon"] == pytest.approx(5, rel=1e-6)
