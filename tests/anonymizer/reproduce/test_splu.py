"""The script that rebuilds the figures of the small-sum privacy paper; all is drawn from seeds."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[3] / "scripts" / "reproduce" / "splu.py"


def test_a_missing_table_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--data", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 66
    assert f"{tmp_path / 'census_gi_bill.csv.gz'} is missing" in done.stderr


@pytest.fixture(scope="module")
def splu():
    sys.path.insert(0, str(SCRIPT.parent))
    yield importlib.import_module("splu")
    sys.path.remove(str(SCRIPT.parent))


@pytest.fixture(scope="module")
def study(splu):
    """40,000 rows; a column of ten values tells much of the sensitive one, thirty with common ones first."""
    draw = np.random.default_rng(3)
    weights = 1.0 / np.arange(10, 40)
    place = draw.choice(30, 40_000, p=weights / weights.sum())
    region = np.where(draw.random(40_000) < 0.7, place % 10, draw.integers(0, 10, 40_000))
    sex = draw.integers(0, 2, 40_000)
    frame = pd.DataFrame(
        {"region": region, "sex": sex, "year": draw.integers(0, 100, 40_000), "place": place}
    )
    roles = Roles(quasi_identifiers=("region", "sex", "year"), sensitive=("place",))
    return splu.Study(Table.of(frame.astype(str), roles), ("place",), 1)


@pytest.fixture(scope="module")
def queries(study):
    return study.queries(3000)


def test_small_counts_err_more_with_gamma_and_more_than_with_laplace_noise(splu, study, queries):
    small = splu.within(queries, 1, 11, 60)
    errors = [splu.error(study.splu(gamma), small) for gamma in (2, 6, 12)]
    assert errors[0] < errors[1] < errors[2]
    assert splu.error(study.laplace(np.log(3)), small) < errors[0]


def test_large_counts_err_less_than_small_ones_and_less_than_by_anatomy(splu, study, queries):
    bands = [splu.within(queries, low, high, 60) for low, high in ((1, 11), (60, 200), (300, 4000))]
    released = study.splu(5)
    errors = [splu.error(released, band) for band in bands]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < splu.error(study.anatomy(5), bands[2])


def test_figure_4_is_a_panel_for_each_e_with_the_printed_bound_below_the_exact_probability(splu):
    _, plot, _ = splu.figure_4()
    assert [panel.title for panel in plot.panels] == ["e = 0.03", "e = 0.05", "e = 0.09"]
    for panel in plot.panels:
        printed, bound, exact = panel.series
        assert (printed.kind, exact.kind, panel.log) == ("printed", "found", "xy")
        assert list(exact.x) == sorted(exact.x)
        assert all(
            one < two <= 1.0001 * three for one, two, three in zip(printed.y, exact.y, bound.y, strict=True)
        )


def test_curves_have_no_column_of_numbers_of_queries(splu):
    errors = {"SPLU-Gen": [0.1, 0.2, 0.3], "Anatomy": [0.2, 0.3, 0.4]}
    panel, table = splu.shown("selectivity", {"1 to 2 %": errors, "2 to 3 %": errors}, "Figure 8")
    assert [one.label for one in panel.series] == ["SPLU-Gen", "Anatomy"]
    assert panel.series[0].y == pytest.approx([0.2, 0.2])
    assert table.names[-1] == "queries"


def test_a_comparison_of_few_queries_is_within_noise_and_one_of_many_is_judged(splu):
    statements = importlib.import_module("splu_statements")
    draw = np.random.default_rng(5)

    def verdict(one, other, many):
        two = {"as printed": {5: {"0.5 to 0.7 %": (one + 0.1 * draw.normal(size=many)).tolist()}}}
        large = {100: {"0.5 to 1 %": {"as printed": (other + 0.1 * draw.normal(size=many)).tolist()}}}
        return statements._two(two, large).verdict

    assert verdict(0.34, 0.12, 60) == "no"
    assert verdict(0.12, 0.12, 60) == "yes"
    assert verdict(0.25, 0.12, 5) == "within noise"


def test_the_medical_table_has_the_first_stay_of_each_patient(splu, tmp_path):
    medical = importlib.import_module("splu_medical")
    rows = [(3, "b", "414"), (1, "a", "428"), (2, "a", "414"), (4, "c", "786")]
    frame = pd.DataFrame(rows, columns=["encounter_id", "patient_nbr", "diag_1"])
    frame[list(medical.PLAIN)] = "x"
    frame.to_csv(tmp_path / medical.FILE, index=False, compression="gzip")
    study = medical.study(tmp_path / medical.FILE, 1)
    assert list(study.table.native["diag_1"]) == ["428", "414", "786"]
    assert study.sensitive == ("diag_1",)
