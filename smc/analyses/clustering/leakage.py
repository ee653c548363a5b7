"""What people read about a clustering job: who learns what, and what the result guarantees."""

from __future__ import annotations

from typing import Any

from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.table import Shape
from smc.analyses.disclosure.limits import ASKED
from smc.analyses.studies.brief import LEAST_MATCHES, Brief, count_of
from smc.analyses.studies.study import Leakage
from smc.forms import Role


def tells_members(parameters: ClusteringParameters) -> bool:
    """Whether recipients can find out, without labels, which of their rows are in which cluster.

    The exact centre of a cluster times its size is a sum over its rows. Where a row lies at both sides, each
    can choose its own part so that every set of rows has another sum, such as 1, 2, 4, 8; the other's part
    decides on the clusters. Of rows that it holds whole, a recipient takes the clusters from the centres.
    """
    return parameters.epsilon is None and parameters.layout is not Layout.HORIZONTAL


def leakage(parameters: ClusteringParameters, recipients: frozenset[Role]) -> Leakage:
    """Who learns what beyond its own input."""
    rows = "rows" if parameters.match is None else "rows that take part in the matching"
    public = [
        f"the number of {rows} of each side",
        f"the parameters: {parameters.clusters} clusters, {parameters.layout.value} layout, the columns and "
        "their declared bounds, and centres if the job states them",
    ]
    both: list[str] = []
    if parameters.match is not None:
        public.append("by which keys rows are matched")
        if parameters.epsilon is None:
            both.append(
                "where the policies ask for a least intersection or group: whether as many rows match, one "
                f"bit; {ASKED}"
            )
    if parameters.tolerance is not None:
        both.append("after each iteration whether the centres still move by more than the tolerance")
    learns = {role: tuple(both + (_gets(parameters) if role in recipients else [])) for role in Role}
    return Leakage(learns[Role.ALICE], learns[Role.BOB], tuple(public))


def brief(parameters: ClusteringParameters, recipients: frozenset[Role]) -> Brief:
    """The job in short."""
    clusters = count_of(parameters.clusters, "cluster")
    matched = parameters.match is not None
    both: tuple[str, ...] = (LEAST_MATCHES,) if matched and parameters.epsilon is None else ()
    if parameters.tolerance is not None:
        both += ("after each iteration whether the centres still move",)
    if parameters.epsilon is not None:
        gets: tuple[str, ...] = (f"centres and sizes of {clusters}, with noise",)
        hides = "which row is in which cluster on the other side, and the figures without noise"
    else:
        gets = (f"centres and sizes of {clusters}, exactly",)
        hides = ""
        if parameters.labels:
            gets += ("the cluster of each of its rows",)
        elif tells_members(parameters):
            gets += ("with chosen values: which rows are in which cluster",)
        else:
            hides = "which row of the other side is in which cluster"
    rows = "the rows that both have" if matched else "the rows of both"
    figures = ("centres", "sizes")
    return Brief.to(recipients, f"divide {rows} into {clusters}", gets, hides, both=both, figures=figures)


def _gets(parameters: ClusteringParameters) -> list[str]:
    if parameters.epsilon is not None:
        return [
            "the noisy centres and the noisy sizes of the clusters in the last iteration, under differential "
            f"privacy with epsilon {parameters.epsilon}: {parameters.neighbours}; neither party knows the "
            "noise"
        ]
    result = [
        "the centres of the clusters, that is the means of their rows before the last assignment, and how "
        "many rows are nearest to each; of those that the limits of the policies withhold, only which they "
        "are, and of all nothing where more than one, or than one in ten, would be",
        "the sum of the squared distances of all rows from their nearest centres, unless one is withheld",
    ]
    if parameters.match is not None:
        result.append("how many rows match, as the sum of these sizes, unless clusters are withheld")
    if parameters.labels:
        whose = "its own rows" if parameters.layout is Layout.HORIZONTAL else "all rows"
        result.append(f"which cluster each of {whose} belongs to, unless the cluster is withheld")
    elif tells_members(parameters):
        which = "which of its own rows match, and in which clusters they are"
        if parameters.match is None:
            which = "in which cluster each row is"
        result.append(
            f"{which}, if it wants to: whoever holds a column can choose its values so that the exact "
            "centres and sizes show which rows are in a cluster"
        )
    return result


def details(parameters: ClusteringParameters, shape: Shape, noisy: NoisyMeans | None) -> dict[str, Any]:
    """The details of an outcome."""
    scaled = shape.scaled
    found: dict[str, Any] = {
        "engine": "oblivious",
        "rows": list(shape.rows),
        "precision_bits": parameters.precision,
        "centre_fraction_bits": scaled.fraction,
        "distance_bits": scaled.width,
        "start": parameters.start.value,
        "scaling": parameters.scaling.value,
    }
    if noisy is None:
        rows = "joined" if shape.owner is None else "matched"
        found["guarantee"] = f"none: exact centres of the {rows} rows"
        return found
    found |= {
        "guarantee": "(epsilon, delta)-differential privacy, by sequential composition of all iterations' "
        "counts and sums; computational towards the two parties",
        "neighbours": str(parameters.neighbours),
        "mechanism": "discrete Laplace noise on the counts and sums of every iteration, drawn jointly",
        "epsilon": str(parameters.epsilon),
        "epsilon_per_number": str(noisy.part),
        "delta": float(noisy.delta),
        "iterations": parameters.iterations,
    }
    return found
