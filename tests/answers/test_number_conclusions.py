"""Texts that end without stating an answer: only what the main clause of the last sentence asserts may be read. Each
text says plainly, to a reader, that {a} is concluded, or that no single number is; {b} is never the answer."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_number

PAIRS = [("16", "3"), ("128", "7"), ("30", "12"), ("5", "40"), ("2.5", "4")]
WRAPPERS = [
    "{}",
    "**{}**",
    "We think about it.\n\n{}",
    "{}\n",
    "<think>99</think>{}",
    "Step 1: we add.\n\n{}",
]

# The number of a tail, {b}, is never read; {a} may be.
TAILS = {
    "remainders": [
        "He can buy {a} books and will have ${b} left over.", "He can fill {a} boxes, with {b} eggs remaining.",
        "So each friend gets {a} cookies, with {b} left over.", "He can fill {a} boxes and has {b} eggs left.",
        "He can buy {a} books, leaving him with ${b}.", "She can buy {a} pens; she has ${b} left.",
        "She can buy {a} pens. She has ${b} left.", "She can buy at most {a} pens, and she'll have ${b} left.",
        "They can seat {a} guests per table, with {b} guests standing.",
        "He can cut {a} pieces, leaving {b} cm unused.",
        "每人分得{a}个，还剩{b}个。", "每人{a}个，余{b}个。", "可以装{a}箱，还剩{b}个。",
        "最多能买{a}本，还剩{b}元。",
        "{a}袋，多出{b}个。", "可以剪{a}段，剩余{b}米。", "最多能用{a}张，还剩{b}张。",
    ],
    "conversions": [
        "It takes {a} minutes, which is {b} hours.", "It takes {a} minutes, i.e. {b} hours.",
        "That is {a} seconds, or {b} minutes.", "The film lasts {a} hours, that is, {b} minutes.",
        "That means the jug holds {a} ounces, which is {b} cups.", "The answer is {a} minutes = {b} hours.",
        "一共需要{a}分钟，也就是{b}小时。", "一共需要{a}分钟，即{b}小时。", "总共{a}小时，折合{b}天。",
        "周长{a}米，相当于{b}千米。",
    ],
    "breakdowns": [
        "There are {a} pupils, of whom {b} are girls.", "A total of {a} people came, {b} of them children.",
        "{a} cars were parked; {b} were blue.", "Mia baked {a} pies. Of these, {b} were burnt.",
        "So he needs {a} buses; the last bus carries only {b} students.",
        "It takes {a} trucks. The third carries {b} crates.",
        "The total number of students is {a}. Class A has {b}.",
        "She needs {a} cups. Here is the breakdown: {b} cups of flour.",
        "一共有{a}人，其中男生{b}人。", "一共有{a}人，男生{b}人。", "全班{a}人参加，其中女生{b}人。",
        "每排坐{a}人，最后一排坐{b}人。",
        "因此{a}名同学参加了比赛，共{b}场。", "所以一共有{a}人参加了{b}项活动。",
    ],
    "other times, and what is known": [
        "She has {a} apples left. She started with {b}.", "She has {a} apples left from the original {b}.",
        "She has {a} apples. If she had bought more, she would have {b}.",
        "Tom is {a} years old. He will be {b} in May.",
        "Tom is {a} years old and will be {b} in May.", "Tom is {a} years old, and he'll be {b} next year.",
        "He has {a} cards, up from {b} last week.", "The car costs ${a}, down from ${b}.",
        "他现在{a}岁，几年后{b}岁。",
        "Tina is {a} years older than Lily, who is {b}.", "He ate {a} more apples than Jerry's {b}.",
        "Kim is {a} cm taller than Ed, whose height is {b} cm.", "She has {a} apples left out of {b}.",
        "Tim bought {a} pens, paying ${b} for them.", "He worked {a} hours, {b} fewer than usual.",
        "There were {a} cookies before Dan ate {b}.", "The loan is ${a}, to be paid over {b} months.",
    ],
    "other people": [
        "She saved ${a}. Her brother saved ${b}.", "Lena ran {a} laps while Joe ran {b}.",
        "The bus holds {a} people; the car holds {b}.",
        "Nora picked {a} apples and Sue picked {b}.", "平均分是{a}分，最高分是{b}分。",
        "小明现在{a}岁，小红现在{b}岁。",
    ],
    "other parts": [
        "The answer is {a}. (The answer to part b is {b}.)",
        "The answer is {a}. In the previous problem, the answer was {b}.",
        "(a) The answer is {b}.\n(b) The answer is {a}.", "Part 1: The answer is {b}.\n\nPart 2: The answer is {a}.",
        "The first answer is {b}. The second answer is {a}.", "The answer to (a) is {b}; the answer to (b) is {a}.",
        "(1) \\boxed{{{b}}}\n(2) \\boxed{{{a}}}", "1. The answer is {b}.\n2. The answer is {a}.",
        "第1问的答案是{b}，第2问的答案是{a}。", "The answer is {a}. For part (c), the answer is {b}.",
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", TAILS)
def test_the_number_of_a_tail_is_never_read(kind):
    for template in TAILS[kind]:
        for a, b in PAIRS:
            for wrapper in WRAPPERS:
                found = extract_number(wrapper.format(template.format(a=a, b=b)))
                assert found.answer in (None, a), (template, a, b, found)


# Both numbers have the same right to be the answer.
SEVERAL = [
    "Tom: {a}, Jerry: {b}", "Tom = {a}, Jerry = {b}", "Red: {a}, Blue: {b}", "mean = {a}, median = {b}",
    "min: {a}, max: {b}",
    "Length = {a} cm, width = {b} cm", "小明：{a}，小红：{b}", "甲{a}，乙{b}", "Tom has {a}. Jerry has {b}.",
    "Tom has {a}; Jerry has {b}.", "{a} (Tom), {b} (Jerry)", "{a} and then {b}", "(1) {a} (2) {b}", "a) {a} b) {b}",
    "（1）{a}（2）{b}", "The quotient is {a} and the remainder is {b}.", "Mon {a}, Tue {b}, Wed 9",
    "a = {a}, b = {b}, c = 16",
    "Answer: Tom {a}, Jerry {b}", "The roots are {a} and {b}.", "小王得了{a}分，小李得了{b}分。",
    "It depends on the size: {a} for each.",
    "Error {a}", "Either {a} or {b} works.", "Room {a}, floor {b}.", "If we had {a} more, we'd have {b}.",
    "We don't have enough data: only {a} values are given.",
    "He needs {a} feet because 40 + 30 = {b}", "需要{a}米，因为40+30={b}。",
    "The minimum is {a} and the maximum is {b}.",
    "(a) The answer is {a}.\n(b) The answer is {b}.",
    "The first answer is {a}. The second answer is {b}.", "The answer to (a) is {a}; the answer to (b) is {b}.",
]  # fmt: skip


@pytest.mark.parametrize("template", SEVERAL)
def test_of_several_numbers_with_equal_rights_none_is_read(template):
    for a, b in PAIRS:
        assert extract_number(template.format(a=a, b=b)).answer is None


# The main clause asserts {a}, and {b} is known, a circumstance, or what {a} was made from.
ASSERTED = [
    "There are {a} apples in the {b} baskets.", "Each of the {b} friends gets {a} cookies.",
    "The {b} friends each get {a} candies.",
    "He gets ${a} back from his ${b} bill.", "He saves ${a} on a ${b} purchase.",
    "He has ${a} remaining out of ${b}.",
    "Thus, it takes {a} days for the snail to climb out of the {b}-foot well.",
    "There are {b} * 6 = {a} ways to arrange the {b} books.",
    "She has 4 * {b} = {a} pens to share with {b} friends.",
    "So he needs 9 - {b} = {a} more cows to feed {b} people.",
    "Kelly paid 900 - {b} = ${a} more than Becky.", "Tina pays ${a} more than Lily.",
    "Julie sold {a} more glasses than Micah.",
    "{a} apples out of {b} are red.", "John will have saved ${a} by the end of {b} weeks.",
    "He spent ${a} on {b} apples.",
    "The sum of {b} and 4 is {a}.", "{b} and 4 add up to {a}.", "Solving 2x + 4 = 24 gives x = {a}.",
    "2x + 4 = 24 ⟹ x = {a}",
    "By 2020, there were {a} of them.", "He had {b} pens and lost some, so he has {a} now.",
    "It fell by {b}, so it is now {a}.",
    "He gave away {b} and has {a} left.", "She spent ${b} and has ${a} left.", "小明用了{b}元，还剩{a}元。",
    "小明原来有{b}支，现在有{a}支。",
    "小明有{b}支，小红有6支，一共有{a}支。", "{b} × 4 = {a}\n\nMaria has {a} marbles.",
    "{b}×4={a}（元）\n每支钢笔{a}元。",
    "The total cost is Rs {a}/-.", "First {b} × 4 = 12, and 2 are red.\n\n## Result\n\n{a}",
    "Verdict: **{a} apples**",
    "Her total savings after {b} months: ${a}.", "六年级植树{a}棵，比五年级多{b}棵。",
    "Since his weight was {b} pounds, he is 70 - 30 = {a} now.", "In total, they are using {b} + 72 = {a} candles.",
    "Then 20 / {b} = {a} days for its height to be 600 inches.", "He needs {a} because 40 + {b} = {a}.",
    "The discount is ${a} off.", "### Final Answer\n\nJohn is **{a} miles** from home at the end of those {b} hours.",
    "Hence {a} buses are required for the {b} students.", "Each child gets {a} candies and {b} are left over.",
    "The train travels at {a} km/h between stations 1 and 2.",
]  # fmt: skip


@pytest.mark.parametrize("template", ASSERTED)
def test_what_the_main_clause_asserts_is_read(template):
    for a, b in PAIRS:
        if "Rs" in template and "." in a:
            continue
        for wrapper in ("{}", "We think about it.\n\n{}"):
            found = extract_number(wrapper.format(template.format(a=a, b=b)))
            assert found.answer == a, (template, a, b, found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Thus, Tom has five apples left.", "5"), ("答：一共六个。", "6"), ("六个。", "6"), ("**Five**", "5"),
        ("So twenty-five students remain.", "25"), ("所以小明有十五支铅笔。", "15"),
        ("In total, three hundred and five people came.", "305"), ("Thus he has no more than five apples.", None),
        ("So it is not five.", None), ("So there are two of them.", None),
        ("So the two numbers are different.", None),
        ("Is it five?", None), ("So they have five or six.", None), ("所以两个数都是正数。", None), ("一样", None),
        ("There are two ways to see it.", None), ("综上所述，三角形是等边的。", None),
        ("So one of them is red.", None),
    ],
)  # fmt: skip
def test_words_are_read_where_a_text_without_digits_concludes_with_them(text, value):
    assert extract_number(text).answer == value


REPEATED = [
    "\r\n", " \n", "```\n", "\t", "\n \n", "\u3000", "\\(", "## 5\n", "…", "...5", ":", "5:", "####", "答案", "<br>",
    "1. x\n", "5, ",
    "so 5 ", "Tom: 5\n", "\x0b",
]  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_texts_that_repeat_a_piece_without_end_are_read(piece):
    for text in ("{}", "The answer is 7. {}"):
        assert extract_number(text.format(piece * (16000 // len(piece)))).answer in (None, "5", "7")
