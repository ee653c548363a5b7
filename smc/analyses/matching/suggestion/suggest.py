"""A recipe for tolerant matching, found in the clear by linking one's own file with a corrupted copy.

The file is split into two registers that have a stated share of persons in common; the second has errors by a
public model. Both are linked as a job would link them, and the truth is known. Nothing leaves this party, and
nothing is known of the peer: the figures hold as far as its names, errors and overlap are as assumed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.suggestion import menu
from smc.analyses.matching.suggestion.errors import DEFAULT_ERRORS, ErrorModel, Texts, corrupt_register
from smc.analyses.matching.suggestion.roles import BORN
from smc.analyses.matching.tolerant.coverage import Coverage
from smc.analyses.matching.tolerant.encoding import DEFAULT_STEPS
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.plain import claims, ranked_pairs
from smc.analyses.matching.tolerant.records import prepare, rank_layouts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.records.normalization import normalize
from smc.analyses.records.numbers import loss_term
from smc.analyses.studies.columns import Data
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.exchange.row_counts import MAX_ROWS

MIN_ROWS: Final = 200
MAX_SAMPLE: Final = 200_000
MIN_COMMON: Final = 10
"""Persons in both registers, of fewer of whom no threshold can be read."""
MIN_OVERLAP: Final = 0.01
MAX_SEED: Final = (1 << 63) - 1
_WORTH: Final = 0.003
"""What a second rank has to add to F: it doubles the costs."""
_MOST_ODD: Final = 0.1
_USUAL: Final = "0.70"

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a suggestion rests on, besides the file.

    Attributes:
        peer_rows: of the other side; 0 for as many as here.
        overlap: share of the smaller side's persons who are on both, 0.01 to 1.
        errors: how often the second register has which errors.
        sample: rows of the file that are linked at most, `MIN_ROWS` to `MAX_SAMPLE`.
        threshold: one of `menu.THRESHOLDS`, where a person has chosen; empty takes that of the highest F.
        seed: of the simulation.
        histogram: epsilon of a histogram by which the run changes the threshold; empty for none.
    """

    peer_rows: int = 0
    overlap: float = 0.5
    errors: ErrorModel = DEFAULT_ERRORS
    sample: int = 100_000
    threshold: str = ""
    seed: int = 1
    histogram: str = ""

    def __post_init__(self) -> None:
        if not MIN_OVERLAP <= self.overlap <= 1:
            raise UsageError("The overlap is out of range.", f"Use {MIN_OVERLAP} to 1.")
        if not MIN_ROWS <= self.sample <= MAX_SAMPLE:
            raise UsageError("The sample is out of range.", f"Use {MIN_ROWS} to {MAX_SAMPLE} rows.")
        if self.threshold not in ("", *menu.THRESHOLDS):
            raise UsageError("The threshold is not on the menu.", f"Use one of {', '.join(menu.THRESHOLDS)}.")
        if self.histogram:
            loss_term(self.histogram, "The epsilon of the histogram")
        if not 0 <= self.peer_rows <= MAX_ROWS:
            raise UsageError(
                "The peer's rows are out of range.",
                f"Use 0 for as many as here, or a number of rows up to {MAX_ROWS}; a run takes no more.",
            )
        if abs(self.seed) > MAX_SEED:
            raise UsageError("The seed is out of range.", f"Use a number up to {MAX_SEED}.")


@dataclass(frozen=True, slots=True)
class Quality:
    """What linking the simulated registers gave."""

    threshold: str
    pairs: int
    precision: float
    recall: float

    @property
    def f_measure(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A recipe and what is expected of it.

    Attributes:
        parameters: as in a job file, whose columns are called by their roles.
        expected: at the threshold of the recipe, which a histogram may change in the run; of the linked
            sample, with as many false pairs as the whole file has.
        thresholds: the same at all thresholds of the menu, ascending.
        rows: of the file.
        registers: rows of the two simulated ones.
        common: persons in both.
        coverage: what the passes leave out of all rows of the file.
        bytes: of a run, both directions, with the larger side's rows on both.
        seconds: of a run, estimated, without the network.
    """

    parameters: Mapping[str, Any]
    expected: Quality
    thresholds: tuple[Quality, ...]
    rows: int
    registers: tuple[int, int]
    common: int
    coverage: Coverage
    bytes: int
    seconds: float


def suggest(data: Data, assumed: Assumed, say: Say = lambda _: None) -> Suggestion:
    """Choose a recipe for a file.

    Args:
        data: columns called by their roles, see `roles.guess_roles`; of one length.
        assumed: of the peer.
        say: takes notes on the progress.

    Raises:
        DomainError: the file has too few rows, or too few for the peer's and the overlap while no threshold
            is stated, or its birth dates are not written in one of two ways, or its persons cannot be told
            apart.
    """
    texts = {role: normalize(column, DEFAULT_STEPS, f"The column {role!r}") for role, column in data.items()}
    rows = len(texts[BORN])
    if rows < MIN_ROWS:
        raise DomainError(
            f"There are too few rows to simulate with: {rows}.",
            f"Take a file of at least {MIN_ROWS} rows, or the recipe of docs/analyses.md.",
        )
    has_dashes = _has_dashes(texts[BORN])
    random = Randomness.from_seed(assumed.seed.to_bytes(16, "big", signed=True), "duetto/matching/suggest/1")
    alice, bob, truth = _registers(texts, assumed, assumed.sample, random)
    common = int((truth >= 0).sum())
    if common < MIN_COMMON and not assumed.threshold:
        raise DomainError(
            f"Of these rows a simulation has {common} in both registers, too few to choose a threshold by.",
            f"State it with --threshold, such as {_USUAL}, or take a file of more rows.",
        )
    larger = max(rows, assumed.peer_rows or rows)

    def recipe(ranks: int, threshold: str) -> dict[str, Any]:
        return menu.parameters(data, larger, ranks, threshold, has_dashes=has_dashes)

    found: dict[int, tuple[Quality, ...]] = {}
    for ranks in menu.RANKS:
        say(f"Linking {len(truth):,} rows with {len(bob[BORN]):,}, {ranks} of a key a side.")
        found[ranks] = _qualities(_parsed(recipe(ranks, menu.THRESHOLDS[0])), alice, bob, truth)
    best = {ranks: _best(qualities, assumed.threshold) for ranks, qualities in found.items()}
    one, two = (recipe(ranks, best[ranks].threshold) for ranks in menu.RANKS)
    gain = best[two["ranks"]].f_measure - best[one["ranks"]].f_measure
    ranks = (two if gain >= _WORTH or _coverage(one, texts).refusal else one)["ranks"]
    qualities = found[ranks]
    if rows > assumed.sample:
        say("Linking half as many, to see how false pairs grow with the file.")
        fewer = _registers(texts, assumed, assumed.sample // 2, random)
        half = _qualities(_parsed(recipe(ranks, menu.THRESHOLDS[0])), *fewer)
        qualities = extrapolate(qualities, half, rows / assumed.sample)
    chosen = _best(qualities, assumed.threshold)
    if not chosen.f_measure and common >= MIN_COMMON:
        raise DomainError(
            "No recipe tells these persons apart: of those who are in both registers none was found.",
            "Name columns that differ from person to person, by --role; or take the recipe of "
            "docs/analyses.md.",
        )
    parameters = recipe(ranks, chosen.threshold)
    if assumed.histogram:
        parameters |= {"histogram": {"epsilon": assumed.histogram}}
    coverage = _coverage(parameters, texts)
    study = TOLERANT.parse(_without_method(parameters))
    cost = estimate_cost(study, {}, frozenset(Role), RunSetting((larger, larger)))
    return Suggestion(
        parameters,
        chosen,
        qualities,
        rows,
        (len(truth), len(bob[BORN])),
        common,
        coverage,
        cost.alice_bytes + cost.bob_bytes,
        cost.seconds,
    )


def extrapolate(found: Sequence[Quality], half: Sequence[Quality], times: float) -> tuple[Quality, ...]:
    """The qualities of a larger file, of whose rows only a sample was linked.

    Right pairs stay in proportion, as keys take both rows of a person or not. False pairs are strangers who
    resemble each other, of whom a row finds more in a larger file: their number for each person in common is
    drawn out in a straight line through the sample and half of it.

    Args:
        found: of the sample, threshold by threshold.
        half: of a sample half as large, for the same thresholds.
        times: rows of the file for each of the sample, at least 1.
    """
    larger = []
    for one, less in zip(found, half, strict=True):
        rates = [of.recall * (1 / of.precision - 1) if of.precision else 0.0 for of in (one, less)]
        rate = rates[0] + max(0.0, rates[0] - rates[1]) * 2 * (times - 1)
        precision = one.recall / (one.recall + rate) if one.recall else one.precision
        pairs = round(one.pairs * one.precision / precision) if precision else one.pairs
        larger.append(Quality(one.threshold, pairs, precision, one.recall))
    return tuple(larger)


def _best(qualities: Sequence[Quality], threshold: str) -> Quality:
    """Of a stated threshold, or else of the highest F-measure."""
    able = [one for one in qualities if one.threshold == (threshold or one.threshold)]
    return max(able, key=lambda one: one.f_measure)


def _coverage(parameters: Mapping[str, Any], texts: Texts) -> Coverage:
    parsed = _parsed(parameters)
    return Coverage.of(parsed, rank_layouts(parsed, texts), len(texts[BORN]))


def _without_method(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "method"}


def _parsed(parameters: Mapping[str, Any]) -> TolerantParameters:
    return TOLERANT.parse(_without_method(parameters)).parameters


def _has_dashes(dates: Sequence[str]) -> bool:
    held = [text for text in dates if text]
    for form, has_dashes in ((r"[0-9]{4}-[0-9]{2}-[0-9]{2}", True), (r"[0-9]{8}", False)):
        odd = sum(re.fullmatch(form, text) is None for text in held)
        if held and odd <= _MOST_ODD * len(held):
            return has_dashes
    raise DomainError(
        "The dates of birth are neither YYYY-MM-DD nor YYYYMMDD.",
        'Declare the column with type = "date" and its date_format in the catalog.',
    )


def _registers(
    texts: Texts, assumed: Assumed, sample: int, random: Randomness
) -> tuple[dict[str, list[str]], dict[str, list[str]], NDArray[np.int64]]:
    """Two registers of the file's persons, and Bob's row of each of Alice's persons or -1."""
    rows = len(texts[BORN])
    order = random.permutation(rows)[:sample]
    ratio = (assumed.peer_rows or rows) / rows
    shared = assumed.overlap * min(1.0, ratio)
    first = max(1, min(len(order), round(len(order) / (1 + ratio - shared))))
    common = max(1, min(first, round(shared * first)))
    second = np.concatenate([order[:common], order[first:]])
    second = second[random.permutation(len(second))]
    copies = np.full(rows, -1)
    copies[second] = np.arange(len(second))
    alice = {role: [column[row] for row in order[:first]] for role, column in texts.items()}
    bob = corrupt_register(
        {role: [column[row] for row in second] for role, column in texts.items()}, assumed.errors, random
    )
    return alice, bob, copies[order[:first]]


def _qualities(
    parameters: TolerantParameters, alice: Texts, bob: Texts, truth: NDArray[np.int64]
) -> tuple[Quality, ...]:
    """The quality at each threshold of the menu; the parameters have the least of them."""
    left, right = (prepare(parameters, texts, 1) for texts in (alice, bob))
    pairs = ranked_pairs(parameters, left, right)
    ones = left.counted[pairs[:, 0]] + right.counted[pairs[:, 1]]
    twice = pairs[:, 2] - parameters.rule.most_score + ones
    common = int((truth >= 0).sum())
    found = []
    for threshold in menu.THRESHOLDS:
        limit = Fraction(threshold)
        near = twice * limit.denominator >= ones * limit.numerator
        links = claims(pairs[near], len(left), len(right))
        right_ones = int((truth[links[:, 0]] == links[:, 1]).sum())
        found.append(Quality(threshold, len(links), right_ones / max(1, len(links)), right_ones / common))
    return tuple(found)
