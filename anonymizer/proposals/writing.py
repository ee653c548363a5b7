"""A proposal as a file to read: commented TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import tomli_w

from anonymizer.proposals.hierarchies import bounds
from anonymizer.proposals.profiles import Profile
from anonymizer.proposals.proposal import ROLES, Proposal
from anonymizer.proposals.roles import Proposed
from anonymizer.schema.documents import key_of
from commons.tabular.column_names import Role
from commons.tabular.dialect import Dialect


def write_specification(proposal: Proposal, title: str) -> str:
    """The specification as commented TOML.

    Args:
        proposal: to write.
        title: for people.
    """
    warnings = "".join(f"# WARNING: {_visible(one)}\n" for one in proposal.warnings)
    head = _head(title, proposal)
    parts = [head, warnings, _PURPOSE, _csv(proposal.dialect), _roles(proposal), _columns(proposal)]
    parts += [_hierarchies(proposal), _steps(proposal)]
    return "\n".join(part for part in parts if part)


def _head(title: str, proposal: Proposal) -> str:
    return f"""\
# Proposed of the table alone, {proposal.rows:,} rows. It cannot know what an attacker knows: read every role,
# correct what is wrong, and only then release. Figures of columns: distinction is different values by rows,
# separation the part of all pairs of rows that the column tells apart.

title = {_toml(title)}
"""


_PURPOSE: Final = """\
# What who signs has to know. It stands in the report and in the manifest, which goes out with the release.
# [purpose]
# purpose = ""
# legal_basis = ""
# responsible = ""
# recipient = ""
"""


def _csv(dialect: Dialect) -> str:
    found = dialect.entries()
    if not found:
        return ""
    lines = "\n".join(f"{key} = {_toml(value)}" for key, value in found.items())
    return f"# How the file is written; releases are written so too.\n[csv]\n{lines}\n"


_SAID: Final[Mapping[Role, str]] = {
    "identifiers": "Taken out: they name persons, or nobody can say that they do not.",
    "quasi_identifiers": "An attacker may know them of a person: they become coarser.",
    "sensitive": "What an attacker wants to learn. It is released as it is.",
}


_GUESSED: Final = (
    "PLEASE CHECK: nothing says what these are. Give those another role that an attacker may know."
)


def _roles(proposal: Proposal) -> str:
    lines = ["[roles]"]
    for role in filter(proposal.names, ROLES):
        lines += [f"# {_SAID[role]}", f"{role} = ["]
        for is_guess in (False, True):
            found = [one for one in proposal.columns if one.role == role and one.is_guess == is_guess]
            if found and is_guess:
                lines.append(f"    # {_GUESSED}")
            lines += [f"    {_toml(one.profile.name)},  # {_comment(one)}" for one in found]
        lines.append("]")
    if proposal.person is not None:
        one = proposal.person
        lines += [
            f"# {len(one.counts):,} values in {proposal.rows:,} rows, {int(one.counts.max()):,} rows of one: "
            "what is promised counts these, not rows.",
            "# Leave it out if its rows are not of one person.",
            *([f"# {one.missing:,} rows without one are left out ([columns])."] if one.missing else []),
            f"person = {_toml(one.name)}",
            "# rows_per_person = 1  # at most this many rows of each, drawn at random",
        ]
    others = [one for one in proposal.columns if not one.role]
    if others:
        lines.append("# Without a role, released as they are:")
        lines += [f"#   {_toml(one.profile.name)}  {_comment(one)}" for one in others]
    lines.append("# Quasi-identifiers together (distinction, separation), each line with all before it:")
    lines += [
        f"#   {'+ ' if place else ''}{_toml(name)}  {distinction:.4f}  {apart:.4f}"
        for place, (name, distinction, apart) in enumerate(proposal.figures)
    ]
    return "\n".join(lines) + "\n"


def _comment(one: Proposed) -> str:
    what = one.profile
    gaps = f", {what.missing:,} missing" if what.missing else ""
    why = "".join(letter if letter.isprintable() else " " for letter in one.why)
    return (
        f"{len(what.counts):,} values{gaps}, distinction {what.distinction:.4f}, "
        f"separation {what.separation:.4f}" + (f": {why}" if why else "")
    )


def _columns(proposal: Proposal) -> str:
    gaps = proposal.document.get("columns", {})
    quasi = [one.profile for one in proposal.columns if one.role == "quasi_identifiers"]
    numbers = [one for one in quasi if one.look == "number"]
    lines = ["[columns]"]
    if gaps:
        lines.append('# A missing cell is a category of its own; "drop" skips its row.')
    lines += [f"{_key(name)} = {{ missing = {_toml(one['missing'])} }}" for name, one in gaps.items()]
    if numbers:
        lines.append(_OF_BOUNDS)
    for one in numbers:
        low, high = bounds(one)
        kind = "integer" if _whole(one) else "float"
        lines.append(f"# {_key(one.name)} = {{ type = {_toml(kind)}, bounds = [{low}, {high}] }}")
    return "\n".join(lines) + "\n" if len(lines) > 1 else ""


_OF_BOUNDS: Final = """\
# For dp-noise numbers need bounds. Those below are taken from the data: they tell of the persons with the
# least and the largest number, so that no differential privacy would hold. Write what can be, not what is."""


def _whole(profile: Profile) -> bool:
    numbers = profile.values.astype(float)
    return bool((numbers == numbers.round()).all())


def _hierarchies(proposal: Proposal) -> str:
    if not proposal.hierarchies:
        return ""
    lines = ["# How values become coarser, level by level.", "[hierarchies]"]
    for name, one in proposal.hierarchies.items():
        if one.note:
            lines.append(f"# {one.note}")
        lines.append(f"{_key(name)} = {_inline(one.declared)}")
    return "\n".join(lines) + "\n"


def _steps(proposal: Proposal) -> str:
    if not proposal.method:
        return '# [[steps]]\n# method = "local-recoding"\n# k = 5\n'
    sensitive = proposal.names("sensitive")
    lines = [
        "[[steps]]",
        f"method = {_toml(proposal.method)}",
        f"k = {proposal.k}  # rows alike in all quasi-identifiers",
    ]
    if sensitive:
        model = f'{{ model = "distinct-l-diversity", column = {_toml(sensitive[0])}, l = 2 }}'
        lines.append(f"# constraints = [{model}]  # and so many different values in each class")
    return "\n".join(lines) + "\n"


def _inline(entries: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {_entry(key, value)}" for key, value in entries.items()) + " }"


def _entry(key: str, value: Any) -> str:
    """A value; rows stand below each other."""
    if key != "rows":
        return _toml(value)
    return "[\n" + "".join(f"    {_toml(row)},\n" for row in value) + "]"


def _key(name: str) -> str:
    return _visible(key_of(name))


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return _visible(tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n"))


def _visible(text: str) -> str:
    """The same in TOML without characters that cannot be seen or that turn what stands around them."""
    return "".join(sign if sign.isprintable() or sign == "\n" else f"\\U{ord(sign):08x}" for sign in text)
