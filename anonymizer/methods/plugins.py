"""Methods of other programs, by the entry points `duetto.methods` of installed distributions.

No code of a distribution is loaded because it is installed: a specification has to name it, and a step has to
ask for the method. What is loaded runs with all rights of the user who runs the command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from anonymizer.errors import PluginError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.registry import METHODS
from commons.plugins import Declared, Offers, PluginKind

GROUP: Final = "duetto.methods"
"""Of entry points; each is named as its method is."""

_KIND: Final = PluginKind(
    group=GROUP,
    one="a method",
    many="methods",
    place="[plugins]",
    unlike="not a method of the anonymizer",
    needs="Its author has to derive it from anonymizer.methods.contract.method.Method, and name it.",
    record="a release has",
    error=PluginError,
)


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
    owners = dict.fromkeys(METHODS, "duetto")
    found: dict[str, Offers] = {}
    for name in distributions:
        offers = _KIND.offers(name)
        wanted = sorted(set(offers.points) & set(asked))
        if not wanted:
            raise PluginError(
                f"No step asks for a method of {name}, which the specification names.",
                f"Take {name} out of [plugins]; it offers {', '.join(sorted(offers.points))}.",
            )
        _KIND.claim(owners, name, wanted)
        found.update(dict.fromkeys(wanted, offers))
    return {method: _load(offers, method) for method, offers in found.items()}


def _load(offers: Offers, method: str) -> type[Method]:
    """The method of an entry point.

    Raises:
        PluginError: it cannot be loaded or is not a method; it says too little of itself; or its file is not
            one of the distribution, so that a manifest could not say which code it was.
    """
    kind = offers.load(method, _declaration)
    if silent := kind.undeclared_traits():
        raise PluginError(
            f"The method {method!r} of {offers.name} does not state {', '.join(silent)}.",
            "Its author has to state these in the class, and run anonymizer.testing.check_method.",
        )
    return kind


def _declaration(found: Any) -> Declared[type[Method]] | None:
    """The class of an entry point; None if it is not a method with a name."""
    if not isinstance(found, type) or not issubclass(found, Method) or not hasattr(found, "name"):
        return None
    return Declared(found, found.name, found)
