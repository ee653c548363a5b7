"""The trends of the thesis's chapter 4 on the Adult table, and the script that prints its tables."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.methods.perturbation.noise import Noise
from anonymizer.tables import files
from anonymizer.utility.learning import holdout, learning_utility
from tests.anonymizer.data import shared

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[3] / "scripts" / "reproduce"
SEEDS = range(2)


@pytest.fixture
def datasets(monkeypatch):
    """The module of the script that makes the data sets."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("chapter4_datasets")
    sys.modules.pop("chapter4_datasets", None)


@pytest.fixture
def adult(datasets):
    return datasets.adult(files.read(shared("adult_train.csv")))


def part(table, rows: int = 6000):
    return table.take(np.arange(0, len(table), len(table) // rows))


def test_generalization_alone_gives_the_printed_figures(datasets, adult):
    assert datasets.attacked(adult, datasets.generalized(), 1.0, 0).n_q == 4
    assert datasets.attacked(adult, datasets.generalized(age=2), 1.0, 0).n_q == 22
    assert datasets.attacked(adult, datasets.without_small_classes(), 1.0, 0).n_q >= 10


@pytest.mark.parametrize("name", ["SECOND", "THIRD"])
def test_risk_falls_with_noise(datasets, adult, name):
    table = part(adult)
    steps = getattr(datasets, name)[0].steps
    found = [
        [datasets.attacked(table, steps(epsilon, seed), 0.9, seed) for seed in SEEDS]
        for epsilon in (1.0, 0.5, 0.25)
    ]
    risks = [np.mean([one.risks.mean() for one in row]) for row in found]
    assert risks[0] > risks[1] > risks[2]
    worst = [np.mean([one.n_q for one in row]) for row in found]
    assert worst[0] <= worst[1] <= worst[2]
    assert worst[0] < worst[2]


def test_sampling_alone_changes_little(datasets, adult):
    whole = datasets.attacked(adult, datasets.generalized(), 1.0, 0)
    for rate in (0.9, 0.7, 0.5):
        found = [datasets.attacked(adult, datasets.generalized(), rate, seed) for seed in SEEDS]
        assert np.mean([one.n_q for one in found]) < 2 * whole.n_q + 1
        for one in found:
            kept = one.released
            assert one.candidates[kept].mean() == pytest.approx(whole.candidates[kept].mean(), rel=0.05)


def test_combined_methods_keep_more_at_no_more_risk(datasets, adult):
    """Noise on age before data set 1, sampled, against a higher level of age, and against noise alone."""

    def measured(steps, rate):
        training, test = holdout(adult, 0.1, 1)
        release, pipeline = datasets.released(training, steps, rate, 1)
        score = learning_utility(
            training,
            release,
            test,
            target="income",
            model="boosting",
            recoding=pipeline,
            rows=5000,
            random_state=1,
        )
        return datasets.attacked(adult, steps, rate, 1).n_q, score.ratio

    combined = measured(datasets.noisy_age(0.15, 1), 0.9)
    general = measured(datasets.generalized(age=2), 1.0)
    noisy = measured([("noise", Noise(epsilon=0.1, columns=datasets.NUMBERS, random_state=1))], 1.0)
    assert combined[0] >= general[0] >= noisy[0]
    assert combined[1] > general[1] > noisy[1]


def test_models_of_all_columns_have_the_printed_size_of_table_4_7(datasets):
    """Printed 0.658 for data set 1, 0.644 in the mean; from four columns F is 0.56 at most."""
    table = datasets.whole(files.read(shared("adult_train.csv")))
    training, test = holdout(table, 0.1, 0)
    release, pipeline = datasets.released(training, datasets.generalized(), 1.0, 0)
    score = learning_utility(
        training, release, test, target="income", recoding=pipeline, rows=3000, random_state=0
    )
    assert 0.6 < score.release < 0.7


@pytest.fixture
def script(monkeypatch):
    """Runs the script in this process; its exit code."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)

    def run(*words) -> int:
        monkeypatch.setattr(sys, "argv", ["thesis_chapter4", *map(str, words)])
        return importlib.import_module("chapter4").main()

    yield run
    for name in set(sys.modules) - before:
        if name.startswith("chapter4") or name in ("page", "left_out"):
            del sys.modules[name]


def test_the_script_prints_its_tables(script, tmp_path, capsys):
    number = np.arange(600)
    pd.DataFrame(
        {
            "age": 20 + number % 40,
            "education_num": 7 + (number // 3) % 8,
            "workclass": np.array(["Private", "State-gov", "?"])[number % 3],
            "marital_status": np.array(["Divorced", "Married-civ-spouse"])[(number // 5) % 2],
            "income": np.where((number % 40) + (number % 7) > 25, ">50K", "<=50K"),
        }
    ).to_csv(tmp_path / "adult_train.csv", index=False)
    out = tmp_path / "out.json"
    words = ("--quick", "--runs", 1, "--rows", 300, "--data", tmp_path, "--json", out, "--write", tmp_path)
    assert script(*words) == 0
    printed = capsys.readouterr().out
    for title in ("Adult, 600 records", "leaves open", "Table 4.5", "Table 4.6", "Table 4.7", "median"):
        assert title in printed
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert len(figures["table_4_7"]) == 8
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "This was a quick run. It cannot judge:" in page
    assert "Table 4.7: data set 4 is the least useful" in page
    assert set(figures["table_4_5"]["table"]) == {"1.0, 0.9", "1.0, 0.5", "0.5, 0.9", "0.5, 0.5"}


def test_the_script_names_the_file_that_it_lacks(script, tmp_path, capsys):
    assert script("--data", tmp_path) == 64
    found = capsys.readouterr()
    assert "adult_train.csv" in found.err
    assert not found.out
