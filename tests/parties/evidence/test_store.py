"""The records of runs on the disk: what a start looks at, and how much of the disk they may take."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from parties.contracts.state import State
from parties.disk import SPACE
from parties.errors import StorageError
from parties.evidence.store import (
    BROKEN_OFF,
    CASE,
    COIN,
    DUE,
    PIECE_BYTES,
    RUNNING,
    EvidenceStore,
    Standing,
)
from smc.channel.message import Frame
from tests.parties.evidence.covert import FOLLOWED, covert, finding
from tests.parties.evidence.test_covert_jobs import KINDS, SHORT, prepare, standing

NOW = "2026-11-30T12:00:00Z"
_LOOKED_AT: list[list[str]] = []
"""The paths of files and folders that are opened or listed, while somebody counts them."""


def _hear(event: str, given: tuple[object, ...]) -> None:
    if _LOOKED_AT and event in ("open", "os.listdir", "os.scandir"):
        _LOOKED_AT[0].append(str(given[0]))


@contextmanager
def looked_at(folder: Path) -> Iterator[list[str]]:
    """What is opened or listed in a folder meanwhile."""
    found: list[str] = []
    if not hasattr(_hear, "is_added"):  # a hook of the interpreter cannot be taken away
        sys.addaudithook(_hear)
        _hear.is_added = True  # type: ignore[attr-defined]
    _LOOKED_AT.append([])
    yield found
    found += [path for path in _LOOKED_AT.pop() if path.startswith(str(folder))]


def run_of(number: int, **entries: str) -> Standing:
    return Standing(f"{number:016x}", "south", **entries)


def test_a_start_opens_no_more_with_many_kept_runs_than_with_few(tmp_path):
    """Only of a run that went on when the daemon ended it asks where that stands."""
    store, counts = EvidenceStore(tmp_path), []
    for number in range(40):
        store.begin(run_of(number))
        store.write(f"{number:016x}", CASE, b"case")
        if number:
            store.set_standing(run_of(number, state=DUE, why=COIN, ended=NOW))
        if number in (3, 39):
            with looked_at(tmp_path) as opened:
                found = EvidenceStore(tmp_path).interrupt(NOW)
            assert [one.job_id for one in found] == [f"{0:016x}"]
            store.set_standing(run_of(0))
            counts.append(len(opened))
    assert counts[0] == counts[1] > 0
    assert all(one.state == DUE for one in store.all() if one.job_id != f"{0:016x}")


def test_a_daemon_starts_and_lists_its_jobs_without_a_look_at_kept_runs(institutions):
    home, seen = institutions.folder / "north", []
    store = EvidenceStore(home)
    for kept in (range(2), range(2, 30)):
        institutions.stop("north")
        for number in kept:
            store.begin(run_of(number))
            store.set_standing(run_of(number, state=DUE, why=COIN, ended=NOW))
        with looked_at(store.path) as opened:
            manager = institutions.start("north")
            assert manager.store.all() == []
        seen.append(opened)
    assert seen == [[str(store.path / RUNNING)]] * 2


def test_a_run_is_marked_as_long_as_it_goes_on(tmp_path):
    store = EvidenceStore(tmp_path)
    marks = tmp_path / "evidence" / RUNNING
    store.begin(run_of(1))
    assert [path.name for path in marks.iterdir()] == [f"{1:016x}"]
    assert len(store.interrupt(NOW)) == 1
    assert [*marks.iterdir()] == store.interrupt(NOW) == []
    assert store.standing(f"{1:016x}").why == BROKEN_OFF


def frame(number: int, size: int) -> Frame:
    return Frame(number, "some-kind", 1, size, bytes(size))


def test_what_a_full_disk_has_cut_off_spoils_nothing_after_it(tmp_path):
    """Else a record that goes on when there is room again could not be read, and its party shows nothing."""
    store = EvidenceStore(tmp_path)
    file = store.begin(run_of(1))
    frames = [frame(number, PIECE_BYTES) for number in range(3)]
    for each in frames:
        file.keep(each)
        with (tmp_path / "evidence" / f"{1:016x}" / "frames").open("ab") as whole:
            whole.write(b"half of a piece")
    file.flush()
    file.keep(frame(3, 1))
    file.flush()
    assert [*store.read_frames(f"{1:016x}")] == [*frames, frame(3, 1)]


@pytest.fixture
def disk(monkeypatch):
    """A disk on which so many bytes are free beside what other jobs need."""
    made = SimpleNamespace(free=1 << 40)
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=made.free + SPACE))
    return made


def test_the_records_of_a_peer_take_no_more_than_is_free(tmp_path, disk):
    """Those that a command has deleted meanwhile do not count, and those of other peers neither."""
    store = EvidenceStore(tmp_path)
    for number, peer in enumerate(("south", "west")):
        file = store.begin(replace(run_of(number), peer=peer))
        for each in range(4):
            file.keep(frame(each, PIECE_BYTES))
        file.flush()
        store.set_standing(replace(run_of(number, state=DUE, why=COIN, ended=NOW), peer=peer))
    disk.free = 3 * PIECE_BYTES
    for _ in range(2):
        with pytest.raises(StorageError, match=r"with 'south' take 1 MB, and 0 MB are free") as found:
            store.require_room("south")
    assert found.value.stable_code == "evidence-full"
    store.require_room("east")
    EvidenceStore(tmp_path).delete(f"{0:016x}")
    store.require_room("south")


def test_a_run_that_would_fill_the_disk_ends(tmp_path, disk):
    store = EvidenceStore(tmp_path)
    file = store.begin(run_of(1))
    disk.free = 2 * PIECE_BYTES
    for number in range(2):
        file.keep(frame(number, PIECE_BYTES))
    with pytest.raises(StorageError, match="may take no more"):
        file.keep(frame(2, PIECE_BYTES))
    file.flush()  # what has come is kept, so that it can be shown
    assert len([*store.read_frames(f"{1:016x}")]) == 3


@pytest.mark.attack
def test_a_peer_whose_runs_break_off_stops_no_job_but_its_own(institutions, disk):
    """South could leave record after record; north has kept as much as is free, and says so."""
    prepare(institutions)
    job_id = institutions.submit(covert(KINDS[SHORT]))
    institutions.ended(job_id)
    disk.free = EvidenceStore(institutions.folder / "north").size(job_id) - 1
    second = institutions.submit(covert(KINDS[SHORT]))
    record = institutions.ended(second)["north"]
    assert (record.state, record.error_code) == (State.FAILED, "evidence-full")
    assert standing(institutions, "north", second) == (DUE, BROKEN_OFF)
    plain = institutions.submit(KINDS[SHORT])
    assert institutions.ended(plain)["north"].state is State.FINISHED
    for name in ("north", "south"):
        assert finding(institutions, name, job_id).outcome in FOLLOWED
