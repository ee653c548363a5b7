"""Commands of the anonymizer with `--cluster`: the same findings as without, and errors in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commons.exits import CONFIG, OK, UNAVAILABLE
from parties.cli import main as command
from tests.anonymizer.choosing.test_choosing import SPEC
from tests.anonymizer.choosing.test_choosing import people as guests
from tests.anonymizer.search.test_search import TEXT, people
from tests.parties.cluster.local import LocalCluster

PARTY = """
[party]
name = "north"
home = "."
[listen]
address = "127.0.0.1:7443"
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


@pytest.fixture
def files(tmp_path: Path) -> Path:
    people(300).frame.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "search.toml").write_text(TEXT)
    return tmp_path


def settings(cluster: LocalCluster, seconds: int) -> str:
    """What a party's configuration says of a cluster."""
    dask = cluster.dask()
    return f"""
[compute]
dask = "{dask.url}"
dask_ca = "{dask.ca}"
dask_certificate = "{dask.certificate}"
dask_key = "{dask.key}"
dask_seconds = {seconds}
"""


def party(folder: Path, cluster: LocalCluster, seconds: int = 60) -> Path:
    (folder / "duetto.toml").write_text(PARTY + settings(cluster, seconds))
    return folder


def run(capsys, folder: Path, *words: str) -> tuple[int, dict]:
    given = ["search", str(folder / "people.csv"), "--spec", str(folder / "search.toml"), "--json"]
    with pytest.raises(SystemExit) as ended:
        command.main([*given, "--limit", "1", "--seed", "5", *words])
    return ended.value.code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("words", [(), pytest.param(("--target", "ill"), marks=pytest.mark.slow)])
def test_a_search_finds_the_same_on_a_cluster(capsys, cluster, files, words):
    code, here = run(capsys, files, *words)
    assert code == OK
    code, there = run(capsys, files, *words, "--cluster", str(party(files, cluster)))
    assert (code, there) == (OK, here)
    assert len(here["trials"]) == 6


def test_a_search_that_cannot_be_spread_is_refused(capsys, cluster, files):
    code, said = run(capsys, files, "--strategy", "bayes", "--cluster", str(party(files, cluster)))
    assert code == CONFIG
    assert "grid" in said["error"]["hint"]


def test_a_configuration_without_a_cluster_is_refused(capsys, files):
    (files / "duetto.toml").write_text(PARTY)
    code, said = run(capsys, files, "--cluster", str(files))
    assert code == UNAVAILABLE
    assert "names no Dask cluster" in said["error"]["what"]
    assert "[compute]" in said["error"]["hint"]


def test_a_cluster_that_is_gone_ends_the_search_in_time(capsys, files, tmp_path):
    with LocalCluster(tmp_path / "dask", workers=1) as running:
        place = party(files, running, seconds=2)
    code, said = run(capsys, files, "--cluster", str(place))
    assert (code, said["success"], said["error"]["code"]) == (UNAVAILABLE, False, "workers")
    assert "No Dask scheduler answers" in said["error"]["what"]


@pytest.mark.slow
def test_epsilon_is_chosen_by_trials_on_a_cluster(capsys, cluster, tmp_path):
    guests(150, 1).native.to_csv(tmp_path / "data.csv", index=False)
    guests(150, 2).native.to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "data.toml").write_text(SPEC)
    words = ["epsilon", str(tmp_path / "data.csv"), "--on", str(tmp_path / "other.csv"), "--json"]
    words += ["--risk", "voronoi", "--limit", "0.05", "--epsilons", "0.5,1,2,4,16,64", "--repeats", "2"]
    with pytest.raises(SystemExit) as ended:
        command.main([*words, "--cluster", str(party(tmp_path, cluster))])
    assert ended.value.code == OK
    found = json.loads(capsys.readouterr().out)
    assert [one["epsilon"] for one in found["trials"]] == [
        epsilon for epsilon in (0.5, 1, 2, 4, 16, 64) for _ in range(2)
    ]
    assert len({one["utility"] for one in found["trials"]}) > 6, "each release is drawn anew"
    assert found["trials"][-1]["risk"] < found["trials"][0]["risk"]
