"""What a run of both parties in one process sent."""

from __future__ import annotations

from typing import Any

import duetto

NUMBERS = {duetto.Role.ALICE: range(50), duetto.Role.BOB: range(50, 100)}


def test_a_measured_run_says_what_was_sent() -> None:
    def party(session: Any) -> Any:
        x, y = duetto.SecretInts.from_both(session, [*NUMBERS[session.role]], (0, 100))
        return (x + y).reveal()

    run = duetto.measure_pair(party)
    assert (run.alice == run.bob).all()
    assert [*run.alice] == [*range(50, 150, 2)]
    assert run.rounds == 2
    assert 400 < run.alice_to_bob < 800
    assert 400 < run.bob_to_alice < 800
    assert run.seconds > 0
