"""diagnose: what a history or a set of scores says about a model. Nothing is measured here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from mindeval.training import curves
from mindeval.training.findings import Diagnosis, Finding, Thresholds
from mindeval.training.history import points, records_of
from mindeval.training.scores import check_names, checked_chance, of_scores

KINDS = ("start", "train", "eval", "error")

__all__ = ["Diagnosis", "Finding", "Thresholds", "diagnose"]


def diagnose(
    history_or_scores: Any,
    *,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    loss: str | None = None,
    chance: float | Mapping[str, float] | None = None,
) -> Diagnosis:
    """Look for what goes wrong in training and evaluation. Nothing is found without numbers that show it.

    From a history: NaN and infinite losses, a loss that does not fall or rises again, spikes, a plateau, a loss that
    still fell at the end (underfitting), overfitting with the step at which it began, a gap between training and
    evaluation, generation scores that fall while the evaluation loss improves. From scores, and from the last
    evaluation of a history: accuracy at chance, a yes-rate near 0 or 1, BLEU or ROUGE of exactly 0, candidates that
    hold little probability.

    Args:
        history_or_scores: a ``History``, its path, its records; or name -> ``Score`` or number, such as ``eval()`` of a
            ``MetricCollection`` and ``result()`` give. The parts of a ``Score`` are looked at as well.
        thresholds: ``Thresholds``, or some of its values by name.
        loss: the name of the evaluation loss; by default ``loss`` or the like of ``eval_loss``, else an nll, perplexity
            or ppl, else another loss that is no scale, rate or auxiliary one (perplexities are compared by their
            logarithm).
        chance: the accuracy of guessing, for all accuracies or by name; scores that know theirs need none.

    Raises:
        TypeError, ValueError: for something that is no history and no scores, a record that cannot be read (it is named
            by its number) or has no kind of those of a ``History``, a score that is a text, thresholds that are unknown
            or no numbers, a ``chance`` that is no share or of a score that is not there.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> steps = range(0, 1000, 20)
    >>> records = [{"kind": "train", "step": s, "loss": 4 * 0.997**s} for s in steps]
    >>> evals = [{"kind": "eval", "step": s, "metrics": {"loss": 3 + abs(s - 400) / 200}} for s in range(0, 1000, 100)]
    >>> for finding in diagnose(records + evals):
    ...     print(finding.kind, finding.evidence["began"])
    overfitting 400
    """
    limits, chance = _limits(thresholds), checked_chance(chance)
    if isinstance(history_or_scores, Mapping):
        if isinstance(history_or_scores.get("kind"), str):
            raise TypeError("For 'diagnose', records must be in a list, but got one record alone")
        check_names(chance, list(history_or_scores))
        return _ordered(*of_scores(history_or_scores, limits, chance))
    try:
        records = records_of(history_or_scores)
        _check_kinds(records)
        records = _without_repeats(_in_order(records))
    except TypeError as error:
        raise TypeError(f"For 'diagnose', {error}") from error
    training = points(records, "loss", "train")
    name, evaluated = curves.evaluation_loss(records, loss)
    findings = curves.not_finite(records)
    judged: list[str] = []
    finite = [(step, value) for step, value in training if math.isfinite(value)]
    enough = len(finite) >= limits.points
    if enough:
        judged.append("training loss")
        course = curves.course(finite, limits)
        risen = next((finding.evidence["since"] for finding in course if finding.kind == "rising_again"), math.inf)
        before = [(step, value) for step, value in finite if step <= risen]  # what does not come back is no spike
        findings += course + (curves.spikes(before, limits) if before else [])
    if len(evaluated) >= limits.evaluations:
        judged.append(name)
        findings += curves.scores_against_loss(records, name, evaluated, limits)
    if len(evaluated) >= limits.evaluations and enough:
        found = curves.overfitting(finite, name, evaluated, limits)
        if found or not curves.is_improving(evaluated, limits):  # then longer training is no advice
            findings = [finding for finding in findings if finding.kind != "still_falling"]
        findings += found or curves.gap(finite, name, evaluated, limits)
    last = next((record for record in reversed(records) if record.get("kind") == "eval"), None)
    if last is not None:
        check_names(chance, curves.metric_names(records))
        more, names = of_scores(last.get("metrics", {}), limits, chance)
        said = {name for finding in findings if finding.kind == "not_finite" for name in finding.evidence["names"]}
        more = [f for f in more if f.kind != "score_not_finite" or f.evidence["name"] not in said]
        findings, judged = findings + more, judged + [n for n in names if n not in judged]
    return _ordered(findings, judged)


def _limits(thresholds: Thresholds | Mapping[str, float] | None) -> Thresholds:
    if thresholds is None:
        return Thresholds()
    if isinstance(thresholds, Thresholds):
        return thresholds
    if not isinstance(thresholds, Mapping):
        raise TypeError(f"For 'diagnose', thresholds must be Thresholds or a dict, but got {thresholds!r}")
    known = [f.name for f in fields(Thresholds)]
    unknown = [name for name in thresholds if name not in known]
    if unknown:
        raise ValueError(f"For 'diagnose', thresholds must be named {known}, but got {unknown}")
    changed: dict[str, Any] = dict(thresholds)
    return replace(Thresholds(), **changed)


def _ordered(findings: Sequence[Finding], judged: Sequence[str]) -> Diagnosis:
    order = ["error", "warning", "note"]
    return Diagnosis(tuple(sorted(findings, key=lambda finding: order.index(finding.severity))), tuple(judged))


def _check_kinds(records: Sequence[dict]) -> None:
    """Records of other kinds are left out; but not those that were meant to be looked at, nor all of them."""
    kinds = [record.get("kind") for record in records]
    for number, (record, kind) in enumerate(zip(records, kinds), 1):
        meant = str(kind).strip().lower() in KINDS if kind is not None else "step" in record
        if meant and kind not in KINDS:
            raise TypeError(f"'kind' of record {number} must be one of {list(KINDS)}, but got {kind!r}")
    if records and not any(kind in KINDS for kind in kinds):
        raise TypeError(f"'kind' of record 1 must be one of {list(KINDS)}, but got {kinds[0]!r}, and no other is")


def _in_order(records: Sequence[dict]) -> list[dict]:
    """What is looked at, by step within each run. A list that goes from the last step to the first is turned round."""
    runs = _runs([record for record in records if record.get("kind") in ("start", "train", "eval")])
    steps = [[_step(r) for r in run if r["kind"] == kind] for run in runs for kind in ("train", "eval")]
    moves = [after - before for run in steps for before, after in zip(run, run[1:])]
    if moves and max(moves) <= 0 and min(moves) < 0:
        runs = _runs([record for run in reversed(runs) for record in reversed(run)])
    return [record for run in runs for record in sorted(run, key=lambda r: (r["kind"] != "start", _step(r)))]


def _runs(records: Sequence[dict]) -> list[list[dict]]:
    """The records from each "start" to the next."""
    runs: list[list[dict]] = [[]]
    for record in records:
        if record["kind"] == "start":
            runs.append([])
        runs[-1].append(record)
    return runs


def _step(record: dict) -> int:
    return int(record.get("step", 0))


def _without_repeats(records: Sequence[dict]) -> list[dict]:
    """A resumed run goes back to a step: what was recorded behind it before is void."""
    kept: list[dict] = []
    for record in records:
        if record["kind"] == "start":
            kept = [old for old in kept if _step(old) <= _step(record)]
        kept.append(record)
    return kept
