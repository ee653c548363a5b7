"""Checks of analyses: that what a study states of itself is what its runs do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import Gate, open_gate
from smc.analyses.registry import registered, study_of
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.study import Analysis, Study
from smc.channel.channel import Channel, Traffic
from smc.errors import DisclosureRefused, DuettoError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.session import Session
from smc.testing.demands import ConformanceError, demand

BOTH: Final = frozenset(Role)
_MANY: Final = 1 << 20
"""A smallest group that no case reaches."""


@dataclass(frozen=True, slots=True)
class Case:
    """A job to check an analysis on.

    Attributes:
        parameters: the `[parameters]` of a job file.
        alice: Alice's columns, by their names in the job.
        bob: Bob's columns, as many rows.
        other: other data of Alice with the same declarations and numbers of rows; with them a run has to
            send as much as with the first ones. None where the case has none.
        recipients: who gets results.
        compare: whether the results of a run are those of the reference; not where they are noisy, or hold
            random numbers.
    """

    parameters: Mapping[str, Any]
    alice: Data = field(repr=False)
    bob: Data = field(repr=False)
    other: Data | None = field(default=None, repr=False)
    recipients: frozenset[Role] = BOTH
    compare: bool = True


class GateClosedError(DuettoError):
    """Raised by the gate of a check: nothing may be opened."""


def check_analysis(analysis: Analysis, case: Case) -> tuple[str, ...]:
    """Run all checks of an analysis on one job, both parties in this process.

    What it cannot check: that the figures are about as many persons as the analysis says, and that the peer
    learns nothing but what the leakage statement has. Only reading the code shows that.

    Args:
        analysis: the analysis.
        case: a job that runs to its end without limits.

    Returns:
        The names of the checks, all passed.

    Raises:
        ConformanceError: a check failed. Another error is the analysis' own, in a run that has to succeed.
    """
    registered((analysis,))
    study = study_of(analysis, case.parameters)
    for check in _CHECKS:
        check(analysis, study, case)
    return tuple(check.__name__ for check in _CHECKS)


def unknown_parameters_are_refused(analysis: Analysis, study: Study, case: Case) -> None:
    """A misspelt parameter must not be ignored."""
    del study
    try:
        analysis.parse({**case.parameters, "no-such-parameter": 1})
    except UsageError:
        return
    raise ConformanceError(
        "parse takes an unknown parameter.", "Call smc.analyses.studies.parameters.reject_unknown in it."
    )


def columns_are_named(analysis: Analysis, study: Study, case: Case) -> None:
    """The case brings the columns that the study asks for, and no others."""
    del analysis
    for role, data in _sides(case).items():
        given, asked = set(data) - {PERSONS}, set(study.columns[role])
        demand(
            given == asked,
            f"The study asks {role.value} for the columns {sorted(asked)}; the case has {sorted(given)}.",
            "Correct the study's columns, or the case.",
        )


def statements_are_made(analysis: Analysis, study: Study, case: Case) -> None:
    """Declarations fit, recipients are checked, and those who get something learn something."""
    del analysis
    study.check(*(_schemas(data) for data in _sides(case).values()))
    study.check_recipients(case.recipients)
    facts = study.facts(case.recipients)
    leakage = study.leakage(case.recipients)
    opens = facts.exact or facts.row_results or bool(facts.loss)
    for role, learns in ((Role.ALICE, leakage.alice), (Role.BOB, leakage.bob)):
        demand(
            bool(learns) or role not in case.recipients or not opens,
            f"{role.value.title()} gets a result, and the leakage statement says that it learns nothing.",
            "Say in leakage what a recipient learns, one sentence for each thing.",
        )


def a_check_agrees_with_the_run(analysis: Analysis, study: Study, case: Case) -> None:
    """What `preview` says of the local rows is what the run does, without limits and with strict ones."""
    del analysis
    for limits in (NO_LIMITS, Limits(minimum_set=_MANY), Limits(minimum_group=_MANY)):
        checked = _checked(study, case, limits)
        try:
            _run(study, case, limits)
            met = None
        except DuettoError as error:
            met = error
        if limits == NO_LIMITS and met is not None:
            raise met
        demand(
            checked is None or met is not None,
            f"preview refuses rows that a run takes: {checked}",
            "Refuse in preview what run refuses, and nothing else.",
        )
        demand(
            limits == NO_LIMITS or not study.facts(case.recipients).matches or checked is not None,
            "preview takes rows that are too few to be matched under minimum_set.",
            "Call limits.check_sets in it.",
        )


def limits_hold(analysis: Analysis, study: Study, case: Case) -> None:
    """Exact figures about fewer persons than the policies ask for are refused, or withheld as a whole."""
    del analysis
    if not study.facts(case.recipients).exact:
        return
    try:
        outcomes, _ = _run(study, case, Limits(minimum_group=_MANY))
    except DisclosureRefused:
        return
    numbers = [
        cell
        for outcome in outcomes
        for table in outcome.tables
        for column in table.columns.values()
        for cell in column
        if isinstance(cell, int | float) and not isinstance(cell, bool)
    ]
    demand(
        not any(numbers),
        f"Exact figures come out although no group has {_MANY} persons.",
        "Open them with Groups(persons=...) that counts the persons behind them.",
    )


def nothing_is_opened_before_the_gate(analysis: Analysis, study: Study, case: Case) -> None:
    """Where the ledger refuses, the run ends with that refusal."""
    del analysis

    def closed(channel: Channel) -> None:
        del channel
        raise GateClosedError("The gate is closed.")

    try:
        _run(study, case, NO_LIMITS, closed)
    except GateClosedError:
        return
    raise ConformanceError(
        "A run ends with a result although the gate refused.", "Do not catch the errors of the release."
    )


def the_estimate_is_what_a_run_sends(analysis: Analysis, study: Study, case: Case) -> None:
    """Rounds and bytes are those that `cost` states, where both sides bring as many rows."""
    del analysis
    sides = _sides(case)
    rows = {len(column) for data in sides.values() for column in data.values()}
    if len(rows) != 1:
        return
    schemas = {name: schema for data in sides.values() for name, schema in _schemas(data).items()}
    estimate = study.cost(schemas, case.recipients, rows.pop(), 2048, NO_LIMITS)
    _, (alice, bob) = _run(study, case, NO_LIMITS)
    stated = (estimate.rounds, estimate.alice_bytes, estimate.bob_bytes)
    measured = (max(alice.rounds, bob.rounds), alice.sent, bob.sent)
    demand(
        stated == measured,
        f"cost states {stated} rounds and bytes of Alice and Bob, and a run takes {measured}.",
        "Correct cost: it is what people decide by.",
    )


def sizes_do_not_depend_on_values(analysis: Analysis, study: Study, case: Case) -> None:
    """With other data of the same shape a run sends as much, each way."""
    del analysis
    if case.other is None:
        return
    _, first = _run(study, case, NO_LIMITS)
    _, second = _run(study, Case(case.parameters, case.other, case.bob, None, case.recipients), NO_LIMITS)
    demand(
        [(one.sent, one.rounds) for one in first] == [(one.sent, one.rounds) for one in second],
        "What a run sends depends on values that are to be secret.",
        "Let sizes follow from row counts, declarations and parameters alone.",
    )


def recipients_get_what_the_reference_says(analysis: Analysis, study: Study, case: Case) -> None:
    """A run gives the tables of the reference, and none to a party that is not a recipient."""
    del analysis
    found, _ = _run(study, case, NO_LIMITS)
    expected = study.reference(case.alice, case.bob, case.recipients)
    for role, outcome, wanted in zip(Role, found, expected, strict=True):
        demand(
            role in case.recipients or not (outcome.tables or wanted.tables),
            f"{role.value.title()} is not a recipient and gets a table.",
            "Return an Outcome without tables where the release gives None.",
        )
        demand(
            [table.name for table in outcome.tables] == [table.name for table in wanted.tables]
            and (not case.compare or outcome.tables == wanted.tables),
            f"{role.value.title()} gets other tables from a run than from the reference.",
            "Correct the one that is wrong.",
        )


_CHECKS: Final = (
    unknown_parameters_are_refused,
    columns_are_named,
    statements_are_made,
    a_check_agrees_with_the_run,
    limits_hold,
    nothing_is_opened_before_the_gate,
    the_estimate_is_what_a_run_sends,
    sizes_do_not_depend_on_values,
    recipients_get_what_the_reference_says,
)


def _sides(case: Case) -> dict[Role, Data]:
    return {Role.ALICE: case.alice, Role.BOB: case.bob}


def _schemas(data: Data) -> dict[str, Schema]:
    return {name: column.schema for name, column in data.items() if name != PERSONS}


def _checked(study: Study, case: Case, limits: Limits) -> DuettoError | None:
    """The first refusal of a preview."""
    sides = _sides(case)
    found = (study.preview(sides[role], role, limits, _schemas(sides[role.other])).refusal for role in Role)
    return next((refusal for refusal in found if refusal is not None), None)


def _run(
    study: Study, case: Case, limits: Limits, gate: Gate = open_gate
) -> tuple[tuple[Outcome, Outcome], tuple[Traffic, Traffic]]:
    """What both parties get, and what each has sent."""
    sides = _sides(case)

    def side(session: Session) -> tuple[Outcome, Traffic]:
        outcome = run_study(study, session, sides[session.role], case.recipients, limits, gate)
        return outcome, session.channel.traffic

    (first, sent), (second, answered) = run_pair(side, timeout=120)
    return (first, second), (sent, answered)
