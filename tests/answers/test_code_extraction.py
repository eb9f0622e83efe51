"""Python code in generated text."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_code

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


SPREAD = {
    "plain": "{}",
    "indented": "   {}",
    "deeply indented": "        {}",
    "with a tab": "\t{}",
    "in a list": "1. Do this:\n\n   {}",
    "quoted": "> {}",
}
INFOS = ["", "python", "Python", "py", "python3 title=x", "{.python}", "python:main.py", " python", "python {1,3}"]


@pytest.mark.parametrize("place", SPREAD)
@pytest.mark.parametrize("fence", ["```", "````", "~~~", "~~~~~"])
def test_fences_of_any_length_place_and_info_string_hold_code(place, fence):
    head, _, prefix = SPREAD[place].replace("{}", "").rpartition("\n")
    for info in INFOS:
        for close in (f"\n{fence}\nThat is all.", ""):
            block = f"{fence}{info}\n{PROMPT}{BODY}{close}"
            text = f"{head}\n" + "\n".join(prefix + line for line in block.split("\n"))
            assert works(extract_code(text).answer), text
            assert works(extract_code(text, entry_point="total").answer), text


def test_a_longer_fence_holds_shorter_ones_and_strings_may_hold_fences():
    body = PROMPT + "    note = '''\n```\nno end\n```\n'''\n" + BODY
    assert works(extract_code(f"````python\n{body}````\n").answer)
    assert works(extract_code(f"```python\n{body}```\nThat is all.").answer)


WANTED = {
    "function": ("def total(xs):\n    return sum(xs)\n", "total"),
    "decorated": (
        "import functools\n\n@functools.lru_cache\ndef one():\n    return 1\n\n"
        "def total(xs):\n    return sum(xs) * one()\n",
        "total",
    ),
    "async": (
        "async def later(xs):\n    return sum(xs)\n",
        "later",
    ),
    "class": ("class Total:\n    def of(self, xs):\n        return sum(xs)\n\n\ntotal = Total().of\n", "total"),
    "lambda": ("total = lambda xs: sum(xs)\n", "total"),
    "string at the margin": ("def total(xs):\n    s = '''\nno indent\n'''\n    return sum(xs)\n", "total"),
    "draft before": ("def total(xs):\n    return 0\n\n\ndef total(xs):\n    return sum(xs)\n", "total"),
    "inner namesake": (
        "def outer():\n    def total(xs):\n        return 0\n\n\ndef total(xs):\n    return sum(xs)\n",
        "total",
    ),
}
AROUND = [
    "{}",
    "```python\n{}```",
    "Here it is:\n\n{}",
    "```python\n{}\nassert False\n```",
    "{}\nprint(total([1]))\nraise SystemExit\n",
    "{}\nThat is all, folks.\n",
    "```python\ndef other():\n    pass\n```\n```python\n{}```\n```python\nprint(total([]))\n```",
    "```\n6\n```\n```python\n{}```",
    "```text\nhello\n```\n~~~py\n{}~~~",
]


@pytest.mark.parametrize("template", AROUND)
@pytest.mark.parametrize("kind", WANTED)
def test_the_entry_point_decides_what_is_kept(kind, template):
    code, name = WANTED[kind]
    found = extract_code(template.format(code), entry_point=name).answer
    if name == "total":
        assert works(found), found
    else:
        assert found.startswith("async def later") and "assert" not in found and "print" not in found


def test_a_class_is_an_entry_point_too_and_names_are_compared_as_a_whole():
    code = "class Stack:\n    def push(self, x):\n        pass\n"
    assert extract_code(f"```python\n{code}\ns = Stack()\ns.push(1)\n```", entry_point="Stack").answer == code.rstrip(
        "\n"
    )
    text = f"```python\ndef total_of_all(xs):\n    return 0\n```\n```python\n{PROMPT}{BODY}```"
    assert works(extract_code(text, entry_point="total").answer)
