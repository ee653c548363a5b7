"""Who learns what from a tolerant matching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.limits import ASKED
from smc.analyses.matching.tolerant.histogram import FLOOR, NEIGHBOURS
from smc.analyses.matching.tolerant.parameters import GREEDY, LARGEST, NONE, TolerantParameters
from smc.analyses.records.numbers import text
from smc.analyses.studies.study import Leakage
from smc.forms import Role

_PARTNER: Final = "and for each a number that stands for the other side's row in this run alone"
_PASSES: Final = (
    "of each pair in which passes its rows met: that their blocking keys agree, or their hashes happen to"
)
_NEAREST: Final = (
    "by bringing many variants of a record: which of them is nearest, and so fields of the other side's"
)
_LEARNS: Final[Mapping[str, tuple[str, ...]]] = {
    GREEDY: (
        f"which of its own rows were paired, {_PARTNER}; not by which pass, "
        "and nothing of other similar pairs",
        _NEAREST,
    ),
    NONE: (f"which of its own rows are alike to rows of the other side, {_PARTNER}", _PASSES, _NEAREST),
    LARGEST: (
        f"which of its own rows are alike to rows of the other side, {_PARTNER}; also the pairs that "
        "the assignment leaves out",
        _PASSES,
        _NEAREST,
    ),
}


def leakage(parameters: TolerantParameters, recipients: frozenset[Role]) -> Leakage:
    """Recipients learn their rows with a match and a number for each partner."""
    gets, noisy = (*_LEARNS[parameters.one_to_one], *_rarity(parameters)), _noisy(parameters)
    matches = f"where the policies ask for a least number of matches: whether there are as many; {ASKED}"
    everybody = (*public(parameters), matches)
    alice, bob = ((*noisy, *gets) if role in recipients else noisy for role in Role)
    return Leakage(alice, bob, everybody)


def _rarity(parameters: TolerantParameters) -> tuple[str, ...]:
    """What recipients learn more where the score takes the rarity of values."""
    if not any(one.rarity for one in parameters.fields):
        return ()
    return ("by bringing chosen rows: something of how frequent a paired row's values are at the other side",)


def _noisy(parameters: TolerantParameters) -> tuple[str, ...]:
    """What both learn where the least score is chosen in the run."""
    histogram = parameters.histogram
    if histogram is None:
        return ()
    return (
        "the least score, and the histogram that it is chosen by: how many rows of the side with fewer rows "
        f"have which score with their nearest, from {-FLOOR} units below the stated one on, with noise that "
        "neither party knows, under "
        f"differential privacy with epsilon {text(histogram.epsilon)}: {NEIGHBOURS}",
    )


def public(parameters: TolerantParameters) -> tuple[str, ...]:
    """What everybody may know of how records are compared."""
    return (
        "how many rows each side has",
        f"the fields with their weights{_terms(parameters)}",
        f"{_threshold(parameters)}, the blocking keys and "
        + ("how many ranks take part" if parameters.ranks else "the size of buckets"),
        *(
            ()
            if parameters.accept_overflow
            else ("by the refusal, if there is one: that passes leave out too many rows of one side",)
        ),
    )


def _terms(parameters: TolerantParameters) -> str:
    if not any(any(one.terms) for one in parameters.fields):
        return ""
    return " and local terms; where these were fitted to a side's file, that says something of how it is"


def _threshold(parameters: TolerantParameters) -> str:
    name = "threshold" if parameters.threshold else "least score"
    return f"the {name}" if parameters.histogram is None else f"the stated {name} and how far it may move"
