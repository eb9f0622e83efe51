"""The words that mean yes and no, and where they occur."""

from __future__ import annotations

import re

# Words that say yes or no whatever words were asked for, if those are of this kind.
AFFIRMATIVE = (
    "yes",
    "yep",
    "yeah",
    "yup",
    "true",
    "correct",
    "right",
    "是",
    "对",
    "正确",
    "成立",
    "属实",
    "是真的",
    "没错",
)
NEGATIVE = (
    "no",
    "nope",
    "nah",
    "false",
    "incorrect",
    "wrong",
    "untrue",
    "否",
    "不是",
    "不对",
    "不正确",
    "错",
    "错误",
    "不成立",
    "有误",
    "并非如此",
    "不是这样",
    "不属实",
    "是假的",
)
_SENTENCE = re.compile(r"[^.!?\n。]{0,160}")
_JOINED = re.compile(r"(?:[,;，；]|(?<!\w)(?:and|but|while|whereas))\s*$", re.IGNORECASE)
_OTHER_CASE = re.compile(r"\s+(?:for|in|on|at|when|if|with|under|among)(?!\w)", re.IGNORECASE)
_ECHOED_ZH = re.compile(r"(?<!答案)(?:是不是|是对是错|是真是假|是否|对不对|能否|可否|有没有)")


class Words:
    """The words that mean yes and no, and how to find them."""

    def __init__(self, meanings: dict[str, str], no: str):
        self.meanings, self.no = meanings, no
        self.yes = next(answer for answer in meanings.values() if answer != no)
        forms = sorted(meanings, key=len, reverse=True)
        self.pattern = re.compile("|".join(_bounded(word) for word in forms), re.IGNORECASE)
        any_word = "|".join(map(re.escape, forms))
        self.echo = re.compile(
            rf"(?<![A-Za-z])(?:{any_word})[\"')*]*\s*(?:/|\||\bor\b|或者?|还是)\s*[\"'(*]*(?:{any_word})(?![A-Za-z])",
            re.IGNORECASE,
        )

    def without_echoes(self, text: str) -> str:
        """The text with "yes or no" and 是不是 blanked out, so that positions stay."""
        text = self.echo.sub(lambda match: " " * len(match.group()), text)
        return _ECHOED_ZH.sub(lambda match: " " * len(match.group()), text)

    def both_ways(self, rest: str, answer: str) -> bool:
        """The sentence goes on with the other word for another case ("yes for adults and no for children")."""
        sentence = _SENTENCE.match(rest)
        return any(
            self.meanings[match.group().lower()] != answer and _OTHER_CASE.match(rest, match.end()) is not None
            for match in self.pattern.finditer(sentence.group() if sentence else "")
            if _JOINED.search(rest[: match.start()])
        )

    def opposite(self, answer: str) -> str:
        return self.yes if answer == self.no else self.no


def _bounded(word: str) -> str:
    """Words of letters must stand alone; in Chinese text there are no gaps between words."""
    left = r"(?<![A-Za-z0-9_])" if word[0].isascii() else ""
    right = r"(?![A-Za-z0-9_']|-\w)" if word[-1].isascii() else ""
    return left + re.escape(word) + right
