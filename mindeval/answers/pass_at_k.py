"""PassAtK: how often at least one of k samples is right, and its relatives, from n samples of each problem."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.answers._rows import counted_rows, kept_rows, rows_of
from mindeval.metric import Metric
from mindeval.state import Count, Counts


def pass_at_k(n: int, c: int, k: int) -> Fraction:
    r"""The unbiased estimate of pass@k of one problem, exactly.

    .. math:: 1 - \binom{n-c}{k} \Big/ \binom{n}{k}

    Args:
        n: Samples that were drawn.
        c: How many of them are right.
        k: Samples that a user would draw, at most n.

    Raises:
        ValueError: If not 0 <= c <= n and 1 <= k <= n: with fewer than k samples there is no unbiased estimate.

    Source: Chen et al., 2021, "Evaluating Large Language Models Trained on Code", eq. 1.

    >>> pass_at_k(3, 1, 2)
    Fraction(2, 3)
    """
    _check(n, c, k)
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def g_pass_at_k(n: int, c: int, k: int, threshold: float | Fraction) -> Fraction:
    r"""The probability that at least ``ceil(threshold * k)`` (and at least one) of k samples are right.

    .. math:: \sum_{j=\max(1, \lceil \tau k \rceil)}^{\min(c, k)} \binom{c}{j} \binom{n-c}{k-j} \Big/ \binom{n}{k}

    Source: Liu et al., 2024, "Are Your LLMs Capable of Stable Reasoning?" (G-Pass@k).

    >>> g_pass_at_k(4, 2, 2, 1.0)
    Fraction(1, 6)
    """
    _check(n, c, k)
    ways = sum(math.comb(c, j) * math.comb(n - c, k - j) for j in range(_least(threshold, k), min(c, k) + 1))
    return Fraction(ways, math.comb(n, k))


def _is_share(value: Any) -> bool:
    is_number = isinstance(value, (int, float, Fraction, np.integer, np.floating)) and not isinstance(value, bool)
    return is_number and 0 <= value <= 1


def _check(n: int, c: int, k: int) -> None:
    for value, what in ((n, "n"), (c, "c"), (k, "k")):
        inputs.whole_number(value, what)
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass@k needs 0 <= c <= n and 1 <= k <= n, but got n={n}, c={c}, k={k}")


class PassAtK(Metric):
    r"""pass@k over problems of n samples each: the mean of the unbiased estimates, with exact integers.

    ``update(correct[, answers[, mask]])``:

    ======= ========================== ==================================================================
    input   shape                      meaning
    ======= ========================== ==================================================================
    correct ``[B, n_samples]``         bool: which samples of each problem are right
    answers B lists of n_samples str   the extracted answers, for the majority vote; ``""`` does not vote
    mask    ``[B]``                    bool, True counts; other rows may hold anything
    ======= ========================== ==================================================================

    ``result()``: ``pass@k`` for each k, ``avg@n`` (mean share of right samples), ``g_pass@k`` by threshold,
    ``mg_pass@k`` for each k above 1, and where every update had answers ``cons@n`` (the commonest answer is right:
    the share of right ones among the samples with it, or with one of several equally common answers). Where only some
    updates had answers, a warning says that it is left out.

    ``mg_pass@k`` is the paper's sum in place of an integral over the thresholds from 1/2 to 1:

    .. math:: \frac{2}{k} \sum_{i=\lceil k/2 \rceil + 1}^{k} \text{G-Pass@}k_{i/k}

    For an even k a perfect model has 1; for an odd one the sum has (k - 1) / 2 terms, and a perfect model (k - 1) / k.
    For k = 1 it has none, and is not reported.

    Args:
        k: One k or several; the first is the value of ``eval()``.
        n_samples: Samples of each problem.
        thresholds: The thresholds of G-Pass@k.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: If a k is above n_samples (there is no unbiased estimate then), repeats or is below 1, shapes do not
            match, or sample ids are given (mask repeated rows).
        TypeError: If ``correct`` is not bool, or ``k`` or ``n_samples`` is not an int.

    Sources: Chen et al., 2021 (pass@k); Wang et al., 2022, "Self-Consistency" (majority vote); Liu et al., 2024
    (G-Pass@k).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import numpy as np
    >>> metric = PassAtK(k=(1, 2), n_samples=3)
    >>> metric.update(np.array([[True, False, False], [True, True, True]]))
    >>> metric.eval(), metric.result()["pass@2"]
    (0.6666666666666666, 0.8333333333333334)
    """

    higher_is_better = True

    def __init__(
        self,
        k: int | Sequence[int] = 1,
        n_samples: int = 1,
        *,
        thresholds: Sequence[float] = (0.5, 0.75, 1.0),
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.n_samples = inputs.whole_number(n_samples, "n_samples", at_least=1)
        given = list(k) if isinstance(k, (list, tuple, range, np.ndarray)) else [k]
        self.ks = tuple(inputs.whole_number(wanted, "k", at_least=1) for wanted in given)
        if not self.ks or len(set(self.ks)) < len(self.ks):
            raise ValueError(f"k must be one or several different numbers, but got {k!r}")
        if max(self.ks) > self.n_samples:
            raise ValueError(
                f"k must be between 1 and n_samples={self.n_samples}, but got {max(self.ks)}: fewer samples than k "
                "give no unbiased estimate"
            )
        if not isinstance(thresholds, (list, tuple, np.ndarray)):
            raise TypeError(f"thresholds must be a list of numbers in [0, 1], but got {thresholds!r}")
        self.thresholds = tuple(thresholds)
        if len(set(self.thresholds)) < len(self.thresholds) or not all(map(_is_share, self.thresholds)):
            raise ValueError(f"thresholds must be different numbers in [0, 1], but got {self.thresholds}")
        super().__init__(
            # problems by their number of right samples; right samples among those with a commonest answer, by how many
            # have one
            states={
                "problems": Counts((self.n_samples + 1,)),
                "votes": Counts((self.n_samples + 1,)),
                "voted": Count(),
            },
            settings={"k": "+".join(map(str, self.ks)), "n": self.n_samples},
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self, correct: Any, answers: Any = None, mask: Any = None, *, sample_ids: Any = None
    ) -> dict[str, Any]:
        counted = counted_rows(mask, rows_of(correct, "correct"), sample_ids)
        right = inputs.to_numpy(kept_rows(correct, counted, [False] * self.n_samples), "correct")
        if right.dtype.kind != "b":
            raise TypeError(f"correct must be bool, but got {right.dtype}")
        if right.ndim != 2 or right.shape[1] != self.n_samples:
            raise ValueError(f"correct must have shape [B, {self.n_samples}], but got {list(right.shape)}")
        problems = np.bincount(right[counted].sum(axis=1), minlength=self.n_samples + 1)
        votes, voted = np.zeros(self.n_samples + 1, np.int64), 0
        if answers is not None:
            rows = answers.tolist() if isinstance(answers, np.ndarray) else list(answers)
            if len(rows) != len(right):
                raise ValueError(f"answers must have {len(right)} rows to match correct, but got {len(rows)}")
            for row in np.flatnonzero(counted).tolist():
                given = inputs.texts(rows[row], "answers")
                if len(given) != self.n_samples:
                    raise ValueError(f"answers must have {self.n_samples} per problem, but row {row} has {len(given)}")
                drawn, won = majority(given, right[row].tolist())
                votes[drawn] += won
                voted += 1
        return {"problems": problems, "votes": votes, "voted": voted, "samples": int(counted.sum())}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        by_right = states["problems"].value.tolist()
        n, total, voted = self.n_samples, sum(by_right), states["voted"].value

        def share(draws: Iterator[int], k: int) -> Fraction:
            """The mean share of the draws of k samples that are counted for 0, 1, ... right samples."""
            counted = sum(problems * count for problems, count in zip(by_right, draws) if problems)
            return Fraction(counted, total * math.comb(n, k))

        parts: dict[str, Any] = {f"pass@{k}": float(share(_draws(n, k, 1), k)) for k in self.ks}
        parts[f"avg@{n}"] = float(Fraction(sum(c * problems for c, problems in enumerate(by_right)), total * n))
        if voted == total:
            votes = states["votes"].value.tolist()
            parts[f"cons@{n}"] = float(
                sum(Fraction(won, drawn) for drawn, won in enumerate(votes) if won) / Fraction(total)
            )
        elif voted:
            warnings.warn(
                f"For '{type(self).__name__}', cons@{n} is left out: answers were given for {voted} of {total} "
                "problems",
                stacklevel=3,  # the caller of eval()
            )
        for k in self.ks:
            parts[f"g_pass@{k}"] = {str(t): float(share(_draws(n, k, _least(t, k)), k)) for t in self.thresholds}
            if k > 1:  # the sum of one sample is empty
                parts[f"mg_pass@{k}"] = float(Fraction(2, k) * share(_summed_draws(n, k), k))
        return parts


def _least(threshold: float | Fraction, k: int) -> int:
    """How many of k samples must be right to reach a threshold."""
    return max(1, math.ceil(Fraction(str(threshold)) * k))


def _draws(n: int, k: int, least: int) -> Iterator[int]:
    r"""For c = 0, 1, ..., n right ones of n samples: how many draws of k samples hold at least ``least`` right ones.

    When one more sample is right, the draws are added that hold it and ``least - 1`` of the other right ones,
    :math:`\binom{c}{least-1} \binom{n-c-1}{k-least}`: one step for each c, in place of a sum.
    """
    draws, added = 0, math.comb(n - least, k - least)
    for c in range(n):
        yield draws
        if c >= least - 1:
            draws += added
            added = added * (c + 1) * (n - c - 1 - k + least) // ((c - least + 2) * max(1, n - c - 1))
    yield draws


def _summed_draws(n: int, k: int) -> Iterator[int]:
    """For c = 0, 1, ..., n: the sum of ``_draws(n, k, i)`` over i = ceil(k/2) + 1, ..., k.

    When one more sample is right, each term gains the draws that hold it and i - 1 of the other right ones: together
    the draws of k - 1 of the other n - 1 samples that hold at least ceil(k/2) right ones.
    """
    summed = 0
    for added in _draws(n - 1, k - 1, -(-k // 2)):
        yield summed
        summed += added
    yield summed


def majority(answers: Sequence[str], correct: Sequence[bool]) -> tuple[int, int]:
    """(how many samples have a commonest answer, how many of those are right).

    >>> majority(["5", "5", "7", ""], [True, True, False, False])
    (2, 2)
    """
    votes = Counter(answer for answer in answers if answer)
    most = max(votes.values(), default=0)
    drawn = [is_right for answer, is_right in zip(answers, correct) if answer and votes[answer] == most]
    return len(drawn), sum(drawn)
