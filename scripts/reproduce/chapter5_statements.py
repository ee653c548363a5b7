"""What the thesis says of Tables 5.2 to 5.14, and whether it holds for figures that were found here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from chapter5_printed import FACTOR_NOISES, KS, NOISES, RANKS, Figures
from page import Statement

SLACK: Final = 0.02
"""By so much a figure of a falling row may lie above the one before: they are means of few draws."""


def statements(found: Figures) -> list[Statement]:
    """What is said, found and held, for the settings that ran."""
    return [*_alone(found), *_k_anonymous(found), *_noisy(found)]


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


def _alone(found: Figures) -> list[Statement]:
    longer = _row(found, "5.2", (1, 2, 3), "linkage")
    alone, apart = (_row(found, "5.3", RANKS, column) for column in ("re-identification", "linkage"))
    return [
        Statement("5.2", "a longer observation links more users", _told(longer), _falls(longer[::-1])),
        Statement(
            "5.3", "factorization alone hardly lowers re-identification", _told(alone), min(alone) >= 0.9
        ),
        Statement(
            "5.3",
            "a lower rank links fewer users, and fewer than without factorization",
            _told([*apart, longer[-1]]),
            _falls(apart[::-1]) and apart[-1] < longer[-1],
        ),
    ]


def _k_anonymous(found: Figures) -> list[Statement]:
    ks = [k for k in KS if ("5.4", f"{k}", "linkage") in found]
    exact = _row(found, "5.4", KS, "re-identification")
    wide = [found["5.2", "3", "linkage"], found["5.4", f"{ks[0]}", "linkage"]]
    times_k = [found[key] * float(key[1]) for key in found if key[0] == "5.6"]
    linked = [
        max(_row(found, table, KS, column)) for table, column in _LINKED if _row(found, table, KS, column)
    ]
    kept = _row(found, "5.10", KS, "Uti")
    return [
        Statement(
            "5.4",
            "k-anonymization is found with about 1 / k, never more",
            _told(exact),
            all(0.8 / k <= one <= 1 / k + 1e-9 for k, one in zip(ks, exact, strict=True)),
        ),
        Statement("5.4", "k = 2 lowers linkage by more than half", _told(wide), wide[1] < wide[0] / 2),
        Statement(
            "5.6",
            "with factorization the risk times k is 1 at most",
            _told([min(times_k), max(times_k)]),
            max(times_k) <= 1 + 1e-9,
        ),
        Statement(
            "5.7",
            "with factorization k-anonymization links no more users than without",
            _told(linked),
            all(one <= linked[0] + SLACK for one in linked[1:]),
        ),
        Statement("5.10", "k-anonymization keeps 0.9 of the usefulness", _told(kept), min(kept) >= 0.9),
    ]


_LINKED: Final = (("5.4", "linkage"), *(("5.7", f"r = {rank}") for rank in RANKS))


def _noisy(found: Figures) -> list[Statement]:
    columns = [f"r = {rank}" for rank in RANKS if ("5.3", f"{rank}", "linkage") in found]
    noise, link = (_row(found, "5.5", NOISES, column) for column in ("re-identification", "linkage"))
    whole = found["5.2", "3", "linkage"]
    by_noise = [_row(found, "5.8", FACTOR_NOISES, column) for column in columns]
    by_rank = [list(one) for one in zip(*by_noise, strict=True)]
    use = _row(found, "5.11", NOISES, "Uti")
    traded = exchanges(found)
    return [
        Statement("5.5", "noise lowers re-identification", _told(noise), _falls(noise)),
        Statement(
            "5.5",
            "small noise lowers linkage by more than half",
            _told([whole, link[0]]),
            link[0] < whole / 2,
        ),
        Statement(
            "5.8",
            "more noise on factors, less risk, at every rank",
            "; ".join(map(_told, by_noise)),
            all(map(_falls, by_noise)),
        ),
        Statement(
            "5.8",
            "a lower rank, less risk, at every noise",
            "; ".join(map(_told, by_rank)),
            all(_falls(one[::-1]) for one in by_rank),
        ),
        Statement("5.11", "more noise on cells, less usefulness", _told(use), _falls(use)),
        Statement(
            "5.8, 5.11, 5.13, 5.14",
            "noise on factors is more useful than noise on cells of no less risk",
            f"{sum(one[5] > one[2] for one in traded)} of {len(traded)} settings on cells",
            bool(traded) and all(one[5] > one[2] for one in traded),
        ),
    ]


def _row(found: Figures, table: str, rows: Sequence[float], column: str) -> list[float]:
    keys = [(table, f"{one:g}", column) for one in rows]
    return [found[key] for key in keys if key in found]


def _falls(values: Sequence[float]) -> bool:
    return all(later <= before + SLACK for before, later in pairwise(values))


def _told(values: Sequence[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in values)
