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
        plans: the statistics; together they cost no more than that loss.
        data: the local columns.
        recipients: who gets the results.
        release: withholds what is about too few rows, and opens the rest.

    Returns:
        For each statistic what was opened, shape (groups, entries), None for a party that is not a recipient;
        and the public seed of simulated figures.

    Raises:
        DisclosureRefused: the plans cost more than the job's loss; nothing was sent.
        DomainError: the local data do not fit; nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    check_losses(plans, parameters.loss)
    own = noisy.local_entries(parameters, plans, data)
    words = noisy.noisy_words(session, plans, own)
    seed = noisy.simulation_seed(session, plans)
    opened = noisy.open_noisy(
        session, plans, words, recipients, release, rows_per_person=parameters.rows_per_person
    )
    return opened, seed


def check_losses(plans: Sequence[Planned], loss: Loss) -> None:
    """Check that the noise of statistics costs no more than what the ledger takes: whoever planned them.

    Raises:
        DisclosureRefused: it does.
    """
    spent = sum((planned.spent for planned in plans), Loss())
    if spent.epsilon > loss.epsilon or spent.rho > loss.rho:
        raise DisclosureRefused(
            "The statistics of the job cost more than its stated loss.",
            "Report it as a defect of the planning of statistics.",
        )
