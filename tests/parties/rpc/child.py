"""A party in a process of its own: takes settings from stdin, prints its port, misbehaves as asked.

In the job `harness.JOB` it behaves as its settings say; every behaviour is also a job of that name.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

from parties.config import Address, Keepalive
from parties.pki import Identity, PeerIdentity, certificate
from parties.ports.terms import Terms
from smc.channel.message import FRAME_BYTES, Frame
from smc.channel.vectors import ExpectedByteRows
from smc.forms import Role
from smc.protocols.session import Session
from tests.parties.rpc import harness
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.support import keys


def _echo(session: Session) -> None:
    got = session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
    session.channel.send(parcel(got.tobytes()))


def _signal_self(number: int) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
        os.kill(os.getpid(), number)
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    return run


def _bad_frame(frame: Frame) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
        session.channel._transport.send(frame)
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    return run


def _defect(session: Session) -> None:
    session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
    raise ZeroDivisionError("secret-canary")


def _cut(session: Session) -> None:
    session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
    session.channel._transport.close()


KIND = Parcel.kind()
BEHAVIOURS = {
    "echo": _echo,
    "die": _signal_self(signal.SIGKILL),
    "stall": _signal_self(signal.SIGSTOP),
    "defect": _defect,
    "cut": _cut,
    "too-large": _bad_frame(Frame(0, KIND, 2, SIZE, bytes(SIZE + 1))),
    "too-short": _bad_frame(Frame(0, KIND, 2, SIZE - 1, bytes(SIZE - 1))),
    "wrong-type": _bad_frame(Frame(0, "other-kind", 2, SIZE, bytes(SIZE))),
    "out-of-order": _bad_frame(Frame(1, KIND, 2, SIZE, bytes(SIZE))),
    "no-kind": _bad_frame(Frame(0, "no kind!", 2, SIZE, bytes(SIZE))),
    "impossible-depth": _bad_frame(Frame(0, KIND, 9, SIZE, bytes(SIZE))),
    "over-grpc-limit": _bad_frame(Frame(0, KIND, 2, 3 * FRAME_BYTES, bytes(3 * FRAME_BYTES))),
}


def _send_and(number: int) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        session.channel.send(parcel(bytes(SIZE)))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
        os.kill(os.getpid(), number)
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    return run


DIALLERS = {"dial-die": _send_and(signal.SIGKILL), "dial-stall": _send_and(signal.SIGSTOP)}


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    own = Identity(
        "south",
        settings["certificate"].encode(),
        settings["tls_key"].encode(),
        harness.SOUTH.signing,
        keys.real(Role.BOB),
    )
    north = PeerIdentity(
        "north", harness.NORTH.signing.public_key(), keys.real(Role.ALICE).public, settings["north"].encode()
    )
    terms = Terms(*settings["versions"]) if "versions" in settings else None
    keepalive = Keepalive(*settings["keepalive"]) if "keepalive" in settings else None
    if "port" in settings:
        print("port 0", flush=True)
        address = Address("127.0.0.1", settings["port"])
        with harness.dialling(own, north, address, keepalive=keepalive) as directory:
            directory.run_session("north", harness.task(Role.BOB, DIALLERS[settings["behaviour"]]))
        return
    at = settings.get("at", 0)
    with harness.listening(own, north, terms=terms, keepalive=keepalive, port=at) as party:
        party.jobs.tasks[harness.JOB] = harness.task(Role.BOB, BEHAVIOURS[settings["behaviour"]])
        for name, run in BEHAVIOURS.items():
            party.jobs.tasks[name] = harness.task(Role.BOB, run, job_id=name)
        print(f"port {party.server.address.port}", flush=True)
        # By turns north has another certificate besides, and so what TLS lets in is another list.
        others = itertools.cycle((certificate.make("north")[0], b""))
        for other in itertools.islice(others, settings.get("changes", 0)):
            party.server.set_peers({"north": replace(north, certificates=north.certificates + other)})
        print("changed", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
