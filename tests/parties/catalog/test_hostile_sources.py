"""Sources that would end or hang whoever opens them: each is an error that names it.

All are read as a daemon does, in a worker; the files are small, and the bounds too.
"""

from __future__ import annotations

import gzip
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
import tomli_w

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import Asked
from parties.catalog.reading import _WORKERS, Reader
from parties.config import Limits
from parties.errors import DataError
from smc.errors import Cancelled
from smc.pieces import asking

MEBI = 1 << 20
READER = Reader(Limits(source_mib=256, source_seconds=600))
X = {"x": {"type": "integer", "lower": 0, "upper": 9}}
TEXT = {"x": {"type": "text"}}

SHEET = (
    '<?xml version="1.0" encoding="UTF-8"?>{doctype}'
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}'
    "</sheetData></worksheet>"
)
FIRST = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def declared(folder: Path, source: dict[str, object], columns: dict[str, object] = X):
    (folder / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"d": {**source, "columns": columns}}}))
    return load_catalog(folder / "catalog.toml").dataset("d")


def workbook(path: Path, rows: str, doctype: str = "", size: int = 0) -> dict[str, object]:
    """A workbook of one sheet; with a size, of one more cell of so many zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, text in PARTS.items():
            packed.writestr(name, text)
        start, end = SHEET.format(doctype=doctype, rows=FIRST + rows + "\0").split("\0")
        with packed.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            part.write(start.encode())
            if size:
                part.write(b'<row r="2"><c r="A2" t="inlineStr"><is><t>')
                for _ in range(size // MEBI):
                    part.write(b"0" * MEBI)
                part.write(b"</t></is></c></row>")
            part.write(end.encode())
    return {"source": path.name}


def cell(reference: str) -> str:
    row = "".join(filter(str.isdigit, reference))
    return f'<row r="{row}"><c r="{reference}"><v>1</v></c></row>'


def test_a_stray_cell_at_the_end_of_a_sheet(tmp_path):
    """1.5 kB whose used range has 17 billion cells: the library would end the process."""
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", cell("A2") + cell("XFD1048576")))
    assert (tmp_path / "d.xlsx").stat().st_size < 2000
    with pytest.raises(
        DataError, match=r"d\.xlsx: .* column 16384 and one in row 1048576.* 50000000 cells"
    ) as e:
        READER.load(dataset, ["x"])
    assert "Delete the rows and columns outside the table" in e.value.hint


def test_a_range_of_narrow_sheets_may_have_all_rows(tmp_path):
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", cell("A2") + cell("B1048576")))
    with pytest.raises(DataError, match=r"row 2 .line 1048576.: the cell of column 'x' is empty"):
        READER.load(dataset, ["x"])


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1048576"><c r = "A1048576"><v>1</v></c></row><row><c r=\'XFC5\'><v>1</v></c></row>',
        '<row r="2"><c r="ZZZ1048576"><v>1</v></c></row>',
    ],
)
def test_stray_cells_written_otherwise(tmp_path, rows):
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", rows))
    with pytest.raises(DataError, match=r"^d\.xlsx"):
        READER.load(dataset, ["x"])


def test_a_sheet_cell_that_takes_more_memory_than_there_is(tmp_path):
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", "", size=300 * MEBI))
    with pytest.raises(DataError, match=r"d\.xlsx cannot be read.* 256 MiB") as refused:
        READER.load(dataset, ["x"])
    assert "source_mib" in refused.value.hint


def test_entities_in_a_sheet(tmp_path):
    entities = '<!DOCTYPE x [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;">]>'
    rows = '<row r="2"><c r="A2" t="inlineStr"><is><t>&b;</t></is></c></row>'
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", rows, entities))
    with pytest.raises(DataError, match=r"d\.xlsx") as refused:
        READER.load(dataset, ["x"])
    assert refused.value.hint


def endless(folder: Path) -> str:
    """A gigabyte of zeros without an end of a line, of which the disk holds nothing."""
    with (folder / "d.csv").open("wb") as file:
        file.write(b"x\n")
        file.truncate(1024 * MEBI)
    return "d.csv"


def bomb(folder: Path) -> str:
    """One cell that takes more than there is, in a megabyte."""
    with gzip.open(folder / "d.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"x\n")
        for _ in range(300):
            file.write(b"0" * MEBI)
    return "d.csv.gz"


def quoted(folder: Path) -> str:
    """A cell in quotation marks that never ends, in lines of usual length."""
    with gzip.open(folder / "d.csv.gz", "wb", compresslevel=1) as file:
        file.write(b'x\n"')
        for _ in range(4):
            file.write(b"0123456789012345678901234567890\n" * (MEBI // 32))
    return "d.csv.gz"


@pytest.mark.parametrize("source", [endless, bomb, quoted])
def test_lines_and_cells_without_an_end(tmp_path, source):
    """Refused long before the bound of memory, and in this process too."""
    dataset = declared(tmp_path, {"source": source(tmp_path)})
    with pytest.raises(DataError, match=r"d\.csv.*, line 2 begins a row that is not valid CSV") as e:
        READER.load(dataset, ["x"])
    assert "at most" in e.value.hint
    with pytest.raises(DataError, match=r"d\.csv.*"):
        READER.draft(tmp_path / "other.toml", Asked(source=str(dataset.source)))


def test_a_query_that_never_ends_is_ended_in_time(tmp_path):
    with sqlite3.connect(tmp_path / "d.sqlite") as database:
        database.execute("create table t (x integer)")
    database.close()
    query = "with recursive n(x) as (select 1 union all select x from n) select count(*) as x from n"
    dataset = declared(tmp_path, {"kind": "sql", "url": "sqlite:///d.sqlite", "query": query})
    quick = Reader(Limits(source_mib=256, source_seconds=1))
    with pytest.raises(DataError, match="data set d was not read within 1 seconds") as refused:
        quick.load(dataset, ["x"])
    assert "source_seconds" in refused.value.hint
    found = quick.check(dataset)
    assert "not read within" in found.error.what


def test_a_database_that_never_answers_is_given_up_when_nobody_wants_it(tmp_path):
    pytest.importorskip("psycopg")
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=600"
        dataset = declared(tmp_path, {"kind": "sql", "url": url, "query": "select x from t"})
        reached: list[object] = []
        threading.Thread(target=lambda: reached.append(silent.accept()), daemon=True).start()

        def question():
            if reached:
                raise Cancelled("Nobody wants it any more.")

        with asking(question), pytest.raises(Cancelled):
            READER.load(dataset, ["x"])
        assert reached


def test_a_pipe_is_no_source(tmp_path):
    for name in ("d.csv", "d.xlsx", "d.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(DataError, match="does not exist, or is not a file"):
            READER.load(declared(tmp_path, {"source": name}), ["x"])
        with pytest.raises(DataError, match="not a file"):
            READER.draft(tmp_path / "other.toml", Asked(source=str(tmp_path / name)))
    os.mkfifo(tmp_path / "d.sqlite")
    (tmp_path / "folder.sqlite").mkdir()
    for name, why in (
        ("d.sqlite", "is not a regular file"),
        ("folder.sqlite", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        ("none.sqlite", "does not exist"),
    ):
        with pytest.raises(DataError, match=f"the database file {why}"):
            READER.load(
                declared(tmp_path, {"kind": "sql", "url": f"sqlite:///{name}", "query": "select 1"}), ["x"]
            )


def test_a_reader_that_is_killed_is_an_error_that_names_the_source(tmp_path):
    dataset = declared(tmp_path, workbook(tmp_path / "d.xlsx", cell("A2")))
    assert READER.load(dataset, ["x"]).rows == 1
    (worker,) = _WORKERS._idle
    os.kill(worker.pid, 19)  # it stands still, as one that waits for a broken disk
    quick = Reader(Limits(source_seconds=1))
    with pytest.raises(DataError, match=r"d\.xlsx was not read within 1 seconds"):
        quick.load(dataset, ["x"])
    assert not Path(f"/proc/{worker.pid}").exists()
    assert READER.load(dataset, ["x"]).rows == 1


def test_a_reader_ends_with_whoever_started_it(tmp_path):
    """Also in the middle of a query, in which no Python runs."""
    query = "with recursive n(x) as (select 1 union all select x from n) select count(*) as x from n"
    with sqlite3.connect(tmp_path / "d.sqlite"):
        pass
    declared(tmp_path, {"kind": "sql", "url": "sqlite:///d.sqlite", "query": query})
    script = (
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from parties.catalog import reading\n"
        "from parties.catalog.declarations.declaration import load_catalog\n"
        "from parties.config import Limits\n"
        "made = reading.Worker\n"
        "def noted(module):\n"
        "    worker = made(module)\n"
        "    print(worker.pid, flush=True)\n"
        "    return worker\n"
        "reading.Worker = noted\n"
        f"dataset = load_catalog(Path({str(tmp_path / 'catalog.toml')!r})).dataset('d')\n"
        "reading.Reader(Limits()).load(dataset, ['x'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as daemon:
        pid = int(daemon.stdout.readline())
        until = time.monotonic() + 60
        while not _computes(pid) and time.monotonic() < until:
            time.sleep(0.02)
        daemon.kill()
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


def _computes(pid: int) -> bool:
    """Whether a process has the file of the database open."""
    try:
        return any(os.readlink(one).endswith("d.sqlite") for one in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False
