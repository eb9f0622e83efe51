"""Precision and recall of ``diagnose`` on generated histories: python benchmarks/diagnosis.py [--histories 1000]

Each history is a run of a known kind with noise, warm-up, restarts and missing values. It is a hit when exactly the
findings of its kind come out.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter

import numpy as np

from mindeval.training import diagnose

KINDS = {  # what was made -> what must be found
    "healthy": set(),
    "not_finite": {"not_finite"},
    "not_falling": {"not_falling"},
    "rising": {"rising"},
    "rising_again": {"rising_again"},
    "spikes": {"spikes"},
    "overfitting": {"overfitting"},
    "still_falling": {"still_falling"},
    "plateau": {"plateau"},
    "gap": {"gap"},
    "scores_fall": {"scores_fall"},
    "suspicious": set(),  # filled in by suspicious()
}


def generate(kind: str, seed: int) -> tuple[list[dict], set[str]]:
    """Records of a run of one kind, and the kinds of findings that it must give."""
    rng = np.random.default_rng(seed)
    points = int(rng.integers(40, 200))
    steps = (np.arange(points) + 1) * 10
    t = (np.arange(points) + 1) / points
    start, floor = rng.uniform(4, 10), rng.uniform(1.0, 2.5)
    power = rng.uniform(0.25, 0.5)
    train = floor + (start - floor) * (1 + points * 0.5 * t) ** -power
    if kind == "still_falling":
        start = floor * rng.uniform(3.5, 5)
        train = floor + (start - floor) * np.exp(-1.2 * t)
    elif kind == "plateau":
        train = floor + (start - floor) * np.exp(-t / rng.uniform(0.03, 0.07))
    elif kind == "not_falling":
        train = np.full(points, start)
    elif kind == "rising":
        train = start * (1 + rng.uniform(0.15, 0.8) * t)
    elif kind == "rising_again":  # diverges after a share of the run
        turn = int(rng.uniform(0.35, 0.8) * points)
        train[turn:] = train[turn] * (1 + rng.uniform(0.2, 1.5) * np.linspace(0, 1, points - turn))
    elif kind == "overfitting":
        train = floor + (start - floor) * (1 + points * 0.5 * t) ** -power - 0.4 * floor * t
    warm = rng.random() < 0.5 and kind not in ("not_falling", "rising")
    if warm:  # a slow start: the loss begins higher
        train = train * (1 + 0.15 * np.exp(-t / 0.02))
    restart = int(rng.integers(points // 3, points)) if rng.random() < 0.4 else None
    if restart is not None and kind not in ("plateau", "not_falling", "rising"):
        bump = rng.uniform(0.02, 0.08) * np.exp(-np.arange(points - restart) / 4)
        train = np.concatenate([train[:restart], train[restart:] * (1 + bump)])
    level = train.copy()
    train = train * (1 + rng.normal(0, rng.uniform(0.001, 0.01), points))

    places = np.unique(np.linspace(points // 10, points - 1, int(rng.integers(8, 24))).astype(int))
    ratio = 1 + rng.uniform(0.0, 0.12)
    evaluated = level[places] * ratio
    if kind == "overfitting":
        turn = int(rng.uniform(0.3, 0.6) * len(places))
        past = np.maximum(0, np.arange(len(places)) - turn)
        evaluated = np.where(past > 0, evaluated[turn] * (1 + rng.uniform(0.15, 0.5) * past / past.max()), evaluated)
    if kind == "gap":
        evaluated = level[places] * rng.uniform(1.5, 2.2)
    evaluated = evaluated * (1 + rng.normal(0, rng.uniform(0.0005, 0.004), len(places)))
    bleu = 0.3 * (1 - np.exp(-3 * t[places])) + 0.01
    if kind == "scores_fall":
        peak = int(rng.uniform(0.2, 0.45) * len(places))
        bleu = bleu * np.where(np.arange(len(places)) > peak, np.linspace(1, rng.uniform(0.2, 0.5), len(places)), 1)
    bleu = bleu * (1 + rng.normal(0, 0.01, len(places)))

    if kind == "not_finite":
        train[int(rng.integers(3, points)) :] = math.nan
        train[: max(3, points // 10)] = level[: max(3, points // 10)]
    shows: set[int] = set()  # what must not be missing
    if kind == "spikes":
        for place in rng.choice(np.arange(12, points), int(rng.integers(1, 4)), replace=False):
            train[place] *= rng.uniform(1.6, 4)
            shows.add(int(place))

    records = [{"kind": "start", "step": 0}]
    for place in range(points):
        if rng.random() < 0.03 and place not in shows:
            continue  # a record that is missing
        records.append({"kind": "train", "step": int(steps[place]), "loss": float(train[place])})
        if place in places:
            where = int(np.searchsorted(places, place))
            loss = float(evaluated[where])
            name, value = ("loss", loss) if seed % 2 else ("perplexity", math.exp(min(loss, 600)))
            records.append(
                {"kind": "eval", "step": int(steps[place]), "metrics": {name: value, "bleu": float(bleu[where])}}
            )
        if place == restart:
            records.append({"kind": "start", "step": int(steps[place])})
    expected = set(KINDS[kind])
    if kind == "suspicious":
        expected = suspicious(records, rng)
    return records, expected


def suspicious(records: list[dict], rng: np.random.Generator) -> set[str]:
    """Make one value of the last evaluation suspicious."""
    metrics = next(record for record in reversed(records) if record["kind"] == "eval")["metrics"]
    name, value, kind = [
        ("bleu", 0.0, "zero_score"),
        ("accuracy", 0.25 + rng.uniform(-0.015, 0.015), "at_chance"),
        ("yes_rate", rng.uniform(0.98, 1), "yes_rate"),
        ("mass", rng.uniform(0, 0.05), "tiny_mass"),
    ][int(rng.integers(4))]
    metrics[name] = float(value)
    return {kind}


def measure(histories: int, seed: int = 0) -> list[tuple[str, int, int, int]]:
    """(kind, found rightly, found wrongly, missed) for each kind of finding over all histories."""
    kinds = list(KINDS)
    right: Counter = Counter()
    wrong: Counter = Counter()
    missed: Counter = Counter()
    for number in range(histories):
        kind = "healthy" if number % 3 == 0 else kinds[1 + number % (len(kinds) - 1)]
        records, expected = generate(kind, seed + number)
        found = set(diagnose(records, chance=0.25).kinds)
        right.update(found & expected)
        wrong.update(found - expected)
        missed.update(expected - found)
    return [(kind, right[kind], wrong[kind], missed[kind]) for kind in sorted({*right, *wrong, *missed})]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rows = measure(arguments.histories, arguments.seed)
    print(f"{'finding':14} {'right':>6} {'wrong':>6} {'missed':>6} {'precision':>10} {'recall':>7}")
    for kind, right, wrong, missed in [*rows, ("all", *(sum(row[k] for row in rows) for k in (1, 2, 3)))]:
        precision = right / (right + wrong) if right + wrong else math.nan
        recall = right / (right + missed) if right + missed else math.nan
        print(f"{kind:14} {right:6} {wrong:6} {missed:6} {precision:10.4f} {recall:7.4f}")


if __name__ == "__main__":
    main()
