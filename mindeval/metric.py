"""Metric: the base class of all metrics, from the inputs of an update to the value.

What is computed is in the families; how states are merged, saved and copied in accumulator.py; how they are reduced
over ranks in scope.py.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import mindspore.train

from mindeval import display, inputs
from mindeval.accumulator import Accumulator
from mindeval.constructors import checked
from mindeval.parameters import parameters_of
from mindeval.score import Score
from mindeval.state import State


class Metric(Accumulator, mindspore.train.Metric):
    """A streaming metric with exact states, for ``Model(..., metrics=...)``, callbacks and loops.

    A subclass hands its empty states and its settings to ``__init__`` and writes two pure methods: ``_contribution``
    turns the inputs of one update into what each state gets, and ``_compute`` turns states into results. All the rest
    is here.

    Args:
        states: name -> empty state. The state ``"samples"`` is added by the base.
        settings: what the signature shows, in this order.
        distributed: ``True``, or the name of a group: the value over all ranks (see ``set_distributed``).
        name: the metric's name in messages; by default the class's in lower case.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import numpy as np
    >>> from mindeval.state import Count
    >>> class Positives(Metric):
    ...     def __init__(self):
    ...         super().__init__(states={"positives": Count()})
    ...     def _contribution(self, values):
    ...         return {"positives": int((values > 0).sum()), "samples": len(values)}
    ...     def _compute(self, states):
    ...         return {"rate": states["positives"].value / states["samples"].value}
    >>> metric = Positives()
    >>> metric.update(np.array([1.0, -1.0, 2.0]))
    >>> metric.update(np.array([-1.0]))
    >>> metric.eval(), metric.result()["samples"]
    (0.5, 4)
    """

    higher_is_better: bool | None = None

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "__init__" in cls.__dict__:
            cls.__init__ = checked(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        *,
        states: Mapping[str, State],
        settings: Mapping[str, Any] | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        super().__init__(states, settings, name)
        if not isinstance(distributed, (bool, str)) or distributed == "":
            raise TypeError(f"distributed must be True, False or the name of a group, but got {distributed!r}")
        if distributed:
            self.set_distributed(True, distributed if isinstance(distributed, str) else None)

    # -- written by the author of a metric ---------------------------------------------------------------------------

    def _contribution(self, *batch: Any, **named: Any) -> Mapping[str, Any]:
        """State name -> what to add, with ``"samples"``. Pure, so that an update that fails changes nothing."""
        raise TypeError(f"{type(self).__name__} must define _contribution()")

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        """All results, JSON-ready; the first is the value of ``eval()``."""
        raise TypeError(f"{type(self).__name__} must define _compute()")

    def _samples(self, states: Mapping[str, Any]) -> int:
        """The number of samples, which ``expected_samples`` checks.

        A metric that keeps rows under sample ids overrides it, so that a sample that padding repeated counts once here
        as it does in the value. Only the metric knows whether the ids of its rows name samples.
        """
        return states["samples"].value

    # -- the MindSpore contract --------------------------------------------------------------------------------------

    def update(self, *batch: Any, **named: Any) -> None:
        """Add a batch. Nested tuples are flattened; ``set_indexes`` picks positions before that, as in MindSpore.

        Raises:
            ValueError, TypeError: for inputs that do not fit; nothing accumulated before is lost. A distributed metric
                logs the error and raises it at ``eval()``, on every rank.
        """
        self._take_states(self._read_batch(batch, named))

    def _read_batch(self, batch: tuple, named: Mapping[str, Any]) -> dict[str, State]:
        """What an update adds to each state; nothing where this rank does not contribute or failed before."""
        scope = self._scope
        if scope.distribution.contributes and self.name not in scope.errors:
            try:
                return self._added(batch, named)
            except Exception as error:
                scope.failed(self.name, self._with_name(error, "update"))
        return {}

    def _added(self, batch: tuple, named: Mapping[str, Any]) -> dict[str, State]:
        if self.indexes:
            if max(self.indexes) >= len(batch):
                raise ValueError(f"set_indexes({self.indexes}) needs more than the {len(batch)} inputs that were given")
            batch = tuple(batch[place] for place in self.indexes)
        prepared = next((item for item in batch if isinstance(item, inputs.Prepared)), None)
        if prepared is None:
            flat: Any = inputs.flatten(batch)
        else:
            flat = prepared.inputs_for(self)
            self._scope.is_global = prepared.is_global
            if flat is None:
                return {}
        parameters_of(type(self)._contribution).check(len(flat), named)
        contribution = self._contribution(*flat, **named)
        unknown = [name for name in contribution if name not in self._states]
        if "samples" not in contribution or unknown:
            raise TypeError(
                f"_contribution of {type(self).__name__} must count its samples and name states out of "
                f"{list(self._states)}, but gave {list(contribution)}"
            )
        added = {name: self._states[name].zero() for name in contribution}
        for name, part in contribution.items():
            added[name].add(part)
        self._check_merge(added)
        return added

    def eval(self) -> Score:
        """The value of everything since the last ``clear()``, over all ranks if distributed.

        Raises:
            RuntimeError: if there was no sample at all, or not ``expected_samples`` of them.
        """
        try:
            states = self._scope.states(self.name)
            samples, expected = self._samples(states), self._scope.distribution.expected_samples
        except (TypeError, ValueError, OverflowError) as error:  # of states that ranks brought together
            raise self._with_name(error, "eval") from error
        if samples == 0:
            raise RuntimeError(
                f"For '{type(self).__name__}.eval', there is no data: no update() gave a sample that counts"
            )
        if expected is not None and samples != expected:
            raise RuntimeError(
                f"For '{type(self).__name__}.eval', {samples} samples were counted, {expected} expected: were padded "
                "samples counted, or a rank's share left out?"
            )
        try:
            parts = self._compute(states)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._with_name(error, "eval") from error
        if not isinstance(parts, dict) or not parts:
            raise TypeError(f"_compute of {type(self).__name__} must return a dict of results, but gave {parts!r}")
        signature = self.signature
        self._last = {**parts, "samples": samples, "signature": str(signature)}
        return Score(next(iter(parts.values())), parts, signature, self.higher_is_better)

    # -- beyond it ---------------------------------------------------------------------------------------------------

    def __call__(self, *batch: Any, **named: Any) -> Score:
        """The value of these inputs alone (over all ranks if distributed). What was accumulated stays as it is.

        ``expected_samples`` is about the whole data set and is not checked here.
        """
        alone = self._emptied()
        alone._scope = self._scope.of_one_call({self.name: alone})
        alone.update(*batch, **named)
        return alone.eval()

    def result(self) -> dict[str, Any]:
        """Everything that the last ``eval()`` computed, JSON-ready. Never communicates.

        Raises:
            RuntimeError: if ``eval()`` was not called since the last ``clear()``.
        """
        if self._last is None:
            raise RuntimeError(
                f"For '{type(self).__name__}.result', call eval() first: result() never communicates itself"
            )
        return copy.deepcopy(self._last)

    def set_distributed(
        self,
        enabled: bool | str = True,
        group: str | None = None,
        *,
        contributes: bool = True,
        expected_samples: int | None = None,
    ) -> Metric:
        """Say that the value is to cover all ranks of a group. Returns the metric.

        Each sample must be contributed by one rank of the group, and every rank must evaluate and clear the same
        metrics the same number of times. In a single process nothing is communicated.

        Args:
            enabled: ``False``: the value of this rank's data alone. The name of a group stands for ``True, group``.
            group: the communication group; by default all ranks.
            contributes: ``False``: this rank's inputs are ignored (copies of another rank's, or none); it still takes
                part in every evaluation and gets the value.
            expected_samples: the number of samples of the whole data set; ``eval()`` raises if another number was
                counted.
        """
        if self._scope.owned:
            raise ValueError(f"'{self.name}' belongs to a collection: call set_distributed of the collection")
        self._scope.distribute(enabled, group, contributes, expected_samples)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature}, {self._samples(self._states):,} samples here)"

    def _repr_html_(self) -> str:
        last = dict(self._last or {})
        value = next(iter(last.values()), "not evaluated yet")
        last.pop("signature", None)
        return display.html_card(self.name, value, last, str(self.signature))
