"""The script that rebuilds the figures on individual differential privacy, and the paper's statements.

Noise is drawn from seeds, so that no test fails by chance.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.methods.perturbation.idp import DpUm, IdpCbls, IdpLs
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from tests.anonymizer.data import shared

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[3] / "scripts" / "reproduce"
KS = (3, 5, 10, 15, 40, 80)


@pytest.fixture(scope="module")
def idp():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("idp")
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def experiments(idp):
    return importlib.import_module("idp_experiments")


@pytest.fixture(scope="module")
def small(experiments):
    """400 records of three skewed attributes, and a class that they decide."""
    draw = Randomness(11)
    values = np.round(1000 * np.exp(draw.normal(1200).reshape(400, 3)))
    return experiments.Data("Small", ("a", "b", "c"), values, values[:, 0] > 1000, ("low", "high"))


@pytest.fixture(scope="module")
def found(experiments, small):
    return experiments.errors(small, KS, 20, 1)


def test_the_scales_are_those_of_the_methods(experiments, small):
    """The figures are about what `duetto anonymize` does, with the domains that the paper takes."""
    highs = 1.5 * small.values.max(axis=0)
    schema = Schema({n: Column("float", 0, float(h)) for n, h in zip(small.columns, highs, strict=True)})
    frame = pd.DataFrame(small.values, columns=list(small.columns))
    table = Table.of(frame, Roles(quasi_identifiers=small.columns), schema=schema)
    for word, method in (("DP-UM", DpUm()), ("iDP-LS", IdpLs()), ("iDP-CBLS", IdpCbls(minimum_change=0.0))):
        method.set_params(epsilon=0.6, k=10).release(table)
        for place, name in enumerate(small.columns):
            scales = experiments.changes(word, small.clusters(10)[place], highs[place]) / 0.2
            assert method.scales_[name] == pytest.approx(scales, rel=1e-4)


def test_masked_tables_stay_in_the_domain_and_share_centroids(experiments, small):
    for method in ("DP", "DP-UM", "iDP-LS", "iDP-CBLS"):
        out = experiments.masked(small, (method, 10, 0.1, 1.5), Randomness(1))
        assert (out >= 0).all()
        assert (out <= 1.5 * small.values.max(axis=0)).all()
        if method != "DP":
            groups = small.clusters(10)[1].groups
            assert all(len(np.unique(out[groups == one, 1])) == 1 for one in range(40))


def test_the_error_is_that_of_equations_4_and_5(experiments):
    original = np.array([[0.0, 0.0], [2.0, 20.0]])  # variances 2 and 200
    released = np.array([[1.0, 0.0], [2.0, 10.0]])
    assert experiments.mean_sse(original, released) == pytest.approx(((1 / 2) ** 2 + (10 / 200) ** 2) / 4 / 2)
    by_deviation = experiments.mean_sse(original, released, printed=False)
    assert by_deviation == pytest.approx((1 / 2 + 100 / 200) / 4 / 2)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("alpha", [1.5, 3.0])
def test_plain_noise_has_the_highest_error(found, epsilon, alpha):
    plain = found["DP", 0, epsilon, alpha][0]
    assert all(
        found[m, k, epsilon, alpha][0] < 1.1 * plain for m in ("DP-UM", "iDP-LS", "iDP-CBLS") for k in KS
    )


@pytest.mark.parametrize("method", ["DP-UM", "iDP-LS"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_larger_clusters_and_smaller_domains_help_the_methods_that_know_bounds(found, method, epsilon):
    assert found[method, 80, epsilon, 1.5][0] < 0.7 * found[method, 3, epsilon, 1.5][0]
    assert all(found[method, k, epsilon, 1.5][0] < found[method, k, epsilon, 3.0][0] for k in KS)


def test_local_sensitivity_helps_at_epsilon_1_where_values_are_amid_the_domain(experiments, small):
    """With most values near an end, as in the skewed table, it is hardly less than the global one."""
    amid = 50 + 10 * np.tanh(np.log(small.values / 1000))
    data = experiments.Data("Amid", small.columns, amid, small.above, small.classes)
    found = experiments.errors(data, (10, 40), 20, 1, methods=("DP-UM", "iDP-LS"))
    for k in (10, 40):
        assert found["iDP-LS", k, 1.0, 1.5][0] < 0.7 * found["DP-UM", k, 1.0, 1.5][0]


@pytest.mark.parametrize("k", [5, 10, 15])
def test_cbls_is_two_orders_of_magnitude_below_dp_um_at_epsilon_1(found, k):
    assert 100 * found["iDP-CBLS", k, 1.0, 3.0][0] < found["DP-UM", k, 1.0, 3.0][0]


def test_the_statements_are_judged_by_the_figures(idp, small, found):
    told = {one.says: one.verdict for one in idp.of_errors(small, "Figure 3", found, found)}
    claim = "iDP-CBLS orders of magnitude below DP-UM at some k: 100 times, "
    claim += "epsilon 1.0, alpha 3.0, shared epsilon"
    assert told[claim] == "yes"
    worse = {
        setting: one._replace(printed=500 * one.printed, runs=[500 * each for each in one.runs])
        if setting[0] == "iDP-CBLS"
        else one
        for setting, one in found.items()
    }
    again = {one.says: one.verdict for one in idp.of_errors(small, "Figure 3", worse, worse)}
    assert again[claim] == "no"


def test_methods_share_their_noise_so_that_runs_are_pairs(experiments, small):
    """By the scales alone iDP-LS can lie above DP-UM in no run, if nothing is clamped."""
    found = experiments.errors(small, (10, 40), 5, 1, methods=("DP-UM", "iDP-LS"))
    for k in (10, 40):
        one, other = (found[method, k, 1.0, 3.0].runs for method in ("DP-UM", "iDP-LS"))
        assert np.corrcoef(one, other)[0, 1] > 0.9


def test_the_real_loss_of_who_moves(experiments, small):
    values, high = small.values[:80, 0], 2 * float(small.values[:80, 0].max())
    losses = {m: experiments.measured(m, values, 5, 0.5, high, 4000, 1) for m in experiments.METHODS}
    for one in losses.values():
        assert one.stays_audited <= one.stays <= 0.5 * (1 + 1e-9)
        assert one.moves_audited <= one.moves
    assert losses["DP-UM"].moves <= 0.5 * (1 + 1e-9)
    assert losses["iDP-LS"].moves <= 1.0
    assert 5 < losses["iDP-CBLS"].moves <= 8
    assert losses["iDP-CBLS"].moves_audited > 1


@pytest.fixture(scope="module")
def census(experiments):
    data = experiments.Data.census(shared("casc_census.csv"))
    return experiments.errors(data, (3, 5, 7, 10, 15, 50, 100), 30, 1, methods=("iDP-CBLS",))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_the_best_k_on_the_census_is_between_5_and_15(census, epsilon):
    """Claimed for iDP-CBLS (section 4.1); so it is at alpha 1.5, up to a twentieth of the error."""
    ks = sorted({k for _, k, _, _ in census if k})
    sse = {k: census["iDP-CBLS", k, epsilon, 1.5][0] for k in ks}
    assert min(sse[k] for k in (5, 7, 10, 15)) <= 1.05 * min(sse.values())


def test_forests_learn_from_cbls_and_not_from_plain_noise(experiments, small):
    original = experiments.f_measures(small, small.values, 1)
    cbls = experiments.f_measures(
        small, experiments.masked(small, ("iDP-CBLS", 10, 1.0, 1.5), Randomness(1)), 1
    )
    plain = experiments.f_measures(small, experiments.masked(small, ("DP", 0, 1.0, 1.5), Randomness(1)), 1)
    assert min(original) > 0.95
    assert min(cbls) > 0.85
    assert min(plain) < 0.7


def test_a_missing_table_is_named(idp, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["idp", "--data", str(tmp_path)])
    assert idp.main() == 66
    assert f"{tmp_path / 'casc_census.csv'} is missing" in capsys.readouterr().err
