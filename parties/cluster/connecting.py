"""The way to the cluster's scheduler, step by step, so that an error names the step that failed."""

from __future__ import annotations

import importlib.util
import logging
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from parties.cluster.work import SAME
from parties.config import Dask
from parties.errors import ClusterMismatch, ClusterUnavailable, ConfigError
from parties.pki.files import check_private

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

CONNECT_SECONDS: Final = 10.0
"""How long each step of connecting may take; less if the cluster's patience is shorter."""

_MANUAL: Final = "docs/operations.md has the commands with which a cluster is started."


@dataclass(frozen=True, slots=True)
class Members:
    """Who does the work.

    Attributes:
        workers: processes.
        threads: of all of them, tasks at once.
    """

    workers: int
    threads: int


def connect(dask: Dask) -> tuple[Client, Members]:
    """A client of the cluster, after its certificate, its workers and everyone's releases were checked.

    Args:
        dask: the cluster.

    Raises:
        ConfigError: Dask is not installed, or a file of the configuration cannot be used.
        ClusterUnavailable: the scheduler does not answer, does not take this party's certificate, shows one
            of another authority, or has no workers.
        ClusterMismatch: scheduler or workers run other releases.
    """
    if importlib.util.find_spec("distributed") is None:
        raise ConfigError(
            "[compute] names a Dask cluster, and Dask is not installed.",
            "Run pip install 'duetto[dask]', or remove dask from [compute] in duetto.toml.",
        )
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.ERROR)  # what goes wrong is said by errors here
    seconds = _patience(dask)
    security = _security(dask)
    _shake_hands(dask, security, seconds)
    try:
        client = Client(
            dask.url,
            security=security,
            timeout=seconds,
            set_as_default=False,
            name="duetto",
            heartbeat_interval=2000,
        )
    except OSError as problem:
        raise ClusterUnavailable(
            f"What answers at {dask.url} is not a Dask scheduler ({type(problem).__name__}).",
            f"Correct dask in [compute] of duetto.toml. {_MANUAL}",
        ) from None
    try:
        return client, members(client, dask)
    except BaseException:
        client.close(timeout=seconds)
        raise


def check_files(dask: Dask) -> None:
    """Check that the cluster's files are there and can be read, and the key by this user alone.

    Raises:
        ConfigError: one is not.
    """
    for name, path in (("ca", dask.ca), ("certificate", dask.certificate), ("key", dask.key)):
        try:
            path.open("rb").close()
        except OSError as problem:
            raise ConfigError(
                f"dask_{name} of [compute] names {path}, which cannot be read: "
                f"{problem.strerror or type(problem).__name__}.",
                "Name a PEM file that this user can read, or remove dask from [compute] in duetto.toml.",
            ) from None
    check_private(dask.key)


def _patience(dask: Dask) -> float:
    return min(CONNECT_SECONDS, float(dask.seconds))


def _security(dask: Dask) -> Security:
    from distributed.security import Security

    check_files(dask)
    security = Security(
        tls_ca_file=str(dask.ca),
        tls_client_cert=str(dask.certificate),
        tls_client_key=str(dask.key),
        require_encryption=True,
        tls_min_version=ssl.TLSVersion.TLSv1_3,
    )
    try:
        security.get_connection_args("client")
    except OSError as problem:
        raise ConfigError(
            f"dask_ca, dask_certificate and dask_key of [compute] cannot be used: "
            f"{problem.strerror or type(problem).__name__}.",
            f"Name PEM files that can be read: {dask.ca} with the certificate of the cluster's authority, "
            f"{dask.certificate} with this party's, {dask.key} with the key that belongs to it.",
        ) from None
    return security


def _shake_hands(dask: Dask, security: Security, seconds: float) -> None:
    """One connection of its own, of which every failure can be told apart; Dask's client retries them all."""
    context = security.get_connection_args("client")["ssl_context"]
    try:
        connection = socket.create_connection((dask.address.host.strip("[]"), dask.address.port), seconds)
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        raise ClusterUnavailable(
            f"No Dask scheduler answers at {dask.url} ({why}).",
            "Start it, or correct its address or the firewall in between; or remove dask from [compute] in "
            "duetto.toml and restart the daemon.",
        ) from None
    with connection:
        try:
            with context.wrap_socket(connection) as secured:
                answered = secured.recv(
                    1
                )  # in TLS 1.3 a refusal of one's certificate comes after the handshake
        except ssl.SSLCertVerificationError:
            raise ClusterUnavailable(
                f"The certificate of what answers at {dask.url} is not by the authority in {dask.ca}.",
                "Correct dask_ca, if the cluster has another authority; if it has not, somebody stands in "
                "between.",
            ) from None
        except ssl.SSLError as problem:
            refused = "alert" in (problem.reason or "").lower()
            raise _refusal(dask) if refused else _without_tls(dask) from None
        except OSError as problem:
            raise ClusterUnavailable(
                f"The connection to {dask.url} broke ({type(problem).__name__}).",
                f"See in the log of the scheduler why. {_MANUAL}",
            ) from None
    if not answered:
        raise _refusal(dask)


def _refusal(dask: Dask) -> ClusterUnavailable:
    return ClusterUnavailable(
        f"The Dask scheduler at {dask.url} does not take the certificate {dask.certificate}.",
        "Let the cluster's authority sign a certificate for this party, and name it and its key as "
        "dask_certificate and dask_key in [compute].",
    )


def _without_tls(dask: Dask) -> ClusterUnavailable:
    return ClusterUnavailable(
        f"What answers at {dask.url} does not speak TLS 1.3.",
        "Start scheduler and workers with --tls-ca-file, --tls-cert, --tls-key and --protocol tls; correct "
        "the port if it is another's.",
    )


def members(client: Client, dask: Dask) -> Members:
    """Compare releases and count the workers, all of which have to answer.

    Args:
        client: of the cluster.
        dask: the cluster.

    Raises:
        ClusterUnavailable: somebody does not answer, or there are no workers.
        ClusterMismatch: scheduler or workers run other releases.
    """

    async def ask() -> tuple[dict[str, Any], dict[str, Any], dict[str, int]]:
        packages = list(SAME)
        scheduler = await client.scheduler.versions(packages=packages)
        message = {"op": "versions", "packages": packages}
        workers = await client.scheduler.broadcast(msg=message, on_error="ignore")
        return scheduler, workers, await client.scheduler.ncores()

    try:
        scheduler, workers, threads = client.sync(ask, callback_timeout=_patience(dask))
    except (OSError, TimeoutError) as problem:
        raise ClusterUnavailable(
            f"The Dask scheduler at {dask.url} or one of its workers does not answer "
            f"({type(problem).__name__}).",
            "See in their logs what keeps them busy, or start them again.",
        ) from None
    others = {f"the scheduler {dask.url}": scheduler}
    others |= {f"the worker {address}": said for address, said in workers.items()}
    for who, said in others.items():
        for name in SAME:
            has, wanted = _release(said, name), version(name)
            if has != wanted:
                raise ClusterMismatch(
                    f"In the Dask cluster, {who} has {name} {has}; this party has {name} {wanted}."
                )
    if not threads:
        raise ClusterUnavailable(
            f"The Dask scheduler at {dask.url} has no worker.",
            f"Start workers that name its address. {_MANUAL}",
        )
    return Members(len(threads), sum(threads.values()))


def _release(said: Any, name: str) -> str:
    """Of a distribution at a member, which may not have answered."""
    packages = said.get("packages", {}) if isinstance(said, Mapping) else {}
    return packages.get(name) or "of no known release"
