"""What a daemon and the worker of a lane say to each other: frames, calls and answers."""

from __future__ import annotations

from parties.workers.pipe import Words, arrays_of, shapes
from smc.channel.channel import Clock, Traffic
from smc.channel.message import Frame
from smc.oblivious.lanes import LaneAnswer, LaneCall


def frame_words(frame: Frame) -> Words:
    """A frame but for its data and its lane."""
    return {"frame": [frame.sequence, frame.kind, frame.depth, frame.total]}


def frame_of(words: Words, data: memoryview, lane: int) -> Frame:
    """The frame of a lane that they stand for."""
    sequence, kind, depth, total = words["frame"]
    return Frame(sequence, kind, depth, total, data, lane)


def call_words(call: LaneCall, clock: Clock) -> Words:
    """A call but for its arrays' data."""
    return {
        "call": call.method,
        "options": dict(call.options),
        "clock": [clock.heard, clock.said, clock.last],
        "arrays": shapes(call.arrays),
    }


def call_of(words: Words, data: memoryview) -> tuple[LaneCall, Clock]:
    """The call that they stand for."""
    return LaneCall(words["call"], arrays_of(words["arrays"], data), words["options"]), Clock(*words["clock"])


def answer_words(answer: LaneAnswer) -> Words:
    """An answer but for its arrays' data."""
    traffic, clock = answer.traffic, answer.clock
    return {
        "answer": [traffic.sent, traffic.received, traffic.messages, traffic.rounds],
        "clock": [clock.heard, clock.said, clock.last],
        "arrays": shapes(answer.arrays),
    }


def answer_of(words: Words, data: memoryview) -> LaneAnswer:
    """The answer that they stand for."""
    return LaneAnswer(arrays_of(words["arrays"], data), Traffic(*words["answer"]), Clock(*words["clock"]))
