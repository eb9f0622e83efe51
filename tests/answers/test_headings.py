"""An answer under a heading of its own: headings x answers with and without the option's text."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice, extract_number, extract_text, extract_yes_no

HEADINGS = [
    "## Answer",
    "### Final Answer",
    "### Correct Answer",
    "**Answer**",
    "**Final Answer:**",
    "# 答案",
    "**答案**",
]
ANSWERS = ["{x}", "**{x}**", "{x}. Zinc", "**{x}. Zinc**", "**{x}) Zinc rusts slowly**", "({x}) Zinc", "{x}. 供给减少"]
BEHIND = ["", "\n\n## Explanation\n\nZinc is a metal.", "\n\n**Explanation:** It is a metal."]


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("behind", BEHIND)
def test_the_answer_under_a_heading_is_read(heading, behind):
    for letter in "ABCD":
        for answer in ANSWERS:
            text = f"{heading}\n\n{answer.format(x=letter)}{behind}"
            assert extract_choice(text).answer == letter, text
            assert extract_choice(f"We look at each.\n\n{text}").answer == letter, text
    assert extract_number(f"{heading}\n\nJohn is **45 miles** from home.{behind}").answer == "45"
    assert extract_yes_no(f"{heading}\n\nNo{behind}").answer == "No"
    assert extract_text(f"{heading}\n\nParis{behind}").answer == "Paris"


def test_a_list_of_all_options_under_a_heading_is_no_answer():
    assert extract_choice("## Answer\n\nA. Iron\nB. Zinc\nC. Salt\nD. Air").answer is None
