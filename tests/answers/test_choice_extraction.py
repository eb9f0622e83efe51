"""The option that a text chooses: every kind of phrasing, generated from templates x letters x wrappers."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice

# {x} is the chosen letter, {y} and {z} are two others; the text chooses {x} by the plain meaning of its words.
ENGLISH = [
    "The answer is {x}",
    "The answer is {x}.",
    "the correct answer is {x}, because it conserves energy.",
    "The final answer is: {x}",
    "The correct option is {x}.",
    "The best choice would be {x}.",
    "My answer: {x}",
    "Answer: {x}",
    "ANSWER: {x}\nLet me know if you need more.",
    "Answer - {x}",
    "Answer {x}",
    "Thus, the answer must be {x}.",
    "The answer is therefore {x}",
    "The answer, therefore, is {x}.",
    "The answer to this question is {x}.",
    "The correct answer among the options is {x}.",
    "I would choose {x}.",
    "I'd go with {x} here.",
    "I pick {x} over {y}.",
    "I select option {x}.",
    "{x}",
    "{x}.",
    "{x})",
    "{x}: it conserves energy",
    "{x}, since heat flows downhill.",
    "{x} is correct.",
    "Option {x} is the correct one.",
    "Option {x}",
    "As the DNA shows, option {x}",
    "It's {x}.",
    "Hence {x}.",
    "Let's think. The heat flows downhill.\n\n{x}",
    "{y} is wrong. {z} is incorrect. {x} is correct.",
    "It's not {y}. It's {x}.",
    "It's not {y} because it makes no sense, therefore I think it's {x}",
    "The answer is not {y} but {x}.",
    "The answer isn't {y}; the answer is {x}.",
    "We can rule out {y} and {z}. The answer is {x}.",
    "The answer is {x}, not {y}.",
    "The answer is {x}; {y} is a distractor.",
    "Answer: {x} is right, {y} and {z} are wrong.",
    "{x}. It can't be {y} or {z}.",
    "{x}. Both {y} and {z} are true.",
    "Ans. {x}",
    "None of {y} or {z} fits; the answer is {x}",
    "Everyone picks {y}, but the answer is {x}.",
    "At first the answer seems to be {y}. Wait, heat flows downhill, so the answer is {x}.",
    "ANSWER: {y}\nWait, that is wrong.\nANSWER: {x}",
    "Answer: {y}. Actually, it is {x}.",
    "Is it {y}? No. It is {x}.",
    "Is the answer {y}? The answer is {x}.",
    "If the answer were {y}, the mass would vanish. So the answer is {x}.",
    "The answer might be {y}. After checking, the answer is {x}.",
    "{x}\n\nQuestion: What is heat?\nA. a\nB. b\nAnswer: {y}",
    "The answer is {x}.\n\nQ: What is heat?\nA: The answer is {y}.",
    "<think>Maybe {y}. The answer is {y}.</think>The answer is {x}.",
    "the answer is {y}</think>{x}",
    "A. one\nB. two\nC. three\nD. four\nAnswer: {x}",
    "I think the answer is {x}",
    "I think it is {x}",
    "A careful reading shows that the answer is {x}.",
    "The answer is a tricky one: the correct answer is {x}.",
]
CHINESE = [
    "答案是{x}",
    "答案：{x}",
    "答案为{x}。",
    "答案选{x}",
    "答案应该是{x}。",
    "正确答案是{x}。",
    "正确答案：{x}",
    "本题的正确选项是{x}",
    "因此答案是{x}，因为{y}是错的",
    "故选{x}",
    "故选：{x}。",
    "所以选{x}",
    "应选{x}。",
    "综合以上分析，应选 {x}",
    "我选择{x}",
    "我選擇 {x}",
    "選項{x}是正確的",
    "{x}",
    "{x}。",
    "{x}。不是 {y}",
    "{x}不是 {y}",
    "{x}项正确，{y}项把时间写错了。",
    "{x}是正确的",
    "选项{x}正确",
    "只有{x}正确。",
    "只有选项{x}是对的。",
    "{y}错误，{z}错误，{x}正确",
    "{y}错误，{z}不正确，故选{x}",
    "选项{y}把因果说反了，选项{z}缺少条件，只有选项{x}是对的。",
    "不选{y}，应选{x}",
    "不是{y}，而是{x}。",
    "答案不是{y}，而是{x}",
    "排除{y}和{z}，选{x}",
    "正确的是{x}",
    "符合题意的是{x}",
    "如果选{y}，质量就消失了，所以答案是{x}。",
    "答案是{y}吗？答案是{x}。",
    "答案可能是{y}。经过检验，答案是{x}。",
    "答案是{y}。等等，算错了。答案是{x}。",
    "{x}\n\n问题：下列说法正确的是\n答案：{y}",
    "由于热量向下流动，\n因此\n{x}",
    "这道题的答案显然是{x}",
]
WRAPPERS = {
    "bare": "{}",
    "round": "({})",
    "bold": "**{}**",
    "bold in brackets": "**({})**",
    "brackets in bold": "(**{}**)",
    "square": "[{}]",
    "quoted": '"{}"',
    "latex": "${}$",
    "text macro": "\\text{{{}}}",
    "code": "`{}`",
    "full-width brackets": "（{}）",
    "corner": "【{}】",
}
BOXES = [
    "\\boxed{{{}}}",
    "$\\boxed{{{}}}$",
    "\\boxed{{\\text{{{}}}}}",
    "$$\\boxed{{\\text{{({})}}}}$$",
    "\\fbox{{{}}}",
    "<answer>{}</answer>",
]
FULL_WIDTH = {letter: chr(ord(letter) + 0xFEE0) for letter in "ABCD"}


def others(letter: str) -> tuple[str, str]:
    rest = [other for other in "ABCD" if other != letter]
    return rest[ord(letter) % 3], rest[(ord(letter) + 1) % 3]


def fill(template: str, letter: str, wrapper: str = "{}") -> str:
    y, z = (wrapper.format(other) for other in others(letter))
    return template.format(x=wrapper.format(letter), y=y, z=z)


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("template", ENGLISH + CHINESE)
def test_each_phrasing_is_read_in_each_wrapper(template, wrapper):
    for letter in "ABCD":
        text = fill(template, letter, wrapper)
        assert extract_choice(text).answer == letter, text


@pytest.mark.parametrize("template", CHINESE)
def test_full_width_letters_are_read(template):
    for letter in "ABCD":
        text = fill(template, letter).translate({ord(plain): wide for plain, wide in FULL_WIDTH.items()})
        assert extract_choice(text, language="zh").answer == letter, text


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize(
    "template", ["{}", "So {}.", "The answer is {}", "因此 {}。", "First B, then D are checked.\n{}"]
)
def test_boxed_and_tagged_answers_are_read(template, box):
    for letter in "ABCD":
        assert extract_choice(template.format(box.format(letter))).answer == letter


@pytest.mark.parametrize(
    "template",
    ["The answer is {x}.", "Answer: {x}", "answer: ({x})", "({x})", "{x}", "{x})", "the correct option is {x}"],
)
def test_lower_case_letters_are_read_where_they_stand_for_themselves(template):
    for letter in "abcd":
        assert extract_choice(template.format(x=letter)).answer == letter.upper()


NO_ANSWER = [
    "",
    "   \n",
    "no valid answer here",
    "The answer is a dog.",
    "I am not sure.",
    "A dog is an animal.",
    "As an AI model I cannot say.",
    "The answer is not {x}.",
    "It isn't {x}.",
    "不选{x}",
    "{x}错误",
    "{x} is wrong.",
    "排除{x}",
    "Is it {x}?",
    "答案是{x}吗？",
    "If the answer is {x}, then the mass vanishes.",
    "如果答案是{x}，那么质量就会消失。",
    "答案：以上都不确定",
    "The answer is {x} or {y}.",
    "Answer: {x} and {y}",
    "答案是{x}或{y}",
    "ANSWER: A B C D are all plausible",
    "{x}\n{y}\n{z}",
    "The incorrect option is {x}.",
    "Neither {x} nor {y} is right.",
    "{x}. Because {y} is correct.",
    "错误的是{x}",
    "The answer is {x}. Wait, that is wrong.",
    "The answer is {x}. On reflection, {x} is wrong.",
    "<think>The answer is {x}",
    "Vitamin {x} dissolves in fat, as does vitamin {y}.",
    "ANSWER: [LETTER]",
    "Answer: Let's think step by step.",
    "A. one\nB. two\nC. three\nD. four",
    "答案是",
]


@pytest.mark.parametrize("template", NO_ANSWER)
def test_nothing_is_guessed_where_nothing_is_chosen(template):
    for letter in "BCD":
        text = fill(template, letter)
        assert extract_choice(text).answer is None, text


def test_article_and_pronoun_are_not_options():
    labels = "ABCDEFGHIJ"
    assert extract_choice("I think it is C", labels).answer == "C"
    assert extract_choice("A number is prime. I conclude: (J).", labels).answer == "J"
    assert extract_choice("Answer: I", labels).answer == "I"
    assert extract_choice("The answer is I.", labels).answer == "I"
    assert extract_choice("Answer: I'd say it depends", labels).answer is None
    assert extract_choice("Answer: I think so", labels).answer is None
    assert extract_choice("A", labels).answer == "A"


def test_closed_reasoning_is_read_only_where_nothing_visible_is_said():
    assert extract_choice("The answer is B.</think>ANSWER: [LETTER]").answer == "B"
    assert extract_choice("The answer is B.</think>C").answer == "C"
    assert extract_choice("<think>The answer is B.").rule == "unclosed reasoning"
