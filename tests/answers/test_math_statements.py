"""What stands around a mathematical answer: units, words, and the sentence that states it."""

from __future__ import annotations

import pytest

pytest.importorskip("mpmath", reason="match='math' needs the extra [math]")

from mindeval.answers._math import same
from mindeval.answers._math_statement import extract_math
from mindeval.answers.answer import AnswerAccuracy

UNITS = ["5 m", "5 m^2", "5 km/h", "5 m/s", "5 apples", "5 red apples", r"5\text{ apples}", r"5 \text{ m}/\text{s}"]


@pytest.mark.parametrize("text", UNITS)
def test_a_unit_counts_where_both_sides_have_one(text):
    assert same(text, "5") and not same(text, "6") and same(text, text)
    assert not same(text, "5 pears") and not same(text, r"5\text{ kg}")


@pytest.mark.parametrize(
    "text",
    ["5 million", "5 hundredths", "5 squared", "5 over 2", "5 not 6", "5 if x is 2", "5 less than x", "5 twenties"],
)
def test_words_that_change_the_number_are_no_units(text):
    assert not same(text, "5")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Final Answer: The final answer is $7$. I hope it is correct.", "7"),
        ("The answer is 7 because 3+4=7.", "7"),
        (r"The answer is $\frac{14}{2}$, which is odd.", "7"),
        (r"So the answer is \(7\). We are done.", "7"),
        ("The answer is seven, that is $7$.", "7"),
        ("The answer is $x=3$ or $x=4$.", "4,3"),
        ("The answer is $(1,2)$.", "(1,2)"),
        (r"The answer is $7$ cm.", r"7\text{ cm}"),
        (r"First $3$. The answer is 9, or $\boxed{7}$.", "7"),
    ],
)
def test_the_formula_of_a_statement_is_the_answer(text, answer):
    assert AnswerAccuracy("math")([text], [answer]) == 1.0, extract_math(text)


@pytest.mark.parametrize(
    "text", ["The answer is not $7$, I think.", "The answer is $7$, $8$ at best.", "Either $7$ or less."]
)
def test_a_statement_of_something_else_is_not_the_formula(text):
    assert AnswerAccuracy("math")([text], ["7"]) == 0.0, extract_math(text)
