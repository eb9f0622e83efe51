"""The number that a text gives as its answer: generated from ways to write it x ways to state it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mindeval.answers.extraction import extract_number

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
    "1 234 567": "1234567",
    "1\u00a0234": "1234",
    "1'234'567": "1234567",
    "12,34,567": "1234567",
    "1_000_000": "1000000",
    "１，２３４": "1234",
    "minus 5": "-5",
    "negative 5": "-5",
    "负5": "-5",
    "\\frac{-3}{4}": "-3/4",
    "\\frac{3}{-4}": "-3/4",
    "-\\dfrac{3}{4}": "-3/4",
    "3万5千": "35000",
    "1亿2000万": "120000000",
    "2千5百": "2500",
    "2千万": "20000000",
    "5k": "5000",
    "€5M": "5000000",
    "€3bn": "3000000000",
    "5 thousand": "5000",
    "3 hundred": "300",
    "3 hundred thousand": "300000",
    "2 dozen": "24",
    "2 crore": "20000000",
    "5分之3": "3/5",
    "百分之50": "50",
    "3又2分之1": "7/2",
    "3 又 1/2": "7/2",
    "3 1/2": "7/2",
    "3 and 1/2": "7/2",
    "10⁴": "10000",
    "10^4": "10000",
    "10^{4}": "10000",
    "10**4": "10000",
    "2^10": "1024",
    "10^{-2}": "1/100",
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


@pytest.mark.parametrize(
    "written",
    ["3千米", "3千克", "3千瓦时", "3千卡", "3百帕", "3毫米", "3兆瓦", "3 km", "3kg", "3 m^2", "3cm²", "3°", "3^\\circ"],
)
def test_a_unit_that_begins_like_a_scale_is_a_unit(written):
    for template in ("The answer is {}", "答案是{}。", "\\boxed{{{}}}", "{}"):
        assert extract_number(template.format(written)).answer == "3"
    assert extract_number("答案是2万米").answer == "20000"


UNITS = [" apples", " km", "km", " dollars", "元", "颗", "美元", "°C", "％的人", "% of them"]


@pytest.mark.parametrize("unit", UNITS)
def test_units_after_the_number_are_left_out(unit):
    for template in ("The answer is {}.", "所以一共有{}。", "7 - 2 = {}", "{}"):
        assert extract_number(template.format(f"1,080{unit}")).answer == "1080"


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
        ("The answer is 5-3", "unclear number"),
        ("The answer is 2 hours and 30 minutes", "several numbers"),
        ("The answer is 10 + x", "several numbers"),
        ("The answer is 12:30", "unclear number"),
        ("The answer is 1 234", "unclear number"),
        ("The answer is 2,74 or so", "unclear number"),
        ("It costs 2,74", "unclear number"),
        ("The range is 3-5", "unclear number"),
        ("She pays 12 and then 7 - 2", "cut off"),
        ("We get ((8 + 6) * (3 + 1))", "unclear number"),
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


def test_tags_are_read_before_other_statements_and_empty_boxes_are_none():
    assert extract_number("<answer>\n5\n</answer> The answer is 6").answer == "5"
    assert extract_number("<answer>unknown</answer> of 7").answer is None
    assert extract_number("\\boxed{5} and \\boxed{}").answer == "5"
    assert extract_number("\\boxed{}").answer is None


@pytest.mark.parametrize(
    "unit",
    [
        "5 or 6 ",
        "not 5 ",
        "if x = 5 ",
        "(5 ",
        "((5)) ",
        "1, ",
        "1,234 ",
        "\\boxed{",
        "5万",
        "\\frac{1}{",
        "$5$ ",
        "the answer is 5. ",
    ],
)
def test_long_texts_of_repeated_pieces_end(unit):
    found = extract_number(unit * (4000 // len(unit)))
    assert found.answer in (None, "5")
