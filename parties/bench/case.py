"""What is measured: a comparison type under public parameters, the same for both processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smc.forms import ComparisonType, Role
from smc.moduli import Modulus, parse_modulus
from smc.network import LOOPBACK, Network
from smc.planning.plan import Plan
from smc.planning.registry import DEFAULT_ENGINE
from smc.planning.route import plan_comparison
from smc.protocols.spec import Parameters

_WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how often something is measured.

    Attributes:
        rtt_ms: emulated round-trip time; 0 is that of loopback.
        mbit: emulated rate of each direction in 10**6 bits per second; 0 is that of loopback.
        repeat: runs in the same session.
        timeout: seconds after which connecting and running are given up.
        lanes: into how many parts large batches are cut.
    """

    rtt_ms: float = 0.0
    mbit: float = 0.0
    repeat: int = 1
    timeout: float = 600.0
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """A benchmark of comparisons.

    Attributes:
        type: the comparison type.
        bits: bit bound of x and y.
        batch: comparisons in one run.
        key_bits: size of both Paillier keys.
        engine: one of `smc.planning.registry.ENGINES`.
        modulus: of the shares of x and y, where these are shared.
        delta_modulus: of the shares of delta, where it is shared; 2 is XOR.
        rtt_ms: emulated round-trip time; 0 is that of loopback.
        mbit: emulated rate of each direction in 10**6 bits per second; 0 is that of loopback.
        repeat: runs in the same session.
        timeout: seconds after which connecting and running are given up.
        pool: whether all runs compare out of a pool that was filled before, as in idle time.
        lanes: into how many parts large batches are cut.
    """

    type: ComparisonType
    bits: int
    batch: int
    key_bits: int
    engine: str
    modulus: Modulus
    delta_modulus: Modulus = 2
    rtt_ms: float = 0.0
    mbit: float = 0.0
    repeat: int = 1
    timeout: float = 600.0
    pool: bool = False
    lanes: int = 1

    @property
    def parameters(self) -> Parameters:
        """The public parameters of one run."""
        return Parameters(self.batch, self.bits, self.key_bits, self.key_bits)

    @property
    def setting(self) -> Setting:
        """The link, repetitions and timeout."""
        return Setting(self.rtt_ms, self.mbit, self.repeat, self.timeout, self.lanes)

    @property
    def network(self) -> Network:
        """The link that the planner plans for."""
        return Network(self.rtt_ms or LOOPBACK.rtt_ms, self.mbit or LOOPBACK.mbit)

    def plan(self) -> Plan:
        """The route.

        Raises:
            NoRouteError: there is none with this engine and modulus.
            DomainError: the bits are out of range.
        """
        return plan_comparison(
            self.type,
            self.parameters,
            engine=self.engine,
            network=self.network,
            x_modulus=self.modulus,
            y_modulus=self.modulus,
            delta_modulus=self.delta_modulus,
        )

    def to_json(self) -> dict[str, Any]:
        """The case as plain JSON values."""
        return {
            "type": str(self.type),
            "bits": self.bits,
            "batch": self.batch,
            "key_bits": self.key_bits,
            "engine": self.engine,
            "modulus": modulus_name(self.modulus),
            "delta_modulus": modulus_name(self.delta_modulus),
            "rtt_ms": self.rtt_ms,
            "mbit": self.mbit,
            "repeat": self.repeat,
            "timeout": self.timeout,
            "pool": self.pool,
            "lanes": self.lanes,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Case:
        """The case that `to_json` wrote."""
        moduli = {name: parse_modulus(fields[name]) for name in ("modulus", "delta_modulus")}
        return cls(**{**fields, "type": ComparisonType.parse(fields["type"]), **moduli})

    @property
    def digest(self) -> bytes:
        """SHA-256 of the case and its route, by which the two processes see that they measure the same."""
        text = json.dumps([self.to_json(), self.plan().digest], sort_keys=True)
        return hashlib.sha256(b"duetto bench\0" + text.encode()).digest()


def modulus_name(modulus: Modulus) -> str:
    """A modulus as `smc.protocols.spec.parse_modulus` reads it."""
    return modulus.value if isinstance(modulus, Role) else str(modulus)


def usual_modulus(engine: str, bits: int) -> Modulus:
    """The modulus of shared inputs where nobody names one.

    Alice's Paillier N for the engine of the thesis; for the others 2**64, if it holds the numbers.
    """
    return 1 << _WORD_BITS if engine != DEFAULT_ENGINE and bits <= _WORD_BITS else Role.ALICE
