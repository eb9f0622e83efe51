"""ChoiceAccuracy: multiple choice from letter logits, option log-likelihoods or generated text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mindeval.answers import _candidates, _gold, _scores
from mindeval.answers import options as option_scores
from mindeval.answers._choice_counts import WIDTH, chosen, group_totals, outcome, totals
from mindeval.answers._rows import counted_rows, listed_rows, rows_of, texts_of
from mindeval.answers.extraction import extract_choice
from mindeval.answers.heads import CandidateHead
from mindeval.answers.yes_no import refuse_tokens_of_single_ids, warn_of_tiny_mass
from mindeval.constructors import one_of
from mindeval.metric import Metric
from mindeval.state import Count, Counts, ExactSum, Grouped, State

MODES = ("letter", "loglikelihood", "text")
LANGUAGES = (None, "en", "zh")
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
                                                     ``answers.options.option_statistics``
    ``"text"``          B texts                      the option that ``extract_choice`` reads; none is wrong
    =================== ============================ ===============================================================

    =========== ================================= ==============================================================
    input       shape                             meaning
    =========== ================================= ==============================================================
    labels      ``[B]`` indices or letters;       the right option; several make each of them right ("text" with
                lists of them; bool ``[B, C]``    ``multiple=True``: exactly all of them)
    mask        ``[B]``                           bool, True counts; other rows may hold anything
    groups      ``[B]`` str or int                the subject of each question; 1 and "1" are the same
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
        ValueError: If shapes do not match, a label names no option, a log-likelihood is NaN or above 0, all options of
            a question have -inf, the columns that ``normalize`` needs are missing, letters cannot be told apart by the
            tokenizer, or sample ids are given (mask repeated rows).

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
        self.choices, self.mode = _gold.check_choices(choices), one_of(mode, "mode", MODES)
        self.normalize = one_of(normalize, "normalize", option_scores.NORMALISATIONS)
        self.inputs, self.nll = one_of(inputs, "inputs", _scores.INPUTS), nll
        self.multiple, self.language = multiple, one_of(language, "language", LANGUAGES)
        if normalize != "sum" and mode != "loglikelihood":
            raise ValueError(f"normalize={normalize!r} needs mode='loglikelihood', but got {mode!r}")
        if multiple and mode != "text":
            raise ValueError(f"multiple=True needs mode='text', but got mode={mode!r}")
        self.candidates = self._letters(tokenizer_or_ids, context, variants) if mode == "letter" else []
        self.vocab_size = _scores.check_vocabulary(vocab_size, [c.ids[0] for c in self.candidates])
        self.grouped = groups is not None and groups is not False
        keys = None if groups is True else _gold.declared_groups(groups)
        if weights is not None and not self.grouped:
            raise ValueError("weights need groups: pass groups=True or the groups' names")
        self.weights = _gold.check_weights(weights, keys)
        states: dict[str, State] = {"counts": Grouped(Counts((WIDTH,)), keys)}
        if mode == "letter":
            states["mass"] = ExactSum()
        if mode == "text":
            states["invalid"] = Grouped(Count(), REASONS)
        super().__init__(states=states, settings=self._shown(), distributed=distributed, name=name)

    def _shown(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"mode": self.mode, "choices": "".join(self.choices)}
        if self.mode == "letter":
            ids = [_candidates.shown_ids(self.candidates, choice) for choice in self.choices]
            return {**settings, "ids": ",".join(ids), "inputs": self.inputs}
        if self.mode == "loglikelihood":
            return {**settings, "norm": self.normalize}
        return {**settings, "multiple": self.multiple, "language": self.language}

    def _letters(self, tokenizer_or_ids: Any, context: str, variants: str) -> list[_candidates.Candidate]:
        if tokenizer_or_ids is None:
            raise ValueError("mode='letter' needs tokenizer_or_ids: a tokenizer, or the ids of each letter")
        if isinstance(tokenizer_or_ids, Mapping):
            if set(tokenizer_or_ids) != set(self.choices):
                raise ValueError(f"ids must be given for {self.choices}, but got {list(tokenizer_or_ids)}")
            one_of(variants, "variants", _candidates.VARIANTS)
            found = _candidates.given({choice: tokenizer_or_ids[choice] for choice in self.choices})
        else:
            forms = {choice: (choice,) for choice in self.choices}
            found, _ = _candidates.build(tokenizer_or_ids, forms, context, variants, cases=False)
        return _candidates.check(found, self.choices, single=self.inputs == "logits")

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
        *,
        sample_ids: Any = None,
    ) -> dict[str, Any]:
        rows = listed_rows(predictions, "predictions") if self.mode == "text" else predictions
        counted = counted_rows(mask, rows_of(rows, "predictions"), sample_ids)
        if groups is not None and not self.grouped:
            raise ValueError("groups were given, but the metric has none: build it with groups=True or their names")
        if positions is not None and (self.mode != "letter" or self.inputs != "logits"):
            raise ValueError(
                "positions need mode='letter' and inputs='logits', but the metric has "
                f"{self.mode!r} and {self.inputs!r}"
            )
        of_mode = {"text": self._of_texts, "loglikelihood": self._of_options, "letter": self._of_letters}[self.mode]
        outcomes, extra = of_mode(rows, labels, counted, options, positions)
        if self.grouped and groups is None:
            raise ValueError("groups must be given in every update of a metric with groups")
        names = _gold.group_names(groups, counted) if self.grouped else ["all"] * len(counted)
        counts: dict[Any, np.ndarray] = {}
        for place in np.flatnonzero(counted).tolist():
            counts[names[place]] = counts.get(names[place], 0) + outcomes[place]
        return {"counts": counts, "samples": int(counted.sum()), **extra}

    def _of_letters(
        self, predictions: Any, labels: Any, counted: np.ndarray, options: Any, positions: Any
    ) -> tuple[dict[int, np.ndarray], dict[str, Any]]:
        refuse_tokens_of_single_ids(predictions, self.candidates, self.inputs)
        ids = [candidate.ids[0] for candidate in self.candidates]
        log_probs = _scores.read(predictions, ids, counted, self.inputs, positions, self.nll, self.vocab_size)
        members = [[i for i, c in enumerate(self.candidates) if c.label == choice] for choice in self.choices]
        exclusive = counted & _candidates.exclusive(self.candidates)
        masses, total = _scores.class_masses(log_probs, members, exclusive)
        counts = _gold.option_counts(options, counted, len(self.choices))
        gold = _gold.gold_sets(labels, counted, self.choices, counts)
        outcomes = {
            place: outcome({"sum": masses[place, : counts[place]]}, gold[place]) for place in np.flatnonzero(counted)
        }
        return outcomes, {"mass": total[counted]}

    def _of_options(
        self, predictions: Any, labels: Any, counted: np.ndarray, options: Any, _: Any
    ) -> tuple[dict[int, np.ndarray], dict[str, Any]]:
        tables = option_scores.option_tables(predictions, counted)
        widest = max(map(len, tables), default=0)
        sizes = [len(table) for table in tables]
        if options is not None:
            sizes = _gold.option_counts(options, counted, widest)
        letters = self.choices if widest <= len(self.choices) else [chr(65 + place) for place in range(widest)]
        gold = _gold.gold_sets(labels, counted, letters, sizes)
        outcomes = {}
        for place in np.flatnonzero(counted).tolist():
            if sizes[place] > len(tables[place]):
                raise ValueError(
                    f"options must not be more than the scores, but row {place} has {sizes[place]} and "
                    f"{len(tables[place])}"
                )
            table = tables[place][: sizes[place]]
            option_scores.check_table(table, place)
            scores = option_scores.normalised(table)
            if self.normalize not in scores:
                raise ValueError(
                    f"normalize={self.normalize!r} must have its columns of {list(option_scores.COLUMNS)}, but "
                    f"question {place} allows only {list(scores)}: see mindeval.answers.options.option_statistics()"
                )
            outcomes[place] = outcome(scores, gold[place])
        return outcomes, {}

    def _of_texts(
        self, rows: Any, labels: Any, counted: np.ndarray, options: Any, _: Any
    ) -> tuple[dict[int, np.ndarray], dict[str, Any]]:
        texts = texts_of(rows, counted, "predictions")
        counts = _gold.option_counts(options, counted, len(self.choices))
        gold = _gold.gold_sets(labels, counted, self.choices, counts)
        outcomes, invalid = {}, dict.fromkeys(REASONS, 0)
        for place in np.flatnonzero(counted).tolist():
            letters = self.choices[: counts[place]]
            found = extract_choice(
                texts[place],
                letters,
                options=_gold.option_texts(options, place),
                multiple=self.multiple,
                language=self.language,
            )
            picked = frozenset(letters.index(letter) for letter in found.answer or "")
            outcomes[place] = chosen(picked == gold[place] if self.multiple else bool(picked & gold[place]))
            if found.answer is None:
                reason = "ambiguous" if found.ambiguous else found.rule
                invalid[reason if reason in invalid else "no answer"] += 1
        return outcomes, {"invalid": {reason: n for reason, n in invalid.items() if n}}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        groups = {name: counts.value for name, counts in states["counts"].value.items() if counts.value[0]}
        parts = totals(groups, self.normalize)
        by_normalisation = parts.pop("by_normalisation")
        if self.grouped:
            parts.update(group_totals(groups, self.normalize, self.weights))
        if self.mode == "loglikelihood":
            parts["by_normalisation"] = by_normalisation
        samples = states["samples"].value
        if self.mode == "letter":
            parts["mass"] = states["mass"].over(samples)
            warn_of_tiny_mass(type(self).__name__, parts["mass"])
        if self.mode == "text":
            parts["invalid"] = {reason: count.value for reason, count in states["invalid"].value.items()}
            parts["answered"] = (samples - sum(parts["invalid"].values())) / samples
        return parts
