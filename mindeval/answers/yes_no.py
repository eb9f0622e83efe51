"""YesNoAccuracy: which of two answers a model's next-token logits favour."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.answers import _candidates, _scores
from mindeval.answers._rows import counted_rows, kept_rows, rows_of
from mindeval.answers.heads import CandidateHead
from mindeval.constructors import one_of
from mindeval.metric import Metric
from mindeval.state import Counts, ExactSum

TINY_MASS = 0.01


class YesNoAccuracy(Metric):
    r"""The share of questions to which a model's next-token logits give the right one of two answers.

    The probability of a class is summed over its forms ("Yes", " Yes", "yes", ...):

    .. math:: P(c) = \sum_{f \in c} P(f \mid \text{prompt}), \qquad \hat y = [P(\text{yes}) > P(\text{no})]

    The ids of a form are found by encoding it after the text that precedes it, because they depend on it: after
    ``"Answer:"`` the Qwen tokenizer continues with 7414 (" Yes"), while ``encode("Yes")`` is 9454. A form that the
    tokenizer merges with the end of the context is left out, and so are forms of several tokens as long as the class
    has another (``left_out`` says which and why). A tie is never given to yes: it counts as no, and in ``ties``.

    ``update(predictions, labels[, mask[, positions]])``:

    =========== ======================= ===================================================================
    input       shape                   meaning
    =========== ======================= ===================================================================
    predictions ``[B, V]``              logits of the token after the prompt (``inputs="logits"``)
    predictions ``[B, T, V]``           the same with ``positions`` ``[B]``: the last token of each prompt
    predictions ``[B, C]``              log P or NLL of each of ``candidates``, in nats
    predictions ``[B, C, T]``           the same for each token of a candidate, 0 where it has fewer (log P only
                                        where a candidate has several)
    labels      ``[B]``                 bool (or 0/1), True for yes
    mask        ``[B]``                 bool, True counts; other rows may hold anything
    =========== ======================= ===================================================================

    ``result()``: accuracy, balanced_accuracy (mean recall of the classes that occur), yes_rate, mass (mean probability
    of all candidates together: how far the model plays along), ties, majority_baseline (always the commoner answer).

    Args:
        tokenizer_or_ids: A tokenizer (see the docs page for those understood), or
            ``{"yes": ids, "no": ids}`` where ids are token ids or sequences of token ids.
        yes: Forms of the answer yes; any words will do, e.g. ``("True",)``, ``("是",)``.
        no: Forms of the answer no.
        context: The end of the real prompt, without trailing white space.
        variants: ``"all"``: each form also in lower and upper case, with and without a leading space; ``"exact"``: the
            forms as they are written after the context (mind the space: ``(" Yes",)``).
        inputs: ``"logits"``, or ``"log_probs"``/``"nll"`` of the candidates: from ``head()``, from ``token_nll``, or
            conditional log-likelihoods where forms have several tokens.
        nll: For logits that are sharded over the vocabulary: a function ``(logits, labels [B]) -> nll [B]``, such as
            ``kernels.vocab_parallel_nll`` with its shard bound.
        vocab_size: The number of real columns of a padded vocabulary.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: If the two classes share an id, a class has no usable form, the tokenizer appends a token to every
            text, the context's ids change when the answer follows, shapes do not match, a log-probability is above 0
            or NaN, or sample ids are given (mask repeated rows).

    Sources: the forced choice of lm-evaluation-harness on BoolQ and its kind, with the probability of all forms summed
    (Holtzman et al., 2021, "Surface Form Competition").

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> metric = YesNoAccuracy({"yes": [3], "no": [1, 2]})
    >>> logits = np.log(np.float32([[0.1, 0.3, 0.2, 0.4], [0.2, 0.1, 0.1, 0.6]]))
    >>> metric.update(logits, np.array([False, True]))
    >>> metric.eval(), round(metric.result()["mass"], 4)
    (1.0, 0.85)
    """

    higher_is_better = True

    def __init__(
        self,
        tokenizer_or_ids: Any,
        yes: Sequence[str] = ("Yes",),
        no: Sequence[str] = ("No",),
        context: str = "Answer:",
        variants: str = "all",
        *,
        inputs: str = "logits",
        nll: Callable[..., Any] | None = None,
        vocab_size: int | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.inputs, self.nll = one_of(inputs, "inputs", _scores.INPUTS), nll
        found, self.left_out = _classes(tokenizer_or_ids, {"yes": yes, "no": no}, context, variants)
        self.candidates = _candidates.check(found, ("yes", "no"), single=inputs == "logits")
        self.vocab_size = _scores.check_vocabulary(vocab_size, [c.ids[0] for c in self.candidates])
        for form in found:
            if form not in self.candidates and form.text:
                self.left_out[form.text] = f"it has {len(form.ids)} tokens"
        super().__init__(
            states={"outcomes": Counts((2, 3)), "mass": ExactSum()},
            settings={
                "yes": _candidates.shown_ids(self.candidates, "yes"),
                "no": _candidates.shown_ids(self.candidates, "no"),
                "variants": variants,
                "inputs": inputs,
            },
            distributed=distributed,
            name=name,
        )

    def head(self) -> CandidateHead:
        """A Cell that turns logits into the candidates' log-probabilities inside an evaluation network; give its
        output to a metric with ``inputs="log_probs"``."""
        return CandidateHead([candidate.ids[0] for candidate in self.candidates])

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, positions: Any = None, *, sample_ids: Any = None
    ) -> dict[str, Any]:
        rows = rows_of(predictions, "predictions")
        counted = counted_rows(mask, rows, sample_ids)
        refuse_tokens_of_single_ids(predictions, self.candidates, self.inputs)
        ids = [candidate.ids[0] for candidate in self.candidates]
        log_probs = _scores.read(predictions, ids, counted, self.inputs, positions, self.nll, self.vocab_size)
        gold = inputs.to_numpy(kept_rows(labels, counted, False), "labels")
        if gold.shape != (rows,):
            raise ValueError(f"labels must have shape [{rows}] to match predictions, but got {list(gold.shape)}")
        gold = np.where(counted, gold, False)
        if gold.dtype.kind != "b" and not np.isin(gold, (0, 1)).all():
            raise ValueError(f"labels must be bool (True for yes), but got {gold.dtype} values other than 0 and 1")
        members = [[i for i, c in enumerate(self.candidates) if c.label == label] for label in ("yes", "no")]
        exclusive = counted & _candidates.exclusive(self.candidates)
        masses, total = _scores.class_masses(log_probs, members, exclusive)
        outcome = np.where(masses[:, 0] > masses[:, 1], 0, np.where(masses[:, 0] < masses[:, 1], 1, 2))
        outcomes = np.zeros((2, 3), np.int64)
        np.add.at(outcomes, (1 - gold.astype(np.int64)[counted], outcome[counted]), 1)
        return {"outcomes": outcomes, "mass": total[counted], "samples": int(counted.sum())}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        (yes_yes, yes_no, yes_tie), (no_yes, no_no, no_tie) = states["outcomes"].value.tolist()
        positives, negatives = yes_yes + yes_no + yes_tie, no_yes + no_no + no_tie
        samples = positives + negatives
        recalls = [Fraction(right, n) for right, n in ((yes_yes, positives), (no_no + no_tie, negatives)) if n]
        mass = states["mass"].over(samples)
        warn_of_tiny_mass(type(self).__name__, mass)
        return {
            "accuracy": (yes_yes + no_no + no_tie) / samples,
            "balanced_accuracy": float(sum(recalls) / len(recalls)),
            "yes_rate": (yes_yes + no_yes) / samples,
            "mass": mass,
            "ties": yes_tie + no_tie,
            "majority_baseline": max(positives, negatives) / samples,
            "left_out": dict(self.left_out),
        }


def refuse_tokens_of_single_ids(predictions: Any, candidates: Sequence[_candidates.Candidate], kind: str) -> None:
    """Log-probabilities ``[B, C, T]`` of candidates of one token each are ``[B, T, V]`` that were gathered wrongly."""
    several = kind != "log_probs" or any(len(candidate.ids) > 1 for candidate in candidates)
    if several:
        return
    shape = list(inputs.tensor_or_array(predictions, kind).shape)
    if len(shape) == 3:
        raise ValueError(
            f"log_probs must have shape [B, {len(candidates)}], as no candidate has several tokens, but got {shape}"
        )


def warn_of_tiny_mass(metric: str, mass: float) -> None:
    """Warn that the candidates are hardly ever what the model would say."""
    if mass < TINY_MASS:
        warnings.warn(
            f"For '{metric}', the candidates have a mean probability of {mass:.2g} together: the model would say "
            "something else. Are these the token ids that follow the real prompt (context)?",
            stacklevel=4,  # the caller of eval()
        )


def _classes(
    tokenizer_or_ids: Any, forms: Mapping[str, Sequence[str]], context: str, variants: str
) -> tuple[list[_candidates.Candidate], dict[str, str]]:
    if isinstance(tokenizer_or_ids, Mapping):
        if set(tokenizer_or_ids) != set(forms):
            raise ValueError(f"ids must be given for {list(forms)}, but got {list(tokenizer_or_ids)}")
        one_of(variants, "variants", _candidates.VARIANTS)
        return _candidates.given({label: tokenizer_or_ids[label] for label in forms}), {}
    return _candidates.build(tokenizer_or_ids, forms, context, variants, cases=True)
