"""What a protocol holds against a peer that deviates from it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from typing_extensions import override


class Against(Enum):
    """Levels, the weakest first. All of them hold against a peer that follows the protocol.

    - `SEMI_HONEST`: a peer that deviates may learn the other side's data from the messages themselves.
    - `PRIVATE`: it learns nothing from them, whatever it sends, until a result is opened. The result can be
      wrong or another function than agreed, and what is opened then tells of that one.
    - `ACTIVE`: what comes out is right, or the run ends with an error.
    """

    SEMI_HONEST = "semi-honest"
    PRIVATE = "private"
    ACTIVE = "active"

    @property
    def means(self) -> str:
        """For people, a whole sentence."""
        return f"Against a peer that deviates from the protocol: {_MEANS[self]}."

    @override
    def __str__(self) -> str:
        return self.value


_MEANS = {
    Against.SEMI_HONEST: "nothing is promised (semi-honest)",
    Against.PRIVATE: "it learns nothing before something is opened; results are not protected (private)",
    Against.ACTIVE: "the result is right, or the run ends (active)",
}


def weakest(levels: Iterable[Against]) -> Against:
    """What steps hold together; of no step at all, everything."""
    order = list(Against)
    return min(levels, key=order.index, default=Against.ACTIVE)
