"""Mathematical answers that are the same object, and some that are not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sympy = pytest.importorskip("sympy", reason="match='math' needs the extra [math]")

from mindeval.answers._math import Unreadable, equal, parse, same  # noqa: E402
from mindeval.answers.answer import AnswerAccuracy  # noqa: E402

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
    ["2000", r"2 \times 10^3", r"2\cdot 10^{3}", "2e3", "0.2e+4"],
    [r"x^2+2x+1", r"(x+1)^2", r"(1+x)(x+1)"],
    [r"(1, 2)", "(1,2)", r"\left(1, 2\right)", r"(\frac{2}{2}, 2)"],
    [r"\{1, 2\}", r"\{2,1\}", "1, 2", "2 or 1", r"1 \text{ or } 2"],
    [r"\pm 2", r"2, -2", r"\{-2, 2\}"],
    [r"(-\infty, 3]", r"(-\infty,3]"],
    [r"(-\infty,1)\cup(2,\infty)", r"(2,\infty)\cup(-\infty,1)"],
    [r"\sqrt[3]{8}", "2"],
    [r"\sin(x) + 1", r"1+\sin x"],
    ["x=5", "5.0", r"x = \frac{10}{2}"],
    ["60 km per hour", "60 kilometers/hour"],
    [r"7\text{ cm}^2", "7 square centimeters", r"7 \mathrm{cm}^{2}", "7 cm^2"],
    [r"\$6", "6 dollars"],
    ["x=11, y=12", "y=12, x=11"],
    [r"x \in (8, 9)", "(8,9)"],
    ["(1,234)", "(1, 234)"],
    [r"(1{,}234, 5)", "(1234,5)"],
    [r"\sin^2 x", r"\sin(x)^2", r"1 - \cos^2(x)", r"\frac{1-\cos(2x)}{2}"],  # an identity of trigonometry
    ["(a+b+c+d+e)^{30}", "(e+d+c+b+a)^{30}"],
    [r"\frac{1}{\sqrt2+\sqrt3}", r"\sqrt3-\sqrt2"],
    ["6!", "720"],
]


@pytest.mark.parametrize("forms", SAME, ids=lambda forms: forms[0])
def test_forms_of_one_object_are_the_same(forms):
    for one in forms:
        for other in forms:
            assert same(one, other), (one, other)


def test_different_objects_are_not_the_same():
    parsed = [parse(forms[0]) for forms in SAME]
    for first, forms in enumerate(SAME):
        for second, others in enumerate(SAME):
            assert first == second or not equal(parsed[first], parsed[second]), (forms[0], others[0])
    for one, other in [
        ("(1,2)", "(2,1)"),
        ("[1,2)", "[1,2]"),
        ("3", "-3"),
        ("x", "y"),
        ("0.333", r"\frac13"),
        ("1,2", "1,2,2"),
        ("5 cm", "5 km"),
        ("5 cm", r"5\text{ cm}^2"),
        (r"5\text{ cm}^2", "25"),
        (r"\$5", "5 cents"),
        (r"90^\circ", "90 cm"),
        ("x=5", "y=5"),
        ("x=1, y=2", "x=2, y=1"),
        ("f(x)=2", "g(x)=2"),
        ("1,234", "(1,234)"),
        ("1,234", r"\{1,234\}"),
        ("0,123", "123"),
        (r"\infty", r"-\infty"),
        (r"\sqrt{x^2}", "x"),
        ("(a+b+c+d+e)^{30}", "(a+b+c+d+f)^{30}"),
        ("1/3", "0." + "3" * 290),
        (r"\sqrt{2}", "1.4142135623730950488016887242096980785696718753769480731766797379907324784621"),
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
        "9^{9^{9}}",
        "10000000!",
        "3!!!!!",
        "x^{1000000000}",
        r"e^{e^{e^{e^{e}}}}",
        "-" * 280 + "1",
        "(" * 100_000,
        r"\sqrt{" * 40 + "2" + "}" * 40,
        r"\frac{1}{x-x}",
        r"\frac{1}{\sin(\pi)}",
        "9" * 10_000,
        r"5\text{ million}",
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_read_or_is_out_of_bounds_is_said_so(text):
    with pytest.raises(Unreadable):
        parse(text)


LEAVES = st.sampled_from(["x", "y", "2", "3", "7", r"\pi", r"\frac{1}{3}", "0.5"])
OPERATIONS = st.sampled_from(["({}+{})", "({}-{})", "({})({})", r"\frac{{{}}}{{{}+5}}", "({}-{})^2", "({}*{})^{{-1}}"])
EXPRESSIONS = st.recursive(
    LEAVES, lambda inner: st.builds(lambda form, a, b: form.format(a, b), OPERATIONS, inner, inner), max_leaves=5
)


def by_sympy(text):
    """The same notation as SymPy's own, for an exact verdict."""
    for latex, plain in ((r"\frac{1}{3}", "Rational(1,3)"), (r"\pi", "pi"), ("0.5", "Rational(1,2)"), ("^", "**")):
        text = text.replace(latex, plain)
    while r"\frac" in text:
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\*\*\{-1\}", "**(-1)", text)
    text = re.sub(r"\*\*\{-1\}", "**(-1)", text)
    return sympy.sympify(
        re.sub(r"(?<=[\w)])\(", "*(", text.replace("Rational(", "Rational<")).replace("Rational<", "Rational(")
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(EXPRESSIONS, EXPRESSIONS)
def test_expressions_are_compared_as_sympy_compares_them(one, other):
    try:
        first, second = parse(one), parse(other)
    except Unreadable:
        return
    assert equal(first, second) == (sympy.simplify(by_sympy(one) - by_sympy(other)) == 0)
    doubled = parse(f"2({one}) - ({one})")
    assert equal(first, doubled)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(list("0123456789xe+-*/^(){}[]|,!=_. ") + [r"\frac", r"\sqrt", r"\sin", r"\ln", "9^{9", "999!"])
    )
)
def test_any_text_is_read_or_refused(pieces):
    text = "".join(pieces)
    try:
        answer = parse(text)
    except Unreadable:
        return
    assert equal(answer, parse(text))


def test_work_is_bounded_for_nested_and_repeated_notation():
    for text in (
        r"2\frac{" * 20 + "1" + "}{x}" * 20, "f(" * 29 + "x" + ")" * 29, "x" + "!" * 200, r"\binom{999}{499}" * 18,
        ",".join([r"\pm1"] * 60), r"\lfloor x\rfloor" * 18, "0." + "1" * 100 + r"\overline{" + "7" * 150 + "}",
    ):  # fmt: skip
        try:
            parse(text)
        except Unreadable:
            continue
    with pytest.raises(Unreadable):
        parse(r"\binom{100000}{5}")


def test_the_metric_reads_boxes_statements_and_counts_the_unreadable():
    metric = AnswerAccuracy("math")
    texts = [r"So \boxed{\frac{2}{4}}.", "The answer is 0.5.", r"The answer is $1/2$", "the answer is 9^9^9^9", "3"]
    metric.update(texts, [r"\frac12"] * 5)
    assert metric.eval() == 3 / 5
    assert metric.result()["invalid"] == {"unreadable": 1}
