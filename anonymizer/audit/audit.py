"""The audit of a specification: runs on neighbouring files, and the epsilon that what leaves proves.

Of every claim of differential privacy: a few runs on many pairs of neighbours find the pair that is told
apart best; fresh runs on this pair train a distinguisher and choose its event; further runs, twice as many,
count it. Nothing that was chosen by a run is measured by that run.

References: Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018;
Clopper and Pearson, 1934; and those of `anonymizer.dp.distinguisher`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, log
from pathlib import Path
from typing import Final

from anonymizer.audit.command import Command, Output
from anonymizer.audit.looks import Known, matrix, names_of
from anonymizer.audit.neighbours import Neighbours, Pair
from anonymizer.dp.audit import clopper_pearson
from anonymizer.dp.distinguisher import FEWEST, Distinguisher
from anonymizer.errors import AnonymizerError, SpecError, UnreachableError
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.claims import OF_RECORDS
from anonymizer.releases.guarantee import Guarantee
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

OnProgress = Callable[[int, int, str], None]

_FINALISTS: Final = 4
_USUAL: Final = 30
"""About so many pairs are looked at for one claim."""
_MORE: Final = 2
"""So many times more runs have the pairs that were told apart best at the first look."""
_SURE: Final = 8
"""So many runs on each table are not all told apart by chance."""
_ROUGHLY: Final = 0.1
"""The probability of error with which pairs are compared, of which nothing is said."""
_ROUNDING: Final = 1e-6
"""Epsilons of claims are rounded up by less."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run.

    Attributes:
        runs: on each table of the pair that is measured; a third choose the event, the others count it.
        search: on each table of every pair, at the first look.
        pairs: how many pairs are looked at, for each claim; all if None.
        wrong: the probability with which any of the bounds may be wrong, in (0, 0.5).

    Raises:
        SpecError: a number is out of range.
    """

    runs: int = 2000
    search: int = 24
    pairs: int | None = None
    wrong: float = 1e-3

    def __post_init__(self) -> None:
        if min(self.runs, self.search) < 2 * FEWEST:
            raise SpecError(
                f"{self.runs} runs, and {self.search} in the search, are too few to learn from.",
                f"Take {2 * FEWEST} or more of each; 2000 runs find most of a loss.",
            )
        if not 0 < self.wrong < 0.5:
            raise SpecError(
                f"The probability of error is {self.wrong}, outside (0, 0.5).", "Choose, for example, 0.05."
            )


@dataclass(frozen=True, slots=True)
class AuditedClaim:
    """What was measured of one claim.

    Attributes:
        claim: the guarantee.
        within: whether the neighbours fulfil its condition; what is measured beyond refutes nothing.
        loss: with confidence the real epsilon of this pair is at least this.
        most: the largest loss that so many runs could have shown.
        wrong: the probability with which `loss` may be too large.
        pair: the neighbours, for people.
        event: what tells them apart, for people.
        hits: how often it was seen on the table where it is commoner, and on the other.
        runs: how many runs counted it, on each table.
    """

    claim: Guarantee
    within: bool
    loss: float
    most: float
    wrong: float
    pair: str
    event: str
    hits: tuple[int, int]
    runs: int

    @property
    def refuted(self) -> bool:
        """Whether the claim is wrong."""
        return self.within and self.loss > self.claim.number("epsilon") + _ROUNDING


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit has found.

    Attributes:
        findings: of each claim the pair that was told apart best, within its condition and beyond it.
        refused: neighbours of which the command refuses one always and the other never, and why. Who learns
            of a refusal learns of the record.
        pairs: how many pairs were looked at.
        runs: of the whole command, all together.
    """

    findings: tuple[AuditedClaim, ...]
    refused: tuple[str, ...]
    pairs: int
    runs: int

    @property
    def refuted(self) -> tuple[AuditedClaim, ...]:
        """The claims that are wrong."""
        return tuple(one for one in self.findings if one.refuted)


class Auditor:
    """Audits a command by its neighbours.

    Args:
        command: to run.
        neighbours: the files to run it on.
        folder: for its output; it is left empty.
        plan: how much to run.
        on_progress: is called with the runs done, those expected at the most, and the neighbours.
    """

    def __init__(
        self,
        command: Command,
        neighbours: Neighbours,
        folder: Path,
        plan: Plan | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._command = command
        self._neighbours = neighbours
        self._folder = folder
        self._plan = plan or Plan()
        self._on_progress = on_progress
        self._runs = 0
        self._pairs = 0
        self._expected = 0
        self._refused: dict[str, None] = {}
        self._refusals: dict[str, int] = {}

    def audit(self) -> Audit:
        """Audit every claim of differential privacy that the release makes.

        Raises:
            SpecError: a step draws from a seed, or the claim does not exist.
            UnreachableError: every run was refused, or one side of all pairs for a claim, so that nothing was
                measured of it.
            AnonymizerError: the table itself is refused.
        """
        check_random(self._command.pipeline())
        made = self._command.release(self._neighbours.table(self._neighbours.base))
        claims = claims_of(made.guarantees)
        if not claims:
            raise SpecError(
                "The release promises no differential privacy, so that there is nothing to refute. "
                + " ".join(made.notes),
                "Audit a specification with a step such as dp-noise; the other measures are those of "
                "`duetto risk`.",
            )
        parts = [(claim, within) for claim in claims for within in (True, False)[: 1 + (claim.kind == "idp")]]
        self._expected = len(parts) * self._for_a_claim()
        looked = [self._claim(*part, len(claims)) for part in parts]
        findings = [one for one in looked if one is not None]
        if self._runs == sum(self._refusals.values()):
            whys = sorted(self._refusals, key=lambda why: -self._refusals[why])
            raise UnreachableError(
                f"No run was released: {whys[0] if whys else 'no neighbours were found.'}",
                f"Of {self._runs:,} runs none was measured. Correct the specification until duetto anonymize "
                "releases the table, or take more rows with --rows.",
            )
        for (claim, within), one in zip(parts, looked, strict=True):
            if within and one is None:
                raise UnreachableError(
                    f"Nothing was measured of {_called(claim)}: of every pair of neighbours one table was "
                    f"refused, as {next(iter(self._refused), 'no pair was there')}.",
                    "Correct the specification until duetto anonymize releases tables that differ in one "
                    "record, or take more rows with --rows or more pairs with --pairs.",
                )
        return Audit(tuple(findings), tuple(self._refused), self._pairs, self._runs)

    def _claim(self, claim: Guarantee, within: bool, claims: int) -> AuditedClaim | None:
        """The worst neighbours of a claim; None if there are none, within its condition or beyond it."""
        candidates: list[tuple[float, Pair, Known]] = []
        for pair in self._neighbours.pairs(claim):
            if self._plan.pairs is not None and len(candidates) >= self._plan.pairs:
                break
            if self._fulfils(claim, pair) is within:
                known = self._known(claim, pair)
                guess = self._guess(claim, pair, known, self._plan.search)
                if guess is None:
                    continue
                candidates.append((guess, pair, known))
                if guess >= self._apart(claim):
                    break
        self._pairs += len(candidates)
        if not candidates:
            return None
        # the first pair has the widest difference: a look at few runs does not put it aside
        best = [candidates[0], *sorted(candidates[1:], key=lambda one: -one[0])[: _FINALISTS - 1]]
        if candidates[-1][0] >= self._apart(claim):
            best = candidates[-1:]
        elif len(best) > 1:
            again = _MORE * self._plan.search
            best = [(self._guess(claim, pair, known, again) or 0.0, pair, known) for _, pair, known in best]
        _, pair, known = max(best, key=lambda one: one[0])
        return self._measured(claim, within, pair, known, self._plan.wrong / claims)

    def _apart(self, claim: Guarantee) -> float:
        """The guess of a pair that was told apart in every run, which no other pair can be better at."""
        count = self._plan.search - self._plan.search // 2
        return most_shown(count, claim.number("delta"), _ROUGHLY) if count >= _SURE else inf

    def _for_a_claim(self) -> int:
        """The runs for one claim, if all pairs are looked at."""
        plan = self._plan
        pairs = min(plan.pairs or _USUAL, _USUAL)
        return 2 * (plan.search * (pairs + _MORE * min(pairs, _FINALISTS)) + plan.runs)

    def _measured(
        self, claim: Guarantee, within: bool, pair: Pair, known: Known, wrong: float
    ) -> AuditedClaim:
        """Choose an event by a third of the runs and count it in the others.

        Twice as many runs choose no better event: what is proved depends on those that count.
        """
        choosing = max(FEWEST, self._plan.runs // 3)
        counting = self._plan.runs - choosing
        delta = claim.number("delta")
        chooses = [self._looks(table, known, choosing, pair.story) for table in (pair.first, pair.second)]
        names = names_of([*chooses[0], *chooses[1]])
        first, second = (matrix(looks, names) for looks in chooses)
        learned = Distinguisher.trained(first, second, names, delta, wrong)
        del chooses, first, second
        counts = [
            matrix(self._looks(table, known, counting, pair.story), names)
            for table in (pair.first, pair.second)
        ]
        event = learned.event
        hits = event.counts(learned.numbers(counts[0]), learned.numbers(counts[1]))
        side = "at least" if event.above else "less than"
        return AuditedClaim(
            claim,
            within,
            learned.loss(counts[0], counts[1], delta, wrong),
            most_shown(counting, delta, wrong),
            wrong,
            pair.story,
            f"{learned.name}: {side} {event.threshold:.6g}",
            hits,
            counting,
        )

    def _guess(self, claim: Guarantee, pair: Pair, known: Known, runs: int) -> float | None:
        """How well a pair is told apart, roughly; None if the command always refuses one of the tables."""
        tables = (pair.first, pair.second)
        looks = [self._looks(table, known, FEWEST, pair.story) for table in tables]
        always = [all(look["refused"] for look in one) for one in looks]
        if any(always):
            if not all(always):
                why = next(name for name in looks[always.index(True)][0] if name != "refused")
                self._refused[f"{pair.story}: {why}"] = None
            return None
        more = [self._looks(table, known, runs - FEWEST, pair.story) for table in tables]
        looks = [[*one, *two] for one, two in zip(looks, more, strict=True)]
        names = names_of([*looks[0], *looks[1]])
        cut = runs // 2
        first, second = (matrix(one, names) for one in looks)
        delta = claim.number("delta")
        learned = Distinguisher.trained(first[:cut], second[:cut], names, delta, _ROUGHLY)
        return learned.loss(first[cut:], second[cut:], delta, _ROUGHLY)

    def _looks(self, table: Table, known: Known, runs: int, story: str) -> list[dict[str, float]]:
        found = []
        for _ in range(runs):
            found.append(known.look(self._run(table)))
            self._runs += 1
            if self._on_progress is not None:
                self._on_progress(self._runs, max(self._runs, self._expected), story)
        return found

    def _run(self, table: Table) -> Output:
        output = self._command.run(table, self._folder)
        if output.refusal:
            self._refusals[output.refusal] = self._refusals.get(output.refusal, 0) + 1
        return output

    def _fulfils(self, claim: Guarantee, pair: Pair) -> bool:
        """Whether two tables are neighbours within the condition of a claim."""
        if claim.kind != "idp":
            return True
        held = []
        for table in (pair.first, pair.second):
            pipeline = self._command.pipeline()
            try:
                pipeline.release(table)
            except AnonymizerError:
                # a refusal is looked at with the pairs within the condition
                return True
            held.append(pipeline.condition_)
        return bool(held[0] == held[1])

    def _known(self, claim: Guarantee, pair: Pair) -> Known:
        """What the attacker knows of the record: its cells in the other columns, as they are released."""
        key: dict[str, str] = {}
        try:
            made = self._command.release(pair.first)
        except AnonymizerError:
            return Known({}, pair.values, self._dialect)
        places = [] if made.origin is None else [p for p, row in enumerate(made.origin) if row == pair.row]
        if places:
            for name in made.table.names:
                if name not in claim.columns:
                    cell = made.table.series(name)[places[0]]
                    key[name] = "" if cell is None else str(cell)
        return Known(key, pair.values, self._dialect)

    @property
    def _dialect(self) -> Dialect:
        return self._command.dialect or Dialect()


def check_random(pipeline: Pipeline) -> None:
    """Refuse to audit what draws from a seed: all of its runs are alike, and prove nothing of others.

    Raises:
        SpecError: a step has a seed.
    """
    for name, method in pipeline.steps:
        if method.seeded:
            raise SpecError(
                f"Step {name!r} draws from a seed, so that every run is the same and none shows its noise.",
                "Take random_state out of the step; an audit needs fresh randomness in every run.",
            )


def claims_of(guarantees: Iterable[Guarantee]) -> tuple[Guarantee, ...]:
    """The claims of differential privacy, each once: of a cell and a record of one column the first.

    That of all rows of a person is one of its own: its neighbours are others.
    """
    found: dict[tuple[object, ...], Guarantee] = {}
    for one in guarantees:
        if one.kind in OF_RECORDS:
            spent = one.number("epsilon"), one.number("delta")
            found.setdefault((one.kind, one.columns, one.unit == "person", *spent), one)
    return tuple(found.values())


def most_shown(runs: int, delta: float, wrong: float) -> float:
    """The largest loss that an event proves which is always seen on one table and never on the other."""
    low = clopper_pearson(runs, runs, wrong / 2)[0] - delta
    high = clopper_pearson(0, runs, wrong / 2)[1]
    return max(0.0, log(low / high)) if low > 0 else 0.0


def _called(claim: Guarantee) -> str:
    return f"{claim.kind} of one {claim.unit} in {', '.join(claim.columns) or 'all columns'}"


def story(findings: Sequence[AuditedClaim]) -> list[str]:
    """Findings in lines for people."""
    lines = []
    for one in findings:
        claim = one.claim
        where = _called(claim)
        verdict = "REFUTED" if one.refuted else "not refuted"
        if not one.within:
            verdict = "beyond its condition, so that nothing is refuted"
        lines += [
            f"{where}: claimed epsilon {claim.number('epsilon'):.6g}; "
            f"at least {one.loss:.4g} with confidence {1 - one.wrong:.6g}: {verdict}",
            f"  {one.pair}",
            f"  {one.event}: {one.hits[0]:,} of {one.runs:,} runs on one table, {one.hits[1]:,} on the other",
        ]
    return lines
