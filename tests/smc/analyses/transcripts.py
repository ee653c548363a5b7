"""What each party receives in a joint run: all that an attacker who keeps to the protocol sees."""

from __future__ import annotations

from dataclasses import replace


class Transcript:
    """A channel that lists the messages that it sends, by who receives them."""

    def __init__(self, channel, received):
        self._channel, self._received = channel, received

    def __getattr__(self, name):
        return getattr(self._channel, name)

    def send(self, message):
        self._received.append(message)
        self._channel.send(message)


def watched(session, received):
    """A session whose messages are listed at the role that receives them."""
    return replace(session, channel=Transcript(session.channel, received[session.role.other]))
