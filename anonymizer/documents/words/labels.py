"""Interest labels: which documents a searcher would look for, by a text classifier.

Reference: thesis, sections 6.1.2 (Labeling) and 6.2.3, which takes FastText; here a logistic regression of
the lemmas' TF-IDF.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anonymizer.documents.texts.text import Word
from anonymizer.documents.words.keywords import KEYWORDS, MAX_KEYWORDS
from anonymizer.errors import TableError
from anonymizer.tables.table import Table

FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class Confusion:
    """Labels that were given to documents that were not learned, in the manner of Table 6.3.

    Attributes:
        true_positive: of the interesting label, and given it.
        true_negative: of another, and given another.
        false_positive: of another, and given the interesting one: attacked in vain.
        false_negative: of the interesting one, and given another: **attacked too little**.
    """

    true_positive: int
    true_negative: int
    false_positive: int
    false_negative: int

    @property
    def accuracy(self) -> float:
        """The part of right labels."""
        right = self.true_positive + self.true_negative
        return right / (right + self.false_positive + self.false_negative)

    @property
    def recall(self) -> float:
        """The part of interesting documents that were given their label."""
        return self.true_positive / (self.true_positive + self.false_negative)


class Labeller:
    """Gives documents labels as learned from labelled ones.

    Args:
        documents: the words of each.
        labels: of each.
        seed: of the folds; the model itself has no randomness.

    Raises:
        TableError: documents and labels are not equally many, there is only one label, or one has fewer
            documents than there are folds.
    """

    def __init__(self, documents: Sequence[Sequence[Word]], labels: Sequence[str], seed: int = 0) -> None:
        if len(documents) != len(labels):
            raise TableError(
                f"There are {len(documents)} documents and {len(labels)} labels.",
                "Give each document a label.",
            )
        counts = Counter(labels)
        if len(counts) < 2 or min(counts.values()) < FOLDS:
            shown = ", ".join(f"{label!r} of {count}" for label, count in sorted(counts.items()))
            raise TableError(
                f"Labels cannot be learned from these: {shown or 'none'}.",
                f"Give two labels or more, each of {FOLDS} documents or more.",
            )
        self._texts = [_lemmas(words) for words in documents]
        self._labels, self._seed = list(labels), seed
        self._model = _model().fit(self._texts, self._labels)

    def label(self, words: Sequence[Word]) -> str:
        """The label of a document."""
        return str(self._model.predict([_lemmas(words)])[0])

    def evaluate(self, interesting: str) -> Confusion:
        """How right labels are of documents that the model did not see, by five folds.

        Raises:
            TableError: no document has this label.
        """
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        if interesting not in self._labels:
            known = ", ".join(map(repr, sorted(set(self._labels))))
            raise TableError(f"No document is labelled {interesting!r}.", f"Labels are {known}.")
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self._seed)
        given = cross_val_predict(_model(), self._texts, self._labels, cv=folds)
        pairs = Counter(
            (label == interesting, found == interesting)
            for label, found in zip(self._labels, given, strict=True)
        )
        return Confusion(pairs[True, True], pairs[False, False], pairs[False, True], pairs[True, False])


@dataclass(frozen=True, slots=True)
class Interest:
    """What a label decides: how many keywords a document is attacked with.

    Attributes:
        sizes: |KW| by label, 0 to 5. With 0 a document is not attacked, and nothing is known of it then:
            reports have to say so.
        other: |KW| of documents without a label, or with one that is not named.

    Raises:
        TableError: a size is out of its range.
    """

    sizes: Mapping[str, int]
    other: int = KEYWORDS

    def __post_init__(self) -> None:
        for label, size in {**self.sizes, "other": self.other}.items():
            if not 0 <= size <= MAX_KEYWORDS:
                raise TableError(
                    f"{size} keywords (|KW|) of the label {label!r} are out of range.",
                    f"Take 0 to {MAX_KEYWORDS}.",
                )

    def size(self, label: str | None) -> int:
        """|KW| for a label."""
        return self.other if label is None else self.sizes.get(label, self.other)


def labels_from(table: Table, document: str = "document", label: str = "label") -> dict[str, str]:
    """Labels of documents by their names, from a table.

    Args:
        table: a row for each document.
        document: the column of names.
        label: the column of labels.

    Raises:
        RoleError: a column is not there.
        TableError: a document has two labels, or a name or label is missing.
    """
    if table.missing(document).any() or table.missing(label).any():
        raise TableError("A document has no name or no label.", "Fill the table of labels.")
    found: dict[str, str] = {}
    names, labels = (map(str, table.series(column).to_list()) for column in (document, label))
    for name, value in zip(names, labels, strict=True):
        if found.setdefault(name, value) != value:
            raise TableError(
                f"{name} is labelled {found[name]!r} and {value!r}.", "Keep one label for each document."
            )
    return found


def _lemmas(words: Sequence[Word]) -> list[str]:
    return [word.lemma for word in words if word.tag not in {"symbol", "function"}]


def _as_is(lemmas: list[str]) -> list[str]:
    return lemmas


def _model() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = TfidfVectorizer(analyzer=_as_is, min_df=2, sublinear_tf=True)
    return make_pipeline(features, LogisticRegression(C=100.0, class_weight="balanced", max_iter=1000))
