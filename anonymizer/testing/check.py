"""All checks of methods, and one call that runs them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from anonymizer.errors import ConformanceError
from anonymizer.methods.contract.method import Method
from anonymizer.testing import claims, coupling, frames
from anonymizer.testing.demands import Make

Check = Callable[[Make], None]
"""Raises `ConformanceError` if the methods that it is given fail."""

CHECKS: Final[tuple[Check, ...]] = (
    claims.name_and_traits_are_stated,
    claims.parameters_can_be_written,
    claims.traits_are_true,
    claims.releases_say_what_they_are,
    coupling.cells_are_made_of_what_is_said,
    claims.promised_classes_are_there,
    claims.simulator_reaches_the_release,
    claims.attack_simulator_runs_or_refuses,
    frames.input_is_left_alone,
    frames.rows_columns_and_types_stay,
    frames.synthetic_columns_have_declared_types,
    frames.index_is_not_released_by_accident,
    frames.clones_have_learned_nothing,
    frames.same_seed_makes_the_same_release,
    frames.empty_tables_are_refused,
    frames.few_rows_are_released_or_refused,
    frames.constant_columns_are_released,
    frames.missing_cells_are_handled_or_named,
    frames.unseen_values_are_handled_or_named,
    frames.missing_columns_are_named,
)


def maker(method: type[Method] | Make) -> Make:
    """What gives fresh methods: a class with its `example`, or a function as it is."""
    example = getattr(method, "example", None)
    return method if example is None else partial(method, **example)


def check_method(method: type[Method] | Make) -> tuple[str, ...]:
    """Run all checks on a method.

    They run it on `people`, a table of 40 rows, in pandas and in Polars, and on variants of it.

    Args:
        method: its class, which is made with its `example`; or a function that gives a fresh one each time.

    Returns:
        The names of the checks, all passed.

    Raises:
        ConformanceError: a check failed; names it and says what to correct. Another exception that the method
            raises where it should not is its cause.
    """
    make = maker(method)
    for check in CHECKS:
        try:
            check(make)
        except ConformanceError as problem:
            raise ConformanceError(f"{check.__name__}: {problem.what}", problem.hint) from problem
        except Exception as problem:
            raise ConformanceError(
                f"{check.__name__}: the method raised {type(problem).__name__}: {problem}",
                "Correct the method; the exception that it raised is the cause of this one.",
            ) from problem
    return tuple(check.__name__ for check in CHECKS)
