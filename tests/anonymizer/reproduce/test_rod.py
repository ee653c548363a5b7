"""The script that rebuilds the tables and figures on the risk of disclosure, and the paper's statements."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[3] / "scripts" / "reproduce"


@pytest.fixture(scope="module")
def rod():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("rod")
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def runs(rod):
    """One release of 200 rows at each epsilon."""
    return rod.run("dp-noise", 200, 1, 1)


def test_what_is_printed_is_recomputed(rod):
    first, second = (rod.reciprocal({e: rod.REAL[e] for e in rod.LEARNED_FROM}, d) for d in (1, 2))
    for epsilon in rod.REAL:
        assert rod.predicted(first, epsilon) == pytest.approx(rod.TABLE_2[epsilon], rel=1e-4)
        assert rod.predicted(second, epsilon) == pytest.approx(rod.TABLE_3[epsilon], rel=1e-4)
    through = rod.reciprocal({e: rod.TABLE_1[e][1] for e in (0.02, 0.1, 1.0)}, 2)
    for epsilon, (printed, _) in rod.TABLE_1.items():
        assert abs(rod.predicted(through, epsilon) - printed) <= 0.5
    assert rod.predicted(through, 0.01) < 0


def test_the_health_table_is_as_the_footnote_says(rod):
    table = rod.health(5000, 1)
    height, weight, bmi, low, high = (table.numbers(name) for name in rod.COLUMNS)
    assert bmi == pytest.approx(weight / (height / 100) ** 2, abs=0.3)
    assert abs(np.corrcoef(height, weight)[0, 1]) < 0.1
    assert min(np.corrcoef(bmi, low)[0, 1], np.corrcoef(bmi, high)[0, 1]) > 0.8
    assert 0.4 < (high > 122).mean() < 0.6


def test_risk_and_errors_fall_with_epsilon_also_by_noise_on_each_record(rod, runs):
    """From 0.01 to 10 means over 200 rows differ by some twenty standard errors."""
    for name in rod.DISTANCES:
        ours = rod.means(runs, lambda one, name=name: one.distance(name))
        assert ours[10.0] < 0.9 * ours[0.01]
    variance = rod.means(runs, rod.Found.error)
    assert variance[10.0] < 0.9 * variance[0.01]


def test_shapes_hold_for_synthetic_tables(rod, monkeypatch):
    """Trials from seeds, so that nothing fails by chance."""
    health = importlib.import_module("rod_health")
    monkeypatch.setattr(health, "TRAINED", 300)
    table, fresh = health.health(1500, 1), health.health(1000, 2)
    found = {
        epsilon: [health.measured(table, health.released(table, "synth-copula", epsilon, 1), fresh, 1)]
        for epsilon in (0.02, 0.5, 20.0)
    }
    risk = list(rod.means(found, lambda one: one.raw.nearest).values())
    variance = list(rod.means(found, rod.Found.error).values())
    accuracy = rod.means(found, lambda one: float(np.mean(list(one.accuracy.values()))))
    assert risk[0] > 2 * risk[-1]
    assert min(variance[:2]) > 2 * variance[-1]
    assert accuracy[20.0] > accuracy[0.02] + 0.1


def test_the_section_has_all_tables(rod, runs, monkeypatch):
    monkeypatch.setattr(rod, "run", lambda *_: runs)
    section = rod.section("dp-noise", 200, 1, 1)
    text = section.markdown()
    for title in ("Table 1", "Tables 2 and 3", "Figures 1, 3, 4 and 5", "Figure 2", "Figures 6 to 8"):
        assert f"### {title}" in text
    assert "200 rows x 5, `dp-noise`" in text
    assert all(f"](reproduction/{one.name}.svg)" in text for one in section.plots())
    curves, *_ = section.plots()
    assert all("printed" in {one.kind for one in panel.series} for panel in curves.panels)


def test_eq_15_fits_the_printed_values_best_and_one_release_judges_no_curve(rod, runs):
    fitted = rod.free({e: float(real) for e, (_, real) in rod.TABLE_1.items()})
    assert min(fitted, key=fitted.get) == "Eq. 15"
    assert fitted["Eq. 15"] == pytest.approx(1.40, abs=0.01)
    assert fitted["Eq. 13"] == pytest.approx(5.7, abs=0.1)
    told = {one.says: one.verdict for one in rod.statements(runs)}
    assert told["Eq. 15 fits the risk best, free curves, printed values"] == "yes"
    assert told["Eq. 15 fits the risk best, free curves, values found here"] == "within noise"


def test_too_few_rows_are_refused():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "rod.py"), "--rows", "5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "at least 100 rows" in done.stderr
