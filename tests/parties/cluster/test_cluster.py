"""A real Dask cluster over TLS: a session on it, killed workers, and everything that can be wrong with it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version

import pytest

from commons.exits import UNAVAILABLE
from parties.cluster.connecting import Members, connect
from parties.cluster.executor import ClusterExecutor
from parties.cluster.work import work
from parties.config import Address, Compute, Dask
from parties.doctor import examine_cluster
from parties.errors import ClusterError, ClusterMismatch, ClusterUnavailable, ConfigError
from parties.exits import exit_code
from parties.findings import Status
from parties.jobs.faults import from_code
from parties.release import release
from smc.ciphers.paillier import Ciphertexts, OwnPaillier
from smc.errors import Cancelled, DomainError, PeerAborted
from smc.forms import Role
from smc.numeric.modular import inverses, powers
from smc.pieces import asking
from tests.parties.cluster.local import LocalCluster, authority
from tests.parties.cluster.tasks import slow
from tests.parties.rpc.harness import (
    JOB,
    NORTH,
    QUICK,
    SOUTH,
    Ending,
    configuration,
    dialling,
    listening,
    public,
    task,
)
from tests.parties.session.test_sessions import wait_for_peer
from tests.support.seeds import seeded
from tests.support.waiting import freeze

MODULUS = (1 << 2048) + 981
PATIENT = replace(QUICK, message_seconds=60, job_seconds=600)
"""For machines with much other work."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


@contextmanager
def executor(dask: Dask) -> Iterator[ClusterExecutor]:
    made = ClusterExecutor(dask)
    try:
        yield made
    finally:
        made.shutdown()


def expected(count: int, exponent: int) -> list[int]:
    return [pow(base, exponent, MODULUS) for base in range(count)]


def nothing_left() -> None:
    """No thread that watches tasks is left behind."""
    until = time.monotonic() + 30
    while any(thread.name == "dask-patience" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_arithmetic_is_the_same_there(cluster):
    with executor(cluster.dask()) as there:
        assert powers(range(40), 65537, MODULUS, there) == expected(40, 65537)
        with pytest.raises(DomainError, match="no inverse"):
            inverses([0] * 5, MODULUS, there)
        assert there.members() == Members(workers=2, threads=2)
    nothing_left()
    with pytest.raises(ClusterUnavailable, match="has left"):
        there.submit(pow, 2, 3)


@pytest.mark.slow
def test_a_task_that_takes_longer_than_the_patience_is_waited_for(cluster, tmp_path):
    with executor(cluster.dask(2)) as there:
        assert there.submit(slow, 3, tmp_path / "begun").result(30) == 3
        assert there.submit(slow, there.share(0.01), tmp_path / "begun").result(30) == 0.01


def test_a_session_gives_its_work_to_the_cluster(cluster):
    """South computes under north's key there, and gets the same numbers."""
    values, seen, made = list(range(75)), {}, []

    class Counted(ClusterExecutor):
        def submit(self, fn, /, *args, **kwargs):
            seen[fn.__name__] = seen.get(fn.__name__, 0) + 1
            return super().submit(fn, *args, **kwargs)

    def south(session):
        held = session.peer.encrypt(values)
        tripled = session.peer.refresh(session.peer.scale(held, [3] * len(values)))
        made.append(tripled)

    ended = Ending()
    with listening(SOUTH, public(NORTH), limits=PATIENT, cluster=Counted(cluster.dask())) as party:
        party.jobs.tasks[JOB] = task(Role.BOB, south, ended)
        with dialling(NORTH, public(SOUTH), party.server.address, PATIENT) as directory:
            directory.run_session("south", task(Role.ALICE, lambda session: None))
            assert ended.wait(90) is None
    assert seen.keys() >= {"_powers", "_combine"}
    with ThreadPoolExecutor(1) as here:
        opened = OwnPaillier(NORTH.paillier, seeded(), here).decrypt(Ciphertexts(made[0].key, made[0].values))
    assert opened == [3 * value for value in values]
    nothing_left()


def test_the_doctor_says_who_is_there(cluster, tmp_path):
    config = configuration(NORTH, {})
    assert examine_cluster(config) == []
    [found] = examine_cluster(replace(config, compute=Compute(cluster.dask())))
    assert found.verdict is Status.OK
    assert "2 workers of this release, 2 threads" in found.what
    authority(tmp_path, "another", "duetto")
    wrong = replace(cluster.dask(), ca=tmp_path / "ca.pem")
    [found] = examine_cluster(replace(config, compute=Compute(wrong)))
    assert (found.verdict, found.subject) == (Status.FAIL, "self")
    assert "dask_ca" in found.hint


def test_certificates_of_another_authority_are_refused(cluster, tmp_path):
    authority(tmp_path, "another", "duetto")
    good = cluster.dask()
    with pytest.raises(ClusterUnavailable, match="not by the authority in") as raised:
        connect(replace(good, ca=tmp_path / "ca.pem"))
    assert "dask_ca" in raised.value.hint
    with pytest.raises(ClusterUnavailable, match="does not take the certificate") as raised:
        connect(replace(good, certificate=tmp_path / "duetto.pem", key=tmp_path / "duetto.key"))
    assert "dask_certificate" in raised.value.hint
    assert exit_code(raised.value) == UNAVAILABLE
    for name in ("ca", "certificate", "key"):
        with pytest.raises(ConfigError, match=f"dask_{name} of .* cannot be read: No such file") as raised:
            connect(replace(good, **{name: tmp_path / "nowhere.pem"}))
        assert "remove dask" in raised.value.hint
    with pytest.raises(ConfigError, match="cannot be used"):
        connect(replace(good, key=tmp_path / "duetto.key"))
    (tmp_path / "duetto.key").chmod(0o644)
    with pytest.raises(ConfigError, match="open to other users") as raised:
        connect(replace(good, key=tmp_path / "duetto.key"))
    assert "chmod 600" in raised.value.hint


def test_what_is_not_there_or_does_not_speak_tls_is_said_in_time(cluster):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address("127.0.0.1", silent.getsockname()[1])
        started = time.monotonic()
        with pytest.raises(ClusterUnavailable, match="broke"):
            connect(replace(cluster.dask(1), address=address))
        assert time.monotonic() - started < 30
        closing = threading.Thread(
            target=lambda: (c := silent.accept()[0], c.recv(9), c.sendall(b"HTTP"), c.close())
        )
        closing.start()
        with suppress(OSError):
            socket.create_connection(silent.getsockname()).close()
        closing.join()
    with pytest.raises(ClusterUnavailable, match="No Dask scheduler answers") as raised:
        connect(replace(cluster.dask(1), address=address))
    assert "Start it" in raised.value.hint


def test_a_worker_of_another_release_is_refused(tmp_path):
    with (
        LocalCluster(tmp_path, workers=1, release="0.0.9") as old,
        pytest.raises(ClusterMismatch, match=r"the worker tls.* has duetto 0\.0\.9") as raised,
    ):
        connect(old.dask())
    assert version("duetto") in raised.value.what
    assert "Install the same" in raised.value.hint
    assert isinstance(from_code(raised.value.stable_code, "", ""), ClusterMismatch)


def test_a_task_of_another_release_is_refused_where_it_comes_to():
    assert work(release(), pow, 2, 3) == 8
    with pytest.raises(ClusterMismatch, match=r"this party 0\.0\.9"):
        work("0.0.9", pow, 2, 3)


def test_a_scheduler_without_workers_is_said_to_have_none(tmp_path):
    with LocalCluster(tmp_path, workers=0) as alone, pytest.raises(ClusterUnavailable, match="no worker"):
        connect(alone.dask())


def test_killed_workers(tmp_path):
    """One in the middle: the work is done. The other too: a typed error in time, and both sides know."""
    with LocalCluster(tmp_path / "dask") as running, executor(running.dask(2)) as there:
        tasks = [there.submit(slow, 0.2, tmp_path / f"{place}") for place in range(8)]
        while not (tmp_path / "1").exists():
            time.sleep(0.01)
        running.workers[0].kill()
        assert [done.result(60) for done in tasks] == [0.2] * 8

        tasks = [there.submit(slow, 0.2, tmp_path / f"{place}") for place in range(8, 16)]
        running.workers[1].kill()
        started = time.monotonic()
        with pytest.raises(ClusterError) as raised:
            [done.result(60) for done in tasks]
        assert time.monotonic() - started < 30
        assert raised.value.hint
        with pytest.raises(ClusterUnavailable, match="no worker"):
            there.submit(pow, 2, 3)
        nothing_left()


def test_a_job_whose_cluster_dies_ends_on_both_sides(tmp_path):
    ended, started = Ending(), time.monotonic()
    with LocalCluster(tmp_path, workers=1) as running:

        def south(session):
            session.peer.encrypt(list(range(40)))
            running.scheduler.kill()
            session.peer.encrypt(list(range(40)))

        with listening(
            SOUTH, public(NORTH), limits=PATIENT, cluster=ClusterExecutor(running.dask(2))
        ) as party:
            party.jobs.tasks[JOB] = task(Role.BOB, south, ended)
            with dialling(NORTH, public(SOUTH), party.server.address, PATIENT) as directory:
                with pytest.raises(PeerAborted) as raised:
                    directory.run_session("south", task(Role.ALICE, wait_for_peer))
                assert "cluster-unavailable" in raised.value.what
                failure = ended.wait(90)
    assert isinstance(failure, ClusterUnavailable)
    assert time.monotonic() - started < 60
    nothing_left()


@pytest.mark.slow
def test_a_cluster_that_hangs_holds_up_neither_the_work_nor_who_gives_it_up(tmp_path):
    with LocalCluster(tmp_path, workers=1) as running, executor(running.dask(6)) as there:
        assert there.submit(pow, 2, 3).result(60) == 8
        freeze(running.scheduler.pid)
        wanted = threading.Event()

        def question():
            if wanted.is_set():
                raise Cancelled("Nobody wants it any more.")

        threading.Timer(0.2, wanted.set).start()
        started = time.monotonic()
        with asking(question), pytest.raises(Cancelled):
            powers(range(40), 65537, MODULUS, there)
        assert time.monotonic() - started < 5.5
        with pytest.raises(ClusterUnavailable, match=r"For 6 seconds .* has finished nothing") as raised:
            powers(range(40), 65537, MODULUS, there)
        assert "duetto doctor" in raised.value.hint
        with pytest.raises(ClusterUnavailable):
            there.submit(pow, 2, 3)
        assert time.monotonic() - started < 40


def test_without_dask_the_extra_is_named(cluster, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="Dask is not installed") as raised:
        connect(cluster.dask())
    assert "pip install 'duetto[dask]'" in raised.value.hint
