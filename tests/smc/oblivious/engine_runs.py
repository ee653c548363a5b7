"""Running the engine on both sides."""

from __future__ import annotations

from smc.pair import run_pair


def both(alice, bob, **options):
    """Results and traffic of both sides."""
    return run_pair(
        lambda s: (alice(s.oblivious), s.channel.traffic),
        lambda s: (bob(s.oblivious), s.channel.traffic),
        **options,
    )


def compare(x, y, bits):
    """XOR of both sides' shares of x >= y, and both traffics."""
    (a, there), (b, back) = both(lambda e: e.greater_equal_x(x, bits), lambda e: e.greater_equal_y(y, bits))
    return (a ^ b).tolist(), there, back
