"""Comparison of bits under encryption by tests for zero: PN x NP -> SE, after [GHJR15].

    Alice (sk, x)                        Bob (pk, y)
      E(x_i), all i      -- bits -->
                                         E(z_i), z_i = x_i - y_i + 1 + 3 (differing bits above i):
                                         x < y  iff  one z_i is zero, and never more than one
      test for zero of every z in [0, top], top = 3 bits - 1; as long as top > 3:
      s = z + r          <-- masked --   E(z + r), r uniform in [0, N - top)
      w lowest bits of s -- answers -->  E(h), h = how many of them differ from those of r;  z = 0 iff h = 0
                                         z becomes h, top becomes w = bits of top
      then, with m = top + 1:
      s = z + r          <-- masked --   E(z + r)
      E([s mod m = j])   -- answers -->  E([z = 0]) is the one for j = r mod m
                                         E(delta) = 1 - sum of E([z_i = 0])

Inputs: PN-NP, plain integers of `bits` bits, any batch.
Outputs: SE; the ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: Alice s, each within statistical distance top / N of uniform; Bob nothing.
Assumes: semi-honest parties; DCR. r is drawn so that z + r cannot reach N. Bob inverts every ciphertext
    and keeps what he needs, so that his work does not depend on his bits.
Cost: 1 + 2 k flights with k reductions: 1 for one bit, 2 for two, 3 up to 42 bits, 4 up to 128. Each
    reduction takes one ciphertext and one decryption per bit of x, and w (at last m) ciphertexts back.
Reference: [GHJR15] Gentry, Halevi, Jutla and Raykova, Private database access with HE-over-ORAM
    architecture, ACNS 2015. Their text was not at hand. From the thesis (section 2.3.3, type 8, and
    section 8.2) comes what it says of the protocol: type 2 by way of x encrypted bit by bit, a simple
    construction around a test for zero whose rounds grow with a logarithm. The construction is rebuilt
    from what is generally known: the bits of a masked number, under encryption, turn a number into the
    count of its ones, which has logarithmically many bits, until so few values are left that one answer
    for each is cheaper. The thesis says log n rounds; repeated like this there are fewer. Type 2 becomes
    this by Conversion 5, which gives Alice the bits to encrypt. Errata 3, 7.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Ciphertexts, Fresh, Paillier
from smc.errors import KeyMaterialError
from smc.forms import Form
from smc.protocols.baselines.bit_planes import (
    bit_planes,
    differing,
    first_differences,
    flatten,
    total,
)
from smc.protocols.engines import baseline
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder, Nothing, Plain

_LAST = 3
"""The largest number that is tested with one answer for each value."""


@dataclass(frozen=True, slots=True)
class GentryBits(Message, kind="gentry-bits"):
    """Alice to Bob: her bits, the least significant of the whole batch first."""

    bits: Fresh


@dataclass(frozen=True, slots=True)
class GentryMasked(Message, kind="gentry-masked"):
    """Bob to Alice: the numbers under test, each with a random one added."""

    sums: Fresh


@dataclass(frozen=True, slots=True)
class GentryAnswers(Message, kind="gentry-answers"):
    """Alice to Bob: bits of every sum, or one bit for each value that it may have."""

    bits: Fresh


@dataclass(frozen=True, slots=True)
class Reduction:
    """One step of a test for zero.

    Attributes:
        top: the largest number under test.
        answers: ciphertexts that come back for each.
        last: they are one for each value, else bits.
    """

    top: int
    answers: int
    last: bool


def reductions(bits: int) -> list[Reduction]:
    """The steps of the test for zero of the numbers that a comparison of so many bits gives."""
    top = 3 * bits - 1
    steps = []
    while top > _LAST:
        steps.append(Reduction(top, top.bit_length(), last=False))
        top = top.bit_length()
    return [*steps, Reduction(top, top + 1, last=True)]


def answer(session: FullSession, step: Reduction, count: int) -> None:
    """Alice's part in one step: open the sums, encrypt what she is asked of them.

    Args:
        session: this side; its own Paillier key is used.
        step: which.
        count: numbers under test.
    """
    cipher = session.own
    sums = cipher.decrypt(session.channel.recv(GentryMasked, cipher.expect(count)))
    if step.last:
        planes = [[int(s % (step.top + 1) == value) for s in sums] for value in range(step.answers)]
    else:
        planes = bit_planes(sums, step.answers)
    session.channel.send(GentryAnswers(cipher.encrypt(flatten(planes))))


def ask(session: FullSession, step: Reduction, numbers: Ciphertexts) -> Ciphertexts:
    """Bob's part in one step.

    Args:
        session: this side; the peer's Paillier key is used.
        step: which.
        numbers: ciphertexts of integers in [0, step.top].

    Returns:
        Ciphertexts of smaller numbers, zero where those given are zero; of [z = 0] after the last step.

    Raises:
        KeyMaterialError: the key is too small to mask the numbers.
    """
    cipher, count = session.peer, len(numbers)
    masks = session.random.below(_mask_bound(cipher, step.top), count)
    session.channel.send(GentryMasked(cipher.refresh(cipher.add_plain(numbers, masks))))
    answers = session.channel.recv(GentryAnswers, cipher.expect(count * step.answers))
    if step.last:
        rows = [mask % (step.top + 1) * count + row for row, mask in enumerate(masks)]
        return answers.take(rows)
    wrong = differing(cipher, answers, flatten(bit_planes(masks, step.answers)))
    return total(cipher, [wrong[start : start + count] for start in range(0, len(wrong), count)])


def _mask_bound(cipher: Paillier, top: int) -> int:
    """The exclusive bound of r: z + r < N for every z in [0, top]."""
    bound = int(cipher.public.n) - top
    if bound <= top:
        raise KeyMaterialError("The key is too small to mask these numbers.", "Use a larger key.")
    return bound


def alice(session: FullSession, parameters: Parameters, x: Plain, y: Nothing) -> KeyHolder:
    """Alice: encrypts her bits, and what she is asked of masked numbers."""
    count, bits = len(y), parameters.bits
    session.channel.send(GentryBits(session.own.encrypt(flatten(bit_planes(x.values, bits)))))
    steps = reductions(bits)
    for done, step in enumerate(steps, start=1):
        answer(session, step, count * bits)
        session.report("compare", done * count // len(steps), count)
    return KeyHolder(count)


def bob(session: FullSession, parameters: Parameters, x: Nothing, y: Plain) -> Encrypted:
    """Bob: makes the numbers of which one is zero if x < y, and tests them."""
    count, bits = len(x), parameters.bits
    cipher = session.peer
    others = session.channel.recv(GentryBits, cipher.expect(count * bits))
    found, _ = first_differences(cipher, others, bit_planes(y.values, bits), [1] * count)
    numbers = Ciphertexts.concat(found)
    steps = reductions(bits)
    for done, step in enumerate(steps, start=1):
        numbers = ask(session, step, numbers)
        session.report("compare", done * count // len(steps), count)
    less = total(cipher, [numbers[start : start + count] for start in range(0, count * bits, count)])
    return Encrypted(differing(cipher, less, [1] * count))


def cost(parameters: Parameters) -> Cost:
    """The bits, and two flights for each reduction."""
    tests = parameters.count * parameters.bits
    size = parameters.alice_ciphertext_bytes
    steps = reductions(parameters.bits)
    answers = sum(step.answers for step in steps)
    turned = sum(step.answers for step in steps if not step.last)
    return Cost(
        (Flight.ALICE, *((Flight.BOB, Flight.ALICE) * len(steps))),
        tests * (1 + answers) * size,
        tests * len(steps) * size,
        {"mask": tests * (1 + answers), "decrypt": tests * len(steps)},
        {"mask": tests * len(steps), "inverse": tests * (1 + turned) + parameters.count},
    )


SPEC = Spec(
    name="ghjr15",
    inputs=(Form.PN, Form.NP),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=baseline("ghjr15"),
)
