"""Peers: the paired parties, their fingerprints and certificates, and what `duetto doctor` finds."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import load_catalog
from parties.closed_peers import read_closed
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.dashboard.pages.persons import acting, describe_unsigned, signable
from parties.doctor import examine_cluster, examine_peer, examine_self
from parties.findings import Status
from parties.persons.roles import Act
from parties.pki import certificate, pairing
from parties.pki.home import add_peer, load_pairing, load_peer, own_pairing, require_later
from parties.pki.lock import running_pid
from parties.pki.spoken import words_of
from parties.policy.rules import load_policy
from smc.errors import DuettoError


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return _render_page(desk, request)


def check(desk: Context, request: Request) -> Response:
    """Examine this party, or the way to one peer."""
    config = desk.config
    name = form(request).get("peer", "")
    found = (
        examine_peer(config, config.peer(name)) if name else examine_self(config) + examine_cluster(config)
    )
    findings = sorted(found, key=lambda one: [*Status][::-1].index(one.verdict))
    return _render_page(desk, request, checked=name or config.name, findings=findings)


def reload(desk: Context, request: Request) -> Response:
    """Let the daemon read configuration, peers, policy and catalog again; nothing changes if one is wrong."""
    config = desk.config
    load_policy(config.policy)  # the daemon reads both for each job; here a person sees what is wrong
    load_catalog(config.catalog)
    return _render_page(desk, request, reloaded=desk.party.reload())


def open_again(desk: Context, request: Request) -> Response:
    """Open a peer that a failed check has closed."""
    with acting(desk, request) as party:
        party.open_peer(form(request).get("peer", ""), request.state.session.person)
    return redirect("/peers")


def own_file(desk: Context, _: Request) -> Response:
    """This party's pairing file, to be sent to the peer."""
    config = desk.config
    named = {"content-disposition": f'attachment; filename="{config.name}.pair"'}
    return Response(own_pairing(config).text + "\n", media_type="application/octet-stream", headers=named)


def look(desk: Context, request: Request) -> Response:
    """Show what is in a peer's pairing file; nothing is stored."""
    try:
        return _render_comparison(desk, request, pairing.parse(form(request).get("file", "").strip()))
    except DuettoError as error:
        return _render_page(desk, request, problem=f"{error.what} {error.hint}")


def pair(desk: Context, request: Request) -> Response:
    """Store a pairing file whose fingerprint the person has compared, and let the daemon take it up."""
    sent = form(request)
    try:
        found = pairing.parse(sent.get("file", ""))
        if "compared" not in sent:
            problem = "Nothing was stored: compare the words by telephone first, and tick that you did."
            return _render_comparison(desk, request, found, problem)
        add_peer(desk.config, found)
    except DuettoError as error:
        return _render_page(desk, request, problem=f"{error.what} {error.hint}")
    if running_pid(desk.config) is not None:
        desk.party.reload()
    return redirect("/peers")


def _render_comparison(
    desk: Context, request: Request, found: pairing.Pairing, problem: str = ""
) -> Response:
    """Ask whether the fingerprint of a file is the one that the peer reads out."""
    config = desk.config
    require_later(config, found)
    known = next((peer for peer in config.peers if peer.name == found.identity.name), None)
    return render(
        desk,
        request,
        "pair.html",
        found=found,
        words=words_of(found.fingerprint),
        own_words=words_of(own_pairing(config).fingerprint),
        known=known,
        is_renewal=known is not None and pairing.vouched_for(found, load_pairing(config, known)),
        problem=problem,
    )


def _render_page(desk: Context, request: Request, **more: Any) -> Response:
    config = desk.config
    try:
        fingerprint = own_pairing(config).fingerprint
    except DuettoError as error:  # the checks below say more
        fingerprint = ""
        more.setdefault("problem", f"{error.what} {error.hint}")
    return render(
        desk,
        request,
        "peers.html",
        fingerprint=fingerprint,
        words=words_of(fingerprint) if fingerprint else (),
        peers=_peers(desk, request),
        unsigned=describe_unsigned(desk),
        **({"checked": "", "findings": [], "reloaded": None, "problem": ""} | more),
    )


def _peers(desk: Context, request: Request) -> list[dict[str, Any]]:
    """What is pinned of each peer, and why it is closed; `problem` where its file cannot be read."""
    config, found = desk.config, []
    closed = read_closed(config.home)
    for peer in config.peers:
        entry: dict[str, Any] = {"name": peer.name, "address": str(peer.address), "problem": ""}
        entry |= {"closed": None, "signable": None}
        try:
            entry["fingerprint"] = pairing.read(peer.pairing).fingerprint
            entry["days"] = certificate.days_left(load_peer(config, peer).certificates)
        except DuettoError as error:
            entry["problem"] = f"{error.what} {error.hint}"
        if (closure := closed.get(peer.name)) is not None:
            entry["closed"] = closure
            entry["signable"] = signable(desk, request, Act.OPEN, closure.digest, peer.name)
        found.append(entry)
    return found
