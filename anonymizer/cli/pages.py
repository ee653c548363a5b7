"""The pages about a release that `duetto anonymize` writes: the report, and the sheet to sign.

`duetto sanitize` has the sheet, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.output import options

if TYPE_CHECKING:
    from anonymizer.gate.gate import Page
    from anonymizer.pipelines.pipeline import Pipeline
    from anonymizer.pipelines.spec import Spec
    from anonymizer.releases.manifest import Manifest
    from anonymizer.releases.release import Release
    from anonymizer.report.assessment import Assessment
    from anonymizer.report.page import ReleaseStory
    from anonymizer.tables.roles import Roles
    from anonymizer.tables.table import Table

FILE = click.Path(path_type=Path)


signing_options = options(
    click.option(
        "--summary",
        "summary_path",
        type=FILE,
        help="The same on one sheet of paper, to sign, an HTML file. The report begins with it in print.",
    ),
    click.option("--by", "made_by", default="", help="Who makes the release, for both; else the account."),
)
"""`--summary` and `--by`."""

page_options = options(
    click.option("--report", "report_path", type=FILE, help="A report on risk and utility, an HTML file."),
    signing_options,
)
"""`--report`, `--summary` and `--by`."""


def check_asked(asked: bool, *, told: bool) -> None:
    """Refuse options of a report that nobody gets.

    Raises:
        UsageError: there is one.
    """
    if asked and not told:
        raise click.UsageError(
            "Options that say what to measure, and by whom, are for the report; add --report."
        )


@dataclass(frozen=True, slots=True)
class Telling:
    """What the pages about a release tell.

    Attributes:
        data: the file of the original.
        output: that of the release.
        spec: that it was made by.
        pipeline: that made it.
        made: the release.
        assessment: of it, if pages are asked for.
        warnings: a sentence each.
        seed: if one was given.
        made_by: the name that was stated, or "".
    """

    data: Path
    output: Path
    spec: Spec
    pipeline: Pipeline
    made: Release
    assessment: Assessment | None
    warnings: tuple[str, ...]
    seed: int | None
    made_by: str

    def pages(self, report: Path | None, summary: Path | None) -> Mapping[Path, Page]:
        """Those that are asked for, by path; made when the manifest is."""
        if self.assessment is None:
            return {}

        from anonymizer.report.page import release_page, summary_page

        asked = {report: release_page, summary: summary_page}
        return {
            path: partial(self._page, page, self.assessment)
            for path, page in asked.items()
            if path is not None
        }

    def _page(
        self, page: Callable[[ReleaseStory, Assessment], str], assessment: Assessment, manifest: Manifest
    ) -> str:
        return page(self._story(assessment, manifest), assessment)

    def _story(self, assessment: Assessment, manifest: Manifest) -> ReleaseStory:
        from anonymizer.report.judgment import judgment
        from anonymizer.report.page import ReleaseStory
        from anonymizer.report.signing import Signing, person
        from anonymizer.report.specification import show_specification

        spec, table, original = self.spec, self.made.table, self._original
        roles = spec.roles
        facts = [
            ("Specification", spec.title or "without a title"),
            ("Digest (SHA-256)", spec.digest),
            ("Identifiers, taken out", ", ".join(roles.identifiers) or "none"),
            ("Quasi-identifiers", ", ".join(roles.quasi_identifiers) or "none"),
            ("Sensitive", ", ".join(roles.sensitive) or "none"),
            ("Hierarchies for", ", ".join(spec.hierarchies) or "no column"),
            ("Counted", _describe_counting(roles)),
            ("Rows released", f"{assessment.released:,} of {assessment.rows:,}"),
            ("Order of the rows", manifest.order),
            ("Promised", " ".join(map(str, self.made.guarantees)) or "nothing"),
            ("Randomness", "of the operating system" if self.seed is None else f"from seed {self.seed}"),
        ]
        roled = (*roles.identifiers, *roles.quasi_identifiers, *roles.sensitive)
        said = judgment(table, assessment, self.pipeline)
        return ReleaseStory(
            title=spec.title or "Report on a release",
            original_name=self.data.name,
            release_name=self.output.name,
            facts=facts,
            steps=spec.steps,
            methods=spec.methods,
            cautions=self.warnings,
            judgment=said,
            columns={
                "Taken out": roles.identifiers,
                "May be known": [name for name in roles.quasi_identifiers if name in table.names],
                "Sensitive": [name for name in roles.sensitive if name in table.names],
                "No role": [name for name in table.names if name not in roled],
            },
            promised=[str(one) for one in self.made.guarantees],
            signing=Signing.of(
                manifest, person(self.made_by), said, *show_specification(spec.document, original)
            ),
        )

    @property
    def _original(self) -> Table:
        original = self.made.original
        return self.made.table if original is None else original


def _describe_counting(roles: Roles) -> str:
    """What promises and risks count, for people."""
    if roles.person is None:
        return "rows, each a person of its own"
    most = roles.rows_per_person
    bound = "all rows of a person" if most is None else f"at most {most} rows of a person"
    return f"persons, by {roles.person}; {bound}"
