"""Notation of mathematical answers: words, mixed numbers, functions, names, and what cannot be read.

The right values come from SymPy, from fractions, or from what the notation means.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

sympy = pytest.importorskip("sympy", reason="match='math' needs the extra [math]")

from mindeval.answers._math import Notation, Unreadable, parse, read, same  # noqa: E402
from mindeval.answers.answer import AnswerAccuracy  # noqa: E402


def is_right(answer: str, reference: str) -> bool:
    """The metric's verdict in both directions, which must agree."""
    verdicts = [
        AnswerAccuracy("math")([rf"\boxed{{{a}}}"], [b]) == 1.0 for a, b in ((answer, reference), (reference, answer))
    ]
    assert verdicts[0] == verdicts[1], (answer, reference)
    return verdicts[0]


WRAPPERS = [
    "{}",
    r"\text{{{}}}",
    r"\textbf{{{}}}",
    r"\mathrm{{{}}}",
    r"\text{{ {}}}",
    r"\text{{{}.}}",
    r"\{{\text{{{}}}\}}",
]


@pytest.mark.parametrize("word", ["no", "east", "ABCD", "silent", "iii", "pine", "Odd"])
def test_words_are_no_products_of_letters(word):
    anagrams = {"".join(letters) for letters in itertools.islice(itertools.permutations(word), 40)} - {word}
    for one, other in itertools.product(WRAPPERS, WRAPPERS[:2]):
        assert same(one.format(word), other.format(word)), (one, other)
        for anagram in sorted(anagrams)[:6]:
            assert not same(one.format(word), other.format(anagram)), (one, other, anagram)
    assert same(rf"\text{{{word.lower()}}}", rf"\text{{{word.capitalize()}}}")


def test_letters_are_words_beside_words_and_products_beside_expressions():
    for one, other in [
        ("xy", r"x\cdot y"),
        ("abc", r"\frac{2abc}{2}"),
        (r"\text{no solution}", "No solution"),
        ("AB", "AB"),
    ]:
        assert is_right(one, other), (one, other)
    for one, other in [
        ("ii", "-1"),
        ("AB", "ab"),
        (r"\mathbb{R}", "R"),
        ("ℝ", "R"),
        (r"\mathbb{N}", r"\mathbb{Z}"),
        ("no", "n+o"),
        (r"\text{no solution}", r"\text{solution}"),
        (r"2\text{ no}", r"2\text{ on}"),
        ("x=no", "x=on"),
        (r"(\text{Ann}, \text{Nan})", r"(\text{Nan}, \text{Ann})"),
        (r"\text{是}", r"\text{否}"),
    ]:
        assert not is_right(one, other), (one, other)
    for one, other in [
        ("ℝ", r"\mathbb R"),
        (r"x \in \mathbb{R}", r"\mathbb{R}"),
        (r"\text{是}", "是"),
        (r"\text{3 hours}", "3"),
    ]:
        assert is_right(one, other), (one, other)
    assert is_right(r"(\text{Ann}, \text{Nan})", "(Ann, Nan)")
    with pytest.raises(Unreadable):
        parse("xeven + 1")  # a word in an expression


def test_mixed_numbers_are_proper_and_of_whole_numbers():
    for whole, above, below in itertools.product((1, 3, 12), (1, 2, 7), (2, 5, 7)):
        value = whole + Fraction(above, below) if above < below else whole * Fraction(above, below)
        for form in (
            rf"{whole}\frac{{{above}}}{{{below}}}",
            rf"{whole}\dfrac{above}{below}",
            rf"-{whole}\cfrac{{{above}}}{below}",
        ):
            sign = -1 if form.startswith("-") else 1
            assert same(form, str(sign * value)), form
    for product, value in [
        (r"2\frac{\sqrt3}{3}", r"\frac{2\sqrt3}{3}"),
        (r"10\frac1x", r"\frac{10}{x}"),
        (r"2\frac{\pi}{3}", r"\frac{2\pi}{3}"),
        (r"2\frac ab", r"\frac{2a}{b}"),
        (r"2^3\frac12", "4"),
        (r"\sqrt{4}\frac12", "1"),
        (r"1.5\frac12", "0.75"),
        (r"2\frac{-1}{2}", "-1"),
        (r"2\frac{0.5}{2}", "0.5"),
        (r"3\cdot2\frac12", "7.5"),
        ("2½", "2.5"),
    ]:
        assert same(product, value), product


X, Y = sympy.symbols("x y")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\sin 2x", sympy.sin(2 * X)),
        (r"\cos 2\pi", sympy.cos(2 * sympy.pi)),
        (r"\ln 2x", sympy.log(2 * X)),
        (r"\sin 2x \cos y", sympy.sin(2 * X) * sympy.cos(Y)),
        (r"3\sin 2\pi x + 1", 3 * sympy.sin(2 * sympy.pi * X) + 1),
        (r"\tan\frac{x}{2}", sympy.tan(X / 2)),
        (r"\sin xy", sympy.sin(X * Y)),
        (r"\sin^2 3x", sympy.sin(3 * X) ** 2),
        (r"\cos 2\frac{\pi}{3}", sympy.cos(2 * sympy.pi / 3)),
        (r"\sin x^2", sympy.sin(X**2)),
        (r"\sin(x)y", sympy.sin(X) * Y),
        (r"\sin x + y", sympy.sin(X) + Y),
        (r"\sin 2x/2", sympy.sin(2 * X) / 2),
        (r"x\ln 2", X * sympy.log(2)),
        (r"\sin x \cdot y", sympy.sin(X) * Y),
        (r"\ln x e^{y}", sympy.log(X) * sympy.exp(Y)),
        (r"\ln|x|", sympy.log(sympy.Abs(X))),
    ],
)
def test_functions_without_brackets_take_what_follows_them(text, value):
    assert same(text, sympy.latex(value, ln_notation=True)), sympy.latex(value, ln_notation=True)


@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_degrees_in_functions_are_degrees(function):
    for degrees in (0, 30, 45, 60, 120, 180, 225):
        value = sympy.latex(getattr(sympy, function)(sympy.pi * sympy.Rational(degrees, 180)))
        for form in (
            r"\{} {}^\circ",
            r"\{}({}^{{\circ}})",
            r"\{} {}°",
            r"\{}{{{}°}}",
            r"\{} {} degrees",
            r"2\{} {}^\circ - 0",
        ):
            expected = f"2({value})" if form.startswith("2") else value
            assert same(form.format(function, degrees), expected), (form, degrees)
    assert not same(r"\cos 60^\circ", r"\cos 60") and same(r"60^\circ", "60")


def test_unknown_functions_are_no_factors():
    for one, other in [
        ("f(2)", "2f"),
        ("f(x+1)", "f(x)+f(1)"),
        ("f(x)", "g(x)"),
        (r"\phi(12)", r"12\phi"),
        ("f(2x)", "2f(x)"),
    ]:
        assert not is_right(one, other), (one, other)
    for one, other in [("f(x+1)", "f(1+x)"), ("2f(x)", "f(x)+f(x)"), ("f^{-1}(3)", "f^{-1}(3)"), ("x(x+1)", "x^2+x")]:
        assert is_right(one, other), (one, other)


def test_names_say_which_value_is_which():
    for one, other in [
        ("x=1,y=2", "1,2"),
        ("x=1,y=2", "y=2, x=1"),
        ("x=1,y=2", "(1,2)"),
        ("(x,y)=(1,2)", "(1,2)"),
        ("(x,y)=(1,2)", "y=2,x=1"),
        ("x=2 or x=3", "3,2"),
        ("(x,y)=(1,2)", "(x, y) = (1, 2)"),
    ]:
        assert is_right(one, other), (one, other)
    for one, other in [
        ("x=1,y=2", "2,1"),
        ("x=1,y=2", "(2,1)"),
        ("(x,y)=(1,2)", "(2,1)"),
        ("(x,y)=(1,2)", "x=2,y=1"),
        ("x=1,y=2", "1,2,3"),
        ("x=1,y=2", "x=1"),
        ("x=1,y=2", "(1,2]"),
    ]:
        assert not is_right(one, other), (one, other)


def test_repeating_decimals_are_the_fractions_whose_long_division_gives_them():
    for above, below in [(1, 3), (4, 33), (1, 6), (7, 12), (5, 7), (13, 11), (1, 700), (22, 7)]:
        whole, rest = divmod(above, below)
        digits, seen = "", {}
        while rest not in seen:
            seen[rest] = len(digits)
            digit, rest = divmod(rest * 10, below)
            digits += str(digit)
        fixed, repeated = digits[: seen[rest]], digits[seen[rest] :]
        assert same(rf"{whole}.{fixed}\overline{{{repeated}}}", f"{above}/{below}"), (above, below)
        assert not same(rf"{whole}.{fixed}\overline{{{repeated}}}", f"{whole}.{digits}")


VALUES = [
    (r"\binom{5}{2}", "10"),
    (r"\dbinom52", "10"),
    (r"\binom{3}{5}", "0"),
    (r"\log_2 8", "3"),
    (r"\log_{10}100", "2"),
    (r"\log_28", "3"),
    (r"\log_{\frac12} 8", "-3"),
    (r"\lg 1000", "3"),
    (r"\frac{\log 8}{\log 2}", "3"),
    (r"\log 4", r"2\log 2"),
    (r"\lfloor 3.7 \rfloor", "3"),
    (r"\lceil -3.7\rceil", "-3"),
    (r"\lfloor\pi\rfloor", "3"),
    (r"\left\lceil\sqrt{4}\right\rceil", "2"),
    (r"\sqrt[3]{-8}", "-2"),
    (r"\sqrt[3]{-\sqrt2}", r"-\sqrt[6]{2}"),
    (r"\sqrt[5]{-1}", "-1"),
    ("√12", r"2\sqrt3"),
    (r"\frac{\pi}{2}", "π/2"),
    ("n!/2", r"\frac{n!}{2}"),
    ("x²", "x^2"),
    (r"(1,2),(3,4)", "(3,4), (1,2)"),
    (r"\emptyset", r"\{\}"),
    (r"\emptyset", r"\varnothing"),
    (r"\pm1,\pm2", "1,-1,2,-2"),
    (r"\{\pm1\}", "-1, 1"),
    ("1, 2, and 3", "3, 2, 1"),
    (r"1\text{, and }2", r"1 \text{ and } 2"),
    (r"\{1,1,2\}", r"\{1,2\}"),
    (r"5\quad", "5"),
    ("5\\ ", "5"),
    (r"5\ cm", r"5\;\text{cm}"),
    ("2x+1=y", "y = 1+2x"),
    (r"x \ge 3", r"3 \le x"),
    ("x≥3", r"x\geq 3"),
    ("0<x<1", "1>x>0"),
    ("x^2+y^2=1", "1 = y^2+x^2"),
    ("3:4", "3 : 4"),
    (r"\begin{pmatrix} 1 & \frac12 \\ 3 & 4 \end{pmatrix}", r"\begin{bmatrix}1&0.5\\3&4\\\end{bmatrix}"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_common_notation_has_its_value(text, value):
    assert is_right(text, value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\log 100", "2"),
        (r"\log 100", r"\ln 100"),
        (r"\log_2 8", r"\log_8 2"),
        ("x>3", r"x \ge 3"),
        (r"x \ge 3", "3"),
        ("3:4", "4:3"),
        (r"(1,2),(3,4)", "(1,3),(2,4)"),
        (r"\pm1,\pm2", "1,2"),
        ("n!", "n"),
        (r"\lfloor x\rfloor", "x"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\1\end{pmatrix}"),
        (r"\emptyset", "0"),
        ("x²", "x2"),
        (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
        (r"\emptyset", r"\{0\}"),
        ("5!=120", "5"),
        ("x^2+y^2=1", "x^2+y^2=2"),
        ("1,1,2", "1,2"),
        ("2½", "21/2"),
        (r"\binom{5}{2}", r"\frac52"),
    ],
)
def test_common_notation_is_not_another_value(one, other):
    assert not is_right(one, other)


@pytest.mark.parametrize("reference", ["2516_8", r"\int_0^1 x\,dx", r"\{x \mid x > 0\}", "a_1 + a_2", r"f: x \to y"])
def test_notation_that_cannot_be_read_is_compared_as_it_is_written(reference):
    assert isinstance(read(reference), Notation)
    metric = AnswerAccuracy("math")
    metric.update(
        [rf"\boxed{{{reference}}}", rf"\boxed{{ {reference} }}", r"\boxed{7}", r"\boxed{7_9}"], [reference] * 4
    )
    assert metric.eval() == 1 / 2
    result = metric.result()
    assert result["unreadable_references"] == 2 and result["invalid"] == {"unreadable": 1}
    assert is_right("2516_{8}", "2516_8") and not is_right("2516_8", "2516") and not is_right("2516_8", "2516_9")
