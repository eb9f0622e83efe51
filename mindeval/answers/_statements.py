"""Where a text states an answer, in English and Chinese: cues, and whether each is asserted, denied, asked or supposed.

Nothing here knows what an answer looks like; the extractors read it from where a cue ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindeval.answers._text import BOX_MARK

# "The answer is", "ANSWER:", "the correct option is"; adjectives that turn a cue round are seen by _OTHER_POLARITY.
_NOUN_EN = (
    r"(?<![\w/])(?:"
    r"answers?|ans\.?"
    r"|(?:correct|right|best|final|true|most (?:likely|appropriate|suitable|accurate))\s+"
    r"(?:choices?|options?|selections?|solutions?|responses?|statements?|letters?|ones?)"
    r"|(?:my|final)\s+(?:choice|selection|pick|response)"
    r"|(?:choice|selection)(?=\s*[:=])"
    r"|correct(?=\s*:)"
    r")(?![\w])(?:\s*\((?:s|final|letter)\))?"
    # "the answer to this question is", "the best option among these would be"
    r"(?:\s+(?:to|for|of|in|from|among|here|out of|that)\b[^.!?:;\n]{0,80}?(?=\s*(?::|\b(?:is|are|would|should"
    r"|must)\b)))?"
)
_NOUN_OTHER = (
    r"(?<!\w)(?:antwort|lösung|réponse|respuesta|resposta|risposta|antwoord|odpowiedź|ответ|정답|답|答え|正解)(?!\w{3})"
)
_NOUN_ZH = (
    r"(?:答案|(?<!\w)result(?=\s*(?:is|:|=))|正确选项|正解|正确的?(?:说法|表述|叙述|描述|判断|选择|选项|一项|做法)|答(?=\s*[::])"
    r"|回答(?=\s*[::是])|结果(?=\s*[::是为]))"
    r"|(?<![不错])正确的(?=\s*(?:是|有|为|[::]))|符合题意的(?=\s*(?:是|有|为|[::]))"
)
_VERB_EN = (
    r"(?<!\w)(?:choos(?:e|es|ing)|chose|pick(?:s|ed|ing)?|select(?:s|ed|ing)?|go(?:es|ing)? with|opt(?:s|ed|ing)? for"
    r"|vote for|settled? on|i say|i'd say|mark)(?!\w)"
)
_VERB_ZH = r"(?:选择|选取|选定|应选|应该选|故选|可选|选|填)(?!项|自|手|民|举|中的|修|拔|材|题)"
_ANSWER_CUE = re.compile(
    "|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _NOUN_ZH, _VERB_EN, _VERB_ZH]), re.IGNORECASE
)
_NOUN_CUE = re.compile("|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _NOUN_ZH]), re.IGNORECASE)
_ENGLISH_CUE = re.compile("|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _VERB_EN]), re.IGNORECASE)
_CHINESE_CUE = re.compile("|".join([BOX_MARK, r"####", r"(?<!\w)answer(?!\w)", _NOUN_ZH, _VERB_ZH]), re.IGNORECASE)
_DENYING_CUE = re.compile(
    r"(?<!\w)(?:rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|discard(?:s|ed|ing)?"
    r"|reject(?:s|ed|ing)?"
    r"|neither|not|never|except)(?!\w)|n't(?!\w)|(?:排除|去掉|删去|否定|不是|并非|而非)",
    re.IGNORECASE,
)
# "so B", "it's B", "→ B": weaker than naming the answer.
_CONCLUDING_CUE = re.compile(
    r"(?<!\w)(?:so|therefore|thus|hence|consequently|(?:it|that|this|which|he|she)(?:\s+(?:is|must be|has to be"
    r"|should be|would be|was)|'s))"
    r"(?=[\s,:(\[])|[⇒⟹→]|=>|∴|(?:所以|因此|因而|故|综上(?:所述)?|可知|即|就是|是)",
    re.IGNORECASE,
)

# What may stand between a cue and the answer.
FILLER = re.compile(
    r"\s*(?:[:=\-–—~→>\"'“”]|,(?=\s*(?:therefore|thus|then|hence|of course|is|in|as|i)(?!\w))|i\s+(?:think"
    r"|believe|say)(?!\w)|"
    r"(?:is|are|was|were|be|being|would|should|must|will|has|to|ist|lautet|est|es|é|è|are|seems?|appears?|of"
    r"|with|as|like"
    r"|therefore|thus|then|hence|so|clearly|obviously|definitely|probably|certainly|likely|most|simply|just"
    r"|indeed|actually|really"
    r"|indicated|given|represented|labell?ed|marked|denoted|found|shown|by|in|only|still|both|all|either|think"
    r"|believe|that|it"
    r"|the|my|final|correct|right|best|option|options|choice|choices|letter|letters|answer|answers|case|course"
    r"|number|following|one|ones)(?!\w)|'s(?!\w)"
    r"|(?:最终|正确|的|答案|应该|应当|应|该|显然|就|才|只能|只有|可以|是|为|即|选项|选择|选|项|有|包括|包含|如下|如下所示|一项|字母|个|了|我|认为|分别|第|以下|说法)"
    r")",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\s*(?:(?:is|are|was|were|can|could|would|should|do|does|did|will)?(?:\s*not|n't)(?!\w)|cannot(?!\w)"
    r"|never(?!\w)|neither(?!\w)"
    r"|不(?:应该|应当|应|该|会|能|可能|可以|可)?(?:是|为|选择|选)?|并?非|没有)",
    re.IGNORECASE,
)
_NEGATED_BEFORE = re.compile(
    r"(?:(?<!\w)(?:not|never|cannot|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't|couldn't|isn't"
    r"|instead of|rather than|without)\s+(?:\w+\s+)?"
    r"|(?:not|n't)\s+(?:(?:necessarily|really)\s+)?(?:think|believe|agree|say|mean|imply|the case|true|sure"
    r"|certain)\s+(?:that\s+)?(?:the\s+)?(?:correct\s+)?"
    r"|(?:不|别|勿|未|莫|没有?|不能|不可|不应|不应该|不该|不会|不宜|不可能)\s*)$",
    re.IGNORECASE,
)
_OTHER_POLARITY = re.compile(
    r"(?:(?<!\w)(?:wrong|incorrect|false|bad|worst|no|least \w+|student's|original|previous|initial"
    r"|first)\s+(?:\w+\s+)?"
    r"|(?:错误|不正确|不恰当|有误|干扰)的?\s*)$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"(?<!\w)(?:if|whether|suppose|supposing|assume|assuming|unless|imagine|had|why|how)(?!\w)|如果|假如|假设|假使|倘若|若"
    r"|要是|是否|是不是|为什么",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"(?<!\w)(?:might|may|could|perhaps|maybe|possibly|tempt\w*|seem(?:s|ed)? to be|one could"
    r"|some(?:one)? (?:would|might|may))(?!\w)"
    r"|可能|也许|或许|大概",
    re.IGNORECASE,
)
_HEDGE = re.compile(r"\s*(?:(?:might|may|could|perhaps|maybe|possibly)(?!\w)|可能|也许|或许)", re.IGNORECASE)
_FORMAT = re.compile(
    r"(?:format|form|template|such as|e\.g\.|for example|example|like|write|格式|形如|例如|写成)\W*$", re.IGNORECASE
)
_CLAUSE_EDGE = re.compile(r"[,.!?;:。!?;:、\n]|(?<!\w)(?:but|so|then|therefore|hence|thus)(?!\w)|但|那么|所以|因此|则")
_SENTENCE_END = re.compile(r"[.!?。\n;](?!\d)|$")
CORRECTION = re.compile(
    r"(?<!\w)(?:wait|hold on|scratch that|correction|on (?:second thought|reflection)|i (?:was|am) wrong"
    r"|i made a (?:mistake|an error)"
    r"|let me (?:re-?\s?(?:check|consider|think|do|examine|read|calculate))|actually)(?!\w)|等等|等一下|更正|我错了"
    r"|重新(?:考虑|检查|思考|计算)|不对[,!。]",
    re.IGNORECASE,
)
RETRACTION = re.compile(
    r"(?:that|this|it|which|my answer)(?:'s| is| was) (?:not right|not correct|wrong|incorrect)|(?:这|那)?(?:是错|不对"
    r"|错了|有误)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cue:
    """A place after which an answer is expected. ``tier`` is 1 for a named answer, 3 for a conclusion."""

    start: int
    end: int
    tier: int
    denied: bool
    hedged: bool


def answer_cues(text: str, language: str | None = None, verbs: bool = True) -> list[Cue]:
    """The cues that name an answer ("the answer is", "答案:", a box), in order, without suppositions and questions;
    with ``verbs`` also those that make a choice ("I pick", "选")."""
    pattern = {"en": _ENGLISH_CUE, "zh": _CHINESE_CUE, None: _ANSWER_CUE}[language] if verbs else _NOUN_CUE
    return [cue for match in pattern.finditer(text) if (cue := _judge(text, match, tier=1)) is not None]


def other_cues(text: str) -> list[Cue]:
    """The weaker cues: conclusions ("so", "it's"), and denials ("not", "排除")."""
    concluded = [cue for match in _CONCLUDING_CUE.finditer(text) if (cue := _judge(text, match, tier=3)) is not None]
    denied = [Cue(match.start(), match.end(), 3, True, False) for match in _DENYING_CUE.finditer(text)]
    return sorted(concluded + denied, key=lambda cue: (cue.start, cue.end))


def _judge(text: str, match: re.Match, tier: int) -> Cue | None:
    if match.group() in (BOX_MARK, "####"):
        return Cue(match.start(), match.end(), tier, denied=False, hedged=False)
    clause = clause_before(text, match.start())
    if _OTHER_POLARITY.search(clause) or _SUPPOSED.search(clause) or is_asked(text, match.end()):
        return None
    if _FORMAT.search(text[max(0, match.start() - 30) : match.start()]):
        return None
    denied, end = skip_filler(text, match.end())
    denied = denied or _NEGATED_BEFORE.search(clause) is not None
    return Cue(match.start(), end, tier, denied, hedged=_HEDGED.search(clause + text[match.end() : end]) is not None)


def skip_filler(text: str, position: int) -> tuple[bool, int]:
    """(a negation was passed, where the answer begins)."""
    denied = False
    while True:
        negation = _NEGATION.match(text, position)
        if negation and negation.end() > position:
            denied, position = True, negation.end()
            continue
        filler = _HEDGE.match(text, position) or FILLER.match(text, position)
        if filler is None:
            return denied, position
        position = filler.end()


def clause_before(text: str, position: int) -> str:
    """The words of the clause that ends at ``position``."""
    start = max(0, position - 120)
    before = text[start:position]
    edges = list(_CLAUSE_EDGE.finditer(before))
    return before[edges[-1].end() :] if edges else before


def is_asked(text: str, position: int) -> bool:
    """The sentence around ``position`` ends as a question."""
    end = _SENTENCE_END.search(text, position)
    stop = end.start() if end else len(text)
    return text[stop : stop + 1] == "?" or bool(re.search(r"[吗呢]$", text[position:stop]))
