"""Tables 6.1 to 6.3 and Figure 6.3 of the thesis on court cases, attacked before and after sanitizing.

Reference: thesis, chapter 6. Pilan et al., *The Text Anonymization Benchmark* (2022), for the cases.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from calibration import Observation, SuccessRate, rates, threshold
from chapter6_cases import DOCUMENTS, MASKS, MENTIONS, Case, cases
from chapter6_experiments import After, Outcome, Study, labelled, originals, remaining
from chapter6_statements import Figures, Masked, part_changed, statements
from page import DATA, Clock, Panel, Part, Plot, Section, Series, finish, markdown, missing

from anonymizer.documents.attacks.risk import METADATA
from anonymizer.documents.specification import AttackOptions
from anonymizer.documents.words.keywords import KEYWORDS
from anonymizer.documents.words.labels import Confusion
from anonymizer.errors import TableError

HEADING: Final = "Documents"
PLOT: Final = "chapter6-figure-6.3"
SIZES: Final = (1, 2, 3, 4, 5)
BIN: Final = 4
GROUPS: Final = (1, -(-AttackOptions().words // AttackOptions().keywords))
BORNE: Final = (0.3, 0.5)
FIRST: Final = [["23.80", 93, 35, 9], ["22.79", 40, 20, 3], ["22.21", 36, 21, 0], ["#PRWs", 169, 76, 12]]
SECOND: Final = [["31.50", 41, 14], ["31.21", 28, 8], ["30.83", 15, 0], ["#PRWs", 84, 22]]
THIRD: Final = Confusion(true_positive=650, true_negative=646, false_positive=10, false_negative=6)
Labels = dict[str, tuple[Confusion, float, float]]
NOTES: Final = """\
`scripts/reproduce/thesis_chapter6` rebuilds what the thesis's chapter 6 measures: what manual sanitizing
leaves, what an attacker finds by it, and what is left when words that led there are sanitized. `--write docs`
wrote this section; `--quick` takes 40 cases. The thesis's documents cannot be had: the original reports of
accidents at Japanese schools were lent by contract, and the Japanese court cases and web pages are not
named. These are {count} cases of the European Court of Human Rights from the Text Anonymization
Benchmark, in English, in `documents/` of `../shared/data` or `--data`.

- D is the original cases, and d what their human annotators leave: with DIRECT identifiers masked, or DIRECT
  and QUASI ones. The counts of Eq. 6.2 are those of d and of the other cases together, masked alike.
- R_i is the applicant's name; an attack succeeds if all parts of it are in a text that was found.
- D*, the attacker's web, is a stand-in. An article about each case is the first section of the original: who
  complained of what, with names, without the facts. It shares whole sentences with the masked case, as news
  seldom do, so that searches succeed more easily here. Among the articles stand all *other* cases in full;
  the case itself is set aside. In the control the article about the case is missing as well: what is
  found then is a false alarm.
- |KW| = 3, #List = 10, all 7 combinations. Risk words are sanitized by dates, places and numbers said less
  exactly, or else deleted, without WordNet; then the case is attacked anew until nothing succeeds.
- `duetto sanitize` searches with several groups of |KW| words, each of those that the ones before have left;
  the thesis with one. A sanitized case is safe from the attacker that was simulated, from no other: the
  column `five words` has the cases that are found by five words of the sanitized text and their combinations.
- The logarithm is of base 2 and epsilon that of `Weights`: the printed values are met by no choice that the
  text states (see `Corpus.informative`).
"""

ABOUT_FIRST: Final = """\
Class (1): KW_i of the originals, with the weights of accidents. Class (2): those that the masked case still
has. Class (3): those that find the applicant.
"""
ABOUT_LABELS: Final = """\
Nobody has labelled which cases are of interest. Stand-ins: whether a case speaks of a death, with the words
that say so taken out, and whether it is against Turkey, without the words Turkey and Turkish. Logistic
regression of TF-IDF in place of FastText, five folds; the last columns have the part of cases with and
without the label that are found. The printed counts are 1,312 together, more than half of the 2,300
documents, which the text says they are.
"""
ABOUT_SHARED: Final = f"""\
w is the most of the top {METADATA} informative words other than kw that a text which was found shares with
the case, here in steps of {BIN}. Half of the cases, drawn at random, have an article in the web. Intervals
are Clopper-Pearson's of 95 %. In the thesis half of the documents with w = 16 are found; it leaves out w < 4,
without which no threshold can be judged.
"""


def attacks(found: Sequence[Case], kind: str, seed: int) -> tuple[Masked, Labels]:
    """Attack cases masked in one way; the sanitized ones are added by `measured`."""
    study = Study(found, kind)
    outcomes = {size: study.outcomes(size) for size in SIZES}
    before = outcomes[KEYWORDS]
    labels = {}
    for name, (given, has) in labelled(study, seed).items():
        parts = [
            [one.succeeded for one, label in zip(before, has, strict=True) if label is wanted]
            for wanted in (True, False)
        ]
        with_, without = (sum(part) / len(part) for part in parts)
        labels[f"{name}, {kind} masked"] = given, with_, without
    masked = Masked(
        {size: _won(one) for size, one in outcomes.items()},
        _won(study.outcomes(article=False)),
        _won(Study(found, kind, numerator="corpus").outcomes()),
        remaining(before),
        {},
        study.observations(seed),
    )
    return masked, labels


def sanitized(found: Sequence[Case], kind: str, groups: int) -> list[After]:
    """Sanitize cases masked in one way."""
    return Study(found, kind).sanitized(groups)


def measured(found: Sequence[Case], seed: int, jobs: int) -> Figures:
    """Measure all, in so many processes."""
    kinds = list(MASKS)[1:]
    with ProcessPoolExecutor(jobs) as pool:
        after = {(kind, groups): pool.submit(sanitized, found, kind, groups) for groups in GROUPS[::-1]
                 for kind in kinds}  # fmt: skip
        before = {kind: pool.submit(attacks, found, kind, seed) for kind in kinds}
        first = pool.submit(originals, found)
        masked, labels = {}, Labels()
        for kind in kinds:
            masked[kind], more = before[kind].result()
            masked[kind].after.update({groups: after[kind, groups].result() for groups in GROUPS})
            labels |= more
        return Figures(len(found), first.result(), masked, labels)


def _won(outcomes: Sequence[Outcome]) -> int:
    return sum(one.succeeded for one in outcomes)


def tables(figures: Figures) -> list[Part]:
    """All tables, and the plot."""
    masks = list(figures.masked)
    second = [figures.masked[kind].second for kind in masks]
    sizes = [[kind, *(one.sizes[size] for size in SIZES), one.control, one.corpus] for kind, one in
             figures.masked.items()]  # fmt: skip
    text = "\n".join(
        [
            "### Table 6.1: potential risk words of the originals\n",
            ABOUT_FIRST,
            _printed(["I(w)", "class (1)", "class (2)", "class (3)"], FIRST),
            markdown(
                ["I(w)", "class (1)", *(f"class ({at}), {kind}" for kind in masks for at in (2, 3))],
                figures.first,
            ),
            "### Table 6.2: potential risk words of the masked cases\n",
            "Class (2): KW_i of the masked case, with the weights of court cases. Class (3) as before.\n",
            _printed(["I(w)", "class (2)", "class (3)"], SECOND),
            *(
                f"{kind} masked:\n\n" + markdown(["I(w)", "class (2)", "class (3)"], rows)
                for kind, rows in zip(masks, second, strict=True)
            ),
            "### Cases that are found\n",
            markdown(
                ["masked", *(f"KW = {size}" for size in SIZES), "control", "3, P over d and D**"], sizes
            ),
            "### The same when risk words are sanitized\n",
            markdown(
                [
                    "masked",
                    "groups",
                    "found before",
                    "found after",
                    "five words",
                    "rounds at most",
                    "words",
                    "changed",
                    "of these deleted",
                    "part changed",
                ],
                [_after(kind, one, groups) for kind, one in figures.masked.items() for groups in GROUPS],
            ),
            "What the annotators had said of the changed words (one group), in places:\n",
            _kinds(figures),
            "### Table 6.3: labels\n",
            ABOUT_LABELS,
            markdown(
                ["label", "TP", "TN", "FP", "FN", "accuracy", "found with", "found without"],
                [["thesis, fatal", *_counts(THIRD), "-", "-"]]
                + [[name, *_counts(one), *parts] for name, (one, *parts) in figures.labels.items()],
            ),
            "### Figure 6.3: success by the number w of shared words\n",
        ]
    )
    rates_ = {kind: binned(one.observations) for kind, one in figures.masked.items()}
    told = [_rates(kind, one.observations) for kind, one in figures.masked.items()]
    return [text, plot(rates_), ABOUT_SHARED, *told]


def _printed(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "Printed:\n\n" + markdown(names, rows) + "\nHere:\n"


def _counts(one: Confusion) -> list[object]:
    return [one.true_positive, one.true_negative, one.false_positive, one.false_negative, one.accuracy]


def _after(kind: str, one: Masked, groups: int) -> list[object]:
    after = one.after[groups]
    return [
        kind,
        groups,
        sum(bool(each.done.rounds) for each in after),
        sum(each.found for each in after),
        sum(each.by_five for each in after),
        max(len(each.done.rounds) for each in after),
        f"{sum(each.words for each in after):,}",
        sum(each.changed() for each in after),
        sum(each.changed(deleted=True) for each in after),
        f"{part_changed(after):.2%}",
    ]


def _kinds(figures: Figures) -> str:
    counts = {
        kind: sum((one.kinds for one in each.after[1]), Counter[str]())
        for kind, each in figures.masked.items()
    }
    total = sum(counts.values(), Counter[str]())
    rows = [[name, *(each[name] for each in counts.values())] for name, _ in total.most_common()]
    return markdown(["annotators", *(f"{kind} masked" for kind in counts)], rows)


def binned(observations: Sequence[Observation]) -> tuple[SuccessRate, ...]:
    """Rates by steps of w."""
    return rates([Observation(one.shared // BIN * BIN, one.succeeded) for one in observations])


def _rates(kind: str, observations: Sequence[Observation]) -> str:
    rows = [
        [f"{one.shared} to {one.shared + BIN - 1}", one.documents, one.succeeded, one.rate,
         f"{one.low:.2f} to {one.high:.2f}"]
        for one in binned(observations)
    ]  # fmt: skip
    return (
        f"{kind} masked:\n\n{markdown(['w', 'cases', 'found', 'rate', 'interval'], rows)}\n"
        + "\n".join(f"- {_threshold(observations, borne)}" for borne in BORNE)
        + "\n"
    )


def _threshold(observations: Sequence[Observation], borne: float) -> str:
    begin = f"For a probability of at most {borne:g} below the threshold"
    try:
        return f"{begin}: w = {threshold(observations, borne)}."
    except TableError as error:
        return f"{begin} there is none: {error.what}"


def plot(found: Mapping[str, Sequence[SuccessRate]]) -> Plot:
    """Figure 6.3; bars are half of the interval."""
    curves = [
        Series(f"{kind} masked", [one.shared + (BIN - 1) / 2 for one in some], [one.rate for one in some],
               error=[[one.rate - one.low for one in some], [one.high - one.rate for one in some]])
        for kind, some in found.items()
    ]  # fmt: skip
    curves.append(Series("read in the text", [16], [0.5], "printed"))
    return Plot(PLOT, "Figure 6.3", [Panel("", "w", "part of cases that are found", curves)])


def section(figures: Figures, run: str) -> Section:
    """What the page has of it."""
    parts = [NOTES.format(count=figures.count), *tables(figures)]
    return Section("chapter6", "Thesis, chapter 6", HEADING, parts, statements(figures), run)


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="thesis_chapter6", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of {DOCUMENTS}; {DATA}")
    parser.add_argument("--seed", type=int, default=1, help="of folds, and of which cases have articles; 1")
    parser.add_argument("--jobs", type=int, default=2, help="processes; 2")
    parser.add_argument("--quick", action="store_true", help="40 cases: a minute")
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    return parser.parse_args()


def main() -> int:
    """Print the section, and write it where that is asked for."""
    given, clock = parse(), Clock()
    if gone := missing(given.data, DOCUMENTS, MENTIONS):
        print(gone, file=sys.stderr)
        return 66
    figures = measured(cases(given.data, 40 if given.quick else None), given.seed, given.jobs)
    return finish(replace(section(figures, clock.told()), quick=given.quick), given)


if __name__ == "__main__":
    sys.exit(main())
