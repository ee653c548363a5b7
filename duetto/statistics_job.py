"""Jobs of joint statistics put together in Python, figure by figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from typing_extensions import override

from smc.analyses.registry import ANALYSES, study_of
from smc.analyses.statistics.queries.query import KINDS, keys_of
from smc.errors import UsageError
from smc.forms import Role


class Statistics:
    """The figures of a job, of which each is one kind of query with its keys (docs/analyses.md).

    Every kind is a method, with `_` for `-`: `mean("age", by="smoker")`, `median("weight", step="0.5")`,
    `crosstab("age", "smoker")`, `t_test("weight", by="smoker", labels=["yes", "no"])`. Each call returns a
    new object with one more figure:

    >>> import duetto
    >>> asked = duetto.Statistics(epsilon=1).count("age").mean("age", by="smoker")
    >>> job = asked.job("north", "south", "patients", title="Age by smoking")
    >>> job["alice"]
    {'dataset': 'patients', 'columns': {'age': 'age', 'smoker': 'smoker'}}

    `Party.submit`, `Party.check` and `duetto.rehearse` take what `job` returns.

    Args:
        parameters: of the analysis beside its queries, such as `epsilon`, `maximum_rows`, `noise` or `where`.
            Numbers with fractions become the decimals that they are written as.
    """

    def __init__(self, **parameters: Any) -> None:
        self._parameters = {key: _plain(value) for key, value in parameters.items()}
        self._queries: tuple[dict[str, Any], ...] = ()

    def ask(self, kind: str, *columns: str, **keys: Any) -> Statistics:
        """These figures and one more.

        Args:
            kind: of the query, such as "mean" or "t-test".
            columns: those that it computes on, where the kind names them by `column` or `columns`.
            keys: the others of the query, as in a job file.

        Raises:
            UsageError: the kind is unknown, or takes another number of columns.
        """
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is not a kind of figure.", f"Choose one of {', '.join(KINDS)}.")
        known = keys_of(kind)
        query = {"kind": kind} | {key: _plain(value) for key, value in keys.items()}
        if columns and "columns" in known:
            query["columns"] = [*columns]
        elif len(columns) == 1 and "column" in known:
            query["column"] = columns[0]
        elif columns:
            takes = "one column" if "column" in known else f"its columns by keys: {', '.join(sorted(known))}"
            raise UsageError(f"{kind} takes {takes}.", f"Correct the call of {_method(kind)}.")
        found = Statistics()
        found._parameters, found._queries = self._parameters, (*self._queries, query)
        return found

    def job(
        self,
        alice: str,
        bob: str,
        dataset: str,
        *,
        bob_dataset: str = "",
        columns: Mapping[str, str] | None = None,
        bob_columns: Mapping[str, str] | None = None,
        recipients: Sequence[str] = ("alice", "bob"),
        title: str = "",
        asked_by: str = "",
        purpose: str = "",
    ) -> dict[str, Any]:
        """The job as a document.

        Args:
            alice: the party that takes the part of Alice; whoever submits it is one of both.
            bob: the other one.
            dataset: at Alice, and at Bob unless it is called otherwise there.
            bob_dataset: at Bob.
            columns: what columns of the figures are called in Alice's data set, where that is not their name.
            bob_columns: the same in Bob's; as in Alice's unless given.
            recipients: "alice", "bob" or both.
            title: for people on both sides; kinds of the figures if empty.
            asked_by: the person who asks, for people of the peer.
            purpose: why, for people of the peer.

        Raises:
            UsageError: the figures or parameters are not those of joint statistics, or a column is named that
                no figure uses.
        """
        if not self._queries:
            raise UsageError("No figure was asked for.", 'Ask for one first, such as .mean("age").')
        parameters = self._parameters | {"queries": [*self._queries]}
        used = study_of(ANALYSES["statistics"], parameters).columns
        called = columns or {}
        names = {Role.ALICE: called, Role.BOB: called if bob_columns is None else bob_columns}
        for role, given in names.items():
            if unused := [name for name in given if name not in used[role]]:
                raise UsageError(
                    f"No figure uses the column {unused[0]!r}.",
                    f"Name columns of the figures: {', '.join(used[role])}.",
                )
        sides = {
            role.value: {"dataset": name, "columns": {one: names[role].get(one, one) for one in used[role]}}
            for role, name in ((Role.ALICE, dataset), (Role.BOB, bob_dataset or dataset))
        }
        kinds = ", ".join(dict.fromkeys(query["kind"] for query in self._queries))
        return {
            "job": {
                "analysis": "statistics",
                "title": title or f"Statistics of {dataset}: {kinds}"[:_TITLE],
                "alice": alice,
                "bob": bob,
                "recipients": [*recipients],
                **({"asked_by": asked_by} if asked_by else {}),
                **({"purpose": purpose} if purpose else {}),
            },
            **sides,
            "parameters": parameters,
        }

    def __getattr__(self, name: str) -> Callable[..., Statistics]:
        kind = name.replace("_", "-")
        if kind not in KINDS:
            raise AttributeError(f"there is no figure {name!r}; there are {', '.join(map(_method, KINDS))}")
        return lambda *columns, **keys: self.ask(kind, *columns, **keys)

    @override
    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *map(_method, KINDS)]

    @override
    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._parameters.items())
        return f"Statistics({given})" + "".join(f".{_method(query['kind'])}(...)" for query in self._queries)


_TITLE = 100
"""Characters of a title that is made up."""


def _method(kind: str) -> str:
    return kind.replace("-", "_")


def _plain(value: Any) -> Any:
    """A value as a job file has it: numbers with fractions as texts, tuples as arrays."""
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
