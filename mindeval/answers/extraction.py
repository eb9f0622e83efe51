"""Pure functions that find the answer in a generated text. The right answer is never one of their arguments."""

from __future__ import annotations

from mindeval.answers._choices import extract_choice
from mindeval.answers._result import Extraction
from mindeval.answers._text import strip_reasoning

__all__ = ["Extraction", "extract_choice", "strip_reasoning"]
