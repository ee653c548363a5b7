"""The base of all errors: hint, advice and code; and what a wrong name may have meant."""

from __future__ import annotations

import pytest

from anonymizer.errors import SpecError
from commons.errors import HintedError, near
from smc.errors import PeerLost, UsageError


@pytest.mark.parametrize(
    ("kind", "code"), [(UsageError, "usage"), (SpecError, "spec"), (HintedError, "error")]
)
def test_an_error_has_a_hint_and_a_code(kind, code):
    error = kind("It is wrong.", "Mend it.")
    assert (str(error), error.what, error.hint) == ("It is wrong. Mend it.", "It is wrong.", "Mend it.")
    assert error.stable_code == code
    assert kind("It is wrong.", code="other").stable_code == "other"
    assert str(kind("It is wrong.")) == "It is wrong."


def test_the_advice_of_a_class_stands_in_for_a_hint():
    assert PeerLost("Gone.").hint == PeerLost.advice
    assert PeerLost("Gone.", "Wait.").hint == "Wait."


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("colum", ["row", "column"], "Did you mean 'column'?"),
        ("keys", ["key", "keys2"], "Did you mean 'keys2' or 'key'?"),
        ("zzz", {"b": 1, "a": 2}, "There are: a, b."),
        ("zzz", [], "There are: none."),
    ],
)
def test_what_a_wrong_name_may_have_meant(name, known, hint):
    assert near(name, known) == hint
