"""duetto from Python, by one name: jobs at the daemon, programs over secret vectors, releases of tables.

**Programs over secret vectors.** Both parties run the same program, here in one process. The larger of each
pair of numbers, of which neither party sees the other's:

>>> import duetto
>>> inputs = {duetto.Role.ALICE: [3, 90, 5], duetto.Role.BOB: [4, 8, 5]}
>>> def largest(session):
...     x, y = duetto.SecretInts.from_both(session, inputs[session.role], duetto.Bounds(0, 100))
...     return duetto.select(x >= y, x, y).reveal()
>>> duetto.run_pair(largest)
(array([ 4, 90,  5]), array([ 4, 90,  5]))

**Jobs.** The daemon of this party has to run (`duetto party start`):

    party = duetto.Party("north")                   # the folder with its duetto.toml
    result = party.submit("statistics.toml").wait().result()
    for name, frame in result.frames().items():
        print(name, frame)

**Releases of tables** need `pip install 'duetto[anonymizer]'`:

>>> import pandas
>>> from anonymizer.methods.recoding.mondrian import Mondrian
>>> people = pandas.DataFrame({"age": [31, 34, 58, 52], "illness": ["flu", "cold", "flu", "cold"]})
>>> roles = duetto.Roles(quasi_identifiers=["age"], sensitive=["illness"])
>>> pipeline = duetto.Pipeline(steps=[("classes", Mondrian(k=2))], roles=roles)
>>> print(pipeline.fit_transform(people).to_string(index=False))
     age illness
[31, 34]     flu
[31, 34]    cold
[52, 58]     flu
[52, 58]    cold

Importing this package imports nothing else; each name brings its module when it is first used.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from anonymizer.errors import AnonymizerError
    from anonymizer.pipelines.pipeline import Pipeline
    from anonymizer.tables.roles import Roles
    from anonymizer.tables.table import Table
    from duetto.measured_pair import PairRun, measure_pair
    from duetto.statistics_job import Statistics
    from parties.client import Job, Result
    from parties.contracts.state import State
    from parties.errors import BudgetError, ConfigError, DataError, JobError, PolicyError
    from parties.python import Party
    from parties.rehearsal import rehearse
    from parties.release import release
    from smc.errors import (
        DisclosureRefused,
        DomainError,
        DuettoError,
        OutsideRange,
        PeerError,
        UsageError,
    )
    from smc.forms import Role
    from smc.pair import run_pair
    from smc.protocols.session import Session
    from smc.secret.bits import SecretBits
    from smc.secret.ints import SecretInts, concatenate, select
    from smc.secret.orders.order import Order
    from smc.secret.reals.definite import Definite
    from smc.secret.reals.fixed_rows import FixedRows, RowsLayout
    from smc.secret.reals.functions import EXP, SIGMOID
    from smc.secret.reals.reals import SecretReals, join
    from smc.secret.sharing.bounds import Bounds
    from smc.secret.sharing.fixed import Fixed

__all__ = [
    "EXP",
    "SIGMOID",
    "AnonymizerError",
    "Bounds",
    "BudgetError",
    "ConfigError",
    "DataError",
    "Definite",
    "DisclosureRefused",
    "DomainError",
    "DuettoError",
    "Fixed",
    "FixedRows",
    "Job",
    "JobError",
    "Order",
    "OutsideRange",
    "PairRun",
    "Party",
    "PeerError",
    "Pipeline",
    "PolicyError",
    "Result",
    "Role",
    "Roles",
    "RowsLayout",
    "SecretBits",
    "SecretInts",
    "SecretReals",
    "Session",
    "State",
    "Statistics",
    "Table",
    "UsageError",
    "concatenate",
    "join",
    "measure_pair",
    "rehearse",
    "release",
    "run_pair",
    "select",
]

_MODULES: Final = {
    "anonymizer.errors": ("AnonymizerError",),
    "anonymizer.pipelines.pipeline": ("Pipeline",),
    "anonymizer.tables.roles": ("Roles",),
    "anonymizer.tables.table": ("Table",),
    "duetto.measured_pair": ("PairRun", "measure_pair"),
    "duetto.statistics_job": ("Statistics",),
    "parties.client": ("Job", "Result"),
    "parties.contracts.state": ("State",),
    "parties.errors": ("BudgetError", "ConfigError", "DataError", "JobError", "PolicyError"),
    "parties.python": ("Party",),
    "parties.rehearsal": ("rehearse",),
    "parties.release": ("release",),
    "smc.errors": (
        *("DisclosureRefused", "DomainError", "DuettoError", "OutsideRange", "PeerError", "UsageError"),
    ),
    "smc.forms": ("Role",),
    "smc.pair": ("run_pair",),
    "smc.protocols.session": ("Session",),
    "smc.secret.bits": ("SecretBits",),
    "smc.secret.orders.order": ("Order",),
    "smc.secret.reals.definite": ("Definite",),
    "smc.secret.reals.fixed_rows": ("FixedRows", "RowsLayout"),
    "smc.secret.reals.functions": ("EXP", "SIGMOID"),
    "smc.secret.reals.reals": ("SecretReals", "join"),
    "smc.secret.sharing.bounds": ("Bounds",),
    "smc.secret.sharing.fixed": ("Fixed",),
    "smc.secret.ints": ("SecretInts", "concatenate", "select"),
}
"""Where the names come from, as the imports for type checkers above say it."""

_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}

_EXTRA: Final = {"Pipeline": "narwhals", "Table": "narwhals"}
"""Names that cannot be had without the libraries of an extra."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'duetto' has no attribute {name!r}")
    module = _HOMES[name]
    try:
        value = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as missing:
        if not module.startswith("anonymizer."):
            raise
        raise ImportError(
            f"duetto.{name} needs {missing.name}. Run pip install 'duetto[anonymizer]'."
        ) from missing
    globals()[name] = value  # the next look finds it without this function
    return value


def __dir__() -> list[str]:
    # What completion offers: the public names, but those at which a look would end with an error.
    missing = {name for name, library in _EXTRA.items() if importlib.util.find_spec(library) is None}
    return sorted({*__all__} - missing)
