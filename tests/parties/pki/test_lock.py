"""One daemon for a home, and none where others may write; what a killed one left is swept."""

from __future__ import annotations

import os
import subprocess

import pytest

from parties import doctor
from parties.errors import ConfigError
from parties.pki import home
from parties.pki.lock import only_one


@pytest.mark.parametrize("name", [".", "duetto.toml", "policy.toml", "catalog.toml", "ledger.jsonl", "audit"])
def test_what_every_user_may_write_is_refused(party, name):
    """Whoever may change the policy decides what is allowed, and the ledger says what is left."""
    path = party.home / name
    if not path.exists():
        path.touch(0o600)
    path.chmod(path.stat().st_mode | 0o002)
    with pytest.raises(ConfigError, match="Every user of this machine may write"), only_one(party):
        pytest.fail("a daemon would start")
    found = {each.check: each for each in doctor.examine_self(party)}["configuration"]
    assert found.verdict is doctor.Status.FAIL
    subprocess.run(found.hint.split("`")[1], shell=True, check=True)
    with only_one(party):
        pass


def test_left_overs_are_swept_when_a_daemon_starts(party):
    (party.home / "results").mkdir()
    old, young = party.home / "results" / ".0123456789abcdef.json.x.new", party.home / ".heads.json.y.new"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (1_600_000_000, 1_600_000_000))
    kept = {path for path in party.home.rglob("*") if path.is_file()} - {old}
    with only_one(party):
        assert {path for path in party.home.rglob("*") if path.is_file()} - {home.pid_path(party)} == kept
