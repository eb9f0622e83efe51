"""What stands beside the answer in a sentence: circumstances, details, purposes, checks, and other parts of it. Each
text says plainly, to a reader, either that the answer is {} or that there is no single one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mindeval.answers.extraction import extract_boxed, extract_number

SAID = {
    "had, why and how do not suppose": [
        "At the end of week 4, he had ${}.", "The 2 brothers had {} marbles altogether.",
        "Out of 50, he had {} left.",
        "By 2020, the town had {} residents.", "After paying $60, she had ${} left.", "So he had ${} left.",
        "She had 3 cats and then got 4 more, so she had {} cats.", "That is why the total is {}.",
        "That is why the answer is {}.", "This is how we get {}.",
    ],
    "ellipses and the marks of lists": [
        "The answer is...{}", "答案是...{}", "答案是……{}", "The total is...${}", "Answer:\n- {}",
        "**Answer:**\n\n- {} apples", "结果：\n- {}", "Answer:\n– {}", "Answer: 1. {}",
        "The answer is:\n\n  - **{}**",
    ],
    "circumstances": [
        "The price is ${} after a 20% discount.", "John has {} apples after 3 days.",
        "The total is ${} with 8% tax.",
        "He has {} left after giving 3 to Tom and 2 to Ann.", "She gets ${} for 3 hours of work.",
        "She runs {} miles in 7 days.", "In 8 weeks he saves ${}.",
        "He saves $5 a week, so in 8 weeks he saves ${}.",
        "Monthly payments of $250 over 2 years give ${}.", "The remainder is {} when 17 is divided by 4.",
        "{} of the 90 students are girls.", "Of the 200 seats, {} are taken.", "It takes {} hours at 60 mph.",
        "Mary and her 2 friends ate {} slices altogether.",
        "Altogether the 3 friends raised ${} for charity.",
        "With the 10% tip the bill comes to ${}.", "It costs ${} per person for 4 people.", "3小时行驶了{}千米。",
        "To earn $90 he must work {} hours.", "For a profit of $20 she has to sell {} cups.",
        "He has ${} left from his $200.", "He spent ${} in total on the 8 glasses.",
        "She has {} pencils left in her 2 boxes.", "There were {} people left on the 2 buses.",
        "They paid ${} altogether for the 5 shirts.", "That makes {} eggs in all in the 3 nests.",
        "He will be {} in 6 years.", "The derivative at x = 2 is {}.",
        "5年后小明{}岁", "3小时后气温是{}度",
    ],
    "details": [
        "John's total is ${}, including a $6 tip.", "The total is ${}, which includes $6 for tip.",
        "现价{}元，比原价便宜10元。", "一共花了{}元，其中包括6元小费。", "He needs {} boxes (each holding 12 eggs).",
    ],
    "equations": [
        "Total revenue = 9 x $2 = ${}", "5 items * $6 per item = ${}.", "a + b + c = 3 + 4 + 5 = {}.",
        "2x = 24 → x = {}", "3x + 2 = 14, 3x = 12, x = {}", "x + y = 3 + 4 = {}", "设这个数为x，x+3=15，x={}。",
        "Dividing both sides by 4, x = {}.", "Maybe 6? Let me compute: 3 + 4 = {}.",
        "So the answer is {}: 3 from the first day and 4 from the second.",
    ],
    "statements": [
        "{}\n\nExplanation: 3 plus 4.", "{} apples\n\n解析：3加4。", "答案为{}（或写作三十）",
        "有人说答案是12，其实答案是{}。",
        "老师说答案是12，但我算出来是{}",
        "The answer is 6. Let me correct that: it's {}.", "The answer is 6. Apologies, it is actually {}.",
        "The answer is 6. Let me fix that: {}.", "答案是6。纠正一下，答案是{}。", "The answer would be {}.",
        "The answer is not $\\boxed{{6}}$ but $\\boxed{{{}}}$.", "- Apples: 5\n- Pears: 6\n- Total: {}",
    ],
    "the extreme that a problem asks for": [
        "He needs at least {} cars.", "So at least {} cars are needed.", "至少需要{}辆车。", "答：至少要租{}条船。",
        "最多可以买{}本。",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", SAID)
def test_the_number_is_read_and_not_what_is_said_beside_it(kind):
    for template in SAID[kind]:
        for number in ("30", "45", "128"):
            for text in (template.format(number), "First we add 7 and 8.\n" + template.format(number)):
                if template[0] == "{" and text[0] == "F" and "\n\n" in template:
                    continue  # a number that begins the text
                found = extract_number(text)
                assert found.answer == number, (text, found)


@pytest.mark.parametrize("number", ["12", "120"])
def test_an_exclamation_is_no_factorial_and_a_box_may_hold_one(number):
    assert extract_number(f"The answer is {number}!").answer == number
    assert extract_number(f"\\boxed{{{number}!}}").answer is None
    assert extract_number("The answer is 5!").answer is None


@pytest.mark.parametrize("written", ["5\\!,\\!000", "5,\\!000", "5{,}000", "5\\,000"])
def test_thin_spaces_around_a_comma_are_a_separator(written):
    for template in ("${}$", "The answer is ${}$.", "\\boxed{{{}}}"):
        assert extract_number(template.format(written)).answer == "5000"


@pytest.mark.parametrize(
    ("written", "value"), [("two thirds", "2/3"), ("three quarters", "3/4"), ("one half", "1/2"), ("a third", "1/3")]
)
def test_fractions_in_words_have_a_value(written, value):
    found = extract_number(f"Answer: {written}")
    assert found.answer is not None and Fraction(found.answer) == Fraction(value)


NOT_ONE = {
    "what is needed, and what for": [
        "He must work {} hours to earn $90.", "She has to sell {} cups to make a profit of $20.",
        "He needs {} boxes. Each box holds 12 eggs.", "He needs {} boxes, leaving 2 empty slots.",
        "需要{}个盒子，每个装12个鸡蛋。",
        "Charlotte has 54 + 8 = {} dollars, which is enough for 12 tickets.", "她还剩{}元，够买8本书。",
        "妈妈今年{}岁，是小明年龄的4倍。", "可以分成{}组，每组8人。",
    ],
    "parts": [
        "答：男生{}人，女生8人。", "答案：{}；40", "Answer: (a) {}, (b) 6",
        "Answer: 1. {}\n2. 6", "Answer:\n1. {}\n2. 6",
        "Answer:\n(1) {}\n(2) 6", "答：（1）{}；（2）6。", "The answer is {} for Tom and 6 for Jerry.",
        "- Tom: {}\n- Jerry: 6", "* Tom: {}\n* Jerry: 6", "Tom: {}\nJerry: 6", "Answer: x = {}; y = 6",
        "Answer: Boys: {}. Girls: 6.", "Answer: Tom: {}, Jerry: 6", "答：甲有{}个，乙有6个。", "甲数是{}，乙数是36。",
        "鸡有{}只，兔有12只。", "The slope is {} and the intercept is 3.", "He is {}, and his sister is 10.",
        "答：每箱{}瓶，共有5箱。", "Answer:\n- {} apples\n- 40 pears", "- {}\n- 40", "(a) {}\n(b) 6",
        "Part (a): {}. Part (b): 6.", "a) {}\nb) 6", "Ben is {} years old while Amy is 12.", "妹妹{}岁，哥哥12岁。",
    ],
    "compounds": [
        "The answer is {}h20m", "It takes {}h20m.", "{}h20m", "\\boxed{{{}h30min}}", "The answer is {}m50s",
        "The answer is {}ft10in", "The answer is {}kg500g",
    ],
    "bounds, hedges and conditions": [
        "答案至少是{}。", "The answer is >{}", "The answer is > {}", "The answer is at least {}",
        "The answer would be {} if he had 3 more.", "The answer would be {}, had he bought 3 more.",
        "The answer would have been {}.", "Had he bought 5 more, he would have {}.",
        "She has, say, {} apples.",
        "The answer might be {}", "The answer may be {}.", "The answer could be {}",
        "The answer is possibly {}",
        "The answer is maybe {}", "Perhaps the answer is {}", "答案可能是{}", "也许答案是{}", "答案大概是{}",
    ],
    "readings": [
        "6 → {}", "{} (mod 70)", "{} (binary)", "The answer is {} mod 70", "{} mil", "{} in binary",
        "The answer is {} in base 8",
        "二进制是{}（二进制）",
    ],
    "boxes": [
        "$\\boxed{{{}}}$ or $\\boxed{{6}}$", "\\boxed{{{}}} and \\boxed{{6}}",
        "$\\boxed{{{}}}$, $\\boxed{{6}}$",
        "\\boxed{{{}}}或\\boxed{{6}}", "The answer is not $\\boxed{{{}}}$", "It is not \\boxed{{{}}}.",
        "\\(\\boxed{{{}}}\\) or \\(\\boxed{{6}}\\)", "\\boxed{{{}}} \\text{{ or }} \\boxed{{6}}",
    ],
    "nothing is solved": [
        "I cannot solve this. {} apples are given.", "I'm unable to solve this problem with {} apples.",
        "There is not enough information. He has {} apples.", "无法求解。题目给了{}个苹果。",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_ONE)
def test_no_number_is_taken_where_there_is_no_single_one(kind):
    for template in NOT_ONE[kind]:
        for number in ("5", "30", "45"):
            found = extract_number(template.format(number))
            assert found.answer is None, (template, found)


@pytest.mark.parametrize("check", ["Check: 4 × 12 = 48 ✓", "Verification: 4 * 12 = 48.", "验算：4×12=48"])
def test_a_check_behind_the_answer_is_not_the_answer(check):
    assert extract_number(f"He has 4 boxes.\n{check}").answer == "4"
    assert extract_number(f"{check}\nSo he has 4 boxes.").answer == "4"


def test_boxes_that_are_offered_both_or_denied_are_no_answer():
    for between in (" or ", " and ", ", ", "或"):
        assert extract_boxed(f"$\\boxed{{5}}${between}$\\boxed{{6}}$").rule == "several boxes"
    assert extract_boxed("The answer is not $\\boxed{5}$").answer is None
    assert extract_boxed("not \\boxed{5} but \\boxed{6}").answer == "6"
    assert extract_boxed("First \\boxed{5}, and from this we get \\boxed{6}").answer == "6"
