"""What the thesis says of Tables 5.2 to 5.14, and whether it holds for figures that were found here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Final

import numpy as np
from chapter5_printed import FACTOR_NOISES, KS, NOISES, RANKS, Figures
from page import Margin, Statement, around, every, exactly, margin

SLACK: Final = 0.02
"""By so much a risk of a falling row may lie above the one before."""
USERS: Final = 200
"""Of one draw."""
NOT_WEB: Final = "data: no dense web log"


def mean(found: Sequence[Figures]) -> Figures:
    """The mean of each figure."""
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def statements(draws: Sequence[Figures]) -> list[Statement]:
    """What is said, found and held, for the settings that ran, by draws of users.

    Risks are parts of the users that were drawn, and their errors those of parts; of usefulness an interval
    needs two draws.
    """
    found = mean(draws)
    return [*_alone(found, len(draws)), *_k_anonymous(draws, found), *_noisy(draws, found)]


def _share(weights: Sequence[tuple[float, float]], draws: int, parts: int = 1, by: float = 0.0) -> Margin:
    """The interval of a sum of shares of users times weights, and of a number."""
    of = USERS * draws
    # Agresti and Coull's shares, so that all or none of the users leaves some doubt
    shares = [(p * of + 2) / (of + 4) for _, p in weights]
    error = sqrt(sum(w**2 * p * (1 - p) for (w, _), p in zip(weights, shares, strict=True)) / of)
    return around(by + sum(w * p for w, p in weights), error, parts=parts)


def _falling(rows: Sequence[Sequence[float]], draws: int) -> Margin:
    """That no share lies above the one before it by more than the slack."""
    pairs = [pair for row in rows for pair in pairwise(row)]
    return every([_share([(1, before), (-1, later)], draws, len(pairs), SLACK) for before, later in pairs])


def _many(draws: int) -> str:
    return f"{USERS * draws} users"


def exchanges(found: Figures) -> list[tuple[str, float, float, str, float, float]]:
    """Of each noise on cells the noise on factors that is most useful at no more risk of re-identification.

    Returns:
        The noise on cells, its risk and usefulness; the setting on factors, its risk and usefulness.
    """
    rows = []
    for noise in NOISES:
        if ("5.5", f"{noise:g}", "re-identification") not in found:
            continue
        risk, useful = found["5.5", f"{noise:g}", "re-identification"], found["5.11", f"{noise:g}", "Uti"]
        fit = [
            (value, found["5.8", row, column], f"phi = {row}, {column}")
            for (table, row, column), value in found.items()
            if table == "5.8 Uti" and found["5.8", row, column] <= risk
        ]
        if fit:
            best = max(fit)
            rows.append((f"phi = {noise:g}", risk, useful, best[2], best[1], best[0]))
    return rows


def _alone(found: Figures, draws: int) -> list[Statement]:
    longer = _row(found, "5.2", (1, 2, 3), "linkage")
    alone, apart = (_row(found, "5.3", RANKS, column) for column in ("re-identification", "linkage"))
    return [
        Statement(
            "Table 5.2", "a longer observation links more users, the longest more than the shortest",
            _told(longer), _share([(1, longer[-1]), (-1, longer[0])], draws), _many(draws), NOT_WEB,
        ),
        Statement(
            "Table 5.3", "factorization alone hardly lowers re-identification: 0.9 and more", _told(alone),
            every([_share([(1, one)], draws, len(alone), -0.9) for one in alone]), _many(draws), NOT_WEB,
        ),
        Statement(
            "Table 5.3", "a lower rank links fewer users, the lowest fewer than the highest, and each fewer "
            "than without factorization", _told([*apart, longer[-1]]),
            every([
                _share([(1, more), (-1, less)], draws, len(apart) + 1)
                for less, more in [(apart[0], apart[-1]), *((one, longer[-1]) for one in apart)]
            ]), _many(draws), NOT_WEB,
        ),
    ]  # fmt: skip


def _k_anonymous(draws: Sequence[Figures], found: Figures) -> list[Statement]:
    ks = [k for k in KS if ("5.4", f"{k}", "linkage") in found]
    exact = _row(found, "5.4", KS, "re-identification")
    wide = [found["5.2", "3", "linkage"], found["5.4", f"{ks[0]}", "linkage"]]
    times_k = [found[key] * float(key[1]) for key in found if key[0] == "5.6"]
    linked = [
        max(_row(found, table, KS, column)) for table, column in _LINKED if _row(found, table, KS, column)
    ]
    many = _many(len(draws))
    return [
        Statement(
            "Table 5.4", "k-anonymization is found with about 1 / k, never more", _told(exact),
            exactly(all(0.8 / k <= one <= 1 / k + 1e-3 for k, one in zip(ks, exact, strict=True))),
        ),
        Statement(
            "Table 5.4", "k = 2 lowers linkage by more than half", _told(wide),
            _share([(0.5, wide[0]), (-1, wide[1])], len(draws)), many, NOT_WEB,
        ),
        Statement(
            "Table 5.6", "with factorization the risk times k is 1 at most",
            _told([min(times_k), max(times_k)]), exactly(max(times_k) <= 1 + 1e-2),
        ),
        Statement(
            "Table 5.7", "with factorization k-anonymization links no more users than without, to 2 points",
            _told(linked),
            every([
                _share([(1, linked[0]), (-1, one)], len(draws), len(linked) - 1, SLACK) for one in linked[1:]
            ]), many, NOT_WEB,
        ),
        Statement(
            "Table 5.10", "k-anonymization keeps 0.9 of the usefulness",
            _told(_row(found, "5.10", KS, "Uti")),
            every([
                margin([one["5.10", f"{k}", "Uti"] - 0.9 for one in draws], parts=len(ks)) for k in ks
            ]), _drawn(draws), NOT_WEB,
        ),
    ]  # fmt: skip


_LINKED: Final = (("5.4", "linkage"), *(("5.7", f"r = {rank}") for rank in RANKS))


def _noisy(draws: Sequence[Figures], found: Figures) -> list[Statement]:
    columns = [f"r = {rank}" for rank in RANKS if ("5.3", f"{rank}", "linkage") in found]
    noise, link = (_row(found, "5.5", NOISES, column) for column in ("re-identification", "linkage"))
    whole = found["5.2", "3", "linkage"]
    by_noise = [_row(found, "5.8", FACTOR_NOISES, column) for column in columns]
    by_rank = [list(one) for one in zip(*by_noise, strict=True)]
    use = [_row(one, "5.11", NOISES, "Uti") for one in draws]
    traded, many = exchanges(found), _many(len(draws))
    better = [min((one[5] - one[2] for one in exchanges(each)), default=-1.0) for each in draws]
    return [
        Statement("Table 5.5", "noise lowers re-identification", _told(noise), _falling([noise], len(draws)),
                  many, NOT_WEB),
        Statement(
            "Table 5.5", "small noise lowers linkage by more than half", _told([whole, link[0]]),
            _share([(0.5, whole), (-1, link[0])], len(draws)), many, NOT_WEB,
        ),
        Statement(
            "Table 5.8", "more noise on factors, less risk, at every rank", "; ".join(map(_told, by_noise)),
            _falling(by_noise, len(draws)), many, NOT_WEB,
        ),
        Statement(
            "Table 5.8", "a lower rank, less risk, at every noise", "; ".join(map(_told, by_rank)),
            _falling([one[::-1] for one in by_rank], len(draws)), many, NOT_WEB,
        ),
        Statement(
            "Table 5.11", "more noise on cells, less usefulness, the most less than the least",
            _told(_row(found, "5.11", NOISES, "Uti")), margin([one[0] - one[-1] for one in use]),
            _drawn(draws), NOT_WEB,
        ),
        Statement(
            "Usefulness by risk",
            "noise on factors is more useful than noise on cells of no less risk, in every setting",
            f"{sum(one[5] > one[2] for one in traded)} of {len(traded)} settings on cells", margin(better),
            _drawn(draws), NOT_WEB,
        ),
    ]  # fmt: skip


def _drawn(draws: Sequence[Figures]) -> str:
    return f"{len(draws)} draw{'s' * (len(draws) > 1)} of users"


def _row(found: Figures, table: str, rows: Sequence[float], column: str) -> list[float]:
    keys = [(table, f"{one:g}", column) for one in rows]
    return [found[key] for key in keys if key in found]


def _told(values: Sequence[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in values)
