"""AnswerAccuracy: answers that are extracted from generated text and compared with references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.answers import _gold, _math, _math_values
from mindeval.answers._freeform import extract_text
from mindeval.answers._functions import called, function_name, short
from mindeval.answers._math_statement import extract_math
from mindeval.answers._result import Extraction
from mindeval.answers._rows import counted_rows, listed_rows, texts_of
from mindeval.answers.extraction import extract_choice, extract_number
from mindeval.answers.numbers import numbers_equal, parse_number
from mindeval.constructors import one_of
from mindeval.metric import Metric
from mindeval.state import Count, Grouped

MATCHES = ("choice", "number", "text", "math")
# Why an answer is invalid; an extractor's own reasons are counted as "other".
REASONS = (
    "ambiguous", "empty text", "no answer", "no answer line", "no box", "no number", "too large", "unclosed reasoning",
    "unreadable", "other",
)  # fmt: skip
_WORDS = ("yes", "no", "true", "false", "valid", "invalid")
_CANONICAL_NUMBER = re.compile(r"-?\d{1,4000}(?:\.\d{1,4000}|/\d{1,4000})?")


class AnswerAccuracy(Metric):
    r"""The share of generated texts whose extracted answer matches the reference.

    ``update(predictions, references[, mask])``: B generated texts, B references (str), bool ``[B]`` (rows that do not
    count may hold anything). By keyword, with ``match="choice"``: ``options``, how many options each question has, or
    their texts, as in ``ChoiceAccuracy``.

    =========== ========================================= ==========================================================
    match       extracted by default                      the same is
    =========== ========================================= ==========================================================
    ``choice``  ``extract_choice(text, choices)``         the same letters, all of them; references are letters ("B",
                                                          "(B)"; with ``multiple=True`` also "BD")
    ``number``  ``extract_number(text)``                  an equal rational number, up to the tolerances; references
                                                          are numbers, or solutions that end in one ("... #### 18")
    ``text``    ``extract_text(text)``                    equal text after folding spaces, ", " and a final full stop;
                                                          yes, no, true, false, valid and invalid in any case; a
                                                          reference "(B)" by its letter, "B" also by "(B)"
    ``math``    the last box, else the formula of         the same number, expression, tuple, interval, set or words,
                ``extract_text(text)``                    exactly; where both state a name ("x =") or a unit, the same
                                                          of these; what cannot be read, if it is written alike
                                                          (``pip install 'mindeval[math]'``)
    a function  ``extract_text(text)``                    what ``match(answer, reference)`` says: True or False
    =========== ========================================= ==========================================================

    The reference takes no part in the extraction. A text without an answer, with several, or with one that cannot be
    read or is too large to be compared, is wrong, and counted in ``invalid`` by its reason. References that cannot be
    read (some public data sets have such) count as wrong answers, in ``unreadable_references``.

    ``result()``: accuracy, answered (share of texts with one answer), accuracy_of_answered, invalid, and
    unreadable_references.

    Args:
        match: How answers are compared: see above.
        extract: A function from a text to an ``Extraction``, a str or None (no answer), in place of the default; e.g.
            ``functools.partial(extract_number, marker="A:")``. The signature names it, and a lambda by its code.
        choices: The letters of ``match="choice"``.
        multiple: ``match="choice"``: whether several options may be chosen.
        language: ``match="choice"``: see ``extract_choice``.
        absolute: ``match="number"``: the absolute tolerance.
        relative: ``match="number"``: the relative tolerance, of the reference.
        percent: ``match="number"``: ``"keep"`` compares 60% with 60, ``"divide"`` with 0.6.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: If predictions and references differ in number, an option is unknown or of another match,
            ``extract`` or ``match`` fails (the message names it and the sample), or sample ids are given (mask repeated
            rows).
        TypeError: If texts are not str, or ``extract`` or ``match`` gives something else than it should.
        ImportError: For ``match="math"`` without mpmath.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> metric = AnswerAccuracy(match="number")
    >>> metric.update(["7 - 2 = 5, so the answer is $5.00", "I do not know"], ["#### 5", "#### 6"])
    >>> metric.eval(), metric.result()["invalid"]
    (0.5, {'no number': 1})
    """

    higher_is_better = True

    def __init__(
        self,
        match: str | Callable[[str, str], bool] = "text",
        extract: Callable[[str], Any] | None = None,
        *,
        choices: Sequence[str] = "ABCD",
        multiple: bool = False,
        language: str | None = None,
        absolute: float = 0,
        relative: float = 0,
        percent: str = "keep",
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if not callable(match) and (not isinstance(match, str) or match not in MATCHES):
            raise ValueError(f"match must be one of {list(MATCHES)} or a function, but got {match!r}")
        if extract is not None and not callable(extract):
            raise TypeError(f"extract must be a function of a text, but got {extract!r}")
        self.match, self.extract = match, extract
        self.choices = _gold.check_choices(choices)
        self.multiple, self.language = multiple, one_of(language, "language", (None, "en", "zh"))
        self.absolute, self.relative = _tolerance(absolute, "absolute"), _tolerance(relative, "relative")
        self.percent = one_of(percent, "percent", ("keep", "divide"))
        if match != "choice" and (multiple or language is not None):
            raise ValueError(f"multiple and language need match='choice', but got match={match!r}")
        if match != "number" and (absolute or relative or percent != "keep"):
            raise ValueError(f"absolute, relative and percent need match='number', but got match={match!r}")
        self._names = {
            "match": match if isinstance(match, str) else function_name(match),
            "extract": "default" if extract is None else function_name(extract),
        }
        if match == "math":
            _math_values.context()
        choice = {"choices": "".join(self.choices), "multiple": multiple, "language": language}
        number = {"abs": absolute, "rel": relative, "percent": percent}
        super().__init__(
            states={
                "correct": Count(),
                "invalid": Grouped(Count(), REASONS),
                "unreadable_references": Count(),
            },
            settings={**self._names, **(choice if match == "choice" else number if match == "number" else {})},
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self, predictions: Any, references: Any, mask: Any = None, *, options: Any = None, sample_ids: Any = None
    ) -> dict[str, Any]:
        rows, golds = listed_rows(predictions, "predictions"), listed_rows(references, "references")
        if len(rows) != len(golds):
            raise ValueError(f"predictions and references must be equally many, but got {len(rows)} and {len(golds)}")
        counted = counted_rows(mask, len(rows), sample_ids)
        texts, golds = texts_of(rows, counted, "predictions"), texts_of(golds, counted, "references")
        if options is not None and self.match != "choice":
            raise ValueError(f"options need match='choice', but the metric has match={self._names['match']!r}")
        counts = _gold.option_counts(options, counted, len(self.choices))
        correct, unreadable, invalid = 0, 0, dict.fromkeys(REASONS, 0)
        for place in np.flatnonzero(counted).tolist():
            letters = self.choices[: counts[place]]
            found = self._extracted(texts[place], place, letters, _gold.option_texts(options, place))
            try:
                reference = self._read(golds[place], letters, of_reference=True)
            except ValueError:
                reference, unreadable = None, unreadable + 1
            if found.answer is None:
                reason = "ambiguous" if found.ambiguous else found.rule
                invalid[reason if reason in invalid else "other"] += 1
                continue
            try:
                answer = self._read(found.answer, letters)
            except ValueError as error:
                invalid["too large" if _is_too_large(error) else "unreadable"] += 1
                continue
            same = reference is not None and self._same(answer, reference, place)
            correct += same
            if not same:  # notation that is not understood may only be answered in the same words
                unreadable += isinstance(reference, _math.Notation)
                invalid["unreadable"] += isinstance(answer, _math.Notation)
        return {
            "correct": correct,
            "invalid": {reason: n for reason, n in invalid.items() if n},
            "unreadable_references": unreadable,
            "samples": int(counted.sum()),
        }

    def _extracted(self, text: str, place: int, letters: list[str], options: list[str] | None) -> Extraction:
        try:
            if self.extract is not None:
                what = f"extract function {self._names['extract']}"
                return _as_extraction(called(self.extract, what, place, text), what, place, text)
            if self.match == "choice":
                return extract_choice(text, letters, options=options, multiple=self.multiple, language=self.language)
            if self.match == "number":
                return extract_number(text, percent=self.percent)
            return extract_math(text) if self.match == "math" else extract_text(text)
        except ValueError as error:
            if _is_too_large(error):
                return Extraction(None, "too large")
            raise

    def _read(self, text: str, letters: list[str], *, of_reference: bool = False) -> Any:
        """An answer, or a reference, as the match needs it; a ValueError where it cannot be read."""
        if self.match == "choice":
            named = _gold.letter_set(text, letters)
            if len(named) > 1 and not self.multiple:
                raise ValueError(f"a reference must be one letter without multiple=True, but got {short(text)}")
            return named
        if self.match == "number":
            return self._number_of_reference(text) if of_reference else _number(text, self.percent)
        return _math.read(text) if self.match == "math" else text

    def _number_of_reference(self, text: str) -> Fraction:
        number = extract_number(text, percent=self.percent).answer
        if number is None:
            raise ValueError(f"a reference must hold a number, but got {short(text)}")
        return Fraction(number)

    def _same(self, answer: Any, reference: Any, place: int) -> bool:
        if not isinstance(self.match, str):
            what = f"match function {self._names['match']}"
            verdict = called(self.match, what, place, answer, reference)
            if not isinstance(verdict, (bool, np.bool_)):
                raise TypeError(
                    f"{what} must return True or False, but gave {short(verdict)} for sample {place} ({short(answer)} "
                    f"against {short(reference)})"
                )
            return bool(verdict)
        if self.match == "choice":
            return answer == reference
        if self.match == "number":
            return numbers_equal(answer, reference, absolute=self.absolute, relative=self.relative)
        return _math.equal(answer, reference) if self.match == "math" else same_text(answer, reference)

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        samples, correct = states["samples"].value, states["correct"].value
        invalid = {reason: count.value for reason, count in states["invalid"].value.items() if count.value}
        answered = samples - sum(invalid.values())
        return {
            "accuracy": correct / samples,
            "answered": answered / samples,
            "accuracy_of_answered": correct / answered if answered else 0.0,
            "invalid": invalid,
            "unreadable_references": states["unreadable_references"].value,
        }


def same_text(answer: str, reference: str) -> bool:
    """Whether two free-form answers are the same, as BIG-Bench Hard needs it.

    >>> same_text("apple, banana", "apple banana"), same_text("yes", "Yes"), same_text("(B) Tuesday", "(B)")
    (True, True, True)
    >>> same_text("(B)", "B"), same_text("(B) Tuesday", "B")
    (True, False)
    """
    letter = re.fullmatch(r"\s*\(([A-Z])\)\s*", reference)
    if letter:
        return extract_choice(answer, "ABCDEFGHIJKLMNOPQRSTUVWXYZ").answer == letter.group(1)
    one, other = _folded(answer), _folded(reference)
    if re.fullmatch(r"[A-Z]", other):
        one = re.sub(r"^\(([A-Z])\)$", r"\1", one)
    return one == other or (other.lower() in _WORDS and one.lower() == other.lower())


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[,，](?=\s)", " ", text)).strip().rstrip(".。").strip()


def _as_extraction(found: Any, what: str, place: int, text: str) -> Extraction:
    if found is None:
        return Extraction(None, "no answer")
    answer = found.answer if isinstance(found, Extraction) else found
    is_read = isinstance(found, Extraction) and answer is None and isinstance(found.rule, str)
    if not (is_read or isinstance(answer, str)):
        raise TypeError(
            f"{what} must return an Extraction, a str or None, but gave {short(found)} for sample {place} "
            f"({short(text)})"
        )
    return found if isinstance(found, Extraction) else Extraction(found, "other")


def _number(text: str, percent: str) -> Fraction:
    """The number of an answer: of an extractor's canonical form, or of a text that holds one number."""
    number = Fraction(text) if _CANONICAL_NUMBER.fullmatch(text) else parse_number(text, percent=percent)
    if number is None:
        raise ValueError(f"an answer must be one number, but is {short(text)}")
    return number


def _is_too_large(error: BaseException | None) -> bool:
    """Whether the error, or what caused it, says so: our own, or Python's limit on the digits of an int."""
    while error is not None:
        if isinstance(error, _math_values.TooLarge) or "integer string conversion" in str(error):
            return True
        error = error.__cause__
    return False


def _tolerance(value: Any, what: str) -> float:
    number = isinstance(value, (int, float, Fraction, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 <= value < float("inf"):
        raise ValueError(f"{what} must be a finite number >= 0, but got {value!r}")
    return value
