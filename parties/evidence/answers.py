"""What this party's history of exact jobs answered in a run: it does not follow from data and seed.

The peer hears of these answers, in a bit. They only ever keep back figures of the answering party's own
persons, so that an audit takes them as the party shows them.
"""

from __future__ import annotations

from collections.abc import Sequence

from smc.analyses.disclosure.audit import Auditor, Told


class KeptAnswers:
    """An auditor of openings whose answers are kept; a `smc.analyses.disclosure.audit.Auditor`.

    Args:
        auditor: that answers.

    Attributes:
        answers: so far, in their order.
    """

    def __init__(self, auditor: Auditor) -> None:
        self._auditor = auditor
        self.answers: list[bool] = []

    @property
    def judges(self) -> bool:
        """As the auditor says."""
        return self._auditor.judges

    def allows(self, told: Told) -> bool:
        """As the auditor says."""
        self.answers.append(self._auditor.allows(told))
        return self.answers[-1]

    def record(self, told: Told) -> None:
        """Let the auditor keep it; raises what it raises, which ends the run."""
        self._auditor.record(told)


class GivenAnswers:
    """Answers as they were kept; a `smc.analyses.disclosure.audit.Auditor`.

    Args:
        answers: in their order; yes to what comes after the last.
        judges: whether the auditor knew whom rows are about.
    """

    def __init__(self, answers: Sequence[bool], *, judges: bool) -> None:
        self._answers = iter(answers)
        self.judges = judges

    def allows(self, told: Told) -> bool:
        """The next answer."""
        del told
        return next(self._answers, True)

    def record(self, told: Told) -> None:
        """Keep nothing."""
        del told
