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


@pytest.mark.parametrize("text", ["It is not true.", "The answer is 100.", "True", "10", "The answer is zinc or so."])
def test_an_empty_option_is_never_spelled(text):
    assert extract_choice(text, "AB", options=["", "iron"]).answer is None


def test_a_text_that_two_options_share_is_neither():
    for options in (["zinc", "zinc"], ["zinc", "Zinc."]):
        assert extract_choice("The answer is zinc.", "AB", options=options).answer is None
        for label in "AB":
            assert extract_choice(f"{label}. zinc", "AB", options=options).answer == label


@pytest.mark.parametrize("word", ["the", "a", "an", "in", "of", "that", "who", "is"])
def test_an_option_that_is_a_word_of_any_sentence_counts_where_it_stands_alone(word):
    options = [word, "zinc blende"]
    for text in (f"The answer is {word} metal.", f"{word} metal in the soil that is of use", f"It is {word} cat"):
        assert extract_choice(text, "AB", options=options).answer is None, text
    for text in (word, f"The answer is {word}.", f'Answer: "{word}"'):
        assert extract_choice(text, "AB", options=options).answer == "A", text


@pytest.mark.parametrize(
    "other",
    [
        "2.5",
        "2,000",
        "-2",
        "−2",
        "12.2",
        "2/3",
        "3:2",
        "2%",
        "2π",
        "\\sqrt{2}",
        "x^2",
        "10^2",
        "2^10",
        "minus 2",
        "2万",
    ],
)
def test_an_option_that_is_a_number_is_no_part_of_another_number(other):
    for template in ("The answer is {}.", "{}", "答案是{}。", "Answer: {}"):
        assert extract_choice(template.format(other), options=["2", "30", "40", "50"]).answer is None, template
        assert extract_choice(template.format("2"), options=["2", "30", "40", "50"]).answer == "A", template


@pytest.mark.parametrize("longer", ["non-linear", "semi-linear", "linear-quadratic"])
def test_an_option_is_no_part_of_a_longer_word(longer):
    assert extract_choice(f"The answer is {longer}.", "AB", options=["linear", "cubic"]).answer is None


@pytest.mark.parametrize("pair", [("Yes", "No"), ("True", "False"), ("Correct", "Incorrect"), ("right", "wrong")])
def test_an_option_that_says_no_does_not_deny_its_letter(pair):
    for label, option in zip("AB", pair):
        for template in ("The answer is {}. {}.", "The answer is ({}) {}", "Answer: {}) {}", "The answer is {}: {}."):
            text = template.format(label, option)
            assert extract_choice(text, "AB", options=pair).answer == label, text


@pytest.mark.parametrize("option", ["the cell wall", "a cell wall", "the Cell Wall"])
def test_an_article_may_belong_to_the_option(option):
    for template in ("The answer is {}.", "Answer: {}", "So the correct answer is {}, of course."):
        found = extract_choice(template.format(option), options=["cell", "wall", "cell w", option])
        assert found.answer == "D", template
