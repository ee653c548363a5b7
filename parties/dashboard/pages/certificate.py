"""Certificate: what it states, checked here with the keys that this party has and has paired."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

from parties.audit_terms import AUDITED
from parties.certificates.verification import CertificateError, read_certificate
from parties.dashboard.drawing.desk import Context, render
from parties.ledger.accounting import describe_loss
from parties.pki.home import load_identity, load_peer
from smc.errors import DuettoError


def page(desk: Context, request: Request) -> Response:
    """The page: the certificate is checked anew each time, with the result that is kept here."""
    job = desk.party.job(request.path_params["job_id"])
    document = job.certificate()
    if document["certificate"]["result"]["received"] and not job.describe()["result_deleted"]:
        got = job.result()
        document["result"] = {
            "tables": got.tables,
            "notes": list(got.notes),
            "details": got.details,
            "salt": got.salt,
        }
    config = desk.config
    try:
        found = read_certificate(json.dumps(document).encode())
        found.confirm(load_identity(config).signing.public_key(), found.role)
    except CertificateError as error:
        return render(desk, request, "certificate.html", job=job.describe(), found=None, problem=error)
    maker, peer = found.name(found.role), found.name(found.role.other)
    try:
        found.confirm(load_peer(config, config.peer(peer)).signing, found.role.other)
        doubt = ""
    except DuettoError as error:
        doubt = f"{error.what} {error.hint}".strip()
    return render(
        desk,
        request,
        "certificate.html",
        job=job.describe(),
        found=found,
        maker=maker,
        peer=peer,
        doubt=doubt,
        audited=AUDITED,
        loss=describe_loss(found.loss)
        if found.loss
        else "none: nothing was released under differential privacy",
    )
