"""Measures what estimates take: processor seconds and memory of a process that makes one, import left out."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

from measuring import numbers, print_table

from parties.bench.workloads import WORKLOADS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import TooManyRowsError
from smc.forms import Role
from smc.network import Network
from smc.testing.case import schemas_of

_DECLARED_ROWS = 40
"""Of data of which the estimate takes the declarations alone."""


def estimated(name: str, rows: int, link: Network | None) -> tuple[object, ...]:
    """A line of the table."""
    workload = WORKLOADS[name]
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    sides = workload.data(_DECLARED_ROWS).values()
    schemas = {column: schema for side in sides for column, schema in schemas_of(side).items()}
    recipients = frozenset(Role(role) for role in workload.recipients)
    start = time.process_time()
    try:
        found = estimate_cost(study, schemas, recipients, RunSetting((rows, rows), network=link))
    except TooManyRowsError:
        return (f"{name}, {rows:,}", "too many rows", "", "", "")
    taken = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    sent = (found.alice_bytes + found.bob_bytes) / 1e6
    return f"{name}, {rows:,}", taken, peak, found.rounds, sent


def main() -> None:
    """Print the table; each estimate has a process of its own, in which nothing is remembered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="*", help="what to estimate; all if none is named")
    parser.add_argument("--rows", type=numbers, default=[1_000_000], help="of each side, with commas")
    parser.add_argument("--rtt-ms", type=float, default=0.0, help="of the link that jobs are planned for")
    parser.add_argument("--mbit", type=float, default=0.0, help="its rate of each direction")
    given = parser.parse_args()
    link = Network(given.rtt_ms, given.mbit) if given.rtt_ms or given.mbit else None
    lines = []
    for name in given.case or WORKLOADS:
        for rows in given.rows:
            with multiprocessing.get_context("fork").Pool(1) as pool:
                lines.append(pool.apply(estimated, (name, rows, link)))
    print_table("What estimates take", ("case, rows", "processor s", "MiB", "rounds", "MB"), lines)


if __name__ == "__main__":
    main()
