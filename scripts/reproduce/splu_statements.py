"""What section 6 of the paper on small-sum privacy says of its figures, each with what is found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import sqrt

import numpy as np
from page import Margin, Statement, around, every, exactly, margin

from anonymizer.splu import guarantees

Errors = Mapping[str, Sequence[float]]
"""Relative errors of each query, by method or band."""
Figure7 = dict[int, Errors]
"""By gamma and method."""
Figures89 = dict[int, dict[str, Errors]]
"""By rows, band and method; of bands with too few queries there are none."""
Figure12 = dict[str, dict[int, Errors]]
"""By estimate, gamma and band."""


def statements(exact: Sequence[float], small: Figure7, large: Figures89, two: Figure12) -> list[Statement]:
    """The statements about figures 5, 7, 8, 9 and 12.

    Args:
        exact: how likely counts of 1, 2 and 3 miss by more than 30 % at gamma = 10.
        small: Figure 7.
        large: Figures 8 and 9.
        two: Figure 12.
    """
    says = "counts of 3 and less miss by more than 30 % with probability 0.6 or more at gamma = 10"
    least = min(exact)
    guarantee = Statement("Figure 5", says, f"{least:.3f} or more", exactly(least >= 0.6))
    return [bounded(), guarantee, *_small(small), *_by_selectivity(large), *_by_rows(large), _two(two, large)]


def bounded() -> Statement:
    """Figure 4: the printed bound against the exact probability, at the counts and e that are shown."""
    cells = [(count, e) for e in (0.03, 0.05, 0.09) for count in (100, 200, 400, 900)]
    times = [
        float(guarantees.error_probability(10, count, e)) / guarantees.bound_as_printed(10, count, e)
        for count, e in cells
    ]
    return Statement(
        "Figure 4",
        "large counts miss by more than e with a probability of at most the printed T_E, gamma = 10",
        f"the exact probability is {min(times):.0f} to {max(times):,.0f} times the bound",
        exactly(max(times) <= 1),
        "",
        "paper: erratum 36",
    )


def paired(one: Sequence[float], other: Sequence[float], parts: int = 1) -> Margin:
    """By how much the first errs more, over the same queries."""
    return margin(np.subtract(one, other).tolist(), parts=parts)


def _apart(one: Sequence[float], other: Sequence[float], parts: int = 1) -> Margin:
    """The same over different queries."""
    error = sqrt(sum(np.var(some, ddof=1) / len(some) for some in (one, other)))
    freedom = min(len(one), len(other)) - 1
    return around(float(np.mean(one) - np.mean(other)), error, parts=parts, freedom=freedom)


def _small(found: Figure7) -> list[Statement]:
    gammas = list(found)
    last = found[gammas[-1]]
    many = f"{len(last['DBR'])} queries"
    ours = {gamma: float(np.mean(found[gamma]["SPLU-Gen"])) for gamma in gammas}
    others = ("Anatomy", "DBR", "Laplace, ln 3", "Laplace, ln 2")
    weak = last["Laplace, ln 3"]
    strong = [found[gamma][name] for name in ("SPLU-Gen", "Anatomy") for gamma in gammas] + [last["DBR"]]
    return [
        Statement(
            "Figure 7",
            "the error of SPLU-Gen on small counts grows with gamma",
            ", ".join(f"{one:.2f}" for one in ours.values()),
            every([
                paired(found[more]["SPLU-Gen"], found[less]["SPLU-Gen"], len(gammas) - 1)
                for less, more in pairwise(gammas)
            ]),
            many,
            "data",
        ),
        Statement(
            "Figure 7",
            f"SPLU-Gen has the highest error on small counts at larger gamma ({gammas[-1]})",
            f"{ours[gammas[-1]]:.2f}, the others {max(np.mean(last[name]) for name in others):.2f} at most",
            every([paired(last["SPLU-Gen"], last[name], len(others)) for name in others]),
            many,
            "data",
        ),
        Statement(
            "Figure 7",
            "counts with Laplace noise at epsilon = ln 3 err less than all others on small counts",
            f"{np.mean(weak):.2f}, the others {min(np.mean(one) for one in strong):.2f} and more",
            every([paired(one, weak, len(strong)) for one in strong]),
            many,
            "data",
        ),
    ]  # fmt: skip


def _by_selectivity(large: Figures89) -> list[Statement]:
    bands = large[300_000 if 300_000 in large else max(large)]
    ours, anatomy = ([one[name] for one in bands.values() if one[name]] for name in ("SPLU-Gen", "Anatomy"))
    pairs = list(combinations(anatomy, 2))
    rises = [_apart(later, before, len(pairs)) for before, later in pairs]
    many = f"{', '.join(str(len(one)) for one in ours)} queries"
    return [
        Statement(
            "Figure 8",
            "the error of SPLU-Gen falls with the selectivity, from the first band to the last",
            ", ".join(f"{np.mean(one):.3f}" for one in ours),
            _apart(ours[0], ours[-1]),
            many,
            "data",
        ),
        Statement(
            "Figure 8",
            "the error of Anatomy does not fall throughout with the selectivity: some later band has more",
            ", ".join(f"{np.mean(one):.3f}" for one in anatomy),
            (max(low for low, _ in rises), max(high for _, high in rises)),
            many,
            "data",
        ),
    ]


def _by_rows(large: Figures89) -> list[Statement]:
    parts = [one["SPLU-Gen"] for bands in large.values() for one in bands.values() if one["SPLU-Gen"]]
    worst = max(float(np.mean(one)) for one in parts)
    many = f"{min(map(len, parts))} to {max(map(len, parts))} queries a band"
    told = [
        Statement(
            "Figure 9",
            "errors of SPLU-Gen are at most 20 % from 0.5 to 5 % of the rows",
            f"{worst:.1%} at most",
            every([margin([0.2 - each for each in one], parts=len(parts)) for one in parts]),
            many,
            "data",
        )
    ]
    for name in ("Anatomy", "DBR"):
        gaps = {rows: _mean_gap(bands, name, len(large)) for rows, bands in large.items()}
        told.append(
            Statement(
                "Figure 9",
                f"SPLU-Gen errs less on large counts than {name}, in the mean of the bands, at every size",
                f"by {', '.join(f'{mean:.3f}' for mean, _ in gaps.values())}",
                every([one for _, one in gaps.values()]),
                many,
                "data",
            )
        )
    return told


def _mean_gap(bands: Mapping[str, Errors], name: str, parts: int) -> tuple[float, Margin]:
    """By how much another method errs more in the mean of the bands, and the interval of that."""
    gaps = [np.subtract(one[name], one["SPLU-Gen"]) for one in bands.values() if one[name]]
    error = sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps)) / len(gaps)
    mean = float(np.mean([gap.mean() for gap in gaps]))
    return mean, around(mean, error, parts=parts, freedom=min(map(len, gaps)) - 1)


def _two(two: Figure12, large: Figures89) -> Statement:
    """At gamma = 5 and the fewest rows, the nearest bands that the two figures have."""
    both = list(two["as printed"][5].values())[-1]
    one = next(iter(large[min(large)].values()))["as printed"]
    return Statement(
        "Figure 12",
        "two sensitive columns are as accurate as one, to a factor of 2, by the paper's iteration, gamma = 5",
        f"{np.mean(both):.2f} at 0.5 to 0.7 %, one column {np.mean(one):.2f} at 0.5 to 1 %",
        _apart([2 * each for each in one], both),
        f"{len(both)} and {len(one)} queries",
        "data: state and quarter of birth, not occupation and age",
    )
