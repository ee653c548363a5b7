"""Tables 8.1 to 8.3 and the data of figures 8.4 and 8.5 of the thesis, measured, beside what it prints."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from measuring import OUT, figure, guarded, machine, names, numbers, print_table, run, tell, write_json
from printed import BITS, INITIAL_MS, LABELS, STEPS_MS, TOTAL_KB, TOTAL_MS
from route_steps import time_steps

from parties.bench.case import Case
from smc.ciphers.keys import PrivateKey, generate
from smc.errors import UsageError
from smc.forms import ComparisonType, Role
from smc.numeric.random import Randomness
from smc.planning.registry import BASELINES, DEFAULT_ENGINE, ENGINES

PAPER: Final = 1024
TYPE: Final = ComparisonType.parse("type 1")
MASKS_UNTIL_TABLE: Final = 64
"""By then `smc.ciphers.masks` has made its table."""
KEYS_MADE: Final = {PAPER: 9}
STEPS: Final = {
    "step 1": "Step 1 (shared to encrypted)",
    "step 2": "Step 2 (Conversion 5 with what is inside)",
    "step 2, inner": "Step 2 (type 3 inside)",
    "step 2, outer": "Step 2 (Conversion 5 without it)",
    "step 3": "Step 3 (Conversion 4)",
}

Found = Mapping[tuple[int, str, int], Mapping[str, Any]]
"""Figures by key size, engine and bits."""


def label(engine: str) -> str:
    """How the tables call an engine."""
    return LABELS.get(engine, engine)


def usual_engines() -> list[str]:
    """The thesis's protocol, the baselines, and the one on DGK's cipher if there is such an engine."""
    baselines = [engine for engine in LABELS if engine in BASELINES]
    return [DEFAULT_ENGINE, *baselines, *(["dgk"] if "dgk" in ENGINES else [])]


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="thesis_tables",
        description="Measures one comparison of type 1 between two processes over gRPC with mutual TLS on "
        "loopback, and prints Tables 8.1 to 8.3 and the data of figures 8.4 and 8.5 of the thesis.",
        epilog="Up to ten minutes on two cores as it stands; `--keys 1024` takes about two.",
    )
    parser.add_argument("--bits", type=numbers, default=list(BITS), help="such as 5,10,25,50,100")
    parser.add_argument("--keys", type=numbers, default=[PAPER, 3072], help="such as 1024,3072")
    parser.add_argument("--engines", type=names, default=usual_engines(), help=f"of {', '.join(ENGINES)}")
    parser.add_argument(
        "--repeat", type=int, help="runs of each; 10 with 1024-bit keys as the thesis, else 3"
    )
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder for JSON and PNG; {OUT}")
    parser.add_argument("--no-plots", action="store_true", help="write no PNG")
    given = parser.parse_args()
    unknown = sorted(set(given.engines) - set(ENGINES))
    if unknown:
        raise UsageError(f"There is no engine {unknown[0]!r}.", f"Choose of {', '.join(ENGINES)}.")
    if given.repeat is not None and given.repeat < 1:
        raise UsageError("Nothing is to be run.", "Give --repeat 1 or more.")
    return given


def repeats(given: argparse.Namespace, key_bits: int) -> int:
    """How many runs count."""
    return int(given.repeat or (10 if key_bits == PAPER else 3))


def warm_up(engine: str, bits: int, key_bits: int) -> int:
    """How many runs a session needs until both ciphers have made the tables for their masks.

    They make them when they have drawn so many masks that a table pays.
    """
    case = Case(TYPE, bits, 1, key_bits, engine, Role.ALICE)
    cost = case.plan().cost(case.parameters)
    counts = [
        sum(n for name, n in operations.items() if name.endswith("mask"))
        for operations in (cost.alice_operations, cost.bob_operations)
    ]
    return -(-MASKS_UNTIL_TABLE // max(1, min(counts)))


def measure_all(given: argparse.Namespace) -> Found:
    """All engines by all sizes."""
    return {
        (key_bits, engine, bits): measure_one(
            engine, bits, key_bits, warm_up(engine, bits, key_bits), repeats(given, key_bits)
        )
        for key_bits in given.keys
        for engine in given.engines
        for bits in given.bits
    }


def measure_one(engine: str, bits: int, key_bits: int, skip: int, repeat: int) -> dict[str, Any]:
    """One engine at one size; adds `ms` and `warm_up_ms` to the figures.

    `ms` is the median of the runs after the first `skip`; `warm_up_ms` is what these took longer in all.
    """
    found = run(Case(TYPE, bits, 1, key_bits, engine, Role.ALICE, repeat=skip + repeat))
    if "seconds_of_runs" in found:
        times = [1000 * seconds for seconds in found["seconds_of_runs"]]
        median = statistics.median(times[skip:])
        found |= {"ms": median, "warm_up_ms": sum(times[:skip]) - skip * median, "warm_up_runs": skip}
    return found


def make_keys(key_bits: int) -> tuple[tuple[PrivateKey, PrivateKey], float]:
    """Two keys, and the milliseconds that one takes (a median)."""
    times, keys = [], []
    for _ in range(KEYS_MADE.get(key_bits, 3)):
        start = time.perf_counter()
        keys.append(generate(key_bits, Randomness()))
        times.append(1000 * (time.perf_counter() - start))
    return (keys[0], keys[1]), statistics.median(times)


def milliseconds(found: Mapping[str, Any]) -> float | None:
    """The median time of a run when the tables are made."""
    return found.get("ms")


def first_milliseconds(found: Mapping[str, Any]) -> float | None:
    """The time of the first run of a session."""
    return 1000 * found["seconds_of_runs"][0] if "seconds_of_runs" in found else None


def kilobytes(found: Mapping[str, Any]) -> float | None:
    """Message bodies of both directions, 10**3 bytes."""
    if "rounds" not in found:
        return None
    return (found["payload_alice_to_bob"] + found["payload_bob_to_alice"]) / 1000


def packet_kilobytes(found: Mapping[str, Any]) -> float | None:
    """The packets that carried them."""
    if "rounds" not in found:
        return None
    return (found["bytes_alice_to_bob"] + found["bytes_bob_to_alice"]) / 1000


def initialisation(
    given: argparse.Namespace, found: Found, key_ms: Mapping[int, float]
) -> list[dict[str, Any]]:
    """The rows of Table 8.3."""
    rows = []
    for key_bits in given.keys:
        for engine in given.engines:
            cases = [found[key_bits, engine, bits] for bits in given.bits]
            setups = [1000 * case["setup_seconds"] for case in cases if "ms" in case]
            tables = [max(0.0, case["warm_up_ms"]) for case in cases if "ms" in case]
            rows.append(
                {
                    "key_bits": key_bits,
                    "engine": engine,
                    "one_key_ms": key_ms[key_bits],
                    "setup_ms": statistics.median(setups) if setups else None,
                    "tables_ms": statistics.median(tables) if tables else None,
                    "thesis_ms": INITIAL_MS.get(engine) if key_bits == PAPER else None,
                }
            )
    return rows


def print_total(given: argparse.Namespace, found: Found) -> None:
    """Table 8.1."""
    head = ["", *(f"{bits} bit" for bits in given.bits)]
    rows: list[list[object]] = [["thesis, 1024-bit key: ms", *(TOTAL_MS.get(bits) for bits in given.bits)]]
    ours = [(k, [found[k, DEFAULT_ENGINE, b] for b in given.bits]) for k in given.keys]
    for key_bits, cases in ours:
        rows += [[f"ours, {key_bits}-bit key: ms", *map(milliseconds, cases)]]
        rows += [[f"ours, {key_bits}-bit key: ms, first in a session", *map(first_milliseconds, cases)]]
    rows += [["thesis, 1024-bit key: KB", *(TOTAL_KB.get(bits) for bits in given.bits)]]
    for key_bits, cases in ours:
        rows += [[f"ours, {key_bits}-bit key: KB of messages", *map(kilobytes, cases)]]
        rows += [[f"ours, {key_bits}-bit key: KB of packets", *map(packet_kilobytes, cases)]]
    print_table("Table 8.1: one comparison of type 1, time and traffic (KB are 10^3 bytes)", head, rows)


def print_steps(given: argparse.Namespace, steps: Mapping[int, Mapping[int, Mapping[str, float]]]) -> None:
    """Table 8.2."""
    head = ["ms", *(f"{bits} bit" for bits in given.bits)]
    rows: list[list[object]] = []
    for name, title in STEPS.items():
        rows += [[f"{title}: thesis", *(STEPS_MS[name].get(bits) for bits in given.bits)]]
        rows += [
            [f"{title}: ours, {key_bits}", *(by_bits[bits][name] for bits in given.bits)]
            for key_bits, by_bits in steps.items()
        ]
    print_table("Table 8.2: steps, both parties in one process", head, rows)


def print_initialisation(rows: Sequence[Mapping[str, Any]]) -> None:
    """Table 8.3."""
    head = ["", "one Paillier key", "set-up of the session", "tables of the ciphers", "sum", "thesis"]
    parts = ("one_key_ms", "setup_ms", "tables_ms")
    lines: list[list[object]] = []
    for row in rows:
        known = [row[part] for part in parts]
        total = sum(known) if None not in known else None
        lines.append([f"{label(row['engine'])}, {row['key_bits']}-bit key", *known, total, row["thesis_ms"]])
    print_table("Table 8.3: before the first comparison, ms", head, lines)


def print_figures(given: argparse.Namespace, found: Found) -> None:
    """The data of figures 8.4 and 8.5, and the rounds."""
    head = ["", *(f"{bits} bit" for bits in given.bits)]
    figures = (
        ("Figure 8.4: time of one comparison of type 1, ms", milliseconds, TOTAL_MS),
        ("Figure 8.5: traffic of one comparison of type 1, KB of messages", kilobytes, TOTAL_KB),
        ("Rounds", lambda case: case.get("rounds"), {}),
    )
    for title, value, thesis in figures:
        rows: list[list[object]] = []
        for key_bits in given.keys:
            if thesis and key_bits == PAPER:
                rows.append(["thesis's own, 1024-bit key", *(thesis.get(bits) for bits in given.bits)])
            rows += [
                [
                    f"{label(engine)}, {key_bits}-bit key",
                    *(value(found[key_bits, engine, b]) for b in given.bits),
                ]
                for engine in given.engines
            ]
        print_table(title, head, rows)


def series(given: argparse.Namespace, found: Found) -> Iterator[tuple[int, str, list[dict[str, Any]]]]:
    """The points of each line of the figures."""
    for key_bits in given.keys:
        for engine in given.engines:
            points = [
                {"bits": bits, "ms": milliseconds(case), "kb": kilobytes(case), "rounds": case.get("rounds")}
                for bits in given.bits
                if "ms" in (case := found[key_bits, engine, bits])
            ]
            yield key_bits, engine, points


def main() -> int:
    """Measure, print, write."""
    given = parse()
    if DEFAULT_ENGINE not in given.engines:
        given.engines = [DEFAULT_ENGINE, *given.engines]
    start, where = time.monotonic(), machine()
    keys = {key_bits: make_keys(key_bits) for key_bits in given.keys}
    found = measure_all(given)
    tell("timing the steps of the route")
    steps = {
        key_bits: {
            bits: time_steps(pair, bits, skip + repeats(given, key_bits), skip)
            for bits in given.bits
            for skip in [warm_up(DEFAULT_ENGINE, bits, key_bits)]
        }
        for key_bits, (pair, _) in keys.items()
    }
    rows = initialisation(given, found, {key_bits: ms for key_bits, (_, ms) in keys.items()})
    print(f"{where['processor']}, {where['cores']} cores, load {where['load_at_start'][0]:.2f} at the start")
    print_total(given, found)
    print_steps(given, steps)
    print_initialisation(rows)
    print_figures(given, found)
    lines = list(series(given, found))
    content = {
        "machine": where,
        "seconds": time.monotonic() - start,
        "thesis": {
            "bits": BITS,
            "ms": TOTAL_MS,
            "kb": TOTAL_KB,
            "steps_ms": STEPS_MS,
            "initial_ms": INITIAL_MS,
        },
        "cases": list(found.values()),
        "steps_ms": steps,
        "initialisation": rows,
        "figures": [{"key_bits": k, "engine": engine, "points": points} for k, engine, points in lines],
    }
    tell(f"\nwrote {write_json(given.out, 'thesis_tables.json', content)}")
    if not given.no_plots:
        from thesis_plots import draw

        for path in draw(given.out, lines):
            tell(f"wrote {path}")
    wrong = [case for case in found.values() if case.get("wrong") or "error" in case]
    for case in wrong:
        tell(f"{case['engine_asked']}, {case['bits']} bits: {case.get('error') or 'wrong results'}")
    tell(f"{figure(content['seconds'])} seconds in all")
    return 70 if wrong else 0


if __name__ == "__main__":
    sys.exit(guarded(main))
