"""Reasoning, boxes, free-form answers and Yes/No in generated text."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_boxed, extract_text, extract_yes_no, strip_reasoning

TAGS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<THINK>", "</THINK>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<think >", "</think >"),
    ("< think>", "</ think>"),
    ("＜think＞", "＜/think＞"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ('<think type="long">', "</think>"),
    ("<Scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
    ("<reflection>", "</reflection>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<思考>", "</思考>"),
]


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_reasoning_blocks_are_dropped(opening, closing):
    closed = f"{opening}Is it B?{closing} It is C."
    assert strip_reasoning(closed).answer == "It is C."
    assert strip_reasoning(f"Is it B?{closing}It is C.").answer == "It is C."  # opened by the chat template
    assert strip_reasoning(f"{closed}{opening}or D?{closing} Yes.").answer == "It is C. Yes."
    assert strip_reasoning(f"{opening}a {opening}b{closing} c{closing}C").answer == "C"
    cut = strip_reasoning(f"Well. {opening}Is it B?")
    assert (cut.answer, cut.rule) == ("Well.", "unclosed reasoning")


def test_channels_of_reasoning_models_are_dropped():
    text = "<|channel|>analysis<|message|>Is it B?<|end|><|start|>assistant<|channel|>final<|message|>It is C."
    assert strip_reasoning(text).answer == "It is C."
    assert strip_reasoning(text[:50]).rule == "unclosed reasoning"
    assert strip_reasoning("It is C.").rule == "no reasoning"


def test_the_last_balanced_box_is_read():
    assert extract_boxed(r"\boxed{1} then \boxed{\frac{1}{\sqrt{2}}}.").answer == r"\frac{1}{\sqrt{2}}"
    assert extract_boxed(r"\fbox{42}").answer == "42"
    assert extract_boxed(r"\boxed 3").answer == "3"
    assert extract_boxed(r"\boxed{1} and \boxed{2").answer == "1"  # cut off
    assert extract_boxed(r"\boxed{\{1, 2\}}").answer == r"\{1, 2\}"
    assert extract_boxed("<think>\\boxed{1}").rule == "unclosed reasoning"
    assert extract_boxed("none").rule == "no box"


@pytest.mark.parametrize("answer", ["apple banana cherry", "-7", "> ] )", "1,000", "valid", "北京", "Dr. No"])
@pytest.mark.parametrize(
    "template",
    [
        "{}",
        "{}.",
        "So the answer is {}.",
        "The answer is {}\nMore text.",
        "the final answer is **{}**.",
        "Answer: {}",
        "First the answer is x. Now the answer is {}.",
        "答案是{}。",
        "答案：{}",
        "Thus \\boxed{{{}}} is it.\nBye.",
        "<think>the answer is x.</think>\nThe answer is {}.",
        "The answer is {}.\n\nQ: And then?\nA: The answer is x.",
    ],
)
def test_free_form_answers_are_read_as_they_are_written(template, answer):
    assert extract_text(template.format(answer)).answer == answer


def test_a_text_of_several_lines_without_a_statement_has_no_free_form_answer():
    assert extract_text("First we sort.\nThen we").rule == "no answer"
    assert extract_text("").rule == "empty text"
    assert extract_text("<think>the answer is x").rule == "unclosed reasoning"
    assert extract_text("\\boxed{x").rule == extract_text("\\boxed{}").rule == "no answer"


PAIRS = [
    ("Yes", "No"),
    ("True", "False"),
    ("valid", "invalid"),
    ("是", "否"),
    ("正确", "不正确"),
    ("对", "错"),
    ("是", "不是"),
]
YES_NO = [
    "{x}",
    "{x}.",
    "{x}, because heat flows.",
    "**{x}**",
    "The answer is {x}.",
    "ANSWER: {x}",
    "Answer: {y}\nActually, on reflection...\nANSWER: {x}",
    "\\boxed{{{x}}}",
    "Heat flows downhill.\n\n{x}",
    "答案是{x}。",
    "答案：{x}",
    "<think>{y}</think>{x}",
    "{x}\n\nQuestion: And now?\nAnswer: {y}",
]


@pytest.mark.parametrize("template", YES_NO)
@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
def test_yes_and_no_in_any_words(pair, template):
    yes, no = pair
    for x, y in (pair, pair[::-1]):
        found = extract_yes_no(template.format(x=x, y=y), (yes,), (no,))
        assert found.answer == x, found
        if x.isascii():
            assert extract_yes_no(template.format(x=x.lower(), y=y), (yes,), (no,)).answer == x


@pytest.mark.parametrize(
    "text", ["", "I do not know", "It could be yes or no.", "Nothing known, none at all", "<think>Yes"]
)
def test_neither_yes_nor_no_is_guessed(text):
    assert extract_yes_no(text).answer is None


def test_yes_and_no_must_differ():
    with pytest.raises(ValueError, match="must be different words"):
        extract_yes_no("Yes", ("Yes",), ("yes",))


ANSWERS = ["apple pie", "-7", "{1, 2}", "\\frac{1}{2}", "a < b", "北京"]
TAGGED = [
    "<answer>{}</answer>",
    "<answer>\n{}\n</answer>",
    "First we think.\nThen more.\n<answer>{}</answer>\nThat is all.",
    "<ANSWER> {} </ANSWER>",
    "<final_answer>{}</final_answer>",
    "The answer is x. <answer>{}</answer>",
    "<answer>x</answer> No: <answer>{}</answer>",
    "<answer>{}</answer><answer></answer>",
    "<answer>The answer is {}.</answer>",
    "We think.\nThen:\n<answer>{}",
    "{}</answer>",
    "<think><answer>x</answer></think><answer>{}</answer>",
]


@pytest.mark.parametrize("template", TAGGED)
@pytest.mark.parametrize("answer", ANSWERS)
def test_tags_are_removed_and_their_content_is_preferred(template, answer):
    assert extract_text(template.format(answer)).answer == answer


CONTENTS = [
    "5",
    "x",
    r"\frac{1}{2}",
    r"\{1,2\}",
    r"a\\",
    r"a\\b",
    r"{a}{b}",
    r"\text{if } x > 0",
    r"\sqrt[3]{2}",
    r"\}",
    "1 + {2}",
]


@pytest.mark.parametrize("content", CONTENTS)
def test_boxes_hold_any_braces_and_none_that_is_empty_or_open_counts(content):
    box = f"\\boxed{{{content}}}"
    for template in (
        "{}",
        "So {}.",
        "${}$",
        "\\boxed{{0}} {}",
        "{} \\boxed{{}}",
        "{} \\boxed{{ }}",
        "{} \\boxed{{{{}}}}",
    ):
        assert extract_boxed(template.format(box)).answer == content
    for template in (
        "\\fbox{{{}}}",
        "\\boxed{{\\fbox{{{}}}}}",
        "\\boxed{{\\boxed{{{}}}}}",
        "\\boxed{{{}}} \\boxed{{9",
        "\\boxed {{{}}}",
    ):
        assert extract_boxed(template.format(content)).answer == content
    assert extract_boxed(f"\\boxed{{{content}").rule == "no box"
    for empty in ("\\boxed{}", "\\fbox{ }", "\\boxed{{}}", "\\boxed", "\\boxedx"):
        assert extract_boxed(empty).rule == "no box"
    assert [extract_boxed(text).answer for text in ("\\boxed5", "\\boxed 5", "\\boxed12.")] == ["5", "5", "12"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is no. Hope this helps!", "no"),
        ("So the answer is Yes, it is plausible.", "Yes"),
        ("the answer is invalid: the premise fails", "invalid"),
        ("The answer is Paris. It is the capital of France.", "Paris"),
        ("答案是巴黎。希望有帮助！", "巴黎"),
        ("*Paris*", "Paris"),
        ("The answer is *Paris*.", "Paris"),
        ("The answer is _Paris_", "Paris"),
        ("*Answer: Paris*", "Paris"),
        ("*Answer:* Paris", "Paris"),
        ("The answer is a*", "a*"),
        ("Answer: 5 * 3", "5 * 3"),
        ("The answer is Dr. Smith.", "Dr. Smith"),
        ("The answer is U.S. Army.", "U.S. Army"),
        ("The answer is No. 5", "No. 5"),
        ("The answer is J. K. Rowling. She wrote it.", "J. K. Rowling"),
    ],
)
def test_an_answer_ends_with_its_sentence_and_is_left_without_emphasis(text, answer):
    assert extract_text(text).answer == answer
