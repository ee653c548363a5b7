"""What is said of covert jobs: the level, where a run stands, which columns are those of earlier jobs."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from parties.audit_terms import AuditTerms
from parties.cli.main import main
from parties.client import job_text
from parties.client.words import audit_lines
from parties.contracts import canonical
from parties.contracts.contract import parse_contract
from parties.contracts.state import State
from parties.errors import JobError
from parties.evidence.store import COIN, DUE, PASSED
from parties.jobs.checks.task import SAME_COLUMNS
from parties.jobs.covert import _commitments, terms_of_audit
from scripts.soak.kinds import furnish, kinds
from smc.forms import Role
from tests.parties.evidence.covert import AUDITED, KEY, covert
from tests.parties.jobs.institutions import Institutions

NAMES = ("north", "south")
ALL = kinds(NAMES)
JOB = ALL["statistics, noisy"]
POOLED = "preparation, and a comparison from the pool, then"
ROWS = 40


@pytest.fixture
def institutions(tmp_path):
    made = Institutions(tmp_path)
    for number, name in enumerate(NAMES):
        furnish(tmp_path / name, number, ROWS, **AUDITED)
    yield made
    made.close()


def finished(institutions, document):
    """A job that has ended well, and what each party says of its audit."""
    job_id = institutions.submit(document)
    records = institutions.ended(job_id)
    assert {record.state for record in records.values()} == {State.FINISHED}
    return job_id, {
        name: institutions.network.managers[name].audit(record) for name, record in records.items()
    }


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("1", "every run is"),
        ("3/10", "3 in 10 runs are, and each that breaks off"),
        ("1/1000", "1 in 1,000 runs are, and each that breaks off"),
    ],
)
def test_the_level_in_a_sentence(rate, said):
    words = AuditTerms("office", KEY, Fraction(rate)).words()
    assert words == (
        f"Covert: this run can be audited by office; {said}. The auditor then sees your columns of this job."
    )


def test_a_check_says_the_level_and_what_commitments_tell(institutions):
    manager = institutions.network.managers["north"]
    plain, found = (manager.check(job_text(document)) for document in (JOB, covert(JOB, "1/10")))
    assert plain["audit"] is None
    assert (found["audit"]["auditor"], found["audit"]["rate"]) == ("office", "1/10")
    assert "your columns" in found["audit"]["words"]
    for role in ("alice", "bob"):
        assert found["leakage"][role] == [*plain["leakage"][role], SAME_COLUMNS]


def test_who_brings_no_columns_tells_nothing_by_commitments(institutions):
    """The sentence is said to the party that gets to know it, and to no other."""
    task = institutions.task("north", covert(JOB))
    spec = replace(task.spec, bob=replace(task.spec.bob, columns={}))
    leakage = replace(task, spec=spec).leakage
    assert SAME_COLUMNS not in leakage.alice
    assert SAME_COLUMNS in leakage.bob
    assert "no columns" in terms_of_audit(spec, Role.BOB)["words"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("preparation, and a comparison from the pool", "reads no data"), (POOLED, "takes no pool")],
)
def test_jobs_with_pools_cannot_be_audited(institutions, name, why):
    """What is prepared follows from the randomness of another run, or of none."""
    assert institutions.task("north", ALL[name])
    with pytest.raises(JobError, match=why) as found:
        institutions.task("north", covert(ALL[name]))
    assert found.value.stable_code == "covert"


@pytest.mark.parametrize(("rate", "state", "why"), [("1", DUE, COIN), ("1/1000000", PASSED, "")])
def test_after_a_run_both_say_where_it_stands(institutions, rate, state, why):
    _, found = finished(institutions, covert(JOB, rate))
    for said in found.values():
        assert (said["standing"]["state"], said["standing"]["why"]) == (state, why)
        lines = list(audit_lines(said))
        assert len(lines) == 2
        assert ("not due" in lines[1]) == (state == PASSED)


def test_other_jobs_say_nothing(institutions):
    _, found = finished(institutions, JOB)
    assert found == {"north": {}, "south": {}}
    assert list(audit_lines({})) == []


def test_columns_of_earlier_jobs_are_found_until_a_cell_changes(institutions):
    first, found = finished(institutions, covert(JOB))
    assert [said["same"] for said in found.values()] == [[], []]
    second, found = finished(institutions, covert(JOB))
    columns = {(same["party"], same["column"]) for same in found["north"]["same"]}
    assert {party for party, _ in columns} == {*NAMES}
    assert all(same["jobs"] == [first] for same in found["north"]["same"])
    assert found["north"]["same"] == found["south"]["same"]  # it follows from contracts that both have
    source = institutions.folder / "north" / "people.csv"
    with source.open(newline="") as stream:
        heads, *rows = csv.reader(stream)
    place = heads.index("age")
    rows[0][place] = str(int(rows[0][place]) ^ 1)
    with source.open("w", newline="") as stream:
        csv.writer(stream).writerows([heads, *rows])
    _, found = finished(institutions, covert(JOB))
    for said in found.values():
        still = {(same["party"], same["column"]) for same in said["same"]}
        assert still == columns - {("north", "age")}
        assert all(same["jobs"] == [second, first] for same in said["same"])
        assert any("and 1 before it" in line for line in audit_lines(said))


def test_a_copied_commitment_is_not_taken_for_the_column_of_another(institutions):
    """A peer can write this party's commitments into its own part of a contract."""
    job_id, _ = finished(institutions, covert(JOB))
    contract = institutions.network.managers["north"].store.get(job_id).contract
    document = json.loads(contract.encode())
    document["commitments"]["bob"] = document["commitments"]["alice"]
    copied = parse_contract(canonical.encode(document))
    assert {party for party, _ in _commitments(json.loads(copied.encode()))} == {*NAMES}
    same = _commitments(document).keys() & _commitments(json.loads(contract.encode())).keys()
    assert {party for party, _ in same} == {"north"}


def test_verify_prints_level_and_heads(institutions, tmp_path, capsys):
    """Of the end the maker alone speaks; the heads at the gate are those that the other has, turned round."""
    job_id, _ = finished(institutions, covert(JOB, "1/10"))
    heads, printed = {}, {}
    for name in NAMES:
        path = tmp_path / f"{name}.certificate"
        path.write_text(json.dumps(institutions.network.managers[name].certificate(job_id)))
        for words in ((), ("--json",)):
            with pytest.raises(SystemExit) as left:
                main(["job", "verify", str(path), "--any-key", *words])
            assert not left.value.code
            printed[name, bool(words)] = capsys.readouterr().out
        said = json.loads(printed[name, True])
        assert said["audit"]["record_signed_by"] == [*NAMES]
        heads[name] = said["certificate"]["record"]["gate"]
        assert "1 in 10 runs are" in printed[name, False]
        assert "at the gate, signed by both" in printed[name, False]
        assert f"at the end, by {name} alone" in printed[name, False]
        assert all(head in printed[name, False].replace("\n", "") for head in heads[name].values())
    assert heads["north"] == {"sent": heads["south"]["received"], "received": heads["south"]["sent"]}


def test_verify_of_another_job_says_nothing_of_a_level(institutions, tmp_path, capsys):
    job_id, _ = finished(institutions, JOB)
    path = tmp_path / "certificate"
    path.write_text(json.dumps(institutions.network.managers["north"].certificate(job_id)))
    with pytest.raises(SystemExit):
        main(["job", "verify", str(path), "--any-key"])
    assert "level:" not in capsys.readouterr().out
