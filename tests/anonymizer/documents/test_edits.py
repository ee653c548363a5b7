"""Edits of a text: joined without overlaps, and made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.texts.edits import (
    Edit,
    apply_edits,
    compose_edits,
    join_edits,
    original_span,
    place_edits,
)
from anonymizer.errors import TableError

TEXT = "Anna lives in Nicosia since 1974."


def edit(start, end, text="*"):
    return Edit(start, end, text, "direct", "PERSON")


def test_edits_replace_their_characters_and_nothing_else():
    assert apply_edits(TEXT, [edit(0, 4, "She"), edit(14, 21, "Cyprus")]) == "She lives in Cyprus since 1974."


def test_no_edits_leave_the_text():
    assert apply_edits(TEXT, []) == TEXT


def test_of_overlapping_edits_the_first_named_is_written_over_all_their_characters():
    assert join_edits([edit(5, 10, "b"), edit(0, 6, "a")]) == (edit(0, 10, "b"),)


def test_edits_that_only_touch_stay_apart():
    assert join_edits([edit(4, 6), edit(0, 4)]) == (edit(0, 4), edit(4, 6))


@pytest.mark.parametrize(("start", "end"), [(3, 3), (4, 2), (-1, 2)])
def test_an_edit_of_no_characters_is_refused(start, end):
    with pytest.raises(TableError, match="holds no character"):
        edit(start, end)


@pytest.mark.parametrize("edits", [[edit(0, 4), edit(3, 5)], [edit(3, 5), edit(0, 2)], [edit(0, 400)]])
def test_edits_out_of_order_or_place_are_refused(edits):
    with pytest.raises(TableError, match="overlaps another or is beyond"):
        apply_edits(TEXT, edits)


def test_texts_are_not_in_representations():
    assert "Nicosia" not in repr(edit(0, 4, "Nicosia"))


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=12)


@given(SPANS)
def test_what_an_edit_hides_stays_hidden_when_edits_are_joined(spans):
    edits = [edit(start, start + length, "") for start, length in spans]
    hidden = {at for one in edits for at in range(one.start, one.end)}
    text = "".join(chr(0x4E00 + at) for at in range(40))
    left = apply_edits(text, join_edits(edits))
    assert {ord(one) - 0x4E00 for one in left} == set(range(40)) - hidden


def test_an_edit_of_a_replacement_keeps_the_rest_of_it():
    text = "born on 5 May 1974 in Kyrenia"
    first = [edit(8, 18, "May 1974")]
    assert apply_edits(text, first) == "born on May 1974 in Kyrenia"
    both = compose_edits(text, first, [edit(12, 16, "the 1970s"), edit(20, 27, "Cyprus")])
    assert [one.span for one in both] == [(8, 18), (22, 29)]
    assert apply_edits(text, both) == "born on May the 1970s in Cyprus"


@pytest.mark.parametrize(
    ("text", "hides"), [("", True), ("[PERSON 1]", True), ("［…］", True), ("1974", False)]
)
def test_placeholders_say_nothing(text, hides):
    assert edit(0, 4, text).hides is hides


@st.composite
def edits_of(draw, text, letters):
    """Edits of a text without overlaps."""
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return [edit(low, high, draw(st.text(letters, max_size=3))) for low, high in pairs]


@given(st.data())
def test_composed_edits_do_what_both_do_after_each_other(data):
    text = "abcdefghijklmnop"
    first = data.draw(edits_of(text, "XYZ"))
    middle = apply_edits(text, first)
    second = data.draw(edits_of(middle, "123"))
    assert apply_edits(text, compose_edits(text, first, second)) == apply_edits(middle, second)


@given(st.data())
def test_every_character_that_was_not_replaced_is_found_again(data):
    text = "abcdefghijklmnop"
    edits = data.draw(edits_of(text, "XYZ"))
    now = apply_edits(text, edits)
    replaced = {at for (low, high), _ in place_edits(edits) for at in range(low, high)}
    for at, letter in enumerate(now):
        start, end = original_span(edits, (at, at + 1))
        if at in replaced:
            assert (start, end) in [one.span for one in edits]
        else:
            assert text[start:end] == letter
