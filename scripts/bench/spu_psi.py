"""One party of a private set intersection by SPU's RR22, CSV in and out, for `scripts/bench/scan`.

    python scripts/bench/spu_psi.py RANK PORT_0 PORT_1 IN.csv OUT.csv

It runs with a Python that has the package `spu` and need not have duetto. Both parties get the keys. SPU is
told that keys are distinct, and need not bring the results of both into one order, which is its fastest way.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from spu import libspu, psi


def main() -> None:
    """Run, and print seconds and the number of common keys as one line of JSON."""
    rank, *ports = map(int, sys.argv[1:4])
    given, found = sys.argv[4:]
    description = libspu.link.Desc()
    description.recv_timeout_ms = 600_000
    for number, port in enumerate(ports):
        description.add_party(f"party {number}", f"127.0.0.1:{port}")
    link = libspu.link.create_brpc(description, rank)
    config = psi.PsiExecuteConfig(
        protocol_conf=psi.PsiProtocolConfig(
            protocol=psi.PsiProtocol.PROTOCOL_RR22, receiver_rank=0, broadcast_result=True
        ),
        input_params=psi.InputParams(path=given, selected_keys=["card"], keys_unique=True),
        output_params=psi.OutputParams(path=found, disable_alignment=True),
    )
    before, start = _worked(), time.perf_counter()
    report = psi.psi_execute(config, link)
    seconds = time.perf_counter() - start
    worked = _worked() - before
    link.stop_link()
    print(
        json.dumps(
            {
                "seconds": round(seconds, 3),
                "processor_seconds": round(worked, 2),
                "size": report.intersection_count,
            }
        ),
        flush=True,
    )


def _worked() -> float:
    """Seconds of the processor, with those of its calls of `sort`."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


if __name__ == "__main__":
    main()
