"""The experiments of chapter 5 on two windows of the same users: risks and usefulness of every setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from chapter5_printed import FACTOR_NOISES, KS, NOISES, NOISES_OF, RANKS, Figures, Key
from numpy.typing import NDArray
from sklearn.base import clone

from anonymizer.methods.contract.method import Method
from anonymizer.methods.perturbation.mdav import MDAV
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.recoding.clustering import KMember
from anonymizer.series.attacks import link_users, partners
from anonymizer.series.factorization import deviation, factorize
from anonymizer.series.log import Log
from anonymizer.series.matrix import Matrix, Window, matrices
from anonymizer.series.recombined import Recombined
from anonymizer.series.released import cells_of
from anonymizer.series.usefulness import predictable, scores
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

SHOP: Final = "shop_log.csv.gz"
HOSPITAL: Final = "diabetes_130.csv.gz"
DIAGNOSES: Final = ("diag_1", "diag_2", "diag_3")
DRUGS: Final = (24, 47)
"""Of the hospital file the columns of drugs, first and behind the last."""
STAYS: Final = 3
"""Stays in a window of the hospital log at the most."""
USERS: Final = 200
ACTIVE: Final = 500
"""The users of an experiment are drawn of so many who have the most events."""

SHARE: Final = 0.15
"""Predicted items have so large a part of the users at least, and lack so many."""


ITERATIONS: Final = (1, 2, 5, 10, 20, 50, 100)
"""Of Figure 5.2."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two windows of the same users, row by row.

    Attributes:
        one: M_t1.
        other: M_t2.
    """

    one: Matrix
    other: Matrix

    @classmethod
    def of(cls, log: Log, windows: Sequence[Window]) -> Pair:
        """The users of both windows."""
        one, other = matrices(log, windows)
        places = partners(one.users, other.users)
        both = np.flatnonzero(places >= 0)
        return cls(one.take(both), other.take(places[both]))

    def taken(self, rows: Int) -> Pair:
        """Some users."""
        return Pair(self.one.take(rows), self.other.take(rows))


@dataclass(frozen=True, slots=True)
class Source:
    """A log of the experiments.

    Attributes:
        name: for headings.
        pairs: with observation times that grow; the last is that of the experiments.
        windows: what these times are.
    """

    name: str
    pairs: tuple[Pair, ...] = field(repr=False)
    windows: tuple[str, ...]

    @classmethod
    def shop(cls, path: Path) -> Source:
        """Households by categories of products, in equally long windows from weeks 1 and 27 on."""
        frame = pd.read_csv(path, dtype={"household_id": str}).dropna(subset=["product_category"])
        log = Log.of(Table.of(frame), user="household_id", time="week", item="product_category")
        weeks = (8, 13, 26)
        pairs = [Pair.of(log, [Window(1, 1 + long), Window(27, 27 + long)]) for long in weeks]
        return cls("retail", tuple(pairs), tuple(f"{long} weeks" for long in weeks))

    @classmethod
    def hospital(cls, path: Path) -> Source:
        """Patients by diagnoses and drugs, in equally many stays from the first and the fourth on."""
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame["order"] = frame["encounter_id"].astype(int)
        frame = frame.sort_values("order")
        frame["stay"] = frame.groupby("patient_nbr").cumcount() + 1
        frame = frame[frame["stay"] <= 2 * STAYS]
        drugs = list(frame.columns[slice(*DRUGS)])
        given = frame.melt(["patient_nbr", "stay"], [*DIAGNOSES, *drugs], "column", "cell")
        diagnosed = given["column"].isin(DIAGNOSES)
        given["item"] = given["cell"].where(diagnosed, given["column"])
        given = given[(diagnosed & (given["cell"] != "?")) | (~diagnosed & (given["cell"] != "No"))]
        table = Table.of(given[["patient_nbr", "stay", "item"]])
        log = Log.of(table, user="patient_nbr", time="stay", item="item")
        stays = range(1, STAYS + 1)
        second = 1 + STAYS
        pairs = [Pair.of(log, [Window(1, 1 + long), Window(second, second + long)]) for long in stays]
        return cls("hospital", tuple(pairs), tuple(f"{long} stays" for long in stays))


def drawn(source: Source, seed: int, users: int = USERS) -> tuple[tuple[Pair, ...], Float]:
    """Users who are in all windows, and the cells of the others in the first window of the experiments."""
    whole = source.pairs[-1]
    shared = set(whole.one.users)
    for pair in source.pairs:
        shared &= set(pair.one.users)
    events = np.asarray(whole.one.cells.sum(axis=1) + whole.other.cells.sum(axis=1)).ravel()
    order = [row for row in np.argsort(-events, kind="stable").tolist() if whole.one.users[row] in shared]
    chosen = [order[place] for place in Randomness(seed, "users").sample(min(ACTIVE, len(order)), users)]
    names = [whole.one.users[row] for row in chosen]
    pairs = []
    for pair in source.pairs:
        places = {user: row for row, user in enumerate(pair.one.users)}
        pairs.append(pair.taken(np.array([places[name] for name in names])))
    rest = np.setdiff1d(np.arange(len(whole.one)), chosen)
    return tuple(pairs), whole.one.take(rest).cells.toarray()


def experiment(
    source: Source,
    seed: int,
    *,
    ks: Sequence[int] = KS,
    ranks: Sequence[int] = RANKS,
    noises: Sequence[float] = NOISES,
    factor_noises: Sequence[float] = FACTOR_NOISES,
    iterations: Sequence[int] = ITERATIONS,
    variants: Sequence[str] = (),
    users: int = USERS,
) -> Figures:
    """All figures for one draw of users, by table, row and column; the last of the iterations is for all.

    Beside those of the printed tables: of table `F` the mean F-measure of the original, of `5.8 Uti` the
    usefulness with all noises on factors, of `5.2 error` that of Figure 5.2, of `variants` what the thesis
    leaves open. Without noises on cells there is no k-anonymization of cells either.
    """
    pairs, rest = drawn(source, seed, users)
    alike = np.arange(users)
    found: Figures = {}
    for number, pair in enumerate(pairs, 1):
        risk = link_users(pair.one.cells, pair.other.cells, alike, name="original", seed=seed).risk
        found["5.2", f"{number}", "linkage"] = risk
    pair = pairs[-1]
    cells = pair.one.cells.toarray()
    items = predictable(cells, rest, seed=seed, share=SHARE)
    original = found["F", "original", "F"] = scores(cells, rest, items).f

    def tried(method: Method, alone: Key, apart: Key, useful: Sequence[Key] = ()) -> None:
        one, other = (
            _released(method, matrix, seed + 1000 * number, iterations[-1])
            for number, matrix in enumerate((pair.one, pair.other))
        )
        found[alone] = link_users(cells, one, alike, name="re-identification", seed=seed).by_k
        found[apart] = link_users(one, other, alike, name="linkage", seed=seed).by_k
        if useful:
            found.update(dict.fromkeys(useful, scores(one, rest, items).f / original))

    def both(table: str, row: float | str) -> tuple[Key, Key]:
        text = row if isinstance(row, str) else f"{row:g}"
        return (table, text, "re-identification"), (table, text, "linkage")

    for rank in ranks:
        tried(Recombined(rank=rank), *both("5.3", rank))
        for some in iterations:
            fitted = factorize(pair.one.cells, rank, iterations=some, seed=seed)
            found["5.2 error", f"{some}", f"r = {rank}"] = deviation(pair.one.cells, fitted)
    for k in ks if noises else ():
        tried(KMember(k=k), *both("5.4", k), [("5.10", f"{k}", "Uti")])
    for noise in noises:
        tried(Noise(scales=noise, digits=3), *both("5.5", noise), [("5.11", f"{noise:g}", "Uti")])
    for rank in ranks:
        column = f"r = {rank}"
        for k in ks:
            useful = [("5.12", f"{rank}", "Uti")] if k == 2 else []
            made = Recombined(rank=rank, steps=(("k", KMember(k=k)),))
            tried(made, ("5.6", f"{k}", column), ("5.7", f"{k}", column), useful)
        for noise in factor_noises:
            useful = [("5.8 Uti", f"{noise:g}", column)]
            useful += [(table, f"{rank}", "Uti") for table, of in NOISES_OF.items() if of == noise]
            made = Recombined(rank=rank, steps=(("noise", _noise(noise)),))
            tried(made, ("5.8", f"{noise:g}", column), ("5.9", f"{noise:g}", column), useful)
    for name in variants:
        tried(VARIANTS[name], *both("variants", name), [("variants", name, "Uti")])
    return found


def _noise(scale: float) -> Noise:
    return Noise(scales=scale, digits=9)


VARIANTS: Final[Mapping[str, Method]] = {
    f"{what}, {how}": Recombined(rank=rank, steps=(("step", step),), **given)
    for what, rank, step in (
        ("k-member, k = 2, r = 20", 20, KMember(k=2)),
        ("MDAV, k = 2, r = 20", 20, MDAV(k=2)),
        ("Laplace noise, phi = 0.15, r = 30", 30, _noise(0.15)),
    )
    for how, given in (
        ("SGD", {}),
        ("SGD, V once more", {"refit": True}),
        ("NMF", {"factorization": "nmf"}),
    )
}
"""Settings that the thesis leaves open: which factorization, V optimised once more or not, means of clusters
or the middles of their intervals."""


def _released(method: Method, matrix: Matrix, seed: int, iterations: int) -> Float:
    """The released cells, rows as in the matrix; another window has other random numbers."""
    fresh_method = clone(method)
    given = {"random_state": seed, "iterations": iterations}
    for each in (fresh_method, *(step for _, step in getattr(fresh_method, "steps", ()))):
        each.set_params(**{name: given[name] for name in given if name in each.get_params(deep=False)})
    fresh = fresh_method.release(matrix.table())
    if fresh.origin is None:
        raise ValueError(f"{method.name} has lost the users")
    cells = np.empty(matrix.cells.shape)
    cells[fresh.origin] = cells_of(fresh, matrix.items)
    return cells
