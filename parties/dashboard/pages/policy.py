"""Policy: the rules as they hold, their warnings, and how they would judge a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.audit_terms import COVERT
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.checking import unconfirmed_columns
from parties.dashboard.drawing import words
from parties.dashboard.drawing.desk import Context, fields, form, redirect, render
from parties.dashboard.pages.persons import describe_unsigned
from parties.errors import PolicyError
from parties.ledger.accounting import show_number
from parties.plugins import load_plugins, with_plugins
from parties.policy.drafting import NoisyRule, add_rule, complete_rule
from parties.policy.risks import risks
from parties.policy.rules import Rule, load_policy
from smc.errors import DuettoError


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return _render_page(desk, request)


def attempt(desk: Context, request: Request) -> Response:
    """Hold a job against every condition of every rule; nothing is proposed."""
    text = form(request).get("text", "").replace("\r\n", "\n") + "\n"
    try:
        return _render_page(desk, request, text=text, report=desk.party.check(text))
    except DuettoError as error:
        said = {"what": error.what, "hint": error.hint}
        return _render_page(desk, request, code=409, text=text, wrong=said)


def allow(desk: Context, request: Request) -> Response:
    """Add a rule that allows noisy results; what is in the file stays as it is."""
    sent, config = form(request), desk.config
    asked = NoisyRule(
        name=sent.get("name", "").strip(),
        analysis=sent.get("analysis", ""),
        peer=sent.get("peer", ""),
        dataset=sent.get("dataset", ""),
        columns=tuple(fields(request).get("column", ())),
        epsilon_per_job=_number(sent, "epsilon_per_job"),
        epsilon_total=_number(sent, "epsilon_total"),
        needs_person=sent.get("approval") != "auto",
    )
    problems = {name: _wrong_budget(getattr(asked, name)) for name in ("epsilon_per_job", "epsilon_total")}
    if not asked.columns:
        problems["column"] = "Tick the columns that jobs may use."
    problems = {name: problem for name, problem in problems.items() if problem}
    if not problems:
        try:
            add_rule(config.policy, complete_rule(config, asked))
        except PolicyError as error:
            problems["name"] = f"{error.what} {error.hint}"
        except DuettoError as error:
            problems[""] = f"{error.what} {error.hint}"
        else:
            return redirect("/policy")
    return _render_page(desk, request, asked=asked, problems=problems)


def _number(sent: Mapping[str, str], name: str) -> str:
    """A number as it was typed; a decimal comma is taken for a point."""
    return sent.get(name, "").strip().replace(",", ".")


def _wrong_budget(text: str) -> str:
    """What is wrong with an epsilon as it was typed; empty if nothing."""
    try:
        is_right = Fraction(text) > 0
    except (ValueError, ZeroDivisionError):
        is_right = False
    return "" if is_right else "Write a number above 0, such as 1, 0.5 or 1/2."


def _render_page(desk: Context, request: Request, code: int = 200, **more: Any) -> Response:
    config = desk.config
    rules = load_policy(config.policy)
    datasets = load_catalog(config.catalog).datasets.values()
    declared = {d.name: {name: column.schema for name, column in d.columns.items()} for d in datasets}
    return render(
        desk,
        request,
        "policy.html",
        code=code,
        file=config.policy,
        rules=[(rule.name, in_words(rule)) for rule in rules.rules],
        warnings=risks(rules, declared),
        unsigned=describe_unsigned(desk),
        analyses=sorted(with_plugins(load_plugins(config.plugins))),
        peers=[peer.name for peer in config.peers],
        datasets=[(one, unconfirmed_columns(one)) for one in datasets],
        is_chosen="dataset" in request.query_params,
        chosen=request.query_params.get("dataset") or next((one.name for one in datasets), ""),
        **({"text": "", "report": None, "asked": None, "problems": {}, "wrong": None} | more),
    )


def in_words(rule: Rule) -> list[str]:
    """What a rule allows, as sentences."""
    who = " and ".join(
        {"self": "this party", "peer": "the peer"}[one] for one in sorted(rule.recipients, reverse=True)
    )
    said = [
        f"Allows {_names(rule.analyses, 'any analysis')} with {_names(rule.peers, 'any peer')} on "
        f"{_names(rule.datasets, 'any data set')}, columns {_names(rule.columns, 'any')}; results for {who}.",
        _approvers(rule),
    ]
    if rule.types is not None:
        said.append(f"Comparisons of these types only: {', '.join(rule.types)}.")
    said += [
        f"The parameter {name} has to be {' or '.join(values)}." for name, values in rule.parameters.items()
    ]
    for column_use, names in (("Rows are matched by", rule.keys), ("Figures are about", rule.values)):
        if names is not None:
            said.append(f"{column_use} {_names(names, 'any column')} only.")
    if rule.queries is not None:
        said.append(f"Kinds of figures: {_names(rule.queries, 'any')}.")
    if rule.may_state is not None:
        said.append(f"A job may state: {_names(frozenset(w.value for w in rule.may_state), 'anything')}.")
    if rule.budget.epsilon:
        said.append(
            f"With noise: epsilon up to {show_number(rule.per_job.epsilon)} a job, and "
            f"{show_number(rule.budget.epsilon)} in total at delta {show_number(rule.budget.delta)}."
        )
    if rule.exact_aggregates:
        said.append("Exact figures about groups are allowed.")
    if rule.figures_per_job > 1:
        said.append(f"A plan holds at most {rule.figures_per_job} exact figures.")
    if rule.row_results:
        said.append("Results about single rows are allowed.")
    said += _describe_audits(rule)
    if rule.answers_total is not None:
        said.append(f"A local model answers at most {rule.answers_total} rows of a peer in all.")
    if rule.minimum_rows:
        said.append(f"The data set has at least {rule.minimum_rows} persons.")
    said += words.limits(asdict(rule.limits))
    runs = [(rule.runs_per_day, "a day"), (rule.runs_total, "in all")]
    said += [f"At most {count} runs {span}." for count, span in runs if count is not None]
    return said


def _describe_audits(rule: Rule) -> list[str]:
    """Who may audit runs, as sentences."""
    said = ["Only covert jobs, whose runs can be audited."] if rule.security == COVERT else []
    if rule.auditors:
        names, least = " or ".join(sorted(rule.auditors)), f"; at least {rule.audit_rate} of the runs"
        said.append(f"Covert jobs are audited by {names}{least if rule.audit_rate else ''}.")
    return said


def _approvers(rule: Rule) -> str:
    if (needed := rule.needed) is None:
        return "A person approves each job." if rule.needs_person else "No person is asked."
    role, number = needed.role.value, needed.count
    return f"One {role} approves each job." if number == 1 else f"{number} {role}s approve each job."


def _names(names: frozenset[str], anything: str) -> str:
    return anything if "*" in names else ", ".join(sorted(names)) or "none"
