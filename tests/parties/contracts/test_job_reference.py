"""The reference of job files in docs/jobs.md against what the parser knows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from parties.contracts.spec import SECONDS, SPEC_BYTES, parse_spec, spec_from_document
from parties.errors import JobError
from smc.analyses.registry import ANALYSES

TEXT = (Path(__file__).parents[3] / "docs" / "jobs.md").read_text(encoding="utf-8")
REFERENCE = TEXT[TEXT.index("## The job file") : TEXT.index("## Parameters by analysis")]
UNKNOWN = "zzzzzzzz"


def example():
    (job,) = re.findall(r"```toml\n(.*?)```", REFERENCE, re.DOTALL)
    return job


def documented():
    """The keys of each table: the first column of the reference's rows, such as `[job]` `title`."""
    found = {}
    for table, keys in re.findall(
        r"^\| `\[([a-z]+)\]`[^|]*\| ((?:`[a-z_]+`(?:, )?)+) \|", REFERENCE, re.MULTILINE
    ):
        found.setdefault(table, set()).update(re.findall(r"`([a-z_]+)`", keys))
    return found


def known(table):
    """The keys that the parser names when it refuses one that it does not know."""
    document = tomllib.loads(example())
    document.setdefault(table, {})[UNKNOWN] = 1
    with pytest.raises(JobError, match="is not a known key") as caught:
        spec_from_document(document, "job file")
    return set(caught.value.hint.removeprefix("There are: ").removesuffix(".").split(", "))


@pytest.mark.parametrize("table", ["job", "alice", "bob", "limits"])
def test_every_key_of_a_table_is_documented_and_no_other(table):
    assert documented()[table] == known(table)


def test_no_table_is_missing():
    document = tomllib.loads(example())
    assert set(documented()) | {"parameters"} == set(document)
    with pytest.raises(JobError, match="is not a known key") as caught:
        spec_from_document({**document, UNKNOWN: {}}, "job file")
    assert set(caught.value.hint.removeprefix("There are: ").removesuffix(".").split(", ")) == set(document)


def test_the_example_has_every_key_and_is_a_job():
    document = tomllib.loads(example())
    for table, keys in documented().items():
        assert set(document[table]) == keys
    spec = parse_spec(example())
    ANALYSES[spec.analysis].parse(spec.parameters)


def test_bounds_are_those_of_the_parser():
    assert f"{SECONDS} |" in REFERENCE
    assert f"{SPEC_BYTES >> 10} KiB" in REFERENCE
    with pytest.raises(JobError, match="over 200 characters"):
        parse_spec(example().replace('title = "', 'title = "' + "a" * 200))
    assert "200 characters" in REFERENCE
