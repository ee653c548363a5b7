"""The plain twin against scikit-learn on the pooled data, and a joint run on a real data set.

The data sets are those that scikit-learn ships, Fisher's iris, the Wisconsin breast cancer and the Italian
wine measurements, and made blobs. Starts are the same in every run: from few of them Lloyd's algorithm passes
so close to a row's boundary that rounding sends it to another optimum, and of an empty cluster scikit-learn
makes another one elsewhere.
"""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.analyses.studies.columns import Column, Schema
from smc.numeric.random import Randomness
from tests.smc.analyses.clustering_runs import BOTH, joint, named, parsed

cluster = pytest.importorskip("sklearn.cluster")
datasets = pytest.importorskip("sklearn.datasets")

SCALE = 4


def fixed():
    """A source of the same numbers in every run."""
    stream = Cipher(algorithms.AES(bytes(32)), modes.CTR(bytes(16))).encryptor()
    return Randomness(lambda count: stream.update(bytes(count)))


def made_blobs():
    source = fixed()
    middles = source.words(30).reshape(6, 5) % np.uint64(100_000)
    spread = source.words(480 * 5).reshape(480, 5) % np.uint64(18_000)
    return (middles[np.repeat(np.arange(6), 80)] + spread).astype(np.float64) / 10**SCALE


def loaded(name):
    return made_blobs() if name == "blobs" else getattr(datasets, f"load_{name}")().data


def prepared(name, clusters, extra):
    """Parameters, both sides' tables, pooled values, ranges and start of a data set cut in two."""
    held = np.round(loaded(name) * 10**SCALE).astype(np.int64)
    source = fixed()
    held = held[source.permutation(len(held))]
    names = [f"c{i}" for i in range(held.shape[1])]
    schemas = [Schema("decimal", SCALE, int(c.min()), int(c.max())) for c in held.T]
    places = source.permutation(len(held))[:clusters]
    start = held[places]
    centres = [[f"{value / 10**SCALE:.{SCALE}f}" for value in row] for row in start.tolist()]
    text = f"clusters = {clusters}\ncolumns = {names}\ncentres = {centres}\niterations = 60\n"
    study = parsed(text.replace("'", '"') + 'tolerance = "0"\nprecision = 16\n' + extra)
    cut = len(held) // 3
    tables = [
        {n: Column(part[:, i].copy(), schemas[i]) for i, n in enumerate(names)}
        for part in (held[:cut], held[cut:])
    ]
    ranges = np.array([s.upper - s.lower for s in schemas])
    return study, tables, held, ranges, start


@pytest.mark.parametrize(
    ("name", "clusters", "scaling"),
    [
        ("iris", 3, "range"),
        ("iris", 3, "none"),
        ("breast_cancer", 2, "range"),
        ("breast_cancer", 5, "range"),
        ("wine", 3, "range"),
        ("blobs", 6, "range"),
        ("blobs", 6, "none"),
    ],
)
def test_clusters_are_those_of_scikit_learn(name, clusters, scaling):
    study, tables, held, ranges, start = prepared(name, clusters, f'scaling = "{scaling}"\n')
    unit = ranges if scaling == "range" else 10**SCALE
    other = cluster.KMeans(clusters, init=start / unit, n_init=1, max_iter=300, tol=0)
    expected = other.fit(held / unit)
    first, second = study.reference(*tables, BOTH)
    labels = np.array(named(first)["labels"]["cluster"] + named(second)["labels"]["cluster"])
    squares = ((held[:, None] / unit - expected.cluster_centers_[None]) ** 2).sum(axis=2)
    nearest = np.sort(squares, axis=1)
    clear = nearest[:, 1] - nearest[:, 0] > 1e-3 * nearest[:, 1]
    assert (labels - 1 == expected.labels_)[clear].all()
    assert clear.mean() > 0.98
    assert named(first)["fit"]["inertia"][0] == pytest.approx(expected.inertia_, rel=1e-3)
    columns = named(first)["centres"]
    found = np.array([columns[f"c{i}"] for i in range(held.shape[1])]).T * 10**SCALE
    assert np.abs(found / ranges - expected.cluster_centers_ * unit / ranges).max() < 2e-3


def test_a_joint_run_on_real_data_agrees_with_the_twin():
    study, tables, *_ = prepared("wine", 3, "")
    outcomes = joint(study, *tables)
    expected = study.reference(*tables, BOTH)
    assert [outcome.tables for outcome in outcomes] == [outcome.tables for outcome in expected]
