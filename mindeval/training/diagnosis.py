"""diagnose: what a history or a set of scores says about a model. Pure functions; nothing is measured here."""

from __future__ import annotations

import html
import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from mindeval.training.advice import TEXTS
from mindeval.training.history import History, records_of

Series = list  # of (step, value)


@dataclass(frozen=True)
class Thresholds:
    """When a finding is one. Shares are relative: 0.02 is two per cent.

    Args:
        points: training windows that are needed to judge a curve.
        evaluations: evaluations that are needed to judge their curve.
        not_falling: the loss fell by less than this share from the first to the last fifth of the run.
        plateau: it fell by less than this share in the last 60 % of the run, after it had fallen before.
        still_falling: it fell by more than this share from the last but one fifth to the last.
        spike: a window is above the median of the eight before it by this share of it ...
        spike_noise: ... and by so many times their noise.
        overfit_rise: the evaluation loss ends above its lowest value by this share ...
        overfit_noise: ... and by so many times its noise,
        overfit_train_fall: while the training loss fell by this share.
        gap: the evaluation loss is above the training loss by this share at the end.
        score_fall: a generation score fell by this share from its best, while the evaluation loss fell.
        chance: an accuracy is as near as this to chance; where its number of samples is known, within two standard
            errors.
        yes_rate: the share of "yes" is as near as this to 0 or 1.
        mass: the candidates' probability is below this.
    """

    points: int = 10
    evaluations: int = 4
    not_falling: float = 0.02
    plateau: float = 0.01
    still_falling: float = 0.08
    spike: float = 0.3
    spike_noise: float = 8.0
    overfit_rise: float = 0.03
    overfit_noise: float = 4.0
    overfit_train_fall: float = 0.02
    gap: float = 0.3
    score_fall: float = 0.1
    chance: float = 0.02
    yes_rate: float = 0.03
    mass: float = 0.1


@dataclass(frozen=True)
class Finding:
    """One thing that was found: its kind, ``"error"``, ``"warning"`` or ``"note"``, and the numbers that show it."""

    kind: str
    severity: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def message(self, language: str = "en") -> str:
        """What was found, with its numbers."""
        return _text(self.kind, language)[0].format(**{k: _shown(v) for k, v in self.evidence.items()})

    def advice(self, language: str = "en") -> str:
        """What can be done about it."""
        return _text(self.kind, language)[1].format(**{k: _shown(v) for k, v in self.evidence.items()})


@dataclass(frozen=True)
class Diagnosis:
    """The findings, the worst first. It is false when there are none.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> found = diagnose({"bleu": 0.0})
    >>> found.kinds, bool(found)
    (['zero_score'], True)
    """

    findings: tuple[Finding, ...]
    judged: tuple[str, ...] = ()  # the curves and scores that there was enough of to judge

    @property
    def kinds(self) -> list[str]:
        """The kinds of the findings."""
        return [finding.kind for finding in self.findings]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def text(self, language: str = "en") -> str:
        """The findings with evidence and advice, in English (``"en"``) or Chinese (``"zh"``)."""
        if not self.findings:
            judged = ", ".join(self.judged) or _text("nothing_to_judge", language)[0]
            return _text("nothing_found", language)[0].format(judged=judged)
        lines = []
        for number, finding in enumerate(self.findings, 1):
            lines.append(f"{number}. [{_text(finding.severity, language)[0]}] {finding.message(language)}")
            lines.append(f"   {_text('advice', language)[0]}{finding.advice(language)}")
        return "\n".join(lines)

    def to_dict(self, language: str = "en") -> dict[str, Any]:
        """JSON-ready: findings with kind, severity, evidence, message and advice, and what was judged."""
        found = [
            {**asdict(finding), "message": finding.message(language), "advice": finding.advice(language)}
            for finding in self.findings
        ]
        return {"findings": found, "judged": list(self.judged)}

    def json(self, language: str = "en") -> str:
        """``to_dict`` as JSON; numbers that are not finite are texts."""
        return json.dumps(_finite(self.to_dict(language)), ensure_ascii=False, indent=2, allow_nan=False)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def diagnose(
    history_or_scores: Any,
    *,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    loss: str | None = None,
    chance: float | Mapping[str, float] | None = None,
) -> Diagnosis:
    """Look for what goes wrong in training and evaluation. Nothing is found without numbers that show it.

    From a history: NaN and infinite losses, a loss that does not fall, spikes, a plateau, a loss that still fell at the
    end (underfitting), overfitting with the step at which it began, a gap between training and evaluation, generation
    scores that fall while the evaluation loss improves. From scores, and from the last evaluation of a history:
    accuracy at chance, a yes-rate near 0 or 1, BLEU or ROUGE of exactly 0, candidates that hold little probability.

    Args:
        history_or_scores: a ``History``, its path, its records; or name -> ``Score`` or number, such as ``eval()`` of a
            ``MetricCollection`` and ``result()`` give. The parts of a ``Score`` are looked at as well.
        thresholds: ``Thresholds``, or some of its values by name.
        loss: the name of the evaluation loss; by default the first that is called loss, nll, perplexity or ppl
            (perplexities are compared by their logarithm).
        chance: the accuracy of guessing, for all accuracies or by name; scores that know theirs need none.

    Raises:
        TypeError, ValueError: for an unknown threshold, or something that is no history and no scores.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> steps = range(0, 1000, 20)
    >>> records = [{"kind": "train", "step": s, "loss": 4 * 0.997**s} for s in steps]
    >>> evals = [{"kind": "eval", "step": s, "metrics": {"loss": 3 + abs(s - 400) / 200}} for s in range(0, 1000, 100)]
    >>> for finding in diagnose(records + evals):
    ...     print(finding.kind, finding.evidence["began"])
    overfitting 400
    """
    limits = _limits(thresholds)
    if isinstance(history_or_scores, Mapping):
        return _ordered(*_of_scores(history_or_scores, limits, chance))
    records = _without_repeats(records_of(history_or_scores))
    training = _series(records, "train", "loss")
    name, evaluated = _evaluation_loss(records, loss)
    findings = _not_finite(records)
    judged: list[str] = []
    finite = [(step, value) for step, value in training if math.isfinite(value)]
    enough = len(finite) >= limits.points
    if enough:
        judged.append("training loss")
        findings += _curve(finite, limits) + _spikes(finite, limits)
    if len(evaluated) >= limits.evaluations:
        judged.append(name)
        findings += _scores_against_loss(records, name, evaluated, limits)
    if len(evaluated) >= limits.evaluations and enough:
        found = _overfitting(finite, name, evaluated, limits)
        if found:  # its loss falls, and its gap is no second finding
            findings = [finding for finding in findings if finding.kind != "still_falling"]
        findings += found or _gap(finite, name, evaluated, limits)
    last = next((record for record in reversed(records) if record.get("kind") == "eval"), None)
    if last is not None:
        more, names = _of_scores(last["metrics"], limits, chance)
        findings, judged = findings + more, judged + [n for n in names if n not in judged]
    return _ordered(findings, judged)


def _limits(thresholds: Thresholds | Mapping[str, float] | None) -> Thresholds:
    if thresholds is None:
        return Thresholds()
    if isinstance(thresholds, Thresholds):
        return thresholds
    known = [f.name for f in fields(Thresholds)]
    unknown = [name for name in thresholds if name not in known]
    if unknown:
        raise ValueError(f"For 'diagnose', thresholds must be named {known}, but got {unknown}")
    changed: dict[str, Any] = dict(thresholds)
    return replace(Thresholds(), **changed)


def _ordered(findings: Sequence[Finding], judged: Sequence[str]) -> Diagnosis:
    order = ["error", "warning", "note"]
    return Diagnosis(tuple(sorted(findings, key=lambda finding: order.index(finding.severity))), tuple(judged))


# -- curves ------------------------------------------------------------------------------------------------------------


def _without_repeats(records: Sequence[dict]) -> list[dict]:
    """A resumed run goes back to a step: what was recorded behind it before is void."""
    kept: list[dict] = []
    for record in records:
        if record.get("kind") == "start":
            kept = [old for old in kept if old.get("step", 0) <= record.get("step", 0)]
        kept.append(record)
    return kept


def _series(records: Sequence[dict], kind: str, name: str) -> Series:
    history = History()
    history.records = list(records)
    return history.series(name, kind)


def _names(records: Sequence[dict]) -> list[str]:
    return list(dict.fromkeys(n for r in records if r.get("kind") == "eval" for n in r.get("metrics", {})))


def _evaluation_loss(records: Sequence[dict], loss: str | None) -> tuple[str, Series]:
    """The evaluation loss that is looked at, in nats; infinite and missing values are left out."""
    names = _names(records)
    if loss is not None and loss not in names:
        raise ValueError(f"For 'diagnose', loss must be one of {names}, but got {loss!r}")
    found = [loss] if loss else [n for word in ("loss", "nll", "perplexity", "ppl") for n in names if word in n.lower()]
    if not found:
        return "", []
    name = found[0]
    values = [(step, value) for step, value in _series(records, "eval", name) if math.isfinite(value)]
    if "perplexity" in name.lower() or "ppl" in name.lower():
        values = [(step, math.log(value)) for step, value in values if value > 0]
    return name, values


def _noise(values: Sequence[float]) -> float:
    """The standard deviation of a curve around its trend, from second differences; robust to single outliers."""
    if len(values) < 4:
        return 0.0
    second = [abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:])]
    return 1.4826 * statistics.median(second) / math.sqrt(6)


def _middle(values: Sequence[float], start: float, stop: float) -> float:
    """The median of a part of a curve, from one share of its length to another."""
    first = min(int(start * len(values)), len(values) - 1)
    return statistics.median(values[first : max(first + 1, round(stop * len(values)))])


def _fall(before: float, after: float) -> float:
    """By which share a loss fell."""
    return (before - after) / abs(before) if before else 0.0


def _not_finite(records: Sequence[dict]) -> list[Finding]:
    bad = [(step, "loss") for step, value in _series(records, "train", "loss") if not math.isfinite(value)]
    for name in _names(records):
        bad += [(step, name) for step, value in _series(records, "eval", name) if not math.isfinite(value)]
    if not bad:
        return []
    names = sorted({name for _, name in bad})
    steps = sorted({step for step, _ in bad})
    return [Finding("not_finite", "error", {"first_step": steps[0], "windows": len(bad), "names": names})]


def _curve(training: Series, limits: Thresholds) -> list[Finding]:
    """At most one of: not falling, plateau, still falling."""
    values = [value for _, value in training]
    noise = _noise(values)
    first, last = _middle(values, 0, 0.2), _middle(values, 0.8, 1)
    error = 1.2533 * noise / math.sqrt(max(1, len(values) // 5))  # of a median of a fifth
    whole = {"first": first, "last": last, "first_step": training[0][0], "last_step": training[-1][0]}
    if _fall(first, last) < limits.not_falling:
        rising = last > first + 4 * error and _fall(first, last) < -limits.not_falling
        return [Finding("rising" if rising else "not_falling", "error" if rising else "warning", whole)]
    middle = _middle(values, 0.4, 0.6)
    if _fall(middle, last) < limits.plateau and 2 * error < limits.plateau * abs(middle):
        since = training[int(0.4 * len(training))][0]
        return [Finding("plateau", "note", {**whole, "since": since, "level": middle})]
    before = _middle(values, 0.6, 0.8)
    if _fall(before, last) > limits.still_falling and before - last > 4 * error:
        return [Finding("still_falling", "note", {**whole, "before": before, "fall": _fall(before, last)})]
    return []


def _spikes(training: Series, limits: Thresholds) -> list[Finding]:
    """Windows far above those before them."""
    values = [value for _, value in training]
    found = []
    for place in range(5, len(values)):
        window = values[max(0, place - 8) : place]
        usual = statistics.median(window)
        noise = _noise(values[max(0, place - 24) : place])
        rise = values[place] - usual
        if rise > limits.spike * abs(usual) and rise > limits.spike_noise * noise:
            found.append((training[place][0], values[place], usual))
    if not found:
        return []
    step, value, usual = max(found, key=lambda spike: spike[1] - spike[2])
    steps = [spike[0] for spike in found]
    return [Finding("spikes", "warning", {"steps": steps, "step": step, "loss": value, "usual": usual})]


def _at(training: Series, step: int, reach: int = 3) -> float:
    """The training loss around a step: the median of some windows up to it."""
    before = [value for at, value in training if at <= step] or [training[0][1]]
    return statistics.median(before[-reach:])


def _overfitting(training: Series, name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    values = [value for _, value in evaluated]
    lowest = min(range(len(values)), key=values.__getitem__)
    if len(values) - 1 - lowest < 2:
        return []
    end = statistics.median(values[-2:])
    rise = end - values[lowest]
    if rise <= limits.overfit_rise * abs(values[lowest]) or rise <= limits.overfit_noise * _noise(values):
        return []
    began = evaluated[lowest][0]
    then, now = _at(training, began), _at(training, evaluated[-1][0])
    if _fall(then, now) < limits.overfit_train_fall:
        return []
    evidence = {"began": began, "name": name, "lowest": values[lowest], "end": end, "last_step": evaluated[-1][0]}
    return [Finding("overfitting", "warning", {**evidence, "train_then": then, "train_now": now})]


def _gap(training: Series, name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    ours, theirs = _at(training, evaluated[-1][0]), statistics.median([value for _, value in evaluated[-2:]])
    if theirs - ours <= limits.gap * abs(ours):
        return []
    return [Finding("gap", "warning", {"train": ours, "evaluation": theirs, "name": name, "step": evaluated[-1][0]})]


def _scores_against_loss(records: Sequence[dict], name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    found = []
    losses = dict(evaluated)
    for score in _names(records):
        if not _is_generation(score):
            continue
        pairs = [(step, v, losses[step]) for step, v in _series(records, "eval", score) if step in losses]
        if len(pairs) < limits.evaluations:
            continue
        values = [value for _, value, _ in pairs]
        best = max(range(len(values)), key=values.__getitem__)
        end, end_loss = statistics.median(values[-2:]), statistics.median([pair[2] for pair in pairs[-2:]])
        if len(values) - 1 - best < 2 or values[best] - end <= max(
            limits.score_fall * values[best], limits.overfit_noise * _noise(values)
        ):
            continue
        if _fall(pairs[best][2], end_loss) < limits.not_falling:
            continue
        evidence = {"score": score, "step": pairs[best][0], "best": values[best], "end": end, "name": name}
        found.append(Finding("scores_fall", "warning", {**evidence, "loss_then": pairs[best][2], "loss_now": end_loss}))
    return found


# -- scores ------------------------------------------------------------------------------------------------------------


def _is_generation(name: str) -> bool:
    return any(word in name.lower() for word in ("bleu", "rouge", "chrf"))


def _of_scores(
    scores: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> tuple[list[Finding], list[str]]:
    """What the values alone show, and the names of those that were looked at."""
    found: list[Finding] = []
    judged: list[str] = []
    for name, given in scores.items():
        parts: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict(getattr(given, "parts", {}))
        value = next(iter(parts.values()), None) if isinstance(given, Mapping) else given
        signature = str(parts.get("signature") or getattr(given, "signature", ""))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        judged.append(name)
        value, lower = float(value), name.lower()
        if not math.isfinite(value):
            found.append(Finding("score_not_finite", "error", {"name": name, "value": value}))
        if _is_generation(name) and value == 0:
            kind = "zero_score_english_tokens" if "tok:13a" in signature or "tok:intl" in signature else "zero_score"
            found.append(Finding(kind, "error", {"name": name, "value": value}))
        if "accuracy" in lower or lower in ("acc", "acc_norm"):
            found += _chance(name, value, parts, limits, chance)
        for part, number in {**parts, name: value}.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            if "yes_rate" in part.lower() and (number >= 1 - limits.yes_rate or number <= limits.yes_rate):
                found.append(Finding("yes_rate", "warning", {"name": name, "value": float(number)}))
            if "mass" in part.lower() and number < limits.mass:
                found.append(Finding("tiny_mass", "warning", {"name": name, "value": float(number)}))
    return found, judged


def _chance(
    name: str, value: float, parts: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> list[Finding]:
    level = chance.get(name) if isinstance(chance, Mapping) else chance
    level = parts.get("chance", level)
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        return []
    samples = parts.get("total", parts.get("samples"))
    within = limits.chance
    if isinstance(samples, int) and samples > 0:
        within = 2 * math.sqrt(level * (1 - level) / samples)
        if within > 0.15:  # too few samples to say anything
            return []
    if abs(value - level) > within:
        return []
    return [Finding("at_chance", "warning", {"name": name, "value": value, "chance": float(level)})]


# -- texts -------------------------------------------------------------------------------------------------------------


def _text(kind: str, language: str) -> tuple[str, str]:
    if language not in ("en", "zh"):
        raise ValueError(f"For 'Diagnosis', language must be 'en' or 'zh', but got {language!r}")
    return TEXTS[kind][language]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(str, value[:6])) + (", ..." if len(value) > 6 else "")
    return str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
