"""mindeval's metrics by name in MindFormers' YAML files, and what they found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindeval
from mindeval.metric import Metric

from .metrics import MindevalMetrics, MindevalTextMetrics

_LOGIT_FAMILIES = ("mindeval.language.", "mindeval.classification.")
_NO_LOGITS = (".loss", ".regression")
_TEXT_FAMILIES = ("mindeval.text.", "mindeval.answers.answer")


def register() -> dict[str, Any]:
    """Make mindeval's metrics known to MindFormers, for ``metric: {type: MindevalPerplexity}`` in YAML.

    ``MindevalMetrics`` and ``MindevalTextMetrics`` hold several metrics; ``Mindeval`` before the name of a metric is
    one of these with that single metric, whose arguments stand beside ``distributed``, ``contributes`` and
    ``expected_samples``. No name of MindFormers' own is touched. Text metrics are added to the names for which
    ``Trainer.evaluate`` generates. It may be called again.

    Returns:
        What was registered, by name.
    """
    from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
    from mindformers.trainer.causal_language_modeling import causal_language_modeling

    aliases: dict[str, Any] = {"MindevalMetrics": MindevalMetrics, "MindevalTextMetrics": MindevalTextMetrics}
    for name in mindeval.__all__:
        made = getattr(mindeval, name)
        if not (isinstance(made, type) and issubclass(made, Metric)):
            continue
        if made.__module__.startswith(_TEXT_FAMILIES):
            aliases[f"Mindeval{name}"] = _alone(name, MindevalTextMetrics)
        elif made.__module__.startswith(_LOGIT_FAMILIES) and not made.__module__.endswith(_NO_LOGITS):
            aliases[f"Mindeval{name}"] = _alone(name, MindevalMetrics)
    generating = causal_language_modeling.GENERATE_METRIC_NAMES
    for alias, made in aliases.items():
        MindFormerRegister.register_cls(made, MindFormerModuleType.METRIC, alias=alias)
        if getattr(made, "holder", made) is MindevalTextMetrics and alias not in generating:
            generating.append(alias)
    return aliases


def _alone(kind: str, holder: type[MindevalMetrics]) -> Any:
    """What YAML builds for one metric: a holder of it alone."""

    def make(
        *,
        distributed: bool | str = False,
        contributes: bool | str | Mapping[str, int] = "auto",
        expected_samples: int | None = None,
        **arguments: Any,
    ) -> MindevalMetrics:
        return holder(
            [{"type": kind, **arguments}],
            distributed=distributed,
            contributes=contributes,
            expected_samples=expected_samples,
        )

    make.__name__ = make.__qualname__ = f"Mindeval{kind}"
    make.holder = holder  # type: ignore[attr-defined]
    return make


def results(trainer: Any) -> dict[str, dict[str, Any]]:
    """What the mindeval metrics of a ``Trainer`` found in its last ``evaluate()``, which returns nothing itself.

    Args:
        trainer: ``mindformers.Trainer``.

    Returns:
        By metric, what its ``result()`` is.

    Raises:
        ValueError: if the trainer has no metric of mindeval.
    """
    metrics = (trainer.compute_metrics or trainer.trainer.compute_metrics or {}).values()
    found: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        if not isinstance(metric, (MindevalMetrics, Metric)):
            continue
        named = {metric.name: metric.result()} if isinstance(metric, Metric) else metric.result()
        if found.keys() & named.keys():
            raise ValueError(f"For 'results', two metrics are named {sorted(found.keys() & named.keys())}: give names")
        found.update(named)
    if not found:
        raise ValueError(f"For 'results', the trainer has no metric of mindeval, but {list(metrics)}")
    return found
