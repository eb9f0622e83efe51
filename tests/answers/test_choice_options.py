"""What a caller tells of the options: several may be chosen, they have texts, they have other labels."""

from __future__ import annotations

import itertools

import pytest

from mindeval.answers.extraction import extract_choice

MULTIPLE = [
    "The answers are {}",
    "ANSWER: {}",
    "Answer: {}.",
    "答案：{}",
    "答案是{}。",
    "正确的有{}。",
    "故选{}",
    "{}",
    "The correct options are {}.",
]
JOINS = {
    "run": "",
    "comma": ",",
    "comma and space": ", ",
    "pause mark": "、",
    "and": " and ",
    "和": "和",
    "full-width comma": "，",
}


@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS)
@pytest.mark.parametrize("template", MULTIPLE)
def test_several_options_are_read_in_any_order_and_sorted(template, join):
    for letters in itertools.combinations("ABCD", 2):
        for order in (letters, letters[::-1]):
            text = template.format(join.join(order))
            assert extract_choice(text, multiple=True).answer == "".join(letters), text
            assert extract_choice(text).answer is None, text


def test_option_text_stands_for_its_letter():
    options = ["Oxygen", "Carbon dioxide", "Carbon", "None of the above"]
    for label, option in zip("ABCD", options):
        for template in ("{}", "{}.", "The answer is {}.", "答案是{}", "**{}**", "Answer: {}\nBecause of light."):
            assert extract_choice(template.format(option), options=options).answer == label, template
            assert extract_choice(template.format(option.lower()), options=options).answer == label
    assert extract_choice("Plants take in carbon dioxide.", options=options).answer == "B"
    assert extract_choice("It is not oxygen.", options=options).answer is None
    assert extract_choice("Either oxygen or carbon dioxide.", options=options).answer is None


def test_a_letter_that_contradicts_its_text_is_ambiguous():
    options = ["Oxygen", "Carbon dioxide", "Nitrogen", "Hydrogen"]
    found = extract_choice("The answer is (A) Carbon dioxide.", options=options)
    assert (found.answer, found.ambiguous, found.rule) == (None, True, "letter and text disagree")
    assert extract_choice("The answer is (B) Carbon dioxide.", options=options).answer == "B"


@pytest.mark.parametrize(
    ("choices", "message"),
    [("AA", "different labels"), (["AB", "C"], "different labels"), ("", "different labels")],
)
def test_bad_labels_are_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        extract_choice("A", choices)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="2 texts for 4 labels"):
        extract_choice("A", options=["one", "two"])
    with pytest.raises(ValueError, match="language must be"):
        extract_choice("A", language="fr")
    with pytest.raises(TypeError, match="must be a str, but got int"):
        extract_choice(3)
