"""From tokens to the counts that BLEU is made of, and from their sums to BLEU."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.text.ngrams import Tokens, matched_ngrams, ngram_totals

SMOOTHINGS = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}  # with the default value, as sacrebleu has it

_EXACT = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)


def bleu_statistics(
    hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]], n_gram: int = 4
) -> np.ndarray:
    """The counts of each sample from which BLEU is made. They are summed before it is.

    Args:
        hypotheses: N lists of tokens.
        references: N lists of one or more references, each a list of tokens.
        n_gram: the longest n-grams.

    Returns:
        int64 [N, 2 + 2 * n_gram]: the length of the hypothesis; that of the closest reference, of two equally close
        ones the shorter; the n-grams that match; the n-grams that there are.

    >>> bleu_statistics([["a", "b", "c"]], [[["a", "b"], ["a", "b", "d", "e"]]], n_gram=2)
    array([[3, 2, 2, 1, 3, 2]])
    """
    lengths = np.array([len(hypothesis) for hypothesis in hypotheses], np.int64)
    closest = np.array(
        [_closest(len(one), map(len, several)) for one, several in zip(hypotheses, references)], np.int64
    )
    matches = matched_ngrams(hypotheses, references, n_gram)
    return np.concatenate([lengths[:, None], closest[:, None], matches, ngram_totals(lengths, n_gram)], axis=1)


def _closest(length: int, references: Any) -> int:
    return min(references, key=lambda other: (abs(other - length), other))


def bleu_from_statistics(
    statistics: Sequence[int],
    smooth: str = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
    weights: Sequence[float] | None = None,
) -> dict[str, Any]:
    r"""BLEU from summed statistics, with sacrebleu's smoothing.

    .. math:: \text{BLEU} = e^{\min(0, 1 - r / h)} \prod_n p_n^{w_n}

    with h and r the lengths of the hypotheses and their references, :math:`p_n` the smoothed precisions and
    :math:`w_n` = 1 / (number of orders) unless weights are given. It is computed in decimal and rounded once.

    Args:
        statistics: a row of ``bleu_statistics``, or a sum of rows.
        smooth: "exp": the k-th precision without a match is 1 / (2^k total); "floor": ``smooth_value`` / total;
            "add-k": ``smooth_value`` is added to matches and totals from n = 2 on; "none".
        smooth_value: by default 0.1 for "floor" and 1 for "add-k".
        effective_order: leave out the orders for which the hypotheses are too short.
        weights: of the precisions, in place of equal ones.

    Returns:
        bleu, precisions and brevity_penalty, all in [0, 1].

    >>> bleu_from_statistics([4, 4, 4, 3, 2, 1, 4, 3, 2, 1])["bleu"]
    1.0
    """
    n_gram = (len(statistics) - 2) // 2
    length, reference_length, *counts = (int(number) for number in statistics)
    penalty = Fraction(min(0, length - reference_length), length) if length else None
    precisions = _smoothed(counts[:n_gram], counts[n_gram:], smooth, smooth_value)
    orders = len(precisions) if effective_order else n_gram
    precisions += [Fraction(0)] * (n_gram - len(precisions))
    return {
        "bleu": 0.0 if penalty is None else _weighted_product(penalty, precisions[:orders], weights),
        "precisions": [float(precision) for precision in precisions],
        "brevity_penalty": 0.0 if penalty is None and reference_length else _exp(penalty or Fraction(0)),
    }


def _smoothed(matches: list[int], totals: list[int], smooth: str, value: float | None) -> list[Fraction]:
    """The precisions of all orders that the hypotheses are long enough for."""
    precisions: list[Fraction] = []
    if not any(matches):
        return precisions
    added = Fraction(value if value is not None else SMOOTHINGS[smooth] or 0)
    without_match = 0
    for order, (matched, total) in enumerate(zip(matches, totals)):
        more = added if smooth == "add-k" and order else 0
        if total + more == 0:
            break
        if matched + more == 0 and smooth == "exp":
            without_match += 1
            precisions.append(Fraction(1, total << without_match))
        elif matched + more == 0 and smooth == "floor":
            precisions.append(added / total)
        else:
            precisions.append(Fraction(matched + more) / (total + more))
    return precisions


def _weighted_product(penalty: Fraction, precisions: list[Fraction], weights: Sequence[float] | None) -> float:
    """e^penalty times the weighted geometric mean of the precisions."""
    if weights is not None:
        pairs = [(precision, Fraction(weight)) for precision, weight in zip(precisions, weights) if weight]
    else:
        pairs = [(_product(precisions), Fraction(1, max(len(precisions), 1)))]
    if not precisions or any(precision == 0 for precision, _ in pairs):
        return 0.0
    exponent = _decimal(penalty)
    for precision, weight in pairs:
        exponent = _EXACT.add(exponent, _EXACT.multiply(_decimal(weight), _EXACT.ln(_decimal(precision))))
    return float(_EXACT.exp(exponent))


def _product(factors: list[Fraction]) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        product *= factor
    return product


def _exp(exponent: Fraction) -> float:
    return float(_EXACT.exp(_decimal(exponent)))


def _decimal(value: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
