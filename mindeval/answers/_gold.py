"""How the labels, options and groups of questions are written. Rows that do not count are not looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs

_BETWEEN_LETTERS = "() ,;、，[]."


def check_choices(choices: Any) -> list[str]:
    """The letters of the options: different ones, of one character each.

    >>> check_choices("ABC")
    ['A', 'B', 'C']
    """
    if not isinstance(choices, (str, list, tuple)) or not all(isinstance(letter, str) for letter in choices):
        raise TypeError(
            f"choices must be a str or a list of str (a tokenizer goes to tokenizer_or_ids=), but got {choices!r}"
        )
    letters = list(choices)
    if not letters or any(len(letter) != 1 for letter in letters) or len(_places(letters)) < len(letters):
        raise ValueError(f"choices must be different letters of one character each, but got {choices!r}")
    return letters


def letter_set(text: str, choices: Sequence[str]) -> frozenset[int]:
    """The places of the letters in a text such as "B", "BD", "(B)" or "b, d".

    >>> letter_set("(B) and", "AB")
    Traceback (most recent call last):
    ValueError: labels must be letters of 'AB', but got '(B) and'
    """
    places = _places(choices)
    letters = [c for c in text.upper() if c not in _BETWEEN_LETTERS]
    if not letters or any(letter not in places for letter in letters):
        raise ValueError(f"labels must be letters of {''.join(choices)!r}, but got {text!r}")
    return frozenset(places[letter] for letter in letters)


def _places(choices: Iterable[str]) -> dict[str, int]:
    return {letter.upper(): place for place, letter in enumerate(choices)}


def gold_sets(labels: Any, counted: np.ndarray, choices: Sequence[str], counts: Sequence[int]) -> list[frozenset[int]]:
    """The right options of each question as sets of places.

    Taken are: places [B], letters ("B", "BD", "(B)") [B], a list of lists of either, and bool [B, C].

    Args:
        labels: These.
        counted: bool [B]; the sets of other rows are empty.
        choices: The letters.
        counts: The number of options of each question.
    """
    rows = _rows(labels, "labels")
    if len(rows) != len(counted):
        raise ValueError(f"labels must have shape [{len(counted)}] to match predictions, but got {len(rows)}")
    widest = max((count for count, counts_here in zip(counts, counted) if counts_here), default=0)
    found = []
    for place, label in enumerate(rows):
        right = _gold(label, choices, counts[place], widest) if counted[place] else frozenset()
        if counted[place] and not (right and min(right) >= 0 and max(right) < counts[place]):
            limit = counts[place]
            raise ValueError(
                f"labels must name options 0 to {limit - 1} (or {list(choices)[:limit]}), but row {place} has {label!r}"
            )
        found.append(right)
    return found


def _rows(values: Any, what: str) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "UO":
        return values.tolist()
    array = inputs.to_numpy(values, what)
    if array.ndim == 0:
        raise ValueError(f"{what} must have one row a question, but got {inputs.describe(values)}")
    return (array if array.dtype.kind == "b" else inputs.class_ids(values, what)).tolist()


def _gold(label: Any, choices: Sequence[str], count: int, widest: int) -> frozenset[int]:
    if isinstance(label, str):
        return letter_set(label, choices)
    items = label if isinstance(label, (list, tuple)) else inputs.to_numpy(label, "labels").tolist()
    if not isinstance(items, (list, tuple)):
        items = [items]
    flags = [item for item in items if isinstance(item, (bool, np.bool_))]
    if flags:
        if (
            len(flags) != len(items)
            or len(flags) not in (count, widest)
            or items is not label
            and len(items) == 1 < count
        ):
            raise ValueError(
                f"bool labels must be one flag for each of the {count} options, as [B, C], but got {label!r}"
            )
        return frozenset(place for place, flag in enumerate(flags) if flag)
    right: set[int] = set()
    for item in items:
        named = letter_set(item, choices) if isinstance(item, str) else {int(inputs.class_ids(item, "labels"))}
        if right & named:
            raise ValueError(f"labels must name an option once, but got {label!r}: flags of options must be bool")
        right |= named
    return frozenset(right)


def option_counts(options: Any, counted: np.ndarray, choices: int) -> list[int]:
    """How many options each question has, from numbers or the options' texts; all ``choices`` where none are given."""
    if options is None:
        return [choices] * len(counted)
    rows = _rows(options, "options")
    if len(rows) != len(counted):
        raise ValueError(f"options must have {len(counted)} rows to match predictions, but got {len(rows)}")
    counts = []
    for place, row in enumerate(rows):
        if not counted[place]:
            counts.append(choices)
            continue
        spelled = isinstance(row, (list, tuple, np.ndarray))
        count = len(inputs.texts(row, "options")) if spelled else inputs.whole_number(row, "options")
        if not 1 <= count <= choices:
            raise ValueError(f"a question must have 1 to {choices} options (choices), but row {place} has {count}")
        counts.append(count)
    return counts


def option_texts(options: Any, place: int) -> list[str] | None:
    """The texts of a question's options, if texts were given."""
    row = None if options is None else options[place]
    return inputs.texts(row, "options") if isinstance(row, (list, tuple, np.ndarray)) and len(row) else None


def group_names(groups: Any, counted: np.ndarray) -> list[str]:
    """The group (subject) of each question; an int names the same group as its digits do."""
    names = _rows(groups, "groups")
    if len(names) != len(counted):
        raise ValueError(f"groups must name the group of each of {len(counted)} questions, but got {len(names)}")
    return [group_name(name) if counts else "" for name, counts in zip(names, counted)]


def group_name(name: Any) -> str:
    if isinstance(name, (bool, np.bool_)) or not isinstance(name, (str, int, np.integer)):
        raise TypeError(f"groups must be named by str or int, but got {name!r}")
    return str(name)


def check_weights(weights: Any, groups: Sequence[str] | None) -> dict[str, Fraction] | None:
    """group -> weight, exactly.

    Args:
        weights: A mapping, or None.
        groups: The declared names, which must all have a weight; None where they are discovered.
    """
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a dict of group -> number, but got {weights!r}")
    found: dict[str, Fraction] = {}
    for group, weight in weights.items():
        number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
        if not number or not 0 <= weight < float("inf"):
            raise ValueError(f"weights must be finite numbers >= 0, but {group!r} has {weight!r}")
        if group_name(group) in found:
            raise ValueError(f"weights must name a group once, but {group_name(group)!r} has two")
        found[group_name(group)] = Fraction(str(weight))
    missing = [group for group in groups or () if group not in found]
    if missing:
        raise ValueError(f"weights must name every group, but {missing[0]!r} is missing")
    if not sum(found.values()):
        raise ValueError("weights must not all be 0")
    return found


def declared_groups(groups: Any) -> list[str]:
    """The names of the groups that a metric is made with; one for all where it has none."""
    if groups is None or groups is False:
        return ["all"]
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must be None, True or the groups' names, but got {groups!r}")
    names = [group_name(group) for group in groups]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"groups must be different names, but got {names}")
    return names
