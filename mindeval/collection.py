"""MetricCollection: several metrics that are updated with the same inputs and reduced over the ranks together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mindeval import display
from mindeval.metric import Metric
from mindeval.parameters import parameters_of
from mindeval.scope import Scope
from mindeval.score import Score
from mindeval.state.base import check_names


class MetricCollection:
    """Metrics under names, with one AllReduce for all of them and one pass over the logits for those that share it.

    In a loop call ``update``, ``eval`` and ``clear`` of the collection; ``Model(...,
    metrics=collection.as_metrics())`` has MindSpore call each member, with the same effect.

    Args:
        metrics: name -> metric, or a list of metrics with different names.
        name: part of what ranks must agree on; give one where two collections hold the same metrics.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.

    Raises:
        ValueError: if a metric object appears twice (it would be updated twice), two names are equal, or a metric
            belongs to another collection or was distributed by itself.
        TypeError: if a member is not a mindeval metric.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import numpy as np
    >>> from mindeval import Accuracy, Perplexity
    >>> metrics = MetricCollection([Perplexity(), Accuracy()])
    >>> metrics.update(np.zeros((2, 4)), np.array([0, 1]))
    >>> metrics.eval()
    {'perplexity': 4.0, 'accuracy': 0.5}
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric] | Sequence[Metric],
        *,
        name: str = "",
        distributed: bool | str = False,
    ) -> None:
        if not isinstance(metrics, (Mapping, list, tuple)):
            raise TypeError(
                f"For 'MetricCollection', metrics must be a dict of name -> metric or a list, but got {metrics!r}"
            )
        if isinstance(metrics, Mapping) and not all(isinstance(name, str) for name in metrics):
            raise TypeError(f"For 'MetricCollection', names must be str, but got {list(metrics)}")
        for metric in metrics.values() if isinstance(metrics, Mapping) else metrics:
            if not isinstance(metric, Metric):
                raise TypeError(
                    f"For 'MetricCollection', members must be mindeval metrics, but got {type(metric).__name__}"
                )
        members = dict(metrics) if isinstance(metrics, Mapping) else {metric.name: metric for metric in metrics}
        if not members:
            raise ValueError("For 'MetricCollection', there must be at least one metric, but got none")
        if len(members) != len(metrics):
            names = [metric.name for metric in metrics]  # type: ignore[union-attr]
            raise ValueError(
                f"For 'MetricCollection', names must differ, but got {names}: give a dict of name -> metric"
            )
        if len({id(metric) for metric in members.values()}) != len(members):
            raise ValueError(f"For 'MetricCollection', the same metric object appears twice under {list(members)}")
        for member, metric in members.items():
            if metric._scope.owned:
                raise ValueError(f"For 'MetricCollection', '{member}' already belongs to a collection")
            if metric._scope.distribution.enabled:
                raise ValueError(
                    f"For 'MetricCollection', '{member}' was distributed by itself: distribute the collection"
                )
        self._take(Scope(members, name))
        if distributed:
            self.set_distributed(True, distributed if isinstance(distributed, str) else None)

    def _take(self, scope: Scope) -> None:
        self._scope = scope
        scope.owned = True
        for name, metric in scope.members.items():
            metric._scope, metric.name = scope, name

    def __getitem__(self, name: str) -> Metric:
        return self._scope.members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scope.members)

    def __len__(self) -> int:
        return len(self._scope.members)

    def as_metrics(self) -> dict[str, Metric]:
        """The members, for ``Model(..., metrics=...)``.

        From then on members that ask the same of the same Tensors share the work also where they are updated one by
        one, as ``Model`` does: do not write into a Tensor between the updates of two members.
        """
        self._scope.updated_by_model = True
        return dict(self._scope.members)

    def clear(self) -> None:
        """Clear every member."""
        for metric in self._scope.members.values():
            metric.clear()

    def update(self, *batch: Any, **named: Any) -> None:
        """Update every member with the same inputs. A keyword goes to the members that know it.

        Raises:
            ValueError, TypeError: of the first member that cannot take them, or for a keyword that no member knows.
                Then no member has taken them.

        >>> import numpy as np
        >>> from mindeval import Accuracy, Perplexity
        >>> metrics = MetricCollection([Perplexity(), Accuracy()])
        >>> metrics.update(np.zeros((1, 4)), np.array([0]), texts=["a cat"])
        >>> metrics.eval(), round(metrics.result()["perplexity"]["bits_per_byte"], 9)
        ({'perplexity': 4.0, 'accuracy': 1.0}, 0.4)
        """
        scope = self._scope
        known = {name: parameters_of(type(metric)._contribution).named for name, metric in scope.members.items()}
        strange = [keyword for keyword in named if not any(keyword in keywords for keywords in known.values())]
        if strange:
            raise TypeError(f"For 'MetricCollection.update', no member takes the keywords {strange}, but {known}")
        scope.forget_shared()
        scope.in_collection_update = True
        try:
            prepared = {
                name: metric._read_batch(batch, {word: value for word, value in named.items() if word in known[name]})
                for name, metric in scope.members.items()
            }
            for name, metric in scope.members.items():
                metric._take_states(prepared[name])
        finally:
            scope.in_collection_update = False
            scope.forget_shared()

    def eval(self) -> dict[str, Score]:
        """Every member's value, by name."""
        self._scope.synchronise()
        return {name: metric.eval() for name, metric in self._scope.members.items()}

    def __call__(self, *batch: Any, **named: Any) -> dict[str, Score]:
        """Every member's value of these inputs alone. What was accumulated, and ``result()``, stay as they are.

        Over ranks it takes one AllReduce, as ``eval()`` does; ``expected_samples`` is not checked.

        >>> import numpy as np
        >>> from mindeval import Accuracy, Perplexity
        >>> MetricCollection([Perplexity(), Accuracy()])(np.zeros((2, 4)), np.array([0, 1]))
        {'perplexity': 4.0, 'accuracy': 0.5}
        """
        members = {name: metric._emptied() for name, metric in self._scope.members.items()}
        alone = MetricCollection.__new__(MetricCollection)
        alone._take(self._scope.of_one_call(members))
        alone.update(*batch, **named)
        return alone.eval()

    def result(self) -> dict[str, dict[str, Any]]:
        """Every member's ``result()``, by name."""
        return {name: metric.result() for name, metric in self._scope.members.items()}

    def merge(self, other: MetricCollection) -> MetricCollection:
        """Add what another collection of the same metrics accumulated.

        Raises:
            ValueError: if the other is this collection itself, its members are other metrics, or a member cannot be
                merged; see ``Metric.merge``. Then no member is merged.
        """
        where = "For 'MetricCollection.merge', "
        if not isinstance(other, MetricCollection):
            raise TypeError(f"{where}the other must be a collection, but got {other!r}")
        if other is self:
            raise ValueError(f"{where}a collection cannot be merged into itself: it would count everything twice")
        check_names(other._scope.members, self, f"{where}the metrics must be")
        members = self._scope.members.items()
        for name, metric in members:
            metric._must_be_another(other[name])
        errors = {name: metric._obstacle(other[name]) for name, metric in members}
        for name, error in errors.items():
            if error is not None:
                self._scope.failed(name, error)
        for name, metric in members:
            if errors[name] is None:
                metric._take_states(other[name]._states)
        return self

    def state_dict(self) -> dict[str, dict[str, Any]]:
        """Every member's ``state_dict()``, by name."""
        return {name: metric.state_dict() for name, metric in self._scope.members.items()}

    def load_state_dict(self, saved: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace what every member accumulated.

        Raises:
            ValueError: if members are missing or unknown, or one cannot be read; see ``Metric.load_state_dict``. Then
                no member is replaced.
        """
        check_names(saved, self, "For 'MetricCollection.load_state_dict', the metrics must be")
        read = {name: metric._read_states(saved[name]) for name, metric in self._scope.members.items()}
        for name, metric in self._scope.members.items():
            metric._replace_states(read[name])

    def set_distributed(
        self,
        enabled: bool | str = True,
        group: str | None = None,
        *,
        contributes: bool = True,
        expected_samples: int | None = None,
    ) -> MetricCollection:
        """As ``Metric.set_distributed``, for all members together. Returns the collection."""
        self._scope.distribute(enabled, group, contributes, expected_samples)
        return self

    def __repr__(self) -> str:
        return f"MetricCollection({', '.join(f'{name}={metric!r}' for name, metric in self._scope.members.items())})"

    def _repr_html_(self) -> str:
        return "".join(metric._repr_html_() for metric in self._scope.members.values())

    def describe(self) -> str:
        """The values of the last ``eval()`` as a text table."""
        rows = [(name, next(iter(parts.values()))) for name, parts in self.result().items()]
        return display.text_table(["metric", "value"], rows)

    def __getstate__(self) -> dict[str, Any]:
        scope = self._scope
        return {
            "members": {name: metric.__getstate__() for name, metric in scope.members.items()},
            "classes": {name: type(metric) for name, metric in scope.members.items()},
            "scope": (scope.name, scope.distribution, scope.rounds, scope.errors),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        members = {}
        for name, content in saved["members"].items():
            members[name] = saved["classes"][name].__new__(saved["classes"][name])
            members[name].__setstate__(dict(content))
        name, distribution, rounds, errors = saved["scope"]
        self._take(Scope(members, name))
        self._scope.distribution, self._scope.rounds, self._scope.errors = distribution, rounds, dict(errors)
