"""What the curves of a history show. Pure functions from points to findings."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from mindeval.training import names
from mindeval.training.findings import Finding, Thresholds
from mindeval.training.history import points

Series = list  # of (step, value)


def metric_names(records: Sequence[dict]) -> list[str]:
    return list(dict.fromkeys(n for r in records if r.get("kind") == "eval" for n in r.get("metrics", {})))


def evaluation_loss(records: Sequence[dict], loss: str | None) -> tuple[str, Series]:
    """The evaluation loss that is looked at, in nats; infinite and missing values are left out."""
    known = metric_names(records)
    if loss is not None and loss not in known:
        raise ValueError(f"For 'diagnose', loss must be one of {known}, but got {loss!r}")
    name = loss or names.evaluation_loss(known)
    if name is None:
        return "", []
    values = [(step, value) for step, value in points(records, name, "eval") if math.isfinite(value)]
    if names.is_perplexity(name):
        values = [(step, math.log(value)) for step, value in values if value > 0]
    return name, values


def _noise(values: Sequence[float]) -> float:
    """The standard deviation of a curve around its trend, from second differences; robust to single outliers."""
    if len(values) < 4:
        return 0.0
    second = [abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:])]
    return 1.4826 * statistics.median(second) / math.sqrt(6)


def _of_median(noise: float, size: int) -> float:
    """The standard error of a median of that many independent values."""
    return 1.2533 * noise / math.sqrt(max(1, size))


def _slow_noise(values: Sequence[float], noise: float) -> float:
    """The noise of medians over tenths, where it is clearly more than ``noise`` makes it: it lasts for many windows,
    as that of data which is not well shuffled."""
    size = max(5, len(values) // 10)
    blocks = [values[at : at + size] for at in range(len(values) % size, len(values), size)]
    found = _noise([statistics.median(block) for block in blocks])
    return found if found > 2 * _of_median(noise, size) else 0.0


def _middle(values: Sequence[float], start: float, stop: float) -> float:
    """The median of a part of a curve, from one share of its length to another."""
    first = min(int(start * len(values)), len(values) - 1)
    return statistics.median(values[first : max(first + 1, round(stop * len(values)))])


def _fall(before: float, after: float) -> float:
    """By which share a loss fell. From 0 any other value is infinitely far."""
    if before == after:
        return 0.0
    return (before - after) / abs(before) if before else math.copysign(math.inf, before - after)


def not_finite(records: Sequence[dict]) -> list[Finding]:
    bad = [(step, "loss") for step, value in points(records, "loss", "train") if not math.isfinite(value)]
    known = {step for step, _ in bad}
    largest = points(records, "loss_max", "train")
    bad += [(step, "loss_max") for step, value in largest if not math.isfinite(value) and step not in known]
    for name in metric_names(records):
        bad += [(step, name) for step, value in points(records, name, "eval") if not math.isfinite(value)]
    if not bad:
        return []
    first = min(step for step, _ in bad)
    whose = sorted({name for _, name in bad})
    return [Finding("not_finite", "error", {"first_step": first, "windows": len(bad), "names": whose})]


def course(training: Series, limits: Thresholds) -> list[Finding]:
    """At most one of: rising, rising again, not falling, plateau, still falling."""
    values = [value for _, value in training]
    noise = _noise(values)
    first, last = _middle(values, 0, 0.2), _middle(values, 0.8, 1)
    slow = _slow_noise(values, noise)
    fast_error = _of_median(noise, len(values) // 5)
    error = max(fast_error, slow / math.sqrt(2))  # of a median of a fifth, which is two tenths
    whole = {"first": first, "last": last, "first_step": training[0][0], "last_step": training[-1][0]}
    again = rising_again(training, max(noise, 1.5 * slow), limits)
    if again:
        return again
    if _fall(first, last) < limits.not_falling or 0 <= first - last <= 4 * fast_error:
        rising = last > first + 4 * error and _fall(first, last) < -limits.not_falling
        return [Finding("rising" if rising else "not_falling", "error" if rising else "warning", whole)]
    middle = _middle(values, 0.4, 0.6)
    if slow:
        slow = _slow_noise(values[int(0.4 * len(values)) :], noise)  # the steep beginning is no noise of a plateau
    flat_error = max(fast_error, slow / math.sqrt(2))
    risen = last - middle > max(limits.plateau * abs(middle), 4 * flat_error)
    if not risen and _fall(middle, last) < limits.plateau and 2 * flat_error <= limits.plateau * abs(middle):
        since = training[int(0.4 * len(training))][0]
        return [Finding("plateau", "note", {**whole, "since": since, "level": middle})]
    before = _middle(values, 0.6, 0.8)
    if _fall(before, last) > limits.still_falling and before - last > 4 * fast_error:
        return [Finding("still_falling", "note", {**whole, "before": before, "fall": _fall(before, last)})]
    return []


def rising_again(training: Series, noise: float, limits: Thresholds) -> list[Finding]:
    """A loss that fell and ends above its lowest level, of medians over a tenth of the run."""
    size = max(5, len(training) // 10)
    levels = [statistics.median([v for _, v in training[at : at + size]]) for at in range(len(training) - size + 1)]
    lowest = min(range(len(levels)), key=levels.__getitem__)
    rise = levels[-1] - levels[lowest]
    fell = _fall(levels[0], levels[lowest]) >= limits.not_falling
    if not fell or rise <= limits.rising_again * abs(levels[lowest]) or rise <= 4 * noise:
        return []
    (step, _), (last_step, _) = training[lowest + size // 2], training[-1]
    evidence = {"first": levels[0], "lowest": levels[lowest], "since": step, "last": levels[-1], "last_step": last_step}
    return [Finding("rising_again", "error", evidence)]


def spikes(training: Series, limits: Thresholds) -> list[Finding]:
    """Windows far above those before them, by a share of these or of the whole curve: a loss may begin at 0."""
    values = [value for _, value in training]
    level = statistics.median(map(abs, values))
    found = []
    for place in range(5, len(values)):
        window = values[max(0, place - 8) : place]
        usual = statistics.median(window)
        noise = _noise(values[max(0, place - 24) : place])
        rise = values[place] - usual
        if rise > limits.spike * max(abs(usual), level) and rise > limits.spike_noise * noise:
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


def overfitting(training: Series, name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    values = [value for _, value in evaluated]
    lowest = min(range(len(values)), key=values.__getitem__)
    if len(values) - 1 - lowest < 2:
        return []
    end = statistics.median(values[-2:])
    rise, share = end - values[lowest], limits.overfit_rise * abs(values[lowest])
    rises = len(values) < 8 and rise > 3 * share and sorted(values[lowest:]) == values[lowest:]
    if rise <= share or (rise <= limits.overfit_noise * _noise(values) and not rises):  # few values are all turn
        return []
    began = evaluated[lowest][0]
    then, now = _at(training, began), _at(training, evaluated[-1][0])
    if _fall(then, now) < limits.overfit_train_fall:
        return []
    evidence = {"began": began, "name": name, "lowest": values[lowest], "end": end, "last_step": evaluated[-1][0]}
    return [Finding("overfitting", "warning", {**evidence, "train_then": then, "train_now": now})]


def is_improving(evaluated: Series, limits: Thresholds) -> bool:
    """Whether the evaluation loss reached a lower value in the second half of its evaluations."""
    values = [value for _, value in evaluated]
    half = len(values) // 2
    return _fall(min(values[:half]), min(values[half:])) >= limits.not_falling


def gap(training: Series, name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    ours, theirs = _at(training, evaluated[-1][0]), statistics.median([value for _, value in evaluated[-2:]])
    if theirs - ours <= limits.gap * abs(ours):
        return []
    return [Finding("gap", "warning", {"train": ours, "evaluation": theirs, "name": name, "step": evaluated[-1][0]})]


def scores_against_loss(records: Sequence[dict], name: str, evaluated: Series, limits: Thresholds) -> list[Finding]:
    found = []
    losses = dict(evaluated)
    for score in metric_names(records):
        if not names.is_generation(score):
            continue
        pairs = [(step, v, losses[step]) for step, v in points(records, score, "eval") if step in losses]
        while pairs and pairs[-1][1] == 0:  # that is a finding of its own
            pairs.pop()
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
