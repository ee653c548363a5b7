"""The search for figures about few persons (`scripts/soak/adversary.py`): it sees a gate that is open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from scripts.soak import proposals
from scripts.soak.adversary import PEER_CHOSEN, View, _ends, look
from scripts.soak.proposals import DERIVED, FIRST_DAY, READ, Chance, Round, draw
from scripts.soak.readings import read
from smc.analyses.disclosure import clusters, tables
from tests.parties.jobs.institutions import job

PERSONS = 5
ELDERLY = 2


@dataclass(frozen=True)
class Careless(Round):
    """A victim whose policy does less than it asks for, as a program with a hole would."""

    @property
    def minimum(self):
        return 3

    @property
    def dominance(self):
        return 0.8


def population():
    """Five persons, of whom two are above ninety."""
    age = [95, 96, *[50] * (PERSONS - ELDERLY)]
    return {
        "id": [f"p{number}" for number in range(PERSONS)],
        "age": age,
        "cost": [10 * number for number in range(1, PERSONS + 1)],
        "copy": [10 * number for number in range(1, PERSONS + 1)],
        "sex": ["f"] * PERSONS,
        "diagnosis": ["asthma"] * PERSONS,
        "born": [FIRST_DAY.isoformat()] * PERSONS,
        "left": [FIRST_DAY.replace(day=2 + number).isoformat() for number in range(PERSONS)],
        "followed": [100] * PERSONS,
    }


def asks(columns, *queries, **derived):
    """An exact table, or a plan of several."""
    parts = [{"noise": "none", "queries": [query]} for query in queries]
    more = {"derived": derived} if derived else {}
    named = [
        {"name": f"part {place}", "analysis": "statistics", "parameters": part}
        for place, part in enumerate(parts)
    ]
    analysis, parameters = ("statistics", parts[0]) if len(parts) == 1 else ("plan", {"parts": named})
    sides = dict.fromkeys(("alice", "bob"), columns)
    return job(analysis, parameters | more, sides, recipients=["alice", "bob"], dataset="records")


def count_of(condition):
    return asks(["age"], {"kind": "count", "column": "age", "where": [condition]})


def sequence(kind, minimum, *jobs):
    """What a peer with one young person asks of the five."""
    peer = {name: cells[:1] for name, cells in population().items()} | {"id": ["q0"], "age": [50]}
    rule = {"runs_total": 8, "row_results": False, "recipients": ["both"], "may_state": ["where", "derived"]}
    rule |= {"minimum_group": minimum, "overlap": 0}
    wants = {"runs_total": 8, "row_results": True, "keys": ["*"], "zeros": "shown"}
    return kind(population(), peer, rule, wants, jobs)


ALL = count_of({"column": "age", "at_least": 0})
ABOVE_NINETY = count_of({"column": "age", "at_least": 91})
UP_TO_NINETY = count_of({"column": "age", "below": 91})


@pytest.mark.parametrize(
    "jobs", [[ABOVE_NINETY], [ALL, UP_TO_NINETY]], ids=["one figure", "a difference of two"]
)
def test_two_persons_are_found_where_the_gate_is_open(jobs):
    found, ends = look(sequence(Careless, 0, *jobs))
    assert ends["finished/"] == len(jobs)
    assert {(finding.kind, finding.about) for finding in found} == {("figure", (0, 1))}


ELDERS = [{"column": "age", "at_least": 91}]
OF_TWO = {"column": "dear", "event": "high", "by": "sex", "labels": ["f", "m"]}
OF_STRATA = {"column": "dear", "event": "high", "strata": "old"}
DEAR, OLD, LESS = (DERIVED[name] for name in ("dear", "old", "less"))


@pytest.mark.parametrize(
    "document",
    [
        asks(["age", "cost"], {"kind": "weighted-mean", "column": "age", "weight": "cost", "where": ELDERS}),
        asks(["age", "cost", "sex"], {"kind": "risks", **OF_TWO, "where": ELDERS}, dear=DEAR),
        asks(
            ["age", "cost"],
            {"kind": "standardised-ratio", **OF_STRATA, "rates": {"younger": "0.3", "older": "0.6"}},
            dear=DEAR,
            old=OLD,
        ),
        asks(
            ["age", "cost", "sex"],
            {"kind": "standardised-rates", **OF_TWO, **OF_STRATA, "weights": {"younger": "1", "older": "1"}},
            dear=DEAR,
            old=OLD,
        ),
        asks(["age", "cost", "copy"], {"kind": "sum", "column": "less", "where": ELDERS}, less=LESS),
        asks(
            ["age"], {"kind": "count", "column": "age", "where": ELDERS}, {"kind": "count", "column": "age"}
        ),
    ],
    ids=["weighted mean", "risks", "standardised ratio", "standardised rates", "two numbers", "plan"],
)
def test_two_persons_are_found_in_every_kind_of_figure(document):
    found, ends = look(sequence(Careless, 0, document))
    assert ends["finished/"] == 1
    assert ("figure", (0, 1)) in {(finding.kind, finding.about) for finding in found}


HOLES = {
    "models": "dominance",
    "curves": "digits",
    "strata": "group",
    "fine_clusters": "pattern",
    "lines": "line",
    "differences": "dominance",
}
"""What is read of each kind of figure where no limit stands in the way."""


def careless(family, place, monkeypatch):
    """A drawn round of one family, of a victim whose limits are off."""
    monkeypatch.setattr(proposals, "READ", (family,))
    drawn = proposals._to_read(Chance(family.__name__, str(place)))
    fields = {name: getattr(drawn, name) for name in ("persons", "rows", "victim", "peer", "jobs")}
    open_policy = {**drawn.victim, "minimum_group": 0, "dominance": "1", "overlap": 0}
    if family in (proposals.lines, proposals.fine_clusters):  # what is withheld is the hole
        open_policy = {**drawn.victim, "overlap": 0}
    return Careless(**fields | {"victim": open_policy}, is_read=True)


@pytest.mark.parametrize("family", dict.fromkeys(READ), ids=lambda family: family.__name__)
def test_holes_are_read_where_limits_are_off(family, monkeypatch):
    monkeypatch.setattr(tables, "refusal", lambda *_: None)
    monkeypatch.setattr(clusters, "most_failing", lambda count: count)
    rounds = (look(careless(family, place, monkeypatch))[0] for place in range(10))
    assert any(finding.kind == HOLES[family.__name__] for found in rounds for finding in found)


@pytest.mark.parametrize("bits", [2, 5])
def test_digits_of_an_area_are_read(bits, monkeypatch):
    """Forty rows of the victim's and as many of the peer's: three of forty show no more than three bits."""
    drawn = careless(proposals.models, 0, monkeypatch)
    model = {"name": "m", "kind": "logistic", "outcome": "diagnosis", "label": "asthma", "on": ["age"]}
    count = len(drawn.persons["id"])
    area = (0.25 - 2.0**-bits) * 4  # of half of the rows
    columns = {"rows": [2 * count], "with_outcome": [count], "auc": [area]}
    tables = [{"name": "m", "columns": {"coefficient": [1.0]}}, {"name": "models", "columns": columns}]
    parameters = {"models": [{**model, "report": ["auc"]}]}
    asked = job("models", parameters, ["age", "diagnosis"])
    alone = Careless(drawn.persons, drawn.rows, drawn.victim, drawn.peer, [asked])
    found = list(read(alone, [{"tables": tables}], [[]]))
    assert [finding.kind for finding in found] == (["digits"] if bits > count.bit_length() - 2 else [])


def test_nothing_is_found_where_the_gate_stands():
    found, ends = look(sequence(Round, 3, ABOVE_NINETY, ALL, UP_TO_NINETY))
    assert found == []
    assert ends["finished/"] >= 2  # what is withheld of the first, and the figure of the second


@pytest.mark.parametrize("code", ["policy", *sorted(PEER_CHOSEN)])
def test_an_end_that_tells_of_a_person_is_printed_if_the_victim_set_no_limit(code):
    whole, without = View(["finished/"]), [View(["finished/"]), View([f"failed/{code}"])]
    ends = Counter()
    found = list(_ends(whole, without, ends))
    assert [finding.about for finding in found] == ([(1,)] if code in PEER_CHOSEN else [])
    assert ends == {f"bit: failed/{code} or finished/": 1}


def test_a_round_is_drawn_again_from_its_seed():
    assert draw("some seed/3") == draw("some seed/3")
    assert draw("some seed/3") != draw("some seed/4")
