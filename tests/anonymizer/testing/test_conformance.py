"""What every method has to do: the checks of `anonymizer.testing`, on all methods and on broken ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import AnonymizerError, ConformanceError, TableError
from anonymizer.methods.contract.method import TRAITS, Method
from anonymizer.methods.perturbation.exponential import ExponentialMechanism
from anonymizer.methods.perturbation.idp import IdpLs
from anonymizer.methods.perturbation.pram import PRAM
from anonymizer.methods.perturbation.swapping import Swapping
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.coding import TopBottomCoding
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.methods.registry import METHODS
from anonymizer.releases.guarantee import k_anonymity
from anonymizer.tables.provenance import NOTHING, TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.testing import CHECKS, DECLARED, check_method, maker, people
from anonymizer.testing.coupling import cells_are_made_of_what_is_said
from anonymizer.testing.people import everyone
from tests.support.grids import grid


class Marginals(Method):
    """A synthetic table: every cell is drawn from its column, and no row is of anybody."""

    name: ClassVar[str] = "marginals"
    random: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = False

    def provenance(self, table):
        return TableProvenance()

    def _fit(self, table):
        self.columns_ = {name: table.codes(name).values for name in table.names}

    def _transform(self, table):
        random = Randomness()
        drawn = {n: v[random.integers(len(v), 2 * len(table))] for n, v in self.columns_.items()}
        drawn = {name: pd.Series(cells) for name, cells in drawn.items()}
        frame = pd.DataFrame(drawn)
        whole = type(table.native).__module__.startswith("pandas")
        if not whole:
            import polars as pl

            frame = pl.from_pandas(frame)
        return Table.of(frame, table.roles, table.hierarchies, table.schema)


LONG = {"synth-aim", "synth-mst"}
"""Their runs are long. Others make tables in the same way from other marginals, and take all checks."""
STILL = {"name_and_traits_are_stated", "parameters_can_be_written", "promised_classes_are_there"}
STILL |= {"same_seed_makes_the_same_release"}


@pytest.mark.parametrize(
    ("check", "name"),
    grid(
        [(check, name) for check in CHECKS for name in sorted(METHODS)],
        [(c, name) for c in CHECKS for name in sorted(METHODS) if name not in LONG or c.__name__ in STILL],
    ),
    ids=lambda one: getattr(one, "__name__", one),
)
def test_every_method_passes_every_check(check, name):
    check(maker(METHODS[name]))


def kind_of(method: Method) -> str:
    method.fit_transform_table(everyone())
    if method.origin_ is None:
        return "synthetic"
    return "several outputs" if method.extra_ else "rows kept" if method.keeps_rows else "rows lost"


def test_there_are_methods_of_every_kind():
    kinds = {kind_of(maker(METHODS[name])()) for name in METHODS}
    assert kinds == {"rows kept", "rows lost", "several outputs", "synthetic"}


def test_one_call_runs_all_checks():
    assert check_method(TopBottomCoding) == tuple(check.__name__ for check in CHECKS)
    assert len(set(check_method(lambda: TopBottomCoding(bounds={"age": (30, 50)})))) == len(CHECKS) > 15


class Sound(Method):
    """Ages in tens."""

    name: ClassVar[str] = "tens"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True
    width: ClassVar[int] = 10

    def __init__(self, *, columns: tuple[str, ...] | None = ("age",), random_state: int | None = None):
        self.columns = columns
        self.random_state = random_state

    def provenance(self, table):
        cells = {name: table.provenance.content(name) for name in self.columns_of(table)}
        return table.provenance.recode(cells, gaps="none")

    def _fit(self, table):
        pass

    def _transform(self, table):
        table.complete(self.columns_of(table))
        return table.replace({name: self._rounded(table.numbers(name)) for name in self.columns_of(table)})

    def _rounded(self, column):
        return (column // self.width * self.width).astype(np.int64)

    def simulate(self, column, candidates):
        if column not in (self.columns or ()):
            return candidates
        ends = [np.floor(one / self.width) * self.width for one in (candidates.high, candidates.low)]
        return type(candidates)(*ends)


class WithoutName(Sound):
    name: ClassVar[str] = "Tens!"


class Silent(Method):
    """Says nothing."""

    name: ClassVar[str] = "silent"

    def provenance(self, table):
        return table.provenance

    def _fit(self, table):
        pass

    def _transform(self, table):
        return table


class WrongHint(Sound):
    def __init__(self, *, columns: int = ("age",)):  # type: ignore[assignment]
        self.columns = columns


class Drawn(Sound):
    def _rounded(self, column):
        return (column + Randomness().integers(1000, 1)[0]).astype(np.int64)


class LosesRows(Sound):
    def _transform(self, table):
        return table.take(np.arange(len(table) - 1))


class ByTheTable(Sound):
    def _transform(self, table):
        return table.replace({"age": np.full(len(table), len(table))})


class ParksEvenRows(Sound):
    def _transform(self, table):
        return table.replace({"city": np.arange(len(table))})


class HidesOthers(Sound):
    """Cells of illness decide about ages, and nothing says so."""

    def _transform(self, table):
        return table.replace({"age": (table.numbers("age") + table.codes("illness").codes) // 1})


class HidesTheTable(Sound):
    """The middle of all ages decides about each."""

    def _transform(self, table):
        ages = table.numbers("age")
        return table.replace({"age": np.where(ages > np.nanmean(ages), 1, 0)})


class HidesTheHierarchy(Sound):
    """Labels of a hierarchy that may be built of other columns."""

    def provenance(self, table):
        return table.provenance.recode({"city": table.provenance.content("city")}, gaps="none")

    def _transform(self, table):
        table.complete(("city",))
        codes = table.codes("city")
        level = table.hierarchies["city"].bind(codes.values, "city")[1]
        return table.replace({"city": np.array(level.labels, dtype=object)[level.groups[codes.codes]]})


class HidesGaps(Sound):
    """The gaps of a column stay, and it says that there are none."""

    def provenance(self, table):
        return table.provenance.recode({"weight": NOTHING}, gaps="none")

    def _transform(self, table):
        gaps = table.missing("weight")
        return table.replace({"weight": np.where(gaps, np.nan, 70.0)})


class HidesRows(Sound):
    """Old people are left out, and nothing says so."""

    keeps_rows: ClassVar[bool] = False

    def _transform(self, table):
        return table.take(np.flatnonzero(~(table.numbers("weight") > 80)))


class HidesTheOrder(Sound):
    """The rows come in the order of the weights."""

    def _transform(self, table):
        return table.take(np.argsort(table.numbers("weight"), kind="stable"))


class PromisesMuch(Sound):
    def guarantees(self, table):
        return k_anonymity(40, ("age",), self.name)


class TellsTooLittle(Sound):
    def simulate(self, column, candidates):
        return candidates


class ChangesOthers(Sound):
    def _transform(self, table):
        return super()._transform(table).replace({"weight": table.numbers("weight") * 2})


class InPlace(Sound):
    def _transform(self, table):
        if isinstance(table.native, pd.DataFrame):
            table.native["age"] = 1
        return super()._transform(table)


class NotSeeded(Sound):
    random: ClassVar[bool] = True

    def _rounded(self, column):
        return (column + Randomness().integers(10**6, 1)[0]).astype(np.int64)


class Crashes(Sound):
    def _transform(self, table):
        if len(table) < 3:
            raise IndexError(len(table))
        return super()._transform(table)


class Terse(Sound):
    def _transform(self, table):
        if len(table) < 3:
            raise TableError("No.")
        return super()._transform(table)


HIDING = (HidesOthers, HidesTheTable, HidesTheHierarchy, HidesGaps, HidesRows, HidesTheOrder)


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (WithoutName, "name_and_traits_are_stated"),
        (Silent, "name_and_traits_are_stated"),
        (WrongHint, "parameters_can_be_written"),
        (Drawn, "traits_are_true"),
        (LosesRows, "traits_are_true"),
        (ByTheTable, "traits_are_true"),
        (ParksEvenRows, "traits_are_true"),
        *((one, "cells_are_made_of_what_is_said") for one in HIDING),
        (PromisesMuch, "promised_classes_are_there"),
        (TellsTooLittle, "simulator_reaches_the_release"),
        (ChangesOthers, "rows_columns_and_types_stay"),
        (InPlace, "input_is_left_alone"),
        (NotSeeded, "same_seed_makes_the_same_release"),
        (Crashes, "few_rows_are_released_or_refused"),
        (Terse, "few_rows_are_released_or_refused"),
    ],
)
def test_what_a_broken_method_does_is_found(broken, check):
    ours = next(one for one in CHECKS if one.__name__ == check)
    with pytest.raises((ConformanceError, IndexError)):
        ours(maker(broken))
    with pytest.raises(ConformanceError) as found:
        check_method(broken)
    assert found.value.hint


def test_the_sound_method_that_the_broken_ones_are_made_of_passes():
    assert check_method(Sound)
    assert check_method(Marginals)


def test_a_method_that_says_nothing_is_told_what_to_say():
    assert Silent.undeclared_traits() == TRAITS
    with pytest.raises(ConformanceError, match="keeps_classes") as found:
        check_method(Silent)
    assert isinstance(found.value, AssertionError)
    assert isinstance(found.value, AnonymizerError)


def test_a_method_that_does_not_say_what_its_cells_are_made_of_cannot_be_made():
    class Forgetful(Sound):
        provenance = Method.provenance

    assert Forgetful.undeclared_traits() == ("provenance",)
    with pytest.raises(TypeError, match="provenance"):
        Forgetful()
    with pytest.raises(ConformanceError, match="provenance"):
        check_method(Forgetful)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sampling(rate=0.5, together="city"),
        lambda: SuppressRecords(k=2, columns=("city",), together="illness"),
        lambda: Swapping(columns=("age",), within=("illness",)),
        lambda: Swapping(rate=1.0, columns=("age", "city"), together=True),
        lambda: PRAM(columns=("city",), invariant=True),
        lambda: ExponentialMechanism(columns=("city",), around="median"),
        lambda: IdpLs(k=3, columns=("age", "city"), clusters="records"),
        lambda: LocalRecoding(k=2, constraints=({"model": "t-closeness", "column": "illness", "t": 0.4},)),
        lambda: TopBottomCoding(bounds={"age": (30, 50)}),
        lambda: TopBottomCoding(columns=("age",), quantiles=(0.3, 0.6)),
    ],
    ids=lambda make: str(make()).replace("\n", " "),
)
def test_parameters_decide_what_cells_are_made_of(make):
    cells_are_made_of_what_is_said(make)


def test_the_table_of_the_checks_is_what_it_says():
    frame = people()
    assert len(frame) == 40
    assert frame["weight"].isna().any()
    assert set(DECLARED) == {"roles", "hierarchies", "schema"}


def test_checks_need_no_test_runner():
    import ast
    from pathlib import Path

    import anonymizer.testing as testing

    for path in Path(testing.__file__).parent.glob("*.py"):
        names: list[Any] = [
            getattr(node, "module", None) or node.names[0].name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert not [name for name in names if str(name).startswith(("pytest", "tests", "hypothesis"))], path
