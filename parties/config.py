"""The configuration of a party: one TOML file, checked strictly, as frozen values.

Relative paths are taken from the folder of the file. Secrets are files in the party's home and never
stand in the configuration. There is no switch for TLS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from typing_extensions import override

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Inline, Item, Key, Length, Parse, UnfitError, Unread, Variants
from commons.settings.reader import read_declared
from commons.settings.table import StrictTable
from commons.settings.toml import read
from parties.errors import ConfigError
from parties.hooks import KINDS, MAX_HOOKS, AnyHook, check_hooks, choose
from parties.kept_pools import KeptPools, check_pools
from parties.memory import present_memory
from parties.oidc import Oidc
from parties.places import find
from parties.role_sockets import RoleSocket, check_sockets
from parties.stamp_settings import StampSettings
from smc.channel.message import MAX_LANES

LOG_LEVELS: Final = ("debug", "info", "warning", "error")

LOG_FORMATS: Final = ("plain", "json")

_FORMAT: Final = f"Write one of {', '.join(LOG_FORMATS)}."
_LEVEL: Final = f"Write one of {', '.join(LOG_LEVELS)}."

LANE_INBOX_BYTES: Final = 16 << 20
"""Room for what comes for a lane before its worker reads; with less, both sides could wait forever."""

LEAST_SOURCE_MIB: Final = 256
"""A process that reads sources takes about so much with its libraries."""

MAX_DRAIN_SECONDS: Final = 30 * 86400
"""For so long a daemon that is drained may wait for its jobs: as long as one may last."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
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

    @override
    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


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


def _parse_tls_address(text: str) -> Address:
    scheme, separator, rest = text.partition("://")
    if scheme + separator != _TLS:
        raise ConfigError(
            f"{text[:300]!r} does not begin with {_TLS}, and over anything else than TLS no work is sent.",
            "Start scheduler and workers with --tls-ca-file, --tls-cert, --tls-key and --protocol tls, and "
            f"write the scheduler's address as {_TLS}host:port.",
        )
    return Address.parse(rest)


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
        ask_seconds: pause between questions to a peer about a job that it has not decided or begun.
        source_mib: MiB that reading one source may take; 0 for half of all that there is.
        source_seconds: how long reading one source may take.
        drain_seconds: how long running jobs may take when the daemon is drained, unless it is told otherwise.
    """

    sessions: Annotated[int, Between(1, 64)] = 4
    message_seconds: Annotated[int, Between(1, 86400)] = 600
    job_seconds: Annotated[int, Between(1, MAX_DRAIN_SECONDS)] = 86400
    inbox_bytes: Annotated[int, Between(2 << 20, 4 << 30)] = 256 << 20
    wait_days: Annotated[int, Between(1, 3650)] = 14
    memory_mib: Annotated[int, Between(0, 1 << 24)] = 0
    reconnect_seconds: Annotated[int, Between(0, 3600)] = 120
    ask_seconds: Annotated[int, Between(1, 3600)] = 60
    source_mib: Annotated[int, Between(0, 1 << 24)] = 0
    source_seconds: Annotated[int, Between(1, 86400)] = 1800
    drain_seconds: Annotated[int, Between(1, MAX_DRAIN_SECONDS)] = 3600

    def __post_init__(self) -> None:
        if 0 < self.source_mib < LEAST_SOURCE_MIB:
            raise UnfitError(
                "source_mib", f"is below {LEAST_SOURCE_MIB}", f"Write {LEAST_SOURCE_MIB} or more, or 0."
            )

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

    seconds: Annotated[int, Between(2, 300)] = 20
    timeout_seconds: Annotated[int, Between(1, 120)] = 10


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

    address: Annotated[Address, Key("dask"), Parse(_parse_tls_address)]
    ca: Annotated[Path, Key("dask_ca")]
    certificate: Annotated[Path, Key("dask_certificate")]
    key: Annotated[Path, Key("dask_key")]
    seconds: Annotated[int, Key("dask_seconds"), Between(1, 3600)] = 60

    def __post_init__(self) -> None:
        if not self.address.port:
            raise UnfitError("dask", "has port 0", "Write the port on which the scheduler listens.")

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

    dask: Annotated[Dask | None, Inline(when="dask")] = None
    lanes: Annotated[int, Between(1, MAX_LANES)] = 1


@dataclass(frozen=True, slots=True)
class Peer:
    """A paired party.

    Attributes:
        name: its name.
        address: where its daemon listens.
        pairing: its pairing file.
        pin: the fingerprint of that file, as it was compared when pairing.
    """

    name: Annotated[str, Parse(check_name)]
    address: Annotated[Address, Parse(Address.parse)]
    pairing: Path
    pin: str

    def __post_init__(self) -> None:
        if not self.address.port:
            raise UnfitError("address", "has port 0", "Write the port on which the peer listens.")


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
        log_format: what a line of its log is, one of `LOG_FORMATS`.
        compute: where it computes.
        pools: what it keeps ready for later comparisons.
        oidc: whose accounts may come into the dashboard; None for links alone.
        on_event: who is told of events, and how.
        sockets: of roles, besides the control socket of this account.
        stamps: how the heads of ledger and audit log are stamped; None for not at all.
    """

    path: Annotated[Path, Unread()]
    name: Annotated[str, Key("party.name"), Parse(check_name)]
    listen: Annotated[Address, Key("listen.address"), Parse(Address.parse)]
    home: Annotated[Path, Key("party.home")] = Path()
    policy: Annotated[Path, Key("policy.file")] = Path("policy.toml")
    catalog: Annotated[Path, Key("catalog.file")] = Path("catalog.toml")
    limits: Limits = field(default_factory=Limits)
    keepalive: Keepalive = field(default_factory=Keepalive)
    peers: Annotated[tuple[Peer, ...], Item("peer")] = ()
    keep_results_days: Annotated[int, Key("jobs.keep_results_days"), Between(0, 36500)] = 0
    accept_renewals: Annotated[bool, Key("party.accept_renewals")] = False
    plugins: Annotated[tuple[str, ...], Key("plugins.analyses")] = ()
    metrics_port: Annotated[int, Key("metrics.port"), Between(0, 65535)] = 0
    log_level: Annotated[str, Key("log.level"), OneOf(LOG_LEVELS, _LEVEL)] = "info"
    log_format: Annotated[str, Key("log.format"), OneOf(LOG_FORMATS, _FORMAT)] = "plain"
    compute: Compute = field(default_factory=Compute)
    pools: tuple[KeptPools, ...] = ()
    oidc: Annotated[Oidc | None, Key("dashboard.oidc")] = None
    on_event: Annotated[
        tuple[AnyHook, ...], Item("on_event"), Length(0, MAX_HOOKS), Variants(KINDS, choose)
    ] = ()

    sockets: Annotated[tuple[RoleSocket, ...], Item("socket"), Length(0, 10)] = ()
    stamps: StampSettings | None = None

    def __post_init__(self) -> None:
        check_sockets(self.sockets)
        names = [peer.name for peer in self.peers]
        for name in names:
            if names.count(name) > 1:
                raise UnfitError("peers", f"names {name!r} twice", "Remove one of the two.")
        check_pools(self.pools, self.name, names)
        check_hooks(self.on_event)
        lanes, inbox = self.compute.lanes, self.limits.inbox_bytes
        if lanes > 1 and inbox < lanes * LANE_INBOX_BYTES:
            least = lanes * LANE_INBOX_BYTES
            raise ConfigError(
                f"{lanes} lanes need an inbox of {least} bytes; there is one of {inbox}.",
                f"Write inbox_bytes = {least} below [limits], or grant fewer lanes below [compute].",
            )
        if self.name in names:
            raise ConfigError(
                f"a peer has this party's name {self.name!r}.", "Correct its name, or remove it."
            )

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
    table = StrictTable(document, path.name, ConfigError, folder=path.parent)
    return read_declared(Config, table, path=path)
