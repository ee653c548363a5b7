"""What the peer of `adversary.py` may ask: victims, peers, policies and sequences of jobs, by a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from smc.numeric.random import Randomness
from tests.parties.jobs.institutions import job

RECORDS: Final = "records"
DIAGNOSES: Final = ("asthma", "diabetes", "fracture", "hiv")
FIRST_DAY: Final = date(2020, 1, 1)
MAY_STATE: Final = ["bounds", "centres", "derived", "where"]
OLD: Final = 91
"""The age from which on a person is `older`."""
DEAR: Final = 150
"""The cost from which on it is `high`."""
POINTS: Final = (0, 100, 200, 300)
"""Days at which curves are shown."""

DECLARED: Final[Mapping[str, Mapping[str, Any]]] = {
    "id": {"type": "text"},
    "age": {"type": "integer", "lower": 0, "upper": 110},
    "cost": {"type": "integer", "lower": 0, "upper": 100_000},
    "copy": {"type": "integer", "lower": 0, "upper": 100_000},
    "sex": {"type": "category", "values": ["f", "m"]},
    "diagnosis": {"type": "category", "values": list(DIAGNOSES)},
    "born": {"type": "date", "lower": "2020-01-01", "upper": "2024-12-31"},
    "left": {"type": "date", "lower": "2020-01-01", "upper": "2024-12-31"},
    "followed": {"type": "integer", "lower": 0, "upper": 400},
}

Rows = dict[str, list[Any]]
Document = dict[str, Any]

DERIVED: Final[Mapping[str, Mapping[str, Any]]] = {
    "old": {"column": "age", "cuts": [OLD], "labels": ["younger", "older"]},
    "dear": {"column": "cost", "cuts": [DEAR], "labels": ["low", "high"]},
    "band": {
        "column": "age",
        "cuts": [1, 90, 96],
        "labels": ["child", "below 90", "90 to 95", "96 and above"],
    },
    "stay": {"from": "born", "to": "left", "unit": "days"},
    "less": {"numbers": ["copy", "cost"], "compute": "difference"},
}


class Chance:
    """Draws from one seed."""

    def __init__(self, *words: str) -> None:
        self._source = Randomness.from_seed(b"adversary", "/".join(words))

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1."""
        return self._source.below(bound, 1)[0]

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of some choices."""
        return choices[self.below(len(choices))]

    def happens(self, of: int) -> bool:
        """True in one of so many cases."""
        return self.below(of) == 0


@dataclass(frozen=True)
class Round:
    """One victim, one peer, and what the peer proposes.

    Attributes:
        persons: of the victim, as columns.
        rows: of the peer.
        victim: entries of the victim's rule.
        peer: entries of the peer's rule.
        jobs: the sequence.
        is_read: whether what follows is read from the figures alone, without a run for each person.
    """

    persons: Rows
    rows: Rows
    victim: Mapping[str, Any]
    peer: Mapping[str, Any]
    jobs: Sequence[Document]
    is_read: bool = False

    @property
    def minimum(self) -> int:
        """The victim's smallest group."""
        return int(self.victim["minimum_group"])

    @property
    def dominance(self) -> float:
        """The largest part of a sum that the victim's policy leaves to one person."""
        return float(self.victim.get("dominance", 1))


def persons(chance: Chance, count: int, first: int, wide: int, outliers: int = 8) -> Rows:
    """People with ties, groups of a few, and an outlier among so many."""
    rows: Rows = {name: [] for name in DECLARED}
    for number in range(first, first + count):
        outlying = chance.happens(outliers)
        cost = 90_000 + chance.below(10_000) if outlying else chance.pick((0, 0, 10, 20)) + chance.below(300)
        rows["id"].append(f"p{number}")
        rows["age"].append(chance.pick((95, 96, 97)) if chance.happens(4) else 40 + 10 * chance.below(wide))
        rows["cost"].append(cost)
        rows["copy"].append(cost + (chance.below(50) if chance.happens(10) else 0))
        rows["sex"].append(chance.pick("ffm"))
        rows["diagnosis"].append(chance.pick(DIAGNOSES) if chance.happens(3) else DIAGNOSES[0])
        born = FIRST_DAY + timedelta(chance.below(900))
        rows["born"].append(born.isoformat())
        rows["left"].append((born + timedelta(900 if outlying else 1 + chance.below(8))).isoformat())
        rows["followed"].append(1 + chance.below(400))
    return rows


def victims_rule(chance: Chance) -> dict[str, Any]:
    """A rule of docs/policy.md for exact figures, with limits for a small population.

    Without what gives a limit up by name: `zeros = "shown"` says where a few persons are, and keys that
    persons share who has a rare value.
    """
    minimum = chance.pick((3, 4))
    rule: dict[str, Any] = {
        "minimum_group": minimum,
        "overlap": chance.pick((0, minimum, 2 * minimum)),
        "recipients": chance.pick((["both"], ["both"], ["self"], ["peer"], ["self", "peer", "both"])),
        "runs_total": chance.pick((4, 8, 20)),
        "row_results": True,  # sums over matches count as such; limits hold of them all the same
        "keys": None,  # left out: the columns that tell persons apart
    }
    if not chance.happens(3):
        rule["may_state"] = MAY_STATE
    if chance.happens(3):
        rule["dominance"] = chance.pick(("0.5", "0.9", "1"))
    return rule


def peers_rule(chance: Chance, count: int) -> dict[str, Any]:
    """What the peer's policy asks for: nothing, or limits that are to move the victim's."""
    rule: dict[str, Any] = {
        "runs_total": 1000,
        "row_results": True,
        "may_state": MAY_STATE,
        "keys": ["*"],
        "recipients": ["self", "peer", "both"],
        "zeros": "shown",
    }
    if chance.happens(5):
        rule["minimum_group"] = 1 + chance.below(count)
    if chance.happens(5):
        rule["dominance"] = f"0.{1 + chance.below(9)}"
    if chance.happens(4):
        rule["minimum_intersection"] = 1 + chance.below(count)
    return rule


def _condition(chance: Chance) -> dict[str, Any]:
    column = chance.pick(("age", "age", "cost", "sex", "diagnosis"))
    if column in ("sex", "diagnosis"):
        return {
            "column": column,
            chance.pick(("equals", "not_equals")): chance.pick(DECLARED[column]["values"]),
        }
    edge = (
        chance.pick((95, 96, 97, 50, 60, 70)) if column == "age" else chance.pick((1, 11, 100, 300, 50_000))
    )
    return {"column": column, chance.pick(("at_least", "below", "equals")): edge}


def _edges(chance: Chance, column: str) -> list[int]:
    top = int(DECLARED[column]["upper"]) + 1
    if chance.happens(4):
        width = chance.pick((1, 2, 5, 10))
        return [*range(0, top, width), top] if column == "age" else [*range(0, 400, width), top]
    inner = {
        1 + chance.below(top - 1) if chance.happens(2) else chance.pick((50, 60, 95, 96, 97))
        for _ in range(3)
    }
    return sorted({0, *inner, top})


def _used(value: Any) -> set[str]:
    """The declared columns that parameters name."""
    if isinstance(value, Mapping):
        return set().union(*map(_used, value.values()))
    if isinstance(value, list):
        return set().union(*map(_used, value))
    return {value} & DECLARED.keys() if isinstance(value, str) else set()


def _statistics(chance: Chance) -> dict[str, Any]:
    kind = chance.pick(("count", "sum", "mean", "histogram", "crosstab"))
    query: dict[str, Any] = {"kind": kind}
    if kind == "crosstab":
        query |= {"columns": ["age", "diagnosis"], "edges": {"age": _edges(chance, "age")}}
    elif kind == "histogram":
        query |= {"column": "age", "edges": _edges(chance, "age")}
    else:
        query |= {"column": chance.pick(("cost", "copy", "age"))}
        if kind != "count" and chance.happens(3):
            query |= {"lower": -1_000_000_000} if chance.happens(2) else {"lower": 0, "upper": 10**9}
        if chance.happens(3):
            query["by"] = chance.pick(("sex", "diagnosis"))
    if chance.happens(2):
        query["where"] = [_condition(chance)]
    parameters: dict[str, Any] = {"noise": "none", "queries": [query]}
    if kind == "sum" and chance.happens(4):
        query["column"] = "days"
        query.pop("lower", None)
        query.pop("upper", None)
        parameters["derived"] = {
            "days": {"from": chance.pick(("2020-01-01", "1000-01-01")), "to": "born", "unit": "days"}
        }
    return parameters


def statistics(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Exact tables: unrelated ones, or one of which a condition or an edge moves."""
    while True:
        parameters = _statistics(chance)
        query = parameters["queries"][0]
        yield _proposal("statistics", parameters, recipients)
        for _ in range(chance.below(3)):
            moved = dict(query)
            if query["kind"] == "histogram":
                moved["edges"] = _edges(chance, "age")
            else:
                moved["where"] = [_condition(chance)]
            yield _proposal("statistics", {**parameters, "queries": [moved]}, recipients)


def _proposal(analysis: str, parameters: Mapping[str, Any], recipients: Sequence[str]) -> Document:
    names = sorted(_used(parameters))
    sides = {"alice": names, "bob": names}
    if analysis == "matching":
        sides["alice"] = list(parameters["keys"])
    if "match" in parameters:
        sides = {"alice": ["id"], "bob": names}
    return job(analysis, parameters, sides, recipients=recipients, dataset=RECORDS)


def clusters(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Exact k-means of rows that one side holds whole, with and without stated centres."""
    while True:
        columns = chance.pick((["cost"], ["age", "cost"], ["age"]))
        parameters: dict[str, Any] = {
            "layout": "horizontal",
            "clusters": 2,
            "columns": columns,
            "labels": False,
            "iterations": chance.pick((1, 3)),
        }
        if chance.happens(2):
            low = chance.pick((100, 150, 200, 250))
            centres = {
                "cost": (low, low + chance.pick((200, 1000, 90_000))),
                "age": (50, chance.pick((90, 95))),
            }
            parameters["centres"] = [[str(centres[name][side]) for name in columns] for side in (0, 1)]
        yield _proposal("clustering", parameters, recipients)


def sums_over_matches(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Sizes and exact sums over the common persons, several at once where that is allowed."""
    while True:
        parameters: dict[str, Any] = {
            "method": "exact",
            "keys": [chance.pick(("id", "id", "id", "diagnosis"))],
            "output": chance.pick(("size", "statistics", "statistics")),
        }
        if parameters["keys"] == ["diagnosis"] or chance.happens(4):
            parameters["duplicates"] = "multiset"
        if parameters["output"] == "statistics":
            values = chance.pick((["cost"], ["cost"], ["cost", "copy"], ["days"], ["days", "later"]))
            if "days" in values:
                parameters["derived"] = {
                    name: {"from": "born", "to": f"2023-01-{day:02d}", "unit": "years"}
                    for name, day in (("days", 1 + chance.below(9)), ("later", 10 + chance.below(18)))
                    if name in values
                }
            parameters["values"] = [{"side": "bob", "column": name} for name in values]
        yield _proposal("matching", parameters, recipients)


def figures(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Weighted means, risks, standardised ratios and rates, and sums of a number that two numbers make."""
    while True:
        yield _proposal("statistics", _figure(chance), recipients)


def _figure(chance: Chance) -> dict[str, Any]:
    two = {"column": "dear", "event": "high", "by": "sex", "labels": ["f", "m"]}
    strata = {"column": "dear", "event": "high", "strata": "old"}
    query = chance.pick(
        (
            {"kind": "weighted-mean", "column": "age", "weight": "cost"},
            {"kind": "risks", **two},
            {"kind": "standardised-ratio", **strata, "rates": {"younger": "0.3", "older": "0.6"}},
            {"kind": "standardised-rates", **two, **strata, "weights": {"younger": "0.3", "older": "0.7"}},
            {"kind": "sum", "column": "less"},
            {"kind": "sum", "column": "stay", "by": "old"},
        )
    )
    if query["kind"] != "standardised-rates" and chance.happens(2):
        query = {**query, "where": [_condition(chance)]}
    return _exact(query)


def _exact(query: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an exact query, with the derived columns that it names."""
    return {"noise": "none", "queries": [dict(query)], **_derived(query)}


def _derived(value: Any) -> dict[str, Any]:
    names = [name for name in DERIVED if name in _words(value)]
    return {"derived": {name: dict(DERIVED[name]) for name in names}} if names else {}


def _words(value: Any) -> set[str]:
    """All texts of parameters."""
    if isinstance(value, Mapping):
        return set().union(*map(_words, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(_words, value))
    return {value} if isinstance(value, str) else set()


def plans(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Two or three exact tables and figures in one job."""
    while True:
        parts: list[dict[str, Any]] = []
        derived: dict[str, Any] = {}
        for number in range(2 + chance.below(2)):
            parameters = chance.pick((_statistics, _figure))(chance)
            derived |= parameters.pop("derived", {})
            parts.append({"name": f"part {number}", "analysis": "statistics", "parameters": parameters})
        yield _proposal("plan", {"parts": parts, **({"derived": derived} if derived else {})}, recipients)


def models(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Models of one covariate, over rows of both, or matched ones of which the peer brings the keys alone."""
    while True:
        model: dict[str, Any] = {"name": "m", "kind": chance.pick(("linear", "linear", "logistic"))}
        model |= {"outcome": "diagnosis", "label": DIAGNOSES[0]}
        if model["kind"] == "linear":
            model = {"name": "m", "kind": "linear", "outcome": chance.pick(("cost", "stay"))}
        model["on"] = ["old"]
        matched = not chance.happens(3)
        if model["kind"] == "logistic" and not matched:
            model |= {"on": ["age"], "report": ["auc"]}
        elif model["kind"] == "linear" and not matched and chance.happens(2):
            model["range"] = {model["outcome"]: ["-100000", "100000"]}
        parameters: dict[str, Any] = {"models": [model], **_derived(model)}
        if matched:
            columns = [model["outcome"], "old"]
            keys = {"match": {"keys": ["id"]}, "alice_columns": [], "bob_columns": columns}
            parameters |= {"layout": "vertical", **keys}
        yield _proposal("models", parameters, recipients)


def curves(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Survival of everybody, or of two groups."""
    while True:
        query: dict[str, Any] = {"kind": "survival", "time": "followed", "event": "diagnosis"}
        query |= {"events": [DIAGNOSES[0]], "every": POINTS[1], "until": POINTS[-1], "step": POINTS[1]}
        if chance.happens(2):
            query["by"] = "sex"
        yield _proposal("statistics", _exact(query), recipients)


def strata(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Ratios pooled over strata, beside the counts of the groups and of the strata."""
    two = {"column": "dear", "event": "high", "by": "sex", "labels": ["f", "m"]}
    pooled = {"kind": "mantel-haenszel", **two, "strata": "old"}
    while True:
        query = chance.pick((pooled, pooled, {"kind": "risks", **two}, {"kind": "count", "by": "old"}))
        yield _proposal("statistics", _exact(query), recipients)


def fine_clusters(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Exact k-means with many clusters."""
    while True:
        parameters = {
            "layout": "horizontal",
            "clusters": chance.pick((6, 8)),
            "columns": ["cost"],
            "labels": False,
            "iterations": 4,
        }
        yield _proposal("clustering", parameters, recipients)


def lines(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Counts and means by two columns, in any wording, of a victim who shows zeros."""
    while True:
        by = chance.pick((["band", "diagnosis"], ["diagnosis", "band"]))
        query = chance.pick(
            ({"kind": "count", "by": by}, {"kind": "mean", "column": "cost", "by": by}, {"kind": "crosstab"})
        )
        if query["kind"] == "crosstab":
            query["columns"] = by
        yield _proposal("statistics", _exact(query), recipients)


def differences(chance: Chance, recipients: Sequence[str]) -> Iterator[Document]:
    """Sums of one number over nested ages."""
    column = chance.pick(("stay", "cost"))
    while True:
        below = chance.pick((111, 111, 97, 96, 95))
        query = {"kind": "sum", "column": column, "where": [{"column": "age", "below": below}]}
        yield _proposal("statistics", _exact(query), recipients)


Family = Callable[[Chance, Sequence[str]], Iterator[Document]]

SEEN: Final[Sequence[Family]] = (statistics, statistics, clusters, sums_over_matches, figures, plans)
"""Of which it is seen, by leaving each person out, whom a figure is about."""

READ: Final[Sequence[Family]] = (models, models, curves, strata, fine_clusters, lines, differences)
"""Of which it is read (`readings.py`): each run takes seconds, or figures are rounded so that leaving
somebody out moves them by chance."""


def draw(seed: str) -> Round:
    """One round."""
    chance = Chance(seed)
    if chance.happens(2):
        return _to_read(chance)
    count = 14 + chance.below(10)
    people = persons(chance, count, 0, 1 + chance.below(4))
    rows = persons(chance, 1 + chance.below(18), 1000, 3)
    for number in range(min(count, len(rows["id"]))):  # some rows claim to be the victim's persons
        if not chance.happens(3):
            rows["id"][number] = f"p{number}"
    rules = victims_rule(chance), peers_rule(chance, count)
    recipients = chance.pick((["alice", "bob"], ["alice"], ["bob"]))
    proposals = chance.pick(SEEN)(chance, recipients)
    other = chance.pick(SEEN)(chance, recipients)
    jobs = [next(other if chance.happens(5) else proposals) for _ in range(2 + chance.below(4))]
    return Round(people, rows, *rules, jobs)


def _to_read(chance: Chance) -> Round:
    """One round of proposals that are read: larger, as each takes one run, and the peer gets results."""
    family, count = chance.pick(READ), 30 + chance.below(40)
    people = persons(chance, count, 0, 2, outliers=30)
    rows = persons(chance, 1 + chance.below(18), 1000, 3)
    victim = victims_rule(chance) | {"recipients": ["self", "peer", "both"], "dominance": "0.8"}
    victim |= {"may_state": MAY_STATE}
    if family is lines:  # few in the last line, and a row of the peer's in one in which nobody else is
        people = persons(chance, count + 10, 0, 2)
        people["diagnosis"] = [DIAGNOSES[number % 4] for number in range(count + 10)]
        people["age"] = [97, *((50, 92)[number // 4 % 2] for number in range(1, count + 10))]
        rows = {name: cells[:1] for name, cells in rows.items()} | {"age": [0]}
        victim["zeros"] = "shown"
    elif family is models:  # keys of all persons
        rows = {name: list(cells) for name, cells in people.items()}
    elif family is fine_clusters:  # many rows at some places, which hold the clusters there
        costs = [91_000 + 1_500 * place for place in range(6) for _ in range(20)]
        rows = {name: [cells[0]] * len(costs) for name, cells in rows.items()} | {"cost": costs}
        rows["id"] = [f"q{number}" for number in range(len(costs))]
    peer = {
        key: entry for key, entry in peers_rule(chance, count).items() if not key.startswith(("min", "dom"))
    }
    proposals = family(chance, ["alice"])
    return Round(people, rows, victim, peer, [next(proposals) for _ in range(3)], is_read=True)
