"""Interest labels: learned from labelled documents, judged on those not seen, and what they decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.documents.words.labels import Confusion, Interest, Labeller, labels_from
from anonymizer.documents.words.preprocessing import Preprocessing
from anonymizer.errors import TableError
from anonymizer.tables.table import Table
from tests.anonymizer.documents.webs import read

FATAL = ("The boy died in the hospital after he fell.", "She was killed at once; the funeral was in May.",
         "The child drowned and his death was reported.")  # fmt: skip
LIGHT = ("The boy bruised his knee in the yard.", "She cut a finger, and went back to class.",
         "The child twisted an ankle at the game.")  # fmt: skip
TEXTS = [f"In room {at} of school {at % 7}. {(FATAL if at % 2 else LIGHT)[at % 3]}" for at in range(60)]
LABELS = ["fatal" if at % 2 else "light" for at in range(60)]
WORDS = [read(one) for one in TEXTS]


def test_labels_are_learned():
    labeller = Labeller(WORDS, LABELS)
    assert labeller.label(read("A girl drowned.")) == "fatal"
    assert labeller.label(read("A girl cut her knee.")) == "light"


def test_evaluation_is_of_documents_that_were_not_seen():
    found = Labeller(WORDS, LABELS).evaluate("fatal")
    assert (found.true_positive + found.false_negative, found.accuracy) == (30, 1.0)
    shuffled = list(np.random.default_rng(1).permutation(LABELS))
    by_chance = Labeller(WORDS, shuffled).evaluate("fatal")
    # labels that say nothing: above 0.9 of 60 is a chance below 1e-9
    assert by_chance.accuracy < 0.9


def test_the_table_of_a_classifier_says_how_right_it_is():
    thesis = Confusion(true_positive=650, true_negative=646, false_positive=10, false_negative=6)
    assert thesis.accuracy == pytest.approx(0.9878, abs=1e-4)
    assert thesis.recall == pytest.approx(0.9909, abs=1e-4)


def test_the_label_decides_how_many_keywords_there_are():
    interest = Interest({"fatal": 5, "light": 0})
    prepare = Preprocessing(WORDS, labeller=Labeller(WORDS, LABELS), interest=interest)
    fatal, light = (prepare.prepare(WORDS[at]) for at in (1, 2))
    assert (fatal.label, len(fatal.keywords)) == ("fatal", 5)
    assert (light.label, light.keywords) == ("light", ())


def test_documents_without_a_label_have_the_usual_number():
    assert [Interest({"fatal": 5}).size(one) for one in (None, "new", "fatal")] == [3, 3, 5]


@pytest.mark.parametrize("sizes", [{"fatal": 6}, {"fatal": -1}])
def test_sizes_out_of_range_are_refused(sizes):
    with pytest.raises(TableError, match="of the label 'fatal' are out of range"):
        Interest(sizes)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (LABELS[:-1], "60 documents and 59 labels"),
        (["fatal"] * 60, "cannot be learned from these: 'fatal' of 60"),
        (["fatal"] * 56 + ["light"] * 4, "each of 5 documents or more"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(labels, said):
    with pytest.raises(TableError, match=said):
        Labeller(WORDS, labels)


def test_a_label_that_no_document_has_cannot_be_judged():
    with pytest.raises(TableError, match="No document is labelled 'grave'"):
        Labeller(WORDS, LABELS).evaluate("grave")


def table(**columns):
    return Table.of(pd.DataFrame(columns))


def test_labels_come_from_a_table():
    assert labels_from(table(document=["a", "b"], label=[1, 0])) == {"a": "1", "b": "0"}


@pytest.mark.parametrize(
    ("labels", "said"),
    [(["x", "y"], "a is labelled 'x' and 'y'"), (["x", None], "has no name or no label")],
)
def test_wrong_tables_are_refused(labels, said):
    with pytest.raises(TableError, match=said):
        labels_from(table(document=["a", "a"], label=labels))
