"""The script that rebuilds the tables of chapter 5: trends and the row of 1 / k, on small and real logs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[3] / "scripts" / "reproduce"
DATA = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(FOLDER))
    try:
        import chapter5
        import chapter5_experiments
        import chapter5_printed
        import chapter5_statements

        yield chapter5, chapter5_experiments, chapter5_printed, chapter5_statements
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def found(scripts, tmp_path_factory):
    """Figures of an invented log: 140 households with lasting tastes, 30 categories, 52 weeks."""
    experiments = scripts[1]
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
        source, 1, users=60, ks=(2, 10), ranks=(5, 20), noises=(0.3, 1.5), factor_noises=(0.1, 0.4),
        iterations=(2, 30), variants=("MDAV, k = 2, r = 20, SGD",),
    )  # fmt: skip


def test_a_missing_log_is_named(scripts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["thesis_chapter5", "--data", str(tmp_path)])
    assert scripts[0].main() == 66
    assert f"{tmp_path / 'shop_log.csv.gz'} is missing" in capsys.readouterr().err


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


def test_a_section_has_all_tables_and_its_statements(scripts, found):
    chapter5, experiments, printed, statements = scripts
    source = experiments.Source("retail", (), ("8 weeks", "13 weeks", "26 weeks"))
    section = chapter5.section([source], {"retail": [found]}, "")
    text = section.markdown()
    assert all(f"<summary>{title}</summary>" in text for title, _ in printed.TITLES.values())
    assert "| 2 | 0.5 / 0." in text
    assert "| MDAV, k = 2, r = 20, SGD |" in text
    assert len(set(re.findall(r"!\[[^]]+\]\(reproduction/(.+)\.svg\)", text))) == 5
    verdicts = {one.says: one.verdict for one in statements.statements([found])}
    assert verdicts["k-anonymization is found with about 1 / k, never more"] == "yes"
    assert verdicts["k-anonymization keeps 0.9 of the usefulness"] == "within noise"


def test_statements_are_denied_where_figures_deny_them(scripts, found):
    """A table turned round, or k-anonymization that is found too often, holds no longer."""
    statements = scripts[3]
    turned = found | {
        ("5.4", "2", "re-identification"): 0.6,
        ("5.5", "0.3", "re-identification"): 0.5,
        ("5.5", "1.5", "re-identification"): 0.9,
        ("5.11", "0.3", "Uti"): 99.0,
        ("5.2", "1", "linkage"): 1.0,
    }
    verdicts = {one.says: one.verdict for one in statements.statements([turned, turned])}
    for says in (
        "k-anonymization is found with about 1 / k, never more",
        "noise lowers re-identification",
        "a longer observation links more users, the longest more than the shortest",
        "noise on factors is more useful than noise on cells of no less risk, in every setting",
    ):
        assert verdicts[says] == "no"


@pytest.mark.parametrize("log", ["shop", "hospital"])
def test_real_logs_keep_the_row_of_1_by_k_and_the_trends(scripts, log):
    """Erratum 17: the row of 1 / k holds on any data, and so do the curves' shapes here."""
    experiments, statements = scripts[1], scripts[3]
    path = DATA / {"shop": experiments.SHOP, "hospital": experiments.HOSPITAL}[log]
    if not path.exists():
        pytest.skip(f"{path} is not there")
    source = getattr(experiments.Source, log)(path)
    figures = experiments.experiment(
        source, 1, ks=(2, 10), ranks=(10, 40), noises=(0.3, 1.5), factor_noises=(0.1, 0.2)
    )
    for one in statements.statements([figures]):
        assert one.verdict != "no", one


def test_a_stay_is_a_time_and_a_diagnosis_or_a_drug_an_item(scripts, tmp_path):
    experiments = scripts[1]
    names = [f"c{number}" for number in range(50)]
    names[0], names[1] = "encounter_id", "patient_nbr"
    names[18:21] = experiments.DIAGNOSES
    names[24] = "metformin"
    rows = []
    for patient in range(6):
        for stay in range(6):
            row = ["No"] * 50
            row[0], row[1] = str(1000 - 100 * patient + stay), f"p{patient}"
            row[18:21] = ["250", "?", "401" if stay < 3 else "8"]
            row[24] = "Steady" if stay % 2 else "No"
            rows.append(row)
    path = tmp_path / "hospital.csv"
    pd.DataFrame(rows[::-1], columns=names).to_csv(path, index=False)
    source = experiments.Source.hospital(path)
    assert [len(pair.one) for pair in source.pairs] == [6, 6, 6]
    # metformin is given in the second, fourth and sixth stay; 401 and 8 are in one window each
    assert source.pairs[0].one.items == ("250",)
    assert source.pairs[-1].one.items == ("250", "metformin")
    assert source.windows == ("1 stays", "2 stays", "3 stays")
