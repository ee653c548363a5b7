"""Silent transfers that are ordered ahead, and made by another thread meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from itertools import pairwise

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import Cancelled, PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import silent_transfers
from smc.oblivious.lpn import LpnSet
from smc.oblivious.silent_ot import SilentReceiver, SilentSender
from smc.oblivious.silent_transfers import Refill, SilentTransfers
from smc.oblivious.transfers import Transfers
from smc.pair import run_pair
from smc.pieces import asking
from tests.support.fixed_kem import fixed_kem

TOY = LpnSet(log_length=8, trees=60, depth=4, group=4)
MOST = max(TOY.iterations(10_000)) * TOY.block_words


class AtOnce(Executor):
    """Does everything where it is asked for."""

    def submit(self, work, /, *arguments, **options):
        done = Future()
        done.set_result(work(*arguments, **options))
        return done


class Never(Executor):
    """Does everything when its result is wanted, which is as late as can be."""

    def submit(self, work, /, *arguments, **options):
        class Late(Future):
            def result(self, timeout=None):
                return work(*arguments, **options)

        return Late()


def over_toy(session, executor):
    transfers = Transfers(session.role, session.channel, session.random)
    return SilentTransfers(session.role, session.channel, session.random, transfers, TOY, executor)


def check(a, b):
    for mine, theirs in ((a, b), (b, a)):
        for pads, others in zip(mine, theirs, strict=True):
            assert (others.chosen == pads.zero & ~others.choices | pads.one & others.choices).all()


def ordered(executor_of):
    """Orders, deliveries and uses of many sizes, two iterations of one order among them."""

    def side(session):
        silent = over_toy(session, executor_of(session))
        marks, found = [session.channel.traffic], []
        for words, uses in ((9, (4, 5)), (MOST + 3, (MOST - 1,)), (1, (2, 4, 1)), (0, (1,))):
            silent.order(words)
            silent.deliver()()
            found += [silent.pads(use) for use in uses]
            marks.append(session.channel.traffic)
        silent.deliver()()
        return found, marks

    return side


def test_what_was_ordered_is_taken_first_and_sends_nothing_more():
    (a, there), (b, back) = run_pair(ordered(lambda session: session.executor))
    check(a, b)
    assert [pads.zero.shape[1] for pads in a] == [4, 5, MOST - 1, 2, 4, 1, 1]
    # Of the second order 4 words are left when the third one replaces them by 1.
    made = [(9,), (MOST + 3,), (1, 2, 4), (1,)]
    for marks in (there, back):
        sent = [after.since(before).sent for before, after in pairwise(marks)]
        assert sent == [sum(silent_transfers.refills(words, TOY) for words in each) for each in made]
        rounds = [after.since(before).rounds for before, after in pairwise(marks)]
        assert rounds == [1, 1, 3, 1]


def transcript(monkeypatch, executor_of):
    sent = {role: [] for role in Role}
    honest, roles = Channel.send, {}

    def send(self, message):
        sent[roles[id(self)]].append((message.kind(), message.encode()))
        honest(self, message)

    def side(session):
        roles[id(session.channel)] = session.role
        return ordered(executor_of)(session)[0]

    with monkeypatch.context() as patched, fixed_kem():
        patched.setattr(Channel, "send", send)
        sources = [Randomness.from_seed(b"orders", role.value) for role in Role]
        a, b = run_pair(side, randomness=(sources[0], sources[1]))
    check(a, b)
    return sent


def test_messages_are_the_same_whenever_other_threads_are_ready(monkeypatch):
    never, at_once = Never(), AtOnce()
    found = [
        transcript(monkeypatch, lambda session: session.executor),
        transcript(monkeypatch, lambda session: None),
        transcript(monkeypatch, lambda session: at_once),
        transcript(monkeypatch, lambda session: never if session.role is Role.ALICE else session.executor),
    ]
    assert all(each == found[0] for each in found)
    assert sum(kind == Refill.kind() for kind, _ in found[0][Role.ALICE]) > 4


def test_they_are_made_while_the_parties_talk():
    """The sender's half ends although nobody waits for it; so does the receiver's."""

    def side(session):
        silent = over_toy(session, session.executor)
        silent.order(5)
        sender = session.executor.submit(threading.Event().wait, 0)  # behind the work in the pool
        sender.result()
        silent.deliver()()
        return silent.pads(5)

    a, b = run_pair(side, workers=4)
    check([a], [b])


def test_nothing_is_made_between_order_and_delivery():
    def side(session):
        silent = over_toy(session, session.executor)
        silent.order(5)
        for use in (lambda: silent.pads(1), lambda: silent.begin_blocks(1), lambda: silent.order(1)):
            with pytest.raises(UsageError, match="not delivered"):
                use()
        with pytest.raises(UsageError, match="not delivered"):
            silent.receive_blocks(np.ones(1, dtype=np.uint8))
        silent.deliver()()
        return silent.pads(5)

    a, b = run_pair(side)
    check([a], [b])


@pytest.mark.parametrize("count", [0, 1, 70, 64 * (MOST + 2)])
def test_correlated_transfers_and_triples_come_first_whoever_makes_them(count):
    """Two orders with them, of more than one iteration the last time, in every way of making them."""

    def side(session):
        found = []
        for executor in (session.executor, None, AtOnce(), Never()):
            transfers = Transfers(session.role, session.channel, session.random)
            given = (session.role, session.channel, session.random, transfers)
            silent = SilentTransfers(*given, TOY, executor)
            for _ in range(2):
                silent.order(5, count, 2)
                silent.deliver()()
                triples = transfers.prepared.taken_triples(2)
                found.append((transfers.prepared.take(count), triples, silent.pads(5)))
                assert transfers.prepared.take(1) is None
                assert transfers.prepared.taken_triples(1) is None
        return found

    a, b = run_pair(side)
    check([pads for *_, pads in a], [pads for *_, pads in b])
    for mine, theirs in zip(a + b, b + a, strict=True):
        sent, got = mine[0], theirs[0]
        assert len(sent.zero) == len(got.choices) == count
        assert (got.chosen == np.where(got.choices == 1, sent.one, sent.zero)).all()
        one, other = mine[1], theirs[1]
        assert ((one.a ^ other.a) & (one.b ^ other.b) == one.c ^ other.c).all()
    drawn = np.concatenate([each[0].zero for each in a])
    assert len(np.unique(drawn)) == len(drawn)


def test_blocks_of_128_bits_follow_an_order():
    def alice(session):
        silent = over_toy(session, session.executor)
        silent.order(5)
        silent.deliver()()
        return silent.begin_blocks(70)(), silent.pads(5)

    def bob(session):
        silent = over_toy(session, session.executor)
        silent.order(5)
        silent.deliver()()
        choices = (np.arange(70) % 3 == 0).astype(np.uint8)
        return silent.receive_blocks(choices), silent.pads(5), choices

    ((zero, one), mine), (got, theirs, choices) = run_pair(alice, bob)
    check([mine], [theirs])
    assert (got == np.where(choices[:, None] == 1, one, zero)).all()


@pytest.mark.parametrize("end", [SilentSender, SilentReceiver])
def test_what_another_thread_meets_ends_the_engine_with_that_error(monkeypatch, end):
    honest, fails = end.extend, []

    def extend(self, blocks, *arguments):
        if fails:
            raise ProtocolViolation("as it should be")
        return honest(self, blocks, *arguments)

    monkeypatch.setattr(end, "extend", extend)

    def side(session):
        engine = session.oblivious
        engine.setup_silent()
        fails.append(True)
        engine.order_silent(5)

        def use():
            engine.deliver()
            engine.greater_equal_x([1], 8, silent=True)

        with pytest.raises(ProtocolViolation, match="as it should be"):
            use()
        with pytest.raises(UsageError, match="failed"):
            engine.greater_equal_x([1], 8, silent=True)
        raise UsageError("the end", "none")

    def other(session):
        engine = session.oblivious
        engine.setup_silent()
        engine.order_silent(5)
        engine.deliver()

    with pytest.raises((PeerError, ProtocolViolation, UsageError)):
        run_pair(side, other)


def test_other_threads_ask_whether_the_run_is_still_wanted():
    wanted = threading.Event()
    wanted.set()

    def question():
        if not wanted.is_set():
            raise Cancelled("as it should be", "again")

    def side(session):
        with asking(question):
            engine = session.oblivious
            engine.setup_silent()
            session.channel.finish()
            if session.role is Role.ALICE:
                wanted.clear()
            engine.order_silent(5)
            engine.deliver()

    with pytest.raises(Cancelled):
        run_pair(side)


def test_a_truncated_refill_of_an_order_is_refused(monkeypatch):
    honest, channels = Channel.send, []

    class Short:
        def kind(self):
            return Refill.kind()

        def is_hidden(self):
            return Refill.is_hidden()

        def encode(self):
            return b"short"

    def send(self, message):
        honest(self, Short() if isinstance(message, Refill) and self in channels else message)

    monkeypatch.setattr(Channel, "send", send)

    def cheat(session):
        channels.append(session.channel)
        session.oblivious.order_silent(5)
        session.oblivious.deliver()

    def fair(session):
        session.oblivious.order_silent(5)
        session.oblivious.deliver()

    with pytest.raises(ProtocolViolation):
        run_pair(cheat, fair)
