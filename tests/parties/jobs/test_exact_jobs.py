"""Jobs with exact figures: a word of the policy, agreed limits, and no job that singles a person out."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.disclosure.log import OverlapError
from parties.errors import JobError, PeerRefused, PolicyError
from parties.jobs.reports import check_report
from tests.parties.jobs.joined import approve, job_file, wait_final

pytestmark = pytest.mark.attack

EXACT = 'exact_aggregates = true\nminimum_group = 3\napproval = "auto"'


def exact(pair, north=EXACT, south=EXACT):
    """Both analyses are exact, under these lines of both policies."""
    for name, lines in (("north", north), ("south", south)):
        bounded = lines if "runs_total" in lines else lines + "\nruns_total = 1000"
        pair.analysis[name].is_exact = True
        pair.allow(name)
        path = pair.folder / name / "policy.toml"
        path.write_text(path.read_text().replace('approval = "auto"', bounded))
        catalog = pair.folder / name / "catalog.toml"
        named = catalog.read_text().replace('person = "value"\n', "")
        catalog.write_text(named.replace('.csv"\n', '.csv"\nperson = "value"\n'))
        rows(pair, name, range(20))


def rows(pair, name, values):
    cells = "".join(f"{value}\n" for value in values)
    (pair.folder / name / "numbers.csv").write_text("value\n" + cells)


def finished(pair):
    job_id = pair.north.submit(job_file()).job_id
    states = [wait_final(manager, job_id).state for manager in (pair.north, pair.south)]
    assert states == [State.FINISHED, State.FINISHED]
    return job_id


def test_exact_figures_are_refused_unless_a_rule_allows_them(pair):
    exact(pair, north='approval = "auto"')
    with pytest.raises(PolicyError, match="exact figures"):
        pair.north.submit(job_file())
    exact(pair, south='approval = "auto"')
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "policy"


def test_both_limits_stand_in_the_contract_and_the_stricter_ones_in_the_run(pair):
    exact(pair, north=EXACT + '\ndominance = "0.8"', south=EXACT.replace("= 3", "= 7") + "\nminimum_set = 4")
    job_id = finished(pair)
    seen = {name: analysis.releases[-1]._limits for name, analysis in pair.analysis.items()}
    assert seen["north"] == seen["south"]
    assert (seen["north"].minimum_group, str(seen["north"].dominance), seen["north"].minimum_set) == (
        7,
        "4/5",
        4,
    )
    contracts = [manager.store.get(job_id).contract for manager in (pair.north, pair.south)]
    assert contracts[0].encode() == contracts[1].encode()
    assert {role.value: limits.minimum_group for role, limits in contracts[0].limits.items()} == {
        "alice": 3,
        "bob": 7,
    }


def test_rows_that_nobody_can_tell_apart_are_refused_where_persons_have_to_differ(pair):
    """Else a further declared column, or another name for the file, would make every row a new person."""
    exact(pair)
    catalog = pair.folder / "north" / "catalog.toml"
    catalog.write_text(catalog.read_text().replace('person = "value"\n', ""))
    with pytest.raises(OverlapError, match="does not say whom a row is about"):
        pair.north.submit(job_file())
    assert not pair.south.store.all()
    catalog.write_text(catalog.read_text().replace('.csv"\n', '.csv"\nkey = "value"\n'))
    finished(pair)


def test_with_and_without_one_row_is_refused_before_anything_is_proposed(pair):
    exact(pair)
    job_id = finished(pair)
    rows(pair, "north", range(19))
    said = len(pair.network.said)
    with pytest.raises(OverlapError) as caught:
        pair.north.submit(job_file())
    assert job_id in caught.value.what
    assert len(pair.network.said) == said
    report = check_report(pair.north._admission, job_file())
    assert report["overlap"]["code"] == "overlap"
    rows(pair, "north", range(16))
    finished(pair)
    assert len(pair.north._admission.history.records()) == 2


def test_the_other_side_refuses_for_its_own_persons_and_tells_a_code_only(pair):
    exact(pair)
    finished(pair)
    rows(pair, "south", range(19))
    job_id = pair.north.submit(job_file()).job_id
    assert wait_final(pair.south, job_id).error_code == "overlap"
    assert wait_final(pair.north, job_id).state is State.FAILED
    assert len(pair.south._admission.history.records()) == 1


def test_the_same_rows_may_run_again_until_runs_total(pair):
    exact(pair, north=EXACT + "\nruns_total = 2")
    finished(pair)
    finished(pair)
    with pytest.raises(PolicyError, match="runs_total"):
        pair.north.submit(job_file())


def test_an_exact_release_stands_in_both_ledgers_and_in_the_certificates(pair):
    exact(pair)
    job_id = finished(pair)
    for manager in (pair.north, pair.south):
        ledger = manager.certificate(job_id)["certificate"]["ledger"]
        assert set(ledger) == {"run", "exact", "countersigned"}
        (record,) = manager._admission.history.records()
        assert ledger["exact"]["persons"] == record.digest
        assert ledger["countersigned"]["subject"] == ledger["exact"]["hash"]


def test_jobs_without_exact_figures_leave_no_trace_in_the_history(pair):
    exact(pair)
    for analysis in pair.analysis.values():
        analysis.is_exact = False
    finished(pair)
    assert pair.north._admission.history.records() == ()


def test_an_exact_job_that_opens_past_the_gate_gives_no_result(pair):
    exact(pair)
    for analysis in pair.analysis.values():
        analysis.skip_gate = True
    job_id = pair.north.submit(job_file()).job_id
    assert wait_final(pair.north, job_id).error_code in ("release", "peer-aborted")


def test_a_policy_that_became_stricter_ends_a_waiting_job(pair):
    exact(pair, south=EXACT.replace("auto", "person"))
    record = pair.north.submit(job_file())
    path = pair.folder / "south" / "policy.toml"
    path.write_text(path.read_text().replace("minimum_group = 3", "minimum_group = 4"))
    with pytest.raises(JobError, match="stricter limits") as caught:
        approve(pair.south, record.job_id)
    assert caught.value.stable_code == "contract"
    path.write_text(path.read_text().replace("minimum_group = 4", "minimum_group = 2"))
    approve(pair.south, record.job_id)
    assert wait_final(pair.north, record.job_id).state is State.FINISHED
    assert pair.north.store.get(record.job_id).contract.agreed.minimum_group == 3


def written(pair, zeros, values, declared=""):
    """North's rows, the name of each person with so many leading zeros; `declared` is how names are typed."""
    lines = [f"{'0' * zeros}{value},{value}" for value in values]
    (pair.folder / "north" / "numbers.csv").write_text("\n".join(["who,value", *lines, ""]))
    catalog = pair.folder / "north" / "catalog.toml"
    said = (
        catalog.read_text()
        .split("[datasets.numbers.columns.who]")[0]
        .replace('person = "value"', 'person = "who"')
    )
    column = f"[datasets.numbers.columns.who]\n{declared}\n" if declared else ""
    catalog.write_text(said + column)


INTEGER = 'type = "integer"\nlower = 0\nupper = 1000'


@pytest.mark.parametrize("before", ["", 'type = "text"'])
def test_persons_stay_the_same_when_their_column_is_declared_as_numbers(pair, before):
    """What an older release, or a catalog without a type, has kept is by the texts of the cells."""
    exact(pair)
    written(pair, 2, range(20), before)
    finished(pair)
    written(pair, 2, range(19), INTEGER)
    with pytest.raises(OverlapError):
        pair.north.submit(job_file())
    written(pair, 2, range(20), INTEGER)
    finished(pair)
    written(pair, 0, range(19), INTEGER)
    with pytest.raises(OverlapError):
        pair.north.submit(job_file())
    written(pair, 2, range(19), before)
    with pytest.raises(OverlapError):
        pair.north.submit(job_file())
    assert len(pair.north._admission.history.records()) == 2


def test_data_sets_of_one_population_have_to_call_persons_alike(pair):
    exact(pair)
    catalog = pair.folder / "north" / "catalog.toml"
    other = '[datasets.visits]\nsource = "visits.csv"\nperson = "who"\npopulation = "numbers"\n'
    other += '[datasets.visits.columns.who]\ntype = "text"\n'
    catalog.write_text(catalog.read_text() + other)
    with pytest.raises(OverlapError, match="different ways"):
        pair.north.submit(job_file())
    assert check_report(pair.north._admission, job_file())["overlap"]["code"] == "overlap"
    catalog.write_text(catalog.read_text().replace('type = "text"', INTEGER))
    finished(pair)
