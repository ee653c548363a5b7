"""The tests whose outcome a seed could change: those that draw, and those that Hypothesis searches.

Nobody lists them. A run notes which they were, and a run under another seed can be kept to them, as
`scripts/test --seeds 20` does (`scripts/seeds.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.seeds import run_seed, who_drew


def add_options(parser: pytest.Parser) -> None:
    """Add what `scripts/seeds.py` passes."""
    parser.addoption(
        "--note", type=Path, help="write into this file which tests were seeded and which failed"
    )
    parser.addoption("--only-seeded-of", type=Path, help="run the seeded tests of such a file alone")


def register(config: pytest.Config) -> None:
    """Note which tests are seeded, and leave out the others, if options say so."""
    config.pluginmanager.register(
        SeededPart(config.getoption("--note"), config.getoption("--only-seeded-of"))
    )


def shared_name(fixture: pytest.FixtureDef[Any]) -> str:
    """What the draws of a fixture that several tests share belong to."""
    return f"{fixture.baseid}::{fixture.argname}"


@dataclass(eq=False)  # pytest keeps plugins in sets
class SeededPart:
    """A plugin of pytest: notes and chooses.

    Attributes:
        note: the file to write, if any.
        only: the file that says what to run, if not everything.
        seeded: the tests whose outcome a seed could change.
        failed: the tests that failed.
    """

    note: Path | None
    only: Path | None
    seeded: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep what the other run found seeded; all of it has to be there, since no seed chooses cases."""
        if self.only is None:
            return
        wanted = set(json.loads(self.only.read_text(encoding="utf-8"))["seeded"])
        if missing := sorted(wanted - {item.nodeid for item in items}):
            raise pytest.UsageError(
                f"Not collected under seed {run_seed()}: {missing}. No seed may choose which cases exist."
            )
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = [item for item in items if item.nodeid in wanted]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        """Say in the last report of a test whether it is seeded."""
        report = yield
        if call.when == "teardown":
            report.seeded = _is_seeded(item)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note it, in the process that has the reports of all workers."""
        if getattr(report, "seeded", False):
            self.seeded.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file."""
        if self.note is not None and not hasattr(session.config, "workerinput"):
            found = {"seed": run_seed(), "seeded": sorted(self.seeded), "failed": sorted(self.failed)}
            self.note.write_text(json.dumps(found), encoding="utf-8")


def _is_seeded(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    fixtures = {shared_name(defs[-1]) for defs in item._fixtureinfo.name2fixturedefs.values()}
    return (
        getattr(item.obj, "is_hypothesis_test", False)
        or item.nodeid in who_drew()
        or not fixtures.isdisjoint(who_drew())
    )
