"""A party from Python says what the command line prints with `--json`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import duetto
from parties.certificates.verification import CertificateError
from parties.cli.contents import log, show
from parties.cli.data import data
from parties.cli.party import doctor
from parties.cli.policy import policy
from parties.cli.pools import pool
from parties.errors import ConfigError, DataError
from tests.parties.jobs.joined import job_file
from tests.parties.served import TOTAL, parsed


@pytest.fixture
def home(served):
    with duetto.Party(served.folder / "north") as opened:
        yield opened


def printed(command, served, *words, code=0):
    """What a command prints as JSON, without the word that it succeeded."""
    place = ["--config", str(served.folder / "north" / "duetto.toml"), "--json"]
    done = CliRunner().invoke(command, [*words, *place])
    assert done.exit_code == code, done.output
    document = parsed(done)
    del document["success"]
    return document


def test_the_ledger_the_data_and_the_pools(served, home):
    home.run(job_file("1/2"), timeout=20)
    assert home.ledger() == printed(show, served)
    assert home.ledger()["entries"][0]["epsilon"] == "1/2"
    assert home.ledger_log() == printed(log, served)
    assert {"datasets": home.datasets()} == printed(data, served, "list")
    name = home.datasets()[0]["name"]
    assert home.dataset(name) == printed(data, served, "describe", name)
    counted = printed(data, served, "check", name)["datasets"][name]
    assert home.check_data(name).items() <= counted.items()
    assert {"pools": home.pools(), "kept": home.kept_pools()} == printed(pool, served, "status")
    with pytest.raises(DataError, match="none"):
        home.dataset("none")


def test_the_policy(served, home):
    path = served.folder / "statistics.toml"
    path.write_text(TOTAL)
    found = home.policy_test(path)
    assert found == home.policy_test(TOTAL) == printed(policy, served, "test", str(path), code=77)
    assert not found["verdict"]["allowed"]
    assert "addition" in str(found["verdict"]["conditions"])
    with pytest.raises(DataError):
        home.policy_test(TOTAL.replace('"value"', '"valeu"'))


def test_the_doctor_finds_what_the_command_finds(served, home):
    found = home.doctor()
    assert not found["healthy"]
    ended = printed(doctor, served, code=78)
    assert [one["check"] for one in found["checks"]] == [one["check"] for one in ended["checks"]]
    with pytest.raises(ConfigError):
        home.doctor("nobody")


def test_certificates_are_checked_with_the_known_keys(served, home, monkeypatch):
    job = home.submit(job_file()).wait(False, timeout=20)
    own = SimpleNamespace(signing=served._identities["north"].signing)
    monkeypatch.setattr("parties.python.party.load_identity", lambda _: own)
    certificate, result = job.certificate(), job.result()
    checked = home.verify(certificate, result)
    assert checked == {"valid": True, "confirmed": {"north": True, "south": False}, "result_checked": True}
    other = SimpleNamespace(signing=served._identities["south"].signing)
    monkeypatch.setattr("parties.python.party.load_identity", lambda _: other)
    with pytest.raises(CertificateError, match="another signing key"):
        home.verify(certificate)
    monkeypatch.setattr("parties.python.party.load_identity", lambda _: own)
    result.tables["sum"]["total"][0] += 1
    with pytest.raises(CertificateError, match="not the one"):
        home.verify(certificate, result)
