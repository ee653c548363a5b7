"""The field of 2**128 elements on Python's integers, slowly and by its definition."""

from __future__ import annotations

POLYNOMIAL = 1 << 128 | 0x87


def number(element):
    """An element, two words, as an integer."""
    return int(element[0]) | int(element[1]) << 64


def numbers(elements):
    return [number(element) for element in elements.reshape(-1, 2)]


def product(left, right):
    """Modulo x**128 + x**7 + x**2 + x + 1."""
    total = 0
    while right:
        lowest = right & -right
        total ^= left * lowest
        right ^= lowest
    while total >> 128:
        total ^= POLYNOMIAL << (total.bit_length() - 129)
    return total


def inverse(element):
    """By Fermat: the power 2**128 - 2."""
    result, power = 1, element
    for _ in range(127):
        power = product(power, power)
        result = product(result, power)
    return result


def rank_over_bits(elements):
    """The dimension of the space that elements span over {0, 1}."""
    basis: dict[int, int] = {}
    for element in elements:
        left = element
        while left and left.bit_length() in basis:
            left ^= basis[left.bit_length()]
        if left:
            basis[left.bit_length()] = left
    return len(basis)
