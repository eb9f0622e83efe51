"""Rows: the rows of samples themselves, for the few metrics that cannot be a sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mindeval.state.base import State

_SOME_WITH_IDS = "some rows came with sample ids and others without: give ids for all or for none"


class Rows(State):
    """Rows of int64 columns, for the few metrics that cannot be a sum (exact curves, records of single samples).

    Rows given with sample ids are kept once for each id: a sample that padding repeated counts once. The same id with
    another content is an error. ``value`` is in sorted order, so the order of arrival cannot matter.

    >>> rows = Rows(2)
    >>> rows.add((np.array([[5, 1], [3, 0], [5, 1]]), np.array([7, 8, 7])))
    >>> rows.value
    array([[5, 1],
           [3, 0]])
    """

    def __init__(self, columns: int) -> None:
        self.columns = int(columns)
        self._parts: list[np.ndarray] = []  # matrices [n, 1 + columns], the id first; or [n, columns] without ids
        self._compacted = True  # at most one part, sorted and without repeated ids
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
            matrix = np.concatenate([names.astype(np.int64)[:, None], matrix], axis=1)
        if len(matrix):
            self._append(matrix)
            if ids is not None:
                self._compact()

    def _append(self, matrix: np.ndarray) -> None:
        if self._parts and self._parts[0].shape[1] != matrix.shape[1]:
            raise ValueError(_SOME_WITH_IDS)
        self._parts.append(matrix)
        self._compacted = False

    def _joined(self) -> np.ndarray:
        return self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)

    def _compact(self) -> np.ndarray:
        """One sorted matrix without repeated ids."""
        if not self._parts:
            return np.zeros((0, self.columns), np.int64)
        if self._compacted:
            return self._parts[0]
        matrix = self._joined()
        if matrix.shape[1] == 1:
            matrix = np.sort(matrix, axis=None)[:, None]  # ten times faster than an indirect sort
        else:
            matrix = matrix[np.lexsort(matrix.T[::-1])]
        if matrix.shape[1] > self.columns:
            same_id = matrix[1:, 0] == matrix[:-1, 0]
            differs = same_id & (matrix[1:] != matrix[:-1]).any(axis=1)
            if differs.any():
                raise ValueError(f"sample id {int(matrix[1:][differs][0, 0])} was given twice with different contents")
            matrix = matrix[np.concatenate([[True], ~same_id])]
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

    def check_merge(self, other: Rows) -> None:
        if self._parts and other._parts and self._parts[0].shape[1] != other._parts[0].shape[1]:
            raise ValueError(_SOME_WITH_IDS)

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
                self._append(np.frombuffer(content[1:], "<i8").astype(np.int64).reshape(-1, self.columns + content[0]))
        self._compact()
        self._absorbed = True

    def state(self) -> dict:
        matrix = self._compact()
        return {"ids": matrix.shape[1] > self.columns, "rows": matrix.tolist()}

    def load(self, saved: Mapping) -> None:
        width = self.columns + bool(saved["ids"])
        matrix = np.asarray(saved["rows"], np.int64).reshape(-1, width)
        self._parts, self._compacted = [matrix] if len(matrix) else [], False
