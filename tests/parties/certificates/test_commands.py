"""`duetto job certificate` at home, and `duetto job verify` anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.cli.jobs import job as commands
from parties.client import Party
from parties.config import Address
from parties.pki import pairing
from parties.pki.signing import key_text
from scripts.processes import COMMAND
from tests.parties.jobs.joined import Pair, job_file
from tests.parties.rpc.harness import NORTH, SOUTH
from tests.parties.served import control


@pytest.fixture(scope="module")
def made():
    """North's folder with a certificate, one with the result, and the result; both pairing files."""
    with tempfile.TemporaryDirectory(prefix="duetto-") as name:
        folder = Path(name)
        pair = Pair(folder)
        for manager, identity in ((pair.north, NORTH), (pair.south, SOUTH)):
            # Keys that pairing files can hold; the toy keys of the contract stay as they are.
            manager._identity = pair._identities[identity.name] = _with_signing(pair, identity)
            pair.network.identities[identity.name] = _public(pair, identity)
            manager._negotiation._identity = manager._identity
            (folder / f"{identity.name}.pair").write_text(
                pairing.describe(identity, Address("localhost", 1)).text
            )
        with control(pair.north, folder / "north") as home:
            with Party(home) as party:
                job = party.submit(job_file("1/2")).wait(timeout=20)
            call("certificate", job.id, "-o", folder / "c.json", "--config", home)
            call("certificate", job.id, "-o", folder / "full.json", "--with-result", "--config", home)
            (folder / "result.json").write_text(call("result", job.id, "--json", "--config", home))
            (folder / "printed.json").write_text(call("certificate", job.id, "--config", home))
            yield folder
        pair.close()


def _with_signing(pair, identity):
    return replace(pair._identities[identity.name], signing=identity.signing)


def _public(pair, identity):
    return replace(pair.network.identities[identity.name], signing=identity.signing.public_key())


def call(*words, code=0):
    done = CliRunner().invoke(commands, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.stdout if not code else done.output


def test_it_is_verified_in_an_empty_folder_without_daemon_and_configuration(made, tmp_path):
    alone = {name: value for name, value in os.environ.items() if "DUETTO" not in name}
    pairs = ("--pair", made / "north.pair", "--pair", made / "south.pair")
    done = subprocess.run(
        [
            *COMMAND,
            "job",
            "verify",
            made / "c.json",
            "--result",
            made / "result.json",
            *pairs,
        ],
        cwd=tmp_path,
        env={**alone, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "is valid." in done.stdout
    assert "the one given is the one of this job" in done.stdout
    assert "epsilon 0.5" in done.stdout
    assert "countersigned by south" in done.stdout
    assert done.stdout.count("confirmed") == 2
    assert list(tmp_path.iterdir()) == []


def test_the_verdict_as_json(made):
    report = json.loads(call("verify", made / "c.json", "--pair", made / "north.pair", "--json"))
    assert report["success"]
    assert report["valid"]
    assert {name: side["key_confirmed"] for name, side in report["parties"].items()} == {
        "north": True,
        "south": False,
    }
    assert (report["result_received"], report["result_checked"], report["same_code"]) == (True, False, True)
    full = json.loads(call("verify", made / "full.json", "--pair", made / "north.pair", "--json"))
    assert full["result_checked"]
    assert (
        full["certificate"]
        == report["certificate"]
        == json.loads((made / "c.json").read_text())["certificate"]
    )
    assert json.loads((made / "printed.json").read_text()) == json.loads((made / "c.json").read_text())


def test_somebody_has_to_say_whose_key_it_is(made):
    assert "nothing given here confirms its key" in call("verify", made / "c.json", code=2)
    call("verify", made / "c.json", "--pair", made / "south.pair", code=2)
    doubted = CliRunner().invoke(commands, ["verify", str(made / "c.json"), "--any-key"])
    assert "if the key in it is that of north" in doubted.stdout
    assert "anybody can have made" in doubted.stderr
    call("verify", made / "c.json", "--key", key_text(NORTH.signing.public_key()))


def test_wrong_keys_files_and_results_are_refused(made, tmp_path):
    wrong = key_text(SOUTH.signing.public_key())
    north = ("--pair", made / "north.pair")
    assert "another signing key" in call("verify", made / "c.json", "--key", wrong, code=65)
    call("verify", made / "c.json", "--key", "x", code=65)
    call("verify", made / "c.json", "--pair", made / "c.json", code=65)
    call("verify", tmp_path / "none", *north, code=2)
    call("verify", made / "result.json", *north, code=65)
    other = tmp_path / "other.json"
    other.write_text((made / "result.json").read_text().replace("62", "61"))
    assert "not the one that this certificate is about" in call(
        "verify", made / "c.json", "--result", other, *north, code=65
    )
    other.write_text((made / "c.json").read_text().replace("1/2", "1/3"))
    assert json.loads(call("verify", other, *north, "--json", code=65))["error"]["code"] == "certificate"
    other.write_text((made / "full.json").read_text().replace("62", "61"))
    call("verify", other, *north, code=65)


def test_a_certificate_has_no_value_unless_asked(made):
    bare, full = ((made / name).read_text() for name in ("c.json", "full.json"))
    assert '"total"' not in bare
    assert json.loads(full)["result"]["tables"] == {"sum": {"total": [62]}}
    assert json.loads(full)["certificate"] == json.loads(bare)["certificate"]
