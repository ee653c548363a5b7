"""The joint run over rows of both with noise, one side: local sums, noise, and one opening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.plans import noisy
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.rows import Ints, Sampling
from smc.analyses.studies.columns import Data
from smc.analyses.studies.loss import Loss
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.protocols.session import Session


class Budgeted(Sampling, Protocol):
    """Which rows take part, and what the ledger takes for them."""

    @property
    def loss(self) -> Loss:
        """The privacy loss of the job."""
        ...


def open_noisy_sums(
    session: Session,
    parameters: Budgeted,
    plans: Sequence[Planned],
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> tuple[list[Ints] | None, bytes]:
    """Add up the local rows, add noise that neither party knows, and open the sums to the recipients.

    Args:
        session: this side of the run.
        parameters: which rows take part, and the loss of the job.
        plans: the statistics; together they cost no more than that loss, and their noise covers all rows of a
            person.
        data: the local columns.
        recipients: who gets the results.
        release: withholds what is about too few rows, and opens the rest.

    Returns:
        For each statistic what was opened, shape (groups, entries), None for a party that is not a recipient;
        and the public seed of simulated figures.

    Raises:
        DisclosureRefused: as of `check_plans`; nothing was sent.
        DomainError: the local data do not fit; nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    check_plans(plans, parameters)
    own = noisy.local_entries(parameters, plans, data)
    words = noisy.noisy_words(session, plans, own)
    seed = noisy.simulation_seed(session, plans)
    opened = noisy.open_noisy(
        session, plans, words, recipients, release, rows_per_person=parameters.rows_per_person
    )
    return opened, seed


def check_plans(plans: Sequence[Planned], parameters: Budgeted) -> None:
    """Check that noise covers all rows of a person, for no more than what the ledger takes: whoever planned.

    Raises:
        DisclosureRefused: it does not.
    """
    spent = sum((planned.spent for planned in plans), Loss())
    if spent.epsilon > parameters.loss.epsilon or spent.rho > parameters.loss.rho:
        raise _defect("cost more than the job's stated loss")
    if any(planned.statistic.changes < parameters.rows_per_person for planned in plans):
        raise _defect("have noise for fewer rows than a person may have")


def _defect(what: str) -> DisclosureRefused:
    return DisclosureRefused(
        f"The statistics of the job {what}.", "Report it as a defect of the planning of statistics."
    )
