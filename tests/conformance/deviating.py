"""Runs in which one side changes a message on its way out, and what becomes of the other side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.channel.channel import Channel
from smc.channel.message import KINDS, Message
from smc.errors import DuettoError
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.oblivious import base_ot
from smc.pair import run_pair
from tests.support.dealt import dealing
from tests.support.small_jobs import wire_runs

BASELINE = Path(__file__).parents[2] / "proto" / "wire.json"
_SILENT, _SILENT_PROOF = "smc.oblivious.silent", "silent-answer"
_KEPT = "job matching, kept in shares"
UNOPENED: Mapping[str, Network | None] = {
    "comparison oblivious oblivious": None,
    "comparison silent silent": None,
    "job comparison, shares modulo 2^64": None,
    _KEPT: Network(rtt_ms=20, mbit=1),
}
"""Runs that open nothing, since what they give stays in shares, and the link that each is planned for."""

SECONDS = 30.0
"""How long a side waits for a message: a hang ends so, and fails a test by its time."""


class Outcome(Enum):
    """What became of the side that did not deviate."""

    ERROR = "error"
    """It ended with an error of duetto's own kinds."""

    SAME = "same"
    """It has what it has in an honest run: the change is harmless to it."""

    OTHER = "other"
    """It has another result. The level of the protocol (`Record.against`) does not protect results."""


def bit(body: bytes) -> list[bytes]:
    """One bit in the middle is another one."""
    place = len(body) // 2
    return [body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]]


def word(body: bytes) -> list[bytes]:
    """Eight bytes in the middle are inverted, or all if there are fewer."""
    start = max(0, len(body) // 2 - 4)
    changed = bytes(byte ^ 255 for byte in body[start : start + 8])
    return [body[:start] + changed + body[start + 8 :]]


def zeros(body: bytes) -> list[bytes]:
    """Nothing but zeros."""
    return [bytes(len(body))]


def again(body: bytes) -> list[bytes]:
    """The message goes out twice."""
    return [body, body]


DEVIATIONS: Mapping[str, Callable[[bytes], list[bytes]]] = {
    deviation.__name__: deviation for deviation in (bit, word, zeros, again)
}


class Deviating:
    """A channel that changes the first message of a kind, and knows which kinds it has sent.

    Args:
        channel: the honest one.
        kind: of the message.
        deviation: gives the bodies that are sent in its place.
    """

    def __init__(self, channel: Channel, kind: str, deviation: Callable[[bytes], list[bytes]]) -> None:
        self._channel, self._kind, self._deviation = channel, kind, deviation
        self.is_done = False
        self.kinds: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def send(self, message: Message) -> None:
        """Send what the deviation gives; each message is encoded once, as a ciphertext leaves only once."""
        kind = message.kind()
        self.kinds.add(kind)
        if kind != self._kind or self.is_done:
            self._channel.send(message)
            return
        self.is_done = True
        for body in self._deviation(message.encode()):
            self._channel.send(_Encoded(kind, body))  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Encoded:
    name: str
    body: bytes

    def kind(self) -> str:
        """Of the message."""
        return self.name

    def is_hidden(self) -> bool:
        """The peer that is played does not ask."""
        return True

    def encode(self) -> bytes:
        """The changed body."""
        return self.body


@dataclass(frozen=True)
class Example:
    """The smallest run in which a kind of message is sent.

    Attributes:
        run: its name.
        sender: who sends it first there.
    """

    run: str
    sender: Role


@cache
def examples() -> Mapping[str, Example]:
    """For every kind of message that runs of the wire's baseline send, from the baseline.

    Of silent transfers, where there is one, a run that opens something, before which they are checked.
    """
    found: dict[str, tuple[tuple[bool, int], Example]] = {}
    for name, sides in json.loads(BASELINE.read_text(encoding="utf-8"))["runs"].items():
        whole = sum(size for side in sides.values() for _, size in side["kinds"].values())
        is_checked = any(_SILENT_PROOF in side["kinds"] for side in sides.values())
        for sender, side in sides.items():
            for kind in side["kinds"]:
                is_silent = KINDS.get(kind, "").startswith(_SILENT)
                offer = (is_silent and not is_checked, whole), Example(name, Role(sender))
                found[kind] = min(found.get(kind, offer), offer, key=lambda each: each[0])
    return {kind: example for kind, (_, example) in found.items()}


@cache
def honest(run: str, *, is_dealt: bool = True) -> Mapping[Role, bytes]:
    """What both sides have after an honest run, with base transfers from a dealer or real ones."""
    results, errors, _ = deviating(run, None, "", bit, is_dealt=is_dealt)
    assert not errors
    return results


@cache
def kinds_sent(run: str) -> Mapping[Role, frozenset[str]]:
    """The kinds of messages of each side in an honest run."""
    return deviating(run, None, "", bit)[2]


def outcome(kind: str, deviation: Callable[[bytes], list[bytes]]) -> tuple[Outcome, Any]:
    """What becomes of the receiver of a message that was changed.

    Returns:
        The outcome, and the error if there is one, of whatever kind.
    """
    example = examples()[kind]
    victim = example.sender.other
    is_dealt = KINDS.get(kind, "").rpartition(".")[0] != base_ot.__name__
    results, errors, _ = deviating(example.run, example.sender, kind, deviation, is_dealt=is_dealt)
    if victim in errors:
        return Outcome.ERROR, errors[victim]
    same = results[victim] == honest(example.run, is_dealt=is_dealt)[victim]
    return (Outcome.SAME if same else Outcome.OTHER), None


def deviating(
    name: str,
    sender: Role | None,
    kind: str,
    deviation: Callable[[bytes], list[bytes]],
    *,
    is_dealt: bool = True,
) -> tuple[dict[Role, bytes], dict[Role, BaseException], dict[Role, frozenset[str]]]:
    """A run whose first message of a kind from a sender is changed; None for an honest one.

    Returns:
        What sides have by their program before they end, the errors of those that ended with one, and the
        kinds that each has sent.
    """
    run = _run(name)
    results: dict[Role, bytes] = {}
    errors: dict[Role, BaseException] = {}
    channels: dict[Role, Deviating] = {}

    def side(session: Any) -> None:
        role = session.role
        channels[role] = session.channel = Deviating(
            session.channel, kind if role is sender else "", deviation
        )
        try:
            results[role] = plain(run.side(session))
        except BaseException as error:
            errors[role] = error
            raise

    sources = tuple(Randomness.from_seed(name.encode(), role.value) for role in Role)
    try:
        with contextmanager(dealing)() if is_dealt else nullcontext():
            run_pair(
                side,
                side,
                keys=wire_runs().KEYS,
                randomness=(sources[0], sources[1]),
                workers=1,
                timeout=SECONDS,
                network=UNOPENED.get(name),
            )
    except DuettoError as error:
        # What the deviating side does with the answer is its own affair; an error after all results, such
        # as a message that nobody has read, is one of whoever has not ended before.
        for role in Role:
            if role is not sender and role not in errors:
                errors[role] = error
    except Exception:
        pass
    assert sender is None or channels[sender].is_done
    return results, errors, {role: frozenset(channel.kinds) for role, channel in channels.items()}


def _run(name: str) -> Any:
    """A run of the baseline, or of `UNOPENED`; jobs are made anew, as they keep pools."""
    if name == _KEPT:
        return wire_runs().Run(name, _matched)
    return _kept(name) if not name.startswith("job ") else _named(wire_runs().analyses(), name)


@cache
def _kept(name: str) -> Any:
    return _named(wire_runs().every_run(), name)


def _matched(session: Any) -> Any:
    """A matching whose figures stay in shares, of so many rows that it takes silent transfers."""
    count = 2500
    first = count // 2 * (session.role is Role.BOB)
    columns = {"card": Column([str(number) for number in range(first, first + count)], Schema("text"))}
    if session.role is Role.BOB:
        columns["cost"] = Column(np.arange(count), Schema("integer", lower=0, upper=count))
    asked = {"method": "exact", "keys": ["card"], "output": "shares"}
    study = ANALYSES["matching"].parse(asked | {"values": [{"side": "bob", "column": "cost"}]})
    return run_study(study, session, columns, frozenset(Role), Limits(0).of_both)


def _named(runs: Iterable[Any], name: str) -> Any:
    found = next((run for run in runs if run.name == name), None)
    if found is None:
        pytest.fail(
            f"No run is called {name!r}: give the job a section in docs/analyses.md, as CONTRIBUTING.md says."
        )
    return found


def plain(value: Any) -> bytes:
    """A result as bytes, equal where it is."""
    return b"\0".join(_parts(value))


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, np.ndarray):
        yield repr((value.shape, value.dtype.str)).encode()
        yield value.tobytes()
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield repr(key).encode()
            yield from _parts(each)
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for each in value:
            yield from _parts(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    else:
        yield repr(value).encode()
