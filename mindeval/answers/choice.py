"""ChoiceAccuracy: multiple choice from letter logits, option log-likelihoods or generated text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.answers import _candidates, _options, _scores
from mindeval.answers.extraction import extract_choice
from mindeval.answers.heads import CandidateHead
from mindeval.answers.yes_no import warn_of_tiny_mass
from mindeval.metric import Metric
from mindeval.state import Count, Counts, ExactSum, Grouped, State

MODES = ("letter", "loglikelihood", "text")
_KINDS = len(_options.NORMALISATIONS)
# The columns of a group's counts: questions, then for each normalisation the correct, the tied and the scored ones.
_WIDTH = 1 + 3 * _KINDS
REASONS = ("no answer", "ambiguous", "unclosed reasoning", "empty text")


class ChoiceAccuracy(Metric):
    r"""The share of multiple-choice questions answered right, with totals by group (subject).

    ``update(predictions, labels[, mask[, groups[, options[, positions]]]])``:

    =================== ============================ ===============================================================
    mode                predictions                  chosen is
    =================== ============================ ===============================================================
    ``"letter"``        logits ``[B, V]``, or        the option whose letter is likeliest as the next token (summed
                        ``[B, T, V]`` + positions    over the letter's forms, "B" and " B")
    ``"letter"``, with  ``[B, N]`` log P or NLL of   the same; from ``head()``, from ``token_nll``, or from
    inputs="log_probs"  each of ``candidates``       vocabulary-sharded logits
    or "nll"
    ``"loglikelihood"`` ``[B, C]``, ``[B, C, K]`` or the option with the largest score; K columns are the first of
                        a list of ``[C]``/``[C, K]`` sum, tokens, characters, bytes, prior, full, full_tokens: see
                        ``option_statistics``
    ``"text"``          B texts                      the option that ``extract_choice`` reads; none is wrong
    =================== ============================ ===============================================================

    =========== ================================= ==============================================================
    input       shape                             meaning
    =========== ================================= ==============================================================
    labels      ``[B]`` indices or letters;       the right option; several make each of them right ("text" with
                lists of them; bool ``[B, C]``    ``multiple=True``: exactly all of them)
    mask        ``[B]``                           bool, True counts
    groups      ``[B]`` str or int                the subject of each question
    options     ``[B]`` ints, or B lists of str   how many options each question has, or their texts
    positions   ``[B]``                           the last token of each prompt, for logits ``[B, T, V]``
    =========== ================================= ==============================================================

    The normalisations of ``"loglikelihood"`` (s: log P(option | question)), all in ``result()["by_normalisation"]`` as
    far as the columns allow:

    ========= ========================================= ==========================================================
    name      score                                     known as
    ========= ========================================= ==========================================================
    ``sum``   s                                         lm-eval ``acc``
    ``token`` s / tokens                                OpenCompass PPL of the answer part
    ``char``  s / characters                            lm-eval ``acc_norm``
    ``byte``  s / UTF-8 bytes                           lm-eval ``acc_bytes``
    ``prior`` s - log P(option)                         lm-eval ``acc_mutual_info``, OpenCompass ``normalizing_str``
    ``full``  log P(question, option) / all tokens      MindSpeed-LLM ``mmlu_ppl``, OpenCompass PPL
    ========= ========================================= ==========================================================

    Equal scores: the first option is chosen (as argmax does) and the question is counted in ``ties``.

    ``result()``: accuracy (the same as micro), macro (mean of the groups' accuracies), weighted (by ``weights``),
    by_group, by_normalisation, ties, mass (mean probability of all letters together; mode "letter"), answered and
    invalid (mode "text": counts by reason).

    Args:
        choices: The letters, one character each.
        mode: ``"letter"``, ``"loglikelihood"`` or ``"text"``.
        normalize: The normalisation behind ``eval()``; mode "loglikelihood" only.
        tokenizer_or_ids: Mode "letter": a tokenizer, or a mapping letter -> ids.
        context: Mode "letter": the end of the real prompt, without trailing white space.
        variants: ``"all"``: letters with and without a leading space; ``"exact"``: ``choices`` as they are written.
        inputs: Mode "letter": ``"logits"``, ``"log_probs"`` or ``"nll"``.
        nll: Mode "letter": for logits that are sharded over the vocabulary, see ``YesNoAccuracy``.
        vocab_size: Mode "letter": the number of real columns of a padded vocabulary.
        multiple: Mode "text": whether several options may be chosen.
        language: Mode "text": see ``extract_choice``.
        groups: None (no groups), True (names are discovered) or the names (fixed; cheaper to reduce over ranks).
        weights: group -> weight of ``weighted``; None: the number of its questions.
        distributed: ``True`` or the name of a group of ranks; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: If shapes do not match, a label names no option, log-likelihoods are NaN, the columns that
            ``normalize`` needs are missing, or letters cannot be told apart by the tokenizer.

    Sources of the definitions: lm-evaluation-harness ``api/task.py``, OpenCompass ``icl_ppl_inferencer.py``,
    MindSpeed-LLM ``mmlu_ppl.py``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> metric = ChoiceAccuracy(mode="loglikelihood", normalize="token", groups=True)
    >>> metric.update([[[-2.0, 1], [-6.0, 8]], [[-1.0, 2], [-2.0, 2]]], ["B", "A"], None, ["law", "art"])
    >>> metric.eval(), metric.result()["by_normalisation"]
    (1.0, {'sum': 0.5, 'token': 1.0})
    """

    higher_is_better = True

    def __init__(
        self,
        choices: Sequence[str] = "ABCD",
        mode: str = "letter",
        normalize: str = "sum",
        *,
        tokenizer_or_ids: Any = None,
        context: str = "Answer:",
        variants: str = "all",
        inputs: str = "logits",
        nll: Callable[..., Any] | None = None,
        vocab_size: int | None = None,
        multiple: bool = False,
        language: str | None = None,
        groups: bool | Iterable[str | int] | None = None,
        weights: Mapping[Any, float] | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        for what, value, known in (
            ("mode", mode, MODES),
            ("normalize", normalize, _options.NORMALISATIONS),
            ("inputs", inputs, _scores.INPUTS),
        ):
            if value not in known:
                raise ValueError(f"For 'ChoiceAccuracy', {what} must be one of {list(known)}, but got {value!r}")
        if normalize != "sum" and mode != "loglikelihood":
            raise ValueError(
                f"For 'ChoiceAccuracy', normalize={normalize!r} needs mode='loglikelihood', but got {mode!r}"
            )
        if multiple and mode != "text":
            raise ValueError(f"For 'ChoiceAccuracy', multiple=True needs mode='text', but got mode={mode!r}")
        self.choices, self.mode, self.normalize = list(choices), mode, normalize
        self.inputs, self.nll, self.vocab_size = inputs, nll, vocab_size
        self.multiple, self.language, self.weights = multiple, language, weights
        self.candidates: list[_candidates.Candidate] = []
        if mode == "letter":
            self.candidates = self._letters(tokenizer_or_ids, context, variants)
        self.grouped = groups is not None and groups is not False
        keys = None if groups is True else (["all"] if not self.grouped else list(groups))  # type: ignore[arg-type]
        states: dict[str, State] = {"counts": Grouped(Counts((_WIDTH,)), keys)}
        if mode == "letter":
            states["mass"] = ExactSum()
        if mode == "text":
            states["invalid"] = Grouped(Count(), REASONS)
        settings: dict[str, Any] = {"mode": mode, "choices": "".join(self.choices)}
        if mode == "letter":
            shown = {
                c: "+".join("-".join(map(str, k.ids)) for k in self.candidates if k.label == c) for c in self.choices
            }
            settings.update(ids=",".join(shown.values()), inputs=inputs)
        elif mode == "loglikelihood":
            settings.update(norm=normalize)
        else:
            settings.update(multiple=multiple, language=language)
        super().__init__(states=states, settings=settings, distributed=distributed, name=name)

    def _letters(self, tokenizer_or_ids: Any, context: str, variants: str) -> list[_candidates.Candidate]:
        forms = {choice: (choice,) for choice in self.choices}
        try:
            if tokenizer_or_ids is None:
                raise ValueError("mode='letter' needs tokenizer_or_ids: a tokenizer, or the ids of each letter")
            if isinstance(tokenizer_or_ids, Mapping):
                found = _candidates.given({choice: tokenizer_or_ids[choice] for choice in self.choices})
            else:
                found, _ = _candidates.build(tokenizer_or_ids, forms, context, variants, cases=False)
            return _candidates.check(found, self.choices, single=self.inputs == "logits")
        except (TypeError, ValueError, KeyError) as error:
            kind = ValueError if isinstance(error, KeyError) else type(error)
            raise kind(f"For 'ChoiceAccuracy', {error}") from error

    def head(self) -> CandidateHead:
        """A Cell that turns logits into the letters' log-probabilities inside an evaluation network; give its output to
        a metric with ``inputs="log_probs"``. For option texts there is ``answers.heads.OptionHead``."""
        return CandidateHead([candidate.ids[0] for candidate in self.candidates])

    def _contribution(
        self,
        predictions: Any,
        labels: Any,
        mask: Any = None,
        groups: Any = None,
        options: Any = None,
        positions: Any = None,
    ) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if self.mode == "text":
            outcomes, counted, extra = self._of_texts(inputs.texts(predictions, "predictions"), labels, mask, options)
        elif self.mode == "loglikelihood":
            outcomes, counted = self._of_options(_options.option_tables(predictions), labels, mask)
        else:
            outcomes, counted, extra = self._of_letters(predictions, labels, mask, options, positions)
        if self.grouped and groups is None:
            raise ValueError("groups must be given in every update of a metric with groups")
        names = _options.group_names(groups, len(counted)) if self.grouped else ["all"] * len(counted)
        counts: dict[Any, np.ndarray] = {}
        for name, outcome in zip((n for n, c in zip(names, counted) if c), outcomes[counted]):
            counts[name] = counts.get(name, 0) + outcome
        return {"counts": counts, "samples": int(counted.sum()), **extra}

    def _of_letters(
        self, predictions: Any, labels: Any, mask: Any, options: Any, positions: Any
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        if self.inputs == "logits":
            logits = _scores.at_positions(inputs.tensor_or_array(predictions, "logits"), positions)
            ids = [candidate.ids[0] for candidate in self.candidates]
            log_probs = _scores.candidate_log_probs(logits, ids, self.nll, self.vocab_size)
        else:
            log_probs = _scores.summed_log_probs(predictions, len(self.candidates), self.inputs)
        members = [[i for i, c in enumerate(self.candidates) if c.label == choice] for choice in self.choices]
        masses, total = _scores.class_masses(log_probs, members)
        counts = _option_counts(options, len(masses), len(self.choices))
        gold = _options.gold_sets(labels, len(masses), self.choices, counts)
        counted = _counted(mask, len(masses))
        outcomes = np.stack([_outcome({"sum": row[:n]}, right) for row, right, n in zip(masses, gold, counts)])
        return outcomes, counted, {"mass": total[counted]}

    def _of_options(self, tables: list[np.ndarray], labels: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        sizes = [len(table) for table in tables]
        letters = self.choices if max(sizes) <= len(self.choices) else [chr(65 + place) for place in range(max(sizes))]
        gold = _options.gold_sets(labels, len(tables), letters, sizes)
        rows = []
        for number, (table, right) in enumerate(zip(tables, gold)):
            scores = _options.normalised(table)
            if self.normalize not in scores:
                raise ValueError(
                    f"normalize={self.normalize!r} must have its columns of {list(_options.COLUMNS)}, but question "
                    f"{number} allows only {list(scores)}: see option_statistics()"
                )
            rows.append(_outcome(scores, right))
        return np.stack(rows), _counted(mask, len(tables))

    def _of_texts(
        self, texts: list[str], labels: Any, mask: Any, options: Any
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        counts = _option_counts(options, len(texts), len(self.choices))
        gold = _options.gold_sets(labels, len(texts), self.choices, counts)
        counted = _counted(mask, len(texts))
        spelled = options is not None and any(not isinstance(row, (int, np.integer)) for row in options)
        outcomes, invalid = np.zeros((len(texts), _WIDTH), np.int64), dict.fromkeys(REASONS, 0)
        for row, text in enumerate(texts):
            letters = self.choices[: counts[row]]
            found = extract_choice(
                text, letters, options=options[row] if spelled else None, multiple=self.multiple, language=self.language
            )
            chosen = frozenset(letters.index(letter) for letter in found.answer or "")
            right = chosen == gold[row] if self.multiple else bool(chosen & gold[row])
            outcomes[row, [0, 1, 1 + 2 * _KINDS]] = 1, int(right), 1
            if found.answer is None and counted[row]:
                invalid["ambiguous" if found.ambiguous else found.rule] += 1
        return outcomes, counted, {"invalid": {reason: n for reason, n in invalid.items() if n}}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        groups = {name: counts.value for name, counts in states["counts"].value.items() if counts.value[0]}
        total = sum(groups.values())
        place = _options.NORMALISATIONS.index(self.normalize)
        share = {name: Fraction(int(c[1 + place]), int(c[0])) for name, c in groups.items()}
        samples = int(total[0])
        micro = int(total[1 + place]) / samples
        parts: dict[str, Any] = {"accuracy": micro, "ties": int(total[1 + _KINDS + place])}
        if self.grouped:
            weight = {n: Fraction(str(self._weight(n, int(c[0])))) for n, c in groups.items()}
            if not sum(weight.values()):
                raise ValueError("For 'ChoiceAccuracy', weights must not all be 0 for the groups that occurred")
            parts["micro"] = micro
            parts["macro"] = float(sum(share.values()) / len(share))
            parts["weighted"] = float(sum(share[n] * w for n, w in weight.items()) / sum(weight.values()))
            parts["by_group"] = {
                str(n): {"accuracy": float(share[n]), "correct": int(c[1 + place]), "samples": int(c[0])}
                for n, c in groups.items()
            }
        if self.mode == "loglikelihood":
            parts["by_normalisation"] = {
                name: int(total[1 + i]) / samples
                for i, name in enumerate(_options.NORMALISATIONS)
                if total[1 + 2 * _KINDS + i] == samples
            }
        if self.mode == "letter":
            parts["mass"] = states["mass"].over(samples)
            warn_of_tiny_mass(type(self).__name__, parts["mass"])
        if self.mode == "text":
            parts["invalid"] = {reason: count.value for reason, count in states["invalid"].value.items()}
            parts["answered"] = (samples - sum(parts["invalid"].values())) / samples
        return parts

    def _weight(self, group: Any, samples: int) -> float:
        if self.weights is None:
            return samples
        if group not in self.weights:
            raise ValueError(f"For 'ChoiceAccuracy', weights must name every group, but {group!r} is missing")
        return self.weights[group]


def _outcome(scores: Mapping[str, np.ndarray], right: frozenset[int]) -> np.ndarray:
    """One question's counts: 1, then correct, tied and scored by normalisation."""
    counts = np.zeros(_WIDTH, np.int64)
    counts[0] = 1
    for place, name in enumerate(_options.NORMALISATIONS):
        if name in scores:
            best = scores[name].max()
            counts[1 + place] = int(scores[name].argmax()) in right
            counts[1 + _KINDS + place] = (scores[name] == best).sum() > 1
            counts[1 + 2 * _KINDS + place] = 1
    return counts


def _option_counts(options: Any, rows: int, choices: int) -> list[int]:
    if options is None:
        return [choices] * rows
    if len(options) != rows:
        raise ValueError(f"options must have {rows} rows to match predictions, but got {len(options)}")
    listed = options.tolist() if isinstance(options, np.ndarray) else options
    if not isinstance(listed, (list, tuple)):
        listed = inputs.class_ids(options, "options").tolist()
    counts = [row if isinstance(row, int) else len(row) for row in listed]
    if min(counts) < 1 or max(counts) > choices:
        raise ValueError(f"a question must have 1 to {choices} options (choices), but one has {max(counts)}")
    return counts


def _counted(mask: Any, rows: int) -> np.ndarray:
    return np.ones(rows, bool) if mask is None else inputs.boolean_mask(mask, (rows,))
