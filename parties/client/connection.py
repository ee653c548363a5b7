"""The connection to the running daemon, over the party's Unix socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

import grpc

from parties.config import load
from parties.errors import DaemonUnavailable, JobError
from parties.jobs.faults import METADATA, unpack
from parties.persons.roles import Act
from parties.persons.signer import Signs
from parties.pki.home import socket_path
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from parties.rpc.pb.duetto.v1 import control_pb2_grpc

CALL_SECONDS = 300.0
"""How long one call may take; submitting reads the local data and waits for the peer's checks."""

WAITED: Final = "The job has not ended within the time that was to be waited."
WAIT_ON: Final = "It goes on; wait again, or look at it with `duetto job show`."


class Connection:
    """Calls to the daemon of one party. Usable as a context manager.

    Args:
        config_path: the party's `duetto.toml` or its folder; looked for like `duetto --config` if None. Or
            the socket of a role, over which the daemon takes what that role may do.
        signer: signs what is done, where the party has a `persons.toml`; see `parties.persons.signer`.

    Raises:
        ConfigError: there is no configuration, or it is wrong.
    """

    def __init__(self, config_path: Path | str | None = None, signer: Signs | None = None) -> None:
        path = Path(config_path) if config_path is not None else None
        self._signer = signer
        if path is not None and path.is_socket():
            self.name, self.config_path, self._socket = str(path), path, path.absolute()
        else:
            config = load(path)
            self.name, self.config_path, self._socket = config.name, config.path, socket_path(config)
        # Not the connection of another client of this process, which would outlive the socket.
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channel = grpc.insecure_channel(f"unix:{self._socket}", options)
        self._stub: Any = control_pb2_grpc.ControlStub(self._channel)  # type: ignore[no-untyped-call]
        if self.config_path == path and path.is_socket():
            self.name = self.call("Status", pb.StatusRequest()).party

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def call(self, verb: str, request: Any, timeout: float = CALL_SECONDS) -> Any:
        """One call of the control service, which may take `timeout` seconds.

        Raises:
            DuettoError: what the daemon raised.
            DaemonUnavailable: it does not answer.
        """
        with self._translate_errors():
            return getattr(self._stub, verb)(request, timeout=timeout)

    def act(self, act: Act, digest: str, peer: str = "") -> pb.Act | None:
        """The signature under what is about to be asked of the daemon; None without a signer.

        Args:
            act: what it is.
            digest: about what, hexadecimal.
            peer: with or about which peer.
        """
        if self._signer is None:
            return None
        signed = self._signer.sign(self.name, act, digest, peer)
        return pb.Act(**asdict(signed))

    def stream(self, verb: str, request: Any, timeout: float | None) -> Iterator[Any]:
        """One call that is answered by a stream. Raises as `call`."""
        with self._translate_errors():
            yield from getattr(self._stub, verb)(request, timeout=timeout)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except grpc.RpcError as problem:
            metadata: Any = problem.trailing_metadata() or ()
            packed = dict(metadata).get(METADATA)
            if packed is not None:
                raise unpack(packed) from None
            if problem.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise JobError(WAITED, WAIT_ON, code="timeout") from None
            if problem.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise DaemonUnavailable(
                    f"The daemon of {self.name} is of another release, which does not know this command.",
                    "Start it again: `duetto party stop`, `duetto party start`.",
                ) from None
            raise DaemonUnavailable(
                f"The daemon of {self.name} does not answer at {self._socket}.",
                "Start it with `duetto party start`.",
            ) from None
