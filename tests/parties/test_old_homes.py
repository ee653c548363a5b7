"""Homes that earlier releases made: the daemon starts on them, and what they hold can be seen.

`tests/parties/homes` has one of every format that has landed; CONTRIBUTING.md says how to add the next.
"""

from __future__ import annotations

import datetime as dt
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.certificates.document import FORMAT as CERTIFICATE_FORMAT
from parties.cli.main import duetto
from parties.config import load
from parties.contracts.contract import FORMAT
from parties.daemon.daemon import Daemon
from parties.jobs.storage.database import VERSION
from parties.jobs.storage.reading import JobReader
from parties.pki import certificate
from parties.pki.lock import only_one

HOMES = sorted((Path(__file__).parent / "homes").iterdir())


def copied(source, folder):
    """A copy of a home with the modes that git does not keep, and a certificate that has not ended."""
    home = Path(shutil.copytree(source, folder / "north"))
    for path in (home, *home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    pem, key = certificate.make("north")
    (home / "keys" / "tls.crt").write_bytes(pem)
    (home / "keys" / "tls.key").write_bytes(key)
    config = home / "duetto.toml"
    config.write_text(config.read_text().replace("127.0.0.1:17811", "127.0.0.1:0"))
    return home


@pytest.fixture(params=HOMES, ids=lambda path: path.name)
def home(request):
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        yield copied(request.param, Path(folder))


@pytest.fixture
def command(home):
    def run(*words, code=0):
        done = CliRunner().invoke(duetto, [*words, "--config", str(home)])
        assert done.exit_code == code, done.output
        return done.stdout

    return run


def parsed(text):
    return json.loads(text)


def test_every_format_has_a_home():
    formats = {path.name.rsplit("-", 1)[1] for path in HOMES}
    assert formats >= {str(number) for number in range(1, FORMAT)}


def test_a_daemon_starts_and_all_can_be_seen(home, command):
    config = load(home)
    with only_one(config):
        daemon = Daemon(config)
        try:
            daemon.start()
            check_jobs(command, int(home_format(home)))
        finally:
            daemon.stop()
    assert parsed(command("ledger", "verify", "--json"))["success"]
    spent = parsed(command("ledger", "show", "--json"))["entries"]
    assert [bool(entry["job_id"]) for entry in spent] == [True, True]
    assert "patients" in command("ledger", "show")


def home_format(home):
    with_jobs = JobReader(home)
    try:
        return with_jobs.all()[0].format
    finally:
        with_jobs.close()


def check_jobs(command, form):
    """Two finished jobs and one that waited for the other party's person, which has failed now."""
    jobs = parsed(command("job", "list", "--json"))["jobs"]
    assert [job["title"] for job in jobs] == ["Mean weight", "Mean age", "Mean age"]
    assert [job["state"] for job in jobs] == ["failed", "finished", "finished"]
    assert [job["format"] for job in jobs] == [form] * 3
    assert [job["older_release"] for job in jobs] == [form != FORMAT] * 3
    assert "Mean age" in command("job", "list")
    assert jobs[0]["error"]["code"] == "old-release"
    assert jobs[0]["error"]["hint"] == "Submit the job again."
    assert parsed(command("party", "status", "--json"))["jobs"] == {"failed": 1, "finished": 2}
    for job in jobs:
        shown = parsed(command("job", "show", job["job_id"], "--json"))
        assert shown["contract"]["format"] == form
        assert shown["contract"]["spec"]["parameters"]["epsilon"] == "1"
        assert f"older release (format {form})" in command("job", "show", job["job_id"])
    for job in jobs[1:]:
        result = parsed(command("job", "result", job["job_id"], "--json"))
        assert 40 < float(next(iter(result["tables"].values()))["value"][0]) < 60
        assert "cost:" in command("job", "result", job["job_id"], "--details")
    refused = parsed(command("job", "approve", jobs[0]["job_id"], "--json", code=65))
    assert refused["error"]["code"] == "state"


def test_certificates_of_earlier_releases_are_read_or_said_to_be_older(home, command, tmp_path):
    with_jobs = JobReader(home)
    done = [job for job in with_jobs.all() if with_jobs.papers(job.job_id).certificate]
    documents = [json.loads(with_jobs.papers(job.job_id).certificate) for job in done]
    with_jobs.close()
    for number, document in enumerate(documents):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps({name: document[name] for name in ("certificate", "signature")}))
        found = CliRunner().invoke(duetto, ["job", "verify", str(file), "--any-key", "--json"])
        said = parsed(found.stdout)
        if document["certificate"]["format"] == CERTIFICATE_FORMAT:
            assert said["certificate"]["job_id"] == done[number].job_id
        else:
            assert said["error"]["code"] == "certificate"
            assert said["error"]["hint"] == "Use the release that made it."


def test_the_home_is_brought_up_to_date_once(home):
    JobReader(home).close()
    before = (home / "jobs.sqlite").read_bytes()
    with_jobs = JobReader(home)
    assert with_jobs._database.rows("pragma user_version")[0][0] == VERSION
    with_jobs.close()
    assert (home / "jobs.sqlite").read_bytes() == before


def test_the_fixtures_outlive_their_certificates(home):
    """What is committed has ended after a year; a home whose certificate has ended is told so, not broken."""
    pem, key = certificate.make("north", dt.datetime.now(dt.UTC) - dt.timedelta(days=1000))
    (home / "keys" / "tls.crt").write_bytes(pem)
    (home / "keys" / "tls.key").write_bytes(key)
    with pytest.raises(Exception, match=r"expired|ended"):
        Daemon(load(home))


CARDS = """[datasets.patients]
source = "cards.csv"
person = "card"
[datasets.patients.columns.card]
type = "integer"
lower = 0
upper = 9999
[datasets.patients.columns.age]
type = "integer"
lower = 0
upper = 120
"""
EXACT_RULE = """[[rules]]
name = "exact"
analyses = ["statistics"]
peers = ["{peer}"]
datasets = ["patients"]
columns = ["age"]
recipients = ["both"]
exact_aggregates = true
runs_total = 9
minimum_group = {group}
approval = "auto"
"""
EXACT_JOB = """[job]
analysis = "statistics"
alice = "north"
bob = "{peer}"
recipients = ["alice", "bob"]
[alice]
dataset = "patients"
columns = {{ age = "age" }}
[bob]
dataset = "patients"
columns = {{ age = "age" }}
[parameters]
noise = "none"
[[parameters.queries]]
kind = "mean"
column = "age"
"""


@pytest.fixture
def checked(tmp_path):
    """What `job check` reports of an exact job in the home that has had one: of these people, with a peer."""
    home = copied(Path(__file__).parent / "homes" / "format-2", tmp_path)

    def check(people, peer="south", group=10):
        rows = [f"00{20 + number},{20 + number}\n" for number in people]
        (home / "cards.csv").write_text("".join(["card,age\n", *rows]))
        (home / "catalog.toml").write_text(CARDS)
        (home / "policy.toml").write_text(EXACT_RULE.format(peer=peer, group=group))
        (tmp_path / "job.toml").write_text(EXACT_JOB.format(peer=peer))
        words = ["job", "check", str(tmp_path / "job.toml"), "--config", str(home)]
        done = CliRunner().invoke(duetto, [*words, "--json"])
        return parsed(done.stdout), CliRunner().invoke(duetto, words).stdout

    return check


def test_persons_of_an_exact_job_of_an_older_release_are_known_again(checked):
    """It told them apart by the texts of their cards, which are numbers by the catalog here."""
    assert checked(range(40))[0]["overlap"] is None
    assert checked(range(39))[0]["overlap"]["code"] == "overlap"
    assert checked(range(41))[0]["overlap"]["code"] == "overlap"
    assert checked(range(30))[0]["overlap"] is None
    assert checked(range(39), peer="west")[0]["overlap"] is None


def test_a_person_has_to_look_where_older_exact_jobs_are_not_in_the_system_of_equations(checked):
    report, said = checked(range(40))
    assert report["verdict"]["allowed"]
    assert report["verdict"]["needs_person"]
    assert report["verdict"]["unheld"] == ["0123456789abcdef0123456789abcdef"]
    assert "a person has to" in said
    assert "0123456789abcdef" in said
    report, said = checked(range(40), peer="west")
    assert not report["verdict"]["needs_person"]
    assert report["verdict"]["unheld"] == []
    assert "Earlier exact jobs" not in said
