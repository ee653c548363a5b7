"""A job tried on two tables in this process, before anybody proposes it.

Both sides run the whole protocol as between two daemons, without a network, policies, ledgers or limits of
their own: so the result says nothing of what a peer's policy would withhold or refuse.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import Asked
from parties.catalog.reading import Reader
from parties.client.job_file import job_text
from parties.client.result import Result
from parties.config import Limits
from parties.contracts.spec import JobSpec, parse_spec
from parties.errors import JobError
from parties.jobs.checks.local_data import columns_of, with_persons
from parties.jobs.checks.task import Task
from parties.jobs.run import leakage_document, outcome_document
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES, study_of
from smc.analyses.studies.columns import Data
from smc.analyses.studies.runner import run_study
from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair

if TYPE_CHECKING:
    import pandas as pd

NAME: Final = "rehearsal"


def rehearse(
    job: Path | str | Mapping[str, Any], alice: pd.DataFrame, bob: pd.DataFrame, role: str = "alice"
) -> Result:
    """Run a job on two tables in this process.

    Args:
        job: a job file's path, its text (a string of several lines), or its document as a mapping.
        alice: the table that stands for Alice's data set; its columns are declared by what is in them, as
            `duetto data add` proposes it.
        bob: the same of Bob.
        role: whose result is returned.

    Returns:
        The result, as a daemon would give it to that side.

    Raises:
        JobError: the job is wrong, a table lacks one of its columns, or that side gets no result.
        DataError: a column cannot be declared, or a cell is not as declared.
        UsageError: the parameters do not fit.
    """
    try:
        wanted = Role(role)
    except ValueError:
        raise UsageError(f"{role!r} is neither alice nor bob.", 'Give role="alice" or role="bob".') from None
    spec = parse_spec(job_text(job))
    if spec.analysis not in ANALYSES:
        raise JobError(f"There is no analysis {spec.analysis!r}.", f"Choose one of {', '.join(ANALYSES)}.")
    study = study_of(ANALYSES[spec.analysis], spec.parameters)
    tasks = {each: Task(spec, each, study) for each in Role}
    data = {each: _columns(spec, each, frame) for each, frame in zip(Role, (alice, bob), strict=True)}
    limits = NO_LIMITS.of_both
    outcomes = run_pair(
        lambda session: run_study(study, session, data[session.role], spec.recipients, limits),
        network=spec.network,
    )
    return Result.from_document(
        {
            "job_id": NAME,
            "outcome": outcome_document(dict(zip(Role, outcomes, strict=True))[wanted]),
            "facts": {"leakage": leakage_document(tasks[wanted])},
            "salt": "",
        }
    )


def _columns(spec: JobSpec, role: Role, frame: pd.DataFrame) -> Data:
    """The columns of a table by their names in the job, declared by what is in them."""
    side = spec.side(role)
    missing = sorted(set(side.columns.values()) - set(frame.columns))
    if missing:
        raise JobError(
            f"The table of {role.value} lacks the columns {', '.join(map(repr, missing))}.",
            f"Name columns of the table below [{role.value}], or bring a table that has them.",
        )
    if not side.columns:
        return {}
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        source, catalog = Path(folder, "table.csv"), Path(folder, "catalog.toml")
        frame[[*dict.fromkeys(side.columns.values())]].to_csv(source, index=False)
        reader = Reader(Limits())
        reader.draft(catalog, Asked(source=str(source), name=NAME)).write()
        loaded = reader.load(load_catalog(catalog).dataset(NAME), side.columns.values())
        return with_persons(columns_of(side, loaded), loaded)
