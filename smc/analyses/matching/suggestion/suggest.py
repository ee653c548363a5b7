"""A recipe for tolerant matching, found in the clear by linking one's own file with a corrupted copy.

The file is split into two registers that have a stated share of persons in common; the second has errors by a
public model. Both are linked as a job would link them, and the truth is known. Nothing leaves this party, and
nothing is known of the peer: the figures hold as far as its names, errors and overlap are as assumed.

Passes, weights and local terms come from the menu, or are found by the two registers: passes one after the
other (`passes`), weights and terms by a fit (`fit`); weights may come from a model of Splink instead
(`splink`). The least score is in any case the one of the highest F-measure among some about the recipe's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.suggestion import menu
from smc.analyses.matching.suggestion.errors import DEFAULT_ERRORS, ErrorModel, Texts, corrupt_register
from smc.analyses.matching.suggestion.fit import Evidence, Terms, alike, fit_terms
from smc.analyses.matching.suggestion.passes import choose_passes
from smc.analyses.matching.suggestion.roles import BORN, ROLES, guess_roles
from smc.analyses.matching.suggestion.splink import SplinkModel, terms_of
from smc.analyses.matching.tolerant.coverage import Coverage
from smc.analyses.matching.tolerant.encoding import DEFAULT_STEPS
from smc.analyses.matching.tolerant.parameters import MAX_PASSES, MAX_SCORE, TolerantParameters
from smc.analyses.matching.tolerant.plain import claims, met_by_ranks, ranked_pairs
from smc.analyses.matching.tolerant.records import Records, prepare, rank_layouts
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
MOST_PASSES: Final = MAX_PASSES
LARGEST_SCORE: Final = MAX_SCORE
MENU: Final = "menu"
OWN: Final = "own"
RECIPES: Final = (MENU, OWN)
"""Where passes, weights and local terms come from."""
PASSES: Final = 7
_MOST_WINDOWS: Final = 7
"""Windows of least scores that are tried at most: that of the menu, and some of half its size beside it."""
_MOST_ODD: Final = 0.1
_COMMON_SHARE: Final = 0.999

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a suggestion rests on, besides the file.

    Attributes:
        peer_rows: of the other side; 0 for as many as here.
        overlap: share of the smaller side's persons who are on both, 0.01 to 1.
        errors: how often the second register has which errors.
        sample: rows of the file that are linked at most, `MIN_ROWS` to `MAX_SAMPLE`.
        least_score: where a person has chosen it; None takes that of the highest F.
        seed: of the simulation.
        histogram: epsilon of a histogram by which the run changes the least score; empty for none.
        recipe: where passes, weights and local terms come from, one of `RECIPES`.
        passes: how many passes the recipe `own` has.
        compare: roles that are compared besides `menu.COMPARED`.
        model: of Splink, whose weights are taken; None for those of the recipe.
    """

    peer_rows: int = 0
    overlap: float = 0.5
    errors: ErrorModel = DEFAULT_ERRORS
    sample: int = 100_000
    least_score: int | None = None
    seed: int = 1
    histogram: str = ""
    recipe: str = MENU
    passes: int = PASSES
    compare: tuple[str, ...] = ()
    model: SplinkModel | None = None

    def __post_init__(self) -> None:
        if not MIN_OVERLAP <= self.overlap <= 1:
            raise UsageError("The overlap is out of range.", f"Use {MIN_OVERLAP} to 1.")
        if not MIN_ROWS <= self.sample <= MAX_SAMPLE:
            raise UsageError("The sample is out of range.", f"Use {MIN_ROWS} to {MAX_SAMPLE} rows.")
        if self.least_score is not None and abs(self.least_score) > MAX_SCORE:
            raise UsageError("The least score is out of range.", f"Use -{MAX_SCORE} to {MAX_SCORE}.")
        if self.recipe not in RECIPES:
            raise UsageError(f"There is no recipe {self.recipe!r}.", f"Use one of {', '.join(RECIPES)}.")
        if not 1 <= self.passes <= MAX_PASSES:
            raise UsageError("The number of passes is out of range.", f"Use 1 to {MAX_PASSES}.")
        if unknown := [role for role in self.compare if role not in ROLES]:
            raise UsageError(f"{unknown[0]!r} is not a role of a column.", f"Use {', '.join(ROLES)}.")
        if self.compare and self.recipe == MENU and self.model is None:
            raise UsageError(
                "The menu has no weights of roles that are compared besides.",
                f"Take the recipe {OWN!r}, or a model of Splink.",
            )
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
    """What linking the simulated registers gave, from a least score on."""

    least_score: int
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
        expected: at the least score of the recipe, which a histogram may change in the run; of the linked
            sample, with as many false pairs as the whole file has.
        least_scores: the same at all that were tried, ascending.
        rows: of the file.
        registers: rows of the two simulated ones.
        common: persons in both.
        coverage: what the passes leave out of all rows of the file.
        bytes: of a run, both directions, with the larger side's rows on both.
        seconds: of a run, estimated, without the network.
    """

    parameters: Mapping[str, Any]
    expected: Quality
    least_scores: tuple[Quality, ...]
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
        UsageError: a model of Splink does not compare what the recipe does.
        DomainError: the file has too few rows, or too few for the peer's and the overlap while no least
            score is stated, or its birth dates are not written in one of two ways, or its persons cannot be
            told apart.
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
    simulated = _Simulated(assumed, texts, alice, bob, truth, has_dashes=has_dashes)
    recipe = simulated.recipe(data, max(rows, assumed.peer_rows or rows), say)
    if assumed.histogram:  # its guarantee is for terms that depend on a row alone
        fields = [{key: each[key] for key in each if key != "rarity"} for each in recipe["fields"]]
        recipe = recipe | {"fields": fields}
        say("Leaving rarity out of the score, which does not go with a histogram.")
    say(f"Linking {len(truth):,} rows with {len(bob[BORN]):,}.")
    windows = [menu.SHIFTS]
    qualities = _qualities(recipe, alice, bob, truth, windows)
    while assumed.least_score is None and (more := further_shifts(qualities, windows)):
        say("F rises to the end of the least scores that were tried; trying more.")
        windows = sorted([*windows, more])
        qualities = _qualities(recipe, alice, bob, truth, windows)
    if rows > assumed.sample:
        say("Linking half as many, to see how false pairs grow with the file.")
        half = _qualities(recipe, *_registers(texts, assumed, assumed.sample // 2, random), windows)
        qualities = extrapolate(qualities, half, rows / assumed.sample)
    chosen = _best(qualities, assumed.least_score)
    if not chosen.f_measure and simulated.common >= MIN_COMMON:
        raise DomainError(
            "No recipe tells these persons apart: it found none of those who are in both registers.",
            "Name columns that differ from person to person, by --role; or take the recipe of "
            "docs/analyses.md.",
        )
    parameters = recipe | {"least_score": chosen.least_score}
    if assumed.histogram:
        parameters |= {"histogram": {"epsilon": assumed.histogram}}
    study = TOLERANT.parse(_without_method(parameters))
    larger = max(rows, assumed.peer_rows or rows)
    cost = estimate_cost(study, {}, frozenset(Role), RunSetting((larger, larger)))
    return Suggestion(
        parameters,
        chosen,
        qualities,
        rows,
        (len(truth), len(bob[BORN])),
        simulated.common,
        _coverage(parameters, texts),
        cost.alice_bytes + cost.bob_bytes,
        cost.seconds,
    )


@dataclass(frozen=True, slots=True)
class _Simulated:
    """Two registers of the file's persons.

    Attributes:
        assumed: of the peer.
        texts: of the file.
        alice: the first register.
        bob: the other, with errors.
        truth: Bob's row of each of Alice's persons or -1.
        has_dashes: whether dates are YYYY-MM-DD.
    """

    assumed: Assumed
    texts: Texts
    alice: Texts
    bob: Texts
    truth: NDArray[np.int64]
    has_dashes: bool

    @property
    def common(self) -> int:
        """Persons in both."""
        return int((self.truth >= 0).sum())

    def recipe(self, roles: Collection[str], larger: int, say: Say) -> dict[str, Any]:
        """The `[parameters]`, with the recipe's own least score or the stated one.

        Raises:
            DomainError: the registers have too few persons in common for what is asked.
        """
        assumed = self.assumed
        if self.common < MIN_COMMON and (assumed.least_score is None or assumed.recipe == OWN):
            raise DomainError(
                f"Of these rows a simulation has {self.common} in both registers, too few to choose by.",
                "State the least score with --least-score and take --recipe menu, or a file of more rows.",
            )
        fields = menu.compared_roles(roles, assumed.compare)
        if assumed.recipe == MENU:
            blocking = menu.keys(roles, larger)
        else:
            say("Choosing the passes.")
            blocking = tuple(
                choose_passes(
                    self.alice, self.bob, self.truth, fields, assumed.passes, has_dashes=self.has_dashes
                )
            )
            if not blocking:
                raise alike()

        def make(terms: Terms, ranks: int) -> dict[str, Any]:
            return menu.parameters(roles, fields, blocking, terms, ranks, has_dashes=self.has_dashes)

        nothing = (0,) * len(fields)
        flat = _parse(make(Terms((1,) * len(fields), nothing, nothing, nothing, 0), 1))
        if assumed.model is not None:
            terms = self._weights_of_model(assumed.model, fields, flat)
        elif assumed.recipe == OWN:
            say("Fitting the weights.")
            terms = self._fit(flat)
        else:
            terms = menu.terms(fields)
        if assumed.least_score is not None:
            terms = replace(terms, least=assumed.least_score)
        one = make(terms, 1)
        return make(terms, 2) if _coverage(one, self.texts).refusal else one

    def _fit(self, parameters: TolerantParameters) -> Terms:
        left, right = (prepare(parameters, texts, 1) for texts in (self.alice, self.bob))
        pairs = _meeting_pairs(left, right)
        return fit_terms(Evidence.of(left, right, pairs), self.truth[pairs[:, 0]] == pairs[:, 1])

    def _weights_of_model(
        self, model: SplinkModel, fields: Sequence[str], parameters: TolerantParameters
    ) -> Terms:
        """The weights of a model of Splink.

        Raises:
            UsageError: it does not compare a field.
        """
        named = {one.column: one for one in model.comparisons}
        columns = guess_roles(named, {role: role for role in fields if role in named})
        if missing := [role for role in fields if role not in columns]:
            raise UsageError(
                f"The model does not compare {missing[0]}, which the recipe does.",
                f"Leave it out with --role {missing[0]}=, or rename the comparison to {missing[0]}.",
            )
        sizes = prepare(parameters, self.alice, 1).filters.sizes
        usual = [float(column[column > 0].mean()) if column.any() else 1.0 for column in sizes.T]
        largest = np.maximum(1.0, np.quantile(sizes, _COMMON_SHARE, axis=0)).tolist()
        return terms_of([named[columns[role]] for role in fields], model.prior, usual, largest)


def _meeting_pairs(left: Records, right: Records) -> NDArray[np.int64]:
    """The pairs of rows that meet in some pass, each once."""
    every = [met_by_ranks(*both) for both in zip(left.ranked, right.ranked, strict=True)]
    found: NDArray[np.int64] = np.unique(np.concatenate(every), axis=0)
    return found


def extrapolate(found: Sequence[Quality], half: Sequence[Quality], times: float) -> tuple[Quality, ...]:
    """The qualities of a larger file, of whose rows only a sample was linked.

    Right pairs stay in proportion, as keys take both rows of a person or not. False pairs are strangers who
    resemble each other, of whom a row finds more in a larger file: their number for each person in common is
    drawn out in a straight line through the sample and half of it.

    Args:
        found: of the sample, by least scores.
        half: of a sample half as large, for the same ones.
        times: rows of the file for each of the sample, at least 1.
    """
    larger = []
    for one, less in zip(found, half, strict=True):
        rates = [of.recall * (1 / of.precision - 1) if of.precision else 0.0 for of in (one, less)]
        rate = rates[0] + max(0.0, rates[0] - rates[1]) * 2 * (times - 1)
        precision = one.recall / (one.recall + rate) if one.recall else one.precision
        pairs = round(one.pairs * one.precision / precision) if precision else one.pairs
        larger.append(Quality(one.least_score, pairs, precision, one.recall))
    return tuple(larger)


def further_shifts(found: Sequence[Quality], windows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """More least scores to try where F still rises at the end of those that were; none where it does not.

    Args:
        found: the qualities of the scores that were tried, ascending.
        windows: how far these lie from the recipe's own, in equal steps, those together that were linked
            together.
    """
    f = [one.f_measure for one in found]
    if len(windows) >= _MOST_WINDOWS or len(found) < sum(map(len, windows)) or len(f) < 2:
        return ()  # or the scores themselves end there
    step, more = windows[0][1] - windows[0][0], len(menu.SHIFTS) // 2
    if f[0] == max(f) > f[1]:
        return tuple(range(windows[0][0] - more * step, windows[0][0], step))
    if f[-1] > max(f[:-1]):
        return tuple(range(windows[-1][-1] + step, windows[-1][-1] + (more + 1) * step, step))
    return ()


def _best(qualities: Sequence[Quality], least_score: int | None) -> Quality:
    """Of a stated least score, or else of the highest F-measure."""
    able = [one for one in qualities if least_score in (None, one.least_score)]
    return max(able, key=lambda one: one.f_measure)


def _coverage(parameters: Mapping[str, Any], texts: Texts) -> Coverage:
    parsed = _parse(parameters)
    return Coverage.of(parsed, rank_layouts(parsed, texts), len(texts[BORN]))


def _without_method(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "method"}


def _parse(parameters: Mapping[str, Any]) -> TolerantParameters:
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
    recipe: Mapping[str, Any],
    alice: Texts,
    bob: Texts,
    truth: NDArray[np.int64],
    windows: Sequence[Sequence[int]],
) -> tuple[Quality, ...]:
    """The quality from each least score on that lies so far from the recipe's as `windows` say.

    Each window is linked by itself: what a score is above the least one has a largest value.
    """
    return tuple(one for shifts in windows for one in _linked(recipe, alice, bob, truth, shifts))


def _linked(
    recipe: Mapping[str, Any], alice: Texts, bob: Texts, truth: NDArray[np.int64], shifts: Sequence[int]
) -> list[Quality]:
    own = recipe["least_score"]
    lowest = max(-MAX_SCORE, own + shifts[0])
    parameters = _parse({**recipe, "least_score": lowest})
    left, right = (prepare(parameters, texts, 1) for texts in (alice, bob))
    pairs = ranked_pairs(parameters, left, right)
    common = int((truth >= 0).sum())
    found = []
    for shift in shifts:
        if lowest <= own + shift <= MAX_SCORE:
            links = claims(pairs[pairs[:, 2] >= own + shift - lowest], len(left), len(right))
            right_ones = int((truth[links[:, 0]] == links[:, 1]).sum())
            precision, recall = right_ones / max(1, len(links)), right_ones / max(1, common)
            found.append(Quality(own + shift, len(links), precision, recall))
    return found
