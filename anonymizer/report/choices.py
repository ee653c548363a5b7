"""How a choice of epsilon is reported: as plain values, as warnings, and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from anonymizer.choosing.baseline import WITHIN, largest_noise
from anonymizer.choosing.choice import Choice
from anonymizer.measures.contract.story import number, plain
from anonymizer.report.plots import choice_plot
from anonymizer.report.rendering import Facts, render

_DP: Final = ("dp", "local-dp", "idp")


def choice_values(chosen: Choice) -> Mapping[str, Any]:
    """All of it as plain JSON values."""
    trials = chosen.trials
    values: Mapping[str, Any] = plain(
        {
            "epsilon": chosen.epsilon,
            "goal": chosen.goal,
            "limit": chosen.limit,
            "crossing": chosen.crossing,
            "crossing_interval": list(chosen.interval),
            "at_end": chosen.at_end,
            "risk": {
                "figure": trials.risk.name,
                "better": trials.risk.better,
                "expected": chosen.risk[0],
                "bound": chosen.risk[1],
                "curve": chosen.risk_fit.curve.family,
                "errors": chosen.risk_fit.errors,
            },
            "utility": {
                "figure": trials.utility.name,
                "better": trials.utility.better,
                "expected": chosen.utility,
                "curve": chosen.utility_fit.curve.family,
                "errors": chosen.utility_fit.errors,
            },
            "noise_of_a_count": largest_noise(chosen.epsilon),
            "trials": [
                {"epsilon": one.epsilon, "risk": one.risk, "utility": one.utility} for one in trials.made
            ],
            "failed": {f"{epsilon:g}": why for epsilon, why in trials.failed.items()},
            "guarantees": [one.to_document() for one in trials.promised],
        }
    )
    return values


def choice_cautions(chosen: Choice) -> tuple[str, ...]:
    """What must not be overlooked, beside how the choice was made; a sentence each."""
    warnings = []
    if not any(one.kind in _DP for one in chosen.trials.promised):
        warnings.append(
            "The releases of the trials promise no differential privacy: epsilon is a parameter of the "
            "method and no more."
        )
    elif all(one.kind == "idp" for one in chosen.trials.promised if one.kind in _DP):
        warnings.append(
            "What is promised is individual differential privacy, which is less than differential privacy."
        )
    if chosen.at_end:
        warnings.append(
            f"The limit is kept at all epsilons that were tried, {chosen.epsilon:.4g} being the largest: "
            "what lies beyond is not known."
        )
    if chosen.trials.failed:
        failed = ", ".join(f"{epsilon:g}" for epsilon in chosen.trials.failed)
        warnings.append(f"At epsilon {failed} no release could be made and measured.")
    warnings.append(
        "The limit is one of a figure that was measured, not a guarantee; a release differs from those of "
        "the trials, and its own report has to be looked at."
    )
    return tuple(warnings)


def choice_page(chosen: Choice, facts: Facts, cautions: Sequence[str]) -> str:
    """The report on a choice, as HTML."""
    trials = chosen.trials
    epsilons = trials.column("epsilon")
    rows = []
    for epsilon in np.unique(epsilons):
        cells = [number(float(epsilon))]
        for name in ("risk", "utility"):
            values = trials.column(name)[epsilons == epsilon]
            cells += [number(float(values.mean())), number(float(values.std(ddof=1)))]
        rows.append(cells)
    facts = [
        *facts,
        ("Risk", trials.risk.title),
        ("Limit", f"{number(chosen.limit)} at the {'most' if trials.risk.better == 'less' else 'least'}"),
        ("Utility", trials.utility.title),
        ("Looked for", _GOALS[chosen.goal]),
        (
            f"Promised at epsilon {epsilons.max():.4g}, the largest tried",
            " ".join(map(str, trials.promised)) or "nothing",
        ),
        ("Noise of a count at this epsilon (Algorithm 5)",
         f"{number(largest_noise(chosen.epsilon))} rows: two standard deviations, {100 * WITHIN:.1f} % of "
         "the noise lies within"),
    ]  # fmt: skip
    errors = [
        [family, number(chosen.risk_fit.errors[family]), number(chosen.utility_fit.errors[family])]
        for family in chosen.risk_fit.errors
    ]
    return render(
        "choice.html",
        title=f"Epsilon for {trials.risk.title}",
        chosen=chosen,
        facts=facts,
        cautions=cautions,
        risk_svg=Markup(  # noqa: S704 - own drawing
            choice_plot(
                chosen.risk_fit,
                epsilons,
                trials.column("risk"),
                trials.risk.title,
                chosen.epsilon,
                chosen.limit,
            )
        ),
        utility_svg=Markup(  # noqa: S704 - own drawing
            choice_plot(
                chosen.utility_fit, epsilons, trials.column("utility"), trials.utility.title, chosen.epsilon
            )
        ),
        errors=errors,
        rows=rows,
    )


_GOALS: Final = {
    "largest": "the largest epsilon within the limit",
    "utility": "the least epsilon within the limit whose expected utility is as good as the best, but for "
    "its standard error",
}
