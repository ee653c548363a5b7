"""The configuration of a party: one TOML file, checked strictly, as frozen values.

Relative paths are taken from the folder of the file. Secrets are files in the party's home and never
stand in the configuration. There is no switch for TLS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parties.errors import ConfigError
from parties.kept_pools import KeptPools, parse_pools
from parties.memory import present_memory
from parties.places import find
from parties.toml import StrictTable, read
from smc.channel.message import MAX_LANES

LOG_LEVELS: Final = ("debug", "info", "warning", "error")

LANE_INBOX_BYTES: Final = 16 << 20
"""Room for what comes for a lane before its worker reads; with less, both sides could wait forever."""

LEAST_SOURCE_MIB: Final = 256
"""A process that reads sources takes about so much with its libraries."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_KEEPALIVE_SECONDS = (2, 300)
_TLS: Final = "tls://"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a TCP port; a listening port of 0 lets the system choose."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `host:port`; an IPv6 address stands in brackets.

        Raises:
            ConfigError: the text is not a valid address.
        """
        host, _, port = text.rpartition(":")
        if not _HOST.fullmatch(host) or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
            raise ConfigError(
                f"{text[:300]!r} is not a valid address.",
                "Write host:port, such as hospital.example:7443 or [::1]:7443.",
            )
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what this party spends for its peers.

    Attributes:
        sessions: sessions at once.
        message_seconds: how long one send or receive may wait for the peer.
        job_seconds: how long a session may last.
        inbox_bytes: received and not yet used bytes of a session; the peer is held up beyond.
        wait_days: how long a job may wait in one state: for a person on either side, or for the peer to come.
        memory_mib: MiB that one job may take by the model of its analysis; 0 for all that there is.
        reconnect_seconds: how long a session whose connection was cut waits for another; 0 for not at all.
        source_mib: MiB that reading one source may take; 0 for half of all that there is.
        source_seconds: how long reading one source may take.
    """

    sessions: int = 4
    message_seconds: int = 600
    job_seconds: int = 86400
    inbox_bytes: int = 256 << 20
    wait_days: int = 14
    memory_mib: int = 0
    reconnect_seconds: int = 120
    source_mib: int = 0
    source_seconds: int = 1800

    @property
    def job_memory(self) -> int:
        """Bytes that one job may take."""
        return self.memory_mib << 20 or present_memory()

    @property
    def source_memory(self) -> int:
        """Bytes that reading one source may take."""
        return self.source_mib << 20 or present_memory() // 2


@dataclass(frozen=True, slots=True)
class Keepalive:
    """How a silent loss of the peer is noticed.

    Attributes:
        seconds: pause between pings on a quiet connection.
        timeout_seconds: how long an answer may take.
    """

    seconds: int = 20
    timeout_seconds: int = 10


@dataclass(frozen=True, slots=True)
class Dask:
    """A Dask cluster of this institution, and how this party shows itself to it.

    Attributes:
        address: of the scheduler.
        ca: the certificate of the cluster's own authority, PEM.
        certificate: this party's certificate by that authority, PEM.
        key: the private key of it, PEM, readable by its owner only.
        seconds: how long the cluster may finish nothing before it is asked whether it still answers.
    """

    address: Address
    ca: Path
    certificate: Path
    key: Path
    seconds: int = 60

    @property
    def url(self) -> str:
        """The address as Dask writes it."""
        return f"{_TLS}{self.address}"


@dataclass(frozen=True, slots=True)
class Compute:
    """Where this party computes.

    Attributes:
        dask: its Dask cluster, or None for this machine alone.
        lanes: most lanes that a job may have here, each a process of its own while the job runs.
    """

    dask: Dask | None = None
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Peer:
    """A paired party.

    Attributes:
        name: its name.
        address: where its daemon listens.
        pairing: its pairing file.
        pin: the fingerprint of that file, as it was compared when pairing.
    """

    name: str
    address: Address
    pairing: Path
    pin: str


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a party.

    Attributes:
        path: the file they were read from.
        name: the party's name.
        home: the folder of its keys, jobs and ledger.
        listen: where the daemon listens for peers.
        policy: the file of the policy.
        catalog: the file of the catalog.
        peers: the paired parties.
        keep_results_days: how long results of jobs are kept after they finished; 0 is for ever.
        accept_renewals: whether renewed certificates of peers are pinned without asking a person.
        plugins: distributions whose analyses the daemon loads, see `parties.plugins`.
        metrics_port: where the daemon answers with its metrics on the loopback address; 0 for nowhere.
        log_level: the least that the daemon logs, one of `LOG_LEVELS`.
        compute: where it computes.
        pools: what it keeps ready for later comparisons.
    """

    path: Path
    name: str
    home: Path
    listen: Address
    policy: Path
    catalog: Path
    limits: Limits = field(default_factory=Limits)
    keepalive: Keepalive = field(default_factory=Keepalive)
    peers: tuple[Peer, ...] = ()
    keep_results_days: int = 0
    accept_renewals: bool = False
    plugins: tuple[str, ...] = ()
    metrics_port: int = 0
    log_level: str = "info"
    compute: Compute = field(default_factory=Compute)
    pools: tuple[KeptPools, ...] = ()

    def peer(self, name: str) -> Peer:
        """The paired party of that name.

        Raises:
            ConfigError: there is none.
        """
        for peer in self.peers:
            if peer.name == name:
                return peer
        known = ", ".join(peer.name for peer in self.peers) or "none"
        raise ConfigError(f"No peer {name!r} is paired; there are: {known}.", "Pair it with `duetto pair`.")


def check_name(name: str) -> str:
    """A party's name: up to 32 of a-z, 0-9 and hyphen, beginning with a letter.

    Raises:
        ConfigError: it is another text.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name[:64]!r} is not a valid party name.",
            "Use up to 32 of a-z, 0-9 and hyphen, beginning with a letter.",
        )
    return name


def load(path: Path | None = None) -> Config:
    """Read and check the configuration.

    Args:
        path: the file, or its folder; None looks for it, see `find`.

    Raises:
        ConfigError: a key is unknown, missing or has an impossible value; says which and where.
    """
    found = find(path)
    return parse(read(found, ConfigError), found)


def parse(document: Mapping[str, Any], path: Path) -> Config:
    """Check a parsed configuration that stands, or is to stand, at `path`. Raises as `load` does."""
    top = StrictTable(document, path.name, ConfigError)
    party = top.table("party")
    listen = top.table("listen")
    jobs = top.table("jobs", required=False)
    plugins = top.table("plugins", required=False)
    metrics = top.table("metrics", required=False)
    log = top.table("log", required=False)
    name, peers = _checked(party, "name", check_name), _peers(top, path.parent)
    config = Config(
        path=path,
        name=name,
        home=path.parent / party.text("home", "."),
        listen=_checked(listen, "address", Address.parse),
        policy=_file(top, "policy", path.parent),
        catalog=_file(top, "catalog", path.parent),
        limits=_limits(top.table("limits", required=False)),
        keepalive=_keepalive(top.table("keepalive", required=False)),
        peers=peers,
        keep_results_days=_between(jobs, "keep_results_days", 0, 0, 36500),
        accept_renewals=party.boolean("accept_renewals", default=False),
        plugins=plugins.texts("analyses", ()),
        metrics_port=_between(metrics, "port", 0, 0, 65535),
        log_level=_log_level(log),
        compute=_compute(top.table("compute", required=False), path.parent),
        pools=parse_pools(top, name, [peer.name for peer in peers]),
    )
    for table in (party, listen, jobs, plugins, metrics, log, top):
        table.close()
    if config.compute.lanes > 1 and config.limits.inbox_bytes < config.compute.lanes * LANE_INBOX_BYTES:
        least = config.compute.lanes * LANE_INBOX_BYTES
        raise ConfigError(
            f"{path.name}: {config.compute.lanes} lanes need an inbox of {least} bytes; there is one of "
            f"{config.limits.inbox_bytes}.",
            f"Write inbox_bytes = {least} below [limits], or grant fewer lanes below [compute].",
        )
    if any(peer.name == config.name for peer in config.peers):
        raise ConfigError(
            f"{path.name}: a peer has this party's name {config.name!r}.", "Correct its name, or remove it."
        )
    return config


def _checked(table: StrictTable, key: str, check: Any) -> Any:
    try:
        return check(table.text(key))
    except ConfigError as error:
        if error.what.startswith(table.place):
            raise
        raise ConfigError(f"{table.place}: {key}: {error.what}", error.hint) from None


def _file(top: StrictTable, section: str, folder: Path) -> Path:
    table = top.table(section, required=False)
    path = folder / table.text("file", f"{section}.toml")
    table.close()
    return path


def _between(table: StrictTable, key: str, default: int, minimum: int, maximum: int) -> int:
    value = table.integer(key, default, minimum=minimum)
    if value > maximum:
        raise table.fail(key, f"is above {maximum}", f"Write {maximum} or less.")
    return value


def _log_level(table: StrictTable) -> str:
    level = table.text("level", "info")
    if level not in LOG_LEVELS:
        raise table.fail("level", "is not a level", f"Write one of {', '.join(LOG_LEVELS)}.")
    return level


def _limits(table: StrictTable) -> Limits:
    usual = Limits()
    limits = Limits(
        sessions=_between(table, "sessions", usual.sessions, 1, 64),
        message_seconds=_between(table, "message_seconds", usual.message_seconds, 1, 86400),
        job_seconds=_between(table, "job_seconds", usual.job_seconds, 1, 30 * 86400),
        inbox_bytes=_between(table, "inbox_bytes", usual.inbox_bytes, 2 << 20, 4 << 30),
        wait_days=_between(table, "wait_days", usual.wait_days, 1, 3650),
        memory_mib=_between(table, "memory_mib", usual.memory_mib, 0, 1 << 24),
        reconnect_seconds=_between(table, "reconnect_seconds", usual.reconnect_seconds, 0, 3600),
        source_mib=_source_mib(table, usual.source_mib),
        source_seconds=_between(table, "source_seconds", usual.source_seconds, 1, 86400),
    )
    table.close()
    return limits


def _source_mib(table: StrictTable, usual: int) -> int:
    value = _between(table, "source_mib", usual, 0, 1 << 24)
    if 0 < value < LEAST_SOURCE_MIB:
        raise table.fail(
            "source_mib", f"is below {LEAST_SOURCE_MIB}", f"Write {LEAST_SOURCE_MIB} or more, or 0."
        )
    return value


def _compute(table: StrictTable, folder: Path) -> Compute:
    compute = Compute(
        dask=_dask(table, folder) if table.has("dask") else None,
        lanes=_between(table, "lanes", 1, 1, MAX_LANES),
    )
    for name in ("ca", "certificate", "key", "seconds"):  # whoever removes `dask` may leave the others there
        table.has(f"dask_{name}")
    table.close()
    return compute


def _dask(table: StrictTable, folder: Path) -> Dask:
    dask = Dask(
        address=_checked(table, "dask", _tls_address),
        ca=folder / table.text("dask_ca"),
        certificate=folder / table.text("dask_certificate"),
        key=folder / table.text("dask_key"),
        seconds=_between(table, "dask_seconds", 60, 1, 3600),
    )
    if not dask.address.port:
        raise table.fail("dask", "has port 0", "Write the port on which the scheduler listens.")
    return dask


def _tls_address(text: str) -> Address:
    scheme, separator, rest = text.partition("://")
    if scheme + separator != _TLS:
        raise ConfigError(
            f"{text[:300]!r} does not begin with {_TLS}, and over anything else than TLS no work is sent.",
            "Start scheduler and workers with --tls-ca-file, --tls-cert, --tls-key and --protocol tls, and "
            f"write the scheduler's address as {_TLS}host:port.",
        )
    return Address.parse(rest)


def _keepalive(table: StrictTable) -> Keepalive:
    usual = Keepalive()
    keepalive = Keepalive(
        seconds=_between(table, "seconds", usual.seconds, *_KEEPALIVE_SECONDS),
        timeout_seconds=_between(table, "timeout_seconds", usual.timeout_seconds, 1, 120),
    )
    table.close()
    return keepalive


def _peers(top: StrictTable, folder: Path) -> tuple[Peer, ...]:
    entries = top.raw("peers") if top.has("peers") else []
    if not isinstance(entries, list):
        raise top.fail("peers", "has to be a list of tables", "Write each peer below its own [[peers]].")
    peers = tuple(_peer(entry, number, folder, top.place) for number, entry in enumerate(entries, 1))
    names = [peer.name for peer in peers]
    for name in names:
        if names.count(name) > 1:
            raise top.fail("peers", f"names {name!r} twice", "Remove one of the two.")
    return peers


def _peer(entry: Any, number: int, folder: Path, place: str) -> Peer:
    table = StrictTable(entry, f"{place}, peer {number}", ConfigError)
    peer = Peer(
        name=_checked(table, "name", check_name),
        address=_checked(table, "address", Address.parse),
        pairing=folder / table.text("pairing"),
        pin=table.text("pin"),
    )
    if not peer.address.port:
        raise table.fail("address", "has port 0", "Write the port on which the peer listens.")
    table.close()
    return peer
