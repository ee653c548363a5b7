"""The attack simulator of the thesis: its worked example, and what it says of known releases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressCells, SuppressRecords
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.candidates import LabelCandidates, compose_steps
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ORIGINAL = pd.DataFrame(
    {
        "qi_1": ["1", "3", "4", "1", "7", "7", "8"],
        "qi_2": ["Football", "Baseball", "Swimming", "Basketball", "Art", "Chorus", "Brass band"],
    }
)
RELEASE = pd.DataFrame(
    {
        "qi_1": ["[3, 4]", "[1, 2]", "[1, 2]", "[9, 10]", "[5, 6]"],
        "qi_2": ["Culture", "Sports", "Sports", "Culture", "Sports"],
    }
)


class Worked:
    """Tables 4.1 to 4.3, as the thesis's simulator with record r_1 sees them."""

    origin_ = np.array([0, 1, 3, 4, 6])
    unsimulated = ()

    def simulate(self, column, candidates):
        cells = np.unique(RELEASE[column].to_numpy())
        high = np.zeros((len(candidates.labels), len(cells)), dtype=bool)
        low = high.copy()
        first = candidates.labels.tolist().index("1" if column == "qi_1" else "Football")
        # noise 0 or 1 at 70 %, up to 4 at all; sports stay sports at 80 %
        near = {"[1, 2]", "[3, 4]", "Sports"}
        possible = near | {"[5, 6]", "Culture"}
        high[first] = [cell in near for cell in cells]
        low[first] = [cell in possible for cell in cells]
        return LabelCandidates(cells, high, low)


def test_the_worked_example_of_the_thesis():
    original = Table.of(ORIGINAL, Roles(quasi_identifiers=("qi_1", "qi_2")))
    found = simulate_attack(original, Table.of(RELEASE), Worked(), rate=0.8, k=2)
    assert found.found[0]
    assert not found.confident[0]
    assert not found.outlier[0]
    assert found.candidates[0] == pytest.approx(4 / 0.8)
    assert found.risk == pytest.approx(1 / 5)


CODES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=60)


@given(CODES)
def test_on_a_full_domain_release_the_risks_are_those_of_its_classes(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "s"]).astype(str)
    roles = Roles(quasi_identifiers=("a", "b"), sensitive=("s",))
    hierarchies = {
        "a": ValueHierarchy([[str(i), f"pair {i // 2}", f"four {i // 4}", ANY] for i in range(8)]),
        "b": ValueHierarchy([[str(i), ANY] for i in range(4)]),
    }
    method = Generalization(levels={"a": 2, "b": 1})
    original = Table.of(frame, roles, hierarchies)
    release = method.fit_transform_table(original)
    found = simulate_attack(original, release, method)
    classes = release.native.groupby(["a", "b"])["s"]
    size, kinds = classes.transform("size"), classes.transform("nunique")
    assert found.candidates.tolist() == size.tolist()
    assert found.kinds["s"].tolist() == kinds.tolist()
    assert found.risk == pytest.approx(1 / size.min())
    assert found.revealing_risk("s") == pytest.approx(1 / kinds.min())
    share = release.native.groupby(["a", "b", "s"])["s"].transform("size") / size
    assert found.shares["s"] == pytest.approx(share.to_numpy())


def test_sampled_away_and_suppressed_records_are_not_found():
    frame = pd.DataFrame({"a": ["x"] * 6 + ["y"] * 3, "s": list("uvuvuvuvu")})
    roles = Roles(quasi_identifiers=("a",), sensitive=("s",))
    pipeline = Pipeline(
        steps=[("k", SuppressRecords(k=4)), ("part", Sampling(rate=0.5, random_state=1))], roles=roles
    )
    original = Table.of(frame, roles)
    release = pipeline.fit_transform_table(original)
    found = simulate_attack(original, release, pipeline, rate=pipeline.sampling_rate, k=2)
    assert found.released.sum() == len(release) == 3
    assert found.candidates[found.released].tolist() == [6.0] * 3
    assert not found.candidates[~found.released].any()
    assert found.risk == pytest.approx(1 / 6)
    few = simulate_attack(original, release, pipeline, rate=pipeline.sampling_rate, k=6)
    assert few.outlier.all()
    assert few.n_q == 3


@pytest.mark.parametrize(
    "method", [Generalization(levels={"code": 1}), LocalRecoding(k=2)], ids=["one", "any"]
)
def test_numbers_that_are_codes_are_candidates_by_their_labels(method):
    frame = pd.DataFrame({"code": [11, 12, 13, 11, 12, 13, 21, 21]})
    rows = [["11", "a", "*"], ["13", "a", "*"], ["12", "b", "*"], ["21", "b", "*"]]
    table = Table.of(frame, Roles(quasi_identifiers=("code",)), {"code": ValueHierarchy(rows)})
    release = method.fit_transform_table(table)
    found = simulate_attack(table, release, method)
    released = release.native["code"].tolist()
    allowed = {row[0]: set(row[1:2]) if method.name == "generalization" else set(row) for row in rows}
    counts = [sum(cell in allowed[str(code)] for cell in released) for code in frame["code"]]
    assert found.candidates.tolist() == counts


def test_codes_with_a_prefix_hierarchy_are_attacked():
    frame = pd.DataFrame({"zip": [80331, 80333, 80469, 86150]})
    table = Table.of(frame, Roles(quasi_identifiers=("zip",)), {"zip": PrefixHierarchy(5)})
    method = Generalization(levels={"zip": 2})
    found = simulate_attack(table, method.fit_transform_table(table), method)
    assert found.candidates.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("least", [2, 3])
def test_cells_that_are_kept_or_suppressed_are_found(least):
    frame = pd.DataFrame({"age": [30, 30, 30, 40, 40, 50], "illness": list("abcabc")})
    table = Table.of(frame, Roles(quasi_identifiers=("age",), sensitive=("illness",)))
    method = SuppressCells(minimum_rows=least)
    found = simulate_attack(table, method.fit_transform_table(table), method)
    assert found.found.all()
    assert found.risk == (1 if least == 2 else 1 / 3)


def test_without_the_sensitive_column_the_rows_are_looked_for_all_the_same():
    frame = pd.DataFrame({"age": [30, 30, 40, 40], "illness": list("abab")})
    table = Table.of(frame, Roles(quasi_identifiers=("age",), sensitive=("illness",)))
    method = Anatomy(l=2)
    found = simulate_attack(table, method.fit_transform_table(table), method)
    assert found.risk == 1 / 2
    assert not found.kinds


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.data())
def test_two_steps_lead_where_one_after_the_other_leads(rows, between, columns, data):
    def drawn(height, width):
        cells = st.lists(st.booleans(), min_size=height * width, max_size=height * width)
        return np.array(data.draw(cells), dtype=np.bool_).reshape(height, width)

    first, second = drawn(rows, between), drawn(between, columns)
    assert np.array_equal(compose_steps(first, second), first @ second)
    assert np.array_equal(compose_steps(np.eye(between, dtype=np.bool_), second), second)
