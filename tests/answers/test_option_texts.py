"""Answers that spell an option, in place of its letter or behind it: what each text chooses, and what it does not."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice

ENGLISH = [
    "{}", "{}.", "**{}**", '"{}"', "The answer is {}.", "The answer is **{}**.", "Answer: {}", "**Answer:** {}",
    "So the answer is {}.", "The correct answer is: {}", "Final answer: {}", "\\boxed{{{}}}",
    "The answer is \\boxed{{{}}}.",
    "<answer>{}</answer>", "{}\n\nExplanation: the other options do not fit.", "It is hot.\n\nThe answer is {}.",
    "Answer: {}\n\nThis follows from the definition.", "The answer is {}, because nothing else fits.",
]  # fmt: skip
CHINESE = [
    "{}",
    "{}。",
    "答案是{}。",
    "答案：{}",
    "所以答案是{}。",
    "正确答案为{}",
    "因此，答案是{}。\n\n解析：其他都不符合。",
]
KINDS = {
    "words": ["zinc", "iron ore", "Carbon dioxide", "Carbon"],
    "names": ["Albert Einstein", "Niels Bohr", "Marie Curie", "Isaac Newton"],
    "articles": ["the Iron Age", "iron", "a decrease in supply", "an increase in supply"],
    "numbers": ["2", "3", "25", "100"],
    "signed numbers": ["-3", "3", "0", "−1"],
    "decimals": ["2.5", "0.25", "25", "-2.5"],
    "thousands": ["2,000", "2", "20,000", "200"],
    "fractions": ["1/2", "2/3", "1 1/2", "2"],
    "percents": ["5%", "50%", "0.5%", "15%"],
    "units": ["5 m", "50 m", "1.5 m", "5 km"],
    "money": ["$5", "$50", "$1,000", "$2.50"],
    "powers": ["10^5", "10^-5", "3 × 10^5", "3"],
    "LaTeX": ["$x^2$", "$2x$", "$\\frac{1}{2}$", "$0$"],
    "LaTeX with letters": ["\\(\\sin x\\)", "\\(\\cos x\\)", "\\(\\frac{a}{b}\\)", "\\(a_1 + b\\)"],
    "verdicts": ["Yes", "No", "Maybe", "Unknown"],
    "judgements": ["True", "False", "Not enough information", "None of the above"],
    "pairs": ["True, True", "False, False", "True, False", "False, True"],
    "correctness": ["Correct", "Incorrect", "Partly wrong", "Not sure"],
    "letters": ["vitamin A", "vitamin C", "Both A and B", "Neither A nor B"],
    "empty cells": ["zinc", "", " ", "iron"],
}
KINDS_ZH = {
    "words": ["铁", "可逆反应", "不可逆反应", "平衡"],
    "numbers": ["2", "0.5", "2万", "-2"],
    "units": ["5米", "50米", "0.5米", "5千米"],
    "verdicts": ["正确", "错误", "不确定", "无法判断"],
    "yes and no": ["是", "不是", "有", "没有"],
    "relations": ["正比例", "反比例", "不成比例", "无关"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("template", ENGLISH)
def test_each_kind_of_option_is_found_by_its_text(kind, template):
    for label, option in zip("ABCD", KINDS[kind]):
        if option.strip():
            text = template.format(option)
            assert extract_choice(text, options=KINDS[kind]).answer == label, text


@pytest.mark.parametrize("kind", KINDS_ZH)
@pytest.mark.parametrize("template", CHINESE)
def test_each_kind_of_chinese_option_is_found_by_its_text(kind, template):
    for label, option in zip("ABCD", KINDS_ZH[kind]):
        text = template.format(option)
        assert extract_choice(text, options=KINDS_ZH[kind]).answer == label, text


LETTERED = [
    "({L}) {t}", "{L}) {t}", "{L}. {t}", "{L}. {t}.", "**{L}. {t}**", "The answer is ({L}) {t}.",
    "The answer is {L}. {t}.",
    "The answer is {L}) {t}", "Answer: {L}) {t}", "Answer: ({L}) {t}", "Answer: {L}. {t}",
    "The correct answer is {L}: {t}",
    "So the answer is ({L}) {t}.", "{L}) {t}\n\nBecause nothing else fits.", "\\boxed{{{L}. {t}}}", "答案是{L}. {t}",
    "The answer is **{L}. {t}**", "Answer: {L}) {t}\n\nBecause nothing else fits.",
]  # fmt: skip
VERDICTS = [
    ("Yes", "No"), ("True", "False"), ("Correct", "Incorrect"), ("Right", "Wrong"),
    ("Valid", "Invalid"), ("正确", "错误"),
    ("对", "错"), ("是", "不是"), ("True, True", "False, False"), ("有", "没有"),
]  # fmt: skip


@pytest.mark.parametrize("verdicts", VERDICTS, ids="/".join)
@pytest.mark.parametrize("template", LETTERED)
def test_an_options_own_text_behind_its_letter_is_no_verdict_on_it(verdicts, template):
    for order in (verdicts, verdicts[::-1]):
        for label, option in zip("AB", order):
            text = template.format(L=label, t=option)
            assert extract_choice(text, "AB", options=order).answer == label, text
            assert extract_choice(text, "AB").answer == label, text  # as without options=


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("template", LETTERED)
def test_the_letter_before_its_text_is_the_answer_and_before_another_text_is_none(kind, template):
    options = KINDS[kind]
    for label, option in zip("ABCD", options):
        if option.strip():
            text = template.format(L=label, t=option)
            assert extract_choice(text, options=options).answer == label, text
            other = "ABCD"["ABCD".index(label) - 1]
            assert extract_choice(template.format(L=other, t=option), options=options).answer in (None, other), text


@pytest.mark.parametrize("denial", ["is wrong", "is incorrect", "is not correct", "is false", "is not the answer"])
def test_a_verdict_on_an_option_denies_it_whatever_its_text(denial):
    for options in (None, ["Yes", "No"], ["zinc", "iron"], ["wrong", "right"]):
        for template in ("B {}.", "Option B {}.", "(B) {}."):
            assert extract_choice(template.format(denial), "ABC"[:2], options=options).answer != "B"


OTHER_NUMBERS = [
    "2.5", "2,000", "-2", "−2", "2/3", "3:2", "2%", "2π", "√2", "$\\sqrt{2}$", "$\\frac{1}{2}$", "1/2",
    "0.5", "10^5", "4.9",
    "3.14159", "$2.99", "2 3/4", "minus 2", "-5", "25", "2万", "-2.5", "2e3", "x^2", "2x", "2 million",
    "5 + x", "1.2.3",
]  # fmt: skip


@pytest.mark.parametrize("template", [*ENGLISH, *CHINESE])
def test_another_number_chooses_no_option_whose_digits_it_has(template):
    for number in OTHER_NUMBERS:
        text = template.format(number)
        assert extract_choice(text, options=["2", "3", "4", "5"]).answer is None, text


@pytest.mark.parametrize("template", ENGLISH)
def test_numbers_are_compared_by_value_and_unit(template):
    for options, same in (
        (["0.5", "5", "50"], {"1/2": "A", "$\\frac{1}{2}$": "A", "5.0": "B", "5.00": "B", "+50": "C"}),
        (["1000", "100"], {"1,000": "A", "1000.0": "A", "10^3": "A", "10^2": "B"}),
        (["-3", "3"], {"−3": "A", "-3.0": "A", "3.0": "B"}),
        (["5 m", "50 m"], {"5m": "A", "50": "B", "5 km": None, "1.5 m": None, "-5 m": None, "5 seconds": None}),
        (["5%", "50%"], {"5 percent": "A", "2.5%": None, "50": "B", "0.5%": None}),
        (
            ["500 dollars", "1,000 dollars"],
            {"$500": "A", "1000 dollars": "B", "2,500 dollars": None, "500 euros": None},
        ),
        (["5 m/s", "5 m"], {"5 m/s": "A", "5 m": "B", "5 m/h": None, "5 m^2": None}),
        (["1/2", "0.5"], {"1/2": "A", "0.5": "B", "$\\frac{1}{2}$": None}),
    ):
        for number, label in same.items():
            text = template.format(number)
            assert extract_choice(text, "ABC"[: len(options)], options=options).answer == label, text


TERMS = [
    ("linear", "non-linear", "nonlinear", "non linear"), ("permeable", "semi-permeable", "impermeable"),
    ("employed", "self-employed", "unemployed"), ("inflammatory", "anti-inflammatory"), ("east", "north-east"),
    ("zinc", "zinc-free", "zincate"), ("可逆反应", "不可逆反应"), ("比例", "反比例"), ("教授", "副教授"),
    ("北部", "东北部"),
    ("金属", "非金属"), ("x^2", "x^2 + 1", "2x^2", "\\sin(x^2)"), ("x", "x+1", "x_1", "2x"),
]  # fmt: skip


@pytest.mark.parametrize("template", [*ENGLISH, *CHINESE])
def test_a_longer_term_is_not_the_option_that_it_holds(template):
    for option, *terms in TERMS:
        assert extract_choice(template.format(option), "AB", options=[option, "quadratic"]).answer == "A"
        for term in terms:
            text = template.format(term)
            assert extract_choice(text, "AB", options=[option, "quadratic"]).answer is None, text
            assert extract_choice(text, "AB", options=[option, term]).answer == "B", text


@pytest.mark.parametrize(
    "text", ["It is not true.", "The answer is 100.", "True", "10", "", "The answer is.", "Answer:"]
)
def test_an_empty_option_is_spelled_by_no_text(text):
    for options in (["", "zinc"], ["zinc", ""], [" ", "zinc"], [".", "zinc"]):
        assert extract_choice(text, "AB", options=options).answer is None
    assert extract_choice("The answer is A.", "AB", options=["", "zinc"]).answer == "A"


@pytest.mark.parametrize("template", ENGLISH)
def test_options_that_are_written_alike_are_told_apart_by_letters_only(template):
    for options in (["zinc", "zinc", "iron"], ["zinc", "Zinc", "iron"], ["2", "2.", "3"], ["$x^2$", "x^2", "3"]):
        assert extract_choice(template.format(options[0]), "ABC", options=options).answer is None
        assert extract_choice(template.format(options[2]), "ABC", options=options).answer == "C"
        for label, option in zip("ABC", options):
            assert extract_choice(template.format(f"{label}. {option}"), "ABC", options=options).answer == label


WORDS = [
    ["a", "an", "the", "/"],
    ["in", "on", "at", "for"],
    ["who", "which", "that", "whose"],
    ["is", "are", "was", "were"],
]


@pytest.mark.parametrize("options", WORDS, ids="-".join)
def test_words_of_every_sentence_are_options_where_they_stand_alone_or_in_quotation_marks(options):
    for label, option in zip("ABCD", options):
        for template in (
            "{}", '"{}"', "**{}**", "The answer is {}.", 'The answer is "{}".', "Answer: {}", "\\boxed{{{}}}", "{}.",
            '"{}" should be used because the next word asks for it.', 'The blank should be filled with "{}".',
            '"{}" is used for a point of the kind that is meant in this sentence.', "The correct answer is {}.",
        ):  # fmt: skip
            assert extract_choice(template.format(option), options=options).answer == label, template
    for text in (
        "The answer is based on the rule for days in English, which is old.", "The answer is zinc.",
        "I was at the zoo.",
        "The word that is in the blank was an article for which there is a rule.",
        "The answer is a cat that sat on a mat.",
    ):  # fmt: skip
        assert extract_choice(text, options=options).answer is None, text


JUDGED = [
    "{} is the correct answer.", "{} is correct.", "{} is the answer.", "{} is right.", "{} is the best answer.",
    "{} is the correct option.", "{} would be the correct answer.", "So {} is the answer.",
    "Therefore, {} is correct.",
    "{}, since nothing else fits.", "{} because nothing else fits.", "{} is the right choice, because it is hot.",
]  # fmt: skip
NOT_ASSERTED = [
    "{} is not the answer.", "{} is wrong.", "{} is incorrect.", "If {} is the answer, it is hot.",
    "{} might be the answer.",
    "Is {} the answer?", "Some say that {} is the answer.", "I doubt that {} is the answer.", "It is not {}.",
    "Perhaps {} is the answer.", "{} may be correct.",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["words", "names", "numbers", "LaTeX", "money", "units", "articles"])
def test_an_option_is_chosen_by_a_sentence_that_calls_its_text_right(kind):
    options = KINDS[kind]
    for label, option in zip("ABCD", options):
        for template in JUDGED:
            assert extract_choice(template.format(option), options=options).answer == label, template.format(option)
        for template in NOT_ASSERTED:
            assert extract_choice(template.format(option), options=options).answer is None, template.format(option)


def test_all_and_none_of_the_above_are_answers():
    options = ["iron", "zinc", "All of the above", "None of the above"]
    for label, option, verb in (("C", "All of the above", "are"), ("D", "None of the above", "is")):
        for text in (f"{option} {verb} correct.", f"{option}.", f"The answer is {label}, {option.lower()}."):
            assert extract_choice(text, options=options).answer == label, text


@pytest.mark.parametrize("join", [" or ", ", ", " and ", "/", " and/or ", "或", "、", "和"])
@pytest.mark.parametrize("template", ["The answer is {}.", "{}", "Answer: {}", "答案是{}。", "\\boxed{{{}}}", "**{}**"])
def test_several_texts_choose_none_of_them(template, join):
    for options in (["2", "3", "4"], ["zinc", "iron", "salt"], ["5 m", "6 m", "7 m"], ["x^2", "y^2", "z^2"]):
        for one in options:
            for other in set(options) - {one}:
                if join == "/" and one.isdigit():
                    continue  # a fraction
                text = template.format(one + join + other)
                assert extract_choice(text, "ABC", options=options).answer is None, text


def test_several_texts_are_several_answers_where_they_may_be():
    for text in ("The answers are zinc and iron.", "Answer: zinc, iron", "答案：zinc、iron"):
        assert extract_choice(text, "ABC", options=["iron", "zinc", "salt"], multiple=True).answer == "AB"
    assert extract_choice("Zinc or iron.", "ABC", options=["iron", "zinc", "salt"], multiple=True).answer is None


def test_a_letter_is_read_as_a_letter_also_where_options_are_letters():
    assert extract_choice("A", options=["the", "a", "an", "/"]).answer == "A"
    assert extract_choice("a", options=["the", "a", "an", "/"]).answer == "B"
    assert extract_choice("The answer is B.", options=["B", "A", "D", "C"]).answer == "B"
