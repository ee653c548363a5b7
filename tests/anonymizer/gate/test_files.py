"""The files that leave through the gate: what their bytes hold, and full disks."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymizer.errors import FileError
from anonymizer.gate.container import inspect_container
from anonymizer.gate.gate import Gate
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.releases.manifest import Manifest
from anonymizer.tables import files
from anonymizer.tables.table import Table
from tests.anonymizer.gated import WITH_NAMES, people, pipeline, table, written
from tests.anonymizer.tables import HIERARCHIES


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_nothing_of_a_suppressed_row_is_in_the_bytes(ending):
    frame = people()
    frame.loc[7, ["city", "illness"]] = ["a", "canary"]
    frame.loc[7, "account"] = 7_777_777_777
    frame["age"] = np.where(np.arange(120) == 7, 15, 3)
    for name in ("city", "illness", "job"):
        frame[name] = frame[name].astype("category")
    frame["job"] = pd.Categorical(["x"] * 120, categories=["x", "canary"])
    release = pipeline(SuppressRecords(k=2, maximum_suppression=0.9)).release(
        Table.of(frame, WITH_NAMES, HIERARCHIES)
    )
    assert len(release) < 120
    path = Path(f"out.{ending}")
    written(release, path)
    raw = path.read_bytes()
    if ending != "parquet":
        raw = gzip.decompress(raw) if ending == "csv.gz" else raw
        assert b"canary" not in raw
    else:
        assert b"canary" not in raw
        assert not any(pa.types.is_dictionary(field.type) for field in pq.read_schema(path))
    for secret in (b"person 1", b"person 2", str(frame["account"][7]).encode()):
        assert secret not in raw


def test_parquet_carries_its_manifest():
    manifest = written(pipeline(LocalRecoding(k=3)).release(table()), "out.parquet")
    noted = pq.read_metadata("out.parquet").metadata
    inside = Manifest.from_json(noted[b"duetto"].decode())
    assert inside == replace(manifest, files={})


def test_compressed_files_name_no_source_and_no_time():
    written(pipeline(LocalRecoding(k=3)).release(table()), "out.csv.gz")
    assert Path("out.csv.gz").read_bytes()[3:8] == bytes(5)
    with gzip.GzipFile("patients.csv", "wb", fileobj=Path("x.csv.gz").open("wb")) as file:
        file.write(b"a\n1\n")
    assert [one.rule for one in inspect_container(Path("x.csv.gz"))] == ["container"]
    Path("y.csv.gz").write_bytes(gzip.compress(b"a\n1\n", mtime=0) + gzip.compress(b"hidden", mtime=0))
    assert [one.rule for one in inspect_container(Path("y.csv.gz"))] == ["container"]


def test_what_parquet_holds_beside_its_cells_is_found():
    ill = pd.Categorical(["flu", "flu"], categories=["flu", "canary"])
    pd.DataFrame({"ill": ill}, index=pd.Index(["a", "b"], name="id")).to_parquet("x.parquet")
    found = list(inspect_container(Path("x.parquet")))
    assert {one.column for one in found} == {"ill", "id"}
    noted = pa.table({"a": [1]}).replace_schema_metadata({"source": "x"})
    pq.write_table(noted, "y.parquet")
    assert [one.column for one in inspect_container(Path("y.parquet"))] == [None]
    pd.DataFrame({"a": [1, 2]}).to_parquet("z.parquet")
    assert not list(inspect_container(Path("z.parquet")))


def test_anatomy_leaves_in_two_tables():
    plain = Table.of(people().drop(columns="account"), WITH_NAMES, HIERARCHIES)
    manifest = written(pipeline(Anatomy(l=2)).release(plain), "out.csv")
    assert set(manifest.files) == {"out.csv", "out-sensitive.csv"}
    read, second = files.read("out.csv"), files.read("out-sensitive.csv")
    assert (second.groupby("group")["count"].sum() == read.groupby("group").size()).all()


def test_a_full_disk_leaves_nothing_and_what_was_there(monkeypatch):
    plain = Table.of(people().drop(columns="account"), WITH_NAMES, HIERARCHIES)
    release = pipeline(Anatomy(l=2)).release(plain)
    Path("out.csv").write_text("before")
    replace_, calls = Path.replace, []

    def failing(self, target):
        calls.append(target)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return replace_(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        with pytest.raises(FileError, match="No space"):
            written(release, "out.csv")
    assert [path.name for path in Path().iterdir()] == ["out.csv"]
    assert Path("out.csv").read_text() == "before"


def test_a_disk_that_is_full_in_the_middle_leaves_nothing():
    """A process that may write files of four kilobytes at most."""
    people(2000).to_csv("data.csv", index=False)
    Path("spec.toml").write_text(
        '[roles]\nidentifiers = ["name"]\nquasi_identifiers = ["age"]\n'
        '[[steps]]\nmethod = "mondrian"\nk = 5\n'
    )
    code = """
import resource
from parties.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for ending in ("csv", "csv.gz", "parquet"):
    try:
        main(f"anonymize data.csv --spec spec.toml -o out.{ending} --json".split())
    except SystemExit as ended:
        assert ended.code == 65, ended
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    told = [json.loads(line)["error"]["code"] for line in done.stdout.splitlines()]
    assert told == ["file"] * 3
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "spec.toml"]


@contextmanager
def full_at(size: int):
    """Files cannot grow beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_full_disk_is_told_of_the_wanted_file(tmp_path, ending):
    release = pipeline(LocalRecoding(k=3)).release(table(3000))
    wanted = tmp_path / f"out.{ending}"
    with full_at(1000), pytest.raises(FileError) as error:
        Gate().write(release, wanted)
    assert error.value.what.startswith(f"{wanted} cannot be written: ")
    assert error.value.what.endswith("File too large.")
    assert not list(tmp_path.iterdir())
