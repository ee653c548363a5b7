"""The joint run of a comparison job."""

from __future__ import annotations

from collections.abc import Sequence

from smc.analyses.comparison.columns import agreed_rows, holding_of, notes, tables
from smc.analyses.comparison.cost import planned
from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.comparison.prepared import use_prepared
from smc.analyses.disclosure.figures import Rows, Shares
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.errors import DomainError
from smc.forms import Form
from smc.planning.agreement import compare_plans
from smc.planning.run import session_parameters, set_up
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.protocols.spec import parse_modulus


def run(session: Session, parameters: ComparisonParameters, data: Data, release: Release) -> Outcome:
    """The joint run, one side; both sides' columns have the same number of rows, or one has a single row.

    Raises:
        DomainError: the numbers of rows do not fit.
    """
    own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
    peer = exchange_counts(session, own)
    count = count_of(parameters, own, peer)
    width = parameters.bits if parameters.type.bitwise else 1
    holdings = {
        name: holding_of(session, parameters, name, data.get(name), count * (width if name == "x" else 1))
        for name in ("x", "y")
    }
    moduli = [parse_modulus(data[n].schema.modulus) for n in ("x", "y") if parameters.form(n) is Form.SS]
    given = session_parameters(session, count, parameters.bits)
    plan = planned(parameters, given, moduli, session.network)
    compare_plans(plan, session)
    # Before the set-up, of which a pool saves the base transfers.
    prepared = (use_prepared(session, plan, given),) if parameters.pool else ()
    ready = set_up(plan, session)
    about = Rows() if parameters.type.delta.sees else Shares()
    release.admit(about)
    delta = release.protocol(about, ready.run, holdings["x"], holdings["y"])
    return Outcome(
        tables(session, delta),
        (*notes(delta), *prepared),
        {"route": plan.route, "engine": plan.engine, "type": str(plan.type), "plan": plan.digest},
    )


def count_of(parameters: ComparisonParameters, own: Sequence[int], peer: Sequence[int]) -> int:
    """The number of comparisons, from the rows of x and y on both sides; 0 where a side holds none.

    Raises:
        DomainError: they do not fit each other, or there are none.
    """
    width = parameters.bits if parameters.type.bitwise else 1
    rows = [agreed_rows(n, a, b) for n, a, b in zip(("x", "y"), own, peer, strict=True)]
    count_x, rest = divmod(rows[0], width)
    if rest:
        raise DomainError(
            f"x has {rows[0]} encrypted bits, not a multiple of {width}.",
            f"Bring {width} encrypted bits for each value, or state another number of bits.",
        )
    count = max(count_x, rows[1])
    if not count:
        raise DomainError("There is no row to compare.", "Use columns with at least one value.")
    for name, one in (("x", count_x), ("y", rows[1])):
        if one not in (1, count) and name not in parameters.constants:
            raise DomainError(
                f"x has {count_x} rows and y has {rows[1]}.",
                "Compare columns of the same length, or a column with a single value.",
            )
    return count
