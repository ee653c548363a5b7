"""What a job reads is read once at the side that submits it, as long as nothing has changed."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from parties.catalog.declarations import stamps
from parties.contracts.spec import parse_spec
from parties.errors import DataError
from parties.jobs.checks.kept import KeptData
from parties.jobs.checks.local_data import LocalData
from smc.analyses.studies.columns import Column, Schema
from tests.parties.jobs.joined import CATALOG, Pair, job_file, wait_final


def counted(pair: Pair, name: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the data of a party are read from now on."""
    found: Counter[str] = Counter()
    reader = getattr(pair, name)._admission._reader
    load = reader.load

    def noted(dataset, *rest):
        found[dataset.name] += 1
        return load(dataset, *rest)

    monkeypatch.setattr(reader, "load", noted)
    return found


@pytest.fixture
def settled(monkeypatch):
    """Files count as settled at once; the next change has another time all the same."""
    monkeypatch.setattr(stamps, "_SETTLED_SECONDS", -3600.0)


def stamped(pair: Pair, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getattr(pair, name)._admission._reader, "stamp", stamps.stamp_of)


def test_the_side_that_submits_reads_once_for_check_proposal_and_run(pair, settled, monkeypatch):
    for name in ("north", "south"):
        stamped(pair, name, monkeypatch)
    read = {name: counted(pair, name, monkeypatch) for name in ("north", "south")}
    job = pair.north.submit(job_file()).job_id
    assert wait_final(pair.north, job).state.value == "finished"
    wait_final(pair.south, job)
    assert read["north"] == {"numbers": 1}
    assert read["south"] == {"numbers": 1}


def test_a_file_that_was_just_changed_is_read_each_time(pair, monkeypatch):
    read = counted(pair, "north", monkeypatch)
    path = pair.folder / "north" / "numbers.csv"
    monkeypatch.setattr(stamps.time, "time", lambda: path.stat().st_ctime)
    stamped(pair, "north", monkeypatch)
    admission = pair.north._admission
    task = admission.understand(parse_spec(job_file()))
    for _ in range(2):
        admission.read(task)
    assert read["numbers"] == 2


@pytest.mark.parametrize("change", ["content", "catalog", "parameters"])
def test_what_has_changed_is_read_again(pair, settled, monkeypatch, change):
    stamped(pair, "north", monkeypatch)
    admission = pair.north._admission
    job = job_file()
    first = admission.read(admission.understand(parse_spec(job)))
    home = pair.folder / "north"
    if change == "content":
        (home / "numbers.csv").write_text("value\n30\n40\n")
    elif change == "catalog":
        (home / "catalog.toml").write_text(CATALOG.format(unit="years").replace("upper = 1000", "upper = 15"))
        with pytest.raises(DataError, match="outside the declared bounds"):
            admission.read(admission.understand(parse_spec(job)))
        return
    else:
        job = job_file("1")
    second = admission.read(admission.understand(parse_spec(job)))
    assert second is not first
    assert list(second.columns["v"].values) == ([30, 40] if change == "content" else [10, 20])


def test_a_replaced_file_of_the_same_size_and_time_is_another(pair, settled, monkeypatch):
    stamped(pair, "north", monkeypatch)
    admission = pair.north._admission
    task = admission.understand(parse_spec(job_file()))
    assert list(admission.read(task).columns["v"].values) == [10, 20]
    path = pair.folder / "north" / "numbers.csv"
    before = path.stat()
    path.write_text("value\n30\n40\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert list(admission.read(task).columns["v"].values) == [30, 40]


def test_nobody_writes_to_what_is_kept(pair):
    admission = pair.north._admission
    values = admission.read(admission.understand(parse_spec(job_file()))).columns["v"].values
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 0


def held(rows: int) -> LocalData:
    return LocalData({"x": Column(np.zeros(rows, np.int64), Schema("integer", lower=0, upper=9))})


def test_what_is_kept_is_bounded_and_the_longest_unused_goes_first():
    kept = KeptData(2000)
    kept.keep("a", 1, held(100))
    kept.keep("b", 1, held(100))
    assert kept.get("a", 1) is not None
    kept.keep("c", 1, held(100))
    assert [kept.get(name, 1) is None for name in "abc"] == [False, True, False]
    kept.keep("d", 1, held(300))
    assert kept.get("d", 1) is None
    assert kept.get("a", 2) is None


def test_what_is_kept_goes_after_a_while(monkeypatch):
    kept = KeptData(2000)
    kept.keep("a", 1, held(1))
    monkeypatch.setattr("parties.jobs.checks.kept._SECONDS", -1)
    kept._forget()
    assert not kept._held
