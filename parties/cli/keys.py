"""Options by which people say whose keys they trust, for commands that check signatures offline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.pki import pairing
from parties.pki.signing import named_key
from smc.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Trusted:
    """The keys that a user vouches for.

    Attributes:
        maker: the keys of the party that made the file.
        by_name: the keys of parties by name, from their pairing files.
        any_key: whether consistency is all that is asked for.
    """

    maker: tuple[Ed25519PublicKey, ...]
    by_name: dict[str, Ed25519PublicKey]
    any_key: bool

    def of(self, party: str, *, is_maker: bool) -> tuple[Ed25519PublicKey, ...]:
        """The keys given for a party."""
        named = (self.by_name[party],) if party in self.by_name else ()
        return (*named, *self.maker) if is_maker else named

    def require(self, maker: str, others: Iterable[str]) -> None:
        """Check that the maker's key is given, and no key of a party that has no part in it.

        Raises:
            UsageError: it is not.
        """
        if strangers := sorted(set(self.by_name) - {maker, *others}):
            raise UsageError(f"{strangers[0]!r} is not a party of the file.", "Leave out its pairing file.")
        if not self.any_key and not self.of(maker, is_maker=True):
            raise UsageError(
                f"The file says that it is by {maker!r}, but nothing given here confirms its key.",
                "Give --pair FILE or --key KEY of that party; --any-key checks only that the file is whole.",
            )


def trust_options(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--key`, `--pair` and `--any-key`, for `trusted_keys`."""
    for option in (
        click.option("--any-key", is_flag=True, help="Check only that it is whole, whoever made it."),
        click.option(
            "--pair",
            "pairs",
            multiple=True,
            type=click.Path(path_type=Path),
            help="Pairing file of a party whose key you trust; several may be given.",
        ),
        click.option(
            "--key",
            "keys",
            multiple=True,
            help="Signing key of the party that made the file, as `duetto keys show` has it, or a PEM file.",
        ),
    ):
        function = option(function)
    return function


def trusted_keys(keys: tuple[str, ...], pairs: tuple[Path, ...], *, any_key: bool) -> Trusted:
    """The keys that the options name.

    Raises:
        PairingError: a key or a pairing file is none.
    """
    found = [pairing.read(path).identity for path in pairs]
    return Trusted(tuple(map(named_key, keys)), {one.name: one.signing for one in found}, any_key)
