"""How a series of matrices is reported: as warnings, and on a page."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.report.rendering import render
from anonymizer.series.attacks import Linked
from anonymizer.series.released import Released, SeriesMeasures
from anonymizer.series.specification import SeriesSpec


def series_cautions(
    spec: SeriesSpec, made: Sequence[Released], found: SeriesMeasures | None, seed: int | None
) -> tuple[str, ...]:
    """What must not be overlooked, a sentence each."""
    warnings = list(dict.fromkeys(note for one in made for note in one.release.notes))
    if any(not one.release.guarantees for one in made):
        warnings.append(
            "Nothing is promised of the matrices. The attacks show how well they protect; others may do more."
        )
    if spec.factorization is not None:
        warnings.append(
            "The factors of items are made of the cells of all users. An item with few users tells of them; "
            "those with less than minimum_users are left out."
        )
    if any(one.release.guarantees for one in made) and len(made) > 1:
        warnings.append("k is of each window alone. A user found in two windows is one of fewer than k.")
    if seed is not None:
        warnings.append(
            "The release was made from a seed: who guesses it makes it again. Release without one."
        )
    return (*warnings, *(found.skipped if found is not None else ()))


def series_page(
    spec: SeriesSpec,
    log_name: str,
    made: Sequence[Released],
    found: SeriesMeasures,
    cautions: Sequence[str],
    seed: int | None,
) -> str:
    """The report on a series, an HTML page."""
    attacks = [
        (f"re-identification, window {number}", *_cells(one))
        for number, one in enumerate(found.reidentified, 1)
    ]
    for number, (one, two) in enumerate(zip(found.pseudonyms, found.linked, strict=True), 1):
        attacks.append((f"linkage of windows {number} and {number + 1}, pseudonyms only", *_cells(one)))
        attacks.append((f"linkage of windows {number} and {number + 1}", *_cells(two)))
    useful = [
        (f"window {number}", f"{one.original.f:.3f}", f"{one.release.f:.3f}", f"{one.ratio:.3f}")
        for number, one in enumerate(found.useful, 1)
    ]
    windows = [
        (
            str(one.matrix.window),
            f"{len(one.matrix):,}",
            f"{len(one.users):,}",
            f"{len(one.matrix.items):,}",
            ", ".join(f"{each.kind}, k = {each.number('k'):g}" for each in one.release.guarantees)
            or "nothing",
        )
        for one in made
    ]
    steps = [str(step["method"]) for step in spec.steps]
    facts = [
        ("Log", log_name),
        ("Specification", spec.title or "without a title"),
        ("Digest (SHA-256)", spec.digest),
        ("Factorization", _describe(spec)),
        ("Steps", ", ".join(steps) or "none"),
        ("Items left out", f"with fewer than {spec.minimum_users} users in a window"),
        ("Randomness", "of the operating system" if seed is None else f"from seed {seed}"),
    ]
    return render(
        "series.html",
        title=spec.title or "Report on a series of matrices",
        worst=max(one.risk for one in found.reidentified),
        linked=max((one.risk for one in found.linked), default=None),
        ratio=min((one.ratio for one in found.useful), default=None),
        cautions=list(cautions),
        attacks=attacks,
        useful=useful,
        windows=windows,
        facts=facts,
    )


def _cells(one: Linked) -> tuple[str, ...]:
    low, high = one.attack.main.interval(one.attack.level)
    control = one.attack.control
    exact = "exact" if one.assignment.excess == 0 else f"within {one.assignment.excess:.1%}"
    return (
        f"{one.risk:.3f}",
        f"{low:.3f} to {high:.3f}",
        "" if control is None else f"{control.value:.3f}",
        f"{one.attack.risk:.3f}",
        exact,
    )


def _describe(spec: SeriesSpec) -> str:
    if spec.factorization is None:
        return "none; the steps work on the matrix"
    return ", ".join(f"{key} {value}" for key, value in spec.factorization.items()) or "as by default"
