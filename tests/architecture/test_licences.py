"""Under which licences everything is that an installation of duetto requires."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FREE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0"),
    *("Zlib", "LGPL-3.0-or-later"),
}
"""What may be distributed together with an Apache-2.0 program without a further word, and the LGPL, whose
library is a file of its own that whoever gets it can exchange."""

NAMED = {"phe": "GPL-3.0"}
"""Exceptions, which THIRD_PARTY.md explains by name."""

_SPDX = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0",
    "GPLv3": "GPL-3.0",
    "MIT License": "MIT",
}


def named(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def required(*roots):
    """All distributions that these require, extras left out, by name."""
    found, left = {}, list(roots)
    while left:
        name = named(left.pop())
        if name in found:
            continue
        found[name] = metadata.distribution(name)
        for text in found[name].requires or ():
            if "extra ==" in text or "python_version <" in text or "sys_platform ==" in text:
                continue
            left.append(re.match(r"[A-Za-z0-9._-]+", text)[0])
    return found


def licences(distribution):
    """The names of its licences by SPDX; what is joined by OR may be chosen, so each is a set of its own."""
    about = distribution.metadata
    said = about.get("License-Expression") or about.get("License") or ""
    classifiers = about.get_all("Classifier") or ()
    classified = [c.split(" :: ")[-1] for c in classifiers if c.startswith("License ::")]
    choices = said.strip("()").split(" OR ") if said and len(said) < 100 else classified
    return [{_SPDX.get(part.strip(" ()"), part.strip(" ()")) for part in c.split(" AND ")} for c in choices]


CLOSURE = required("duetto")


def test_the_closure_is_that_of_the_project():
    assert {"duetto", "cryptography", "grpcio", "numpy", "cffi", "phe"} <= CLOSURE.keys()
    assert "pytest" not in CLOSURE


@pytest.mark.parametrize("name", sorted(CLOSURE))
def test_everything_that_is_required_is_under_a_licence_that_is_allowed(name):
    found = licences(CLOSURE[name])
    assert found, f"{name} names no licence: look at it, and name it"
    if name in NAMED:
        assert found == [{NAMED[name]}]
    else:
        assert any(choice <= FREE for choice in found), (name, found)


def test_exceptions_and_libraries_under_the_lgpl_are_explained_by_name():
    text = (ROOT / "THIRD_PARTY.md").read_text()
    lesser = [name for name, one in CLOSURE.items() if {"LGPL-3.0-or-later"} in licences(one)]
    assert lesser
    for name in (*NAMED, *lesser):
        assert f"`{name}`" in text, name
    assert "THIRD_PARTY.md" in (ROOT / "README.md").read_text()
    assert NAMED.keys() <= CLOSURE.keys()


def test_the_text_of_licences_is_read_right():
    assert licences(Made("MIT OR GPL-3.0")) == [{"MIT"}, {"GPL-3.0"}]
    assert licences(Made("MIT AND GPL-3.0")) == [{"MIT", "GPL-3.0"}]
    assert licences(Made("")) == [{"MIT"}]


class Made:
    """A distribution, which is its own metadata."""

    def __init__(self, expression):
        self.expression = expression
        self.metadata = self

    def get(self, name):
        return self.expression if name == "License-Expression" else None

    def get_all(self, name):
        return ["Topic :: Security", "License :: OSI Approved :: MIT License"]
