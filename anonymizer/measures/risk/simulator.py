"""The attack simulator as a measure, within a bound on the pairs that it compares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, Tile, number, percent
from anonymizer.methods.contract.method import Method
from anonymizer.risk.simulator import Simulation, simulate_attack
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

PAIRS: Final = 2_000_000_000
"""So many pairs of an original and a released row are compared before a part of the records is looked for."""
MIN_RECORDS: Final = 1000
"""So many records are looked for however many rows there are."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What the attack simulator found.

    Attributes:
        simulation: of the records that it looked for.
        records: how many those are.
        total: original rows.
    """

    simulation: Simulation = field(repr=False)
    records: int
    total: int

    @property
    def part(self) -> bool:
        """Whether only some of the records were drawn."""
        return self.records < self.total


def looked_for(original: Table, release: Table, method: Method, seed: int | None = None) -> Looked:
    """Attack all original records, or as many as `PAIRS` allows.

    Args:
        original: with quasi-identifiers.
        release: what `method` made of it last.
        method: fitted.
        seed: of the draw of records; None is the operating system's randomness.

    Raises:
        TableError: a step has no simulator, or the rows stem from nobody.
    """
    total = len(original)
    most = records_at_once(release)
    some = Randomness(seed, "records of the simulator").sample(total, most) if most < total else None
    found = simulate_attack(original, release, method, rate=method.sampling_rate, records=some)
    return Looked(found, total if some is None else len(some), total)


def records_at_once(release: Table) -> int:
    """How many records are looked for in a release within `PAIRS`."""
    return max(MIN_RECORDS, PAIRS // max(1, len(release)))


class AttackSimulator(Measure[Looked]):
    """Candidates of each record, for an attacker who knows how the release was made."""

    name = "simulator"
    title = "The attack simulator"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PIPELINE)

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Pairs of rows, 64 of them at a time."""
        return min(float(rows) ** 2, max(float(PAIRS), MIN_RECORDS * float(rows))) / 64 * columns

    @override
    def measure(self, case: Case) -> Looked:
        if case.pipeline is None:
            raise TableError(
                "It is not known how the release was made.",
                "Measure with `duetto anonymize --report`, which knows it.",
            )
        return looked_for(case.original, case.release, case.pipeline, case.seed)

    @override
    def describe(self, found: Looked) -> Presentation:
        """The worst case, the mean, and what is learned."""
        one = found.simulation
        mean, some = float(one.risks.mean()), bool(one.found.any())
        left = f"{number(one.n_q)} candidate{'' if one.n_q == 1 else 's'}" if some else "no record is found"
        facts = [
            ("Records looked for", f"{found.records:,} of {found.total:,}"),
            ("Worst case", f"risk {number(one.risk)}: {left}"),
            ("Mean over the records", number(mean)),
            ("True row among the candidates", f"for {percent(float(one.found.mean()))} of the records; the "
             "attack fails for the others"),
            ("... with high confidence", f"for {percent(float(one.confident.mean()))}"),
        ]  # fmt: skip
        by_rows = None if one.own is None else float(one.own.max(initial=0))
        if by_rows is not None:
            facts.append(
                (
                    "Own rows among the candidates",
                    f"{percent(by_rows)} at most: candidates are persons, and who picks one of their rows is "
                    "right so often with a person of many rows",
                )
            )
        grids = []
        if one.kinds:
            grids.append(
                Grid(
                    "What the attacker learns. With one kind of value among the candidates of some record "
                    "its value is certain.",
                    (
                        "Sensitive column",
                        "Worst case, 1 / kinds of values",
                        "Largest share of the true value",
                    ),
                    [
                        (
                            name,
                            number(one.revealing_risk(name)),
                            number(one.revealing_risk(name, probabilistic=True)),
                        )
                        for name in one.kinds
                    ],
                )
            )
        return Presentation(
            values={
                "records": found.records,
                "risk": one.risk,
                "n_q": one.n_q,
                "average": mean,
                "own_rows": by_rows,
                "found": float(one.found.mean()),
                "confident": float(one.confident.mean()),
                "revealing": {
                    name: {
                        "risk": one.revealing_risk(name),
                        "probabilistic": one.revealing_risk(name, probabilistic=True),
                    }
                    for name in one.kinds
                },
            },
            lines=[("attack simulator", f"risk of the worst record {one.risk:.4g}, {mean:.4g} in the mean")],
            cautions=_cautions(found),
            cards=[
                Tile(number(one.risk), f"risk of the worst record: {left}", worst=True),
                Tile(number(mean), "mean risk of a record"),
            ],
            text="An attacker knows all quasi-identifiers of a person and how the release was made, and "
            "looks for the released rows that the person's record may have become. The fewer there are, the "
            "higher the risk: with n candidates it is 1 / n. Where persons have several rows, candidates are "
            "persons.",
            facts=facts,
            grids=grids,
        )


def _cautions(found: Looked) -> list[str]:
    one, cautions = found.simulation, []
    if found.part:
        cautions.append(
            f"The attack simulator looked for {found.records:,} of {found.total:,} records, drawn at random: "
            "among the others there may be a worse case."
        )
    certain = int((one.found & np.isclose(one.risks, 1)).sum())
    if certain:
        cautions.append(f"The attack simulator finds {certain:,} records with certainty (one candidate).")
    if not one.found.any():
        cautions.append(
            "The attack simulator finds no true row among its candidates: it looks for something else than "
            "was released, and its risk of 0 says nothing."
        )
    return cautions
