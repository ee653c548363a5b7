"""Checks of what goes in and comes out: rows, columns, types, missing cells and errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anonymizer.errors import ConformanceError
from anonymizer.testing.demands import Make, attempt, demand, expect_refusal, is_synthetic, release_frame
from anonymizer.testing.people import CITIES, people, table_of


def _both(frame: pd.DataFrame) -> Iterator[tuple[str, Any, Any]]:
    """A frame in both libraries, each with a copy."""
    yield "pandas", frame, frame.copy()
    ours = pl.from_pandas(frame)
    yield "Polars", ours, ours.clone()


def input_is_left_alone(make: Make) -> None:
    """The release is a frame of the library that was given, and the original is as it was."""
    for library, frame, before in _both(people()):
        out = release_frame(make(), frame)
        demand(type(out) is type(frame), f"A {library} frame became a {type(out).__name__}.", "Use `Table`.")
        same = frame.equals(before)
        demand(bool(same), f"The original {library} frame was changed.", "Make new columns: `replaced`.")


def rows_columns_and_types_stay(make: Make) -> None:
    """Columns that a method does not work on keep their place, type and cells; rows say where they stood."""
    if is_synthetic(make, people()):
        return
    for library, frame, _ in _both(people()):
        method = make()
        out = release_frame(method, frame)
        there = [name for name in out.columns if name in frame.columns]
        demand(
            there == [name for name in frame.columns if name in out.columns],
            "Columns change places.",
            "Keep their order.",
        )
        origin = method.origin_
        if origin is None or len(origin) != len(out):
            raise ConformanceError(
                "Rows do not say where they stood.",
                "Use `Table.take` and `Table.replace`, which keep it.",
            )
        for column in ("visit", "weight"):
            demand(
                out[column].dtype == frame[column].dtype,
                f"The type of column {column!r} changes in {library}.",
                "Leave other columns alone.",
            )
            got, gave = ([str(cell) for cell in one[column]] for one in (out, frame))
            demand(
                got == [gave[i] for i in origin.tolist()],
                f"Cells of column {column!r} change, or rows stood elsewhere than they say.",
                "Leave other columns alone.",
            )
        if isinstance(frame, pd.DataFrame):
            demand(
                out.index.tolist() == frame.index[origin].tolist(),
                "The index does not follow the rows.",
                "Use `Table`.",
            )


def synthetic_columns_have_declared_types(make: Make) -> None:
    """Rows of nobody have cells of the declared types and domains."""
    if not is_synthetic(make, people()):
        return
    for library, frame, _ in _both(people()):
        out = release_frame(make(), frame)
        for name in ("age", "city"):
            if name in out.columns:
                demand(
                    out[name].dtype == frame[name].dtype,
                    f"The type of column {name!r} changes in {library}.",
                    "Give the released cells the type of the original ones.",
                )
        wrong = set(out["city"]) - set(CITIES) if "city" in out.columns else set()
        demand(not wrong, "Released cells lie outside of the declared domain.", "Draw from the schema.")


def index_is_not_released_by_accident(make: Make) -> None:
    """A pandas index that may hold names is refused unless it is asked for."""
    frame = people()
    names = pd.Index([f"patient {number}" for number in range(len(frame))], name="id")
    for indexed in (frame.set_index(names), frame[frame["age"] > 20], frame.set_index("age", drop=False)):
        say = "A frame with an index of its own is released, or refused without saying so."
        hint = "Do not override `fit_transform` and `release`."
        expect_refusal(partial(release_frame, make(), indexed, keep_index=False), "index", say, hint)
        expect_refusal(partial(make().release, table_of(indexed)), "index", say, hint)


def clones_have_learned_nothing(make: Make) -> None:
    """A clone has the same parameters, and has to be fitted before it transforms."""
    method = make()
    release_frame(method, people())
    copy = clone(method)
    demand(
        copy.get_params() == method.get_params(),
        "A clone has other parameters.",
        "Let the constructor store each parameter as it is, under its name.",
    )
    try:
        copy.transform(people())
    except NotFittedError:
        return
    raise ConformanceError(
        "A copy of the method transforms before it is fitted.", "Keep what is learned in names that end in _."
    )


def same_seed_makes_the_same_release(make: Make) -> None:
    """A method with a `random_state` makes the same release twice from one seed."""
    if "random_state" not in make().get_params():
        return
    first, second = (release_frame(make().set_params(random_state=5), people()) for _ in range(2))
    demand(first.equals(second), "One seed makes two releases.", "Draw from `Randomness(self.random_state)`.")


def empty_tables_are_refused(make: Make) -> None:
    """A table without rows is an error that says so."""
    for library, frame, _ in _both(people(1)):
        expect_refusal(
            partial(release_frame, make(), frame.head(0)),
            "no rows",
            f"An empty {library} table is not refused, or not in these words.",
            "Do not override `fit_table`.",
        )


def count_limit(rows: int, *, nobody: bool) -> float:
    """How many rows may be released: as many as there are, unless they are of nobody."""
    return float("inf") if nobody else rows


def few_rows_are_released_or_refused(make: Make) -> None:
    """One row and two are released, or refused in words that say how to fix it."""
    nobody = is_synthetic(make, people())
    for rows in (1, 2):
        limit = count_limit(rows, nobody=nobody)
        count, words = attempt(partial(release_frame, make(), people(rows)))
        demand(
            1 <= count <= limit or bool(words),
            f"A table of {rows} is neither released nor refused with a hint.",
            "Raise an AnonymizerError with a hint.",
        )


def constant_columns_are_released(make: Make) -> None:
    """Columns in which all cells are alike are no reason to fail."""
    frame = people()
    frame["age"], frame["city"] = 33, CITIES[0]
    count = len(release_frame(make(), frame))
    limit = count_limit(len(frame), nobody=is_synthetic(make, people()))
    demand(1 <= count <= limit, f"Of constant columns {count} rows are released.", "Release them.")


def missing_cells_are_handled_or_named(make: Make) -> None:
    """A missing cell of a quasi-identifier is released, or refused with the name of the column."""
    for library, frame, _ in _both(people().assign(city=lambda one: one["city"].where(one.index != 1003))):
        count, words = attempt(partial(release_frame, make(), frame))
        demand(
            bool(count) or "'city'" in words,
            f"A missing cell in {library} is neither handled nor refused with the name of its column.",
            "Handle it, or raise a TableError that names the column and says how to fix it.",
        )


def unseen_values_are_handled_or_named(make: Make) -> None:
    """A value that the fit has not seen is transformed, or refused in words that say how to fix it."""
    frame = people(3)
    frame["city"] = ["Atlantis", CITIES[0], CITIES[0]]
    method = make()
    release_frame(method, people())
    count, words = attempt(lambda: method.transform(frame, keep_index=True))
    demand(
        bool(count or words),
        "A value that was not seen before ends in something else than a refusal with a hint.",
        "Handle it, or raise a TableError that names the value.",
    )


def missing_columns_are_named(make: Make) -> None:
    """A table that lacks a column of the method is refused with the column's name."""
    looks_at = make().columns_of(table_of(people()))
    if looks_at:
        column = looks_at[0]
        expect_refusal(
            lambda: release_frame(make(), people().drop(columns=column)),
            f"'{column}'",
            "A table that lacks a column of the method is not refused with its name.",
            "Name the columns in `columns_of`; `fit_table` looks whether they are there.",
        )
