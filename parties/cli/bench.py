"""`duetto bench`: measure comparisons between two processes over the real network stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from commons.exits import INTERNAL
from parties.bench.case import Case, usual_modulus
from parties.bench.measurement import measure
from parties.cli.options import Finite, Listing
from parties.cli.output import Screen, emit, json_option, table, talk
from smc.channel.message import MAX_LANES
from smc.ciphers.keys import parse_size
from smc.forms import ComparisonType
from smc.moduli import parse_modulus
from smc.planning.registry import DEFAULT_ENGINE, ENGINES
from smc.planning.route import MAX_BITS


@click.group(cls=Listing)
def bench() -> None:
    """Measure protocols on this machine, on made-up inputs; no daemon takes part."""


@bench.command()
@click.option(
    "--type", "kind", default="SS-SS-SS", show_default=True, help='XX-YY-DD or "type 1" to "type 8".'
)
@click.option("--bits", default=32, show_default=True, type=click.IntRange(1, MAX_BITS), help="Of x and y.")
@click.option("--batch", default=100, show_default=True, type=click.IntRange(1), help="Comparisons in a run.")
@click.option(
    "--key",
    default="2048",
    show_default=True,
    help="Bits of both Paillier keys: 2048, 3072, 4096 or paper-1024. The last is for repeating the tables "
    "of papers and allowed here only, where inputs are made up; daemons refuse such keys.",
)
@click.option("--engine", default=DEFAULT_ENGINE, show_default=True, type=click.Choice(ENGINES))
@click.option(
    "--modulus",
    help="Of shared inputs: alice, bob (their Paillier N), 2^64 or a number. Unless given: alice with engine "
    f"{DEFAULT_ENGINE} or beyond 64 bits, else 2^64.",
)
@click.option(
    "--delta-modulus",
    default="2",
    show_default=True,
    help="Of shared results: 2 (XOR shares), alice, bob, 2^64 or a number.",
)
@click.option("--rtt-ms", default=0.0, type=Finite(0, 10_000), help="Emulated round-trip time.")
@click.option("--mbit", default=0.0, type=Finite(0), help="Emulated rate of each direction, Mbit/s.")
@click.option(
    "--repeat", default=1, show_default=True, type=click.IntRange(1, 1000), help="Runs in one session."
)
@click.option(
    "--timeout",
    default=3600.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Seconds for connecting and running.",
)
@click.option(
    "--lanes",
    default=1,
    show_default=True,
    type=click.IntRange(1, MAX_LANES),
    help="Parts of a large batch, each worked on by a process of its own on either side.",
)
@click.option("--pool", is_flag=True, help="Compare out of a pool that was filled before.")
@json_option
def comparison(
    kind: str,
    bits: int,
    batch: int,
    key: str,
    engine: str,
    modulus: str | None,
    delta_modulus: str,
    rtt_ms: float,
    mbit: float,
    repeat: int,
    timeout: float,
    lanes: int,
    pool: bool,
    as_json: bool,
) -> None:
    """Compare a batch of made-up pairs between two processes over gRPC with mutual TLS on loopback.

    "seconds" is the time of a run from its start on both sides to the result on both sides, tables that the
    ciphers build included; the median if --repeat is above 1. "setup_seconds" is connecting, handshake and
    base transfers. Making keys and inputs and checking results is in neither. Bytes are those of the packets
    handed to gRPC, "payload" those of the messages in them. The emulated link delays the packets of the
    session, not those of connecting. Every result is compared with the plain one; "wrong" counts those that
    differ, and if there are any the exit status is 70. With --pool, filling it is in neither time, and
    predictions are those without one.
    """
    case = Case(
        type=ComparisonType.parse(kind),
        bits=bits,
        batch=batch,
        key_bits=parse_size(key),
        engine=engine,
        modulus=parse_modulus(modulus) if modulus else usual_modulus(engine, bits),
        delta_modulus=parse_modulus(delta_modulus),
        rtt_ms=rtt_ms,
        mbit=mbit,
        repeat=repeat,
        timeout=timeout,
        pool=pool,
        lanes=lanes,
    )
    found = measure(case, talk)
    emit(found, lambda out: _print(out, found), as_json=as_json)
    if found["wrong"]:
        raise SystemExit(INTERNAL)


def _print(out: Screen, found: Mapping[str, Any]) -> None:
    link = [f"{found[name]:g} {unit}" for name, unit in (("rtt_ms", "ms"), ("mbit", "Mbit/s")) if found[name]]
    title = (
        f"{found['batch']} x {found['type']}, {found['bits']} bits, {found['key']}-bit keys, "
        f"{', '.join(link) or 'loopback'}"
    )
    rows = [
        ("seconds", f"{found['seconds']:.4g}", f"{found['predicted_seconds']:.4g}"),
        ("set-up seconds", f"{found['setup_seconds']:.4g}", None),
        ("comparisons per second", f"{found['per_second']:,.4g}", None),
        ("rounds", found["rounds"], found["predicted_rounds"]),
        ("payload Alice to Bob", found["payload_alice_to_bob"], found["predicted_payload_alice_to_bob"]),
        ("payload Bob to Alice", found["payload_bob_to_alice"], found["predicted_payload_bob_to_alice"]),
        ("bytes Alice to Bob", found["bytes_alice_to_bob"], None),
        ("bytes Bob to Alice", found["bytes_bob_to_alice"], None),
        ("wrong results", found["wrong"], 0),
    ]
    out.print(table(title, ("figure", "measured", "predicted"), rows))
    out.print(f"engine {found['engine']}; route: {found['route']}")


COMMANDS: tuple[click.Command, ...] = (bench,)
