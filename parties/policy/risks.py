"""What a policy gives away that its rules do not say in so many words, for whoever writes them.

Rules are looked at as far as results go to the peer: comparisons of a column by all rules together, all else
by each rule alone. The peer learns whether limits hold, whoever gets results, so jobs that match rows are
looked at in every rule. What several peers could do together is not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from parties.policy.conditions import fits
from parties.policy.rules import RATIO_OF_LIKENESS, Policy, Rule
from smc.analyses.comparison.bisection import findable_values, jobs_to_find, possible_values
from smc.analyses.comparison.parameters import NUMBERS
from smc.analyses.registry import ANALYSES, CHOSEN_ROWS, OF_MANY_FIGURES
from smc.analyses.studies.columns import Schema
from smc.forms import Holding, Role, all_types

Declared = Mapping[str, Mapping[str, Schema]]
"""The local columns, by data set."""

MAX_EPSILON: Final = 20
"""With a larger epsilon in total, noise hides nobody: odds may change by a factor of e**20."""

FEW: Final = 10
"""A value that is one of fewer is as good as found."""

MAX_ASKED: Final = 20
"""More questions about single persons, as whether they are there, a peer should not ask."""

_KINDS: Final = {
    Holding.PLAIN: NUMBERS,
    Holding.SHARE: ("share",),
    Holding.CIPHERTEXT: ("ciphertext",),
}


@dataclass(frozen=True, slots=True)
class Risk:
    """Something that a rule gives away.

    Attributes:
        rule: its name.
        key: the entry that would fix it.
        what: what the peer can do.
        hint: what to write.
    """

    rule: str
    key: str
    what: str
    hint: str


def risks(policy: Policy, declared: Declared) -> tuple[Risk, ...]:
    """The risks of all rules, in their order.

    Args:
        policy: the rules.
        declared: the columns of the local catalog; comparisons are judged by their bounds.
    """
    open_to_peer = [rule for rule in policy.rules if "peer" in rule.recipients]
    choosing = [rule for rule in open_to_peer if rule.row_results]
    reaches = [_Reach(rule, _reachable(rule, declared) if rule.row_results else {}) for rule in open_to_peer]
    found: dict[str, list[Risk]] = {rule.name: [] for rule in policy.rules}
    for reach in reaches:
        found[reach.rule.name] += _risks(reach, reaches)
    for rule in choosing:
        found[rule.name] += _chosen_rows(rule, declared)
    for rule in policy.rules:
        found[rule.name] += _asked_limits(rule)
    return tuple(risk for every in found.values() for risk in every)


@dataclass(frozen=True, slots=True)
class _Reach:
    """A rule, and how many values each column can have that the peer can bisect by it."""

    rule: Rule
    columns: Mapping[str, int]

    def shares(self, other: _Reach) -> bool:
        """Whether a peer can use both rules on a column."""
        peers, theirs = self.rule.peers, other.rule.peers
        return bool(peers & theirs or "*" in peers | theirs) and not self.columns.keys().isdisjoint(
            other.columns
        )


def _risks(reach: _Reach, every: Sequence[_Reach]) -> Iterator[Risk]:
    rule, limits = reach.rule, reach.rule.limits
    exact, by_row = rule.exact_aggregates, rule.row_results
    planned = rule.figures_per_job * (rule.runs_total or 0)
    peers = _peers(rule)
    helping = [other for other in every if other is not reach and reach.shares(other)]
    also = " and ".join(repr(other.rule.name) for other in helping)
    bisected = _bisect(reach.columns, [reach, *helping])
    names = " or ".join(reach.columns)
    candidates = (
        (
            bool(bisected),
            "runs_total",
            f"lets {peers}{f', together with {also},' if also else ''} {bisected}",
            "Lower runs_total, or name types whose result stays shared.",
        ),
        (
            bool(reach.columns) and rule.minimum_rows < 2,
            "minimum_rows",
            f"lets {peers} find {names} in a single job where a data set has one row",
            "Set minimum_rows = 2 or more.",
        ),
        (
            by_row and not rule.needs_person,
            "approval",
            f"tells {peers} about single rows, and nobody is asked",
            'Write approval = "person".',
        ),
        (
            exact and limits.minimum_group < 2,
            "minimum_group",
            f"shows {peers} exact figures that may be about a single person",
            "Set minimum_group = 10.",
        ),
        (
            exact and limits.minimum_intersection < 2 <= limits.minimum_group,
            "minimum_intersection",
            f"shows {peers} the size of an intersection of a single person",
            "Leave minimum_intersection out: it is minimum_group then.",
        ),
        (
            exact and limits.dominance == 1,
            "dominance",
            f"shows {peers} exact sums that may be one person's value",
            'Write dominance = "0.8".',
        ),
        (
            exact and not rule.has_runs,
            "runs_total",
            f"allows no exact figures, since it does not bound the runs: {peers} could subtract any number "
            "of them from each other",
            "Set runs_total = 5, or as many as may lie side by side.",
        ),
        (
            exact and "*" in (rule.keys or ()),
            "keys",
            f"lets {peers} ask whether anybody has a value, by the size of an intersection over a column "
            "that many persons share",
            "Name in keys only columns that tell persons apart, or leave it out.",
        ),
        (
            exact and rule.has_runs and _asks(rule),
            "runs_total",
            f"lets {peers} ask {rule.runs_total} questions about persons whom it knows, such as whether one "
            "smokes: by whether a table with a condition or bins of its choice is refused, one bit a run",
            f"Lower runs_total to {MAX_ASKED} or less.",
        ),
        (
            exact and rule.has_runs and rule.figures_per_job > 1 and planned > MAX_ASKED,
            "figures_per_job",
            f"shows {peers} up to {planned} exact figures side by side, by {rule.runs_total} plans of "
            f"{rule.figures_per_job}",
            f"Lower runs_total or figures_per_job, so that their product is {MAX_ASKED} or less.",
        ),
        (
            (exact or by_row) and not limits.maximum_ratio,
            "maximum_ratio",
            f"lets {peers} match any number of guessed keys with the local ones",
            "Leave maximum_ratio out, or write a small number.",
        ),
        (
            rule.budget.epsilon > MAX_EPSILON,
            "epsilon_total",
            f"lets {peers} spend more than epsilon {MAX_EPSILON}, at which noise hides nobody",
            "Lower epsilon_total.",
        ),
    )
    for holds, key, what, hint in candidates:
        if holds:
            yield Risk(rule.name, key, f"rule {rule.name!r} {what}", hint)


def _chosen_rows(rule: Rule, declared: Declared) -> Iterator[Risk]:
    """What the peer finds in a single job by rows of its choice."""
    sizes = _possible(rule, declared, NUMBERS)
    for analysis, choosers in CHOSEN_ROWS.items():
        for chooser in choosers if {analysis, "*"} & rule.analyses else ():
            usual = {} if chooser.explicit else chooser.parameters
            if not all(
                word in rule.parameters.get(name, (usual.get(name, ""),))
                for name, word in chooser.parameters.items()
            ):
                continue
            peers, method = _peers(rule), " ".join(chooser.parameters.values())
            if chooser.every_value and sizes:
                columns = ", ".join(f"{name} by {count} rows" for name, count in sizes.items())
                what = (
                    f"lets {peers} find every value of a column in one job with rows of its choice: {columns}"
                )
                hint = f"Leave {method} out of parameters, or columns that the peer may not know whole."
                yield Risk(rule.name, "parameters", f"rule {rule.name!r} {what}", hint)
            elif (
                not chooser.every_value
                and rule.has_ratio
                and not 0 < rule.limits.maximum_ratio <= RATIO_OF_LIKENESS
            ):
                what = (
                    f"lets {peers} find fields of persons whom it knows in one job ({method}), by bringing "
                    "many variants of each record"
                )
                hint = "Leave maximum_ratio out: it is 2 then."
                yield Risk(rule.name, "maximum_ratio", f"rule {rule.name!r} {what}", hint)


def _asked_limits(rule: Rule) -> Iterator[Risk]:
    """What whether limits hold tells of persons whose keys the peer brings, one bit for each run.

    It needs no limits of this party: the peer's hold as well.
    """
    matching = {name for name, analysis in ANALYSES.items() if analysis.always_matches}
    foreign = rule.analyses - set(ANALYSES)  # "*", and those of plug-ins, which may match rows
    if not rule.analyses & matching and not foreign:
        return
    peers = _peers(rule)
    if rule.runs_total is None or not rule.has_runs:
        what = (
            "allows no job that matches rows, since it does not bound the runs: in each "
            f"{peers} could ask whether a person is there"
        )
        hint = "Set runs_total = 5, or as many as may be asked about."
    elif rule.runs_total > MAX_ASKED:
        what = (
            f"lets {peers} ask of {rule.runs_total} persons whether they are there, by whether limits hold "
            "in as many runs"
        )
        hint = "Lower runs_total."
    else:
        return
    yield Risk(rule.name, "runs_total", f"rule {rule.name!r} {what}", hint)


def _asks(rule: Rule) -> bool:
    """Whether a rule allows many statistics."""
    return bool((OF_MANY_FIGURES | {"*"}) & rule.analyses) and (rule.runs_total or 0) > MAX_ASKED


def _peers(rule: Rule) -> str:
    return "any peer" if "*" in rule.peers else " and ".join(sorted(rule.peers)) or "nobody"


def _bisect(columns: Mapping[str, int], reaches: Sequence[_Reach]) -> str:
    """What columns of so many possible values lose by all runs under some rules; empty if little."""
    found_out: list[str] = []
    narrowed: list[str] = []
    for name, values in columns.items():
        runs = sum(reach.rule.runs_total or 0 for reach in reaches if name in reach.columns)
        jobs = jobs_to_find(values)
        left = -(-values // (1 << min(runs, jobs)))
        if runs >= jobs:
            found_out.append(f"every value of {name} in {jobs} jobs")
        elif left < FEW:
            narrowed.append(f"every value of {name} to {left} of {values} in {runs} jobs")
    parts = (("find", found_out), ("narrow down", narrowed))
    return ", and ".join(f"{verb} {' and '.join(texts)}" for verb, texts in parts if texts)


def _reachable(rule: Rule, declared: Declared) -> dict[str, int]:
    """How many values each column can have that the peer can bisect; the least over data sets."""
    kinds: set[str] = set()
    for kind in all_types():
        if not any(fits(pattern, kind) for pattern in rule.types or ()):
            continue
        for role in Role:
            for name in findable_values(kind, role.other):
                held = (kind.x if name == "x" else kind.y).holding(role)
                kinds.update(_KINDS.get(held, ()))
    return _possible(rule, declared, kinds)


def _possible(rule: Rule, declared: Declared, kinds: Collection[str]) -> dict[str, int]:
    """How many values the columns of some kinds can have that a rule allows; the least over data sets."""
    reachable: dict[str, int] = {}
    for dataset, columns in declared.items():
        if not {dataset, "*"} & rule.datasets:
            continue
        for name, schema in columns.items():
            values = possible_values(schema)
            if {name, "*"} & rule.columns and schema.kind in kinds and values is not None:
                reachable[name] = min(values, reachable.get(name, values))
    return reachable
