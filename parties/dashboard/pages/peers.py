"""Peers: the paired parties, their fingerprints and certificates, and what `duetto doctor` finds."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import load_catalog
from parties.config import Config
from parties.dashboard.drawing.desk import Context, form, render
from parties.doctor import Finding, examine_peer, examine_self
from parties.pki import certificate, pairing
from parties.pki.home import load_peer, own_pairing
from parties.policy.rules import load_policy
from smc.errors import DuettoError


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return _shown(desk, request)


def check(desk: Context, request: Request) -> Response:
    """Examine this party, or the way to one peer."""
    config = desk.config
    name = form(request).get("peer", "")
    findings: list[Finding] = list(examine_peer(config, config.peer(name)) if name else examine_self(config))
    return _shown(desk, request, checked=name or config.name, findings=findings)


def reload(desk: Context, request: Request) -> Response:
    """Let the daemon read configuration, peers, policy and catalog again; nothing changes if one is wrong."""
    config = desk.config
    load_policy(config.policy)  # the daemon reads both for each job; here a person sees what is wrong
    load_catalog(config.catalog)
    return _shown(desk, request, reloaded=desk.party.reload())


def _shown(desk: Context, request: Request, **more: Any) -> Response:
    config = desk.config
    return render(
        desk,
        request,
        "peers.html",
        fingerprint=own_pairing(config).fingerprint,
        peers=_peers(config),
        **({"checked": "", "findings": [], "reloaded": None} | more),
    )


def _peers(config: Config) -> list[dict[str, Any]]:
    """What is pinned of each peer; `problem` where its file cannot be read."""
    found = []
    for peer in config.peers:
        entry: dict[str, Any] = {"name": peer.name, "address": str(peer.address), "problem": ""}
        try:
            entry["fingerprint"] = pairing.read(peer.pairing).fingerprint
            entry["days"] = certificate.days_left(load_peer(config, peer).certificates)
        except DuettoError as error:
            entry["problem"] = f"{error.what} {error.hint}"
        found.append(entry)
    return found
