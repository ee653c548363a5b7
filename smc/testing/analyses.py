"""Checks of analyses: that what a study states of itself is what its runs do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.registry import register
from smc.analyses.studies.columns import PERSONS, Data
from smc.analyses.studies.outcome import Table
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Analysis, Study
from smc.analyses.studies.traced import estimate_cost
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.errors import DisclosureRefused, DuettoError, UsageError
from smc.forms import Role
from smc.secret.sharing.opening import OpenedBits, OpenedShares
from smc.testing import statements
from smc.testing.case import Case, other_orders, reorder, run_case, schemas_of, sides_of
from smc.testing.demands import ConformanceError, demand

_MANY: Final = 1 << 20
"""A smallest group that no case reaches."""
_RUNS: Final = 30
"""So often in a row noise of an epsilon up to 1 gives the same results once in 2**33 cases at most."""


class GateClosedError(DuettoError):
    """Raised by the gate of a check: nothing may be opened."""


def check_analysis(analysis: Analysis, case: Case) -> tuple[str, ...]:
    """Run all checks of an analysis on one job, both parties in this process.

    What it cannot check: that the figures are about as many persons as the analysis says, that noise is as
    large as the stated loss needs, that rows are matched where the facts say so, and that the peer learns
    nothing but what the leakage statement has. Only reading the code shows that.

    Args:
        analysis: the analysis.
        case: a job that runs to its end without limits. Rows whose values differ show more; a noisy job
            should have an epsilon of at most 1.

    Returns:
        The names of the checks, all passed.

    Raises:
        ConformanceError: a check failed. Another error is the analysis' own, in a run that has to succeed.
    """
    statements.check_name(analysis)
    register((analysis,))
    study = analysis.parse(case.parameters)
    statements.check_study(study)
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
    except Exception as problem:
        raise ConformanceError(
            f"parse raises {type(problem).__name__} at an unknown parameter, and not UsageError.",
            "Call smc.analyses.studies.parameters.reject_unknown first in it.",
        ) from problem
    raise ConformanceError(
        "parse accepts an unknown parameter.", "Call smc.analyses.studies.parameters.reject_unknown in it."
    )


def columns_are_named(analysis: Analysis, study: Study, case: Case) -> None:
    """The case brings the columns that the study asks for, and no others."""
    del analysis
    statements.check_columns(study)
    for role, data in sides_of(case).items():
        given, asked = set(data) - {PERSONS}, set(study.columns[role])
        demand(
            given == asked,
            f"The study asks {role.value} for the columns {sorted(asked)}; the case has {sorted(given)}.",
            "Correct the study's columns, or the case.",
        )


def statements_are_made(analysis: Analysis, study: Study, case: Case) -> None:
    """Declarations fit, recipients are checked, and those who get something learn something."""
    study.check(*(schemas_of(data) for data in sides_of(case).values()))
    study.check_recipients(case.recipients)
    facts = study.facts(case.recipients)
    leakage = study.leakage(case.recipients)
    statements.check_facts(analysis, study, facts)
    statements.check_leakage(leakage)
    opens = facts.exact is not None or facts.row_results or bool(facts.loss)
    for role, learns in ((Role.ALICE, leakage.alice), (Role.BOB, leakage.bob)):
        demand(
            bool(learns) or role not in case.recipients or not opens,
            f"{role.value.title()} gets a result, and the leakage statement says that it learns nothing.",
            "Say in leakage what a recipient learns, one sentence for each thing.",
        )


def rows_are_paired_as_stated(analysis: Analysis, study: Study, case: Case) -> None:
    """Where rows belong together by their position, the facts have to say so, or a daemon leaves rows out.

    Results that stay the same when the rows of both sides change places alike, and do not when those of one
    side do, come from rows that are paired. Results about single rows are not looked at.
    """
    del analysis
    facts = study.facts(case.recipients)
    stable = case.compare or facts.loss
    lengths = {len(column) for data in sides_of(case).values() for column in data.values()}
    if facts.pairs_by_position or facts.row_results or not stable or len(lengths) != 1:
        return
    right = _open(study, case.alice, case.bob, case)
    if any(_open(study, case.alice, case.bob, case) != right for _ in range(4)):
        return  # a reference that draws random numbers shows nothing here
    for order in other_orders(lengths.pop()):
        alice, bob = reorder(case.alice, order), reorder(case.bob, order)
        demand(
            _open(study, alice, bob, case) != right or _open(study, alice, case.bob, case) == right,
            "The facts say that rows are not paired by their position, and results depend on it.",
            "Set pairs_by_position in the facts: rows with missing cells would be left out on one side only.",
        )


def a_check_agrees_with_the_run(analysis: Analysis, study: Study, case: Case) -> None:
    """What `preview` says of the local rows is what the run does, without limits and with strict ones."""
    del analysis
    facts = study.facts(case.recipients)
    known = facts.pairs_by_position or facts.matches  # as many persons as local rows at most
    strict = (Limits(minimum_set=_MANY), *([Limits(minimum_group=_MANY)] if facts.exact else []))
    for limits in (NO_LIMITS, *strict):
        checked = _check(study, case, limits)
        try:
            run_case(study, case, limits)
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
            checked is not None or not (known and isinstance(met, DisclosureRefused)),
            f"preview takes rows that a run refuses: {met}",
            "Call limits.check_sets or limits.check_persons in it, as the run does.",
        )


def limits_hold(analysis: Analysis, study: Study, case: Case) -> None:
    """Exact figures about fewer persons than the policies ask for are refused, or withheld as a whole."""
    del analysis
    if not study.facts(case.recipients).exact:
        return
    try:
        outcomes, _ = run_case(study, case, Limits(minimum_group=_MANY, minimum_intersection=_MANY))
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
    """Where the ledger refuses, the run ends with that refusal, and no share was opened before."""
    del analysis
    opened: list[str] = []

    def close(channel: Channel) -> None:
        del channel
        raise GateClosedError(
            "The gate is closed.", "Let the error through: this check closes the gate on purpose."
        )

    def see(message: Message) -> None:
        if isinstance(message, OpenedShares | OpenedBits):
            opened.append(message.kind())

    try:
        run_case(study, case, NO_LIMITS, close, see)
    except GateClosedError:
        demand(not opened, "A run opens values past its release.", "Open them with release.open.")
        return
    raise ConformanceError(
        "A run ends with a result although the gate refused.",
        "Let errors of the release through, rather than catch them.",
    )


def noise_is_drawn(analysis: Analysis, study: Study, case: Case) -> None:
    """Where the facts state a loss and nothing exact, runs differ."""
    del analysis
    facts = study.facts(case.recipients)
    if not facts.loss or facts.exact or facts.row_results:
        return
    first, _ = run_case(study, case, NO_LIMITS)
    for _ in range(_RUNS):
        again, _ = run_case(study, case, NO_LIMITS)
        if [one.tables for one in again] != [one.tables for one in first]:
            return
    raise ConformanceError(
        f"{_RUNS + 1} runs gave the same results, although the facts state a loss: they have no noise.",
        "Add noise before they are opened; or check a case with an epsilon of at most 1.",
    )


def the_estimate_is_what_a_run_sends(analysis: Analysis, study: Study, case: Case) -> None:
    """Rounds and bytes are those that `cost` states, where both sides bring as many rows."""
    del analysis
    sides = sides_of(case)
    rows = {len(column) for data in sides.values() for column in data.values()}
    if len(rows) != 1:
        return
    (each,) = rows
    schemas = {name: schema for data in sides.values() for name, schema in schemas_of(data).items()}
    estimate = estimate_cost(study, schemas, case.recipients, RunSetting((each, each)))
    statements.check_estimate(estimate)
    _, (alice, bob) = run_case(study, case, NO_LIMITS)
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
    _, first = run_case(study, case, NO_LIMITS)
    _, second = run_case(study, replace(case, alice=case.other), NO_LIMITS)
    demand(
        [(one.sent, one.rounds) for one in first] == [(one.sent, one.rounds) for one in second],
        "What a run sends depends on values that are to be secret.",
        "Let sizes follow from row counts, declarations and parameters alone.",
    )


def recipients_get_what_the_reference_says(analysis: Analysis, study: Study, case: Case) -> None:
    """A run gives the tables of the reference, and none to a party that is not a recipient."""
    del analysis
    found, _ = run_case(study, case, NO_LIMITS)
    expected = study.reference(case.alice, case.bob, case.recipients)
    for outcome in (*found, *expected):
        statements.check_outcome(outcome)
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
    rows_are_paired_as_stated,
    a_check_agrees_with_the_run,
    limits_hold,
    nothing_is_opened_before_the_gate,
    noise_is_drawn,
    the_estimate_is_what_a_run_sends,
    sizes_do_not_depend_on_values,
    recipients_get_what_the_reference_says,
)


def _open(study: Study, alice: Data, bob: Data, case: Case) -> list[tuple[Table, ...]]:
    """The tables of the reference."""
    return [outcome.tables for outcome in study.reference(alice, bob, case.recipients)]


def _check(study: Study, case: Case, limits: Limits) -> DuettoError | None:
    """The first refusal of a preview."""
    sides = sides_of(case)
    found = [study.preview(sides[role], role, limits, schemas_of(sides[role.other])) for role in Role]
    for preview in found:
        statements.check_preview(preview)
    return next((preview.refusal for preview in found if preview.refusal is not None), None)
