"""A home moves to another machine: checked on arrival, and the old one never starts again."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.cli.party import party as party_group
from parties.config import load
from parties.errors import ConfigError
from parties.ledger.accounting import Account, Budget
from parties.ledger.book import open_ledger
from parties.ledger.entries import LedgerError
from parties.ledger.heads import FILE, open_heads
from parties.pki import home, moving
from parties.pki.lock import MOVED, only_one
from parties.pki.renewal import renew
from smc.analyses.studies.loss import Loss


def spend(folder, number):
    loss, budget = Loss(Fraction(1, 8)), Budget(Fraction(99))
    open_ledger(folder).spend(f"{number:064x}", Account.of("d"), "d", "south", loss, budget)


def spent(folder):
    return open_ledger(folder).spending(Account.of("d"), "south")


def heads_of(folder):
    config = load(folder)
    identity = home.load_identity(config)
    return open_heads(folder, config.name, identity.signing), identity.signing.public_key()


def meet(north, south):
    """The handshake of a session, in which each side sees the head of the other's ledger."""
    (mine, my_key), (theirs, their_key) = heads_of(north), heads_of(south)
    said, answer = mine.statement("south"), theirs.statement("north")
    theirs.check_own("north", my_key, said)
    theirs.check_peer("north", said, answer)
    mine.check_own("south", their_key, answer)
    mine.check_peer("south", answer, said)


@pytest.fixture
def north(homes):
    """A home that is paired, with a ledger, results, a pool and what a crash has left."""
    folder = homes["north"]
    spend(folder, 1)
    spend(homes["south"], 1)
    meet(folder, homes["south"])
    for name, content in (("results/a.sealed", b"result"), ("pools/p", b"pool"), (".heads.json.x.new", b"x")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def run(*words):
    return CliRunner().invoke(party_group, [str(word) for word in words])


def pack(folder, archive):
    return run("pack", archive, "--config", folder)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_home_arrives_whole_and_the_old_one_is_out_of_use(north, tmp_path):
    before, total = contents(north), spent(north)
    done = pack(north, tmp_path / "a.tar")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.tar").stat().st_mode & 0o777 == 0o600
    new = tmp_path / "elsewhere" / "north"
    done = run("unpack", tmp_path / "a.tar", "--home", new)
    assert done.exit_code == 0, done.output
    assert "its ledger is whole, with 1 entries" in " ".join(done.stdout.split())
    left_out = {"pools/p", ".heads.json.x.new"}
    assert contents(new) == {name: data for name, data in before.items() if name not in left_out}
    assert {path.stat().st_mode & 0o777 for path in new.rglob("*") if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (new, *new.rglob("*")) if path.is_dir()} == {0o700}
    assert spent(new) == total
    meet(new, tmp_path / "south")
    with only_one(load(new)):
        pass
    with pytest.raises(ConfigError, match="has moved away") as caught, only_one(load(north)):
        pass
    started = run("start", "--config", north)
    assert started.exit_code == 78
    assert "has moved away" in started.stderr
    with pytest.raises(ConfigError, match="has moved away"):
        renew(load(north))
    # The way out that the error names, for an archive that was lost.
    assert "`duetto party pack FILE`" in caught.value.hint
    assert pack(north, tmp_path / "b.tar").exit_code == 0
    assert run("unpack", tmp_path / "b.tar", "--home", tmp_path / "third").exit_code == 0
    with only_one(load(tmp_path / "third")):
        pass


def test_nothing_is_packed_while_the_daemon_runs_or_over_something(north, tmp_path):
    config = load(north)
    with only_one(config):
        done = pack(north, tmp_path / "a.tar")
    assert done.exit_code == 78
    assert "runs already" in done.stderr
    (tmp_path / "there").write_text("x")
    for archive, said in (
        (tmp_path / "there", "exists already"),
        (north / "a.tar", "would lie in the home"),
        (tmp_path / "no" / "a.tar", "does not exist"),
    ):
        done = pack(north, archive)
        assert (done.exit_code, said in done.stderr) == (78, True), done.stderr
    (north / "link").symlink_to("/etc/hostname")
    assert "neither a file nor a folder" in pack(north, tmp_path / "a.tar").stderr
    assert not (north / MOVED).exists()
    assert [path.name for path in tmp_path.iterdir() if "tar" in path.name] == []
    with only_one(config):
        pass


@pytest.mark.parametrize("step", ["write_atomically", "rename", "fsync"])
def test_at_whatever_step_the_machine_fails_at_most_one_is_in_use(north, tmp_path, monkeypatch, step):
    def fail(*_, **__):
        raise OSError("no power")

    target = {"write_atomically": moving, "rename": Path, "fsync": moving.os}[step]
    with monkeypatch.context() as patched:
        patched.setattr(target, step, fail)
        with pytest.raises(OSError, match="no power"):
            moving.pack(load(north), tmp_path / "a.tar")
    assert not (tmp_path / "a.tar").exists()
    assert (north / MOVED).exists() is (step == "rename")
    assert pack(north, tmp_path / "a.tar").exit_code == 0
    assert (north / MOVED).exists()
    assert run("unpack", tmp_path / "a.tar", "--home", tmp_path / "new").exit_code == 0


def rewritten(archive, change):
    """The archive with its members changed."""
    with tarfile.open(archive) as tar:
        members = [(entry, tar.extractfile(entry).read()) for entry in tar]
    change(members)
    with tarfile.open(archive, "w") as tar:
        for entry, data in members:
            entry.size = len(data) if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(data))


def of_name(members, name):
    return next(number for number, (entry, _) in enumerate(members) if entry.name == name)


def edited(members):
    place = of_name(members, "ledger.jsonl")
    members[place] = (members[place][0], members[place][1].replace(b"spent", b"spend"))


def listed(name):
    """A member of that name that is in the list, too."""

    def change(members):
        document = json.loads(members[0][1])
        document["files"][name] = moving.hashlib.sha256(b"x").hexdigest()
        members[0] = (members[0][0], json.dumps(document).encode())
        members.append((tarfile.TarInfo(name), b"x"))

    return change


def link(members):
    entry = members[of_name(members, "policy.toml")][0]
    entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited, "damaged on its way"),
        (lambda m: m.pop(of_name(m, "ledger.jsonl")), "lacks 'ledger.jsonl'"),
        (lambda m: m.append((tarfile.TarInfo("more"), b"x")), "does not name"),
        (lambda m: m.append(m[-1]), "does not name"),
        (listed("../out"), "malformed entry"),
        (listed("/outside"), "malformed entry"),
        (listed("keys/../../out"), "malformed entry"),
        (listed(MOVED), "malformed entry"),
        (link, "does not name"),
        (lambda m: m.pop(0), "not an archive of a home"),
        (lambda m: m.__setitem__(0, (m[0][0], b"[" * 10**5)), "not of version"),
        (lambda m: m.__setitem__(0, (m[0][0], b'{"duetto_home": 2, "files": {}}')), "not of version"),
    ],
)
def test_archives_that_are_not_whole_are_refused(north, tmp_path, change, said):
    assert pack(north, tmp_path / "a.tar").exit_code == 0
    rewritten(tmp_path / "a.tar", change)
    before = sorted(tmp_path.iterdir())
    done = run("unpack", tmp_path / "a.tar", "--home", tmp_path / "new")
    assert (done.exit_code, said in " ".join(done.stderr.split())) == (78, True), done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("work", ["pack", "unpack"])
def test_what_was_killed_leaves_no_keys_for_long(north, tmp_path, work):
    """The next attempt deletes what a killed one left, and nothing that one at work or a person has there."""
    archive, target = tmp_path / "north.tar", tmp_path / "new"
    # A process that ends at once in the middle of its work, as one that is killed does.
    packing = "m.write_atomically = lambda *_: os._exit(9)\nm.pack(load(Path(a)), Path(b))"
    unpacking = "with m.unpack(Path(b), Path(c)): os._exit(9)"
    if work == "unpack":
        moving.pack(load(north), archive)
    head = "import os, sys\nfrom pathlib import Path\nfrom parties.config import load\n"
    head += "from parties.pki import moving as m\na, b, c = sys.argv[1:]\n"
    code = head + (packing if work == "pack" else unpacking)
    paths = [str(path) for path in (north, archive, target)]
    assert subprocess.run([sys.executable, "-c", code, *paths], check=False).returncode == 9
    pattern = ".north.tar.*.new" if work == "pack" else ".new.*.arriving"
    (left,) = tmp_path.glob(pattern)
    kept = left.with_name(left.name.replace(left.name.split(".")[-2], "chosen-by-somebody"))
    kept.touch()
    descriptor = os.open(left, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # as if it still worked
    try:
        _again(work, north, archive, target)
        assert left.exists()
    finally:
        os.close(descriptor)
    _again(work, north, archive, target)
    assert set(tmp_path.glob(pattern)) == {kept}


def _again(work, north, archive, target):
    if work == "pack":
        archive.unlink(missing_ok=True)
        moving.pack(load(north), archive)
    else:
        shutil.rmtree(target, ignore_errors=True)
        with moving.unpack(archive, target):
            pass


@pytest.mark.parametrize("cut", [0, 100, 5000])
def test_archives_that_were_cut_off_are_refused(north, tmp_path, cut):
    assert pack(north, tmp_path / "a.tar").exit_code == 0
    (tmp_path / "a.tar").write_bytes((tmp_path / "a.tar").read_bytes()[:cut])
    assert run("unpack", tmp_path / "a.tar", "--home", tmp_path / "new").exit_code == 78
    assert not (tmp_path / "new").exists()


def test_a_home_is_not_unpacked_over_another(north, tmp_path):
    assert pack(north, tmp_path / "a.tar").exit_code == 0
    done = run("unpack", tmp_path / "a.tar", "--home", tmp_path / "south")
    assert done.exit_code == 78
    assert "is not empty" in done.stderr


def test_a_copy_of_the_old_home_is_found_out_by_the_peer(north, tmp_path):
    """Copied by hand before it moved, and both in use: whoever spends second is refused."""
    shutil.copytree(north, tmp_path / "copy")
    assert pack(north, tmp_path / "a.tar").exit_code == 0
    assert run("unpack", tmp_path / "a.tar", "--home", tmp_path / "new").exit_code == 0
    spend(tmp_path / "new", 2)
    meet(tmp_path / "new", tmp_path / "south")
    spend(tmp_path / "copy", 3)
    with pytest.raises(LedgerError):
        meet(tmp_path / "copy", tmp_path / "south")
    meet(tmp_path / "new", tmp_path / "south")


def test_a_restored_backup_forgets_nothing_that_the_peer_has_seen(north, tmp_path):
    """Of the documented files; with an older ledger no session begins until the newest is back."""
    names = (
        "ledger.jsonl",
        FILE,
        "keys",
        "peers",
        "north.pair",
        "duetto.toml",
        "catalog.toml",
        "policy.toml",
    )

    def back_up(target):
        target.mkdir(mode=0o700)
        for name in names:
            copy = shutil.copytree if (north / name).is_dir() else shutil.copy2
            copy(north / name, target / name)

    back_up(tmp_path / "older")
    spend(north, 2)
    meet(north, tmp_path / "south")
    back_up(tmp_path / "newest")
    total = spent(north)
    shutil.rmtree(north)
    with pytest.raises(LedgerError, match=r"older|lacks"):
        meet(tmp_path / "older", tmp_path / "south")
    meet(tmp_path / "newest", tmp_path / "south")
    assert spent(tmp_path / "newest") == total


def test_a_backup_is_made_while_the_daemon_runs_and_restored(north, tmp_path):
    before, total = contents(north), spent(north)
    with only_one(load(north)):
        done = run("backup", tmp_path / "b.tar", "--config", north, "--json")
        assert done.exit_code == 0, done.output
        assert run("backup", tmp_path / "b.tar", "--config", north).exit_code == 78
        assert run("backup", north / "b.tar", "--config", north).exit_code == 78
    said = json.loads(done.stdout)
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    assert contents(north).keys() == before.keys() | {"run/daemon.pid", "exact-jobs.log.lock"}
    spend(tmp_path / "north", 2)
    shutil.rmtree(north)
    assert "Use `duetto party restore`" in run("unpack", tmp_path / "b.tar", "--home", north).stderr
    done = run("restore", tmp_path / "b.tar", "--home", north)
    assert done.exit_code == 0, done.output
    assert f"This is north as of {said['taken']}" in " ".join(done.stdout.split())
    after = contents(north)
    assert {name: before[name] for name in after} == after
    assert {*said["files"], "ledger.jsonl.lock"} == set(after)
    assert before.keys() - after.keys() <= {"pools/p", ".heads.json.x.new", "ledger.jsonl.lock"}
    assert spent(north) == total
    meet(north, tmp_path / "south")
    spend(north, 3)
    meet(north, tmp_path / "south")
