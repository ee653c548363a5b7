"""Options and profiles of the whole test suite."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from parties.rpc import process
from tests.support.seeds import run_seed

process.set_up()  # before a test imports gRPC

# What duetto prints must not depend on the terminal from which the tests are run; a test that needs another
# one says so itself.
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# Deadlines and slowness say something about the machine, not about the code.
settings.register_profile(
    "local", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.register_profile("ci-slow", settings.get_profile("ci"), max_examples=300)
settings.register_profile("local-slow", settings.get_profile("local"), max_examples=300)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--slow` and `--seed`."""
    parser.addoption("--slow", action="store_true", help="run the long grids too")
    parser.addoption("--seed", help="draw the values that a run drew which printed this seed")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, before other processes of this run start, and how long properties are searched."""
    run_seed(config.getoption("--seed"))
    place = "ci" if os.environ.get("CI") else "local"
    settings.load_profile(f"{place}-slow" if config.getoption("--slow") else place)


def pytest_report_header() -> str:
    """Name the seed of all values that tests draw."""
    return f"seed: {run_seed()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name it where the header is not printed, and something failed."""
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"The values of this run are drawn again with --seed {run_seed()}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked slow unless asked for."""
    if config.getoption("--slow"):
        return
    slow = [item for item in items if "slow" in item.keywords]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if "slow" not in item.keywords]


def pytest_collection_finish() -> None:
    """Spare the collector the modules and the thousands of collected tests, which live to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
