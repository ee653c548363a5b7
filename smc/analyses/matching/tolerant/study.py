"""Tolerant matching: which rows of both sides are about the same person, by records that resemble each other.

Each side turns its records into Bloom filters of their q-grams, which it keeps. Rows that meet in a bucket by
a blocking key are compared inside the protocol, and recipients learn which pairs are alike by a linear score
of their filters, see `smc.analyses.matching.tolerant.score`. What they learn of the other side's row is a
number that stands for it in this run alone.

References: Schnell, Bachteler and Reiher, BMC Medical Informatics and Decision Making 9, 2009; Vatsalan,
Christen and Verykios, A taxonomy of privacy-preserving record linkage techniques, Information Systems 38,
2013; comparing filters without a third party: duetto.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.tolerant.leakage import leakage
from smc.analyses.matching.tolerant.outcome import route
from smc.analyses.matching.tolerant.pace import memory, pace
from smc.analyses.matching.tolerant.parameters import TolerantParameters, parse
from smc.analyses.matching.tolerant.preview import check_persons, preview_rows
from smc.analyses.matching.tolerant.records import count_rows, read_texts
from smc.analyses.matching.tolerant.reference import reference
from smc.analyses.matching.tolerant.run import run
from smc.analyses.records.normalization import KINDS
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class TolerantStudy(Study):
    """A job."""

    parameters: TolerantParameters
    gives = "matches"
    least_rows = 1

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """What is compared, blocks or is shown, under the same names on both sides."""
        return dict.fromkeys(Role, tuple(dict.fromkeys((*self.parameters.columns, *self.parameters.show))))

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        """Check that a side declares the columns as texts, integers, dates or categories."""
        Study.check_side(self, schemas, role)
        for name in self.columns[role]:
            if schemas[name].kind not in KINDS:
                raise UsageError(
                    f"{role.name.title()}'s column {name!r} is of kind {schemas[name].kind!r}.",
                    f"Records are compared as texts; declare one of {', '.join(KINDS)}.",
                )
        self.parameters.check_dates(schemas)

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to, and both where both see a histogram."""
        Study.check_recipients(self, recipients)
        if self.parameters.histogram is not None and len(recipients) < len(Role):
            raise UsageError(
                "A least score that is chosen in the run is known to both, and so is its histogram.",
                "Name alice and bob as recipients, or leave the histogram out.",
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and the pairs are about single rows; a histogram has noise."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss() if self.parameters.histogram is None else self.parameters.histogram.loss,
            bounds=RowBounds(),
            asked=Asked(keys=frozenset(self.parameters.columns), likeness=True),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        return leakage(self.parameters, recipients)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        gets = (
            "which of its own rows have a partner, by passing numbers",
            "with many variants of a record: fields of the nearest one",
        )
        chosen = ("the least score, and a noisy histogram of scores",)
        both = () if self.parameters.histogram is None else chosen
        does = "pair records that are alike, even if they are spelt differently"
        return Brief.to(recipients, does, gets, "which of its rows the other side's partners are", both=both)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """How many of its rows find their bucket full or have no key, if the other side has no more rows.

        With more rows there it has more buckets, and they are hardly fuller.
        """
        check_persons(self.parameters, data)
        rows = count_rows(self.parameters, data)
        limits.check_sets(rows, rows)
        return preview_rows(self.parameters, read_texts(self.parameters, data), rows)

    @property
    @override
    def route(self) -> str:
        """How records are compared, in words."""
        return route(self.parameters)

    @property
    @override
    def pace(self) -> Pace:
        return pace(self.parameters)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        return memory(self.parameters).at(max(setting.rows))

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """What is compared are texts, as far as it is not known."""
        every = (name for role in Role for name in self.columns[role])
        return {**dict.fromkeys(every, Schema("text")), **schemas}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        return run(self.parameters, session, data, recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        return reference(self.parameters, alice, bob, recipients)


class Tolerant:
    """The method `tolerant`; see `smc.analyses.studies.study.Analysis` for its methods' contracts."""

    name: Final = "tolerant"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> TolerantStudy:
        """Check the `[parameters]` of a job, see `smc.analyses.matching.tolerant.parameters`."""
        return TolerantStudy(parse(parameters))


TOLERANT: Final = Tolerant()
"""The method, for `smc.analyses.matching.analysis`."""
