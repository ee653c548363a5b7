"""Options and profiles of the whole test suite."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from parties.rpc import process
from tests.support import seeded_part
from tests.support.long_tests import without_long
from tests.support.order import ORDERS, ordered
from tests.support.seeds import DEFAULT, drawing_for, run_seed, seed_number

LONGEST = 3600
"""Seconds that a slow test may take; a quick one has those of `pyproject.toml`."""

process.set_up()  # before a test imports gRPC
gc.disable()  # until all is collected, which is kept to the end

# What duetto prints must not depend on the terminal from which the tests are run; a test that needs another
# one says so itself.
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--whole", action="store_true", help="run the long tests too, see scripts/long_tests")
    parser.addoption("--slow", action="store_true", help="run these and the long grids too")
    parser.addoption(
        "--seed",
        help=f"draw the values of a run that printed this seed ({DEFAULT} unless given); 'random' draws one",
    )
    parser.addoption("--order", choices=ORDERS, default="usual", help="run the tests in another order")
    seeded_part.add_options(parser)


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its option
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, before other processes of this run start, and how long properties are searched."""
    # A worker has the seed of the run in its environment, where `random` has become one.
    run_seed(None if hasattr(config, "workerinput") else config.getoption("--seed"))
    usual = run_seed() == DEFAULT
    # Whoever names files or tests wants all of them. Workers have the option of the run.
    named = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    if named or config.getoption("--slow"):
        config.option.whole = True
    # Deadlines and slowness say something about the machine, not about the code; examples kept from earlier
    # runs would make this one depend on them.
    settings.register_profile(
        "suite",
        deadline=None,
        max_examples=300 if config.getoption("--slow") else 30,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=usual,
        database=None,
    )
    settings.load_profile("suite")
    if not usual:
        config.option.hypothesis_seed = str(seed_number())
    if config.getoption("--slow"):
        config.option.timeout = max(config.option.timeout or 0, LONGEST)
    seeded_part.register(config)


def pytest_report_header() -> str:
    """Name the seed of all values that tests draw."""
    return f"seed: {run_seed()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say that long tests were left out; name the seed where something failed and no header is printed."""
    if not terminalreporter.config.getoption("--whole"):
        terminalreporter.write_line("Tests that take long were left out; --whole runs them too.")
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"The values of this run are drawn again with --seed {run_seed()}")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Iterator[object]:
    """Give fixtures that several tests share draws of their own, whichever test asks for them first."""
    if fixturedef.scope == "function":
        return (yield)
    with drawing_for(seeded_part.shared_name(fixturedef), getattr(request, "param_index", 0)):
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out long tests and those marked slow unless asked for; put the others in the order asked for."""
    left = items if config.getoption("--slow") else [item for item in items if "slow" not in item.keywords]
    left = left if config.getoption("--whole") else without_long(left)
    if len(left) < len(items):
        kept = frozenset(left)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = ordered(left, config.getoption("--order"))


def pytest_collection_finish() -> None:
    """Spare the collector the modules and the thousands of collected tests, which live to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 50, 100)
