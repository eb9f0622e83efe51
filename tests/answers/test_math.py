"""Mathematical answers that are the same object, and some that are not."""

from __future__ import annotations

import pytest

pytest.importorskip("sympy", reason="match='math' needs the extra [math]")

from mindeval.answers._math import Unreadable, parse, same
from mindeval.answers.answer import AnswerAccuracy

SAME = [
    [
        "1/2",
        "0.5",
        r"\frac{1}{2}",
        r"\dfrac{2}{4}",
        r"\frac12",
        r"$\frac{1}{2}$",
        r"\boxed{\frac{1}{2}}",
        r"x = \frac12",
        "50/100",
    ],
    [r"\sqrt{12}", r"2\sqrt{3}", r"\sqrt{3}\cdot 2", r"\frac{6}{\sqrt{3}}", r"2\sqrt3", "2*sqrt(3)"],
    [r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}", r"\sqrt{\frac{1}{2}}"],
    [r"\frac{\pi}{4}", r"\pi/4", r"0.25\pi", "pi/4"],
    ["5/2", r"2\frac{1}{2}", "2.5", r"\frac{5}{2}\text{ cm}"],
    ["1234", "1,234", r"1{,}234", "1234.", r"\$1234"],
    ["90", r"90^\circ", r"90°", "90 degrees"],
    ["2000", r"2 \times 10^3", r"2\cdot 10^{3}"],
    [r"x^2+2x+1", r"(x+1)^2", r"(1+x)(x+1)"],
    [r"(1, 2)", "(1,2)", r"\left(1, 2\right)", r"(\frac{2}{2}, 2)"],
    [r"\{1, 2\}", r"\{2,1\}", "1, 2", "2 or 1", r"1 \text{ or } 2"],
    [r"\pm 2", r"2, -2", r"\{-2, 2\}"],
    [r"(-\infty, 3]", r"(-\infty,3]"],
    [r"(-\infty,1)\cup(2,\infty)", r"(2,\infty)\cup(-\infty,1)"],
    [r"\sqrt[3]{8}", "2"],
    [r"\sin(x) + 1", r"1+\sin x"],
]


@pytest.mark.parametrize("forms", SAME, ids=lambda forms: forms[0])
def test_forms_of_one_object_are_the_same(forms):
    for one in forms:
        for other in forms:
            assert same(one, other), (one, other)


def test_different_objects_are_not_the_same():
    for first, forms in enumerate(SAME):
        for second, others in enumerate(SAME):
            assert first == second or not same(forms[0], others[0]), (forms[0], others[0])
    for one, other in [
        ("(1,2)", "(2,1)"),
        ("[1,2)", "[1,2]"),
        ("3", "-3"),
        ("x", "y"),
        ("0.333", r"\frac13"),
        ("1,2", "1,2,2"),
    ]:
        assert not same(one, other), (one, other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9^9^9^9",
        "2^{100000000}",
        r"\frac{1}{0}",
        "1 +",
        "(1",
        "__import__('os')",
        "(" * 50 + "1" + ")" * 50,
        "x" * 400,
        "@",
    ],
)
def test_what_cannot_be_read_or_is_out_of_bounds_is_said_so(text):
    with pytest.raises(Unreadable):
        parse(text)


def test_the_metric_reads_boxes_statements_and_counts_the_unreadable():
    metric = AnswerAccuracy("math")
    texts = [r"So \boxed{\frac{2}{4}}.", "The answer is 0.5.", r"The answer is $1/2$", "the answer is 9^9^9^9", "3"]
    metric.update(texts, [r"\frac12"] * 5)
    assert metric.eval() == 3 / 5
    assert metric.result()["invalid"] == {"unreadable": 1}
