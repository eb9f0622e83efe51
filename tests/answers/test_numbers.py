"""Numbers themselves: of any size, in words, and compared exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindeval.answers.extraction import extract_number
from mindeval.answers.numbers import number_text, numbers_equal, parse_number

STATEMENTS = [
    "The answer is {}",
    "The answer is {}.",
    "**Answer:** {}",
    "#### {}",
    "\\boxed{{{}}}",
    "$\\boxed{{{}}}$",
    "答案是{}",
    "答案：{}。",
    "<answer>{}</answer>",
]
IN_WORDS = {
    "five": 5, "twenty-five": 25, "one hundred and five": 105, "minus five": -5, "two dozen": 24, "zero": 0,
    "five apples": 5, "五": 5, "负五": -5, "两百三十": 230, "一百零五": 105, "十五个": 15, "三分之二": Fraction(2, 3),
    "two thirds": Fraction(2, 3), "a half": Fraction(1, 2),
    "百分之五十": 50, "三点一四": Fraction("3.14"), "三万五千": 35000, "一亿两千万": 120000000, "二〇二四": 2024,
}  # fmt: skip


@pytest.mark.parametrize("template", STATEMENTS)
def test_numbers_in_words_are_read_where_they_are_stated(template):
    for written, value in IN_WORDS.items():
        found = extract_number(template.format(written))
        assert found.answer is not None and Fraction(found.answer) == value, (written, found)
    for other in (
        "one of them",
        "two thirds of it",
        "five ten",
        "一样",
        "三角形",
        "两三个",
        "一百五",
        "十几个",
        "四千米",
    ):
        assert extract_number(template.format(other)).answer is None, other


@given(st.integers(-(10**15), 10**15), st.integers(0, 6))
def test_grouped_decimals_of_any_size_are_read_exactly(digits, places):
    value = Fraction(digits, 10**places)
    whole, _, rest = number_text(value).partition(".")
    written = f"{int(whole):,}" if whole.lstrip("-") != "0" else whole
    text = f"The answer is {written}{'.' if rest else ''}{rest}."
    assert Fraction(extract_number(text).answer) == value
    assert number_text(Fraction(number_text(value))) == number_text(value)


@pytest.mark.parametrize(
    "text", ["9" * 5000, "1e999999999", "10^999999999", "9^9^9", "1e" + "9" * 5000, "9^9999", "1." + "3" * 5000]
)
def test_numbers_without_measure_are_refused_and_never_built(text):
    for template in STATEMENTS:
        assert extract_number(template.format(text)).answer is None
    assert parse_number(text) is None
    assert len(number_text(Fraction(10**5000))) == 5001


def test_comparison_is_exact_with_a_tolerance_as_argument():
    assert not numbers_equal(Fraction(100000000001), Fraction(100000000000))
    assert numbers_equal(parse_number("0.1"), Fraction(1, 10))
    assert numbers_equal(Fraction("3.14"), Fraction("3.15"), absolute=0.01)
    assert not numbers_equal(Fraction("3.14"), Fraction("3.1500001"), absolute=0.01)
    assert numbers_equal(Fraction(99), Fraction(100), relative=0.01)
    assert not numbers_equal(Fraction(98), Fraction(100), relative=0.01)
    assert not numbers_equal(Fraction(-5), Fraction(5))


def test_parse_number_wants_exactly_one():
    assert parse_number("12 apples") == 12
    assert parse_number("12 or 13") is None
    assert parse_number("none") is None
