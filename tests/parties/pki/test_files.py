"""Files of a home: written whole or not at all, and read only where they are private."""

from __future__ import annotations

import stat
import subprocess

import pytest

from parties.errors import ConfigError
from parties.pki.files import check_private, read_private, write_atomically


def test_hints_about_keys_work_as_they_are_written(party, monkeypatch, tmp_path):
    keys = tmp_path / "of north, 'old'" / "keys"
    keys.mkdir(parents=True)
    keys.chmod(0o755)
    with pytest.raises(ConfigError) as caught:
        check_private(keys)
    command = caught.value.hint.split("`")[1]
    subprocess.run(command, shell=True, check=True)
    check_private(keys)
    with pytest.raises(ConfigError) as caught:
        check_private(keys / "tls.key")
    assert caught.value.hint == "Restore it from a copy of the home."  # `duetto init` would refuse the home
    monkeypatch.setattr("os.geteuid", lambda: 1 << 30)
    with pytest.raises(ConfigError, match="belongs to another user") as caught:
        check_private(keys)
    assert f"`chown -R {1 << 30}: '" in caught.value.hint


def test_atomic_writing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old", 0o600)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_atomically(path, b"new", 0o600)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    check_private(path)
    with pytest.raises(ConfigError, match="longer"):
        read_private(path, 2)


def test_what_a_kill_left_over_stands_in_nobodys_way(tmp_path, monkeypatch):
    """In a container every daemon has the same process id."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    (tmp_path / ".heads.json.1.new").write_bytes(b"half")
    write_atomically(tmp_path / "heads.json", b"whole", 0o600)
    assert (tmp_path / "heads.json").read_bytes() == b"whole"
