"""Options that are judged, expected or granted beside the one that a text chooses, and letters that only look so:
kinds x templates x letters. {x} is chosen, {y} and {z} are others."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice


def texts(template: str) -> list[tuple[str, str]]:
    return [
        (x, template.format(x=x, y=y, z=z))
        for x, y, z in (("A", "B", "C"), ("B", "C", "D"), ("C", "D", "A"), ("D", "A", "B"))
    ]


CHOSEN = {
    "the others are true, and the false one was asked for": [
        "**Answer: {x}**\n\n- {y}. True.\n- {x}. False.\n- {z}. True.",
        "Answer: {x}\n\nExplanation: {y} is true. {z} is true. {x} is false.",
        "The incorrect statement is {x}.\n\n{y}. Correct.\n{x}. Incorrect.\n{z}. Correct.",
        "The false statement is {x}. {y} and {z} are true.",
        "The incorrect statement is {x}.\n\nExplanation: {y} and {z} are both true statements.",
        "答案：{x}\n解析：{y}正确，{z}正确，{x}错误。",
        "下列说法错误的是{x}。{y}、{z}说法均正确。",
        "说法错误的是{x}。{y}、{z}正确。",
    ],
    "another is granted": [
        "The answer is {x}. While {y} is true, it is not the main reason.",
        "The answer is {x}. {y} is also true but less important.",
        "The answer is {x}. {y} is correct in some cases, but not here.",
        "The answer is {x}. {y} is partially correct.",
        "The answer is {x}. Option {y} is correct about the date but wrong about the place.",
        "The best answer is {x}. Here's why:\n\n* {y} is partially right, but it ignores time.\n* {z} is irrelevant.",
        "答案是{x}。{y}项说法正确，但不是主要原因。",
        "答案选{x}。虽然{y}项正确，但与题意无关。",
    ],
    "another was expected": [
        "It should be {y}, but the mass is conserved. So I'd answer {x}.",
        "It should be {y}. So I'd answer {x}.",
        "The answer should be {y}, but the mass is conserved. So I'd answer {x}.",
        "It should be {y}, but the mass is conserved. So I'd go for {x}.",
        "I'll answer {x}.",
        "So I would answer {x}.",
    ],
    "a name begins like an option": [
        "The answer is {x}. {x}. elegans is a worm.",
        "The answer is {x}. {y}. coli is not.",
    ],
}
NOT_CHOSEN = {
    "initials of names": [
        "{x}. Smith wrote it.",
        "{x}. Smith wrote about {y} in 1990.",
        "{x}. Smith et al. found it.",
        "{x}. Smith and {y}. Jones disagree.",
        "{x}. Smith (1990) says so.",
        "{x}. Smith's theory is well known.",
        "{x}. {y}. Smith published it.",
    ],
    "statements that the question is about": [
        "Statement {x} is true and statement {y} is false.",
        "Statement {x} is true, statement {y} is false.",
        "Statement {x} is correct. Statement {y} is wrong.",
        "Theory {x} is correct and theory {y} is wrong.",
    ],
    "expected, and then not": [
        "It should be {x}, but the mass is conserved.",
        "It should be {x}, but it isn't.",
        "The answer should be {x}, but it isn't listed.",
        "应该是{x}，但是质量守恒。",
    ],
    "two are right": ["The answer is {x}. {y} is correct.", "The answer is {x}. {y} is also correct."],
}


@pytest.mark.parametrize(("kind", "template"), [(kind, one) for kind, some in CHOSEN.items() for one in some])
def test_the_chosen_option_is_read_beside_its_rivals(kind, template):
    for letter, text in texts(template):
        assert extract_choice(text).answer == letter, text


@pytest.mark.parametrize(("kind", "template"), [(kind, one) for kind, some in NOT_CHOSEN.items() for one in some])
def test_no_option_is_read_where_none_is_chosen(kind, template):
    for _, text in texts(template):
        assert extract_choice(text).answer is None, text


def test_an_option_text_that_begins_with_a_capital_is_no_name():
    for rest in (
        "Photosynthesis makes oxygen",
        "Paris is the capital",
        "Because heat flows",
        "Smith",
        "Carbon Dioxide",
    ):
        assert extract_choice(f"B. {rest}").answer == "B", rest
    assert extract_choice("B. Smith wrote it", options=["x", "Smith wrote it", "y", "z"]).answer == "B"


def test_one_statement_or_a_list_of_them_may_be_options():
    assert extract_choice("Statement C is correct.").answer == "C"
    walk = "Statement A is false. Statement B is false. Statement C is true. Statement D is false."
    assert extract_choice(walk).answer == "C"


WALKS = ["{}. Nucleus - holds DNA.", "**{}. Nucleus** - holds DNA.", "({}) Nucleus holds DNA.", "{}项：细胞核含有DNA。"]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("end", ["{}", "{}.", "({})", "**{}", "**{}.", "**{}**"])
def test_a_walk_through_the_options_that_breaks_off_chooses_none(walk, end):
    for reached in (1, 2, 3):
        lines = [walk.format(letter) for letter in "ABCD"[:reached]]
        text = "\n\n".join(["Let's look at each option:", *lines, end.format("ABCD"[reached])])
        assert extract_choice(text).answer is None, text


@pytest.mark.parametrize("join", ["；", "。"])
@pytest.mark.parametrize("noun", ["项", "选项"])
def test_a_walk_in_one_paragraph_does_not_choose_its_first_option(noun, join):
    for right in "BCD":
        parts = [f"{x}{noun}，{'符合原文，正确' if x == right else '说法绝对，错误'}" for x in "ABCD"]
        assert extract_choice(join.join(parts) + "。").answer in (right, None)


@pytest.mark.parametrize(
    "said",
    [
        "Let's think step by step. There are three.",
        "I think that ice floats.",
        "42",
        "Yes.",
        "The ice floats.",
        "是的。",
    ],
)
def test_the_mark_of_an_answer_is_no_option(said):
    for mark in ("A: ", "A:", "A："):
        assert extract_choice(mark + said).answer is None, said
        assert extract_choice(f"{mark}{said} The answer is C.").answer == "C"


@pytest.mark.parametrize("parts", ["({}) \\boxed{{A}}\n({}) \\boxed{{B}}", "{}. \\boxed{{C}}\n{}. \\boxed{{D}}"])
def test_boxes_for_several_questions_leave_open_which_is_meant(parts):
    assert extract_choice(parts.format(1, 2)).answer is None
