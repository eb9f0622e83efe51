"""Which inputs an update takes: the parameters of a metric's ``_contribution``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple


class Parameters(NamedTuple):
    """What a ``_contribution`` takes."""

    positional: tuple[str, ...]
    named: frozenset[str]  # those that may be given by keyword
    required: frozenset[str]
    any_number: bool
    shown: str

    def check(self, positional: int, named: Mapping[str, Any]) -> None:
        """Raise a TypeError if it does not take that many inputs and these keywords."""
        filled = set(self.positional[:positional])
        fits = positional <= len(self.positional) or self.any_number
        if not fits or filled & named.keys() or not self.required <= filled | named.keys() or named.keys() - self.named:
            given = f"{positional} inputs" + "".join(f" and {name}=" for name in named)
            raise TypeError(f"the inputs must be ({self.shown}), but got {given}")


@functools.cache
def parameters_of(contribution: Callable[..., Any]) -> Parameters:
    """The parameters of a class's ``_contribution``, without ``self``.

    >>> parameters_of(lambda self, predictions, labels, mask=None: {}).shown
    'predictions, labels, mask='
    """
    _, *parameters = inspect.signature(contribution).parameters.values()
    single = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Parameters(
        tuple(p.name for p in single if p.kind is not p.KEYWORD_ONLY),
        frozenset(p.name for p in single if p.kind is not p.POSITIONAL_ONLY),
        frozenset(p.name for p in single if p.default is p.empty),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
        ", ".join(p.name if p.default is p.empty else f"{p.name}=" for p in single),
    )
