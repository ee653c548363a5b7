"""`scripts/demo`: its data fit the catalogs and jobs it writes, it ends what it starts, and it runs."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import count_rows
from parties.catalog.loading.loading import load as load_data
from parties.config import load
from parties.contracts.spec import read_spec
from parties.ledger.accounting import Runs, Spent
from parties.pki.lock import running_pid
from parties.policy.conditions import JobView
from parties.policy.rules import load_policy
from parties.policy.verdict import Verdict, evaluate
from smc.analyses.registry import ANALYSES
from smc.forms import Role

ROOT = Path(__file__).parents[2]
JOBS = ("patient", "percentiles", "size", "keys", "persons", "clusters", "statistics")
DECIDED = {"north": {"keys", "persons"}, "south": {"patient", "keys", "persons", "statistics"}}
REFUSED = "exact"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose `python` is this one, and whose `duetto` is this checkout's."""
    folder = tmp_path / "bin"
    program(folder / "python", f'exec "{sys.executable}" "$@"')
    run = "from parties.cli.main import main; main()"
    program(folder / "duetto", f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -c "{run}" "$@"')
    (tmp_path / "temporary").mkdir()
    return {
        **os.environ,
        "DUETTO_BIN": str(folder),
        "TMPDIR": str(tmp_path / "temporary"),
        "NO_COLOR": "1",
        "COLUMNS": "160",
    }


def demo(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "demo", *words],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `scripts/demo_data.py` writes."""
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("demo")
    for name in ("north", "south"):
        (folder / name).mkdir()
    subprocess.run([sys.executable, ROOT / "scripts" / "demo_data.py", folder], check=True, timeout=60)
    return folder


@pytest.mark.parametrize(("home", "rows", "persons"), [("north", 285, 70), ("south", 284, 60)])
def test_the_data_fit_their_catalog(written: Path, home: str, rows: int, persons: int) -> None:
    datasets = load_catalog(written / home / "catalog.toml").datasets
    counted = {name: load_data(dataset, dataset.columns).rows for name, dataset in datasets.items()}
    assert counted.pop("tumours") == rows
    assert counted.pop("persons") == persons
    assert sorted(counted.values()) == [9, 10]


@pytest.mark.parametrize("job", JOBS)
def test_both_policies_allow_the_jobs(written: Path, job: str) -> None:
    for party, verdict in verdicts(written, job).items():
        assert verdict.allowed, verdict.reasons
        assert verdict.needs_person is (job in DECIDED[party])


def test_both_policies_refuse_a_sum_without_noise(written: Path) -> None:
    for verdict in verdicts(written, REFUSED).values():
        assert not verdict.allowed
        assert verdict.reasons[0].key == "exact_aggregates"


def verdicts(written: Path, job: str) -> dict[str, Verdict]:
    """What each policy says of a job, after the job has been checked against both catalogs."""
    spec = read_spec(written / f"{job}.toml")
    study = ANALYSES[spec.analysis].parse(spec.parameters)
    study.check_recipients(spec.recipients)
    schemas, found = [], {}
    for role in Role:
        side = spec.side(role)
        catalog = load_catalog(written / side.party / "catalog.toml")
        assert set(side.columns) == set(study.columns[role])
        schemas.append({name: catalog.schema(side.dataset, column) for name, column in side.columns.items()})
        view = JobView(
            analysis=spec.analysis,
            peer=spec.side(role.other).party,
            dataset=side.dataset,
            columns=frozenset(side.columns.values()),
            recipients=frozenset("self" if one is role else "peer" for one in spec.recipients),
            facts=study.facts(spec.recipients),
            rows=count_rows(catalog.dataset(side.dataset)),
            persons=1000,
            seconds=spec.seconds,
            spent=Spent(),
            runs=lambda rule: Runs(),
            parameters={key: value for key, value in spec.parameters.items() if isinstance(value, str)},
        )
        found[side.party] = evaluate(load_policy(written / side.party / "policy.toml"), view)
    study.check(*schemas)
    return found


@pytest.mark.parametrize("words", [("--keep",), ("--keep", "--short"), ("--pause",), ("north",)])
def test_bad_words_are_refused(environment: dict[str, str], words: tuple[str, ...]) -> None:
    done = demo(environment, *words)
    assert done.returncode == 1
    assert "scripts/demo:" in done.stderr


def test_the_help_names_every_option(environment: dict[str, str]) -> None:
    done = demo(environment, "--help")
    assert done.returncode == 0
    script = (ROOT / "scripts" / "demo").read_text(encoding="utf-8")
    options = set(re.findall(r"^        (--\w+)", script, re.MULTILINE))
    assert (
        options
        == set(re.findall(r"^  (--\w+)", done.stdout, re.MULTILINE))
        == {
            *("--short", "--pause", "--keep", "--help"),
        }
    )


def test_a_folder_with_something_in_it_is_not_used(environment: dict[str, str], tmp_path: Path) -> None:
    done = demo(environment, "--keep", str(tmp_path))
    assert done.returncode == 1
    assert "is not empty" in done.stderr


PRETENDER = """
case "$1 $2" in
    "init "*) mkdir "$2" ;;
    "keys show") echo '{"fingerprint": "A"}' ;;
    "party start") echo $$ >>"$PIDS"; echo ready; exec sleep 600 ;;
    "job submit") echo "the peer is gone" >&2; exit 69 ;;
esac
"""


def test_a_failing_step_gives_its_status_and_stops_the_daemons(
    environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("sklearn")
    program(tmp_path / "bin" / "duetto", PRETENDER)
    done = demo({**environment, "PIDS": str(tmp_path / "pids")})
    assert done.returncode == 69
    assert "scripts/demo failed with status 69" in done.stderr
    assert "The end of" in done.stderr
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(alive(pid) for pid in pids)
    assert not list((tmp_path / "temporary").iterdir())


def alive(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


def percentiles(path: Path) -> list[float]:
    with path.open(newline="") as file:
        return [float(row["radius"]) for row in csv.DictReader(file)]


@pytest.mark.slow
def test_the_demo_runs(environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    done = demo(environment, "--keep", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr[-3000:]
    for text in ("alice learned", "rounds", "Put together:", "kind by radius", "Without noise", "left of 3"):
        assert text in done.stdout
    assert "nobody learned" in done.stdout.split("In short")[1]
    assert "Of 20 persons in both lists 20 were found, and 0 pairs are wrong" in done.stdout
    assert "The certificate of job" in done.stdout
    assert done.stdout.count("stopped") == 2
    kept = tmp_path / "kept"
    north, south = (percentiles(kept / home / "percentiles.csv") for home in ("north", "south"))
    answers = " ".join(str(int(x >= y)) for x, y in zip(north, south, strict=True))
    assert f"Put together:    {answers} " in done.stdout
    assert {path.name for path in kept.glob("*.toml")} == {f"{job}.toml" for job in (*JOBS, REFUSED)}
    assert all(running_pid(load(kept / home)) is None for home in ("north", "south"))
