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
MAX_BY: Final = 3
"""Most columns of `by`, and of `strata`."""

_COMMON_KEYS: Final = frozenset({"name", "kind", "share", "by", "where"})
_BOUNDED: Final = frozenset({"lower", "upper"})
_BINNED: Final = frozenset({"edges", "categories"})
_GRID: Final = frozenset({"column", "lower", "upper", "step", "points"})
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "count": frozenset({"column"}),
    "sum": _BOUNDED | {"column"},
    "mean": _BOUNDED | {"column"},
    "weighted-mean": _BOUNDED | {"column", "weight"},
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
    "risks": frozenset({"column", "event", "labels"}),
    "standardised-ratio": frozenset({"column", "event", "strata", "rates"}),
    "standardised-rates": frozenset({"column", "event", "labels", "strata", "weights"}),
    "mantel-haenszel": frozenset({"column", "event", "labels", "strata"}),
    "table-one": _BOUNDED | {"numbers", "categories", "points"},
    SURVIVAL: follow_up_keys(),
}
KINDS: Final = tuple(_KEYS)
_BY_TWO: Final = ("t-test", "risks", "standardised-rates", "mantel-haenszel")
"""Kinds that compare two groups, by labels of the column that `by` names."""
OF_EVENTS: Final = ("risks", "standardised-ratio", "standardised-rates", "mantel-haenszel")
"""Kinds about a label of a column, the second of theirs."""
POOLED_KINDS: Final = ("mantel-haenszel",)
"""Kinds whose figures follow from cells that stay secret; of the rows of both, and without noise alone."""
_BY_LABEL: Final = {"standardised-ratio": "rates", "standardised-rates": "weights"}
"""Kinds that have a number for each label of their strata, and the key of these."""


def keys_of(kind: str) -> frozenset[str]:
    """The keys of a kind beside those that all have."""
    return _KEYS[kind]


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
    by = () if kind in _BY_TWO else _by(table, place)
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
    if kind in _BY_TWO:
        labels = _labels(table["labels"], f"{place}.labels") if "labels" in table else ()
        categories = ((), labels) if kind == "t-test" else (labels, ())
    if kind in OF_EVENTS:
        categories = (*categories[:1], (_text(table, "event", place, ""),), *[()] * (len(columns) - 2))
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
        _rates(table, place),
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
    return _several(table, "by", place) if "by" in table else ()


def _several(table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    """One column, or a list of up to `MAX_BY`."""
    value = table.get(key, ())
    if isinstance(value, Sequence) and not isinstance(value, str):
        names = _names(table, key, place)
    else:
        names = (_text(table, key, place, ""),)
    if len(names) > MAX_BY or len(set(names)) < len(names):
        raise UsageError(f"{place}.{key} names more than {MAX_BY} columns, or one twice.", "Name fewer.")
    if key == "strata" and not names:
        raise UsageError(f"{place}.strata is missing.", "Name the category columns of the strata.")
    return names


def _default_name(kind: str, columns: Sequence[str], by: Sequence[str], where: Sequence[Condition]) -> str:
    if kind == "regression":
        name = f"regression of {columns[-1]} on {', '.join(columns[:-1])}"
    else:
        joined = (" by " if kind == "t-test" else ", ").join(columns)
        name = f"{kind} of {joined}" if columns else kind
        if kind in OF_EVENTS:
            name = f"{kind} of {columns[1]} by {', '.join((columns[0], *columns[2:]))}"
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
        if kind in (*_BY_TWO, *OF_EVENTS):
            names = _with_groups(table, names, place)
        elif kind == "weighted-mean":
            names += (_text(table, "weight", place, ""),)
            if not names[1]:
                raise UsageError(f"{place}.weight is missing.", "Name the column of weights.")
    if len(set(names)) < len(names):
        raise UsageError(f"{place} names a column twice.", "Name different columns.")
    return names


def _with_groups(table: Mapping[str, Any], names: tuple[str, ...], place: str) -> tuple[str, ...]:
    """A column with those by whose labels it is compared, before it and after it."""
    kind = table["kind"]
    if kind in OF_EVENTS and "event" not in table:
        raise UsageError(f"{place}.event is missing.", 'Name the label that counts, as in event = "yes".')
    strata: tuple[str, ...] = ()
    if kind in _BY_LABEL:
        strata = (_text(table, "strata", place, ""),)
        if not strata[0]:
            raise UsageError(
                f"{place}.strata is missing.", f"Name the category column of the {_BY_LABEL[kind]}."
            )
    elif kind == "mantel-haenszel":
        strata = _several(table, "strata", place)
    if kind == "standardised-ratio":
        return (*strata, *names)
    by = _text(table, "by", place, "")
    if not by:
        raise UsageError(f"{place}.by is missing.", "Name the category column of the two groups.")
    return (*names, by) if kind == "t-test" else (by, *names, *strata)


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


def _rates(table: Mapping[str, Any], place: str) -> tuple[tuple[str, Fraction], ...]:
    key = _BY_LABEL.get(table["kind"])
    if key is None:
        return ()
    given = table.get(key)
    if not isinstance(given, Mapping) or not 1 <= len(given) <= MAX_BINS:
        raise UsageError(
            f"{place}.{key} is not a table of the {key} of labels.",
            f'Write {key} = {{ "below 40" = "0.001", ... }}.',
        )
    found = tuple((label, number(value, f"{place}.{key}.{label}")) for label, value in given.items())
    if not all(0 <= value <= 1 for _, value in found) or not any(value for _, value in found):
        raise UsageError(
            f"{place}.{key} are not parts from 0 to 1 that are not all 0.",
            'Write the events to be expected of one row, or the part of the standard population, as "0.001".',
        )
    return found


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
