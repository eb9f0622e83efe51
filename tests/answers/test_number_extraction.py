"""The number that a text gives as its answer: generated from ways to write it x ways to state it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindeval.answers.extraction import extract_number
from mindeval.answers.numbers import number_text, numbers_equal, parse_number

# A way to write a number -> its value.
WRITTEN = {
    "1080": "1080",
    "1,080": "1080",
    "1{,}080": "1080",
    "1\\,080": "1080",
    "1\u202f080": "1080",
    "1，080": "1080",
    "１０８０": "1080",
    "12,345,678": "12345678",
    "0": "0",
    "-7": "-7",
    "−7": "-7",
    "–7": "-7",
    "－7": "-7",
    "-0.5": "-1/2",
    ".5": "1/2",
    "18.00": "18",
    "$18": "18",
    "$1,234.50": "1234.5",
    "-$5": "-5",
    "$-5": "-5",
    "£3.20": "3.2",
    "¥18": "18",
    "60%": "60",
    "60\\%": "60",
    "60％": "60",
    "2/3": "2/3",
    "\\frac{2}{3}": "2/3",
    "\\dfrac{2}{3}": "2/3",
    "-\\frac{2}{3}": "-2/3",
    "2\\frac{1}{2}": "5/2",
    "2 1/2": "5/2",
    "2½": "5/2",
    "½": "1/2",
    "1e3": "1000",
    "1.5e-3": "0.0015",
    "1.5 \\times 10^{3}": "1500",
    "1.5×10^3": "1500",
    "2×10⁻³": "0.002",
    "3 million": "3000000",
    "3万": "30000",
    "1.5亿": "150000000",
    "100000000001": "100000000001",
}
STATED = [
    "{}",
    "**{}**",
    "The answer is {}.",
    "the answer is therefore {}",
    "Answer: {}",
    "**Answer:** {}",
    "The final answer is **{}**.",
    "ANSWER: 3 + 4 = {}",
    "The answer is ${}$.",
    "The answer is \\boxed{{{}}}.",
    "So \\fbox{{{}}} it is, after 3 steps.",
    "#### {}",
    "First 12, then 13.\n#### {}",
    "She had 12 of them and 3 more, so in the end = {}",
    "答案是{}。",
    "答案：{}",
    "所以答案是{}，也就是8打。",
    "<think>The answer is 99. #### 98</think>The answer is {}.",
    "The answer is {}.\n\nQuestion: How many?\nAnswer: 77",
    "The answer is 77. Wait: the answer is {}",
    "The answer is not 77 but {}",
    "In 2019 there were 12. The answer is {}.",
    "The result is {}",
]


@pytest.mark.parametrize("template", STATED)
@pytest.mark.parametrize("written", WRITTEN)
def test_each_way_to_write_a_number_is_read_in_each_statement(written, template):
    found = extract_number(template.format(written))
    assert found.answer is not None, found
    assert Fraction(found.answer) == Fraction(WRITTEN[written])


UNITS = [" apples", " km", "km", " dollars", "元", "颗", "美元", "°C", "％的人", "% of them"]


@pytest.mark.parametrize("unit", UNITS)
def test_units_after_the_number_are_left_out(unit):
    for template in ("The answer is {}.", "所以一共有{}。", "7 - 2 = {}", "{}"):
        assert extract_number(template.format(f"1,080{unit}")).answer == "1080"


@given(st.integers(-(10**15), 10**15), st.integers(0, 6))
def test_grouped_decimals_of_any_size_are_read_exactly(digits, places):
    value = Fraction(digits, 10**places)
    whole, _, rest = number_text(value).partition(".")
    written = f"{int(whole):,}" if whole.lstrip("-") != "0" else whole
    text = f"The answer is {written}{'.' if rest else ''}{rest}."
    assert Fraction(extract_number(text).answer) == value
    assert number_text(Fraction(number_text(value))) == number_text(value)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("No numbers here!", "no number"),
        ("", "no number"),
        ("First we add both, then we", "no number"),
        ("H2O and CO2 in x1", "no number"),
        ("The 1st and the 22nd", "no number"),
        ("<think>The answer is 5", "unclosed reasoning"),
        ("The answer is 3 or 4.", "several numbers"),
        ("The answer is between 3 and 5.", "several numbers"),
        ("The answer is 3 to 5 apples", "several numbers"),
        ("The answer is 12 * 3", "several numbers"),
        ("The answer is 5-3", "several numbers"),
        ("The answer is 2 hours and 30 minutes", "several numbers"),
        ("The answer is 10 + x", "several numbers"),
        ("The answer is 12:30", "several numbers"),
        ("The answer is 10^3", "several numbers"),
        ("The answer is 1 234", "several numbers"),
        ("The answer is 2,74 or so", "several numbers"),
        ("It costs 2,74", "unclear number"),
        ("The range is 3-5", "cut off"),
        ("She pays 12 and then 7 - 2", "cut off"),
        ("We get ((8 + 6) * (3 + 1))", "cut off"),
        ("We add both: 5 + 6 = 11 for the", "cut off"),
        ("Then 796224000 * 4 = <<796224", "cut off"),
        ("It is 0." + "3" * 300, "cut off"),
        ("So we need 12 =", "cut off"),
        ("所以一共有12和", "cut off"),
        ("1/0", "unclear number"),
        ("1e99999", "unclear number"),
    ],
)
def test_nothing_is_guessed_where_no_single_number_is_stated(text, rule):
    found = extract_number(text)
    assert (found.answer, found.rule) == (None, rule)
    assert found.ambiguous == (rule in ("several numbers", "unclear number", "cut off"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The answer is 25", "25"),
        ("10 - 7 = 3", "3"),
        ("it fell by 11, so it is now -7 degrees", "-7"),
        ("She sold 58 badges, in all, so that is the end of it.", "58"),
        ("1. First\n2. Second, we get 99 in all", "99"),
        ("The steps:\n1. none", None),
    ],
)
def test_the_last_number_stands_for_an_answer_that_is_not_stated(text, value):
    assert extract_number(text).answer == value


def test_options_say_which_number_is_meant():
    text = "\\boxed{33} and 34 after 32"
    assert extract_number(text).answer == "33"
    assert extract_number(text, prefer="last").answer == "32"
    assert extract_number("12 \\boxed{33}", prefer="first").answer == "12"
    assert extract_number("12 apples, 3 pears", fallback=False).rule == "no number"
    assert extract_number("A: 5\nThen 6.", marker="A:").answer == "5"
    assert extract_number("It is 6.", marker="A:").rule == "no answer line"
    assert extract_number("33.5%", percent="divide").answer == "0.335"
    assert extract_number("1.234,56 €", decimal=",").answer == "1234.56"
    for wrong in ({"prefer": "any"}, {"percent": "drop"}, {"decimal": ";"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            extract_number("5", **wrong)


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
