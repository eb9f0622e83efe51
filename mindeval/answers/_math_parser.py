"""A small parser of mathematical expressions, in LaTeX or plain notation, to SymPy. Nothing is evaluated as code."""

from __future__ import annotations

import re
from typing import Any

_MAX_BITS = 20_000  # of a power of numbers: a bound on the work that a generated text can ask for
_FUNCTIONS = ("sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "arcsin", "arccos", "arctan", "sqrt", "abs")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<command>\\[A-Za-z]+)|(?P<word>"
    + "|".join(_FUNCTIONS)
    + r"|pi|infty|inf(?:inity)?|oo)(?![a-z])"
    r"|(?P<letter>[A-Za-z])|(?P<sign>\*\*|[-+*/^(){}\[\]|,=!_]))"
)


class Unreadable(ValueError):
    """The text is not in the notation that is understood."""


def sympy() -> Any:
    try:
        import sympy
    except ImportError as error:
        raise ImportError("match='math' needs SymPy: pip install 'mindeval[math]'") from error
    return sympy


def expression(text: str) -> Any:
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
        self.tokens, self.place, self.depth, self.sp = tokens, 0, 0, sympy()

    def whole(self) -> Any:
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

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > 30:
            raise Unreadable("nested too deeply")
        value = self.product()
        while self.peek() in ("+", "-") and self.peek():
            sign = self.tokens[self.place][1]
            self.place += 1
            value = value + self.product() if sign == "+" else value - self.product()
        self.depth -= 1
        return value

    def product(self) -> Any:
        value = self.power()
        while True:
            if self.take("*", r"\cdot", r"\times"):
                value = value * self.power()
            elif self.take("/", r"\div"):
                value = self.quotient(value, self.power())
            elif self.starts_factor():
                value = value * self.power()
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

    def quotient(self, top: Any, bottom: Any) -> Any:
        if bottom == 0:
            raise Unreadable("a division by zero")
        return top / bottom

    def power(self) -> Any:
        if self.take("-"):
            return -self.power()
        if self.take("+"):
            return self.power()
        base = self.atom()
        if self.take("^", "**"):
            exponent = self.power() if self.peek() == "-" else self.group()
            return self.raised(base, exponent)
        return base

    def raised(self, base: Any, exponent: Any) -> Any:
        if base.is_Rational and exponent.is_Rational:
            size = max(abs(base.p), base.q).bit_length() * abs(exponent)
            if size > _MAX_BITS or exponent.q > 1000 or (base == 0 and exponent <= 0):
                raise Unreadable("a power out of bounds")
        elif base.is_number and (exponent.is_number and not abs(exponent) <= 1000):
            raise Unreadable("a power out of bounds")
        return base**exponent

    def group(self) -> Any:
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
            return self.sp.Integer(int(token[0]))
        return self.atom()

    def atom(self) -> Any:
        if self.place >= len(self.tokens):
            raise Unreadable("it ends too early")
        kind, token = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return self.mixed(self.sp.Rational(token))
        if token in ("(", "{", "["):
            value = self.sum()
            self.expect({"(": ")", "{": "}", "[": "]"}[token])
            return value
        if token == "|":
            value = self.sum()
            self.expect("|")
            return self.sp.Abs(value)
        name = token.lstrip("\\")
        if name == "frac":
            return self.quotient(self.group(), self.group())
        if name == "sqrt":
            root = 2
            if self.take("["):
                root = self.sum()
                self.expect("]")
            return self.raised(self.group() if kind == "command" else self.atom(), self.sp.Integer(1) / root)
        if name == "pi":
            return self.sp.pi
        if name in ("infty", "inf", "infinity", "oo"):
            return self.sp.oo
        if name in _FUNCTIONS:
            function = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "abs": "Abs"}.get(name, name)
            return getattr(self.sp, function)(self.power())
        if kind == "letter":
            return self.sp.E if token == "e" else self.sp.I if token == "i" else self.sp.Symbol(token)
        if kind == "command" and name in (
            "alpha",
            "beta",
            "gamma",
            "theta",
            "lambda",
            "mu",
            "phi",
            "omega",
            "sigma",
            "rho",
        ):
            return self.sp.Symbol(name)
        raise Unreadable(f"cannot read {token!r}")

    def mixed(self, whole: Any) -> Any:
        r"""``2\frac{1}{2}`` is two and a half, not a product."""
        if whole.is_Integer and self.peek() == r"\frac":
            return whole + self.atom()
        return whole
