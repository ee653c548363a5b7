#!/usr/bin/env python3
"""Looks for exact figures, patterns and failures from which fewer persons follow than a policy allows.

    PYTHONPATH=. .venv/bin/python scripts/soak/adversary.py --minutes 60

Each round draws a victim's persons and policy, a peer's rows and policy, and a sequence of jobs without noise
that the peer proposes. The sequence runs in two real managers that are joined in this process, with catalog,
policy, ledger and the history of exact jobs of both: once with all persons of the victim, and, unless all was
refused by policy, once more without each of them. What the peer sees of a run is all that was opened to it,
and how each job ended. So each number that it sees has a set of persons whose absence changes it:

- **figure**: a number, or a sum or difference of two, that changes with 1 to m - 1 persons only. Whether the
  one cell of a job is withheld, and which clusters are, are bits that `docs/threat-model.md` names; they are
  counted, not printed;
- **end**: a job that ends otherwise without a person than with all, which is a bit about this person. Limits
  that are tested on data cannot do without such bits; they are counted by the code of the end, and only those
  that follow from the peer's own bounds, not from the victim's limits, are printed (`PEER_CHOSEN`).

Of models, curves, pooled strata, fine clusters, lines of tables and nested sums a sequence runs once, and
what follows is read from its figures (`readings.py`): each run takes seconds, and where figures are rounded,
leaving somebody out moves them by chance. Neither way knows of clusters about a number with wide bounds, of
expected events of a test, of rounded numbers against each other, or of estimates of several figures at once.

Every finding is printed with the number of its round, which `--seed` of the run and `--round` repeat. m is
the `minimum_group` of the victim's policy.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scripts.soak.proposals import DECLARED, RECORDS, Chance, Document, Round, draw
from scripts.soak.readings import Finding, Opened, Outcome, read
from scripts.soak.seeds import add_seed, chosen
from smc.analyses.statistics.kinds.survival.digits import KeptDigits, Unit
from smc.errors import DuettoError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret import uniform
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import TracedSession
from tests.parties.jobs.institutions import Institutions

PEER: Final = "north"
VICTIM: Final = "south"
PEER_CHOSEN: Final = frozenset({"domain", "usage", "data", "internal"})
"""Codes of ends that no limit of the victim's policy explains."""
MOST_ITEMS: Final = 400
"""Numbers of one sequence of which all pairs are formed."""


@dataclass
class View:
    """What the peer sees of one sequence.

    Attributes:
        ends: state and code of each job.
        opened: all that was opened to the peer in each job, and its results, as numbers by place.
        outcomes: of each job that finished, for the peer.
        curves: figures of curves of each job, with their units.
    """

    ends: list[str] = field(default_factory=list)
    opened: list[dict[str, float]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    curves: list[list[Opened]] = field(default_factory=list)


# What is seen


@contextmanager
def listening() -> Iterator[list[NDArray[Any]]]:
    """All that is opened to the peer in this process, in the order in which it was.

    But for the one bit whether limits hold: it is how the job ends, which is looked at as such. Estimates
    run over shapes and open nothing.
    """
    heard: list[NDArray[Any]] = []
    originals = {kind: kind.reveal for kind in (SecretInts, SecretBits)}

    def tap(original: Callable[..., Any]) -> Callable[..., Any]:
        def reveal(self: Any, *words: Any, **named: Any) -> Any:
            opened = original(self, *words, **named)
            is_test = isinstance(self, SecretBits) and opened is not None and np.size(opened) == 1
            is_estimate = isinstance(self._session, TracedSession)
            if opened is not None and not (is_test or is_estimate) and self._session.role is Role.ALICE:
                heard.append(np.asarray(opened))
            return opened

        return reveal

    try:
        for kind, original in originals.items():
            kind.reveal = tap(original)  # type: ignore[attr-defined]
        yield heard
    finally:
        for kind, original in originals.items():
            kind.reveal = original  # type: ignore[attr-defined]


@contextmanager
def reading_curves() -> Iterator[list[Opened]]:
    """All figures of curves that a recipient in this process makes of what was opened, with their units."""
    heard: list[Opened] = []
    original = KeptDigits.read

    def tap(self: KeptDigits, held: NDArray[Any], unit: Unit, known: NDArray[Any]) -> NDArray[np.float64]:
        figures = original(self, held, unit, known)
        heard.append((unit, figures))
        return figures

    KeptDigits.read = tap  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        KeptDigits.read = original  # type: ignore[method-assign]


@contextmanager
def same_chance() -> Iterator[None]:
    """Joint draws, as of first centres, that are the same in every run.

    Else two runs differ by their draws, and a person would be blamed for it.
    """
    original = uniform.uniform
    chance = Chance("joint draws")

    def draw_alike(session: Session, bits: int, count: int) -> SecretInts:
        own = [chance.below(1 << bits) if session.role is Role.ALICE else 0 for _ in range(count)]
        return SecretInts(session, np.array(own, dtype=np.uint64), Bounds(0, (1 << bits) - 1))

    uniform.uniform = draw_alike
    try:
        yield
    finally:
        uniform.uniform = original


def _numbers(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for table in result["outcome"]["tables"]:
        for column, cells in table["columns"].items():
            for row, cell in enumerate(cells):
                if isinstance(cell, int | float) and not isinstance(cell, bool):
                    yield f"{table['name']}/{column}/{row}", float(cell)


def see(sequence: Round, absent: int | None = None) -> View:
    """What the peer sees of a sequence, with all persons of the victim or without one."""
    view = View()
    people = {
        name: [cell for number, cell in enumerate(cells) if number != absent]
        for name, cells in sequence.persons.items()
    }
    with (
        tempfile.TemporaryDirectory(prefix="adversary-") as folder,
        listening() as heard,
        reading_curves() as curves,
        same_chance(),
    ):
        joined = Institutions(Path(folder))
        try:
            joined.hold(PEER, sequence.rows, DECLARED, dataset=RECORDS)
            joined.hold(VICTIM, people, DECLARED, dataset=RECORDS, person="id")
            joined.allow(PEER, **sequence.peer)
            joined.allow(VICTIM, **sequence.victim)
            for document in sequence.jobs:
                heard.clear()
                curves.clear()
                view.ends.append(_end(joined, document, view))
                places = {
                    f"opened {number}/{place}": float(value)
                    for number, values in enumerate(heard)
                    for place, value in enumerate(values.reshape(-1))
                }
                view.opened[-1] |= places
                view.curves.append([*curves])
        finally:
            joined.close()
    return view


def _end(joined: Institutions, document: Document, view: View) -> str:
    view.opened.append({})
    view.outcomes.append({})
    try:
        job_id = joined.submit(document, PEER)
        record = joined.ended(job_id)[PEER]
    except DuettoError as error:
        return f"refused/{error.stable_code}"
    manager = joined.network.managers[PEER]
    if record.state.value == "finished":
        result = json.loads(manager.result(job_id))
        view.opened[-1] |= dict(_numbers(result))
        view.outcomes[-1] = result["outcome"]
    return f"{record.state.value}/{record.error_code}"


# What follows


def look(sequence: Round) -> tuple[list[Finding], Counter[str]]:
    """Run a sequence with all persons and without each; what follows about few, and how jobs ended."""
    whole = see(sequence)
    ends = Counter(whole.ends)
    if not any(whole.opened) and all(end.partition("/")[2] == "policy" for end in whole.ends):
        return [], ends
    read_so = list(read(sequence, whole.outcomes, whole.curves))
    if sequence.is_read:
        return read_so, ends
    count = len(sequence.persons["id"])
    without = [see(sequence, absent) for absent in range(count)]
    found = [*read_so, *_ends(whole, without, ends)]
    bare = without
    without = [_with_cell(sequence, whole, view, ends) for view in bare]
    analyses = [job["job"]["analysis"] for job in sequence.jobs]
    clusterings = frozenset(number for number, one in enumerate(analyses) if one == "clustering")
    found += _figures(whole, without, bare, sequence.minimum, clusterings)
    return found, ends


def _ends(whole: View, without: Sequence[View], ends: Counter[str]) -> Iterator[Finding]:
    for number, end in enumerate(whole.ends):
        about = tuple(who for who, view in enumerate(without) if view.ends[number] != end)
        if not about:
            continue
        codes = {end, *(without[who].ends[number] for who in about)}
        ends[f"bit: {' or '.join(sorted(codes))}"] += 1
        if PEER_CHOSEN & {code.partition("/")[2] for code in codes}:
            yield Finding("end", f"job {number + 1}: {' or '.join(sorted(codes))}", about)


def _with_cell(sequence: Round, whole: View, view: View, ends: Counter[str]) -> View:
    """A view without a person, with the whole's numbers where what is withheld differs by a named bit.

    Such are whether one cell of a job is withheld, and with it the total, which is the last row; and which
    clusters are. Under dominance that is about two persons: whoever has most, and who comes next.
    """
    opened = []
    for number, (ours, theirs) in enumerate(zip(whole.opened, view.opened, strict=True)):
        first, second = ({place for place in one if not place.startswith("opened")} for one in (ours, theirs))
        differs = first != second and whole.ends[number] == view.ends[number]
        last = max((_row(place) for place in first | second), default=0)
        is_cell = differs and len({_row(place) for place in first ^ second} - {last}) < 2
        has_clusters = differs and sequence.jobs[number]["job"]["analysis"] == "clustering"
        ends["bit: one cell is withheld or not"] += is_cell
        ends["bit: which clusters are withheld"] += has_clusters
        opened.append(ours if is_cell or has_clusters else theirs)
    return View(view.ends, opened)


def _row(place: str) -> int:
    """Of a table, by the last part of the place of a figure."""
    return int(place.rpartition("/")[2])


OTHER_CLUSTERS: Final = 1e9
"""The change of a figure that is the same of other clusters; another one for each, so that none cancel."""


def _figures(
    whole: View, without: Sequence[View], bare: Sequence[View], minimum: int, clusterings: frozenset[int]
) -> Iterator[Finding]:
    places = [
        (number, place)
        for number, opened in enumerate(whole.opened)
        for place in opened
        if opened[place] == opened[place]
    ]
    changes: dict[bytes, tuple[str, NDArray[np.float64]]] = {}
    for number, place in places:
        base = whole.opened[number][place]
        seen = np.array([view.opened[number].get(place, np.nan) for view in without])
        change = np.where(
            np.isnan(seen), np.inf, seen - base
        )  # what is withheld without somebody is about them
        if number in clusterings:
            # Without somebody the clusters can be others, of which one has as many persons by chance, or of
            # which others are withheld: all figures of the job depend on whoever changes them.
            others = [view.opened[number] != whole.opened[number] for view in bare]
            change = np.where(np.array(others) & (change == 0), OTHER_CLUSTERS + len(changes), change)
        # A job that ends otherwise without somebody is counted as an end.
        other_end = [view.ends[number] != whole.ends[number] for view in without]
        if np.count_nonzero(change[~np.array(other_end)]):
            changes.setdefault(change.tobytes(), (f"job {number + 1}, {place} = {base:g}", change))
    named = list(changes.values())[:MOST_ITEMS]
    for what, change in named:
        if 0 < (size := np.count_nonzero(change)) < minimum:
            yield Finding("figure", what, _who(change, size))
    for first, (what, change) in enumerate(named):
        for other, further in named[:first]:
            finite = np.isfinite(change) & np.isfinite(further)
            for sign, word in ((1, "+"), (-1, "-")):
                # If one of the two is not there without somebody, that is a bit of its end or cell.
                together = np.where(finite, change, 0) + sign * np.where(finite, further, 0)
                if 0 < (size := np.count_nonzero(together)) < minimum:
                    yield Finding("figure", f"{what}  {word}  {other}", _who(together, size))


def _who(change: NDArray[np.float64], size: int) -> tuple[int, ...]:
    del size
    return tuple(int(who) for who in np.flatnonzero(change))


def main() -> int:
    """Run rounds until the time is over; the exit status is 1 if anything was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    add_seed(parser)
    parser.add_argument("--round", type=int, help="repeat this one round, and print its policy and jobs")
    arguments = parser.parse_args()
    seed = chosen(arguments.seed)
    until = time.monotonic() + 60 * arguments.minutes
    ends: Counter[str] = Counter()
    rounds = failures = 0
    numbers = iter([arguments.round]) if arguments.round is not None else iter(range(10**9))
    for number in numbers:
        sequence = draw(f"{seed}/{number}")
        found, how = look(sequence)
        ends += how
        rounds += 1
        for finding in found:
            failures += 1
            people = ", ".join(sequence.persons["id"][who] for who in finding.about)
            print(f"round {number}: {finding.kind}: {finding.what}: about {people}", flush=True)
        if arguments.round is not None:
            print(json.dumps(sequence.__dict__, indent=1, default=list))
        if time.monotonic() > until:
            break
    print(f"{rounds} rounds, {failures} findings")
    for end, times in ends.most_common():
        print(f"{times:6d} {end}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
