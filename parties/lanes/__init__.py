"""The lanes of a session as processes, each on a core of its own: threads of one Python share one core.

    daemon                                    worker of a lane
      call, with its arrays      -->            its part of the batch, by an engine of its own
      to the peer's daemon       <--            a frame to send
                                 <--            wants the next frame
      the next frame             -->
                                 <--            results, or an error by name

A worker has no keys, files or connections. It is started for one session and ends with it.
"""

from typing import Final

LANE_MEMORY: Final = 250 << 20
"""Bytes that a lane takes at most: its process, and a part of a batch with what is made for it."""
