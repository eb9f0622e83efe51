"""Perplexity: how well a language model predicts tokens, from logits, probabilities or per-token losses."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np

from mindeval import inputs, rounding
from mindeval.kernels import float64
from mindeval.state import Count, ExactSum
from mindeval.tokens import TokenBatch, TokenMetric, TokenSums, check_labels, check_logits, shifted


class Perplexity(TokenMetric):
    r"""Token-weighted perplexity :math:`\exp\bigl(-\frac1N \sum_i \log p(y_i)\bigr)` over the N tokens that count.

    The logits are read once, in blocks, in the dtype they have; the negative log-likelihood (NLL) of a token is
    float64, their sum is exact, and the exponential is rounded once. So batch size, padding, order and number of
    cards cannot change the value.

    ``update(logits, labels[, mask[, texts]])`` or ``update(nll[, mask[, texts]])``:

    ========== ================================================ ==================================================
    input      shape                                            dtype
    ========== ================================================ ==================================================
    logits     ``[N, V]``, ``[B, T, V]``, ``[B * T, V]``        float16, bfloat16, float32, float64
    labels     ``[N]``, ``[B, T]``                              int32, int64 (or floats that are whole numbers)
    nll        ``[N]``, ``[B, T]``: per-token NLL in nats       float16, bfloat16, float32, float64
    mask       the shape of labels or nll; True counts          bool
    texts      ``[B]`` (one text for the batch: ``[1]``)        str, or integers: the texts' UTF-8 bytes
    ========== ================================================ ==================================================

    In loops ``texts=``, ``n_bytes=`` and ``n_words=`` may be given by keyword: the texts that the tokens of this
    batch spell, or their numbers of UTF-8 bytes and of words (runs of non-space characters), as one number or one for
    each row. They give bits per byte, byte perplexity and word perplexity; give them for all batches or for none. A
    row that is wholly masked adds no bytes.

    ``result()``: ``perplexity``, ``nll`` (nats per token), ``bits_per_token``, ``tokens``, ``nan`` and ``inf``
    (tokens whose NLL was not finite), and where known ``bytes``, ``bits_per_byte``, ``byte_perplexity``, ``words``,
    ``word_perplexity``.

    Args:
        ignore_index: the label of positions that do not count.
        shift: True if labels are the input ids: the logits at t are then scored on the label at t + 1. A given ``nll``
            is taken as it is.
        from_probabilities: the first input holds probabilities in [0, 1] in place of logits.
        vocab_size: the number of real entries where the vocabulary axis is padded; the columns behind it are left out.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: ``update``: if shapes do not match, the vocabulary is not the last axis, a label is out of range, or
            a batch is empty; ``eval``: see ``Metric.eval``.
        TypeError: ``update``: if a mask is not boolean or logits are not floats.

    The definition is that of Jelinek et al., *Perplexity - a measure of the difficulty of speech recognition tasks*
    (J. Acoust. Soc. Am. 62, 1977); per-byte and per-word figures as in EleutherAI's lm-evaluation-harness.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> perplexity = Perplexity()
    >>> logits = np.log(np.float32([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]]))
    >>> perplexity.update(logits, np.array([[0, -100]]))
    >>> round(perplexity.eval(), 6), perplexity.result()["tokens"]
    (2.0, 1)
    >>> perplexity.clear()
    >>> perplexity.update(np.float32([0.5, 1.5]), texts=["two tokens"])
    >>> perplexity.eval(), perplexity.result()["bytes"]
    (2.718281828459045, 10)
    """

    higher_is_better = False

    def __init__(
        self,
        ignore_index: int = -100,
        shift: bool = False,
        from_probabilities: bool = False,
        vocab_size: int | None = None,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.from_probabilities = bool(from_probabilities)
        settings: dict[str, Any] = {"ignore": ignore_index, "shift": bool(shift), "unit": "token"}
        if from_probabilities:
            settings["input"] = "probabilities"
        if vocab_size is not None:
            settings["vocab"] = vocab_size
        super().__init__(
            ignore_index,
            shift,
            vocab_size,
            states={
                "nll": ExactSum(),
                "tokens": Count(),
                "bytes": Count(),
                "words": Count(),
                "tokens_without_bytes": Count(),
                "tokens_without_words": Count(),
            },
            settings=settings,
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self,
        scores: Any,
        labels: Any = None,
        mask: Any = None,
        texts: Any = None,
        *,
        n_bytes: Any = None,
        n_words: Any = None,
    ) -> dict[str, Any]:
        if isinstance(scores, (TokenBatch, TokenSums)):
            return self._of_network(scores, texts, n_bytes, n_words)
        scores = inputs.tensor_or_array(scores, "logits")
        labels = None if labels is None else inputs.tensor_or_array(labels, "labels")
        if labels is None or _is_boolean(labels):
            if labels is not None:
                if mask is not None and texts is not None:
                    raise ValueError("per-token NLL takes one mask: give update(nll, mask, texts), not a second mask")
                mask, texts = labels, mask if texts is None else texts
            nll, counted = _given_nll(scores, mask)
        elif labels.shape == scores.shape:
            raise TypeError(
                f"labels must have one axis less than logits [..., V], but got shapes {list(scores.shape)} twice: "
                "for one-hot labels give their argmax; for a per-token NLL the second input must be a boolean mask "
                f"(mask != 0), but is {inputs.describe(labels)}"
            )
        elif self.from_probabilities:
            nll, counted = self._nll_of_probabilities(scores, labels, mask)
        else:
            batch = self._token_batch(scores, labels, mask)
            nll, counted = batch.stats.nll, batch.counted
        return self._sums(nll, counted, texts, n_bytes, n_words)

    def _of_network(self, given: TokenBatch | TokenSums, texts: Any, n_bytes: Any, n_words: Any) -> dict[str, Any]:
        if isinstance(given, TokenBatch):
            return self._sums(given.stats.nll, given.counted, texts, n_bytes, n_words)
        if texts is not None or n_bytes is not None or n_words is not None:
            raise ValueError("sums that a network has taken come without texts")
        unknown = {"tokens_without_bytes": given.tokens, "tokens_without_words": given.tokens}
        return {"nll": given.nll, "tokens": given.tokens, "samples": given.samples, **unknown}

    def _sums(self, nll: np.ndarray, counted: np.ndarray, texts: Any, n_bytes: Any, n_words: Any) -> dict[str, Any]:
        rows = counted.reshape(len(counted), -1).any(axis=1)
        tokens = int(counted.sum())
        n_bytes, n_words = _sizes_of(texts, n_bytes, n_words)
        return {
            "nll": nll[counted],
            "tokens": tokens,
            "samples": int(rows.sum()),
            "bytes": _total(n_bytes, rows, "n_bytes"),
            "words": _total(n_words, rows, "n_words"),
            "tokens_without_bytes": tokens if n_bytes is None else 0,
            "tokens_without_words": tokens if n_words is None else 0,
        }

    def _nll_of_probabilities(self, probabilities: Any, labels: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        values, ids = inputs.to_numpy(probabilities, "probabilities"), inputs.class_ids(labels, "labels")
        check_logits(values, ids)
        counted = ids != self.ignore_index
        if mask is not None:
            counted &= inputs.boolean_mask(mask, ids.shape)
        if self.vocab_size is not None and self.vocab_size > values.shape[-1]:
            raise ValueError(f"vocab_size is {self.vocab_size}, but there are only {values.shape[-1]} probabilities")
        values = values.reshape(*ids.shape, values.shape[-1])[..., : self.vocab_size]
        if self.shift:
            values, ids, counted = shifted(values, ids, counted)
        wanted = ids[counted]
        check_labels(wanted, values.shape[-1])
        chosen = values[counted, wanted].astype(np.float64)
        if not ((chosen >= 0) & (chosen <= 1)).all():
            raise ValueError(
                f"probabilities must lie in [0, 1], but got {chosen.min()} to {chosen.max()} at the labels"
            )
        nll = np.zeros(ids.shape)
        nll[counted] = -float64.log(chosen)
        return nll, counted

    def _compute(self, states: Any) -> dict[str, Any]:
        total, tokens = states["nll"], states["tokens"].value
        results = {
            "perplexity": _exp_of_mean(total, tokens),
            "nll": total.over(tokens),
            "bits_per_token": _bits_of_mean(total, tokens),
            "tokens": tokens,
            "nan": total.nan,
            "inf": total.pinf + total.ninf,
        }
        n_bytes, n_words = states["bytes"].value, states["words"].value
        if n_bytes and not states["tokens_without_bytes"].value:
            results["bytes"] = n_bytes
            results["bits_per_byte"] = _bits_of_mean(total, n_bytes)
            results["byte_perplexity"] = _exp_of_mean(total, n_bytes)
        if n_words and not states["tokens_without_words"].value:
            results["words"] = n_words
            results["word_perplexity"] = _exp_of_mean(total, n_words)
        return results


_LOWEST_NLL = -0.01  # half precision may round a log-probability near 0 to the wrong side of it


def _exp_of_mean(total: ExactSum, number: int) -> float:
    return rounding.exp(total.fraction(number)) if total.non_finite is None else abs(total.non_finite)


def _bits_of_mean(total: ExactSum, number: int) -> float:
    return rounding.bits(total.fraction(number)) if total.non_finite is None else total.non_finite


def _is_boolean(value: Any) -> bool:
    return value.dtype == (ms.bool_ if isinstance(value, ms.Tensor) else np.bool_)


def _given_nll(nll: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    values = inputs.to_numpy(nll, "nll")
    if values.dtype.kind != "f" or values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(
            "without labels the input must be the per-token NLL, floats [N] or [B, T], not empty, "
            f"but got {inputs.describe(values)}"
        )
    counted = np.ones(values.shape, bool) if mask is None else inputs.boolean_mask(mask, values.shape)
    given = values[counted]
    if (given < _LOWEST_NLL).any():
        raise ValueError(f"per-token NLL must be >= 0, but got {given.min()}: log-probabilities have the other sign")
    return values, counted


def _sizes_of(texts: Any, n_bytes: Any, n_words: Any) -> tuple[Any, Any]:
    """Bytes and words for each text, from the texts or as given; None where unknown."""
    if texts is None:
        return n_bytes, n_words
    if n_bytes is not None or n_words is not None:
        raise ValueError("texts come without n_bytes and n_words, which are counted from them")
    if not inputs.is_text_tensor(texts) and (isinstance(texts, ms.Tensor) or np.asarray(texts).dtype.kind in "iu"):
        return texts, None
    strings = inputs.texts(texts, "texts")
    for text in strings:
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(f"texts must be valid Unicode, but got a lone surrogate in {text[:40]!r}")
    return [len(text.encode()) for text in strings], [len(text.split()) for text in strings]


def _total(sizes: Any, rows: np.ndarray, what: str) -> int:
    """The total of one size for each row, without the rows that are wholly masked; or of one number for the batch."""
    if sizes is None:
        return 0
    numbers = inputs.class_ids(sizes, what, "whole numbers")
    if (numbers < 0).any():
        raise ValueError(f"{what} must be >= 0, but got {int(numbers.min())}")
    if numbers.ndim == 0 or numbers.size == 1:
        return int(numbers.sum()) if rows.any() else 0
    if numbers.shape != rows.shape:
        raise ValueError(
            f"{what} must be one number for each of the {len(rows)} rows, but got shape {list(numbers.shape)}"
        )
    return int(numbers[rows].sum())
