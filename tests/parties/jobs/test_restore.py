"""A party restored from the files that the documents say to back up: nothing that was used up comes back."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from parties.contracts.state import State
from parties.disclosure.log import HistoryError, OverlapError
from parties.errors import BudgetError, PolicyError
from parties.jobs.reports import check_report
from parties.ledger.accounting import RunLimits
from parties.ledger.entries import LedgerError
from tests.parties.jobs.joined import approve, job_file, wait_final
from tests.parties.jobs.test_exact_jobs import EXACT, exact, finished, rows

DOCUMENT = Path(__file__).parents[3] / "docs" / "ledger.md"


def backed_up():
    """The files that the document names."""
    (line,) = re.findall(
        r"^By other means: back up after every job, together: (.*?)\. With", DOCUMENT.read_text(), re.M
    )
    return re.findall(r"`([^`]+)`", line)


def matching(home, named):
    """The files of a home that a name of the document means."""
    return [path.name for path in home.glob(named)] if "*" in named else [named]


def restored(pair, name="north"):
    """A party as it is after its home was lost and the documented files came back."""
    pair.stop(name)
    home, aside = pair.folder / name, pair.folder / "lost"
    home.rename(aside)
    home.mkdir()
    for file in [name for named in backed_up() for name in matching(aside, named)]:
        lost = aside / file.rstrip("/")
        if lost.is_dir():
            shutil.copytree(lost, home / file.rstrip("/"))
        elif lost.exists():
            shutil.copy(lost, home / file)
    for source in aside.glob("*.csv"):
        shutil.copy(source, home)
    shutil.rmtree(aside)
    assert not (home / "jobs.sqlite").exists()
    return pair.start(name)


def test_the_document_names_the_files_of_a_home():
    assert {"ledger.jsonl", "heads.json", "exact-jobs.log", "keys/"} <= set(backed_up())


def test_runs_stay_used_up(pair):
    exact(pair, north=EXACT + "\nruns_total = 2")
    finished(pair)
    finished(pair)
    for manager in (pair.north, restored(pair)):
        with pytest.raises(PolicyError, match="runs_total"):
            manager.submit(job_file())
    assert not check_report(pair.north._admission, job_file())["verdict"]["allowed"]


def test_runs_of_other_people_and_rules_do_not_count(pair):
    exact(pair, north=EXACT + "\nruns_total = 1")
    finished(pair)
    with pytest.raises(PolicyError, match="runs_total"):
        pair.north.submit(job_file())
    path = pair.folder / "north" / "policy.toml"
    path.write_text(path.read_text().replace('"additions"', '"others"'))
    finished(pair)


def test_a_second_data_set_about_the_same_people_has_no_runs_of_its_own(pair):
    exact(pair, north=EXACT + "\nruns_total = 1")
    home = pair.folder / "north"
    for name in ("catalog.toml", "policy.toml"):
        text = (home / name).read_text()
        text = text.replace('datasets = ["numbers"]', 'datasets = ["*"]')
        (home / name).write_text(text.replace("source =", 'population = "people"\nsource ='))
    catalog = (home / "catalog.toml").read_text()
    (home / "catalog.toml").write_text(
        catalog + catalog.replace("numbers]", "copy]").replace("numbers.c", "copy.c")
    )
    shutil.copy(home / "numbers.csv", home / "copy.csv")
    finished(pair)
    copied = job_file().replace('dataset = "numbers"', 'dataset = "copy"', 1)
    with pytest.raises(PolicyError, match="runs_total"):
        pair.north.submit(copied)


def test_budget_stays_spent_and_persons_stay_known(pair):
    exact(pair)
    finished(pair)
    pair.allow("north", total="1/2")
    path = pair.folder / "north" / "policy.toml"
    path.write_text(path.read_text().replace('approval = "auto"', EXACT + "\nruns_total = 1000"))
    for analysis in pair.analysis.values():
        analysis.is_exact = False
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert wait_final(pair.north, job_id).state is State.FINISHED
    manager = restored(pair)
    with pytest.raises(BudgetError):
        manager.submit(job_file("1/10"))
    for analysis in pair.analysis.values():
        analysis.is_exact = True
    rows(pair, "north", range(19))
    with pytest.raises(OverlapError):
        manager.submit(job_file())
    rows(pair, "north", range(20))
    finished(pair)


@pytest.mark.parametrize("keep", [0, 1])
def test_a_lost_or_old_record_of_exact_jobs_is_noticed_and_a_new_one_mends_it(pair, keep):
    exact(pair)
    finished(pair)
    path = pair.folder / "north" / "exact-jobs.log"
    old = path.read_bytes()
    rows(pair, "north", range(10, 30))
    finished(pair)
    whole = path.read_bytes()
    path.write_bytes(old) if keep else path.unlink()
    rows(pair, "north", range(11, 30))  # one person less than in the second job
    with pytest.raises(HistoryError, match="lacks") as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "history"
    assert pair.north.store.counts().get(State.FAILED) is None
    for analysis in pair.analysis.values():
        analysis.is_exact = False
    finished(pair)
    for analysis in pair.analysis.values():
        analysis.is_exact = True
    path.write_bytes(whole)
    with pytest.raises(OverlapError):
        pair.north.submit(job_file())
    rows(pair, "north", range(20))
    finished(pair)


def test_runs_from_before_the_ledger_knew_any_are_counted_for_every_rule(pair):
    exact(pair)
    finished(pair)
    pair.stop("north")
    home = pair.folder / "north"
    for file in ("ledger.jsonl", "exact-jobs.log"):
        (home / file).unlink()
    path = home / "policy.toml"
    path.write_text(path.read_text().replace("runs_total = 1000", "runs_total = 1"))
    for _ in range(2):
        manager = pair.start("north")
        with pytest.raises(PolicyError, match="runs_total"):
            manager.submit(job_file())
        assert [(e.event, e.rule) for e in manager.ledger.entries()] == [("run", "")]
        pair.stop("north")


def test_a_job_does_not_run_twice_though_the_store_was_restored(pair):
    exact(pair, south=EXACT.replace("auto", "person"))
    record = pair.north.submit(job_file())
    pair.stop("south")
    home = pair.folder / "south"
    copy = shutil.copytree(home, pair.folder / "copy")
    approve(pair.start("south"), record.job_id)
    assert wait_final(pair.north, record.job_id).state is State.FINISHED
    digest = pair.south.store.get(record.job_id).digest
    events = [entry.event for entry in pair.south.ledger.of_job(digest)]
    assert events == ["approved", "run", "exact", "countersigned"]
    account = pair.south._admission.account(pair.south._admission.understand(record.contract.spec))
    pair.stop("south")
    shutil.copy(copy / "jobs.sqlite", home / "jobs.sqlite")
    with pytest.raises(LedgerError, match="run before"):
        pair.start("south").ledger.begin(digest, account, "numbers", "north", RunLimits("additions"))
