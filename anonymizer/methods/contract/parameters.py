"""Parameters in the manner of scikit-learn, without importing it.

Its base class would do the same, but its import takes 1.4 s of the processor and 180 MB in every command.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Self, TypeVar, dataclass_transform, get_type_hints

from typing_extensions import override

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(kind: type[T]) -> type[T]:
    """Give a class the constructor that takes its annotated fields by name and keeps them.

    Fields of a class above that is marked too are taken over, with their annotations as they are meant there.
    """
    made = dataclass(kw_only=True, eq=False, repr=False)(kind)
    above = next((base for base in kind.__mro__[1:] if is_dataclass(base)), None)
    if above is not None:
        own, hints = inspect.get_annotations(kind), get_type_hints(above.__init__)
        made.__init__.__annotations__ |= {name: hint for name, hint in hints.items() if name not in own}
    return made


@cache
def _defaults(kind: type) -> Mapping[str, Any]:
    """The parameters of a constructor by name, with their defaults."""
    given = inspect.signature(kind).parameters
    return MappingProxyType({name: given[name].default for name in sorted(given)})


class Parameterized:
    """Whoever keeps the parameters of its constructor under their names; `sklearn.base.clone` copies it."""

    @classmethod
    def _defaults(cls) -> Mapping[str, Any]:
        kind: Any = cls  # of a class itself mypy does not know that it has a hash
        found: Mapping[str, Any] = _defaults(kind)
        return found

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` is for whoever holds others of this kind."""
        del deep
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set some of the parameters.

        Raises:
            ValueError: the constructor has no parameter of that name.
        """
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known) or 'none'}."
                )
            setattr(self, name, value)
        return self

    @override
    def __repr__(self) -> str:
        """The constructor with the parameters that differ from its defaults."""
        defaults = self._defaults()
        changed = (
            f"{name}={shown}"
            for name, value in self.get_params(deep=False).items()
            if (shown := repr(value)) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """What pipelines of scikit-learn ask of a step."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
        )
