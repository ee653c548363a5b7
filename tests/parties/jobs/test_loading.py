"""A daemon listens before it has loaded what understands jobs, and understands none without it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from parties.certificates.program import code_digest
from parties.errors import ConfigError
from tests.parties.jobs.joined import job_file, wait_final

LATE = ("smc.analyses.registry", "smc.protocols.session", "parties.jobs.checks.admission", "parties.jobs.run")
NEVER = ("pandas", "scipy", "sklearn", "pyarrow", "polars", "matplotlib", "jinja2", "prometheus_client")


def loaded_by(statements):
    """Which of the modules a new Python has loaded after some statements."""
    ask = f"import sys\nprint(*(name for name in {LATE + NEVER} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{statements}\n{ask}"], capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_what_a_daemon_is_made_of_loads_no_analyses():
    assert loaded_by("import parties.cli.party, parties.daemon.daemon") == set()
    assert loaded_by("import parties.jobs.checks.opening, parties.jobs.run, smc.analyses.registry") == set(
        LATE
    )


def test_many_at_once_load_once(pair, monkeypatch):
    manager = pair.north
    opened = []
    make = manager._loading._load
    monkeypatch.setattr(manager._loading, "_load", lambda: opened.append(1) or make())
    manager._loading._admission = None
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: id(manager._admission), range(32)))
    assert len(found) == len(opened) == 1


def test_files_that_changed_before_all_were_loaded_run_no_job(pair, monkeypatch):
    pair.stop("north")
    with monkeypatch.context() as upgraded:
        upgraded.delitem(sys.modules, "parties.jobs.reports")  # it is left to be loaded
        manager = pair.start("north")
        upgraded.setattr("parties.jobs.loading.code_digest", lambda plugins: "0" * len(code_digest(plugins)))
        for ask in (manager.load, lambda: manager.submit(job_file()), lambda: manager.check(job_file())):
            with pytest.raises(ConfigError, match="files of duetto were changed"):
                ask()
        assert manager.store.all() == []
    assert wait_final(manager, manager.submit(job_file()).job_id).state.value == "finished"
