"""Several quantities in what a text ends with: where none is concluded from the others no number is taken, and never
one that is said beside the answer. {n} is what a reader would take, if anything."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_number

BESIDE = {
    "left over": [
        "He can buy {n} pencils with $100 and have $1 left.",
        "So each of the 5 friends gets {n} cookies, with 3 left over.",
        "He can buy {n} books and will have $3 left over.", "He can buy {n} books at most, and he'll have $3 left.",
        "He can buy {n} books, leaving him with $3.", "He can fill {n} boxes, with 3 eggs remaining.",
        "She can buy {n} pens; she has $3 left.", "She can buy {n} pens. She has $3 left.",
        "Therefore, she can buy a maximum of **{n}** pens, with **$3** left over.", "每人分得{n}个，还剩3个。",
        "每人{n}个，余3个。", "可以装{n}箱，还剩3个。", "最多能买{n}本，还剩3元。",
    ],
    "said again in another unit": [
        "It takes {n} minutes, which is 1 hour.",
        "It takes {n} minutes, i.e. 1 hour.", "The answer is {n} minutes = 1 hour.",
        "That means the jug holds {n} ounces, which is 8 cups.",
        "一共需要{n}分钟，也就是1小时。", "一共需要{n}分钟，即1小时。",
    ],
    "broken down": [
        "一共有{n}人，其中男生9人，女生7人。", "一共有{n}人，男生9人，女生7人。", "所以一共有{n}人参加了3项活动。",
        "She needs {n} cups. Here is the breakdown: 2 cups of flour, 3 cups of milk.",
        "The total number of students is {n}. Class A has 15 and class B has 13.",
    ],
    "before, after, and if": [
        "She has {n} apples left. She started with 8.", "She has {n} apples left from the original 80.",
        "She has {n} apples. If she had bought 3 more, she would have 8.",
        "Tom is {n} years old and will be 10 in May.", "Tom is {n} years old, and he'll be 10 next year.",
        "So he needs {n} buses; the last bus carries only 3 students.",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", BESIDE)
def test_what_is_said_beside_the_answer_is_not_taken(kind):
    for template in BESIDE[kind]:
        for number in ("16", "60", "28"):
            text = template.format(n=number)
            assert extract_number(text).answer in (number, None), text
            assert extract_number(f"{text}\n#### {number}").answer == number, text


NONE = {
    "shares": [
        "{} of the 20 apples and {} of the 10 pears", "He ate {} of the 20 apples and {} of the 10 pears.",
        "{} of his 20 apples, {} of his 10 pears",
    ],
    "listings": [
        "1, 2, {}, ... {}", "1, 2, {}, ..., {}", "1，2，{}，……，{}", "2, 4, {}, …, {}",
        "The numbers are 1, {}, ..., {}.",
        "The numbers are $1, {}, \\ldots, {}$.",
    ],
    "wrong and right ones": ["答：他一共做了{}道题，错了{}道", "他做对{}道，错了{}道。"],
    "labelled": [
        "Tom: {}, Jerry: {}", "Tom = {}, Jerry = {}", "mean = {}, median = {}", "Length = {} cm, width = {} cm",
        "小明：{}，小红：{}", "The quotient is {} and the remainder is {}.",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", NONE)
def test_no_number_is_taken_where_there_are_several(kind):
    for template in NONE[kind]:
        for pair in ((3, 30), (5, 6), (12, 8)):
            found = extract_number(template.format(*pair))
            assert found.answer is None, (template, found)


CONCLUDED = [
    "She had 12 apples and ate 7, so she has {} left.", "12 - 7 = {} apples are left.", "He gave away 7, leaving {}.",
    "一共有16个，吃了3个，还剩{}个。",
    "The numbers 1, 2, ..., 30 sum to = {}.", "5 of the 20 apples and 3 more make {}.",
    "He can buy 3 pens and 4 books, so {} things in total.", "It takes 3 * 20 = {} minutes.",
    "Since Ann started with 5, she has {}.",
    "Ann started with 5 + 7 = {} pens.",
]  # fmt: skip


@pytest.mark.parametrize("template", CONCLUDED)
def test_a_conclusion_from_several_quantities_is_the_answer(template):
    for number in ("13", "60"):
        assert extract_number(template.format(number)).answer == number, template
