"""A small parser of mathematical expressions, in LaTeX or plain notation, to values. Nothing is evaluated as code."""

from __future__ import annotations

import re
from fractions import Fraction

from mindeval.answers import _math_values as values
from mindeval.answers._math_values import Unreadable, Value

_MAX_DEPTH = 30
FUNCTIONS = (
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "log", "lg", "ln", "exp", "arcsin", "arccos",
    "arctan", "sqrt", "abs",
)  # fmt: skip
_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu",
    "xi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi", "omega",
)  # fmt: skip
_CALLED = ("f", "g", "h", "F", "G", "phi", "varphi", "sigma", "tau")  # before brackets: functions, not factors
_ROUNDED = {"lfloor": "rfloor", "lceil": "rceil"}
_MAX_WORD = 3  # letters of an implied product in an expression, if they are not as in "abcd"
_NUMERIC_FRACTION = re.compile(r"\\frac(?:\{(\d+)\}|(\d))(?:\{(\d+)\}|(\d))")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)|(?P<command>\\[A-Za-z]+)|(?P<word>"
    + "|".join(sorted(FUNCTIONS, key=len, reverse=True))
    + r"|pi)(?![a-z])"
    r"|(?P<letter>[A-Za-z])|(?P<sign>\*\*|[-+*/^(){}\[\]|,=!_°]))"
)


def expression(text: str) -> Value:
    """The value of an expression.

    Raises:
        Unreadable: If it is not in the notation that is understood, or too large.
    """
    for run in re.findall(r"(?<![A-Za-z\\])[A-Za-z]+", text):
        if len(run) > _MAX_WORD and run not in FUNCTIONS and "".join(sorted(set(run))) != run:
            raise Unreadable(f"a word in an expression: {run!r}")
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

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.place + ahead][1] if self.place + ahead < len(self.tokens) else ""

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
            or (kind == "command" and token not in (r"\cdot", r"\times", r"\div", r"\rfloor", r"\rceil"))
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
        if self.take("°") or (self.peek() == "^" and self.peek(1) == "°" and self.take("^") and self.take("°")):
            return values.divide(values.multiply(base, values.constant("pi")), Fraction(180))
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
            and self.tokens[self.place - 1][1] in (r"\frac", r"\sqrt", r"\binom")
        ):
            self.tokens[self.place] = (kind, token[1:])
            return Fraction(int(token[0]))
        if kind == "number":  # alone: an exponent is never the whole part of a mixed number
            self.place += 1
            return values.literal(token)
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
        if name == "binom":
            return values.binomial(self.group(), self.group())
        if name == "sqrt":
            return self.root(kind)
        if kind == "command" and name in _ROUNDED:
            value = self.sum()
            self.expect(f"\\{_ROUNDED[name]}")
            return values.rounded(name[1:], value)
        if name == "pi":
            return values.constant(name)
        if name in FUNCTIONS:
            return self.function(name)
        if name in _CALLED and (self.peek() == "(" or self.is_inverse()):
            return self.called(name)
        if kind == "letter" and name in "ei":
            return values.constant(name)
        if kind == "letter" or (kind == "command" and name in _GREEK):
            return values.letter(name)
        raise Unreadable(f"cannot read {token!r}")

    def is_inverse(self) -> bool:
        """Whether a name goes on as in ``f^{-1}(x)`` and ``f^2(x)``."""
        return re.match(r"\^(?:\w|\{-?\w+\})\(", self.following(7)) is not None

    def called(self, name: str) -> Value:
        """``f(x)`` of a function that is not known: equal arguments have equal values, and nothing else is known."""
        if self.peek() != "(":
            raise Unreadable(f"a power of the function {name}")
        return values.unknown(name, self.atom())

    def function(self, name: str) -> Value:
        r"""``\sin x``, ``\sin(x)``, ``\sin^2 x``; the power after brackets is the function's, as in ``\sin(x)^2``."""
        exponent: Value = Fraction(1)
        base: Value | None = None
        if name in ("log", "lg") and self.take("_"):
            after = self.tokens[self.place + 1 : self.place + 2]
            if self.peek().isdigit() and len(self.peek()) > 1 and not after:  # \log_28
                self.tokens[self.place : self.place + 1] = [("number", self.peek()[:1]), ("number", self.peek()[1:])]
            base = self.group()
        if self.take("^"):
            exponent = self.group()
            if not isinstance(exponent, Fraction) or exponent <= 0:  # \sin^{-1} is the inverse, or one over it
                raise Unreadable(f"an unclear exponent of {name}")
        value = self.atom() if self.peek() in ("(", "{") else self.argument()
        value = values.apply(name, value) if base is None else values.logarithm(value, base)
        return value if exponent == 1 else values.power(value, exponent)

    def argument(self) -> Value:
        r"""What a function without brackets takes: ``2\pi x`` of ``\sin 2\pi x \cos y``; numbers, letters, and
        a fraction behind a number."""
        value, last = self.power(), self.tokens[self.place - 1][0]
        while self.starts_factor():
            kind, token = self.tokens[self.place]
            name = token.lstrip("\\")
            follows = kind == "letter" or name in ("pi", *_GREEK) or (name == "frac" and last == "number")
            if not follows or (token == "e" and self.peek(1) == "^"):
                break
            last, value = kind, values.multiply(value, self.power())
        return value

    def root(self, kind: str) -> Value:
        degree: Value = Fraction(2)
        if self.take("["):
            degree = self.sum()
            self.expect("]")
        return values.root(self.group() if kind == "command" else self.atom(), degree)

    def mixed(self, whole: Fraction) -> Value:
        r"""``2\frac{1}{2}`` is two and a half, but ``2\frac{\pi}{2}`` and ``2\frac{3}{2}`` are products."""
        found = _NUMERIC_FRACTION.match(self.following(7)) if whole.denominator == 1 else None
        if found is None:
            return whole
        above, below = (int(digits) for digits in found.groups() if digits)
        return values.add(whole, self.atom()) if 0 < above < below else whole

    def following(self, tokens: int) -> str:
        return "".join(token for _, token in self.tokens[self.place : self.place + tokens])
