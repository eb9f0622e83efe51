"""Rows: the rows of samples themselves, for the few metrics that cannot be a sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindeval.state.base import State, check_names

_SOME_WITH_IDS = "some rows came with sample ids and others without: give ids for all or for none"


class Rows(State):
    """Rows of int64 columns, for the few metrics that cannot be a sum (exact curves, records of single samples).

    Rows given with sample ids are kept once for each id: a sample that padding repeated counts once. The same id with
    another content is an error, which ``add`` and ``check_merge`` find. ``value`` is in sorted order, so the order of
    arrival cannot matter.

    >>> rows = Rows(2)
    >>> rows.add((np.array([[5, 1], [3, 0], [5, 1]]), np.array([7, 8, 7])))
    >>> rows.value
    array([[5, 1],
           [3, 0]])
    """

    def __init__(self, columns: int) -> None:
        self.columns = int(columns)
        # Matrices [n, columns]; or with ids [n, 1 + columns], the id first: these are sorted and without repeated ids,
        # and each is more than twice as long as the next, so that ids are looked for in few of them.
        self._parts: list[np.ndarray] = []
        self._compacted = True  # at most one part, sorted
        self._absorbed = False

    @property
    def dynamic(self) -> bool:  # type: ignore[override]
        return not self._absorbed

    def zero(self) -> Rows:
        return Rows(self.columns)

    @property
    def layout(self) -> str:
        return f"Rows({self.columns})"

    def add(self, contribution: Any) -> None:
        rows, ids = contribution if isinstance(contribution, tuple) else (contribution, None)
        matrix = np.asarray(rows)
        if matrix.ndim != 2 or matrix.shape[1] != self.columns or matrix.dtype.kind != "i":
            raise ValueError(
                f"Rows takes int64 of shape [n, {self.columns}], but got {matrix.dtype} {list(matrix.shape)}"
            )
        matrix = matrix.astype(np.int64)
        if ids is not None:
            names = np.asarray(ids)
            if names.shape != matrix.shape[:1] or names.dtype.kind not in "iu":
                raise ValueError(
                    f"sample ids must be {len(matrix)} integers, but got {names.dtype} {list(names.shape)}"
                )
            matrix = _distinct(np.concatenate([names.astype(np.int64)[:, None], matrix], axis=1))
        if len(matrix):
            self._append(matrix)

    def _append(self, matrix: np.ndarray) -> None:
        if self._parts and self._parts[0].shape[1] != matrix.shape[1]:
            raise ValueError(_SOME_WITH_IDS)
        self._parts.append(matrix)
        self._compacted = False
        if matrix.shape[1] > self.columns:
            while len(self._parts) > 1 and len(self._parts[-2]) <= 2 * len(self._parts[-1]):
                self._parts[-2:] = [_distinct(np.concatenate(self._parts[-2:]))]
            self._compacted = len(self._parts) == 1

    def _joined(self) -> np.ndarray:
        return self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)

    def _compact(self) -> np.ndarray:
        """One sorted matrix without repeated ids."""
        if not self._parts:
            return np.zeros((0, self.columns), np.int64)
        if self._compacted:
            return self._parts[0]
        matrix = self._joined()
        if matrix.shape[1] > self.columns:
            matrix = _distinct(matrix)
        elif matrix.shape[1] == 1:
            matrix = np.sort(matrix, axis=None)[:, None]  # ten times faster than an indirect sort
        else:
            matrix = matrix[np.lexsort(matrix.T[::-1])]
        self._parts, self._compacted = [matrix], True
        return matrix

    @property
    def value(self) -> np.ndarray:
        """int64 [n, columns], sorted (by id where there are ids)."""
        matrix = self._compact()
        return matrix[:, matrix.shape[1] - self.columns :]

    @property
    def in_any_order(self) -> np.ndarray:
        """int64 [n, columns]: ``value`` without the cost of sorting, for what does not depend on the order."""
        if not self._parts or self._parts[0].shape[1] > self.columns:
            return self.value
        return self._joined()

    @property
    def ids(self) -> np.ndarray | None:
        """The sample ids of the rows of ``value``; None where rows came without, or where there are none."""
        if not self._parts or self._parts[0].shape[1] == self.columns:
            return None
        return self._compact()[:, 0]

    @property
    def with_ids(self) -> bool | None:
        """Whether the rows came with sample ids; None where there are none."""
        return self._parts[0].shape[1] > self.columns if self._parts else None

    def check_merge(self, other: Rows) -> None:
        check_all_with_ids([self, other])
        if not other.with_ids:
            return
        added = other._compact()
        for part in self._parts:
            known, places = _found(added[:, 0], part[:, 0])
            _refuse_other_contents(added[known], part[places])

    def check_apart(self, other: Rows) -> None:
        """Raise a ValueError if an id of the other rows, whose contents are of another kind, is one of these."""
        if not other.with_ids:
            return
        ids = other._compact()[:, 0]
        for part in self._parts:
            if part.shape[1] > self.columns:
                known, _ = _found(ids, part[:, 0])
                if known.size:
                    raise _two_contents(ids[known[0]])

    def merge(self, other: Rows) -> None:
        for matrix in other._parts:
            self._append(matrix)

    @property
    def size(self) -> int:
        return 0

    def pack(self, world: int) -> np.ndarray:
        return np.zeros(0, np.int64)

    def unpack(self, words: np.ndarray) -> None:
        """Nothing to do: ``absorb`` took all rows."""

    def announce(self) -> bytes:
        matrix = self._compact()
        return bytes([matrix.shape[1] - self.columns if len(matrix) else 2]) + matrix.astype("<i8").tobytes()

    def absorb(self, announced: list[bytes]) -> None:
        self._parts, self._compacted = [], True
        for content in announced:
            if content[0] != 2:
                matrix = np.frombuffer(content[1:], "<i8").astype(np.int64).reshape(-1, self.columns + content[0])
                self._append(matrix)
        self._compact()
        self._absorbed = True

    def state(self) -> dict:
        matrix = self._compact()
        return {"ids": matrix.shape[1] > self.columns, "rows": matrix.tolist()}

    def load(self, saved: Mapping) -> None:
        check_names(saved, ("ids", "rows"), "saved rows must have")
        with_ids, rows = saved["ids"], saved["rows"]
        if not isinstance(with_ids, bool) or not isinstance(rows, list):
            raise ValueError(f"saved rows must be a list, and with ids or not, but got {rows!r:.80} and {with_ids!r}")
        width = self.columns + with_ids
        matrix = np.asarray(rows) if rows else np.zeros((0, width), np.int64)
        if matrix.ndim != 2 or matrix.shape[1] != width or matrix.dtype.kind != "i":
            raise ValueError(f"saved rows must be int64 [n, {width}], but got {matrix.dtype} {list(matrix.shape)}")
        if with_ids:
            matrix = _distinct(matrix)
        self._parts, self._compacted = [matrix] if len(matrix) else [], with_ids


def check_all_with_ids(stores: Sequence[Rows]) -> None:
    """Raise a ValueError if some rows came with sample ids and others without."""
    if {True, False} <= {store.with_ids for store in stores}:
        raise ValueError(_SOME_WITH_IDS)


def _distinct(matrix: np.ndarray) -> np.ndarray:
    """Rows that begin with an id, in the order of ids and each id once; a ValueError if one has two contents."""
    ids = matrix[:, 0]
    if not (ids[1:] > ids[:-1]).all():
        matrix = matrix[np.argsort(ids, kind="stable")]  # which merges sorted stretches in linear time
        repeats = matrix[1:, 0] == matrix[:-1, 0]
        if repeats.any():
            _refuse_other_contents(matrix[1:][repeats], matrix[:-1][repeats])
            matrix = matrix[np.concatenate([[True], ~repeats])]
    return matrix


def _found(ids: np.ndarray, sorted_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the ids that are among the sorted ones, and where they stand there."""
    places = np.searchsorted(sorted_ids, ids)
    known = np.flatnonzero(sorted_ids[np.minimum(places, len(sorted_ids) - 1)] == ids)
    return known, places[known]


def _refuse_other_contents(rows: np.ndarray, known: np.ndarray) -> None:
    differs = (rows != known).any(axis=1)
    if differs.any():
        raise _two_contents(rows[differs.argmax(), 0])


def _two_contents(sample_id: np.int64) -> ValueError:
    return ValueError(f"sample id {int(sample_id)} was given twice with different contents")
