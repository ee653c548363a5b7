"""A judgment of a release in sentences, computed of what was measured, with the conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from anonymizer.errors import list_names
from anonymizer.measures.contract.story import number, percent
from anonymizer.measures.risk.classes import Classes
from anonymizer.measures.risk.intersection import IntersectionMeasure
from anonymizer.measures.risk.persons import Prosecutor
from anonymizer.measures.risk.simulator import AttackSimulator, Looked
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.guarantee import Guarantee
from anonymizer.report.assessment import Assessment
from anonymizer.tables.table import Table

_LONG: Final = 100
_PRIVATE: Final = ("dp", "local-dp")
_NOBODYS: Final = "The rows are nobody's: no released row can be found for a person."
_UNBOUNDED: Final = "Nothing that is promised bounds what they tell of single persons."
_NOT_FOUND: Final = "How easily a person's row is found could not be measured, so that nothing is said of it."


def judgment(release: Table, assessment: Assessment, pipeline: Pipeline | None = None) -> tuple[str, ...]:
    """What an attacker can do at worst, as far as it was measured; nothing in it comes from single cells.

    Args:
        release: what was measured.
        assessment: of it.
        pipeline: that made it last, if known.

    Returns:
        The sentence that matters most first, then its conditions, and what epsilon means.
    """
    looked = assessment.of(AttackSimulator)
    promises = () if pipeline is None else pipeline.promises
    private = [_private(one) for one in promises if one.kind in _PRIVATE and one.number("epsilon")]
    if pipeline is not None and pipeline.origin_ is None:
        return (_NOBODYS, *(private or [_UNBOUNDED]))
    found = [*(_of_simulator(looked, assessment, pipeline) if looked else _of_classes(assessment, pipeline))]
    if not found:
        return (_NOT_FOUND, *private)
    conditions = _conditions(release, assessment, looked, pipeline)
    return (found[0], conditions, *_of_releases(assessment), *found[1:], *private)


def _of_simulator(found: Looked, assessment: Assessment, pipeline: Pipeline | None) -> Iterator[str]:
    one = found.simulation
    known = _name_columns("quasi-identifiers", assessment.roles.quasi_identifiers)
    if not one.found.any():
        return
    least, s = number(one.n_q), "" if one.n_q == 1 else "s"
    fit, these, mean = f"{least} released row{s} fit{'' if s else 's'} a person", "rows", "persons"
    if assessment.roles.person is not None:
        fit, these = f"the released rows that fit a person are of {least} person{s}", "persons"
        mean = "rows"
    said = (
        f"At worst {fit}: an attacker who knows {known} of the person and how the release was made, and "
        f"picks one of these {these} at random, is right with a chance of {at_most(one.risk)} at most, and "
        f"of {percent(float(one.risks.mean()))} in the mean over all {mean}."
    )
    if one.own is not None:
        said += (
            " A person with many rows is likelier than that: who picks one of the rows that fit is right "
            f"with a chance of {at_most(float(one.own.max()))} at most, and of "
            f"{percent(float(one.own.mean()))} in the mean over all rows."
        )
    yield said
    yield from _smallest(assessment, pipeline)
    for name in one.kinds:
        kinds = one.n_s(name)
        if math.isfinite(kinds):
            share = one.revealing_risk(name, probabilistic=True)
            yield (
                f"{name}: among the rows that fit a person there are {number(kinds)} different values "
                f"at worst, and the person's own makes up {at_most(share)} "
                "of them at most."
            )


def _of_classes(assessment: Assessment, pipeline: Pipeline | None) -> Iterator[str]:
    risk = assessment.of(Prosecutor)
    if risk is None or _blurs(pipeline):
        return
    known = _name_columns("quasi-identifiers", assessment.roles.quasi_identifiers)
    k = round(1 / risk.highest)
    unit, finds = "row", "finds the person's row"
    if assessment.roles.person is not None:
        unit, finds = "person", "and picks one of these persons at random, is right"
    yield (
        f"At worst {k:,} released {unit}{' is like no other' if k == 1 else 's look alike'} in {known}: an "
        f"attacker who knows these of a person, and that the person is in the release, {finds} "
        f"with a chance of {at_most(risk.highest)} at most, and of {percent(risk.average)} in the mean."
    )
    classes = assessment.of(Classes)
    for name, one in () if classes is None else classes.sensitive.items():
        if one.l == 1:
            yield f"{name}: some of these groups have one value only, which is then known without a row."
        elif one.l:
            yield f"{name}: each group has {one.l} different values or more, whatever their shares."


def _of_releases(assessment: Assessment) -> Iterator[str]:
    """What is left to somebody who has the releases that are known to have been made."""
    found = assessment.of(IntersectionMeasure)
    if found is None or found.k is None:
        return
    unit = "row" if assessment.roles.person is None else "person"
    yield (
        f"Other releases of this table are known: who has all {len(found.left):,} is left with "
        f"{found.k:,} {unit}{'' if found.k == 1 else 's'} for a person at worst, as far as it was measured."
    )


def _smallest(assessment: Assessment, pipeline: Pipeline | None) -> Iterator[str]:
    """How many rows are in the smallest classes, where classes mean something."""
    risk = assessment.of(Prosecutor)
    if risk is None or _blurs(pipeline):
        return
    k, rows = round(1 / risk.highest), int((risk.rows >= risk.highest).sum())
    unit = "row" if assessment.roles.person is None else "person"
    yield (
        f"The smallest groups of rows alike have {k:,} {unit}{'' if k == 1 else 's'} (k = {k}); {rows:,} of "
        f"{len(risk.rows):,} released rows are in groups of that size."
    )


def _blurs(pipeline: Pipeline | None) -> bool:
    """Whether cells were changed by chance, so that rows alike need not be people alike."""
    return pipeline is not None and any(method.blurs for _, method in pipeline.methods)


def _private(promise: Guarantee) -> str:
    """What epsilon means."""
    epsilon, delta = promise.number("epsilon"), promise.number("delta")
    change = {"replace": "another", "add-remove": "one more or less"}.get(promise.neighbours or "", "another")
    unit = {"cell": "cell", "person": "person (with all rows)"}.get(promise.unit, "record")
    columns = promise.over or promise.columns
    where = f" in {_name_columns('columns', columns)}" if columns else ""
    but = f", but for a probability of {delta:.3g}" if delta else ""
    return (
        f"Differential privacy: {change} {unit}{where} changes the probability of what is released by a "
        f"factor of {_up(math.exp(epsilon))} at most (epsilon = {epsilon:.6g}){but}, whatever an attacker "
        f"knows. {promise.condition}".strip()
    )


def _conditions(
    release: Table, assessment: Assessment, looked: Looked | None, pipeline: Pipeline | None
) -> str:
    roles = assessment.roles
    others = [name for name in release.names if name not in (*roles.quasi_identifiers, *roles.identifiers)]
    said = ["each person is one row", "nobody has another release of the same people"]
    if roles.person is not None:
        said[0] = f"{_name_columns('column', [roles.person])} says whose each row is"
        if looked is None:
            said.insert(1, "each of these persons is as likely, however many rows the person has")
    if others:
        said.append(f"the attacker does not know {_name_columns('other columns', others)} of the person")
    if pipeline is None:
        said.append(
            "no cell was changed by noise or exchange, since it is not known how the release was made"
        )
    elif pipeline.sampling_rate < 1:
        said.append("nobody knows who was drawn into the sample")
    if looked is not None and looked.part:
        said.append(f"none of the others is worse than the {looked.records:,} of {looked.total:,} looked for")
    return f"This holds if {_join(said)}."


def _name_columns(what: str, names: Sequence[str]) -> str:
    """Columns in a sentence that has to stay short; only what they are and how many if names are long."""
    text = list_names(names)
    return text if len(text) <= _LONG else f"the {len(names):,} {what}"


def _join(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', if '.join(said[:-1])} and if {said[-1]}"


def at_most(chance: float) -> str:
    """An upper bound in percent, rounded up to three digits; also as `1 in n` if n is a whole number."""
    many = 1 / chance if chance > 0 else math.nan
    whole = f"1 in {round(many):,}" if many > 1 and math.isclose(many, round(many), rel_tol=1e-9) else ""
    part = f"{_up(100 * chance)} %"
    return f"{whole} ({part})" if whole else part


def _up(value: float) -> str:
    """A positive number rounded up to three digits."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.6g}"
