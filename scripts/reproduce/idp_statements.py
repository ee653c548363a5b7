"""What section 4 of the paper says of its figures, each statement with what is found here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from typing import Final

import numpy as np
from idp_experiments import ALPHAS, CBLS, DP, EPSILONS, LS, UM, Data, F, Setting, Sse
from page import Margin, Statement, around, every, margin

Errors = Mapping[Setting, Sse]
Learned = Mapping[Setting, F]
CLAIMED: Final = (5, 15)
"""Between these the paper sees the best k of iDP-CBLS."""
TOLERANCE: Final = 1.05
"""By so much the SSE of the best k of these may lie above that of the others."""
NEITHER: Final = "reading: of epsilon; the printed figures fit neither throughout"
SHARED, EACH = "shared epsilon", "epsilon for each attribute"


def ks_of(found: Mapping[Setting, object]) -> list[int]:
    """The k of clusters that were run, in increasing order."""
    return sorted({k for _, k, _, _ in found if k})


def _apart(one: Sequence[float], other: Sequence[float], parts: int = 1) -> Margin:
    """By how much the mean of the first is larger, where runs are not paired."""
    error = sqrt(sum(np.var(some, ddof=1) / len(some) for some in (one, other)))
    return around(float(np.mean(one) - np.mean(other)), error, parts=parts, freedom=len(one) - 1)


def _log_ratio(one: Sse, other: Sse, parts: int = 1) -> Margin:
    """The natural logarithm of the first by the second."""
    error = sqrt(sum(np.var(x.runs, ddof=1) / len(x.runs) / x.printed**2 for x in (one, other)))
    return around(log(one.printed / other.printed), error, parts=parts, freedom=len(one.runs) - 1)


def _shift(one: Margin, by: float, times: float = 1.0) -> Margin:
    low, high = sorted(times * end for end in one)
    return low + by, high + by


def of_errors(data: Data, figure: str, found: Errors, each: Errors) -> list[Statement]:
    """The statements of section 4.1.

    Args:
        data: the table.
        figure: such as `Figure 3`.
        found: mean SSE of all methods, `errors`.
        each: that of DP-UM and iDP-CBLS where every attribute has all of epsilon.
    """
    ks, narrow, where = ks_of(found), ALPHAS[0], f"{figure} ({data.name})"
    draws = f"{len(found[UM, ks[0], EPSILONS[0], narrow].runs)} runs"
    told: list[Statement] = []

    def add(says: str, shown: str, by: Margin, whose: str = "reading") -> None:
        told.append(Statement(where, says, shown, by, draws, whose))

    def runs(method: str, k: int, epsilon: float, alpha: float = narrow) -> Sequence[float]:
        return found[method, k, epsilon, alpha].runs

    def sse(method: str, k: int, epsilon: float, alpha: float = narrow) -> float:
        return found[method, k, epsilon, alpha].printed

    for epsilon in EPSILONS:
        others = [(m, k, epsilon, a) for m in (UM, LS, CBLS) for k in ks for a in ALPHAS]
        worst = max(found[one].printed / sse(DP, 0, *one[2:]) for one in others)
        add(
            f"DP has the highest SSE, epsilon {epsilon}, to a factor of {TOLERANCE}",
            f"others by DP: {worst:.2f} at most",
            every([
                _apart([TOLERANCE * one for one in runs(DP, 0, *other[2:])], found[other].runs, len(others))
                for other in others
            ]),
        )  # fmt: skip
    first, last = EPSILONS[0], EPSILONS[-1]
    add(
        "SSE of DP barely decreases from epsilon 0.01 to 1: 0.8 of it and more are left",
        f"to {sse(DP, 0, last) / sse(DP, 0, first):.2f} of it",
        _apart(runs(DP, 0, last), [0.8 * one for one in runs(DP, 0, first)]),
    )
    for method in (UM, LS):
        for epsilon in EPSILONS:
            add(
                f"SSE of {method} decreases with k, epsilon {epsilon}",
                f"k = {ks[-1]} by {ks[0]}: {sse(method, ks[-1], epsilon) / sse(method, ks[0], epsilon):.2g}",
                _apart(runs(method, ks[0], epsilon), runs(method, ks[-1], epsilon)),
            )
    gaps = {e: [1 - np.divide(runs(LS, k, e), runs(UM, k, e)) for k in ks] for e in EPSILONS}
    for epsilon, some in gaps.items():
        parts = [1 - float(one.mean()) for one in some]
        add(
            f"iDP-LS below DP-UM, epsilon {epsilon}, at every k",
            f"{min(parts):.3f} to {max(parts):.3f} of it, the same noise for both",
            every([margin(one.tolist(), parts=len(ks)) for one in some]),
        )
    wider = {e: np.mean(some, axis=0).tolist() for e, some in gaps.items()}
    add(
        "iDP-LS differs more from DP-UM for larger epsilon, 1 and 0.01, in the mean of k",
        ", ".join(f"{e}: {np.mean(one):.2f} less" for e, one in wider.items()),
        _apart(wider[last], wider[first]),
    )
    cells = [(k, e) for k in ks for e in EPSILONS]
    for method in (UM, LS):
        least = min(sse(method, k, e, ALPHAS[1]) / sse(method, k, e) for k, e in cells)
        add(
            f"SSE of {method} decreases with alpha, at every k and epsilon",
            f"alpha 3 by 1.5: {least:.2f} at least",
            every([
                _apart(runs(method, k, e, ALPHAS[1]), runs(method, k, e), len(cells)) for k, e in cells
            ]),
        )  # fmt: skip
    pairs = [
        _log_ratio(found[CBLS, k, e, ALPHAS[1]], found[CBLS, k, e, narrow], len(cells)) for k, e in cells
    ]
    means = [log(sse(CBLS, k, e, ALPHAS[1]) / sse(CBLS, k, e)) for k, e in cells]
    add(
        "iDP-CBLS is not affected by the domain: alpha changes SSE less than 1.5-fold",
        f"up to {np.exp(max(map(abs, means))):.1f} times",
        every([
            (min(_shift(pair, log(1.5))[0], _shift(pair, log(1.5), -1)[0]),
             min(_shift(pair, log(1.5))[1], _shift(pair, log(1.5), -1)[1]))
            for pair in pairs
        ]),
        "paper: erratum 44",
    )  # fmt: skip
    for name, some in ((SHARED, found), (EACH, each)):
        told += _against(where, draws, name, some, ks)
    return told


def _against(where: str, draws: str, name: str, some: Errors, ks: Sequence[int]) -> list[Statement]:
    """iDP-CBLS against DP-UM, and its best k, in one reading of epsilon."""
    told = []
    for epsilon in EPSILONS:
        for alpha in ALPHAS:
            setting = f"epsilon {epsilon}, alpha {alpha}, {name}"
            by_k = {
                k: _log_ratio(some[UM, k, epsilon, alpha], some[CBLS, k, epsilon, alpha], len(ks)) for k in ks
            }
            best = max(ks, key=lambda k, by_k=by_k: sum(by_k[k]))
            times = {
                k: some[UM, k, epsilon, alpha].printed / some[CBLS, k, epsilon, alpha].printed for k in ks
            }
            told.append(
                Statement(
                    where,
                    f"iDP-CBLS orders of magnitude below DP-UM at some k: 100 times, {setting}",
                    f"{min(times.values()):.2g} to {max(times.values()):.2g} times, most at k = {best}",
                    _shift(by_k[best], -log(100)),
                    draws,
                    NEITHER,
                )
            )
            inside = [k for k in ks if CLAIMED[0] <= k <= CLAIMED[1]]
            within, beyond = (
                min(group, key=lambda k, e=epsilon, a=alpha: some[CBLS, k, e, a].printed)
                for group in (inside, [k for k in ks if k not in inside])
            )
            ratio = _log_ratio(some[CBLS, beyond, epsilon, alpha], some[CBLS, within, epsilon, alpha])
            told.append(
                Statement(
                    where,
                    f"best k of iDP-CBLS among 5 to 15, to a factor of {TOLERANCE}, {setting}",
                    f"k = {within}; of the others {beyond}, {np.exp(sum(ratio) / 2):.2f} of its SSE",
                    _shift(ratio, log(TOLERANCE)),
                    draws,
                    NEITHER,
                )
            )
    narrow, k = ALPHAS[0], 10 if 10 in ks else ks[0]
    ratio = _log_ratio(some[CBLS, k, EPSILONS[0], narrow], some[UM, ks[-1], EPSILONS[-1], narrow])
    far = [log(10) - abs(end) for end in ratio]
    told.append(
        Statement(
            where,
            f"iDP-CBLS at epsilon 0.01 like DP-UM at 1, k = {ks[-1]}, to an order of magnitude, {name}",
            f"iDP-CBLS (k = {k}) has {np.exp(sum(ratio) / 2):.2g} times its SSE",
            (min(far), max(far) if ratio[0] * ratio[1] > 0 else log(10)),
            draws,
            NEITHER,
        )
    )
    return told


def of_classes(data: Data, figure: str, original: F, found: Learned, each: Learned) -> list[Statement]:
    """The statements of section 4.2.

    Args:
        data: the table.
        figure: such as `Figure 5`.
        original: F-measures of both classes, trained on the original.
        found: the same trained on masked records, `learned`.
        each: the same where every attribute has all of epsilon; of iDP-LS at the largest k only.
    """
    ks, told, where = ks_of(found), [], f"{figure} ({data.name})"
    draws = f"{len(original.runs)} forests"

    def parts(method: str, epsilon: float, pairs: Learned) -> dict[Setting, list[float]]:
        """Of each run the part of the original F-measure, mean of both classes."""
        return {
            setting: [_part(run, of) for run, of in zip(one.runs, original.runs, strict=True)]
            for setting, one in pairs.items() if (setting[0], setting[2]) == (method, epsilon)
        }  # fmt: skip

    def best(method: str, epsilon: float, pairs: Learned) -> list[float]:
        return max(parts(method, epsilon, pairs).values(), key=np.mean)

    def mean(method: str, epsilon: float, pairs: Learned) -> list[float]:
        return list(np.mean(list(parts(method, epsilon, pairs).values()), axis=0))

    def add(says: str, shown: str, by: Margin) -> None:
        told.append(Statement(where, says, shown, by, draws, NEITHER))

    for method, printed in ((LS, (0.20, 0.10, 0.05)), (CBLS, (0.10, 0.03, 0.0))):
        for epsilon, below in zip(EPSILONS, printed, strict=True):
            for name, pairs in ((SHARED, found), (EACH, each)):
                ways: list[tuple[str, Callable[[str, float, Learned], list[float]]]] = [("at best", best)]
                if method == CBLS:
                    ways.append(("in the mean of k", mean))
                for words, of in ways:
                    gaps = [1 - one for one in of(method, epsilon, pairs)]
                    if data.name == "Census":
                        says = f"F of {method} {words} about {below:.0%} below the original (5 points), "
                        says += f"epsilon {epsilon}, {name}"
                        add(says, f"{np.mean(gaps):.1%} below", _near(gaps, below))
                    elif method == CBLS and epsilon > EPSILONS[0] and words == "at best":
                        says = f"F of {method} reaches the original and more, epsilon {epsilon}, {name}"
                        add(says, f"{-np.mean(gaps):+.1%}", margin([-one for one in gaps]))
    for name, pairs in ((SHARED, found), (EACH, each)):
        more = np.subtract(best(CBLS, 0.01, pairs), best(LS, 0.1, pairs)).tolist()
        says = f"F of iDP-CBLS at epsilon 0.01 like iDP-LS at 0.1 (5 points), {name}"
        add(says, f"{100 * np.mean(more):+.1f} points", _near(more, 0.0))
    for epsilon in EPSILONS[1:]:
        low, high = (parts(LS, epsilon, found)[LS, k, epsilon, ALPHAS[0]] for k in (ks[0], ks[-1]))
        says = f"F of iDP-LS improves with k, epsilon {epsilon}"
        shown = f"k = {ks[0]}: {np.mean(low):.2f}, k = {ks[-1]}: {np.mean(high):.2f} of the original"
        add(says, shown, margin(np.subtract(high, low).tolist()))
    return told


def _near(values: Sequence[float], goal: float, tolerance: float = 0.05) -> Margin:
    """By how much values are nearer to a goal than the tolerance."""
    away = [one - goal for one in values]
    return every([margin([tolerance + sign * one for one in away], parts=2) for sign in (-1, 1)])


def _part(pair: Sequence[float], original: Sequence[float]) -> float:
    return sum(one / of for one, of in zip(pair, original, strict=True)) / len(pair)
