"""What users are told when something is wrong: each message has a hint, and words that people know."""

from __future__ import annotations

import re

import pytest

import parties.errors  # noqa: F401 - its classes are looked for
from anonymizer.errors import AnonymizerError
from smc.errors import DuettoError, PeerLost
from tests.architecture.listed import house_errors, messages_of, script
from tests.architecture.source import ROOT

COVERED = {"anonymizer": 600, "parties": 250, "smc": 300}
"""The packages whose messages were read, and how many there are at least."""

WITHOUT_HINT = frozenset(
    {
        ("anonymizer", "UsageError"),  # Click's own, which says it in its text
        ("anonymizer", "NotFittedError"),  # scikit-learn's
        ("parties", "AuditFinding"),  # what an auditor says of a party
        ("anonymizer", "GateError"),  # that of findings, which have hints each
    }
)

DIALECT = re.compile(
    r"\bmend|\blaw\b|\btold\b|\bthe own\b"
    r"|(?<!there )\b(is|are) no (list|text|number|range|CSV|file|column|name|valid)\b"
    r"|\bdo(es)? not go together\b|\b(is|are) wanted\b|\b(was|were|is|are) due\b|\bLook whether\b"
)


@pytest.fixture(scope="module")
def messages() -> list[tuple[str, str, str, str]]:
    return [
        (f"{one.path.relative_to(ROOT)}:{one.line}", one.kind, one.what, one.hint)
        for package in COVERED
        for one in messages_of(package)
    ]


def test_every_message_says_how_to_fix_it(messages: list[tuple[str, str, str, str]]) -> None:
    house = [place.partition("/")[0] for place, *_ in messages]
    assert all(house.count(one) >= least for one, least in COVERED.items())
    bare = [
        f"{place} {what}"
        for one, (place, kind, what, hint) in zip(house, messages, strict=True)
        if not hint and (one, kind) not in WITHOUT_HINT
    ]
    assert not bare, "\n".join(bare)


def test_messages_are_sentences_in_plain_english(messages: list[tuple[str, str, str, str]]) -> None:
    wrong = [f"{place} {text}" for place, _, *both in messages for text in both if DIALECT.search(text)]
    assert not wrong, "\n".join(wrong)


def test_a_message_is_found_whatever_it_is_made_of(tmp_path) -> None:  # type: ignore[no-untyped-def]
    code = (
        "raise FileError(f'{path} is ' + 'gone.', hint='Look for it.')\n"
        "yield Finding('rule', None, 'It leaks.', 'Stop it.')\n"
        "raise errors.SpecError('No hint.')\n"
        "raise ValueError('Python\\'s own')\n"
        "raise UnfitTextError('caught where more is known')\n"
        "raise PeerLost('Nothing came.')\n"
        "return DisclosureRefused('Too few.', 'Use more rows.')\n"
        "raise UnfitError('upper', 'is below lower', 'Exchange them.')\n"
    )
    (tmp_path / "x.py").write_text(code)
    messages = script().messages_of(tmp_path / "x.py", house_errors())
    found = [(one.line, one.kind, one.what, one.hint) for one in messages]
    assert found == [
        (1, "FileError", "{path} is gone.", "Look for it."),
        (2, "Finding", "It leaks.", "Stop it."),
        (3, "SpecError", "No hint.", ""),
        (6, "PeerLost", "Nothing came.", PeerLost.advice),
        (7, "DisclosureRefused", "Too few.", "Use more rows."),
        (8, "UnfitError", "is below lower", "Exchange them."),
    ]


def test_no_error_is_left_out_for_its_name() -> None:
    """Every class of an error that the packages define is one whose calls the script lists."""
    kinds: list[type[Exception]] = [DuettoError, AnonymizerError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert len(kinds) > 30
    own = {kind.__name__ for kind in kinds if kind.__module__.partition(".")[0] in script().PACKAGES}
    assert {"PeerLost", "PeerBusy", "DisclosureRefused"} <= own
    assert not own - set(house_errors().advice)
