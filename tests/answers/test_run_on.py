"""A model that runs on into a question of its own making: answers x heads x ways to ask x answers to the invented one.
Whatever the invented question is answered with, the answer to the question that was asked is the one before it."""

from __future__ import annotations

import itertools

import pytest

from mindeval.answers.extraction import extract_boxed, extract_choice, extract_number, extract_yes_no

FIRST = ["B", "(B)", "B. Salt", "The answer is B.", "**Answer: B**", "Heat flows downhill. So the answer is (B)."]
HEADS = [
    "",
    "2. ",
    "Q2. ",
    "**Question 2**\n\n",
    "### Question 2\n",
    "[Question] ",
    "Example 2: ",
    "Exercise 2\n",
    "Next: ",
]
ASKED = ["Which of the following is a metal?", "The following substance is a metal", "A metal is ( )"]
OPTIONS = ["\nA. Iron\nB. Salt\nC. Air\n", "\n\n(A) Iron\n\n(B) Salt\n\n(C) Air\n", "\nA) Iron B) Salt C) Air\n"]
THEN = ["Answer: {}", "The answer is {}.", "{}", "**Answer:** {}. Iron", "So the answer is ({})."]
FIRST_ZH = ["B", "答案：B", "故选B", "B. 盐"]
HEADS_ZH = ["", "2. ", "2、", "第2题：", "例2：", "【题目】", "以下是单项选择题，请选出正确答案。\n\n"]
ASKED_ZH = ["下列属于金属的是（ ）", "下列哪种是金属？", "下列属于金属的是"]
OPTIONS_ZH = ["\nA. 铁\nB. 盐\nC. 气\n", "\nA、铁 B、盐 C、气\n"]
THEN_ZH = ["答案：{}", "答案是{}。", "{}", "故选{}"]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "parts", [(FIRST, HEADS, ASKED, OPTIONS, THEN), (FIRST_ZH, HEADS_ZH, ASKED_ZH, OPTIONS_ZH, THEN_ZH)]
)
def test_the_option_chosen_first_is_read(parts, gap):
    for first, head, asked, options, then in itertools.product(*parts):
        for letter in "AC":
            text = first + gap + head + asked + options + then.format(letter)
            assert extract_choice(text).answer == "B", text


SAMS = "Sam has 3 apples and buys 4 more at the shop. How many apples does he have in the end?"
QUESTIONS = {
    "en": [f"\n\n{SAMS}\n", f"\n\n2. {SAMS}\n", f"\n\nExample 2\n{SAMS}\n", f"\n{SAMS}\n", "\n\n2. What is 3+4?\n"],
    "zh": ["\n\n小明有3个苹果，又买了4个，请问小明现在一共有几个苹果？\n", "\n\n第2题：3加4得几？\n"],
}


@pytest.mark.parametrize(
    "first", ["5", "#### 5", "The answer is 5.", "2 + 3 = 5\nAnswer: 5", "\\boxed{5}", "答：5个。"]
)
@pytest.mark.parametrize("then", ["7", "#### 7", "He has 3+4 = 7. The answer is 7.", "\\boxed{7}", "答：7个。"])
@pytest.mark.parametrize("language", QUESTIONS)
def test_the_number_given_first_is_read(first, then, language):
    for question in QUESTIONS[language]:
        assert extract_number(first + question + then).answer == "5", question
        if "boxed" in first:
            assert extract_boxed(first + question + then).answer == "5"


@pytest.mark.parametrize("question", ["Is the sky blue?", "2. Is the sky blue?", "Example 2\nIs the sky blue?"])
@pytest.mark.parametrize("then", ["Yes", "yes.", "Answer: Yes", "The sky is blue. So the answer is yes."])
def test_the_word_given_first_is_read(question, then):
    for first in ("No", "no.", "Answer: No"):
        assert extract_yes_no(f"{first}\n\n{question}\n{then}").answer == "No"


OWN = [
    "Wait, is that right?",
    "But is this correct?",
    "Why not the others?",
    "How do we know?",
    "Really?",
    "等等，对吗？",
]


@pytest.mark.parametrize("own", OWN)
def test_a_question_that_the_writer_puts_to_itself_ends_nothing(own):
    assert extract_choice(f"The answer is B.\n\n{own}\nNo. The answer is C.").answer == "C"
    assert extract_number(f"The answer is 5.\n\n{own}\nNo. The answer is 7.").answer == "7"


def test_a_short_question_on_the_way_leaves_two_answers_open():
    text = "Heat flows downhill.\nIt does not flow up, so the answer is B.\n\nWhat does the passage say?\nIt says so. The answer is {}."
    assert extract_choice(text.format("B")).answer == "B"
    assert extract_choice(text.format("C")).rule == "several questions"


def test_options_that_are_discussed_are_not_asked_about():
    for head in ("Why not the others?", "Analysis of the options:", "选项分析：", "Let's look at each option:"):
        text = f"At first sight, B.\n\n{head}\nA. Iron rusts.\nB. Salt is no metal.\nC. Air neither.\nThe answer is A."
        assert extract_choice(text).answer == "A", head


@pytest.mark.parametrize("steps", ["1. What is 2 + 3? It is 5.\n2. What is 5 + 4? It is 9.\n", "How many are there?\n"])
def test_questions_before_an_answer_end_nothing(steps):
    assert extract_number(f"We count the apples: 3 red ones.\n{steps}The answer is 9.").answer == "9"
    assert extract_choice(f"Let us see.\n{steps}The answer is D.").answer == "D"
