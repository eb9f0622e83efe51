"""Metric: the base class of all metrics. What is computed is in the families; what is reduced together in scope.py."""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, TypeVar

import mindspore.train

from mindeval import display, inputs
from mindeval.constructors import checked
from mindeval.scope import Scope
from mindeval.score import Score, Signature
from mindeval.state import Count, State

Self = TypeVar("Self", bound="Metric")


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
        kind = type(self).__name__
        if not isinstance(states, Mapping) or not all(isinstance(state, State) for state in states.values()):
            raise TypeError(f"For '{kind}', states must be a dict of name -> State, but got {states!r}")
        if "samples" in states:
            raise ValueError(f"For '{kind}', the state 'samples' is the base class's: give yours another name")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"For '{kind}', name must be a str, but got {name!r}")
        self._states: dict[str, State] = {**states, "samples": Count()}
        self._settings = dict(settings or {})
        self.name = name or _kind(self)
        self._last: dict[str, Any] | None = None
        super().__init__()  # mindspore.train.Loss.__init__ calls clear()
        self._scope = Scope({self.name: self})
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
        self._take_batch(self._read_batch(batch, named))

    def _read_batch(self, batch: tuple, named: Mapping[str, Any]) -> dict[str, State]:
        """What an update adds to each state; nothing where this rank does not contribute or failed before."""
        scope = self._scope
        if scope.distribution.contributes and self.name not in scope.errors:
            try:
                return self._added(batch, named)
            except Exception as error:
                scope.failed(self.name, self._with_name(error, "update"))
        return {}

    def _take_batch(self, added: Mapping[str, State]) -> None:
        for name, state in added.items():
            self._states[name].merge(state)
        self._scope.updated(self.name)

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
        self._check_inputs(len(flat), named)
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

    def _check_merge(self, added: Mapping[str, State]) -> None:
        """Raise a ValueError where these states could not be merged. A metric overrides it whose states must fit."""
        for name, state in added.items():
            self._states[name].check_merge(state)

    def _check_inputs(self, positional: int, named: Mapping[str, Any]) -> None:
        known = _inputs_of(type(self)._contribution)
        filled = set(known.positional[:positional])
        fits = positional <= len(known.positional) or known.any_number
        if (
            not fits
            or filled & named.keys()
            or not known.required <= filled | named.keys()
            or named.keys() - known.named
        ):
            given = f"{positional} inputs" + "".join(f" and {name}=" for name in named)
            raise TypeError(f"the inputs must be ({known.shown}), but got {given}")

    def _keywords(self) -> frozenset[str]:
        """The inputs that may be given by keyword."""
        return _inputs_of(type(self)._contribution).named

    def _with_name(self, error: Exception, where: str) -> Exception:
        if str(error).startswith("For '"):
            return error
        for kind in (TypeError, ValueError, OverflowError):
            if isinstance(error, kind):
                named = kind(f"For '{type(self).__name__}.{where}', {error}")
                named.__cause__ = error
                return named
        return error

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

    def _emptied(self: Self) -> Self:
        """A copy without what was accumulated, which still has to be given a scope of its own."""
        alone = type(self).__new__(type(self))
        alone.__dict__.update(self.__dict__)
        alone._states, alone._last = {name: state.zero() for name, state in self._states.items()}, None
        return alone

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
        """Add what another metric of the same definition accumulated, as if its updates had been made here.

        Raises:
            ValueError: if the definitions differ, or the states cannot be merged (rows with sample ids and without).
                Then nothing is merged. Of a distributed metric the latter, and an error that an update of the other
                one kept, are raised at ``eval()``, on every rank.
        """
        if not isinstance(other, Metric):
            raise TypeError(f"For '{type(self).__name__}.merge', the other must be a metric, but got {other!r}")
        self._must_agree(other.signature, "merge")
        error = other._scope.errors.get(other.name)
        if error is None:
            try:
                self._check_merge(other._states)
            except (ValueError, OverflowError) as failure:
                error = self._with_name(failure, "merge")
        if error is not None:
            self._scope.failed(self.name, error)
            return self
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
        """Replace what was accumulated by a ``state_dict()`` of a metric of the same definition.

        Raises:
            ValueError: if the definition is another, or the content is not what ``state_dict()`` gives. Then nothing is
                replaced.
        """
        self._replace_states(self._read_states(saved))

    def _read_states(self, saved: Mapping[str, Any]) -> dict[str, State]:
        where = f"For '{type(self).__name__}.load_state_dict', "
        if not isinstance(saved, Mapping) or not {"signature", "states"} <= saved.keys():
            raise ValueError(f"{where}the state must be what state_dict() gives, but got {saved!r}")
        self._must_agree(Signature(saved["signature"]), "load_state_dict")
        if not isinstance(saved["states"], Mapping) or saved["states"].keys() != self._states.keys():
            raise ValueError(f"{where}the states must be {list(self._states)}, but got {saved['states']!r}")
        states = {name: state.zero() for name, state in self._states.items()}
        for name, state in states.items():
            try:
                state.load(saved["states"][name])
            except (TypeError, ValueError, KeyError, OverflowError) as error:
                raise ValueError(f"{where}the state {name!r} cannot be read: {error}") from error
        return states

    def _replace_states(self, states: dict[str, State]) -> None:
        self._states, self._last = states, None
        self._scope.updated(self.name)
        self._scope.errors.pop(self.name, None)  # of an update that is forgotten now

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


class _Inputs(NamedTuple):
    """What a ``_contribution`` takes."""

    positional: tuple[str, ...]
    named: frozenset[str]
    required: frozenset[str]
    any_number: bool
    shown: str


@functools.cache
def _inputs_of(contribution: Callable[..., Any]) -> _Inputs:
    _, *parameters = inspect.signature(contribution).parameters.values()
    single = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return _Inputs(
        tuple(p.name for p in single if p.kind is not p.KEYWORD_ONLY),
        frozenset(p.name for p in single if p.kind is not p.POSITIONAL_ONLY),
        frozenset(p.name for p in single if p.default is p.empty),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
        ", ".join(p.name if p.default is p.empty else f"{p.name}=" for p in single),
    )


def _kind(metric: Metric) -> str:
    """The class's name as it stands in signatures: ``F1Score`` -> ``f1_score``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(metric).__name__).lower()
