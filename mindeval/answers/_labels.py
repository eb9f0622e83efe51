"""Reading option labels, lists of them, and option texts at a place of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindeval.answers._text import fold

OPEN = r"[(\[{<\"'“「『【《]"
CLOSE = r"[)\]}>\"'”」』】》]"
_SEPARATOR = re.compile(
    r"[ \t]*(?:,|、|/|&|\+|;|(?<!\w)(?:and|or|nor|as well as)(?!\w)|以及|或者|及|和|与|或|跟)"
    r"[ \t]*(?:(?:and|or)(?!\w)|和|与)?[ \t]*|[ \t]+",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:(?:option|choice|letter|answer)s?(?!\w)|选项|选|第)?[ \t]*", re.IGNORECASE)
_VERB_AFTER = (
    r"(?:is|are|was|were|and|or|nor|but|because|since|as|for|not|which|with|would|must|should|seems?|due|then|over"
    r"|rather|instead|here|now|unless|if|while|after|when|means|correctly|correct|right)"
)
# "A dog", "I think": an article and a pronoun, not options.
_AFTER_ARTICLE = re.compile(rf"[ \t]+(?!{_VERB_AFTER}(?!\w))(?:[a-z]|[A-Z]\w+[ \t]+\w)")
_AFTER_PRONOUN = re.compile(rf"[ \t]+(?!{_VERB_AFTER}(?!\w))\w|'")
DENIED_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?(?:的?(?:说法|表述|叙述|描述|观点))?[ \t]*(?:"
    r"(?:(?:,[ \t]*)?which[ \t]+)?(?:is|are|was|were|seems?|looks?|being|must be|can be|should be|would be"
    r"|has to be)[ \t]+"
    r"(?:(?:clearly|obviously|also|therefore|thus|definitely|simply|just|all|both)[ \t]+)*"
    r"(?:(?:an?|the)[ \t]+)?(?:wrong|incorrect|false|invalid|untrue|impossible|irrelevant|out(?!\w)|ruled out"
    r"|eliminated|excluded|distractors?|inaccurate|not"
    r"(?!\w)(?![ \t]+only))"
    r"|(?:is|are|was|were|can|could|would|should)(?:n't|[ \t]+not)[ \t]+(?:be[ \t]+)?(?:the[ \t]+|an?[ \t]+)?"
    r"(?:right|correct|answers?|true|valid|it(?!\w)|possible|best|options?|choices?|supported|suitable|appropriate)"
    r"|can(?:not|'t| not) be|(?:isn't|wasn't|aren't)(?!\w)"
    r"|(?:也|都|均|显然|明显|则|就|的|是|为|属于)*(?:错|不正确|不对|不符|不成立|不合|不选|不是(?:正确|答案|对|[,。;]|\s*(?:\n|$))|有误|排除|误)"
    r")",
    re.IGNORECASE,
)
AFFIRMED_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?(?:的?(?:说法|表述|叙述|描述|观点))?[ \t]*(?:"
    r"(?:is|are|was|were|must be|should be|has to be|seems|looks|would be)[ \t]+"
    r"(?:(?:clearly|obviously|therefore|thus|definitely|indeed|also|probably|most likely|likely|the|most|only"
    r"|then|my|a|an|all|both)[ \t]+)*"
    r"(?:correct|right(?!\w)|true|best|answers?|accurate|suitable|appropriate|valid|final|one(?!\w))"
    r"|(?:是|为|才|都|均|也|完全|显然|最|的|就|则|就是)*(?:正确|对的|对(?=[,。;!\s]|$)|符合题意|符合|成立|最佳|最合适|恰当|答案|无误)|才是|当选"
    r")",
    re.IGNORECASE,
)


class Reader:
    """Reads option labels, or the options' texts, at a position of a folded text."""

    def __init__(self, labels: Sequence[str], options: Sequence[str] | None):
        self.by_text = {canonical(option): label for label, option in zip(labels, options or [])}
        self.labels = {label.upper(): label for label in labels}
        both = "".join(sorted({re.escape(form) for label in labels for form in (label.upper(), label.lower())}))
        self.item = re.compile(rf"({OPEN}*)[ \t]*([{both}])(?![A-Za-z0-9_]|'[a-zA-Z]|-[a-zA-Z])(?:[ \t]*({CLOSE}+))?")
        upper = "".join(re.escape(label.upper()) for label in labels)
        self.run = re.compile(rf"({OPEN}*)[ \t]*([{upper}]{{2,}})(?![A-Za-z0-9_'])({CLOSE}*)")
        forms = sorted((re.escape(text) for text in self.by_text if text), key=len, reverse=True)
        self.text = (
            re.compile(rf"{OPEN}*(?<![A-Za-z0-9_])({'|'.join(forms)})(?![A-Za-z0-9_])", re.IGNORECASE)
            if forms
            else None
        )

    def one(self, text: str, position: int, lower: bool) -> tuple[str, int] | None:
        """(label, where it ends) of a label at ``position``; ``lower`` admits a bare lower-case letter."""
        if (
            position
            and re.match(r"[A-Za-z0-9_]", text[position - 1])
            and re.match(r"[A-Za-z0-9_]", text[position : position + 1])
        ):
            return None
        match = self.item.match(text, position)
        if match is None:
            return None
        letter, bracketed = match.group(2), bool(match.group(1)) and bool(match.group(3))
        if not bracketed:
            rest = text[match.end() :]
            closed = ")" in (match.group(3) or "")
            if closed:
                pass
            elif letter in "Aa" and _AFTER_ARTICLE.match(rest) or letter in "Ii" and _AFTER_PRONOUN.match(rest):
                return None
            if re.match(r"[ \t]*(?:[=≈<^_*+×·]|\u2044|²|³)", rest) and letter.isalpha():
                return None  # a variable of a formula
            if (
                letter.islower()
                and not (lower and closed)
                and not (lower and re.match(r"[ \t]*(?:$|\n|[,;:!?)\]\-–—]|\.(?!\w))", rest))
            ):
                return None
        return self.labels[letter.upper()], match.end()

    def several(self, text: str, position: int, lower: bool = True) -> tuple[list[str], int] | None:
        """(labels, where they end) of a list such as "A", "(A), (B) and (C)" or "ACD" at ``position``."""
        run = self.run.match(text, position)
        if run and len(set(run.group(2))) == len(run.group(2)):
            return [self.labels[letter] for letter in run.group(2)], run.end()
        start = _PREFIX.match(text, position)
        first = self.one(text, start.end() if start else position, lower)
        if first is None:
            return None
        found, end = [first[0]], first[1]
        while separator := _SEPARATOR.match(text, end):
            start = _PREFIX.match(text, separator.end())
            following = self.one(text, start.end() if start else separator.end(), lower=False)
            if following is None or (_judged(text, following[1]) and not separator.group().strip(" \t,;").isalpha()):
                break  # "B, D is a distractor": the second letter begins a sentence of its own
            found.append(following[0])
            end = following[1]
        return found, end

    def option_text(self, text: str, position: int) -> tuple[str, int] | None:
        """(label, where it ends) of the longest option text at ``position``."""
        match = self.text.match(text, position) if self.text else None
        return (self.by_text[canonical(match.group(1))], match.end()) if match else None

    def contradicts(self, text: str, end: int, label: str) -> bool:
        """The text after a label spells another option ("B) Paris" where Paris is A)."""
        match = re.compile(r"[\s.):,\-–—]*").match(text, end)
        spelled = self.option_text(text, match.end() if match else end)
        return spelled is not None and spelled[0] != label


def canonical(option: str) -> str:
    return re.sub(r"\s+", " ", fold(option)).strip().strip(".。").lower()


def _judged(text: str, end: int) -> bool:
    return bool(
        DENIED_AFTER.match(text, end)
        or AFFIRMED_AFTER.match(text, end)
        or re.match(r"[ \t]+(?:is|was|has|does|would|can)(?!\w)", text[end:])
    )
