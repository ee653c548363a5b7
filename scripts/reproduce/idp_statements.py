"""What section 4 of the paper says of its figures, each statement with what is found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idp_experiments import ALPHAS, CBLS, DP, EPSILONS, LS, UM, Data, Setting
from page import Statement

Pairs = Mapping[Setting, tuple[float, float]]
CLAIMED = (5, 15)
"""Between these the paper sees the best k of iDP-CBLS."""


def readings(shared: Pairs, each: Pairs) -> tuple[tuple[str, Pairs], ...]:
    """Figures by what epsilon is taken to be of."""
    return (("shared epsilon", shared), ("epsilon for each attribute", each))


def ks_of(found: Pairs) -> list[int]:
    """The k of clusters that were run, in increasing order."""
    return sorted({k for _, k, _, _ in found if k})


def best(found: Pairs, method: str, epsilon: float, alpha: float) -> int:
    """The k of the least SSE as printed."""
    return min(ks_of(found), key=lambda k: found[method, k, epsilon, alpha][0])


def of_errors(data: Data, found: Pairs, steady: Pairs, each: Pairs) -> list[Statement]:
    """The statements of section 4.1.

    Args:
        data: the table.
        found: mean SSE of all methods, `errors`.
        steady: that of iDP-CBLS over more runs.
        each: the same, and that of DP-UM, where every attribute has all of epsilon.
    """
    ks, narrow = ks_of(found), ALPHAS[0]
    told: list[Statement] = []

    def add(says: str, shown: str, holds: bool) -> None:
        told.append(Statement(data.name, says, shown, holds))

    def sse(method: str, k: int, epsilon: float, alpha: float = narrow) -> float:
        return found[method, k, epsilon, alpha][0]

    for epsilon in EPSILONS:
        worst = max(sse(m, k, epsilon, a) / sse(DP, 0, epsilon, a) for m in (UM, LS, CBLS)
                    for k in ks for a in ALPHAS)  # fmt: skip
        add(
            f"DP has the highest SSE, epsilon {epsilon}",
            f"others by DP: {worst:.2f} at most",
            worst <= 1.05,
        )
    fall = sse(DP, 0, EPSILONS[-1]) / sse(DP, 0, EPSILONS[0])
    add("SSE of DP barely decreases from epsilon 0.01 to 1", f"to {fall:.2f} of it", fall > 0.8)
    for method in (UM, LS):
        for epsilon in EPSILONS:
            part = sse(method, ks[-1], epsilon) / sse(method, ks[0], epsilon)
            add(
                f"SSE of {method} decreases with k, epsilon {epsilon}",
                f"k = {ks[-1]} by k = {ks[0]}: {part:.2g}",
                part < 1,
            )
    parts = {e: [sse(LS, k, e) / sse(UM, k, e) for k in ks] for e in EPSILONS}
    for epsilon in EPSILONS:
        below = sum(part < 1 for part in parts[epsilon])
        add(
            f"iDP-LS below DP-UM, epsilon {epsilon}",
            f"at {below} of {len(ks)} k; {min(parts[epsilon]):.2f} to {max(parts[epsilon]):.2f} of it",
            below == len(ks),
        )
    add(
        "iDP-LS differs more from DP-UM for larger epsilon",
        ", ".join(f"{e}: {min(parts[e]):.2f}" for e in EPSILONS),
        min(parts[EPSILONS[-1]]) < min(parts[EPSILONS[0]]),
    )
    for method in (UM, LS):
        least = min(sse(method, k, e, ALPHAS[1]) / sse(method, k, e, narrow) for k in ks for e in EPSILONS)
        add(f"SSE of {method} decreases with alpha", f"alpha 3 by 1.5: {least:.2f} at least", least > 1)
    for name, runs in readings(found, each):
        for epsilon in EPSILONS:
            for alpha in ALPHAS:
                ratios = [runs[UM, k, epsilon, alpha][0] / runs[CBLS, k, epsilon, alpha][0] for k in ks]
                add(
                    f"iDP-CBLS orders of magnitude below DP-UM, epsilon {epsilon}, alpha {alpha}, {name}",
                    f"{min(ratios):.2g} to {max(ratios):.2g} times (k {ks[ratios.index(min(ratios))]}, "
                    f"{ks[ratios.index(max(ratios))]})",
                    max(ratios) >= 100,
                )
    wide = max(
        max(one, 1 / one)
        for e in EPSILONS
        for k in ks
        for one in [steady[CBLS, k, e, ALPHAS[1]][0] / steady[CBLS, k, e, narrow][0]]
    )
    add("iDP-CBLS is not affected by the domain", f"alpha changes SSE up to {wide:.1f} times", wide < 1.5)
    far = sse(UM, ks[-1], 1.0) / sse(CBLS, 10 if 10 in ks else ks[0], 0.01)
    add(
        f"iDP-CBLS at epsilon 0.01 like DP-UM at epsilon 1, k = {ks[-1]}",
        f"DP-UM by iDP-CBLS (k = 10): {far:.2g}",
        far > 1 / 3,
    )
    for name, runs in readings(steady, each):
        for epsilon in EPSILONS:
            for alpha in ALPHAS:
                k = best(runs, CBLS, epsilon, alpha)
                least = min(
                    runs[CBLS, one, epsilon, alpha][0] for one in ks if CLAIMED[0] <= one <= CLAIMED[1]
                )
                off = least / runs[CBLS, k, epsilon, alpha][0]
                add(
                    f"Best k of iDP-CBLS among 5 to 15, epsilon {epsilon}, alpha {alpha}, {name}",
                    f"k = {k}; among 5 to 15 {off:.2f} times that",
                    CLAIMED[0] <= k <= CLAIMED[1],
                )
    return told


def of_classes(data: Data, original: tuple[float, float], found: Pairs, each: Pairs) -> list[Statement]:
    """The statements of section 4.2.

    Args:
        data: the table.
        original: F-measures of both classes, trained on the original.
        found: the same trained on masked records, `learned`.
        each: the same where every attribute has all of epsilon; of iDP-LS at the largest k only.
    """
    ks, told = ks_of(found), []

    def top(method: str, epsilon: float, pairs: Pairs) -> float:
        """The best part of the original F-measure, mean of both classes, in [0, 1] or slightly above."""
        return max(
            _part(pair, original) for (m, _, e, _), pair in pairs.items() if (m, e) == (method, epsilon)
        )

    for method, printed in ((LS, (0.20, 0.10, 0.05)), (CBLS, (0.10, 0.03, 0.0))):
        for epsilon, below in zip(EPSILONS, printed, strict=True):
            for name, pairs in readings(found, each):
                gap = 1 - top(method, epsilon, pairs)
                if data.name == "Census":
                    says = f"F of {method} at best about {below:.0%} below the original, epsilon {epsilon}"
                    says += f", {name}"
                    told.append(Statement(data.name, says, f"{gap:.1%} below", abs(gap - below) <= 0.05))
                elif method == CBLS and epsilon > 0.01:
                    says = f"F of {method} reaches the original and more, epsilon {epsilon}, {name}"
                    told.append(Statement(data.name, says, f"{-gap:+.1%}", gap <= 0))
    for name, pairs in readings(found, each):
        same = top(CBLS, 0.01, pairs) - top(LS, 0.1, pairs)
        says = f"F of iDP-CBLS at epsilon 0.01 like iDP-LS at 0.1, {name}"
        told.append(Statement(data.name, says, f"{100 * same:+.1f} points", abs(same) <= 0.05))
    for epsilon in EPSILONS[1:]:
        first, last = (_part(found[LS, k, epsilon, ALPHAS[0]], original) for k in (ks[0], ks[-1]))
        says = f"F of iDP-LS improves with k, epsilon {epsilon}"
        told.append(
            Statement(data.name, says, f"k = {ks[0]}: {first:.2f}, k = {ks[-1]}: {last:.2f}", last > first)
        )
    return told


def _part(pair: Sequence[float], original: Sequence[float]) -> float:
    return sum(one / of for one, of in zip(pair, original, strict=True)) / len(pair)
