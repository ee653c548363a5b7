"""What is measured of the court cases: attacks before and after sanitizing, words at risk, shared words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calibration import Observation
from chapter6_cases import MASKS, Case, tagged, web

from anonymizer.documents.attacks.attack import Attacked, Attacker
from anonymizer.documents.attacks.risk import METADATA, KnownNames, SharedWords, most_shared, successes
from anonymizer.documents.attacks.simulation import SimulatedAttacks
from anonymizer.documents.generalization.standard import standard
from anonymizer.documents.sanitization.sanitizing import Sanitized, sanitize
from anonymizer.documents.words.information import ACCIDENTS, COURTS, Informative, Numerator, Weights
from anonymizer.documents.words.keywords import KEYWORDS
from anonymizer.documents.words.labels import Confusion, Labeller
from anonymizer.documents.words.preprocessing import Preprocessing
from anonymizer.tables.randomness import Randomness

DEATH: Final = frozenset(
    {"die", "death", "dead", "deceased", "kill", "killing", "murder", "homicide", "suicide"}
)
DECIMALS: Final = 2
SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """An attack on a case.

    Attributes:
        case: that was attacked.
        attacked: what was searched for and found.
        carriers: lemmas of the smallest searches that found the applicant; none if none did.
    """

    case: Case
    attacked: Attacked
    carriers: frozenset[str]

    @property
    def succeeded(self) -> bool:
        """Whether the applicant was found."""
        return bool(self.carriers)


@dataclass(frozen=True, slots=True)
class After:
    """A case when it is sanitized.

    Attributes:
        case: it.
        done: what was done.
        words: of the masked text, symbols left out.
        found: whether the same attack, made afresh, finds the applicant.
        by_five: whether one with |KW| = 5 does.
    """

    case: Case
    done: Sanitized
    words: int
    found: bool
    by_five: bool

    @property
    def kinds(self) -> Counter[str]:
        """What annotators had said of the words that were taken away."""
        return Counter(
            next(
                (
                    f"{one.identifier} {one.entity}"
                    for one in self.case.mentions
                    if edit.overlaps((one.start, one.end))
                ),
                "not marked",
            )
            for edit in self.done.edits
            if edit.cause == "attack"
        )

    def changed(self, *, deleted: bool = False) -> int:
        """Words of the masked text that an attack took away, or only those with nothing in their place."""
        return sum(
            word.tag != "symbol"
            for edit in self.done.edits
            if edit.cause == "attack" and (edit.hides or not deleted)
            for word in tagged(self.done.document.text[edit.start : edit.end])
        )


class Study:
    """Some cases, masked in one way.

    Args:
        cases: d; each has the others as its D**, so that counts are those of all.
        masks: "none", "DIRECT" or "DIRECT and QUASI".
        weights: epsilon(w).
        numerator: of P(w).
    """

    def __init__(
        self, cases: Sequence[Case], masks: str, weights: Weights = COURTS, numerator: Numerator = "document"
    ) -> None:
        self.cases = tuple(cases)
        self.edits = {case.document.name: case.masks(MASKS[masks]) for case in cases}
        self.words = {case.document.name: case.words(self.edits[case.document.name]) for case in cases}
        self.attacker = Attacker(web(self.cases))
        self.names = KnownNames({case.document.name: [case.applicant] for case in cases})
        self.preprocessing = Preprocessing(list(self.words.values()), weights=weights, numerator=numerator)
        top = {name: self.preprocessing.prepare(words).top for name, words in self.words.items()}
        self.shared = SharedWords(top, METADATA)

    def keywords(self, case: Case, size: int = KEYWORDS) -> tuple[Informative, ...]:
        """KW_i."""
        return self.preprocessing.prepare(self.words[case.document.name], size=size).keywords

    def outcome(self, case: Case, keywords: tuple[Informative, ...], *, article: bool = True) -> Outcome:
        """Attack a case by some keywords, in the web with or without the article about it."""
        gone = () if article else (case.article,)
        attacked = self.attacker.attack(case.document, keywords, versions=gone)
        won = {frozenset(one.keywords) for one in successes(attacked, self.names)}
        smallest = [one for one in won if not any(other < one for other in won)]
        return Outcome(case, attacked, frozenset().union(*smallest))

    def outcomes(self, size: int = KEYWORDS, *, article: bool = True) -> list[Outcome]:
        """Attack all cases, each by its KW_i."""
        return [self.outcome(case, self.keywords(case, size), article=article) for case in self.cases]

    def observations(self, seed: int) -> list[Observation]:
        """Figure 6.3: w and success of each case; half of them, drawn by a seed, have an article."""
        draw = Randomness(seed, "news")
        news = set(draw.sample(len(self.cases), len(self.cases) // 2).tolist())
        found = [
            self.outcome(case, self.keywords(case), article=at in news) for at, case in enumerate(self.cases)
        ]
        return [Observation(most_shared(one.attacked, self.shared), one.succeeded) for one in found]

    def simulation(self, case: Case, size: int = KEYWORDS, groups: int = 1) -> SimulatedAttacks:
        """A fresh attacker of a case, who searches with so many groups of |KW| words."""
        fresh = Attacker(self.attacker.engine)
        return SimulatedAttacks(
            case.document, self.preprocessing, fresh, self.names, size=size, groups=groups
        )

    def sanitized(self, groups: int = 1) -> list[After]:
        """Sanitize all cases by attacking them, and attack the results afresh."""
        found, replacement = [], standard()
        for case in self.cases:
            name = case.document.name
            attack = self.simulation(case, groups=groups)
            done = sanitize(case.document, self.edits[name], tagged, attack, replacement, language="en")
            left = case.words(done.edits)
            count = sum(word.tag != "symbol" for word in self.words[name])
            again = [
                bool(self.simulation(case, size, times)(left)) for size, times in ((KEYWORDS, groups), (5, 1))
            ]
            found.append(After(case, done, count, *again))
        return found


def originals(cases: Sequence[Case]) -> list[list[object]]:
    """In the manner of Table 6.1: I(w) in the originals, then classes (1), (2), (3) for each kind of masks.

    Class (1): potential risk words, KW_i of the originals with names in front. Class (2): those of them that
    the masked case still has. Class (3): those of them that lead to the applicant if they are searched for.
    """
    whole = Study(cases, "none", ACCIDENTS)
    masked = [Study(cases, kind, ACCIDENTS) for kind in list(MASKS)[1:]]
    rows: dict[float, list[int]] = {}
    for case in cases:
        chosen = whole.keywords(case)
        found: list[tuple[set[str], frozenset[str]]] = []
        for study in masked:
            there = {word.lemma for word in study.words[case.document.name]}
            left = tuple(word for word in chosen if word.lemma in there)
            found.append(({word.lemma for word in left}, study.outcome(case, left).carriers))
        for word in chosen:
            marks = [word.lemma in words for pair in found for words in pair]
            row = rows.setdefault(round(word.information, DECIMALS), [0] * 5)
            row[:] = [one + more for one, more in zip(row, [1, *marks], strict=True)]
    return _by_value(rows)


def remaining(outcomes: Sequence[Outcome]) -> list[list[object]]:
    """In the manner of Table 6.2: I(w) in the masked cases, KW_i of these, and those that carry an attack."""
    rows: dict[float, list[int]] = {}
    for one in outcomes:
        for word in one.attacked.keywords:
            row = rows.setdefault(round(word.information, DECIMALS), [0, 0])
            row[0] += 1
            row[1] += word.lemma in one.carriers
    return _by_value(rows)


def _by_value(rows: dict[float, list[int]]) -> list[list[object]]:
    """The three highest values, as printed; then all others, and the sums."""
    values = sorted(rows, reverse=True)
    first = [[f"{value:.2f}", *rows[value]] for value in values[:SHOWN]]
    rest = [sum(column) for column in zip(*(rows[value] for value in values[SHOWN:]), strict=True)]
    sums = [sum(column) for column in zip(*rows.values(), strict=True)]
    return [*first, *([["lower", *rest]] if rest else []), ["#PRWs", *sums]]


def labelled(study: Study, seed: int) -> dict[str, tuple[Confusion, Sequence[bool]]]:
    """Two stand-ins for interest: whether a case speaks of a death (with these words taken out), its country.

    Returns:
        By name the evaluation of the classifier, and which cases have the label.
    """
    words = [study.words[case.document.name] for case in study.cases]
    deaths = [any(word.lemma in DEATH for word in one) for one in words]
    silent = [tuple(word for word in one if word.lemma not in DEATH) for one in words]
    turkish = [case.country == "TUR" for case in study.cases]
    told = ["turkey", "turkish", "türk"]
    placeless = [tuple(word for word in one if word.lemma not in told) for one in words]
    found = {}
    for name, texts, labels in (("a death", silent, deaths), ("Turkey", placeless, turkish)):
        given = Labeller(texts, ["yes" if one else "no" for one in labels], seed).evaluate("yes")
        found[name] = (given, labels)
    return found
