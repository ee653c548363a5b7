"""`duetto types`: the 216 comparison types, each with its route, cost and who learns what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from parties.cli.options import Finite
from parties.cli.output import Screen, emit, json_option, table
from smc.ciphers.keys import parse_size
from smc.forms import NAMED, ComparisonType, Role, all_types
from smc.moduli import parse_modulus
from smc.network import LAN, Network
from smc.planning.cost import estimate_seconds
from smc.planning.registry import DEFAULT_ENGINE, ENGINES
from smc.planning.route import plan_comparison
from smc.protocols.spec import Parameters


@click.command("types")
@click.argument("names", nargs=-1, metavar="[TYPE]...")
@click.option("--bits", default=32, show_default=True, help="Bit bound of x and y, 1 to 128.")
@click.option("--key", default="2048", show_default=True, help="Size of the Paillier keys.")
@click.option("--engine", default=DEFAULT_ENGINE, show_default=True, type=click.Choice(ENGINES))
@click.option("--modulus", default="alice", show_default=True, help="Of shared inputs: alice, bob or 2^64.")
@click.option(
    "--rtt-ms",
    default=LAN.rtt_ms,
    show_default=True,
    type=Finite(0, 1e9),
    help="Round-trip time of the network.",
)
@click.option(
    "--mbit",
    default=LAN.mbit,
    show_default=True,
    type=Finite(1e-9),
    help="Bandwidth of the network, Mbit/s.",
)
@json_option
def types(
    names: tuple[str, ...],
    bits: int,
    key: str,
    engine: str,
    modulus: str,
    rtt_ms: float,
    mbit: float,
    as_json: bool,
) -> None:
    """Print the table of comparison types: route, rounds, bytes and operations per comparison.

    TYPE is XX-YY-DD or a name such as "type 1"; without one, all 216 are printed.
    """
    size = parse_size(key)
    given = Parameters(1, bits, size, size)
    shares = parse_modulus(modulus)
    kinds = [ComparisonType.parse(name) for name in names] or list(all_types())
    rows = []
    for kind in kinds:
        plan = plan_comparison(
            kind, given, engine=engine, network=Network(rtt_ms, mbit), x_modulus=shares, y_modulus=shares
        )
        cost = plan.cost(given)
        rows.append(
            {
                "type": str(kind),
                "name": kind.name,
                "trivial": kind.is_trivial,
                "route": plan.route,
                "engine": plan.engine,
                "rounds": cost.rounds,
                "bytes_alice_to_bob": cost.alice_bytes,
                "bytes_bob_to_alice": cost.bob_bytes,
                "operations_alice": dict(cost.alice_operations),
                "operations_bob": dict(cost.bob_operations),
                "learns": learns(kind),
                "seconds": estimate_seconds(cost, given, Network(rtt_ms, mbit)),
            }
        )
    data = {"bits": bits, "key": size, "engine": engine, "modulus": modulus, "types": rows}
    emit(data, lambda out: _print(out, data), as_json=as_json)


def learns(kind: ComparisonType) -> dict[str, str]:
    """What each party learns from a comparison of this type, by role."""
    return {role.value: "delta" if role in kind.delta.sees else "nothing" for role in Role}


def _operations(operations: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(operations.items())) or "-"


def _learners(learns: Mapping[str, str]) -> str:
    return ", ".join(role.capitalize() for role, what in learns.items() if what == "delta") or "nobody"


def _print(out: Screen, data: Mapping[str, Any]) -> None:
    heads = ("type", "rounds", "bytes", "operations of Alice", "of Bob", "learn x >= y", "route")
    rows = [
        (
            f"{row['type']}{' = ' + row['name'] if row['name'] else ''}",
            row["rounds"],
            row["bytes_alice_to_bob"] + row["bytes_bob_to_alice"],
            _operations(row["operations_alice"]),
            _operations(row["operations_bob"]),
            _learners(row["learns"]),
            row["route"],
        )
        for row in data["types"]
    ]
    title = f"{len(rows)} types, {data['bits']} bits, {data['key']}-bit keys, engine {data['engine']}"
    out.print(table(title, heads, rows))
    out.print(f"Per comparison; * marks a mirrored step. {len(NAMED)} types have names.")


COMMANDS = (types,)
