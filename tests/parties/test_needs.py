"""What a job needs, tried as a job does: beyond the set-ups of `tests.parties.cli.test_setups`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from parties import doctor, needs
from parties.errors import ConfigError, StorageError
from parties.findings import Status
from parties.jobs.storage.store import JobStore
from parties.ledger.book import open_ledger
from tests.parties.daemon.test_service import config_in
from tests.parties.jobs.storage.test_store import insert

SQL = 'kind = "sql"\nquery = "select 1"\n'


@pytest.fixture
def config(tmp_path):
    found = config_in(tmp_path)
    store = JobStore(found.home)
    insert(store)
    store.close()
    return found


def test_a_database_that_another_program_holds_is_said_to_be_locked(config, monkeypatch):
    """It could be read, and each job failed."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.01}))
    ledger = open_ledger(config.home)
    assert needs.check_database(config, ledger) == 1
    with closing(connect(config.home / "jobs.sqlite", isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(StorageError, match="another program holds it locked"):
            needs.check_database(config, ledger)
        other.execute("rollback")
    assert needs.check_database(config, ledger) == 1


@pytest.mark.parametrize(
    ("source", "library", "package"),
    [
        (SQL + 'driver = "oracledb"\nurl = "a"', "oracledb", "oracledb"),
        (SQL + 'driver = "duckdb"\nurl = "duckdb:///a.duckdb"', "duckdb", "'duetto[duckdb]'"),
        ('source = "a.xlsx"', "python_calamine", "'duetto[excel]'"),
        ('source = "a.parquet"', "pyarrow", "'duetto[parquet]'"),
    ],
)
def test_a_library_that_is_not_installed_is_named(config, monkeypatch, source, library, package):
    """In our own image, say: the files of all data sets were said to be there, and jobs failed."""
    columns = 'columns.x = { type = "integer", lower = 0, upper = 9 }'
    catalog = config.home / "catalog.toml"
    catalog.write_text(f"[datasets.d]\n{source}\n{columns}\n")
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == library else object())
    with pytest.raises(ConfigError, match="which is not installed") as caught:
        needs.check_sources(replace(config, catalog=catalog))
    assert caught.value.hint == f"Run pip install {package}."


def test_a_policy_without_a_rule_is_told_of(config):
    policy = config.home / "policy.toml"
    policy.write_text("")
    found = doctor._policy(replace(config, policy=policy))
    assert (found.verdict, found.what) == (Status.WARN, "it has no rule, so no job is allowed")
