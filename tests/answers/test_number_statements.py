"""What a text says about its numbers: generated from ways to deny, ask, suppose, take back or bound a number."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mindeval.answers.extraction import extract_number
from mindeval.answers.numbers import parse_number

# What is said of the number 7 next to it, and does not make another number of it.
GLOSSES = [
    " where n = 4", ", where n = 4 and m = 3", " (since x = 3)", " (n = 4)", "（n=4）", "，其中n=4", "，因为3+4=7",
    ", not 5",
    " and not 5", " rather than 5", " instead of 5", " (not 5)", "，而不是5", "而非5", " because 3 + 4 = 7",
    " when x = 3",
    " for n = 4", ", given that n = 4", " [1]", " (see step 3)", ", i.e. their sum", " apples", " km", "%",
]  # fmt: skip


@pytest.mark.parametrize("template", ["The answer is {}.", "答案是{}。", "Answer: {}", "It is {}.", "So we get {}"])
@pytest.mark.parametrize("gloss", GLOSSES)
def test_side_conditions_reasons_and_contrasts_are_not_the_answer(gloss, template):
    for number in ("7",) if "4" in gloss and "7" in gloss else ("7", "-7", "1,234", "7.5"):
        found = extract_number(template.format(number + gloss))
        assert found.answer is not None, found
        assert Fraction(found.answer) == parse_number(number)


# What does not say that the answer is {}.
NOT_SAID = {
    "denied": [
        "not {}", "It is not {}.", "It isn't {}", "It can't be {}", "The answer is not {}.",
        "The answer is anything but {}",
        "{} is wrong.", "{} is not the answer.", "{} doesn't work", "不是{}",
        "不可能是{}", "答案不是{}",
        "答案不等于{}", "{}不对",
        "{}是错误的", "x \\neq {}", "Neither {} nor 11 works.", "没有{}个", "\\boxed{{{}}} is wrong.",
    ],
    "asked": [
        "Is it {}?", "Could it be {}?", "What about {}?", "Is the answer {}?", "是{}吗？", "答案是{}吗？", "是{}？",
    ],
    "supposed": [
        "if x = {}", "Suppose x = {}.", "Suppose the answer is {}.", "Let x = {}.", "Imagine it were {}.",
        "如果x={}", "假设答案是{}。",
        "设x={}", "If the answer is {}, then x = 2.",
    ],
    "doubted": [
        "Bob thinks it is {}.",
        "I doubt it is {}", "I don't think it is {}.", "Some say {}.", "有人说是{}", "我怀疑是{}", "Maybe {}.",
        "It might be {}",
        "可能是{}。", "The student's answer is {}.", "He claims the answer is {}.", "可能是{}也可能是11",
    ],
    "taken back": [
        "{}. That's wrong.", "The answer is {}. That is incorrect.", "The answer is {}. I made a mistake.",
        "答案是{}。我算错了。",
        "#### {}\nHmm, that doesn't look right.", "The answer is {}. Let me check: 4 + 4 = 8.",
    ],
    "bounds": [
        "{} at most", "不足{}天",
        "more than {}", "at least {}", "The answer is at least {}", "The answer is over {}", "less than {}",
        "{} or more",
        "The answer is {}+", "x > {}", "\\boxed{{x \\ge {}}}", "至少{}", "答案大于{}", "答案不超过{}",
        "答案是{}以上", "±{}", "\\pm {}",
    ],
    "several": [
        "between {} and 11", "The answer is between {} and 11.", "from {} to 11", "{}-11", "The answer is {}-11",
        "{} to 11", "{}～11",
        "{}到11", "答案是{}到11", "{} or 11", "The answer is {} or 11", "The answer is {} (or 11).", "答案是{}或11",
        "答案是{}、11",
        "The answer is {}, 11", "The answers are {}, 11, and 12.", "{} feet 10 inches",
        "The answer is {} feet 10 inches", "{} hours 30 minutes",
        "答案是{}小时30分", "The answer is {} hours, 30 minutes", "{}:45", "The answer is {}:45", "2020-01-{}",
        "The answer is {}.2.3",
        "\\boxed{{x={}, y=11}}", "The answer is x={} or x=11", "The answer is {} out of 11", "\\boxed{{({},11)}}",
    ],
    "expressions": [
        "\\boxed{{\\sqrt{{{}}}}}", "The answer is \\sqrt{{{}}}", "\\boxed{{{}\\pi}}", "The answer is ${}\\pi$",
        "\\boxed{{{}!}}", "The answer is {}+4",
        "\\boxed{{{}x}}", "The answer is {} + x", "\\boxed{{x+{}}}", "So {}x = 14",
        "\\boxed{{\\frac{{\\pi}}{{{}}}}}", "\\boxed{{\\log_2 {}}}",
        "\\boxed{{|{}|}}", "\\boxed{{f({})}}", "\\boxed{{x_{{{}}}}}", "\\boxed{{{}\\sqrt{{2}}}}",
        "The answer is half of {}", "The answer is {} squared",
        "The answer is {} and a half", "答案是{}个半", "答案是{}的一半", "\\boxed{{{}^n}}",
        "\\boxed{{0.\\overline{{{}}}}}", "\\boxed{{{}i}}",
    ],
    "relations": [
        "The answer is {} more than 11.", "The answer is {} less than 12.", "The answer depends on {}.",
        "The answer is not given; {} is needed.", "There are {} apples. The answer is unknown.",
        "答案取决于{}", "答案是{}‰",
        "答案是{}余人", "The answer is {}ish", "The answer is {} plus tax.", "It takes {} days to finish 100 pages.",
        "得到 $x_1={}, x_2=11$", "The answer is log {}.", "56 = {} * 8", "The answer is {} : 4", "答案是{}比1",
    ],
    "labels": [
        "答案是第{}个", "答案是选项{}", "The answer is option {}.",
        "#### Step {}", "Step {}", "Question {}", "see equation ({})", "As shown in [{}].", "第{}步", "见公式（{}）",
        "问题{}", "Figure {} shows it.",
        "## {}. Results", "1. First\n2. Second",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_SAID)
def test_no_number_is_taken_that_the_text_does_not_give_as_its_answer(kind):
    for template in NOT_SAID[kind]:
        for number in ("5", "7", "9"):
            for wrapper in ("{}", "We think about it.\n{}", "<think>99</think>{}"):
                found = extract_number(wrapper.format(template.format(number)))
                assert found.answer is None, (template, found)


@pytest.mark.parametrize("kind", ["denied", "asked", "supposed", "doubted", "bounds", "several", "labels"])
def test_a_later_statement_decides(kind):
    for template in NOT_SAID[kind]:
        for statement in ("The answer is 8.", "答案是8。", "#### 8", "\\boxed{8}"):
            assert extract_number(f"{template.format(5)}\n{statement}").answer == "8", (template, statement)


CORRECTIONS = [
    "The answer is {}. Wait, I made an error, it is {}", "The answer is {}. No, it's {}.",
    "The answer is {}. Oops, I meant {}.",
    "#### {}\nCorrection: {}", "The answer is {}. Actually, it should be {}.", "The answer is {}, I mean {}.",
    "答案是{}。更正：{}",
    "答案是{}。不对，应该是{}。", "答案是{}，不对，是{}。", "答案是{}。我算错了，是{}。",
    "\\boxed{{{}}}. Wait, that is wrong: \\boxed{{{}}}.",
    "The answer is not {} but {}.", "答案不是{}，而是{}。", "It is not {}, it is {}.", "{}? No, {}.",
]  # fmt: skip


@pytest.mark.parametrize("template", CORRECTIONS)
def test_a_corrected_number_replaces_the_first(template):
    for first, second in (("5", "7"), ("1,200", "-3"), ("7", "5")):
        found = extract_number(template.format(first, second))
        assert found.answer is not None and Fraction(found.answer) == parse_number(second), found
