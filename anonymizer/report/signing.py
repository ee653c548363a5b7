"""What somebody signs: who made a release and when, what for, and what was accepted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.purpose import Purpose
from anonymizer.releases.records import who


@dataclass(frozen=True, slots=True)
class Signing:
    """What a report says beside figures and steps, for the person who signs.

    Attributes:
        made_by: who made the release.
        made_at: when, in UTC to the minute.
        purpose: what it is for.
        judgment: sentences, computed of what was measured.
        accepted: findings of the gate that somebody accepts, with the reasons.
        digest: SHA-256 of the specification, in hexadecimal.
        text: the specification, without rare values.
        left_out: a sentence for each list of the text that is not whole.
        files: by name of each released file the SHA-256 of its bytes.
    """

    made_by: str
    made_at: str
    purpose: Purpose
    judgment: Sequence[str]
    accepted: Sequence[Acceptance]
    digest: str
    text: str = field(repr=False)
    left_out: Sequence[str]
    files: Mapping[str, str]

    @classmethod
    def of(
        cls, manifest: Manifest, made_by: str, judgment: Sequence[str], text: str, left_out: Sequence[str]
    ) -> Self:
        """Of a release that is about to be published.

        Args:
            manifest: as it is written.
            made_by: as `person` says it.
            judgment: as the module `judgment` says it.
            text: of the specification, as `specification.show_specification` gives it.
            left_out: the same.
        """
        return cls(
            made_by=made_by,
            made_at=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            purpose=manifest.purpose,
            judgment=judgment,
            accepted=manifest.accepted,
            digest=manifest.specification,
            text=text,
            left_out=left_out,
            files=manifest.files,
        )

    @property
    def stated(self) -> Sequence[tuple[str, str]]:
        """The purpose by heading; "" where nothing is stated."""
        one = self.purpose
        return (
            ("Purpose", one.purpose),
            ("Legal basis", one.legal_basis),
            ("Responsible", one.responsible),
            ("Recipient", one.recipient),
        )


def person(stated: str) -> str:
    """Who makes a release: the name that is stated, else the account, which is said."""
    name = " ".join(stated.split())
    if name:
        return name
    account, number = who()
    return f"account {account or number} (no name was stated)"
