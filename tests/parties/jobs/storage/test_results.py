"""Results at rest: sealed under a key of the home, each for its own job, or an error that says what to do."""

from __future__ import annotations

import sqlite3

import pytest

from commons.exits import DISK
from parties.errors import StorageError
from parties.exits import exit_code
from parties.jobs.storage.database import VERSION
from parties.jobs.storage.results import ResultFolder
from parties.jobs.storage.store import JobStore
from parties.pki.sealing import CODE
from tests.parties.jobs.joined import job_file, wait_final
from tests.parties.jobs.storage.test_store import finish

CANARY = "4711-0815-canary"
FIRST, SECOND = "01" * 8, "02" * 8


@pytest.fixture
def results(tmp_path):
    return ResultFolder(tmp_path)


@pytest.fixture
def store(tmp_path):
    opened = JobStore(tmp_path)
    yield opened
    opened.close()


def sealed(home, job_id):
    return home / "results" / f"{job_id}.sealed"


def refusal(act, *arguments):
    with pytest.raises(StorageError) as caught:
        act(*arguments)
    assert (caught.value.stable_code, exit_code(caught.value)) == (CODE, DISK)
    return caught.value


def test_what_is_written_is_read_and_stands_nowhere_in_clear(tmp_path, results):
    results.write(FIRST, CANARY)
    assert results.read(FIRST) == CANARY
    assert ResultFolder(tmp_path).read(FIRST) == CANARY
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} == {f"{FIRST}.sealed", "results.key"}
    assert all(CANARY.encode() not in path.read_bytes() for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in (*files, tmp_path / "keys"))


def test_no_two_sealed_results_are_alike(tmp_path, results):
    found = set()
    for _ in range(20):
        results.write(FIRST, CANARY)
        found.add(sealed(tmp_path, FIRST).read_bytes())
    assert len({data[:28] for data in found}) == 20


def test_a_result_is_of_its_own_job(tmp_path, results):
    results.write(FIRST, "1")
    results.write(SECOND, "2")
    sealed(tmp_path, FIRST).write_bytes(sealed(tmp_path, SECOND).read_bytes())
    assert FIRST in refusal(results.read, FIRST).what


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path, results):
    results.write(FIRST, CANARY)
    whole = sealed(tmp_path, FIRST).read_bytes()
    for place in range(len(whole)):
        sealed(tmp_path, FIRST).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "is damaged" in refusal(results.read, FIRST).what
    for length in range(len(whole)):
        sealed(tmp_path, FIRST).write_bytes(whole[:length])
        refusal(results.read, FIRST)


@pytest.mark.parametrize("what", ["file", "dangling link"])
def test_no_run_begins_whose_result_has_no_place(tmp_path, store, what):
    """It was paid for on both sides, and its result was nowhere."""
    place = tmp_path / "results"
    if what == "file":
        place.write_text("")
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="Results cannot be written to") as caught:
        store.require_room()
    assert "move away what is in its place" in caught.value.hint
    place.unlink()
    store.require_room()
    assert place.is_dir()


def test_a_lost_key_is_not_made_anew_as_long_as_results_need_it(tmp_path, results):
    results.write(FIRST, "1")
    key = tmp_path / "keys" / "results.key"
    kept = key.read_bytes()
    key.unlink()
    for act in (lambda: results.read(FIRST), lambda: results.write(SECOND, "2"), results.require_room):
        assert f"Restore {key} from a copy" in refusal(act).hint
    assert not key.exists()
    key.write_bytes(b"another key of results, 32 bytes."[:32])
    key.chmod(0o600)
    for act in (lambda: results.read(FIRST), results.require_room):  # else there would be results of two keys
        assert f"Restore {key}" in refusal(act).hint
    sealed(tmp_path, SECOND).write_bytes(b"damaged")
    refusal(results.require_room)
    key.write_bytes(kept)
    results.require_room()
    sealed(tmp_path, SECOND).unlink()
    key.write_bytes(kept[:31])
    assert "31 bytes" in refusal(results.read, FIRST).what
    key.write_bytes(kept)
    key.chmod(0o644)
    assert refusal(results.read, FIRST).hint == f"Run `chmod 600 {key}`."
    key.chmod(0o600)
    assert results.read(FIRST) == "1"
    key.unlink()
    results.delete(FIRST)
    results.write(SECOND, "2")  # nothing needs the lost key any more
    assert results.read(SECOND) == "2"


def test_without_the_key_no_run_begins(pair):
    first = pair.north.submit(job_file()).job_id
    wait_final(pair.north, first)
    (pair.folder / "north" / "keys" / "results.key").unlink()
    record = wait_final(pair.north, pair.north.submit(job_file()).job_id)
    assert (record.state.value, record.error_code) == ("failed", CODE)
    assert pair.north.ledger.entries()[-1].event != "spent"


def test_results_of_earlier_releases_are_sealed_when_the_home_is_opened(tmp_path):
    store = JobStore(tmp_path)
    names = [finish(store, number) for number in range(3)]
    results = {name: store.outcome(name) for name in names}
    store.close()
    for name in names:
        sealed(tmp_path, name).unlink()
        (tmp_path / "results" / f"{name}.json").write_text(results[name] + " " + CANARY)
    # One was sealed before a crash, and its plain file was not deleted.
    ResultFolder(tmp_path).write(names[0], "half")
    with sqlite3.connect(tmp_path / "jobs.sqlite") as database:
        database.execute("pragma user_version=2")
    database.close()
    again = JobStore(tmp_path)
    assert again._database.rows("pragma user_version")[0][0] == VERSION
    assert {name: again.outcome(name) for name in names} == {
        name: f"{text} {CANARY}" for name, text in results.items()
    }
    again.close()
    assert not [*(tmp_path / "results").glob("*.json")]
    assert all(CANARY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
