"""What every extractor returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Extraction:
    """An answer found in a text, and how it was found.

    Attributes:
        answer: The answer, or None when there is none or more than one.
        rule: The rule that found it, or the reason why there is no answer.
        ambiguous: True when the text supports several answers, so that none is returned.
    """

    answer: str | None
    rule: str
    ambiguous: bool = False
