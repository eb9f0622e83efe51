"""Scope: the metrics that are evaluated together, and the only object that communicates."""

from __future__ import annotations

import dataclasses
import logging
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable

import mindspore as ms

from mindeval import distributed, wire
from mindeval.communicator import DistributedError, MindSporeCommunicator
from mindeval.inputs import whole_number
from mindeval.state import State

if TYPE_CHECKING:
    from mindeval.metric import Metric

logger = logging.getLogger("mindeval")
_WARNED_OF_LOCAL_VALUE: set[str] = set()  # names of metrics and collections


class Scope:
    """The members of a collection (or a lone metric), how they are distributed, and what the last synchronisation gave.

    Ranks may have different numbers of batches, so what a scope communicates depends on the sequence of evaluations and
    clears alone, never on updates.
    """

    def __init__(self, members: Mapping[str, Any], name: str = "") -> None:
        self.members: dict[str, Metric] = dict(members)
        self.name = name
        self.owned = False  # by a MetricCollection
        self.is_global = False  # the last update's numbers were summed over the ranks already
        self.distribution = distributed.Distribution()
        self.rounds = 0  # evaluations and clears so far: ranks must agree on them
        self.errors: dict[str, BaseException] = {}  # of update(), for each member, until the next synchronisation
        self.out_of_step: BaseException | None = None  # once ranks disagreed: later evaluations may match by accident
        self._called: Scope | None = None  # whose members this one's are empty copies of
        self._snapshot: dict[str, dict[str, State]] | None = None
        self._unanswered: set[str] = set()  # members that have not yet answered from the snapshot
        self._updated: set[str] = set()  # members updated since the snapshot
        self._memo: tuple | None = None
        self.in_collection_update = False
        self.updated_by_model = False  # Model.eval updates the members one after the other with the same Tensors

    def distribute(
        self, enabled: bool | str, group: str | None, contributes: bool, expected_samples: int | None
    ) -> None:
        """Set how the members are spread over ranks; see ``Metric.set_distributed``."""
        if isinstance(enabled, str):
            if group not in (None, enabled):
                raise ValueError(f"set_distributed got two groups, {enabled!r} and {group!r}")
            group, enabled = enabled, True
        for what, value in (("enabled", enabled), ("contributes", contributes)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'set_distributed', {what} must be True or False, but got {value!r}")
        if expected_samples is not None:
            expected_samples = whole_number(expected_samples, "For 'set_distributed', expected_samples")
        known = self.distribution
        serial = known.serial if known.serial and group == known.group else 0
        if enabled and not serial:
            serial = distributed.next_serial(group)
        self.distribution = distributed.Distribution(enabled, group, contributes, expected_samples, serial, told=True)

    def of_one_call(self, members: Mapping[str, Any]) -> Scope:
        """The scope of empty copies of members, for one batch. Ranks must agree on it as on an evaluation of this."""
        scope = Scope(members, f"a call of {self.name or ', '.join(members)}")
        scope.distribution = dataclasses.replace(self.distribution, expected_samples=None)
        scope.rounds, scope.out_of_step, scope._called = self.rounds, self.out_of_step, self
        self.rounds += 1
        return scope

    # -- what metrics report -----------------------------------------------------------------------------------------

    def cleared(self, name: str) -> None:
        """A clear is part of the agreement: a rank that skipped an evaluation gives itself away by it."""
        self.rounds += 1
        self.errors.pop(name, None)
        self._unanswered.discard(name)
        self._updated.discard(name)
        self._memo = None

    def updated(self, name: str) -> None:
        self._updated.add(name)

    def failed(self, name: str, error: BaseException) -> None:
        """Raise the error of an update, or on several cards keep it for the next synchronisation."""
        if not self.distribution.active():
            raise error
        self.updated(name)
        if name not in self.errors:
            self.errors[name] = error
            logger.error(
                "'%s' failed on this rank; every rank will raise this at its eval(): %s", name, error, exc_info=error
            )

    # -- states --------------------------------------------------------------------------------------------------------

    def states(self, name: str) -> dict[str, State]:
        """The states of a member over all ranks. The first to ask synchronises all; each answers from that once."""
        if name not in self._unanswered:
            self.synchronise()
        elif name in self._updated:
            self._unanswered.discard(name)  # other ranks may have no update and answer: stay in step with them
            raise RuntimeError(
                f"'{name}' was updated after its collection was evaluated and before it was evaluated itself: "
                "evaluate all members (or the collection) before the next update"
            )
        assert self._snapshot is not None
        self._unanswered.discard(name)
        return self._snapshot[name]

    def synchronise(self) -> None:
        """Reduce the states of all members over the ranks, or take them as they are where there is one."""
        states = {name: metric._states for name, metric in sorted(self.members.items())}
        self._snapshot, self._unanswered = None, set()
        if self.distribution.active():
            agreement = [
                f"collection {self.name!r} (distributed as number {self.distribution.serial} of its group): "
                f"{self.rounds} evaluations and clears, expected_samples={self.distribution.expected_samples}",
                *(f"{name} = {metric.signature.definition}" for name, metric in sorted(self.members.items())),
            ]
            self.rounds += 1
            error = self.out_of_step or next(iter(self.errors.values()), None)
            communicator = MindSporeCommunicator(self.distribution.group)
            try:
                self._snapshot = wire.reduce(states, agreement, error, self.distribution.contributes, communicator)
            except wire.Disagreement:
                self._give_up()
                raise
        else:
            self._warn_of_local_value()
            self.rounds += 1
            self._snapshot = states
        self._unanswered, self._updated = set(self.members), set()

    def _give_up(self) -> None:
        self.out_of_step = DistributedError(
            "its ranks disagreed before, so their evaluations may not belong together: make new metrics on every rank"
        )
        if self._called is not None:
            self._called.out_of_step = self.out_of_step

    def _warn_of_local_value(self) -> None:
        scope = self._called or self
        name = scope.name or ", ".join(scope.members)
        if self.distribution.told or self.is_global or name in _WARNED_OF_LOCAL_VALUE or distributed.world_size() == 1:
            return
        _WARNED_OF_LOCAL_VALUE.add(name)
        logger.warning(
            "%d ranks communicate, but '%s' was not told about them: its value covers the data of this rank alone. "
            "Call set_distributed(True), or set_distributed(False) on purpose",
            distributed.world_size(),
            name,
        )

    # -- work shared by members ----------------------------------------------------------------------------------------

    def shared(self, name: str, key: Any, inputs: Iterable[Any], compute: Callable[..., Any]) -> Any:
        """``compute(*inputs)``, done once for all members that ask for the same key about the same objects.

        ``Model.eval`` updates each member alone with the same Tensors, so the objects are known by identity, through
        weak references: logits are never kept alive. A member that asks a second time has a new batch in a reused
        buffer. Where ``as_metrics`` has not handed the members to ``Model``, and for arrays and lists, work is shared
        inside ``MetricCollection.update`` alone: a loop may write into a batch between two members.
        """
        inputs = list(inputs)
        if self._memo is not None:
            known_key, references, value, users = self._memo
            same = len(references) == len(inputs) and all(
                item is not None and reference() is item if reference else item is None
                for reference, item in zip(references, inputs)
            )
            if known_key == key and name not in users and same:
                users.add(name)
                return value
        value = compute(*inputs)
        self._memo = None
        if len(self.members) > 1 and (
            self.in_collection_update
            or (self.updated_by_model and all(isinstance(x, (ms.Tensor, type(None))) for x in inputs))
        ):
            self._memo = (key, [_reference(item) for item in inputs], value, {name})
        return value

    def forget_shared(self) -> None:
        self._memo = None


def _reference(item: Any) -> Callable[[], Any] | None:
    if item is None:
        return None  # apart from a weak reference whose object is gone
    try:
        return weakref.ref(item)
    except TypeError:  # lists and numbers: the memo does not outlive the update that holds them
        return lambda: item
