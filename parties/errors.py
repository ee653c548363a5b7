"""The errors of the daemon and of its command line, below `smc.errors.DuettoError`.

Their exit statuses are in `parties.exits`.

    DuettoError
      ConfigError           the configuration file, or a file that it names
        KeysLocked          the private keys are under a passphrase that is not given
        TokenError          the token that holds the signing key does not sign
        DaemonUnavailable   the local daemon does not run or does not answer
      PairingError          a pairing file or a fingerprint
      DataError             a data set of the catalog
      PolicyError           refused by the local policy
        BudgetError         refused because the privacy budget is spent
      JobError              a job file, or a job in a state that does not allow what was asked
      StorageError          jobs or results cannot be kept: the disk is full, or the database is damaged
      ClockError            the clock of this machine is not one by which something may be deleted
      NoticeError           a notice of an event was not taken by whoever should get it
      StampError            the heads of ledger and audit log were not stamped, or a stamp is not genuine
      PoolError             prepared randomness that is damaged or was used before
      ClusterError          this party's Dask cluster does not do the work that it is given
        ClusterUnavailable  ... because it does not answer, or no worker is left
        ClusterMismatch     ... because it runs another release than this party
      PeerError
        PeerUnreachable     no connection
        PeerUntrusted       a connection, but not with the certificate that was paired
        VersionMismatch     the programs of the two sides do not speak the same version
        PeerRefused         the peer answered with a refusal and its code
          PeerBusy          ... because it has no room now

What a peer learns of an error is its stable code and nothing else.
"""

from __future__ import annotations

from smc.errors import DuettoError, PeerError


class ConfigError(DuettoError):
    """The configuration, or a file that it names, is wrong; correct the named place."""

    code = "config"


class KeysLocked(ConfigError):  # noqa: N818 - a state, not a fault
    """The keys are under a passphrase, which nobody has given; give it."""

    code = "keys-locked"


class TokenError(ConfigError):
    """The token with the signing key is not there or does not sign; plug it in, or start its service."""

    code = "token"


class DaemonUnavailable(ConfigError):  # noqa: N818 - a state, not a fault
    """The local daemon does not answer; start it with `duetto party start`."""

    code = "daemon-unavailable"


class PairingError(DuettoError):
    """A pairing file is malformed or not the one that was agreed on; ask the peer for a new one."""

    code = "pairing"


class DataError(DuettoError):
    """A data set does not hold what the catalog declares; correct the named row or the declaration."""

    code = "data"


class PolicyError(DuettoError):
    """The local policy does not allow it; change the named rule if it should."""

    code = "policy"


class BudgetError(PolicyError):
    """The privacy budget of the data set does not cover the job; it is never refunded."""

    code = "budget"


class JobError(DuettoError):
    """A job file is wrong, or a job is in a state that does not allow what was asked."""

    code = "job"
    advice = "See `duetto job show ID` for the state of the job, and submit it again if it should run."


class StorageError(DuettoError):
    """Jobs or results cannot be written or read; free space, or restore the database from a copy."""

    code = "storage"


class ClockError(DuettoError):
    """The clock of this machine has stepped, or is behind what was written; set it."""

    code = "clock"


class NoticeError(DuettoError):
    """A notice was not handed over; correct the hook, or what it calls."""

    code = "notice"


class StampError(DuettoError):
    """The service of time stamps has not stamped, or with something else than a genuine stamp."""

    code = "stamps"
    advice = "Look at `[stamps]` in duetto.toml, and try `duetto ledger stamp`."


class PoolError(DuettoError):
    """A pool of correlated randomness is damaged or was used before; prepare a new one."""

    code = "pool"


class ClusterError(DuettoError):
    """This party's Dask cluster does not do the work that it is given; `duetto doctor` looks at it."""

    code = "cluster"
    advice = "Run `duetto doctor`, which checks the cluster, and look at the logs of its workers."


class ClusterUnavailable(ClusterError):  # noqa: N818 - a state, not a fault
    """The Dask cluster does not answer, or has no worker left; start it, or do without."""

    code = "cluster-unavailable"
    advice = (
        "Start its scheduler and workers, or remove dask from [compute] in duetto.toml and restart the "
        "daemon; then submit the job again."
    )


class ClusterMismatch(ClusterError):  # noqa: N818
    """Scheduler or workers of the Dask cluster run another release; install the same one everywhere."""

    code = "cluster-version"
    advice = "Install the same releases on scheduler, workers and this machine, and restart them."


class PeerUnreachable(PeerError):  # noqa: N818 - a state, not a fault
    """No connection to the peer comes about; start its daemon or correct its address."""

    code = "peer-unreachable"


class PeerUntrusted(PeerError):  # noqa: N818
    """One side does not accept the other's certificate; pair the two parties again."""

    code = "peer-untrusted"


class VersionMismatch(PeerError):  # noqa: N818
    """The two programs do not speak the same version; install the same release on both sides."""

    code = "version"


class PeerRefused(PeerError):  # noqa: N818
    """The peer said no and gave a code; its own log has the reason."""

    code = "peer-refused"


class PeerClosed(PeerError):  # noqa: N818 - a state, not a fault
    """Nothing is run with this peer until a person opens it again; see `parties.closed_peers`."""

    code = "peer-closed"


class PeerBusy(PeerRefused):
    """The peer, or this daemon, runs as many sessions as it allows; try again later."""

    code = "busy"
