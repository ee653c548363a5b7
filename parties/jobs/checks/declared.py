"""What is checked of a job against declarations alone, before a row is looked at."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import pairwise

from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.errors import JobError
from parties.jobs.checks.task import Task
from smc.forms import Role


def check_once(task: Task, role: Role) -> None:
    """Check that a job without noise names each column of a side once.

    Under two names two figures would be about one column, or columns be derived from one.

    Raises:
        JobError: it names one twice.
    """
    columns = sorted(task.spec.side(role).columns.values())
    twice = [one for one, other in pairwise(columns) if one == other]
    if task.facts.exact is not None and twice:
        raise JobError(
            f"The job names column {twice[0]!r} of {role.value} twice, and has no noise.",
            "Give each column one name in the job.",
        )


def catalog_columns(task: Task, names: AbstractSet[str]) -> frozenset[str]:
    """The local catalog columns of names in the job."""
    return frozenset(column for name, column in task.side.columns.items() if name in names)


def check_bounds(task: Task, declared: DatasetDeclaration) -> None:
    """Check that what a job takes for granted of rows holds by their declarations alone.

    Args:
        task: the job.
        declared: the local data set.

    Raises:
        JobError: the declarations allow more rows, whatever rows there are.
    """
    bounds = task.facts.bounds
    where = f"below [{declared.table}] in the catalog of {task.side.party!r}"
    if bounds.rows is not None and bounds.rows < declared.maximum_rows:
        raise JobError(
            f"The job takes at most {bounds.rows} rows a side, and data set {declared.name!r} is declared to "
            f"have up to {declared.maximum_rows}.",
            f"Raise maximum_rows in the job, or declare a smaller maximum_rows {where}.",
            code="rows",
        )
    if bounds.per_person is None:
        return
    if declared.rows_per_person is None or bounds.per_person < declared.rows_per_person:
        have = "any number" if declared.rows_per_person is None else f"up to {declared.rows_per_person}"
        raise JobError(
            f"The job takes at most {bounds.per_person} rows of one person, and data set {declared.name!r} "
            f"is declared to have {have}.",
            f"Raise rows_per_person in the job, or declare maximum_rows_per_person {where}.",
            code="rows",
        )
