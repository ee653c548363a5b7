"""Two parties that keep pools for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from parties.config import Peer
from parties.kept_pools import KeptPools
from parties.session.filling import Rhythm
from tests.parties.rpc.harness import public
from tests.parties.session.filling.sides import OWN, QUICK, Make, Side, kept, other, served


@pytest.fixture
def make(tmp_path) -> Iterator[Make]:
    """Makes north and south, which know each other's addresses; they fill when told, or by `start`."""
    with ExitStack() as stack:

        def both(
            pools: dict[str, tuple[KeptPools, ...]] | None = None, rhythm: Rhythm = QUICK, quiet: float = 0.0
        ) -> tuple[Side, Side]:
            wanted = pools or {name: (kept(name),) for name in OWN}
            sides = {
                name: stack.enter_context(
                    served(own, OWN[other(name)], tmp_path / name, wanted.get(name, ()), rhythm, quiet)
                )
                for name, own in OWN.items()
            }
            for name, side in sides.items():
                peer = Peer(other(name), sides[other(name)].server.address, tmp_path, "")
                side.config = replace(side.config, peers=(peer,))
                side.directory.set_peers(side.config, {peer.name: public(OWN[peer.name])})
                side.filler.follow(side.config)
            return sides["north"], sides["south"]

        yield both
