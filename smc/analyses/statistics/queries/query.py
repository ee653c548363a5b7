"""One query of a statistics job: its keys, checked and frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, TypeVar

from commons.settings.shapes import Document, keys_schema
from smc.analyses.records.conditions import Condition, parse_where
from smc.analyses.records.numbers import number
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.follow_up import KIND as SURVIVAL
from smc.analyses.statistics.queries.follow_up import FollowUp, follow_up_keys, parse_follow_up
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError

T = TypeVar("T")

MAX_BINS: Final = 10_000
MAX_PREDICTORS: Final = 20
MAX_POINTS: Final = 1 << 16
MAX_DENOMINATOR: Final = 1000

MAX_NAME: Final = 100
MAX_BY: Final = 2
"""Most columns of `by`."""

_COMMON_KEYS: Final = frozenset({"name", "kind", "share", "by", "where"})
_BOUNDED: Final = frozenset({"lower", "upper"})
_BINNED: Final = frozenset({"edges", "categories"})
_GRID: Final = frozenset({"column", "lower", "upper", "step", "points"})
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "count": frozenset({"column"}),
    "sum": _BOUNDED | {"column"},
    "mean": _BOUNDED | {"column"},
    "variance": _BOUNDED | {"column"},
    "deviation": _BOUNDED | {"column"},
    "covariance": _BOUNDED | {"columns"},
    "correlation": _BOUNDED | {"columns"},
    "regression": _BOUNDED | {"target", "on"},
    "histogram": _BINNED | {"column"},
    "crosstab": _BINNED | {"columns", "test"},
    "quantile": _GRID | {"level"},
    "median": _GRID,
    "t-test": _BOUNDED | {"column", "labels"},
    "table-one": _BOUNDED | {"numbers", "categories", "points"},
    SURVIVAL: follow_up_keys(),
}
KINDS: Final = tuple(_KEYS)


def check_keys(table: Any, place: str) -> None:
    """Check that a query is a table of a known kind with no unknown keys.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} is not a table.", "Write [[parameters.queries]] tables.")
    kind = table.get("kind")
    if kind not in KINDS:
        raise UsageError(f"{place}.kind is not a known statistic.", f"Choose one of {', '.join(KINDS)}.")
    reject_unknown(table, _COMMON_KEYS | _KEYS[kind], f"{place} ({kind})")


def query_schema() -> Document:
    """JSON Schema of a query: which keys it has, by its kind."""
    several = (
        keys_schema(sorted(_COMMON_KEYS | keys), ("kind",), kind={"const": kind})
        for kind, keys in _KEYS.items()
    )
    return {"anyOf": [*several]}


def parse_query(table: Mapping[str, Any], place: str, loss: Loss, where: tuple[Condition, ...] = ()) -> Query:
    """Read a query whose keys have been checked.

    Args:
        table: the query.
        place: how errors call it.
        loss: its part of the job's.
        where: conditions of the job, beside its own.

    Raises:
        UsageError: a value is impossible; names the place.
    """
    kind = table["kind"]
    if kind == SURVIVAL:
        return _survival(parse_follow_up(table, place), table, place, loss, where)
    columns = _columns(table, place)
    by = () if kind == "t-test" else _by(table, place)
    if set(by) & set(columns):
        raise UsageError(
            f"{place}.by names a column that the query itself computes on.", "Group by another column."
        )
    own = parse_where(table["where"], f"{place}.where") if "where" in table else ()
    name = _default_name(kind, columns, by, own)
    lower, upper = _bounds(table, columns, place)
    if any(low is not None and up is not None and low > up for low, up in zip(lower, upper, strict=True)):
        raise UsageError(f"{place}: lower is above upper.", "Exchange the bounds.")
    edges = _by_column(table, "edges", columns, place, _edges, ())
    categories = _by_column(table, "categories", columns, place, _labels, ())
    if "labels" in table:
        categories = ((), _labels(table["labels"], f"{place}.labels"))
    if any(bins and labels for bins, labels in zip(edges, categories, strict=True)):
        raise UsageError(
            f"{place} has both edges and categories.",
            "Use edges for columns of numbers, categories for columns of labels.",
        )
    step, points = _grid(table, place)
    return Query(
        _text(table, "name", place, name[:MAX_NAME]),
        kind,
        columns,
        loss,
        by,
        lower,
        upper,
        edges,
        categories,
        _level(table, place),
        step,
        points,
        take(table, "test", bool, place, False),
        (*where, *own),
    )


def _survival(
    asked: FollowUp, table: Mapping[str, Any], place: str, loss: Loss, where: tuple[Condition, ...]
) -> Query:
    """The query of what is asked about survival; its groups and strata are its own to compare."""
    own = parse_where(table["where"], f"{place}.where") if "where" in table else ()
    name = _default_name(SURVIVAL, (asked.time, asked.event), asked.by, own)
    none = (None,) * len(asked.columns)
    nothing = ((),) * len(asked.columns)
    return Query(
        _text(table, "name", place, name[:MAX_NAME]),
        SURVIVAL,
        asked.columns,
        loss,
        lower=none,
        upper=none,
        edges=nothing,
        categories=nothing,
        test=bool(asked.test),
        where=(*where, *own),
        follow_up=asked,
    )


def _by(table: Mapping[str, Any], place: str) -> tuple[str, ...]:
    value = table.get("by", ())
    if isinstance(value, Sequence) and not isinstance(value, str):
        names = _names(table, "by", place)
    else:
        names = (_text(table, "by", place, ""),)
    if len(names) > MAX_BY or len(set(names)) < len(names):
        raise UsageError(f"{place}.by names more than {MAX_BY} columns, or one twice.", "Name fewer.")
    return names


def _default_name(kind: str, columns: Sequence[str], by: Sequence[str], where: Sequence[Condition]) -> str:
    if kind == "regression":
        name = f"regression of {columns[-1]} on {', '.join(columns[:-1])}"
    else:
        joined = (" by " if kind == "t-test" else ", ").join(columns)
        name = f"{kind} of {joined}" if columns else kind
    name = f"{name} by {', '.join(by)}" if by else name
    return f"{name} where {' and '.join(map(str, where))}".replace('"', "'") if where else name


def _columns(table: Mapping[str, Any], place: str) -> tuple[str, ...]:
    kind = table["kind"]
    if kind == "regression":
        target = _text(table, "target", place, "")
        names = (*_names(table, "on", place), target)
        if not target or not 2 <= len(names) <= MAX_PREDICTORS + 1:
            raise UsageError(
                f"{place} does not say what is to be explained by what.",
                f'Write target = "..." and on = [...] with 1 to {MAX_PREDICTORS} columns.',
            )
    elif "columns" in _KEYS[kind]:
        names = _names(table, "columns", place)
        if len(names) != 2:
            raise UsageError(f"{place}.columns does not name two columns.", "Write two names.")
    else:
        column = _text(table, "column", place, "")
        if not column and kind != "count":
            raise UsageError(f"{place}.column is missing.", f"Name the column of the {kind}.")
        names = (column,) if column else ()
        if kind == "t-test":
            names += (_text(table, "by", place, ""),)
            if not names[1]:
                raise UsageError(f"{place}.by is missing.", "Name the category column of the two groups.")
    if len(set(names)) < len(names):
        raise UsageError(f"{place} names a column twice.", "Name different columns.")
    return names


def _bounds(
    table: Mapping[str, Any], columns: Sequence[str], place: str
) -> tuple[tuple[Fraction | None, ...], tuple[Fraction | None, ...]]:
    """Stated bounds, lower and upper, for each column; of a t-test for the first one."""
    bounded = columns[:1] if table["kind"] == "t-test" else columns
    none = (None,) * (len(columns) - len(bounded))
    lower, upper = (_by_column(table, key, bounded, place, number, None) + none for key in ("lower", "upper"))
    return lower, upper


def _names(table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    entries = list_of(table.get(key, ()), f"{place}.{key}")
    return tuple(_text({key: entry}, key, place, "") for entry in entries)


def _by_column(
    table: Mapping[str, Any],
    key: str,
    columns: Sequence[str],
    place: str,
    read: Callable[[Any, str], T],
    default: Any,
) -> tuple[T | Any, ...]:
    """What a key says of each column: its value where there is one column, else a table by column."""
    given = table.get(key, {})
    if key in table and len(columns) == 1 and not isinstance(given, Mapping):
        return (read(given, f"{place}.{key}"),)
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{place}.{key} does not say which column it is about.",
            f"Write {key} = {{ {columns[0] if columns else 'column'} = ... }}.",
        )
    reject_unknown(given, columns, f"{place}.{key}")
    return tuple(
        read(given[column], f"{place}.{key}.{column}") if column in given else default for column in columns
    )


def _edges(value: Any, place: str) -> tuple[Fraction, ...]:
    edges = tuple(number(edge, place) for edge in list_of(value, place))
    if len(edges) < 2:
        raise UsageError(f"{place} has fewer than two edges.", "Write at least two: two edges make one bin.")
    if any(low >= high for low, high in pairwise(edges)):
        raise UsageError(f"{place} do not increase.", "Write them in increasing order, each once.")
    return edges


def _labels(value: Any, place: str) -> tuple[str, ...]:
    labels = tuple(list_of(value, place))
    if any(not isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        raise UsageError(f"{place} are not different strings.", "Write each label once, quoted.")
    if not labels:
        raise UsageError(f"{place} is empty.", "Leave it out to count all declared categories.")
    return labels


def _level(table: Mapping[str, Any], place: str) -> Fraction:
    if table["kind"] != "quantile":
        return Fraction(1, 2)
    if "level" not in table:
        raise UsageError(f"{place}.level is missing.", 'Write the quantile, such as level = "0.9".')
    level = number(table["level"], f"{place}.level")
    if not 0 < level < 1 or level.denominator > MAX_DENOMINATOR:
        raise UsageError(
            f"{place}.level is not between 0 and 1, in thousandths or coarser.",
            'Write, for example, level = "0.95".',
        )
    return level


def _grid(table: Mapping[str, Any], place: str) -> tuple[Fraction | None, int]:
    if "step" in table and "points" in table:
        raise UsageError(f"{place} has both step and points.", "Keep one of them.")
    step = number(table["step"], f"{place}.step") if "step" in table else None
    if step is not None and step <= 0:
        raise UsageError(f"{place}.step is not positive.", "Write a number above 0.")
    points = take(table, "points", int, place, 0)
    if "points" in table and not 2 <= points <= MAX_POINTS:
        raise UsageError(f"{place}.points is out of range.", f"Use 2 to {MAX_POINTS}.")
    return step, points


def list_of(value: Any, place: str) -> Sequence[Any]:
    """A list from a job file, of a length that is bounded.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MAX_BINS:
        raise UsageError(
            f"{place} is not a list of at most {MAX_BINS} entries.", "Write [..., ...] with fewer entries."
        )
    return value


def _text(table: Mapping[str, Any], key: str, place: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or len(value) > MAX_NAME or (key in table and not value.strip()):
        raise UsageError(
            f"{place}.{key} is not a name of 1 to {MAX_NAME} characters.",
            "Write a text in quotes of such a length.",
        )
    if '"' in value:  # names stand in quotation marks where a person reads who would learn what
        raise UsageError(f"{place}.{key} has a quotation mark in it.", "Remove the quotation mark.")
    return value
