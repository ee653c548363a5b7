"""What people see of a job before it runs: checks, verdict, leakage, cost."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final

from parties.contracts.contract import Schemas, limits_document
from parties.contracts.spec import MAX_RTT_MS, parse_spec
from parties.errors import PolicyError
from parties.exits import exit_code
from parties.jobs.checks.admission import Admission
from parties.jobs.checks.local_data import LocalData, count_held, count_rows
from parties.jobs.checks.task import Task
from parties.jobs.covert import terms_of_audit
from parties.jobs.run import estimate_document, leakage_document
from parties.jobs.terms import terms_document
from parties.pki.pairing import MINIMUM_PAILLIER_BITS
from parties.policy.verdict import Verdict
from smc.analyses.comparison.bisection import findable_values, jobs_to_find, possible_values
from smc.analyses.studies.precision import PRECISION, REACH
from smc.analyses.studies.study import Preview
from smc.errors import UsageError
from smc.network import Network

_IN_SHORT: Final = (
    "seconds",
    "network_seconds",
    "total_seconds",
    "sent",
    "received",
    "route",
    "cheaper",
    "most",
    "against",
)
"""What a check says of the estimate."""


def check_report(admission: Admission, toml: str, key_bits: int = MINIMUM_PAILLIER_BITS) -> dict[str, Any]:
    """Check a job against the local catalog, data and policy.

    Args:
        admission: the local checks.
        toml: the job file.
        key_bits: size of the Paillier keys; the smallest that a daemon takes unless it is known.

    Returns:
        Role, peer, columns, rows, privacy loss, verdict with reasons, what the local rows tell of a run, what
        it takes and whether the same can be had for far less, and who would learn what. `estimate` is None
        where the local rows are refused.

    Raises:
        DuettoError: the job file or the local data are wrong; of its kind. A refusal by the policy, or of the
            local rows by the analysis, is part of the report.
    """
    return _check(admission, toml, key_bits)[0]


def decision_report(admission: Admission, toml: str, key_bits: int = MINIMUM_PAILLIER_BITS) -> dict[str, Any]:
    """A check with `terms`: what the job comes to, in the words that a person decides by.

    Args and errors are those of `check_report`; `terms` are as of `parties.jobs.terms.terms_document`.
    """
    report, task, local, verdict, preview = _check(admission, toml, key_bits)
    return report | {"terms": terms_document(admission, task, local, verdict, preview)}


def _check(
    admission: Admission, toml: str, key_bits: int
) -> tuple[dict[str, Any], Task, LocalData, Verdict, Preview]:
    task = admission.understand(parse_spec(toml))
    schemas = admission.schemas(task)
    local = admission.read(task)
    rows = count_rows(local.columns)
    verdict = admission.judge(task, local.columns)
    preview = admission.preview(task, local, verdict.limits)
    held = count_held(local.columns)
    whole = (
        {} if preview.refusal else estimate_document(task, schemas, rows, key_bits, verdict.limits, held=held)
    )
    report = {
        "analysis": task.spec.analysis,
        "title": task.spec.title,
        "role": task.role.value,
        "peer": task.peer,
        "recipients": sorted(role.value for role in task.spec.recipients),
        "dataset": task.side.dataset,
        "columns": {
            name: {"column": task.side.columns[name], "kind": schema.kind, "unit": schema.unit}
            for name, schema in schemas.items()
        },
        "rows": rows,
        "epsilon": str(task.facts.loss.epsilon),
        "delta": str(task.facts.loss.delta),
        "rho": str(task.facts.loss.rho),
        "seconds": task.spec.seconds,
        "network": task.spec.network and asdict(task.spec.network),
        "lanes": task.spec.lanes,
        "audit": terms_of_audit(task.spec, task.role),
        "exact": task.facts.exact is not None,
        "row_results": task.facts.row_results,
        "verdict": verdict_document(verdict),
        "overlap": overlap_document(admission, task, local, verdict),
        "preview": preview_document(preview),
        "estimate": {name: whole[name] for name in _IN_SHORT} if whole else None,
        "leakage": leakage_document(task),
        "bisection": bisection_document(task, schemas),
    }
    return report, task, local, verdict, preview


def policy_document(admission: Admission, toml: str) -> dict[str, Any]:
    """How a job stands against all rules: the verdict, earlier exact jobs, and whether it is exact.

    Raises:
        DuettoError: as `check_report`.
    """
    report = check_report(admission, toml)
    return {name: report[name] for name in ("verdict", "overlap", "exact")}


def estimate_report(
    admission: Admission,
    toml: str,
    *,
    rows: int,
    key_bits: int,
    rtt_ms: float,
    mbit: float,
    peer_rows: int = 0,
) -> dict[str, Any]:
    """What a run would cost if the limits of the local policy hold and no others.

    The peer's policy is not known before it has answered; the stricter of both holds in a run.

    Args:
        admission: the local checks.
        toml: the job file.
        rows: rows a side; 0 takes those of the local data, and tells of them what the analysis can.
        key_bits: size of the Paillier keys.
        rtt_ms: round trip of the network in milliseconds; with `mbit` 0 as well, the network is that of the
            job, or none is counted.
        mbit: rate of each direction of the network in Mbit/s; 0 is unlimited.
        peer_rows: rows of the peer, where they are others; 0 takes as many.

    Returns:
        Rounds, bytes and seconds of a run. `seconds` is for computing, `network_seconds` for waiting and
        for the larger of both directions, as links are duplex, and `total_seconds` the sum; `memory` as in
        `smc.analyses.studies.study.Estimate`. Parties that
        compute while they send need less, and those whose large messages answer each other more. `epsilon`,
        `delta` and `rho` are what the job would spend. `limits`
        are those that were taken into account, None where the policy refuses the job; `preview` is as in
        `check_report`, None if `rows` is given.

    Raises:
        UsageError: on so slow a link no run has an end.
        DuettoError: the job file or the local data are wrong; of its kind.
    """
    task = admission.understand(parse_spec(toml))
    schemas = admission.schemas(task)
    preview, held = None, None
    if rows:
        verdict = admission.judge(task, None)
    else:
        local = admission.read(task)
        verdict = admission.judge(task, local.columns)
        rows, held = count_rows(local.columns), count_held(local.columns)
        preview = preview_document(admission.preview(task, local, verdict.limits))
    document = estimate_document(
        task, schemas, rows, key_bits, verdict.limits, held=held, peer_rows=peer_rows
    )
    network = document["network_seconds"]
    if rtt_ms or mbit:
        link = Network(rtt_ms, mbit or math.inf)
        network = link.seconds(document["rounds"], document["alice_bytes"], document["bob_bytes"])
        if not math.isfinite(network):
            raise UsageError(
                "On so slow a link the job takes longer than can be counted.",
                f"Give a round trip of at most {MAX_RTT_MS} ms, and a rate of 0, which is unlimited, or at "
                "least 1 Mbit/s.",
            )
    return document | {
        "key_bits": key_bits,
        "network_seconds": round(network, 6),
        "total_seconds": round(document["seconds"] + network, 6),
        "epsilon": str(task.facts.loss.epsilon),
        "delta": str(task.facts.loss.delta),
        "rho": str(task.facts.loss.rho),
        "limits": limits_document(verdict.limits) if verdict.allowed else None,
        "preview": preview,
    }


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain JSON values."""
    return {
        "allowed": verdict.allowed,
        "needs_person": verdict.allowed and verdict.needs_person,
        "rule": verdict.rule,
        "limits": limits_document(verdict.limits) if verdict.allowed else None,
        "unheld": list(verdict.unheld),
        "reasons": [
            {"rule": reason.rule, "code": reason.code, "what": reason.what, "hint": reason.hint}
            for reason in verdict.reasons
        ],
        "conditions": [asdict(condition) for condition in verdict.conditions],
    }


def bisection_document(task: Task, schemas: Schemas) -> list[dict[str, Any]]:
    """Each local column of which the peer finds every value, and in how many such jobs."""
    kind = task.facts.comparison_type
    names = () if kind is None else findable_values(kind, task.role.other)
    values = {name: possible_values(schemas[name]) for name in names if name in schemas and len(names) == 1}
    by_one = not task.spec.parameters.keys().isdisjoint({"x", "y"})  # a public number for all rows
    return [
        {"column": task.side.columns[name], "jobs": jobs_to_find(count, by_one=by_one)}
        for name, count in values.items()
        if count is not None
    ]


def overlap_document(
    admission: Admission, task: Task, local: LocalData, verdict: Verdict
) -> dict[str, str] | None:
    """What stands against an exact job in view of earlier ones; None if nothing does."""
    try:
        admission.check_overlap(task, local, verdict)
    except PolicyError as error:
        return {"code": error.stable_code, "what": error.what, "hint": error.hint}
    return None


def preview_document(preview: Preview) -> dict[str, Any]:
    """What the local rows tell of a run, as plain JSON values.

    `refusal` is None where the run takes them; its `status` is that of a command that ends with it.
    """
    refusal = preview.refusal
    return {
        "notes": list(preview.notes),
        "details": dict(preview.details) | _precision(preview),
        "refusal": refusal
        and {
            "code": refusal.stable_code,
            "what": refusal.what,
            "hint": refusal.hint,
            "status": exit_code(refusal),
        },
    }


def _precision(preview: Preview) -> dict[str, Any]:
    """The precision to expect, without how far figures can vary, which is for `is_vague`."""
    rows = preview.details.get(PRECISION)
    if rows is None:
        return {}
    return {PRECISION: [{key: value for key, value in row.items() if key != REACH} for row in rows]}
