"""The grid engine x bits x batch x network, measured, and the batches at which the planner switches."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from measuring import OUT, figure, guarded, machine, names, numbers, print_table, run, tell, write_json

from parties.bench.case import Case, usual_modulus
from parties.speed import slowdown
from smc.ciphers.keys import parse_size
from smc.errors import NoRouteError, UsageError
from smc.forms import ComparisonType
from smc.network import LOOPBACK, Network
from smc.planning.cost import estimate_seconds
from smc.planning.registry import BASELINES, ENGINES
from smc.planning.route import plan_comparison
from smc.protocols.spec import Parameters

AUTO: Final = "auto"
MAX_BATCH: Final = 1 << 20
RATES: Final = (1000.0, 100.0, 10.0)
SET_UP_SECONDS: Final = 3.0
"""About what keys, processes and inputs of one case take besides."""


@dataclass(frozen=True, slots=True)
class Link:
    """An emulated network.

    Attributes:
        rtt_ms: round-trip time; 0 is loopback.
        mbit: rate of each direction; 0 is that of loopback.
    """

    rtt_ms: float
    mbit: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `RTT` or `RTT/MBIT`."""
        rtt, _, rate = text.partition("/")
        link = cls(float(rtt), float(rate or 0))
        if not (0 <= link.rtt_ms <= 10_000 and 0 <= link.mbit < float("inf")):
            raise UsageError(f"{text!r} is not a network.", "Write RTT or RTT/MBIT, such as 20 or 20/100.")
        return link

    @property
    def network(self) -> Network:
        """As the planner is told of it."""
        return Network(self.rtt_ms or LOOPBACK.rtt_ms, self.mbit or LOOPBACK.mbit)

    def __str__(self) -> str:
        name = f"{self.rtt_ms:g} ms" if self.rtt_ms else "loopback"
        return f"{name}, {self.mbit:g} Mbit/s" if self.mbit else name


def links(text: str) -> list[Link]:
    """A list of networks, with commas."""
    return [Link.parse(part) for part in names(text)]


def parse() -> argparse.Namespace:
    """The options."""
    every = [engine for engine in ENGINES if engine != AUTO]
    parser = argparse.ArgumentParser(
        prog="engines",
        description="Measures comparisons by every engine between two processes over gRPC with mutual TLS, "
        "with networks emulated in the channel, and prints where the planner switches from one to another.",
        epilog="Cases are left out that the planner expects to take longer than --limit, and all that remain "
        "when --budget is spent.",
    )
    parser.add_argument("--engines", type=names, default=every, help=f"of {', '.join(every)}")
    parser.add_argument("--types", type=names, default=["PN-NP-SS"], help='XX-YY-DD or "type 1" to "type 8"')
    parser.add_argument("--bits", type=numbers, default=[32, 64], help="such as 32,64")
    parser.add_argument("--batches", type=numbers, default=[1, 1000, 100_000], help="such as 1,1000,100000")
    parser.add_argument(
        "--networks", type=links, default=links("0,1,20,100"), help="RTT or RTT/MBIT, such as 0,1,20/100"
    )
    parser.add_argument("--key", default="2048", help="2048, 3072, 4096 or paper-1024")
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs in one session, of which the median counts"
    )
    parser.add_argument(
        "--limit", type=float, default=12.0, help="most seconds that a run may be expected to take"
    )
    parser.add_argument("--budget", type=float, default=540.0, help="seconds after which no case begins")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder for JSON; {OUT}")
    given = parser.parse_args()
    unknown = sorted(set(given.engines) - set(every))
    if unknown:
        raise UsageError(f"There is no engine {unknown[0]!r}.", f"Choose of {', '.join(every)}.")
    if given.repeat < 1 or min(given.batches, default=0) < 1:
        raise UsageError("Nothing is to be run.", "Give --repeat and --batches of 1 or more.")
    given.types = [ComparisonType.parse(text) for text in given.types]
    given.key = parse_size(given.key)
    return given


def cases(given: argparse.Namespace) -> Iterator[Case]:
    """The grid: networks inside batches, so that small batches are through on all networks first."""
    for kind in given.types:
        for batch in given.batches:
            for bits in given.bits:
                for link in given.networks:
                    for engine in given.engines:
                        yield Case(
                            kind,
                            bits,
                            batch,
                            given.key,
                            engine,
                            usual_modulus(engine, bits),
                            rtt_ms=link.rtt_ms,
                            mbit=link.mbit,
                            repeat=given.repeat,
                            timeout=60 + 20 * given.limit * given.repeat,
                        )


def expected_seconds(case: Case) -> float:
    """What the planner expects of one run; infinite where it has no route."""
    try:
        cost = case.plan().cost(case.parameters)
    except NoRouteError:
        return float("inf")
    return estimate_seconds(cost, case.parameters, case.network, slowdown())


def measure_grid(given: argparse.Namespace) -> list[dict[str, Any]]:
    """All cases in their order; those left out say why."""
    until = time.monotonic() + given.budget
    found = []
    for case in cases(given):
        expected = expected_seconds(case)
        left_out = {**case.to_json(), "engine_asked": case.engine, "predicted_seconds": expected}
        if expected == float("inf"):
            found.append({**left_out, "predicted_seconds": None, "left_out": "no route"})
        elif expected > given.limit:
            found.append({**left_out, "left_out": "limit"})
        elif time.monotonic() + SET_UP_SECONDS + given.repeat * expected > until:
            found.append({**left_out, "left_out": "budget"})
        else:
            found.append(run(case))
    return found


def chosen(kind: ComparisonType, bits: int, batch: int, key_bits: int, network: Network) -> str:
    """The engine that the planner takes by itself."""
    plan = plan_comparison(
        kind,
        Parameters(batch, bits, key_bits, key_bits),
        engine=AUTO,
        network=network,
        x_modulus=usual_modulus(AUTO, bits),
        y_modulus=usual_modulus(AUTO, bits),
    )
    return plan.engine


def switches(kind: ComparisonType, bits: int, key_bits: int, network: Network) -> list[tuple[int, str]]:
    """From which batch on the planner takes which engine, up to `MAX_BATCH`.

    Powers of two are tried, and where two neighbours differ the place between them is found by halving.
    """

    def engine(batch: int) -> str:
        return chosen(kind, bits, batch, key_bits, network)

    places = [(1, engine(1))]
    batch = 1
    while batch < MAX_BATCH:
        after = engine(2 * batch)
        low, high = batch, 2 * batch
        while after != places[-1][1] and high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if engine(middle) == places[-1][1] else (low, middle)
        if after != places[-1][1]:
            places.append((high, after))
        batch *= 2
    return places


def print_grid(given: argparse.Namespace, found: Sequence[Mapping[str, Any]]) -> None:
    """One table per type and bits: seconds of a run by batch, network and engine."""
    for kind in given.types:
        for bits in given.bits:
            rows = []
            for batch in given.batches:
                for link in given.networks:
                    place = (str(kind), bits, batch, link.rtt_ms, link.mbit)
                    here = {c["engine_asked"]: c for c in found if _place(c) == place}
                    best = _fastest(here)
                    auto = chosen(kind, bits, batch, given.key, link.network)
                    cells = [_cell(here[engine], best) for engine in given.engines]
                    rows.append([f"{batch:,} at {link}", *cells, best or "-", auto])
            title = f"{kind}, {bits} bits, {given.key}-bit keys: seconds of a run (> is an estimate only)"
            print_table(title, ["", *given.engines, "fastest", "planner"], rows)


def _place(case: Mapping[str, Any]) -> tuple[str, int, int, float, float]:
    return case["type"], case["bits"], case["batch"], case["rtt_ms"], case["mbit"]


def _fastest(here: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The fastest engine among those that were measured, baselines aside."""
    times = {name: c["seconds"] for name, c in here.items() if "seconds" in c and name not in BASELINES}
    return min(times, key=lambda name: times[name]) if times else None


def _cell(case: Mapping[str, Any], best: str | None) -> str:
    if "seconds" in case:
        text = figure(case["seconds"])
        return f"**{text}**" if case["engine_asked"] == best else text
    if case.get("left_out") == "limit":
        return f"> {figure(case['predicted_seconds'])}"
    return str(case.get("left_out") or case["error"])


def print_traffic(given: argparse.Namespace, found: Sequence[Mapping[str, Any]]) -> None:
    """Rounds, bytes for one comparison and set-up, which the network does not change."""
    for kind in given.types:
        for bits in given.bits:
            rows = []
            for engine in given.engines:
                mine = [c for c in found if c["engine_asked"] == engine and "seconds" in c]
                mine = [c for c in mine if (c["type"], c["bits"]) == (str(kind), bits)]
                if mine:
                    large = max(mine, key=lambda c: c["batch"])
                    sent = large["payload_alice_to_bob"] + large["payload_bob_to_alice"]
                    fastest = min(c["setup_seconds"] for c in mine)
                    rows.append(
                        [engine, large["batch"], large["rounds"], sent / large["batch"], 1000 * fastest]
                    )
            head = ["", "batch", "rounds", "bytes of messages per comparison", "least set-up, ms"]
            print_table(f"{kind}, {bits} bits: traffic of the largest batch measured", head, rows)


def find_switches(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The planner's choices by network, at the rates asked for and at some lower ones."""
    found = []
    for kind in given.types:
        for bits in given.bits:
            rates = {link.mbit or RATES[0] for link in given.networks} | set(RATES)
            for rtt in sorted({link.network.rtt_ms for link in given.networks}):
                for mbit in sorted(rates, reverse=True):
                    places = switches(kind, bits, given.key, Network(rtt, mbit))
                    found.append(
                        {
                            "type": str(kind),
                            "bits": bits,
                            "rtt_ms": rtt,
                            "mbit": mbit,
                            "from": [{"batch": batch, "engine": engine} for batch, engine in places],
                        }
                    )
    return found


def print_switches(found: Sequence[Mapping[str, Any]]) -> None:
    """The batches at which the planner changes its mind."""
    rows = []
    for row in found:
        text = ", then ".join(f"{place['engine']} from {place['batch']:,}" for place in row["from"])
        rows.append([f"{row['type']}, {row['bits']} bits", row["rtt_ms"], row["mbit"], text])
    title = f"The planner's choice by batch, 1 to {MAX_BATCH:,} (loopback counts as {LOOPBACK.rtt_ms:g} ms)"
    print_table(title, ["", "ms", "Mbit/s", "engine"], rows)


def main() -> int:
    """Measure, print, write."""
    given = parse()
    start, where = time.monotonic(), machine()
    found = measure_grid(given)
    places = find_switches(given)
    print(f"{where['processor']}, {where['cores']} cores, load {where['load_at_start'][0]:.2f} at the start")
    print_grid(given, found)
    print_traffic(given, found)
    print_switches(places)
    seconds = time.monotonic() - start
    content = {"machine": where, "seconds": seconds, "cases": found, "planner": places}
    tell(f"\nwrote {write_json(given.out, 'engines.json', content)}")
    wrong = [case for case in found if case.get("wrong") or "error" in case]
    for case in wrong:
        tell(f"{case['engine_asked']}, {case['bits']} bits: {case.get('error') or 'wrong results'}")
    tell(f"{figure(seconds)} seconds in all")
    return 70 if wrong else 0


if __name__ == "__main__":
    sys.exit(guarded(main))
