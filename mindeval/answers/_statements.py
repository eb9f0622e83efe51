"""Where a text states an answer, in English and Chinese: cues, and whether each is asserted, denied or doubtful.

Nothing here knows what an answer looks like; the extractors read it from where a cue ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindeval.answers._doubts import clause_before, doubt_before, is_asked, sentence_before
from mindeval.answers._filler import skip_filler
from mindeval.answers._frames import is_elsewhere
from mindeval.answers._text import BOX_MARK
from mindeval.answers._words import THEREFORE, THEREFORE_ZH

# "The answer is", "ANSWER:", "the correct option is"; adjectives that turn a cue round are seen by _OTHER_POLARITY.
_NOUN_EN = (
    r"(?<![\w/])(?:"
    r"answers?|ans\.?"
    r"|(?:correct|right|best|final|true|credited|intended|most (?:likely|appropriate|suitable|accurate))\s+"
    r"(?:choices?|options?|selections?|solutions?|responses?|statements?|letters?|ones?)"
    r"|(?:my|final)\s+(?:choice|selection|pick|response)"
    r"|(?:choice|selection)(?=\s*[:=])"
    r"|(?:correct|selected)(?=\s*:)|solution(?=\s+is\s+(?:option|choice|\())|(?:exception|odd one out)(?=\s+is(?!\w))"
    r"|(?:statement|one|option|sentence) that is (?:(?:not|in|un)\s*)?(?:true|correct|false|wrong)(?=\s+is(?!\w))"
    # the questions "which is false?" and their like are answered so; "the incorrect option" is one that is ruled out
    r"|(?:(?:in|un)?(?:correct|true|false|wrong|accurate))\s+(?:statement|sentence|claim|description"
    r"|assertion)(?=\s+is(?!\w))"
    r")(?![\w])(?:\s*\((?:s|final|letter)\))?"
    # "the answer to this question is", "the best option among these would be"
    r"(?:\s+(?:to|for|of|in|from|among|here|out of|that)\b[^.!?:;\n]{0,80}?(?=\s*(?::|\b(?:is|are|would|should"
    r"|must)\b)))?"
)
_NOUN_OTHER = (
    r"(?<!\w)(?:antwort|lösung|réponse|respuesta|resposta|risposta|antwoord|odpowiedź|ответ|정답|답|答え"
    r"|正解)(?!\w{3})"
    r"(?:\s+(?:correcta|correcte|corretta|finale?|richtige|верный))?"
)
_NOUN_ZH = (
    r"(?:(?:说法|表述|叙述|描述|判断|推断|理解|分析|做法|观点)中?,?(?:错误|有误|不正确|不恰当|不准确|不合理|不属实"
    r"|正确|恰当|准确)的(?:一项|选项|一个)?(?=[是为])"
    r"|(?:错误|不正确|有误|不恰当|不准确|不符合题意)的一项(?=[是为])|不属于[^,。;\n]{1,16}的(?:一项|选项|一个)?(?=[是为])"
    r"|(?:错误|不正确|有误|不恰当|不准确)的(?:说法|表述|叙述|描述|判断|做法|观点)(?=[是为])"
    r"|最(?:合适|恰当|符合题意|准确|合理|好|佳|贴切|可能|接近)的?(?:选项|一项|说法|选择)(?=[是为])"
    r"|我的选择(?=[是为:])|【(?:解答|答)】"
    r"|答案】?|(?<!\w)result(?=\s*(?:is|:|=))|正确选项|正解|(?<!不)正确的?(?:说法|表述|叙述|描述|判断|选择|选项"
    r"|一项|做法)|答(?=\s*[::])"
    r"|回答(?=\s*[::是])|结果(?=\s*[::是为]))"
    r"|(?<![不错])正确的(?=\s*(?:是|有|为|[::]))|(?<!不)符合(?:题意|条件|要求)的(?=\s*(?:是|只?有|为|[::]))"
)
_VERB_EN = (
    r"(?<!\w)(?:choos(?:e|es|ing)|chose|chosen|pick(?:s|ed|ing)?|select(?:s|ed|ing)?|go(?:es|ing)? with|opt(?:s|ed"
    r"|ing)? for"
    r"|(?:vote|go(?:es|ing)?) for|settled? on|stick(?:ing)? with|take(?= \W?(?:option )?\W?[A-Z](?!\w))|i say"
    r"|i'd say|mark)(?!\w)"
)
_VERB_ZH = r"(?:(?:应该?|应当|故|可)?选(?:择|取|定)?|填)(?!项|自|手|民|举|中的|修|拔|材|题)"
_ANSWER_CUE = re.compile(
    "|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _NOUN_ZH, _VERB_EN, _VERB_ZH]), re.IGNORECASE
)
_NOUN_CUE = re.compile("|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _NOUN_ZH]), re.IGNORECASE)
_ENGLISH_CUE = re.compile("|".join([BOX_MARK, r"####", _NOUN_EN, _NOUN_OTHER, _VERB_EN]), re.IGNORECASE)
_CHINESE_CUE = re.compile("|".join([BOX_MARK, r"####", r"(?<!\w)answer(?!\w)", _NOUN_ZH, _VERB_ZH]), re.IGNORECASE)
_DENYING_CUE = re.compile(
    r"(?<!\w)(?:rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|discard(?:s|ed|ing)?"
    r"|reject(?:s|ed|ing)?"
    r"|neither|not|never|except|unlike|instead of|rather than)(?!\w)|n't(?!\w)|(?:排除|去掉|删去|否定|不是|并非"
    r"|而非|绝非|决非|除了?)",
    re.IGNORECASE,
)
# "so B", "it's B", "→ B": weaker than naming the answer.
_CONCLUDING_CUE = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|that is,(?= \W?[A-Z]\W)|(?:it|that|this)(?:\s+(?:is|must be"
    r"|has to be"
    r"|should be|would be|(?:may|might|could|can)(?: also| well| still)? be)|'s)|i (?:think|believe|guess|reckon)"
    r"|(?:that|this|which|so) leaves(?: us)?(?: with)?"
    r"|left with|(?:which is|corresponds to|(?:which )?match(?:es|ing))(?= (?:option|choice))"
    r"|(?:align|agree|correspond|fit|coincide|accord)s? with(?= (?:option|choice|answer))"
    r"|best (?:captur|describ|represent|express|support|explain|answer|reflect|match|summari[sz]|stat|illustrat)ed"
    r" (?:by|in|with)(?= (?:option|choice|answer)| \()"
    r"|i\.e\.,?|namely,?"
    # "the most likely diagnosis is", "the closest option to 3.98 is"
    r"|(?:the|our) (?:most (?:likely|probable|plausible|appropriate|suitable|accurate|reasonable|logical|fitting"
    r"|relevant|effective|direct)|best|closest|nearest|only)(?: [\w'.-]+){0,8}? (?:is|was|would be|matches)"
    r"|(?:choice|option|answer|word|phrase|sentence|statement|one)(?: that| which|)(?: best| most \w+| correctly"
    r"| accurately)(?: [\w'-]+){1,12}? is)"
    r"(?=[\s,:(\[])|(?:(?:最(?!常见|容易|流行|多)[^,。;\n]{1,10}| {2,4}|^)的[^,。;错误\n]{0,8}[是为](?=\W?[A-Z])"
    r"|(?:对应|符合|匹配)(?=选项)"
    r"|与(?=选项.(?:项|选项)?(?:的?\w{0,3})"
    rf"(?:一致|相符|吻合|匹配|对应|相同)))|[⇒⟹→]|=>|∴|(?:{THEREFORE_ZH}|可知|即|就是|是|只?剩下?)",
    re.IGNORECASE,
)
_THEREFORE = re.compile(rf"{THEREFORE}|{THEREFORE_ZH}$", re.IGNORECASE)
# Before "是" and "it is": a conclusion begins its clause, or it says something of something else ("血型是A").
_CONCLUSION_BEFORE = re.compile(
    rf"(?:^|那么?|这|它|应该?|应当|当然|显然|一定|必然|必定|肯定|只能|正确的|{THEREFORE_ZH}|就|而|我(?:们)?(?:认为"
    r"|觉得|想)"
    r"|(?:(?:i|we) (?:think|believe|say|know|conclude|see|guess)|that|and|since|because|clearly|obviously"
    r"|definitely|maybe|then))\s*$",
    re.IGNORECASE,
)

# Who chooses: the writer, a duty, or nobody named; "students pick", "小明选" are told of others.
_CHOSEN_BY_EN = re.compile(
    rf"^\W*(?:(?:{THEREFORE}|then|and|finally|now|please|just|simply|i say|i'd say|\w+ly)\W+)*$"
    r"|(?:(?<!\w)(?:i|we|should|must|let's|let us|let me|please"
    r"|(?:have|has|need|needs|going|want|decided?|like|forced|able|right|best|correct|safest?|me|us) to|(?:best"
    r"|right|correct|safest) (?:\w+ )?is to)(?:'(?:d"
    r"|ll|m|re|ve))?"
    r"(?:\s+(?:would|will|shall|should|must|have|to|am|are|do|going|can|had|need|want|like|rather|ultimately"
    r"|therefore|thus|hence|then|also|still|now|just|finally|\w+ly))*)\s*$",
    re.IGNORECASE,
)
_CHOSEN_BY_ZH = re.compile(
    rf"(?:^[\s\W]*|我们?|本人|笔者|咱们?|题目?|空|应该?|应当|必|{THEREFORE_ZH}|于是|则|就|[只须]?能|只有|必须|须"
    r"|需要?|最终|最后"
    r"|可以?|正确|正解|答案|结果|那么?|要|(?<![A-Za-z0-9项])还是|得|直接|果断|决定|建议|不如|而是|而|改|分析|考虑"
    r"|看出|可[知得见]|比较|判断|推断|得出|排除法|计算|题意"
    r"|知|此|以上|所述|来看|显然|当然|肯定|一定|会|将|再|便|仍然?|也|倾向于|优先|更)[\s:]*$"
)
_GERUND = re.compile(r"(?:choosing|picking|selecting|opting for)$", re.IGNORECASE)
_GERUND_BY = re.compile(r"(?<!\w)(?:i|we)(?:'(?:m|re)|\s+(?:am|are))(?:\s+\w+ly)?\s*$", re.IGNORECASE)

_NEGATED_BEFORE = re.compile(
    r"(?:(?<!\w)(?:not|never|cannot|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't|couldn't|isn't|aren't|wasn't"
    r"|instead of|rather than|without|nobody should|no one should|rul(?:e|es|ed|ing) out|eliminat(?:e|es|ed|ing)"
    r"|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?|avoid(?:s|ed|ing)?|neither|nor|unlike)\s+(?:be\s+"
    r"|have\s+)?(?:\w+\s+)?"
    r"|(?:不|别|勿|未|莫|没有?|不能|不可|不应|不应该|不该|不会|不宜|不可能|不要|不得|不是|并非|绝非|而非|排除|否定"
    r"|去掉|除了?)\s*)$",
    re.IGNORECASE,
)
_OTHER_POLARITY = re.compile(
    r"(?:(?<!\w)(?:wrong|incorrect|false|bad|worst|no|(?:least|less) \w+|(?:second|next)[- ]?(?:best)?|user|student"
    r"|original|previous|initial|first|popular|common|old"
    r"|earlier|outdated|former|possible"
    r"|plausible|tempting|intuitive|other|another|potential|alternative|unlikely|naive|supposed|so-called"
    r"|would-be)\s+(?:\w+\s+)?"
    r"|(?:错误|不正确|不恰当|有误|干扰|常见|上一?[次版期年][^,。]{0,4}?|去年|往年|次优|其次|旧版|上一个|前一个|上一题的?|原|旧|之前的|先前的|前面的|易错|误选|不对"
    r"|错)的?\s*)$",
    re.IGNORECASE,
)
_OPPOSITE = re.compile(
    r"(?:in(?:correct|accurate)|untrue|false|wrong)|错误|有误|不正确|不恰当|不准确|不合理|不属", re.IGNORECASE
)
_LINK = re.compile(r"[:=\-–—→>]|(?<!\w)(?:is|are|was|be|ist|est|es|lautet)(?!\w)|'s|[是为选]", re.IGNORECASE)
_UNLINKED_BY = re.compile(
    rf"^\W*(?:(?:{THEREFORE}|then|and|finally|i|we|would|the|my|our|final|correct|best|right|本题"
    rf"|正确|最终|标准|参考|{THEREFORE_ZH}|【)\W*)*$",
    re.IGNORECASE,
)
# "It should be B, but the mass is conserved"
_EXPECTED = re.compile(r"(?<!\w)should be(?!\w)|应该?是", re.IGNORECASE)
_BUT_AFTER = re.compile(
    r"\W{0,3}\w(?:\W{1,3}(?:but|however|yet|except)(?!\w)|\W{0,3}(?:但|可是|然而|不过))", re.IGNORECASE
)
_MAYBE = re.compile(r"(?:may|might|could|can)(?!\w)", re.IGNORECASE)
ELSEWHERE = "elsewhere"  # the doubt of a statement that counts only where nothing else is stated


@dataclass(frozen=True)
class Cue:
    """A place after which an answer is expected. ``tier`` is 1 for a named answer, 3 for a conclusion; ``hedged`` marks
    "may be", ``opposite`` "the false statement is"."""

    start: int
    end: int
    tier: int
    denied: bool
    hedged: bool = False
    name: str = ""

    @property
    def opposite(self) -> bool:
        return _OPPOSITE.search(self.name) is not None


def answer_cues(text: str, language: str | None = None, verbs: bool = True) -> list[Cue]:
    """The cues that name an answer ("the answer is", "答案:", a box), in order, without doubtful ones but for hedges
    ("may be"); with ``verbs`` also those that make a choice ("I pick", "选")."""
    return [cue for cue in all_answer_cues(text, language, verbs) if doubt_of(text, cue) in ("", "hedge")]


def all_answer_cues(text: str, language: str | None = None, verbs: bool = True, last: int = 0) -> list[Cue]:
    """As answer_cues, and the doubtful ones too, for which doubt_of says why; only the ``last`` so many, if given."""
    pattern = {"en": _ENGLISH_CUE, "zh": _CHINESE_CUE, None: _ANSWER_CUE}[language] if verbs else _NOUN_CUE
    return [_cue(text, match, tier=1) for match in list(pattern.finditer(text))[-last:]]


def other_cues(text: str) -> list[Cue]:
    """The weaker cues: conclusions ("so", "it's"), and denials ("not", "排除")."""
    concluded = [
        _cue(text, match, tier=3)
        for match in _CONCLUDING_CUE.finditer(text)
        if not re.match(r"it|th(?!e )(?!.*leaves)(?!.*which)|是|就|即", match.group(), re.IGNORECASE)
        or _CONCLUSION_BEFORE.search(clause_before(text, match.start()))
    ]
    denied = [Cue(match.start(), match.end(), 3, True) for match in _DENYING_CUE.finditer(text)]
    return sorted(concluded + denied, key=lambda cue: (cue.start, cue.end))


def _cue(text: str, match: re.Match, tier: int) -> Cue:
    return _read_on(text, match.start(), match.group(), tier)


def _read_on(text: str, start: int, name: str, tier: int) -> Cue:
    """The cue of a name at ``start``, up to where its answer begins."""
    denied = _NEGATED_BEFORE.search(clause_before(text, start)) is not None
    if name in (BOX_MARK, "####"):
        return Cue(start, start + len(name), tier, denied, name=name)
    negated, hedged, end = skip_filler(text, start + len(name))
    hedged = hedged or (tier == 3 and _MAYBE.search(name) is not None)
    return Cue(start, end, tier, denied or negated, hedged, name)


def cut_short(text: str, cue: Cue, end: int) -> Cue:
    """The cue whose answer begins at ``end``, among what was taken for its filler ("is" | "not enough information")."""
    if not cue.name or cue.name in (BOX_MARK, "####") or end >= cue.end:
        return cue
    return _read_on(text[:end], cue.start, cue.name, cue.tier)


def doubt_of(text: str, cue: Cue) -> str:
    """Why a cue is not plainly asserted by what surrounds it, empty where it is; see ``_doubts``."""
    if not cue.name:
        return ""
    if cue.name in (BOX_MARK, "####"):
        return doubt_before(text, cue.start)
    after, clause = cue.start + len(cue.name), clause_before(text, cue.start)
    if _OTHER_POLARITY.search(clause):
        return "wrong"
    if doubt := doubt_before(text, after if _THEREFORE.match(cue.name) else cue.start):
        return doubt
    if is_asked(text, after):
        return "question"
    if not _chosen(cue.name, clause):
        return "opinion"
    is_noun = cue.name[-1:].lower() in "rs案" and not re.fullmatch(_VERB_EN, cue.name, re.IGNORECASE)
    if is_noun and not _LINK.search(text[cue.start : cue.end]):
        chosen = cue.name.lower() == "answer" and _CHOSEN_BY_EN.search(clause)  # "I'd answer B"
        if not chosen and not _UNLINKED_BY.match(clause):
            return "unlinked"
    if _EXPECTED.search(text[max(0, cue.start - 2) : cue.end]) and _BUT_AFTER.match(text, cue.end):
        return "hedge"
    if cue.hedged:
        return "hedge"
    return ELSEWHERE if is_elsewhere(sentence_before(text, cue.start), text[cue.start : cue.end]) else ""


def introduces(text: str, cue: Cue) -> bool:
    """The cue names what the rest of its sentence describes ("the answer is", "the best option is")."""
    named = cue.tier == 1 or re.match(r"(?:the|our) ", cue.name, re.IGNORECASE) is not None
    return named and _LINK.search(text[cue.start : cue.end]) is not None


def _chosen(name: str, clause: str) -> bool:
    """A choice is the writer's own; cues that are no verbs of choice are."""
    if re.fullmatch(_VERB_EN, name, re.IGNORECASE):
        return (_GERUND_BY if _GERUND.match(name) else _CHOSEN_BY_EN).search(clause) is not None
    if re.fullmatch(_VERB_ZH, name):
        return re.match("应|故", name) is not None or _CHOSEN_BY_ZH.search(clause) is not None
    return True
