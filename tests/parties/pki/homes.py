"""Homes that have paired: what one pins of the other, and how a pairing file is handed over."""

from __future__ import annotations

from click.testing import CliRunner

from parties.cli.party import pair as pair_command
from parties.config import Address, load
from parties.pki import home

HERE = Address("127.0.0.1", 7443)


def hand_over(source, target, *words):
    """Run `duetto pair` with the file of one home in the other, as a person would, without a terminal."""
    return CliRunner().invoke(
        pair_command, [str(source / f"{source.name}.pair"), "--config", str(target), *words], input=""
    )


def pinned(folder, peer):
    config = load(folder)
    return home.load_peer(config, config.peer(peer))
