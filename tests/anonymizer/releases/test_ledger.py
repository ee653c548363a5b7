"""The ledger of releases: chained, written first, and counted over everything that is of the same people."""

from __future__ import annotations

import fcntl
import json
import math
import os
import threading
from pathlib import Path

import pandas as pd
import pytest

from anonymizer.errors import FileError, GateError, LedgerError, SpecError
from anonymizer.gate.gate import Gate
from anonymizer.gate.recording import Recording
from anonymizer.gate.staging import Staging
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.releases.composition import PrivacyLoss, find_sum
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.ledger import NAME, Limit, ReleaseLedger, SourceTable
from anonymizer.releases.manifest import Manifest
from anonymizer.tables import files
from anonymizer.tables.contents import ContentDigest, digest_of_content
from tests.anonymizer.gated import pipeline, table

HERE = SourceTable("data.csv", "1" * 64)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dp(epsilon: float, delta: float = 0.0, neighbours: str = "replace") -> Manifest:
    claim = Guarantee("dp", {"epsilon": epsilon, "delta": delta}, "record", ("age",), neighbours)
    return Manifest(guarantees=(claim,), files={"out.csv": "2" * 64}, rows=10)


def ledger_with(*manifests: Manifest, source: SourceTable = HERE) -> ReleaseLedger:
    ledger = ReleaseLedger(Path(NAME).resolve())
    with ledger.open() as held:
        for one in manifests:
            held.record(source, one, Path("out.csv"))
    return ledger


def test_what_is_recorded_is_read_back():
    ledger = ledger_with(dp(1.0), dp(0.5, 1e-6))
    one, two = ledger.history(HERE).releases
    assert (one.sequence, one.output, one.files) == (0, "out.csv", {"out.csv": "2" * 64})
    assert two.loss == PrivacyLoss(0.5, 1e-6)
    assert ledger.history(HERE).spent == PrivacyLoss(1.5, 1e-6)
    assert ledger.records()[1].previous == ledger.records()[0].hash
    assert ledger.records()[0].uid == os.geteuid()


@pytest.mark.parametrize(
    "tamper",
    [
        lambda lines: [lines[0].replace(b'"epsilon":1.0', b'"epsilon":0.1'), *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [lines[0], b"{}", *lines[1:]],
        lambda lines: [lines[0].replace(b'"uid":', b'"uid":1'), *lines[1:]],
    ],
    ids=["epsilon lowered", "first cut off", "one taken out", "exchanged", "put in", "another account"],
)
def test_a_changed_ledger_is_refused(tamper):
    ledger = ledger_with(dp(1.0), dp(2.0), dp(3.0))
    lines = ledger.path.read_bytes().splitlines()
    ledger.path.write_bytes(b"".join(line + b"\n" for line in tamper(lines)))
    with pytest.raises(LedgerError, match="is broken"):
        ledger.history(HERE)
    with pytest.raises(LedgerError, match="is broken"), ledger.open():
        pass


def test_half_a_line_is_put_aside_and_a_whole_one_counts():
    ledger = ledger_with(dp(1.0), dp(2.0))
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:-1])
    assert ledger.history(HERE).spent.epsilon == 1.0  # read without the lock: perhaps it is being written
    with ledger.open() as held:
        assert held.history(HERE).spent.epsilon == 3.0
    assert ledger.path.read_bytes() == whole
    ledger.path.write_bytes(whole[:-20])
    with ledger.open() as held:
        held.record(HERE, dp(5.0), Path("out.csv"))
    assert ledger.history(HERE).spent.epsilon == 6.0
    assert Path(f"{NAME}.torn-1").read_bytes() == whole.splitlines()[1][:-19]


def test_an_empty_ledger_leaves_no_file():
    ledger = ReleaseLedger(Path(NAME).resolve())
    with ledger.open():
        assert Path(NAME).exists()
    assert not Path(NAME).exists()


def test_the_ledger_is_held_by_one_at_a_time():
    ledger = ledger_with(dp(1.0))
    other = os.open(ledger.path, os.O_RDWR)
    with ledger.open(), pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


def test_many_at_once_write_one_chain():
    """From an empty file on, which goes and comes back while others wait for it."""

    def writes() -> None:
        for _ in range(10):
            with ReleaseLedger(Path(NAME).resolve()).open() as held:
                held.record(HERE, dp(1.0), Path("out.csv"))
            with ReleaseLedger(Path("empty.jsonl").resolve()).open():
                pass

    threads = [threading.Thread(target=writes) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(ReleaseLedger(Path(NAME).resolve()).history(HERE).releases) == 40
    assert not Path("empty.jsonl").exists()


def test_one_name_or_one_content_is_one_table():
    ledger = ledger_with(dp(1.0))
    ledger_with(dp(2.0), source=SourceTable("copy.csv", HERE.content))
    ledger_with(dp(4.0), source=SourceTable("copy.csv", "3" * 64))
    ledger_with(dp(8.0), source=SourceTable("other.csv", "4" * 64))
    for source in (HERE, SourceTable("data.csv", "9" * 64), SourceTable("new.csv", "3" * 64)):
        assert ledger.history(source).spent.epsilon == 7.0
    assert ledger.history(SourceTable("other.csv", "5" * 64)).spent.epsilon == 8.0
    assert ledger.history(SourceTable("unknown.csv", "5" * 64)).releases == ()


def test_losses_add_up_over_one_kind_of_neighbours():
    assert find_sum([]) == (PrivacyLoss(), 0)
    assert find_sum([PrivacyLoss(1.0, 1e-6), PrivacyLoss(2.0)]) == (PrivacyLoss(3.0, 1e-6), 0)
    added = [PrivacyLoss(1.0, 1e-6, "add-remove"), PrivacyLoss(2.0, 0.0, "add-remove")]
    assert find_sum(added) == (PrivacyLoss(3.0, 1e-6, "add-remove"), 0)
    mixed, _ = find_sum([PrivacyLoss(1.0, 1e-6, "add-remove"), PrivacyLoss(2.0)])
    assert (mixed.epsilon, mixed.neighbours) == (4.0, "replace")
    assert mixed.delta == pytest.approx(1e-6 * (1 + math.e))
    assert find_sum([PrivacyLoss(0.1)] * 10)[0].epsilon == 1.0


def test_losses_of_rows_are_in_no_sum_of_persons():
    of_persons = PrivacyLoss(3.0, of_persons=True)
    assert find_sum([PrivacyLoss(1.0), None, of_persons, PrivacyLoss(2.0)]) == (of_persons, 3)


def test_a_limit_counts_all_releases_and_the_last_word_counts():
    ledger = ledger_with(dp(0.1), dp(0.1))
    with ledger.open() as held:
        held.limit(HERE, Limit(0.3, 1e-6))
        assert not held.history(HERE).beyond(PrivacyLoss(0.1))
        assert "would be 0.4" in held.history(HERE).beyond(PrivacyLoss(0.2))
        assert "delta" in held.history(HERE).beyond(PrivacyLoss(0.1, 1e-5))
        assert "promises no differential privacy" in held.history(HERE).beyond(None)
        held.limit(HERE, Limit(0.4))
        assert not held.history(HERE).beyond(PrivacyLoss(0.2))
        assert not held.history(SourceTable("other.csv", "5" * 64)).beyond(None)
    for wrong in ((0.0, 0.0), (-1.0, 0.0), (math.inf, 0.0), (math.nan, 0.0), (1.0, 1.0), (1.0, -0.1)):
        with pytest.raises(SpecError):
            Limit(*wrong)


def test_what_was_withdrawn_counts_no_more_and_stays_on_record():
    ledger = ledger_with(dp(1.0), dp(2.0))
    with ledger.open() as held:
        for number, why in ((1, ""), (7, "never given out")):
            with pytest.raises(SpecError):
                held.withdraw(HERE, number, why)
        held.withdraw(HERE, 1, "never given out")
        with pytest.raises(SpecError, match="no release 1"):
            held.withdraw(HERE, 1, "again")
    history = ledger.history(HERE)
    assert history.spent.epsilon == 1.0
    assert [one.withdrawn for one in history.releases] == ["", "never given out"]


def test_a_release_is_recorded_before_it_gets_its_name(monkeypatch):
    seen = []
    publish = Staging.publish

    def crashes(staged: Staging) -> None:
        seen.extend(ReleaseLedger(Path(NAME).resolve()).history(HERE).releases)
        seen.append(Path("out.csv").exists())
        publish(staged)
        raise KeyboardInterrupt

    monkeypatch.setattr(Staging, "publish", crashes)
    release = pipeline(LocalRecoding(k=3)).release(table())
    with ReleaseLedger(Path(NAME).resolve()).open() as held:
        recording = Recording.of(held, HERE)
        with pytest.raises(KeyboardInterrupt):
            Gate().write(release, Path("out.csv"), recording=recording)
    one, named = seen
    assert not named
    assert set(one.files) == {"out.csv"}
    assert [guarantee.kind for guarantee in one.guarantees] == ["k-anonymity"]


def test_without_its_record_nothing_is_released(monkeypatch):
    ledger = ledger_with(dp(1.0))
    before = ledger.path.read_bytes()

    def full(file: int, data: bytes, place: int) -> int:
        raise OSError(28, "No space left on device")

    release = pipeline(LocalRecoding(k=3)).release(table())
    with ledger.open() as held:
        monkeypatch.setattr("commons.logs.files.os.pwrite", full)
        with pytest.raises(LedgerError, match="No space left"):
            Gate().write(release, Path("out.csv"), recording=Recording.of(held, HERE))
    assert [path.name for path in Path().iterdir()] == [NAME]
    assert ledger.path.read_bytes() == before


def test_the_manifest_says_what_the_releases_come_to():
    ledger_with(dp(1.0), dp(0.5, 1e-6))
    release = pipeline(LocalRecoding(k=3)).release(table())
    with ReleaseLedger(Path(NAME).resolve()).open() as held:
        Gate().write(release, Path("out.parquet"), recording=Recording.of(held, HERE))
    together = json.loads(Path("out.parquet.manifest.json").read_text())["together"]
    assert (together["releases"], together["without_epsilon"]) == (3, 1)
    assert (together["epsilon"], together["delta"]) == (1.5, 1e-6)


def test_the_gate_refuses_what_the_ledger_refuses():
    ledger = ledger_with(dp(1.0))
    with ledger.open() as held:
        held.limit(HERE, Limit(2.0))
        recording = Recording.of(held, HERE)
        with pytest.raises(GateError, match="budget"):
            recording.check(PrivacyLoss(1.5))
        recording.check(PrivacyLoss(1.0))
        recording.check(None)
        with pytest.raises(GateError, match="budget"):
            Gate().write(pipeline(LocalRecoding(k=3)).release(table()), Path("out.csv"), recording=recording)
    assert [path.name for path in Path().iterdir()] == [NAME]


def test_contents_are_recognized_in_another_order_and_kind_of_file():
    frame = pd.DataFrame({"age": [30, 41, 30], "city": ["Ulm", None, "a,b"], "weight": [1.5, 2.0, None]})
    frame.to_csv("one.csv", index=False)
    frame.iloc[::-1][["weight", "age", "city"]].to_csv("two.csv", index=False)
    same = digest_of_content(files.table("one.csv"))
    assert digest_of_content(files.table("two.csv")) == same
    frame.assign(city=frame["city"].astype("category")).to_parquet("three.parquet")
    frame.astype({"age": float}).to_parquet("four.parquet")
    three = digest_of_content(files.table("three.parquet"))
    assert digest_of_content(files.table("four.parquet")) == three
    by_chunks = ContentDigest()
    for chunk in files.tables("one.csv", 2):
        by_chunks.add(chunk)
    assert by_chunks.hexadecimal() == same
    others = [
        frame.assign(age=[30, 41, 31]),
        frame.rename(columns={"age": "years"}),
        frame.iloc[:2],
        pd.concat([frame, frame.iloc[:1]]),
        frame.assign(city=["Ulm", "", "a,b2"]),
        frame.assign(city=frame["weight"].map(str), weight=frame["city"]),
    ]
    digests = {same}
    for number, other in enumerate(others):
        other.to_csv("other.csv", index=False)
        digests.add(digest_of_content(files.table("other.csv")))
        assert len(digests) == number + 2


def test_a_folder_without_rights_is_named():
    with pytest.raises((LedgerError, FileError), match="cannot be used"):
        ReleaseLedger(Path("missing", NAME).absolute()).open().__enter__()
