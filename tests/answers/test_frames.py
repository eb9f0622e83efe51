"""Statements about something else than what was asked: another question, another time or place, other circumstances."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice, extract_number, extract_yes_no

# What limits a statement to something else, before it or in its own words.
FRAMES = [
    "In question 4, the answer is {}.",
    "For the second question, the answer is {}.",
    "In the previous question, the answer was {}.",
    "(Compare with question 12, where the answer was {}.)",
    "The answer to question 3 is {}.",
    "The answer to the next question is {}.",
    "(The answer to part (b) is {}.)",
    "Without friction, the answer would be {}.",
    "Ignoring friction, the answer is {}.",
    "Were the gas ideal, the answer would be {}.",
    "Should the gas be ideal, the answer would be {}.",
    "Had it been cold, the correct answer would be {}.",
    "Under the old law, the answer was {}.",
    "Until 2010, the answer was {}.",
    "Traditionally, the answer was {}.",
    "In the UK, the answer is {}.",
    "A typical mistake is to think that the answer is {}.",
    "The second-best answer is {}.",
    "The next best answer is {}.",
    "A less likely answer is {}.",
    "User answer: {}",
    "Student answer: {}",
]
FRAMES_ZH = [
    "第3题的答案是{}。",
    "下一题的答案是{}。",
    "以前的答案是{}。",
    "次优答案是{}。",
    "不考虑摩擦时，答案是{}。",
]


@pytest.mark.parametrize("join", [" ", "\n"])
@pytest.mark.parametrize("frame", FRAMES + FRAMES_ZH)
def test_a_statement_about_something_else_does_not_replace_the_answer(frame, join):
    for letter in "ACD":
        for first in ("The answer is B.", "Correct answer: B.", "So the answer is (B).", "答案是B。"):
            text = first + join + frame.format(letter)
            assert extract_choice(text).answer == "B", text
    for number in ("7", "-3", "1,200"):
        for first in ("The answer is 5.", "#### 5\n", "答案是5。"):
            assert extract_number(first + join + frame.format(number)).answer in ("5", None), frame
    assert extract_yes_no("Yes." + join + frame.format("no")).answer in ("Yes", None)


@pytest.mark.parametrize("frame", ["In the UK, the answer is {}.", "In question 4, the answer is {}.", "第3题答案是{}"])
def test_a_limited_statement_counts_where_nothing_else_is_stated(frame):
    assert extract_choice(frame.format("C")).answer == "C"
    assert extract_number(frame.format("7")).answer == "7"
    assert extract_choice(frame.format("C") + "\nThe answer is B.").answer == "B"


PARTS = [
    "(a) The answer is {}.\n(b) The answer is {}.",
    "Part 1: The answer is {}.\n\nPart 2: The answer is {}.",
    "The answer to (a) is {}; the answer to (b) is {}.",
    "The first answer is {}. The second answer is {}.",
    "For part (a), the answer is {}. For part (b), the answer is {}.",
]


@pytest.mark.parametrize("parts", PARTS)
def test_answers_to_several_questions_leave_open_which_is_meant(parts):
    if "\n" not in parts:
        assert extract_choice(parts.format("A", "B")).answer is None
    assert extract_number(parts.format(5, 6)).answer is None


@pytest.mark.parametrize("heading", ["Final Answer:", "**Final Answer:**", "My final answer:", "Best answer:"])
def test_the_name_of_the_answer_is_no_opinion(heading):
    for letter in "ABCD":
        assert extract_choice(f"{heading} $\\boxed{{{letter}}}$").answer == letter
