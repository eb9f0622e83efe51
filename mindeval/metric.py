"""Metric: the base class of all metrics. What is computed is in the families; what is reduced together in scope.py."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

import mindspore.train

from mindeval import display, inputs
from mindeval.distributed import Distribution
from mindeval.scope import Scope
from mindeval.score import Score, Signature
from mindeval.state import Count, State


class Metric(mindspore.train.Metric):
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

    version = 1  # of the definition: states of another version are refused
    higher_is_better: bool | None = None

    def __init__(
        self,
        *,
        states: Mapping[str, State],
        settings: Mapping[str, Any] | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self._states: dict[str, State] = {**states, "samples": Count()}
        self._settings = dict(settings or {})
        self.name = name or _kind(self)
        self._last: dict[str, Any] | None = None
        super().__init__()  # mindspore.train.Loss.__init__ calls clear()
        self._scope = Scope({self.name: self})
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
        """The number of samples that ``expected_samples`` checks."""
        return states["samples"].value

    # -- the MindSpore contract --------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget everything that was accumulated."""
        for name, state in self._states.items():
            self._states[name] = state.zero()
        self._last = None
        if hasattr(self, "_scope"):
            self._scope.cleared(self.name)

    def update(self, *batch: Any, **named: Any) -> None:
        """Add a batch. Nested tuples are flattened; ``set_indexes`` picks positions before that, as in MindSpore.

        Raises:
            ValueError, TypeError: for inputs that do not fit; nothing accumulated before is lost. A distributed metric
                logs the error and raises it at ``eval()``, on every rank.
        """
        scope = self._scope
        if not scope.distribution.contributes or self.name in scope.errors:
            return
        try:
            added = self._added(batch, named)
        except Exception as error:
            scope.failed(self.name, self._with_name(error))
        else:
            for name, state in added.items():
                self._states[name].merge(state)
            scope.updated(self.name)

    def _added(self, batch: tuple, named: Mapping[str, Any]) -> dict[str, State]:
        if self.indexes:
            if max(self.indexes) >= len(batch):
                raise ValueError(f"set_indexes({self.indexes}) needs more than the {len(batch)} inputs that were given")
            batch = tuple(batch[place] for place in self.indexes)
        prepared = next((item for item in batch if isinstance(item, inputs.Prepared)), None)
        if prepared is None:
            positional: Any = inputs.flatten(batch)
        else:
            positional = prepared.inputs_for(self)
            self._scope.is_global = prepared.is_global
            if positional is None:
                return {}
        contribution = self._contribution(*positional, **named)
        if "samples" not in contribution:
            raise TypeError(
                f"_contribution of {type(self).__name__} must count its samples, but gave {list(contribution)}"
            )
        added = {}
        for name, part in contribution.items():
            added[name] = self._states[name].zero()
            added[name].add(part)
            self._states[name].check_merge(added[name])
        return added

    def _with_name(self, error: Exception) -> Exception:
        if type(error) not in (TypeError, ValueError):
            return error
        named = type(error)(f"For '{type(self).__name__}.update', {error}")
        named.__cause__ = error
        return named

    def eval(self) -> Score:
        """The value of everything since the last ``clear()``, over all ranks if distributed.

        Raises:
            RuntimeError: if there was no sample at all, or not ``expected_samples`` of them.
        """
        states = self._scope.states(self.name)
        samples, expected = self._samples(states), self._scope.distribution.expected_samples
        if samples == 0:
            raise RuntimeError(
                f"For '{type(self).__name__}.eval', there is no data: no update() gave a sample that counts"
            )
        if expected is not None and samples != expected:
            raise RuntimeError(
                f"For '{type(self).__name__}.eval', {samples} samples were counted, {expected} expected: were padded "
                "samples counted, or a rank's share left out?"
            )
        parts = self._compute(states)
        signature = self.signature
        self._last = {**parts, "samples": samples, "signature": str(signature)}
        return Score(next(iter(parts.values())), parts, signature, self.higher_is_better)

    # -- beyond it ---------------------------------------------------------------------------------------------------

    def __call__(self, *batch: Any, **named: Any) -> Score:
        """The value of these inputs alone (over all ranks if distributed). What was accumulated stays as it is."""
        alone = copy.copy(self)
        alone.clear()
        alone._scope.name, alone._scope.rounds = f"a call of {self.name}", self._scope.rounds
        alone.update(*batch, **named)
        self._scope.rounds += 1
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

    def merge(self, other: Metric) -> Metric:
        """Add what another metric of the same definition accumulated, as if its updates had been made here."""
        self._must_agree(other.signature, "merge")
        other._raise_kept_error()
        for name, state in other._states.items():
            self._states[name].merge(copy.deepcopy(state))
        self._scope.updated(self.name)
        return self

    def state_dict(self) -> dict[str, Any]:
        """The accumulated states, exact and JSON-ready."""
        self._raise_kept_error()
        states = {name: state.state() for name, state in self._states.items()}
        return {"signature": str(self.signature), "states": states}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Replace what was accumulated by a ``state_dict()`` of a metric of the same definition."""
        self._must_agree(Signature(saved["signature"]), "load_state_dict")
        states = {name: state.zero() for name, state in self._states.items()}
        for name, state in states.items():
            state.load(saved["states"][name])
        self._states, self._last = states, None
        self._scope.updated(self.name)

    def _raise_kept_error(self) -> None:
        error = self._scope.errors.get(self.name)
        if error is not None:
            raise error

    def _must_agree(self, signature: Signature, where: str) -> None:
        mine = self.signature.definition
        if signature.definition != mine:
            raise ValueError(
                f"For '{type(self).__name__}.{where}', the state must be of {mine}, but got {signature.definition}"
            )

    def set_distributed(
        self,
        enabled: bool = True,
        group: str | None = None,
        *,
        contributes: bool = True,
        expected_samples: int | None = None,
    ) -> Metric:
        """Say that the value is to cover all ranks of a group. Returns the metric.

        Each sample must be contributed by one rank of the group, and every rank must evaluate and clear the same
        metrics the same number of times. In a single process this changes nothing.

        Args:
            enabled: ``False``: the value of this rank's data alone.
            group: the communication group; by default all ranks.
            contributes: ``False``: this rank's inputs are ignored (copies of another rank's, or none); it still takes
                part in every evaluation and gets the value.
            expected_samples: the number of samples of the whole data set; ``eval()`` raises if another number was
            counted.
        """
        if self._scope.owned:
            raise ValueError(f"'{self.name}' belongs to a collection: call set_distributed of the collection")
        self._scope.distribution = Distribution(enabled, group, contributes, expected_samples)
        return self

    @property
    def signature(self) -> Signature:
        """How the value is made; see ``Signature``."""
        return Signature.build(_kind(self), self._settings, self.version)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature}, {self._samples(self._states):,} samples here)"

    def _repr_html_(self) -> str:
        last = dict(self._last or {})
        value = next(iter(last.values()), "not evaluated yet")
        last.pop("signature", None)
        return display.html_card(self.name, value, last, str(self.signature))

    def __getstate__(self) -> dict[str, Any]:
        scope = self._scope
        kept = {name: error for name, error in scope.errors.items() if name == self.name}
        rest = {name: value for name, value in self.__dict__.items() if name not in ("_scope", "_states")}
        rounds = 0 if scope.owned else scope.rounds
        return {
            **rest,
            "_states": copy.deepcopy(self._states),
            "_saved_scope": (copy.copy(scope.distribution), rounds, kept),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        distribution, rounds, kept = saved.pop("_saved_scope")
        self.__dict__.update(saved)
        self._scope = Scope({self.name: self})
        self._scope.distribution, self._scope.rounds, self._scope.errors = distribution, rounds, kept


def _kind(metric: Metric) -> str:
    """The class's name as it stands in signatures: ``F1Score`` -> ``f1_score``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(metric).__name__).lower()
