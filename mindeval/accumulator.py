"""Accumulator: the states of a metric, and how they are merged, saved, loaded and copied. Values are metric.py's."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from mindeval.scope import Scope
from mindeval.score import Signature
from mindeval.state import Count, State
from mindeval.state.base import check_names

Self = TypeVar("Self", bound="Accumulator")


class Accumulator:
    """Exact states under names, and the definition that states must share to be added: all of a ``Metric`` that is
    neither input nor value.

    Args:
        states: name -> empty state. The state ``"samples"`` is added here.
        settings: what the signature shows, in this order.
        name: the name in messages; by default the class's in lower case.
    """

    version = 1  # of the definition: states of another version are refused

    def __init__(self, states: Mapping[str, State], settings: Mapping[str, Any] | None, name: str | None) -> None:
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
        self._last: dict[str, Any] | None = None  # what the last eval() computed from these states
        super().__init__()  # mindspore.train.Loss.__init__ calls clear()
        self._scope = Scope({self.name: self})

    @property
    def signature(self) -> Signature:
        """How the value is made; see ``Signature``."""
        return Signature.build(_kind(self), self._settings, self.version)

    def clear(self) -> None:
        """Forget everything that was accumulated."""
        for name, state in self._states.items():
            self._states[name] = state.zero()
        self._last = None
        if hasattr(self, "_scope"):
            self._scope.cleared(self.name)

    def merge(self: Self, other: Accumulator) -> Self:
        """Add what another metric of the same definition accumulated, as if its updates had been made here.

        Raises:
            ValueError: if the other is this metric itself, the definitions differ, or the states cannot be merged (rows
                with sample ids and without). Then nothing is merged. Of a distributed metric the last, and an error
                that an update of the other one kept, are raised at ``eval()``, on every rank.
        """
        self._must_be_another(other)
        error = self._obstacle(other)
        if error is None:
            self._take_states(other._states)
        else:
            self._scope.failed(self.name, error)
        return self

    def _must_be_another(self, other: Any) -> None:
        """Raise an error where the program is wrong: ``other`` is no metric of the same definition, or this one."""
        where = f"For '{type(self).__name__}.merge', "
        if not isinstance(other, Accumulator):
            raise TypeError(f"{where}the other must be a metric, but got {other!r}")
        if other is self:
            raise ValueError(f"{where}a metric cannot be merged into itself: it would count everything twice")
        self._must_agree(other.signature, "merge")

    def _obstacle(self, other: Accumulator) -> BaseException | None:
        """The error for which the data of a metric cannot be merged into this one, if there is any."""
        kept = other._scope.errors.get(other.name)
        if kept is not None:
            return kept
        try:
            self._check_merge(other._states)
        except (ValueError, OverflowError) as failure:
            return self._with_name(failure, "merge")
        return None

    def _take_states(self, added: Mapping[str, State]) -> None:
        for name, state in added.items():
            self._states[name].merge(state)
        self._scope.updated(self.name)

    def state_dict(self) -> dict[str, Any]:
        """The accumulated states, exact and JSON-ready."""
        self._raise_kept_error()
        states = {name: state.state() for name, state in self._states.items()}
        return {"signature": str(self.signature), "states": states}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Replace what was accumulated by a ``state_dict()`` of a metric of the same definition.

        Raises:
            ValueError: if the definition is another, or the content is not what ``state_dict()`` gives: entries that
                are missing or unknown are named. Then nothing is replaced.
        """
        self._replace_states(self._read_states(saved))

    def _read_states(self, saved: Mapping[str, Any]) -> dict[str, State]:
        where = f"For '{type(self).__name__}.load_state_dict', "
        check_names(saved, ("signature", "states"), f"{where}the state must be what state_dict() gives, with")
        self._must_agree(Signature(saved["signature"]), "load_state_dict")
        check_names(saved["states"], self._states, f"{where}the states must be")
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

    def _check_merge(self, added: Mapping[str, State]) -> None:
        """Raise a ValueError where these states could not be merged. A metric overrides it whose states must fit."""
        for name, state in added.items():
            self._states[name].check_merge(state)

    def _with_name(self, error: Exception, where: str) -> Exception:
        if str(error).startswith("For '"):
            return error
        for kind in (TypeError, ValueError, OverflowError):
            if isinstance(error, kind):
                named = kind(f"For '{type(self).__name__}.{where}', {error}")
                named.__cause__ = error
                return named
        return error

    def _emptied(self: Self) -> Self:
        """A copy without what was accumulated, which still has to be given a scope of its own."""
        alone = type(self).__new__(type(self))
        alone.__dict__.update(self.__dict__)
        alone._states, alone._last = {name: state.zero() for name, state in self._states.items()}, None
        return alone

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


def _kind(metric: Accumulator) -> str:
    """The class's name as it stands in signatures: ``F1Score`` -> ``f1_score``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(metric).__name__).lower()
