"""A small parser of mathematical expressions, in LaTeX or plain notation, to values. Nothing is evaluated as code."""

from __future__ import annotations

import re
from fractions import Fraction

from mindeval.answers import _math_values as values
from mindeval.answers._math_values import Unreadable, Value

_MAX_DEPTH = 30
_FUNCTIONS = ("sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "arcsin", "arccos", "arctan", "sqrt", "abs")
_GREEK = ("alpha", "beta", "gamma", "theta", "lambda", "mu", "phi", "omega", "sigma", "rho")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)|(?P<command>\\[A-Za-z]+)|(?P<word>"
    + "|".join(_FUNCTIONS)
    + r"|pi)(?![a-z])"
    r"|(?P<letter>[A-Za-z])|(?P<sign>\*\*|[-+*/^(){}\[\]|,=!_]))"
)


def expression(text: str) -> Value:
    """The value of an expression.

    Raises:
        Unreadable: If it is not in the notation that is understood, or too large.
    """
    tokens, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(f"cannot read {text[position : position + 20]!r}")
        tokens.append((str(match.lastgroup), match.group().strip()))
        position = match.end()
    if not tokens:
        raise Unreadable("an empty expression")
    return _Parser(tokens).whole()


class _Parser:
    """Recursive descent: sums of products of powers, with implied multiplication."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place, self.depth = tokens, 0, 0

    def whole(self) -> Value:
        value = self.sum()
        if self.place != len(self.tokens):
            raise Unreadable(f"cannot read from {self.tokens[self.place][1]!r} on")
        return value

    def peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def take(self, *wanted: str) -> bool:
        if self.peek() in wanted and self.peek():
            self.place += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise Unreadable(f"expected {sign!r}, but found {self.peek()!r}")

    def sum(self) -> Value:
        value = self.product()
        while self.peek() in ("+", "-") and self.peek():
            sign = self.tokens[self.place][1]
            self.place += 1
            term = self.product()
            value = values.add(value, term if sign == "+" else values.negative(term))
        return value

    def product(self) -> Value:
        value = self.power()
        while True:
            if self.take("*", r"\cdot", r"\times"):
                value = values.multiply(value, self.power())
            elif self.take("/", r"\div"):
                value = values.divide(value, self.power())
            elif self.starts_factor():
                value = values.multiply(value, self.power())
            else:
                return value

    def starts_factor(self) -> bool:
        if self.place >= len(self.tokens):
            return False
        kind, token = self.tokens[self.place]
        if kind == "number":
            return self.tokens[self.place - 1][0] != "number"  # "1 2" is not a product
        return (
            kind in ("letter", "word")
            or token in ("(", "{", "|")
            and token != "|"
            or (kind == "command" and token not in (r"\cdot", r"\times", r"\div"))
        )

    def power(self) -> Value:
        """Everything that is nested passes here."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("nested too deeply")
        value = self.signed()
        self.depth -= 1
        return value

    def signed(self) -> Value:
        if self.take("-"):
            return values.negative(self.power())
        if self.take("+"):
            return self.power()
        base = self.atom()
        while self.take("!"):
            base = values.factorial(base)
        if self.take("^", "**"):
            return values.power(base, self.power() if self.peek() == "-" else self.group())
        return base

    def group(self) -> Value:
        """``{...}``, or one digit, letter or atom as LaTeX takes it."""
        if self.take("{"):
            value = self.sum()
            self.expect("}")
            return value
        kind, token = self.tokens[self.place] if self.place < len(self.tokens) else ("", "")
        if (
            kind == "number"
            and len(token) > 1
            and token.isdigit()
            and self.tokens[self.place - 1][1] in (r"\frac", r"\sqrt")
        ):
            self.tokens[self.place] = (kind, token[1:])
            return Fraction(int(token[0]))
        return self.atom()

    def atom(self) -> Value:
        if self.place >= len(self.tokens):
            raise Unreadable("it ends too early")
        kind, token = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return self.mixed(values.literal(token))
        if token in ("(", "{", "["):
            value = self.sum()
            self.expect({"(": ")", "{": "}", "[": "]"}[token])
            return value
        if token == "|":
            value = self.sum()
            self.expect("|")
            return values.apply("abs", value)
        name = token.lstrip("\\")
        if name == "frac":
            return values.divide(self.group(), self.group())
        if name == "sqrt":
            return self.root(kind)
        if name == "pi":
            return values.constant(name)
        if name in _FUNCTIONS:
            return self.function(name)
        if kind == "letter" and name in "ei":
            return values.constant(name)
        if kind == "letter" or (kind == "command" and name in _GREEK):
            return values.letter(name)
        raise Unreadable(f"cannot read {token!r}")

    def function(self, name: str) -> Value:
        r"""``\sin x``, ``\sin(x)``, ``\sin^2 x``; the power after brackets is the function's, as in ``\sin(x)^2``."""
        exponent: Value = Fraction(1)
        if self.take("^"):
            exponent = self.group()
            if not isinstance(exponent, Fraction) or exponent <= 0:  # \sin^{-1} is the inverse, or one over it
                raise Unreadable(f"an unclear exponent of {name}")
        value = values.apply(name, self.atom() if self.peek() in ("(", "{") else self.power())
        return value if exponent == 1 else values.power(value, exponent)

    def root(self, kind: str) -> Value:
        degree: Value = Fraction(2)
        if self.take("["):
            degree = self.sum()
            self.expect("]")
        value = self.group() if kind == "command" else self.atom()
        return values.power(value, values.divide(Fraction(1), degree))

    def mixed(self, whole: Fraction) -> Value:
        r"""``2\frac{1}{2}`` is two and a half, not a product."""
        if whole.denominator == 1 and self.peek() == r"\frac":
            return values.add(whole, self.atom())
        return whole
