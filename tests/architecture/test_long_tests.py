"""The list of long tests names functions that exist."""

from __future__ import annotations

from tests.support.long_tests import LISTED


def test_each_line_is_a_function_of_its_file():
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    for line in lines:
        path, _, name = line.partition("::")
        assert f"def {name}(" in (LISTED.parent / path).read_text(encoding="utf-8"), line
