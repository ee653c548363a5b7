"""Weights from a trained model of Splink: its bits are kept, and any other file is refused."""

from __future__ import annotations

import json
from math import log2

import pytest

from smc.analyses.matching.suggestion.splink import MAX_BYTES, read_model, terms_of
from smc.analyses.matching.suggestion.suggest import Assumed, suggest
from smc.errors import UsageError
from tests.smc.analyses.matching.suggestion.splink_models import levels, splink_model
from tests.smc.analyses.matching.suggestion.test_suggest import COLUMNS, f_measure, registers


def read(**changes):
    return read_model(json.dumps(splink_model(COLUMNS) | changes))


def test_bits_of_the_first_and_the_last_level_are_read():
    model = read()
    assert model.prior == pytest.approx(log2(0.0001 / 0.9999))
    given, surname = model.comparisons[:2]
    assert (given.column, given.rarity) == ("given_name", 0)
    assert (surname.column, surname.rarity) == ("surname", 1)
    assert given.equal == surname.equal == pytest.approx(log2(900))
    assert given.different == pytest.approx(log2(0.03 / 0.997))
    assert surname.usual == pytest.approx(log2(1000))


def score(terms, common, ones, rarity=(0, 0, 0, 0)):
    """Of a pair both sides of which have these ones, above the least score."""
    total = sum(w * c for w, c in zip(terms.weights, common, strict=True))
    for gram, empty, rare, count, bits in zip(
        terms.gram, terms.empty, terms.rarity, ones, rarity, strict=True
    ):
        total += 2 * (gram * count + (empty if not count else 0) + rare * bits) / 100
    return total - terms.least


def test_scores_are_the_bits_of_the_model():
    """Up to whole weights: of equal and of different texts, of empty ones, and of rare ones."""
    model, usual = read(), [8.0, 8.0, 10.0, 6.0]
    terms = terms_of(model.comparisons, model.prior, usual, [10.0] * 4)
    assert sum(terms.weights) * 10 == pytest.approx(120, abs=20)
    usual_rarity = (0, model.comparisons[1].usual, 0, 0)
    unit = terms.rarity[1] / 50
    equal = model.prior + sum(one.equal for one in model.comparisons)
    assert score(terms, usual, usual, usual_rarity) / unit == pytest.approx(equal, abs=1)
    far = equal - sum(one.equal - one.different for one in model.comparisons)
    assert score(terms, [0] * 4, usual, usual_rarity) / unit == pytest.approx(far, rel=0.15)
    rarer = (0, model.comparisons[1].usual + 3, 0, 0)
    gain = score(terms, usual, usual, rarer) - score(terms, usual, usual, usual_rarity)
    assert gain / unit == pytest.approx(3, rel=0.01)


def test_a_model_links_as_well_as_its_weights_are():
    alice, bob = registers(6)
    found = suggest(alice, Assumed(overlap=0.6, model=read()))
    assert {one["column"] for one in found.parameters["fields"]} == set(COLUMNS)
    assert f_measure(found.parameters, alice, bob) >= 0.95


def test_a_model_that_lacks_a_field_is_refused():
    alice, _ = registers(6)
    model = read_model(json.dumps(splink_model(COLUMNS[:3])))
    with pytest.raises(UsageError, match="does not compare postcode"):
        suggest(alice, Assumed(model=model))
    with pytest.raises(UsageError, match="No column was found for surname"):
        suggest(
            alice, Assumed(model=read_model(json.dumps(splink_model(("given_name", "born", "postcode")))))
        )


def changed(**values):
    found = levels()
    found[1] |= values
    return {"comparisons": [{"output_column_name": "surname", "comparison_levels": found}]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"comparisons": []}, "1 to 64 comparisons"),
        ({"comparisons": "surname"}, "1 to 64 comparisons"),
        ({"comparisons": [1]}, r"comparisons\[0\] is not a table"),
        ({"comparisons": [{}]}, "output_column_name"),
        ({"comparisons": [{"output_column_name": "surname"}]}, "comparison_levels"),
        ({"comparisons": [{"output_column_name": "surname", "comparison_levels": levels()[:3]}]}, "ELSE"),
        (
            {"comparisons": [{"output_column_name": "surname", "comparison_levels": [{}, 1]}]},
            "is not a table",
        ),
        ({"comparisons": 2 * [{"output_column_name": "surname", "comparison_levels": levels()}]}, "twice"),
        (changed(m_probability=None), "not trained"),
        (changed(m_probability=True), "not trained"),
        (changed(m_probability=1.5), "not trained"),
        (changed(u_probability="1"), "not trained"),
        (changed(m_probability=1e-300), "no more for a match"),
        (changed(tf_adjustment_column="surname", tf_adjustment_weight=2), "tf_adjustment_weight"),
        ({"probability_two_random_records_match": None}, "not trained"),
        ({"probability_two_random_records_match": -0.1}, "not trained"),
    ],
)
def test_what_is_no_trained_model_is_refused(changes, said):
    with pytest.raises(UsageError, match=said):
        read(**changes)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, "{" + " " * MAX_BYTES + "}", '{"comparisons": NaN}']
)
def test_crafted_files_are_refused(text):
    with pytest.raises(UsageError) as caught:
        read_model(text)
    assert caught.value.hint


def test_probabilities_of_no_number_are_refused():
    text = json.dumps(splink_model(COLUMNS)).replace("0.9,", "NaN,")
    with pytest.raises(UsageError, match="not trained"):
        read_model(text)
