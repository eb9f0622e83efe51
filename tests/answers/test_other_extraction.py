"""Reasoning, boxes, free-form answers, Yes/No and code in generated text."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_boxed, extract_code, extract_text, extract_yes_no, strip_reasoning

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


BODY = "    total = 0\n    for x in xs:\n        total += x\n    return total\n"
PROMPT = 'def total(xs):\n    """Sum of xs."""\n'
TEST = "\nassert total([1, 2, 3]) == 6\n"


def works(program: str) -> bool:
    exec(program + TEST, {})
    return True


@pytest.mark.parametrize("before", ["", "Here it is:\n\n", "<think>def total(xs): pass\n</think>"])
@pytest.mark.parametrize("fence", ["```python", "```py", "```", "~~~python", "``` Python"])
@pytest.mark.parametrize("after", ["", "\nHope it helps.", "\n```text\n6\n```\n"])
def test_fenced_functions_run(before, fence, after):
    close = fence[:3]
    text = f"{before}{fence}\n{PROMPT}{BODY}{close}{after}"
    assert works(extract_code(text).answer)
    assert works(extract_code(text, entry_point="total").answer)


TAILS = {
    "nothing": "",
    "a main block": "\n\ndef main():\n    print(total([1]))\n\nif __name__ == '__main__':\n    main()\n",
    "a call": "\nprint(total([1, 2]))\n",
    "a fence": "```\nThat is all.\n",
    "words": "\nThis sums the list.\n",
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
@pytest.mark.parametrize("lost", [0, 1, 2, 4])
def test_completions_run_after_their_prompt(lost, tail):
    code = extract_code(BODY[lost:] + tail, entry_point="total", completion=True).answer
    assert works(PROMPT + code)
    spaces = extract_code((BODY + tail).replace("    ", "\u00a0" * 4), entry_point="total", completion=True).answer
    assert works(PROMPT + spaces)


def test_a_completion_that_repeats_the_function_is_kept_whole():
    text = f"```python\n{PROMPT}{BODY}```"
    assert works(extract_code(text, entry_point="total", completion=True).answer)


def test_the_block_that_defines_the_function_is_taken():
    first, second = "```python\nx = 1\n```\n", f"```python\n{PROMPT}{BODY}\nprint(total([]))\n```\n"
    for text in (first + second, second + first):
        assert works(extract_code(text, entry_point="total").answer)
    assert extract_code(first + second).answer == "x = 1\n"


def test_driver_code_and_later_questions_are_left_out_but_helpers_are_kept():
    helper = "def double(x):\n    return 2 * x\n"
    text = "def total(xs):\n    return sum(map(double, xs)) // 2\n\n" + helper + "\nraise SystemExit\n"
    assert works(extract_code(text, entry_point="total").answer)
    assert works(extract_code(helper + "\n" + PROMPT + BODY + "\nassert False\n", entry_point="total").answer)


def test_no_code_is_said_so():
    assert extract_code("<think>def f(): pass").rule == "unclosed reasoning"
    assert extract_code("").rule == "no code"
    assert extract_code("```json\n{}\n```").rule == "no code"
