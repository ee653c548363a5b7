"""Pools on disk: encrypted, handed out once, gone before they are used."""

from __future__ import annotations

import json
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from commons.logs import files
from parties.cli.pools import pool as pool_command
from parties.errors import ConfigError, PoolError
from parties.kept_pools import KeptPools
from parties.session import pools
from parties.session.pools import MAX_POOLS, PoolStore
from smc.oblivious.pool import PoolInfo

SECRET = b"correlated randomness " * 100


def stored(number: int = 1, comparisons: int = 128) -> PoolInfo:
    return PoolInfo(bytes([number]) * 32, comparisons, 32, True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "keys").mkdir(mode=0o700)
    return tmp_path


@pytest.fixture
def store(home: Path) -> PoolStore:
    return PoolStore(home, clock=lambda: 1000.0)


def file_of(home: Path, number: int = 1, peer: str = "south") -> Path:
    return home / "pools" / peer / f"{(bytes([number]) * 32).hex()}.pool"


def test_what_is_put_is_taken_once(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    (kept,) = store.list("south")
    assert (kept.peer, kept.stored, kept.made) == ("south", stored(), 1000)
    assert kept.size == file_of(home).stat().st_size
    assert store.list("north") == ()
    assert store.take("south", stored().name) == SECRET
    assert store.take("south", stored().name) is None
    assert store.list() == ()


def test_files_are_private_and_encrypted(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    store.put("south", stored(2), SECRET)
    one, two = (file_of(home, number).read_bytes() for number in (1, 2))
    assert SECRET[:20] not in one
    assert one[-50:] != two[-50:]
    for path in (file_of(home), home / "keys" / "pool.key", home / "pools" / "lock"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (home / "pools", home / "pools" / "south"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    store.take("south", stored().name)
    assert stat.S_IMODE((home / "pools" / "taken.log").stat().st_mode) == 0o600


def test_it_is_deleted_before_it_is_handed_out(
    store: PoolStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("south", stored(), SECRET)
    seen: list[tuple[bool, bool]] = []
    synced = files.sync

    def crash(folder: Path) -> None:
        synced(folder)
        log = home / "pools" / "taken.log"
        seen.append((file_of(home).exists(), stored().name.hex() in log.read_text()))
        if folder.name == "south":
            raise KeyboardInterrupt

    for module in (files, pools):
        monkeypatch.setattr(module, "sync", crash)
    with pytest.raises(KeyboardInterrupt):
        store.take("south", stored().name)
    assert seen == [(True, True), (False, True)]
    monkeypatch.undo()
    assert PoolStore(home).take("south", stored().name) is None


def test_after_a_crash_between_log_and_deletion_it_is_refused(
    store: PoolStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("south", stored(), SECRET)

    def crash(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pools, "_delete", crash)
    with pytest.raises(KeyboardInterrupt):
        store.take("south", stored().name)
    monkeypatch.undo()
    assert file_of(home).exists()
    assert store.list() == ()
    with pytest.raises(PoolError, match="used before"):
        store.take("south", stored().name)
    assert not file_of(home).exists()


def test_a_restored_copy_is_refused(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    copy = file_of(home).read_bytes()
    store.take("south", stored().name)
    file_of(home).write_bytes(copy)
    file_of(home).chmod(0o600)
    assert store.list("south") == ()
    with pytest.raises(PoolError, match="used before"):
        store.take("south", stored().name)
    assert not file_of(home).exists()
    with pytest.raises(PoolError, match="kept before"):
        store.put("south", stored(), SECRET)


def test_a_torn_log_line_does_not_swallow_the_next(store: PoolStore, home: Path) -> None:
    for number in (1, 2):
        store.put("south", stored(number), SECRET)
    copies = {number: file_of(home, number).read_bytes() for number in (1, 2)}
    (home / "pools" / "taken.log").write_text(stored(1).name.hex()[:30])
    (home / "pools" / "taken.log").chmod(0o600)
    for number, copy in copies.items():
        assert store.take("south", stored(number).name) == SECRET
        file_of(home, number).write_bytes(copy)
        file_of(home, number).chmod(0o600)
        with pytest.raises(PoolError, match="used before"):
            store.take("south", stored(number).name)


def test_a_damaged_log_stops_everything(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    (home / "pools" / "taken.log").write_text("z" * 64 + "\n")
    with pytest.raises(PoolError, match=r"taken\.log"):
        store.take("south", stored().name)


def test_two_threads_one_pool(store: PoolStore, home: Path) -> None:
    for number in range(1, 9):
        store.put("south", stored(number), SECRET)
        barrier = threading.Barrier(4)
        got: list[bytes | None] = []

        def one(number: int = number, barrier: threading.Barrier = barrier, got: list = got) -> None:
            own = PoolStore(home)
            barrier.wait(10)
            got.append(own.take("south", stored(number).name))

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert len(got) == 4
        assert [data for data in got if data is not None] == [SECRET]


@pytest.mark.parametrize("place", [0, 20, 48, 56, 58, 59, 70, 90, -1])
def test_a_changed_byte_is_noticed(store: PoolStore, home: Path, place: int) -> None:
    store.put("south", stored(), SECRET)
    data = bytearray(file_of(home).read_bytes())
    data[place] ^= 4
    file_of(home).write_bytes(data)
    with pytest.raises(PoolError, match=file_of(home).name):
        store.take("south", stored().name)
    assert not file_of(home).exists()
    assert file_of(home).with_suffix(".damaged").exists()
    assert store.take("south", stored().name) is None
    assert store.clear() == 1


@pytest.mark.parametrize("size", [0, 10, 68, 75, 90])
def test_a_shortened_file_is_noticed(store: PoolStore, home: Path, size: int) -> None:
    store.put("south", stored(), SECRET)
    file_of(home).write_bytes(file_of(home).read_bytes()[:size])
    with pytest.raises(PoolError, match="damaged"):
        store.take("south", stored().name)


def test_a_foreign_file_is_moved_aside_by_the_list(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    store.put("south", stored(2), SECRET)
    file_of(home).write_bytes(
        b"something else that is long enough to have been a head of a pool file ......."
    )
    file_of(home, 2).rename(file_of(home, 3))
    assert store.list() == ()
    assert sorted(path.suffix for path in file_of(home).parent.iterdir()) == [".damaged", ".damaged"]


def test_a_pool_of_another_peer_is_refused(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    store.put("west", stored(2), SECRET)
    file_of(home).rename(file_of(home, peer="west"))
    with pytest.raises(PoolError, match="another peer"):
        store.take("west", stored().name)


def test_another_key_does_not_open_it(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    (home / "keys" / "pool.key").write_bytes(bytes(32))
    with pytest.raises(PoolError, match="another key"):
        store.take("south", stored().name)


def test_a_short_or_open_key_is_refused(store: PoolStore, home: Path) -> None:
    store.put("south", stored(), SECRET)
    key = home / "keys" / "pool.key"
    content = key.read_bytes()
    key.write_bytes(bytes(16))
    with pytest.raises(ConfigError, match=r"pool\.key"):
        store.put("south", stored(2), SECRET)
    key.write_bytes(content)
    key.chmod(0o644)
    with pytest.raises(ConfigError, match="open to other users"):
        store.take("south", stored().name)
    key.chmod(0o600)
    assert store.take("south", stored().name) == SECRET


@pytest.mark.parametrize("peer", ["../keys", "a/b", "", "South", ".."])
def test_names_are_never_paths(store: PoolStore, peer: str) -> None:
    with pytest.raises(ConfigError, match="not a valid party name"):
        store.put(peer, stored(), SECRET)
    with pytest.raises(ConfigError, match="not a valid party name"):
        store.take(peer, stored().name)
    with pytest.raises(ConfigError, match="not a valid party name"):
        store.with_peer(peer)


def test_halves_are_discarded_by_name(store: PoolStore) -> None:
    for number in (1, 2, 3):
        store.put("south", stored(number), SECRET)
    store.discard("south", [stored(1).name, stored(3).name, stored(9).name])
    store.discard("south", [])
    assert [file.stored for file in store.list()] == [stored(2)]
    kept = KeptPools("south", "north", 32, 128, 4)
    assert store.count(kept) == 1
    assert store.count(replace(kept, bits=31)) == store.count(replace(kept, x_at="south")) == 0


def test_pool_names_have_32_bytes(store: PoolStore) -> None:
    with pytest.raises(PoolError, match="not a pool"):
        store.put("south", PoolInfo(b"../../x", 64, 8, True), SECRET)
    assert store.take("south", b"../../x") is None


def test_there_is_a_bound(store: PoolStore) -> None:
    for number in range(MAX_POOLS):
        store.put("south", stored(number), b"")
    with pytest.raises(PoolError, match="as many as are allowed"):
        store.put("south", stored(MAX_POOLS), b"")
    store.put("west", stored(MAX_POOLS), b"")


def test_status_and_clear(home: Path) -> None:
    (home / "duetto.toml").write_text('[party]\nname = "north"\n[listen]\naddress = "127.0.0.1:0"\n')
    store = PoolStore(home)
    store.put("south", stored(), SECRET)
    store.put("west", stored(2, 64), SECRET)

    def run(*words: str) -> dict:
        done = CliRunner().invoke(pool_command, [*words, "--json", "--config", str(home)])
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    rows = run("status")["pools"]
    assert [(row["peer"], row["comparisons"], row["bits"]) for row in rows] == [
        ("south", 128, 32),
        ("west", 64, 32),
    ]
    assert rows[0]["name"] == stored().name.hex()
    assert 0 <= rows[0]["age_seconds"] < 60
    assert rows[0]["bytes"] > len(SECRET)
    shown = CliRunner().invoke(pool_command, ["status", "--config", str(home)]).output
    assert "south" in shown
    assert "128" in shown
    assert run("clear", "--peer", "west")["deleted"] == 1
    assert [row["peer"] for row in run("status")["pools"]] == ["south"]
    assert run("clear")["deleted"] == 1
    assert run("status")["pools"] == []
