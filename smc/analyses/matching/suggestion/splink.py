"""Weights from a trained model of Splink, as its `linker.misc.save_model_to_json` writes it.

A model has, for each comparison, levels of agreement with the probabilities m and u of each among matches and
others. Of these the first, of equal texts, and the last, `ELSE`, are taken, in bits log2(m / u). Between both
Splink has levels of its own; here each common bit adds its part, so that a text that differs in a letter lies
near the first:

    equal                          the first level's bits
    one bit less, of k as usual    1 / k of the way to the last level
    an empty side                  0 bits, as Splink's null level

A first level that is adjusted by the frequency of terms becomes the rarity of a text among a side's rows.
Conditions in SQL are not read: what a level compares is taken to be the column that the comparison is called
by.

Reference: Linacre, Lindsay, Manassis, Slade and Hepworth, Splink: free software for probabilistic record
linkage at scale, International Journal of Population Data Science 7, 2022; Fellegi and Sunter, 1969.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import Any, Final

from smc.analyses.matching.suggestion.fit import MOST, Terms, even
from smc.analyses.matching.tolerant.encoding import MAX_TERM, MAX_WEIGHT
from smc.errors import UsageError

MAX_BYTES: Final = 1 << 22
MAX_COMPARISONS: Final = 64
_LEAST: Final = 1e-9
"""A probability below it counts as it."""
_HUNDRED: Final = 100
_HINT: Final = "Write it with Splink's linker.misc.save_model_to_json after training."


@dataclass(frozen=True, slots=True)
class SplinkComparison:
    """What a model says of a column, in bits.

    Attributes:
        column: as the model calls it.
        equal: of equal texts.
        different: of texts that no level but the last holds.
        rarity: what each halving of a text's frequency adds where both sides have it; 0 without adjustment.
        usual: bits of the frequency at which that adds nothing.
    """

    column: str
    equal: float
    different: float
    rarity: float
    usual: float


@dataclass(frozen=True, slots=True)
class SplinkModel:
    """A trained model.

    Attributes:
        comparisons: one for each column.
        prior: log2 odds that two rows drawn at random match.
    """

    comparisons: tuple[SplinkComparison, ...]
    prior: float


def read_model(text: str) -> SplinkModel:
    """Read a model.

    Raises:
        UsageError: it is no trained model; names the place.
    """
    if len(text) > MAX_BYTES:
        raise UsageError(f"The model has more than {MAX_BYTES} letters.", _HINT)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("The model is not JSON.", _HINT) from None
    table = _table(given, "the model")
    listed = table.get("comparisons")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_COMPARISONS:
        raise UsageError(f"The model has no list of 1 to {MAX_COMPARISONS} comparisons.", _HINT)
    found = tuple(_comparison(one, f"comparisons[{number}]") for number, one in enumerate(listed))
    if len({one.column for one in found}) < len(found):
        raise UsageError("The model compares a column twice.", "Leave all but one comparison out of it.")
    chance = _chance(table, "probability_two_random_records_match", "the model")
    return SplinkModel(found, log2(chance / (1 - min(chance, 1 - _LEAST))))


def _comparison(value: Any, place: str) -> SplinkComparison:
    table = _table(value, place)
    column, listed = table.get("output_column_name"), table.get("comparison_levels")
    if not isinstance(column, str) or not column:
        raise UsageError(f"{place} of the model has no output_column_name.", _HINT)
    if not isinstance(listed, list):
        raise UsageError(f"{place} of the model has no comparison_levels.", _HINT)
    levels = [_table(one, f"{place}.comparison_levels[{n}]") for n, one in enumerate(listed)]
    levels = [one for one in levels if not one.get("is_null_level")]
    if len(levels) < 2 or str(levels[-1].get("sql_condition", "")).strip().upper() != "ELSE":
        raise UsageError(f"{place} of the model has no first level and a last one, ELSE.", _HINT)
    first, last = (
        _bits(one, f"{place}, {word} level") for one, word in ((levels[0], "first"), (levels[-1], "last"))
    )
    if first <= last:
        raise UsageError(
            f"In {place} of the model equal texts say no more for a match than different ones.",
            "Leave the comparison out, or train the model on more pairs.",
        )
    adjusted = levels[0].get("tf_adjustment_column")
    weight = levels[0].get("tf_adjustment_weight", 1.0) if adjusted else 0.0
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
        raise UsageError(f"{place} of the model has a tf_adjustment_weight that is not from 0 to 1.", _HINT)
    usual = -log2(_chance(levels[0], "u_probability", f"{place}, first level"))
    return SplinkComparison(column, first, last, float(weight), usual)


def _bits(level: Mapping[str, Any], place: str) -> float:
    return log2(_chance(level, "m_probability", place) / _chance(level, "u_probability", place))


def _chance(table: Mapping[str, Any], key: str, place: str) -> float:
    value = table.get(key)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not isfinite(value)
        or not 0 <= value <= 1
    ):
        raise UsageError(f"{place} of the model has no {key} from 0 to 1: it is not trained.", _HINT)
    return max(float(value), _LEAST)


def _table(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"In the model {place} is not a table.", _HINT)
    return value


def terms_of(
    comparisons: Sequence[SplinkComparison], prior: float, usual: Sequence[float], largest: Sequence[float]
) -> Terms:
    """Weights and local terms of a model.

    Args:
        comparisons: of the fields.
        prior: as of `SplinkModel`.
        usual: ones of a filter of each field, in the mean of those with a text.
        largest: ones that hardly a filter has more of.
    """
    bits = [
        (one.equal - one.different) / max(1.0, ones) for one, ones in zip(comparisons, usual, strict=True)
    ]
    scale = MOST / sum(slope * ones for slope, ones in zip(bits, largest, strict=True))
    weights = [min(MAX_WEIGHT, max(1, round(scale * slope))) for slope in bits]
    # Equal texts of k ones: k weights, less half of that at either side, and the level's bits as a constant.
    empty = [-scale * (one.equal + one.different) / 2 for one in comparisons]
    rarity = [scale * one.rarity / 2 for one in comparisons]
    constant = prior + sum(one.equal - one.rarity * one.usual for one in comparisons)
    return Terms(
        tuple(weights),
        tuple(-_HUNDRED * weight // 2 for weight in weights),
        tuple(map(_hundredths, empty)),
        tuple(map(_hundredths, rarity)),
        even(-scale * constant),
    )


def _hundredths(value: float) -> int:
    return max(-_HUNDRED * MAX_TERM, min(_HUNDRED * MAX_TERM, round(_HUNDRED * value)))
