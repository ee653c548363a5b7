"""The parameters of statistics over matched rows, and declarations as a peer sends them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.records.matched_columns import Vertical
from smc.analyses.records.peer_schemas import read, write_schemas
from smc.analyses.studies.columns import Schema
from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.pair import run_pair
from smc.protocols.exchange.texts import MAX_BYTES, exchange_texts
from tests.smc.analyses.statistics_runs import parsed

GOOD = """
epsilon = "1"
layout = "vertical"
alice_columns = ["x"]
bob_columns = ["y"]
[[queries]]
kind = "covariance"
columns = ["x", "y"]
[match]
keys = ["id", "born"]
[match.normalization]
born = ["date"]
"""


def test_good_parameters():
    found = parsed(GOOD).parameters
    assert isinstance(found.vertical, Vertical)
    assert found.vertical.match.recipes == (("id", ("trim",)), ("born", ("date",)))
    assert found.neighbours.changes == 2
    distinct = parsed(
        GOOD.replace('keys = ["id", "born"]', 'keys = ["id", "born"]\nduplicates = "distinct"')
    ).parameters
    assert distinct.neighbours.changes == 4


def test_a_count_needs_no_column():
    text = GOOD.replace('["x"]', "[]").replace('["y"]', "[]")
    found = parsed(text.replace('kind = "covariance"\ncolumns = ["x", "y"]', 'kind = "count"'))
    assert found.parameters.columns == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('layout = "vertical"', 'layout = "diagonal"', "layout cannot be 'diagonal'"),
        ('layout = "vertical"', 'layout = "horizontal"', "unknown key"),
        ('layout = "vertical"', 'layout = "vertical"\nrows_per_person = 2', "unknown key 'rows_per_person'"),
        ('epsilon = "1"', 'noise = "none"', "not released without noise"),
        ('alice_columns = ["x"]', "", "'x', which is in neither"),
        ('bob_columns = ["y"]', 'bob_columns = ["y", "x"]', "name a column twice"),
        ('bob_columns = ["y"]', 'bob_columns = ["y", "z"]', "no query uses the column 'z'"),
        ('bob_columns = ["y"]', "bob_columns = [1]", "not a list"),
        ('keys = ["id", "born"]', "", "lacks the key 'keys'"),
        ('keys = ["id", "born"]', 'keys = ["id", "id"]', "match.keys names a column twice"),
        ('keys = ["id", "born"]', 'keys = ["id", "born"]\nduplicates = "multiset"', "'multiset'"),
        ('keys = ["id", "born"]', 'keys = ["id", "born"]\noutput = "size"', "unknown key 'output'"),
        ('born = ["date"]', 'name = ["trim"]', "unknown key 'name'"),
    ],
)
def test_impossible_parameters(old, new, words):
    assert old in GOOD
    with pytest.raises(UsageError, match=words):
        parsed(GOOD.replace(old, new))


ends = st.none() | st.integers(-(2**63) + 1, 2**63 - 1)
schemas = st.builds(
    lambda kind, scale, bounds, labels, unit: Schema(kind, scale, *bounds, tuple(labels), unit=unit),
    st.sampled_from(["integer", "decimal", "category"]),
    st.integers(0, 18),
    st.tuples(ends, ends).filter(lambda pair: None in pair or pair[0] <= pair[1]),
    st.lists(st.text(st.characters(codec="utf-8")), unique=True, max_size=3),
    st.text(st.characters(codec="utf-8"), max_size=4),
)


@given(st.lists(schemas, max_size=3))
def test_declarations_come_back(given_schemas):
    names = [str(place) for place in range(len(given_schemas))]
    assert list(read(write_schemas(given_schemas).decode(), names).values()) == given_schemas


FIELDS = ["decimal", 2, 0, 10, [], "kg"]


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[" * 100_000,
        "{}",
        "[]",
        json.dumps([FIELDS, FIELDS]),
        json.dumps([FIELDS[:5]]),
        *(
            json.dumps([[*FIELDS[:place], wrong, *FIELDS[place + 1 :]]])
            for place, wrong in [
                (0, "text"),
                (0, ["decimal"]),
                (1, 19),
                (1, True),
                (1, -1),
                (2, 11),
                (2, 0.5),
                (3, 2**63),
                (4, ["a", "a"]),
                (4, [1]),
                (4, "ab"),
                (5, None),
            ]
        ),
    ],
)
def test_impossible_declarations(text):
    with pytest.raises(ProtocolViolation):
        read(text, ["x"])


def test_texts_are_exchanged_and_checked():
    first, second = run_pair(
        lambda s: exchange_texts(s, "Grüße".encode(), 1), lambda s: exchange_texts(s, b"b", 7)
    )
    assert (first, second) == ("b", "Grüße")
    with pytest.raises(ProtocolViolation, match="not text"):
        run_pair(lambda s: exchange_texts(s, b"a", 2), lambda s: exchange_texts(s, b"\xff\xff", 1))
    with pytest.raises(ProtocolViolation, match="length"):
        run_pair(lambda s: exchange_texts(s, b"a", MAX_BYTES + 1), lambda s: exchange_texts(s, b"a", 1))
    with pytest.raises(DomainError, match="too long"):
        run_pair(lambda s: exchange_texts(s, b"a" * (MAX_BYTES + 1), 1), lambda s: exchange_texts(s, b"a", 1))


MANTEL_HAENSZEL = """
layout = "vertical"
alice_columns = ["arm", "site"]
bob_columns = ["ended"]
match = { keys = ["id"] }
[[queries]]
kind = "mantel-haenszel"
column = "ended"
event = "died"
by = "arm"
strata = "site"
"""


@pytest.mark.parametrize("noise", ['noise = "none"', 'epsilon = "1"'])
def test_of_a_pooled_kind_is_not_said_that_it_lacks_noise_or_has_too_much(noise):
    with pytest.raises(UsageError, match="that each side has by itself, not of matched ones") as caught:
        parsed(noise + MANTEL_HAENSZEL)
    assert "risks by stratum" in caught.value.hint
