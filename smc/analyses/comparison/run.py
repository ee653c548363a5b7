"""The joint run of a comparison job."""

from __future__ import annotations

from collections.abc import Sequence

from smc.analyses.comparison.columns import agreed_rows, holding_of, notes, tables
from smc.analyses.comparison.question import Question, Router
from smc.analyses.disclosure.figures import Rows, Shares
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.errors import DomainError
from smc.forms import Form
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.values import check_kind


def run(session: Session, question: Question, router: Router, data: Data, release: Release) -> Outcome:
    """The joint run, one side; both sides' columns have the same number of rows, or one has a single row.

    Whatever the route, delta is in the form of the question: who sees it follows from the type alone.

    Raises:
        DomainError: the numbers of rows do not fit, or the route gave delta in another form.
    """
    own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
    peer = exchange_counts(session, own)
    count = count_of(question, own, peer)
    holdings = [
        holding_of(session.role, question, router, name, data.get(name), count * width)
        for name, width in (("x", question.width), ("y", 1))
    ]
    shared = [data[name].schema.modulus for name in ("x", "y") if question.form(name) is Form.SS]
    ready = router.prepare(count, shared)
    about = Rows() if question.type.delta.sees else Shares()
    release.admit(about)
    delta = release.protocol(about, ready.run, *holdings)
    check_kind(delta, question.type.delta, session.role, "delta")
    return Outcome(tables(router, delta), (*notes(delta), *ready.notes), dict(ready.details))


def count_of(question: Question, own: Sequence[int], peer: Sequence[int]) -> int:
    """The number of comparisons, from the rows of x and y on both sides; 0 where a side holds none.

    Raises:
        DomainError: they do not fit each other, or there are none.
    """
    rows = [agreed_rows(n, a, b) for n, a, b in zip(("x", "y"), own, peer, strict=True)]
    count_x, rest = divmod(rows[0], question.width)
    if rest:
        raise DomainError(
            f"x has {rows[0]} encrypted bits, not a multiple of {question.width}.",
            f"Bring {question.width} encrypted bits for each value, or state another number of bits.",
        )
    count = max(count_x, rows[1])
    if not count:
        raise DomainError("There is no row to compare.", "Use columns with at least one value.")
    for name, one in (("x", count_x), ("y", rows[1])):
        if one not in (1, count) and name not in question.constants:
            raise DomainError(
                f"x has {count_x} rows and y has {rows[1]}.",
                "Compare columns of the same length, or a column with a single value.",
            )
    return count
