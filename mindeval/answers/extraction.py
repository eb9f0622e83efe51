"""Pure functions that find the answer in a generated text. The right answer is never one of their arguments."""

from __future__ import annotations

from mindeval.answers._answer_number import extract_number
from mindeval.answers._choices import extract_choice
from mindeval.answers._code_text import extract_code
from mindeval.answers._freeform import extract_boxed, extract_text
from mindeval.answers._result import Extraction
from mindeval.answers._text import strip_reasoning
from mindeval.answers._yes_no import extract_yes_no

__all__ = [
    "Extraction",
    "extract_boxed",
    "extract_choice",
    "extract_code",
    "extract_number",
    "extract_text",
    "extract_yes_no",
    "strip_reasoning",
]
