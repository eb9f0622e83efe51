"""Grouped: one state for each key."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Union

import numpy as np

from mindeval.state.base import State, check_names

Key = Union[str, int]


class Grouped(State):
    """One state for each key (a subject, a class, a domain).

    With ``keys`` the groups are declared: others are refused and the layout is fixed. Without, they are discovered.

    >>> from mindeval.state import Count
    >>> by_subject = Grouped(Count())
    >>> by_subject.add({"law": 2, "physics": 1})
    >>> {key: count.value for key, count in by_subject.value.items()}
    {'law': 2, 'physics': 1}
    """

    def __init__(self, template: State, keys: Iterable[Key] | None = None) -> None:
        if template.dynamic:
            raise ValueError(f"a Grouped state needs members of fixed size, but got {template.layout}")
        self.template = template.zero()
        self.keys = None if keys is None else sorted(set(keys), key=_key_order)
        self._members: dict[Key, Any] = {key: template.zero() for key in self.keys or ()}
        self._absorbed = False

    def zero(self) -> Grouped:
        return Grouped(self.template, self.keys)

    @property
    def dynamic(self) -> bool:  # type: ignore[override]
        return self.keys is None and not self._absorbed

    @property
    def layout(self) -> str:
        return f"Grouped({self.template.layout}; {'discovered' if self.keys is None else json.dumps(self.keys)})"

    @property
    def value(self) -> dict[Key, Any]:
        """The states by key, in the order of the keys."""
        return {key: self._members[key] for key in sorted(self._members, key=_key_order)}

    def add(self, contribution: Any) -> None:
        for key, part in contribution.items():
            self._member(key.item() if isinstance(key, np.generic) else key).add(part)

    def _member(self, key: Key) -> State:
        if key not in self._members:
            if self.keys is not None:
                raise ValueError(f"group {key!r} is not one of the declared groups {self.keys}")
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                raise TypeError(f"a group is named by a str or an int, but got {key!r}")
            self._members[key] = self.template.zero()
        return self._members[key]

    def merge(self, other: Grouped) -> None:
        for key, member in other._members.items():
            self._member(key).merge(member)

    @property
    def size(self) -> int:
        return len(self._members) * self.template.size

    def pack(self, world: int) -> np.ndarray:
        return np.concatenate([np.zeros(0, np.int64)] + [member.pack(world) for member in self.value.values()])

    def unpack(self, words: np.ndarray) -> None:
        step = self.template.size
        for place, member in enumerate(self.value.values()):
            member.unpack(words[place * step : (place + 1) * step])

    def announce(self) -> bytes:
        return json.dumps(list(self.value)).encode()

    def absorb(self, announced: list[bytes]) -> None:
        for names in announced:
            for key in json.loads(names):
                self._member(key)
        self._absorbed = True

    def state(self) -> list:
        return [[key, member.state()] for key, member in self.value.items()]

    def load(self, saved: Any) -> None:
        contents = dict(saved)
        if len(contents) < len(saved):
            raise ValueError(f"saved groups must differ, but got {len(saved)} with {len(contents)} names")
        if self.keys is not None:
            check_names(contents, self.keys, "saved groups must be")
        self._members = {key: self.template.zero() for key in self.keys or ()}
        for key, content in contents.items():
            self._member(key).load(content)


def _key_order(key: Key) -> tuple:
    return (isinstance(key, str), key)
