"""Reading option labels, lists of them, and option texts at a place of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mindeval.answers._option_texts import OptionTexts

OPEN = r"[(\[{<\"'“「『【《]"
CLOSE = r"[)\]}>\"'”」』】》]"

# Between the labels of a list; an open list ("A or B", "A to C", "A → B") leaves the choice open.
_SEPARATOR = re.compile(
    r"[ \t]*(?:,[ \t]*(?=(?:or|and)(?!\w)|或|和))?(?P<open>"
    r"/|(?<!\w)(?:and/or|or|nor|to|through|thru|till|until|vs\.?|versus)(?!\w)|~|→|⇒|->|=>|>"
    r"|[-–—](?=[ \t]*[(\[]?[A-Z](?!\w))|到|至|还是"
    r"|或者?(?:是|选)?|,?[ \t]*也?可能(?:是|选|为)?|,?[ \t]*(?:maybe|possibly|perhaps|alternatively)(?!\w))"
    r"[ \t]*(?:(?:maybe|possibly|perhaps|even|else|also|rather|just|is|it's)(?!\w)[ \t]*|可能)*"
    r"|[ \t]*(?:,|、|&|\+|;|(?<!\w)(?:and|as well as|plus)(?!\w)|以及|及|和|与|跟)"
    r"[ \t]*(?:(?P<late>or(?!\w)|或)|(?:and(?!\w)|和|与))?[ \t]*(?:(?P<maybe>maybe|possibly|perhaps)(?!\w))?[ \t]*"
    r"|[ \t]+",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:(?:option|choice|letter|answer)s?(?!\w)|选项|选|第)?[ \t]*", re.IGNORECASE)

# "A dog", "I think": an article and a pronoun, not options.
_AFTER_LETTER_A = (
    r"(?:is|are|was|has|had|does|and|or|nor|but|because|since|as|for|not|which|with|would|must|should|seems?|then"
    r"|over"
    r"|rather|instead|unless|if|while|means|it(?=[ \t]+is)|fits?|works?|looks?|best(?=[ \t]+\w+s(?!\w))|remains"
    r"|satisf(?:y|ies)|meets|matches"
    r"|appears|accounts"
    r"|due|(?:(?:in)?correct|here|now"
    r"|instead|too|then)(?=[ \t]*(?:[.,;!\n]|$)))"
)
_AFTER_ARTICLE = re.compile(rf"[ \t]+(?!{_AFTER_LETTER_A}(?!\w))(?:[a-z]|[A-Z]\w+[ \t]+\w)")
_AFTER_PRONOUN = re.compile(r"[ \t]+(?!(?:is|and|or|nor|because|since|as|over|rather|instead)(?!\w))\w|'")
# What may follow a bare letter that is an option; before any other word it is part of a term ("C major", "B cells").
_AFTER_OPTION = (
    r"(?:is|are|was|were|am|be|being|and|or|nor|but|because|cause|since|as|for|not|which|who|that|with|without"
    r"|would|must"
    r"|should|shall|will|can|could|cannot|may|might|seems?|appears?|looks?|sounds?|fits?|works?|match(?:es)?"
    r"|satisf(?:y|ies)|meets|accounts|agrees|addresses"
    r"|provides|represents|mentions|qualifies|survives|captures|explains"
    r"|describes?|states?"
    r"|says?|means?|shows?|due|then|over|rather|instead|here|now|unless|if|while|after|when|where|whereas"
    r"|(?:in)?correct|right"
    r"|wrong|true|false|only|also|best|most|more|less|makes?|has|have|had|does|do|did|to|through|until|till|from|in"
    r"|on|at|by|of"
    r"|so|thus|hence|therefore|however|though|although|yet|it|we|i|you|he|she|they|this|these|those|the|an?|my|our"
    r"|its|their"
    r"|there|what|why|how|given|based|according|assuming|considering|both|all|any|each|every|no|none|neither|either"
    r"|very|too"
    r"|just|really|indeed|holds?|follows?|remains?|stands?|gives?|contains?|includes?|refers?|vs|versus|above|below"
    r"|please|lol"
    r"|again|anyway|thanks|per|out|down|up|maybe|perhaps|possibly|nope|sorry|wait|oops|actually|[a-z]+ly|[a-z]+n't"
    r"|i'm|it's|that's)"
)
_TERM_AFTER = re.compile(
    rf"[ \t]+(?!{_AFTER_OPTION}(?!\w))[a-z]"
    r"|[ \t]+(?:Major|Minor|Sharp|Flat|Level|Day|Cells?|Programming|Language|Section|Team|String|Class|Type|Vitamin"
    r"|Complex)(?!\w)"
    r"|[-–]\d|\+\+|#|\.[ \t]?[A-Z]\.(?![ \t]?[a-z])"
    r"|[ \t]*/[ \t]*[A-Za-z](?:[A-Za-z]|[ \t]+(?:test|split|stream|side|roll|ratio"
    r"|cell)\w*)|:\\|:[ \t]*drives?(?!\w)"
    r"|[ \t]?(?:类|型|超(?!过)|级|股|语言|恤|座|栋|班|盘|键|罩杯|区|轮|楼|调|大调|小调|城|市|国|君|先生|女士|同学"
    r"|公司|字母|站|村|地|点(?!钟)|点$|线|面(?!对)|照|证|片|族|组|队|计划|方案|细胞|淋巴|字形|轴)"
)
_SCALE = re.compile(r"[ \t]*(?:major|minor)(?=[ \t]*(?:$|[.,;\n]|scale|chord|key))")

DENIED_AFTER = re.compile(
    r"[ \t]*(?:(?:这?[两二三四五]个?)?(?:选项|项))?(?:的?(?:说法|表述|叙述|描述|观点|推断|判断))?,?[ \t]*(?:"
    r"(?:(?:,[ \t]*)?which[ \t]+)?(?:is|are|was|were|seems?|looks?|being|must be|can be|should be|would be|will be"
    r"|has to be)[ \t]+"
    r"(?:(?:clearly|obviously|also|therefore|thus|definitely|simply|just|all|both|actually|completely|totally"
    r"|entirely|certainly"
    r"|plainly|quite|in fact|probably|most likely|likely|partly|partially)[ \t]+)*"
    r"(?:(?:an?|the)[ \t]+)?(?:(?:common|big|serious|classic|tempting|terrible|bad|poor|popular|obvious)[ \t]+)*"
    r"(?:wrong|incorrect|false|invalid|untrue|impossible|irrelevant|out(?!\w)|ruled out"
    r"|eliminated|excluded|distractors?|inaccurate|mistakes?|mistaken|errors?|traps?|bad|worse|worst|inferior"
    r"|weaker|unlikely|implausible"
    r"|misleading|misconception|nonsense|absurd|red herring|unsupported|lie|tempting|far from|anything but|nowhere"
    r"|questionable|doubtful|dubious|not"
    r"(?!\w)(?![ \t]+only))"
    r"|(?:is|are|was|were|can|could|would|should|does|do|will)(?:n't|[ \t]+not)[ \t]+(?:be[ \t]+)?(?:the[ \t]+"
    r"|an?[ \t]+)?"
    r"(?:right|correct|answers?|true|valid|it(?!\w)|possible|best|options?|choices?|supported|suitable|appropriate"
    r"|fit|work|match|hold)"
    r"|can(?:not|'t| not) be|[-–—(:]?[ \t]*(?:wrong|incorrect|false)(?!\w)|(?:isn't|wasn't|aren't)(?!\w)|(?:fails?"
    r"|contradicts?)(?!\w)"
    r"|(?:也|都|均|显然|明显|则|就|的|是|为|属于|完全|肯定|一定|似乎|好像|看来|看起来|其实|根本|并|绝|决)*(?:错"
    r"|不正确|不对|不符|不成立|不合|不选|不能选|不应选|不可能|不可选|不行|不是(?:正确|答案|对|[,。;]"
    r"|\s*(?:\n|$))|不妥|不合适|不恰当|不合理|不可取|与[^,。;]{0,6}不符|被排除|偷换|无中生有|以偏概全|张冠李戴|颠倒"
    r"|值得怀疑|有待商榷|过于绝对|过于片面|有误|排除|误|不如|不及|比不上|非(?:正确)?答案|存在错误"
    r"|存在问题|有问题|(?:存在|有)(?:明显)?错误|干扰项|与题意不|没有道理|站不住|说不通)"
    r")",
    re.IGNORECASE,
)
AFFIRMED_AFTER = re.compile(
    r"[ \t]*(?:(?:这?[两二三四五]个?)?(?:选项|项))?(?:的?(?:说法|表述|叙述|描述|观点|推断|判断))?[ \t]*(?:"
    r"(?:is|are|was|were|must be|should be|has to be|seems|looks|would be)[ \t]+"
    r"(?:(?:clearly|obviously|therefore|thus|definitely|indeed|also|probably|most likely|likely|the|most|only"
    r"|then|my|a|an|all|both|actually|really|in fact|certainly|undoubtedly)[ \t]+)*"
    r"(?:correct|right(?!\w)|true|best|answers?|accurate|suitable|appropriate|valid|final"
    r"|one(?!\w)|choice(?=\W*$))(?![ \t]+(?:only[ \t]+)?if(?!\w))"
    r"|best[ \t]+(?!in |of |for )\w+s(?!\w)"
    r"|(?:is|seems(?: to be)?|appears to be|looks(?: like)?|would be|remains)[ \t]+(?:(?:therefore|thus|hence"
    r"|clearly)[ \t]+)?"
    r"the[ \t]+(?:best|only|(?:single[ \t]+)?most[ \t]+\w+)[ \t]+(?:\w+[ \t]+)?(?:choice|option|answer|match|fit"
    r"|one)(?!\w)"
    r"|,?[ \t]*it is(?=\W|$)"
    r"|(?:是|为|才|都|均|也|完全|显然|最|的|就|则|就是)*(?:正确|对的|对(?=[,。;!\s]|$)|符合题意|符合|成立|准确|最佳"
    r"|最合适|恰当|答案|无误)(?!率|与否|吗)|才是|当选"
    r")",
    re.IGNORECASE,
)
# "B is better", "B也对": weaker than a verdict, enough to unsettle an answer given before.
PREFERRED_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?,?[ \t]*(?:"
    r"(?:is|are|was|seems?|looks?|would be|might be|may be|could be|can be|could also be|may also be|might also be"
    r"|appears to be)[ \t]+(?:\w+[ \t]+){0,2}?"
    r"(?:better|preferable|stronger|correct|right|true|valid|possible|plausible|acceptable|answer|it(?!\w))"
    r"|(?:fits?|works?|matches|makes more sense|holds)[ \t]*(?:better|best|too|as well|more)"
    r"|(?:可能)?(?:也|更|同样|倒是)(?:是?对|是?正确|可以|合适|好|恰当|符合|合理|有道理|说得通|成立)"
    r")",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Labels:
    """Labels read in one place; ``open`` where an "or" or a range joins them, so that none of them is chosen."""

    labels: tuple[str, ...]
    end: int
    open: bool = False


class Reader:
    """Reads option labels, or the options' texts, at a position of a folded text."""

    def __init__(self, labels: Sequence[str], options: Sequence[str] | None):
        self.texts = OptionTexts(labels, options)
        self.labels = {label.upper(): label for label in labels}
        both = "".join(sorted({re.escape(form) for label in labels for form in (label.upper(), label.lower())}))
        self.item = re.compile(
            rf"({OPEN}{{0,4}})[ \t]{{0,3}}([{both}])(?![A-Za-z0-9_]|'[a-zA-Z]"
            rf"|-[a-zA-Z0-9])(?:[ \t]{{0,3}}({CLOSE}{{1,4}}))?"
        )
        upper = "".join(re.escape(label.upper()) for label in labels)
        self.run = re.compile(rf"({OPEN}{{0,4}})[ \t]{{0,3}}([{upper}]{{2,26}})(?![A-Za-z0-9_'])({CLOSE}{{0,4}})")

    def one(self, text: str, position: int, lower: bool) -> tuple[str, int] | None:
        """(label, where it ends) of a label at ``position``; ``lower`` admits a bare lower-case letter."""
        before, first = text[position - 1 : position], text[position : position + 1]
        if _is_word(before) and _is_word(first):
            return None
        match = self.item.match(text, position)
        if match is None:
            return None
        letter, closed = match.group(2), ")" in (match.group(3) or "") or bool(match.group(1) and match.group(3))
        if self._part_of_term(text, match, letter, closed):
            return None
        if letter.islower() and not (match.group(1) and match.group(3)):
            ended = re.compile(r"[ \t]*(?:$|\n|[,;:!?)\]\-–—]|\.(?!\w))").match(text, match.end())
            if not (lower and (closed or ended)):
                return None
        return self.labels[letter.upper()], match.end()

    def _part_of_term(self, text: str, match: re.Match, letter: str, closed: bool) -> bool:
        """A bare letter that is an article, a pronoun, a variable of a formula, or a word of a longer term."""
        rest = text[match.end() : match.end() + 60]
        if closed:
            return _SCALE.match(rest) is not None
        if letter in "Aa" and _AFTER_ARTICLE.match(rest) or letter in "Ii" and _AFTER_PRONOUN.match(rest):
            return True
        if letter.isalpha() and re.match(r"[ \t]*(?:[=≈<^_*+·]|×(?![\s,;.。)]|$)|\u2044|²|³)", rest):
            return True
        if not letter.isalpha():
            return re.match(r"[ \t]*(?:[=≈<^_*+×·%°]|\.\d|[ \t][a-z])", rest) is not None
        return _TERM_AFTER.match(rest) is not None and not self._spelled(text, match.end(), self.labels[letter.upper()])

    def _spelled(self, text: str, end: int, label: str) -> bool:
        """The option's own text follows its letter ("C major scale" where that is option C)."""
        found = self.texts.at(text, end + len(text[end : end + 9]) - len(text[end : end + 9].lstrip(" \t")))
        return found is not None and label in found.labels

    def several(self, text: str, position: int, lower: bool = True) -> Labels | None:
        """The labels of a list such as "A", "(A), (B) and (C)" or "ACD" at ``position``."""
        run = self.run.match(text, position)
        if run and len(set(run.group(2))) == len(run.group(2)):
            return Labels(tuple(self.labels[letter] for letter in run.group(2)), run.end())
        start = _PREFIX.match(text, position)
        first = self.one(text, start.end() if start else position, lower)
        if first is None:
            return None
        found, end, is_open = [first[0]], first[1], False
        while separator := _SEPARATOR.match(text, end):
            start = _PREFIX.match(text, separator.end())
            if start and "选" in start.group() and "," in separator.group():
                break  # "排除B,选A": a clause of its own
            following = self.one(text, start.end() if start else separator.end(), lower=False)
            joined = separator.group("open") or separator.group("late") or re.search(r"[^\W_]|、", separator.group())
            if following is None or following[0] in found or (_judged(text, following[1]) and not joined):
                break  # "B, D is a distractor": the second letter begins a sentence of its own
            is_open = is_open or bool(separator.group("open") or separator.group("late") or separator.group("maybe"))
            found.append(following[0])
            end = following[1]
        return Labels(tuple(found), end, is_open and len(set(found)) > 1)

    def bracketed(self, text: str, position: int) -> Labels | None:
        """The only label of a sentence, in brackets at its end ("... is photosynthesis (B).")."""
        sentence = _SENTENCE.match(text, position)
        rest = sentence.group() if sentence else ""
        named = [match for match in self.item.finditer(rest) if self.one(rest, match.start(), lower=False)]
        last = re.search(r"\((?:(?:option|choice|answer|选项)[ \t]*)?$", rest[: named[0].start(2)]) if named else None
        if len(named) != 1 or not last or not _ENDS_SENTENCE.match(rest, named[0].end()) or _TURNED.search(rest):
            return None
        return Labels((self.labels[named[0].group(2).upper()],), position + named[0].end())

    def divided(self, text: str, end: int, labels: Sequence[str]) -> str:
        """``"several options"`` where the sentence goes on with another answer for another case ("B for men and C for
        women", "B in the US; in the UK it would be C")."""
        sentence = _UP_TO_STOP.match(text, end)
        for match in _OTHER_CASE.finditer(sentence.group() if sentence else ""):
            letter = match.group(1) or match.group(2)
            if self.labels.get(letter, labels[0]) not in labels:
                return "several options"
        return ""

    def spelled(self, text: str, position: int, earliest: int) -> tuple[int, Labels] | None:
        """(where it begins, the labels) of the option texts at ``position``, as far back as ``earliest``."""
        first = self.texts.at(text, position, earliest)
        return (first.start, Labels(*self.texts.joined(text, first))) if first else None

    def contradicts(self, text: str, end: int, label: str) -> bool:
        """The text after a label spells another option ("B) Paris" where Paris is A)."""
        match = re.compile(r"[\s.):,\-–—]*").match(text, end)
        found = self.texts.at(text, match.end() if match else end)
        return found is not None and label not in found.labels


_SENTENCE = re.compile(r"[^.;:?!\n。]{1,120}")
_ENDS_SENTENCE = re.compile(r"[)\]\"' \t]*(?:$|,|because(?!\w)|since(?!\w))")
_TURNED = re.compile(r"(?<!\w)(?:not|nor|neither|either|or|rather|than|but|if)(?!\w)|n't|不|非|或", re.IGNORECASE)
_UP_TO_STOP = re.compile(r"[^.\n。]{0,160}")
_CASE = r"(?:in|for|under|with|on|at|when|if|among)(?!\w)"
_OTHER_CASE = re.compile(
    rf"(?:[,;]|(?<!\w)(?:and|but|while|whereas)(?!\w))\s*(?:(?:and|but|while)\s+)?(?:"
    rf"(?:{_CASE}[^.;\n]{{1,40}}?[\s,]\s*)?(?:it|that|this|the answer)(?: is| would be| becomes"
    rf"|'s)\s+[(\"']?([A-Z])(?!\w)"
    rf"(?=[)\"']?\s*(?:$|[.,;]|{_CASE}))|[(\"']?([A-Z])[)\"']?\s+{_CASE}(?! contrast))"
)


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


_PLURAL = re.compile(r"[ \t]+(?:are|were)(?!\w)")
_JUDGED = re.compile(r"[ \t]+(?:is|was|has|does|would|can)(?!\w)")


def _judged(text: str, end: int) -> bool:
    if _PLURAL.match(text, end):
        return False  # "A, B are wrong" is said of both
    return bool(DENIED_AFTER.match(text, end) or AFFIRMED_AFTER.match(text, end) or _JUDGED.match(text, end))
