"""Methods of other programs, by the entry points `duetto.methods` of installed distributions.

No code of a distribution is loaded because it is installed: a specification has to name it, and a step has to
ask for the method. What is loaded runs with all rights of the user who runs the command.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from pathlib import Path
from sys import modules
from typing import Final

from anonymizer.errors import PluginError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.registry import METHODS
from anonymizer.releases.foreign import holds

GROUP: Final = "duetto.methods"
"""Of entry points; each is named as its method is."""


def load_methods(distributions: Sequence[str], asked: Collection[str]) -> Mapping[str, type[Method]]:
    """Load methods of other programs.

    Args:
        distributions: those whose methods may be used, by the names that they are installed by.
        asked: the methods that steps ask for; others are not loaded.

    Returns:
        The methods by name.

    Raises:
        PluginError: a distribution is not installed, offers no method, or none that is asked for; two offer
            the same or one that exists already; or a method cannot be loaded or says too little of itself.
    """
    found: dict[str, tuple[str, EntryPoint, Distribution]] = {}
    for name in distributions:
        installed = _installed(name)
        points = {one.name: one for one in _offered(name, installed)}
        if not set(points) & set(asked):
            raise PluginError(
                f"No step asks for a method of {name}, which the specification names.",
                f"Take {name} out of [plugins]; it offers {', '.join(sorted(points))}.",
            )
        for method in sorted(set(points) & set(asked)):
            if method in METHODS or method in found:
                other = "duetto" if method in METHODS else found[method][0]
                raise PluginError(
                    f"{name} offers a method {method!r}, which {other} has already.",
                    f"Take {name} out of [plugins], or ask its author for another name.",
                )
            found[method] = (name, points[method], installed)
    return {method: _loaded(*given) for method, given in found.items()}


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except (PackageNotFoundError, ValueError):
        raise PluginError(
            f"{name!r} is not installed, and the specification asks for its methods.",
            f"Install it into the environment of duetto: pip install {name}.",
        ) from None


def _offered(name: str, installed: Distribution) -> Iterator[EntryPoint]:
    offered = tuple(one for one in installed.entry_points if one.group == GROUP)
    if not offered:
        raise PluginError(
            f"{name} offers no methods.",
            f"Name a distribution that has entry points {GROUP!r}; this may be a library that one needs.",
        )
    yield from offered


def _loaded(name: str, point: EntryPoint, installed: Distribution) -> type[Method]:
    """The method of an entry point.

    Raises:
        PluginError: it cannot be loaded or is not a method; it says too little of itself; or its file is not
            one of the distribution, so that a manifest could not say which code it was.
    """
    try:
        kind = point.load()
    except Exception as problem:
        raise PluginError(
            f"The method {point.name!r} of {name} cannot be loaded: {type(problem).__name__}: {problem}",
            "Install what it needs, or write to its author.",
        ) from problem
    if not isinstance(kind, type) or not issubclass(kind, Method) or not hasattr(kind, "name"):
        raise PluginError(
            f"{point.value} of {name} is not a method of the anonymizer.",
            "Its author has to derive it from anonymizer.methods.contract.method.Method, and name it.",
        )
    if kind.name != point.name:
        raise PluginError(
            f"The method that {name} offers as {point.name!r} is named {kind.name!r}.",
            "Its author has to give both the same name.",
        )
    if silent := kind.undeclared():
        raise PluginError(
            f"The method {point.name!r} of {name} does not state {', '.join(silent)}.",
            "Its author has to state these in the class, and run anonymizer.testing.check_method.",
        )
    file = getattr(modules.get(kind.__module__), "__file__", None)
    if file is None or not holds(installed, Path(file)):
        raise PluginError(
            f"The file of the method {point.name!r} is not among the files that {name} was installed with.",
            "Install it as a regular package, not in editable form; a release has to say which code made it.",
        )
    return kind
