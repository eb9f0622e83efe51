"""Several right options, each named with its text: all of the list are chosen, and no option that is only spoken of."""

from __future__ import annotations

import itertools

import pytest

from mindeval.answers.extraction import extract_choice

TEXTS = {"A": ("copper", "铜"), "B": ("iron", "铁"), "C": ("zinc", "锌"), "D": ("tin", "锡")}
CHOSEN = [labels for size in (1, 2, 3) for labels in itertools.combinations("ABCD", size)]
# before the list, between its items, and an item with its language
LISTS = {
    "lines": ("The correct answers are:\n\n", "\n", "{label}. {text}", 0),
    "bold items": ("The correct answers are:\n\n", "\n", "- **{label}.** {text}", 0),
    "brackets": ("The correct answers are:\n", "\n", "({label}) {text}", 0),
    "behind a colon": ("Answer: ", "\n", "{label}) {text}", 0),
    "and": ("Answer: ", " and ", "{label}. {text}", 0),
    "texts in brackets": ("The answers are ", ", ", "{label} ({text})", 0),
    "a sentence": ("The answers are ", ", and ", "({label}) {text}", 0),
    "正确答案": ("正确答案是：\n\n", "\n", "{label}. {text}", 1),
    "答案": ("答案：", "\n", "{label}、{text}", 1),
    "和": ("答案是", "和", "{label}（{text}）", 1),
}


@pytest.mark.parametrize("end", ["", "\n\nExplanation: see the table of elements."])
@pytest.mark.parametrize("labels", CHOSEN, ids="".join)
@pytest.mark.parametrize("form", LISTS)
def test_all_options_of_a_list_are_chosen(form, labels, end):
    before, between, item, language = LISTS[form]
    listed = between.join(item.format(label=label, text=TEXTS[label][language]) for label in labels)
    assert extract_choice(before + listed + end, multiple=True).answer == "".join(labels)


@pytest.mark.parametrize(
    "said",
    [
        "{0}. {1}\n{2} is wrong.",
        "{0}. {1}\n{2}. {3} is not a metal.",
        "{0}. {1}, not {2}. {3}.",
        "{0}\n\n{2}. wrong",
        "{0}. {1} rusts, and {2}. {3} does not rust.",
        "{0}. {1}\n{2}项错误。",
    ],
)
@pytest.mark.parametrize(("right", "other"), itertools.permutations("ABCD", 2))
def test_an_option_that_is_spoken_of_is_not_listed(said, right, other):
    text = said.format(right, TEXTS[right][0], other, TEXTS[other][0])
    assert extract_choice(f"Answer: {text}", multiple=True).answer in (right, None)
    assert extract_choice(f"Answer: {text}").answer in (right, None)
