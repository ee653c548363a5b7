"""The script that rebuilds the tables of chapter 5: its trends, and the row of 1 / k, on small logs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[2] / "scripts" / "reproduce"


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(FOLDER))
    try:
        import chapter5
        import chapter5_experiments
        import chapter5_printed

        yield chapter5, chapter5_experiments, chapter5_printed
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def found(scripts, tmp_path_factory):
    """Figures of an invented log: 140 households with lasting tastes, 30 categories, 52 weeks."""
    _, experiments, _ = scripts
    draw = np.random.default_rng(3)
    taste = draw.random((140, 30)) ** 3 * 1.5
    rows = []
    for week in range(1, 53):
        user, item = np.nonzero(draw.random(taste.shape) < taste / 25)
        rows += [(str(a), week, f"c{b:02d}") for a, b in zip(user, item, strict=True)]
    path = tmp_path_factory.mktemp("log") / "shop.csv"
    pd.DataFrame(rows, columns=["household_id", "week", "product_category"]).to_csv(path, index=False)
    source = experiments.Source.shop(path)
    return experiments.experiment(
        source, 1, users=80, ks=(2, 10), ranks=(5, 20), noises=(0.3, 1.5), factor_noises=(0.1, 0.4)
    )


def test_a_missing_log_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, str(FOLDER / "chapter5.py"), "--data", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 66
    assert f"{tmp_path / 'shop_log.csv.gz'} is missing" in done.stderr


def test_clusters_of_k_are_found_with_one_in_k(found):
    """Erratum 17: this row holds on any data."""
    for k in (2, 10):
        assert 0.7 / k <= found["5.4", f"{k}", "re-identification"] <= 1 / k + 1e-9
        for rank in (5, 20):
            assert found["5.6", f"{k}", f"r = {rank}"] <= 1 / k + 1e-9


def test_trends_are_those_of_the_thesis(found):
    longer = [found["5.2", f"{number}", "linkage"] for number in (1, 2, 3)]
    assert longer[0] < longer[-1]
    assert found["5.3", "20", "re-identification"] > 0.9
    assert found["5.3", "5", "linkage"] < longer[-1]
    assert found["5.4", "2", "linkage"] < longer[-1] / 2
    assert found["5.5", "1.5", "re-identification"] < found["5.5", "0.3", "re-identification"]
    for rank in ("r = 5", "r = 20"):
        assert found["5.8", "0.4", rank] < found["5.8", "0.1", rank]
    for noise in ("0.1", "0.4"):
        assert found["5.8", noise, "r = 5"] < found["5.8", noise, "r = 20"]
    assert found["5.11", "1.5", "Uti"] < found["5.11", "0.3", "Uti"]


def test_the_printed_ratios_are_ratios_of_printed_means(scripts):
    """Utilities of Table 5.11 are its F-measures by 0.763, and not means of ratios."""
    printed = scripts[2].PRINTED
    for noise, f in (("0.3", 0.717), ("0.6", 0.668), ("0.9", 0.618), ("1.2", 0.571), ("1.5", 0.567)):
        assert abs(printed["5.11", noise, "Uti"] - f / 0.763) < 0.0015


def test_a_section_has_all_tables_and_takes_the_place_of_an_older_one(scripts, found, tmp_path):
    chapter5, _, printed = scripts
    text = chapter5.tables({"retail": found})
    assert all(f"**{title}**" in text for title, _ in printed.TITLES.values())
    assert "| 2 | 0.5 / 0." in text
    page = tmp_path / "reproduction.md"
    page.write_text("# Reproduction\n\n## First\n\nstays\n")
    for word in ("one", "two"):
        chapter5.written(tmp_path, f"{chapter5.HEADING}\n\n{word}\n")
    assert page.read_text().count(chapter5.HEADING) == 1
    assert "two" in page.read_text()
    assert "stays" in page.read_text()
