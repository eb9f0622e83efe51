"""AnswerAccuracy: answers that are extracted from generated text and compared with references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.answers import _math, _math_values
from mindeval.answers._freeform import extract_boxed, extract_text
from mindeval.answers._result import Extraction
from mindeval.answers.extraction import extract_choice, extract_number
from mindeval.answers.numbers import numbers_equal
from mindeval.metric import Metric
from mindeval.state import Count, Grouped

MATCHES = ("choice", "number", "text", "math")
# Why an answer is invalid; an extractor's own reasons are counted as "other".
REASONS = (
    "ambiguous", "empty text", "no answer", "no answer line", "no box", "no number", "unclosed reasoning",
    "unreadable", "other",
)  # fmt: skip
_WORDS = ("yes", "no", "true", "false", "valid", "invalid")


class AnswerAccuracy(Metric):
    r"""The share of generated texts whose extracted answer matches the reference.

    ``update(predictions, references[, mask])``: B generated texts, B references (str), bool ``[B]``.

    =========== ========================================= ==========================================================
    match       extracted by default                      the same is
    =========== ========================================= ==========================================================
    ``choice``  ``extract_choice(text, choices)``         the same letters; references are letters ("B", "(B)", "BD")
    ``number``  ``extract_number(text)``                  an equal rational number, up to the tolerances; references
                                                          are numbers, or solutions that end in one ("... #### 18")
    ``text``    ``extract_text(text)``                    equal text after folding spaces, ", " and a final full stop;
                                                          yes, no, true, false, valid and invalid in any case; a
                                                          reference "(B)" by its letter
    ``math``    the last box, else ``extract_text(text)`` the same number, expression, tuple, interval or set, exactly
                                                          (``pip install 'mindeval[math]'``)
    a function  ``extract_text(text)``                    what ``match(answer, reference)`` says
    =========== ========================================= ==========================================================

    The reference takes no part in the extraction. A text without an answer, or with several, is wrong, and counted in
    ``invalid`` by its reason. References that cannot be read (some public data sets have such) count as wrong answers,
    in ``unreadable_references``.

    ``result()``: accuracy, answered (share of texts with one answer), accuracy_of_answered, invalid, and
    unreadable_references.

    Args:
        match: How answers are compared: see above.
        extract: A function from a text to an ``Extraction``, a str or None, in place of the default; e.g.
            ``functools.partial(extract_number, marker="A:")``.
        choices: The letters of ``match="choice"``.
        absolute: The absolute tolerance of ``match="number"``.
        relative: The relative tolerance of ``match="number"``, of the reference.
        percent: ``"keep"`` compares 60% with 60, ``"divide"`` with 0.6.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: If predictions and references differ in number, or an option is unknown.
        TypeError: If texts are not str.
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
        absolute: float = 0,
        relative: float = 0,
        percent: str = "keep",
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if not callable(match) and match not in MATCHES:
            raise ValueError(
                f"For 'AnswerAccuracy', match must be one of {list(MATCHES)} or a function, but got {match!r}"
            )
        if percent not in ("keep", "divide"):
            raise ValueError(f"For 'AnswerAccuracy', percent must be 'keep' or 'divide', but got {percent!r}")
        if absolute < 0 or relative < 0:
            raise ValueError(f"For 'AnswerAccuracy', tolerances must be >= 0, but got {absolute} and {relative}")
        if match == "math":
            _math_values.context()
        self.match, self.choices = match, choices
        self.absolute, self.relative, self.percent = absolute, relative, percent
        self.extract = extract
        super().__init__(
            states={
                "correct": Count(),
                "invalid": Grouped(Count(), REASONS),
                "unreadable_references": Count(),
            },
            settings={
                "match": _name(match),
                "extract": _name(extract) if extract else "default",
                **({"choices": "".join(choices)} if match == "choice" else {}),
                **({"abs": absolute, "rel": relative, "percent": percent} if match == "number" else {}),
            },
            distributed=distributed,
            name=name,
        )

    def _extracted(self, text: str) -> Extraction:
        if self.extract is not None:
            return _as_extraction(self.extract(text))
        if self.match == "choice":
            return extract_choice(text, self.choices)
        if self.match == "number":
            return extract_number(text, percent=self.percent)
        return _boxed_or_text(text) if self.match == "math" else extract_text(text)

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        texts, golds = inputs.texts(predictions, "predictions"), inputs.texts(references, "references")
        if len(texts) != len(golds):
            raise ValueError(f"predictions and references must be equally many, but got {len(texts)} and {len(golds)}")
        counted = np.ones(len(texts), bool) if mask is None else inputs.boolean_mask(mask, (len(texts),))
        correct, unreadable, invalid = 0, 0, dict.fromkeys(REASONS, 0)
        for place in np.flatnonzero(counted).tolist():
            found = self._extracted(texts[place])
            try:
                reference = self._reference(golds[place])
            except ValueError:
                reference, unreadable = None, unreadable + 1
            try:
                if found.answer is None:
                    reason = "ambiguous" if found.ambiguous else found.rule
                    invalid[reason if reason in invalid else "other"] += 1
                elif reference is not None:
                    correct += bool(self._same(found.answer, reference))
            except _math.Unreadable:
                invalid["unreadable"] += 1
        return {
            "correct": correct,
            "invalid": {reason: n for reason, n in invalid.items() if n},
            "unreadable_references": unreadable,
            "samples": int(counted.sum()),
        }

    def _reference(self, reference: str) -> Any:
        """The reference as the match needs it; a ValueError where it cannot be read."""
        if self.match == "choice":
            letters = sorted(c for c in reference.upper() if c not in "() ,;、，[].")
            known = {letter.upper() for letter in self.choices}
            if not letters or not set(letters) <= known:
                raise ValueError(f"a reference must be letters of {list(self.choices)}, but got {reference!r}")
            return "".join(letters)
        if self.match == "number":
            number = extract_number(reference, percent=self.percent).answer
            if number is None:
                raise ValueError(f"a reference must hold a number, but got {reference!r}")
            return Fraction(number)
        return _math.parse(reference) if self.match == "math" else reference

    def _same(self, answer: str, reference: Any) -> bool:
        if callable(self.match):
            return self.match(answer, reference)
        if self.match == "choice":
            return answer.upper() == reference
        if self.match == "number":
            return numbers_equal(Fraction(answer), reference, absolute=self.absolute, relative=self.relative)
        return _math.equal(_math.parse(answer), reference) if self.match == "math" else same_text(answer, reference)

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
    """
    letter = re.fullmatch(r"\s*\(([A-Z])\)\s*", reference)
    if letter:
        return extract_choice(answer, "ABCDEFGHIJKLMNOPQRSTUVWXYZ").answer == letter.group(1)
    one, other = _folded(answer), _folded(reference)
    return one == other or (other.lower() in _WORDS and one.lower() == other.lower())


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[,，](?=\s)", " ", text)).strip().rstrip(".。").strip()


def _boxed_or_text(text: str) -> Extraction:
    found = extract_boxed(text)
    return found if found.answer is not None else extract_text(text)


def _as_extraction(found: Any) -> Extraction:
    if isinstance(found, Extraction):
        return found
    if found is None or isinstance(found, str):
        return Extraction(found, "other")
    raise TypeError(f"extract must return an Extraction, a str or None, but gave {type(found).__name__}")


def _name(function: Any) -> str:
    """A name for the signature: states of metrics with other functions must not be merged."""
    if isinstance(function, str):
        return function
    inner = getattr(function, "func", None)
    if inner is not None:  # functools.partial
        shown = [repr(argument) for argument in function.args] + [f"{k}={v!r}" for k, v in function.keywords.items()]
        return f"{_name(inner)}({','.join(shown)})".replace("|", "/")
    return getattr(function, "__qualname__", type(function).__qualname__)
