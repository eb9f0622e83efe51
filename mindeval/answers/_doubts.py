"""Whether a sentence asserts what it says, in English and Chinese: the gate that every statement passes.

A statement counts only where its sentence is a plain assertion of the writer. Each kind that is not has a name here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mindeval.answers._words import PEOPLE, PEOPLE_ZH, SAYS, THEREFORE, THEREFORE_ZH, word

_CLAUSE_EDGE = re.compile(
    rf"[,.!?;:。、\n]|{word(f'(?:but|then|{THEREFORE})')}|但|那么|{THEREFORE_ZH}|(?<!否)则", re.IGNORECASE
)
_SENTENCE_EDGE = re.compile(
    rf"[!?。;\n]|\.(?!\w)|{word(f'(?:but|however|{THEREFORE})')}|但|{THEREFORE_ZH}|不过|然而",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[!?。\n;]|\.(?![\w)])|$")
_WINDOW = 160  # characters; no clause that introduces an answer is longer

# "the correct", "最终" belong to the name of the answer and not to what introduces it
_DETERMINERS = re.compile(
    r"(?:(?<!\w)(?:(?:the|an?|my|our|only|single|correct|right|best|final|true|real|actual)\s+)+|(?:正确的?|最终的?"
    r"|该题的?|本题的?)+)$",
    re.IGNORECASE,
)
# words that sound like doubt and are certainty, or concede a thing without depending on it
_CERTAIN = re.compile(
    r"(?<!\w)(?:(?:no|without|beyond)(?: any| a| all)? (?:\w+ )?(?:doubt|question)|undoubtedly|even (?:if|though"
    r"|when)"
    r"|as if|if (?:i'm|i am) not mistaken|not (?:only|just|merely|surprisingly)|no wonder|cannot be denied)(?!\w)"
    r"|毫?无疑[问义]|毋庸置疑|不容置疑|不可否认|不难(?=看|发|得|知|理|判)|不得不|没有疑问|即使|就算|即便|不仅|不但"
    r"|不管|不论|无论|无非|不妨"
    r"|[最很极]有?可能",
    re.IGNORECASE,
)

# Each kind: (name, where it is looked for, pattern). "clause" is what precedes in the same clause, "sentence" in the
# same sentence up to a word such as "so" or "but"; both without the determiners of the answer's name.
_INTRODUCTIONS: list[tuple[str, str, re.Pattern]] = [
    (
        "condition",
        "sentence",
        re.compile(
            r"(?<!\w)(?:if|unless|suppose|supposing|provided|in case|as long as)(?!\w)"
            r"|^\W*(?:otherwise|assuming you)(?!\w)|如果|假如|假设|假使|倘若"
            r"|若(?!干)|要是|除非|只要|万一",
            re.IGNORECASE,
        ),
    ),
    (
        "condition",
        "clause",
        re.compile(
            r"(?<!\w)(?:whether|assume|assuming|imagine|wish|had(?! to)|(?<!is )why|how|depending|otherwise"
            r"|else|only when)(?!\w)"
            r"|是否|是不是|(?<!就是)为什么|为何|为啥|否则|怎么|^设",
            re.IGNORECASE,
        ),
    ),
    (
        "hedge",
        "clause",
        re.compile(
            r"(?<!\w)(?:might|may|could|perhaps|maybe|possibly|possible|conceivabl[ey]|plausible|potentially|chance"
            r"|tempt\w*"
            r"|seem(?:s|ed)? to be|either|looks? like|one (?:would|can)|toss[- ]up|torn between|between)(?!\w)"
            r"|可能|也许|或许|大概|恐怕|说不定|估计|貌似|好像|要么|既|(?:也|都)可以?$",
            re.IGNORECASE,
        ),
    ),
    (
        "doubt",
        "clause",
        re.compile(
            r"(?<!\w)(?:doubt\w*|unlikely|improbable|implausible|unsure|uncertain|unclear|unconvinced|wonder\w*"
            r"|den(?:y|ies|ied)|refut\w+"
            r"|disagree\w*|disput\w+|reject\w*|i question|questionable|impossible|hardly|scarcely|barely|no way"
            r"|far from|suspicious"
            r"|sceptical|skeptical|hard to (?:believe|accept|see)|difficult to (?:believe|accept)|no (?:evidence"
            r"|reason|proof|basis)"
            r"|pretend\w*|(?:refuse|hesitate|decline|fail|unable|regret|hate|afraid|reluctant|going|wanted)(?:s|d"
            r"|ed)? to|except|not|cannot|never|nobody|no one|none|neither|nor|(?:not"
            r"|n't)\s+(?:\w+\s+)?(?:convinced|sure|certain|clear|obvious|enough|follow"
            r"|mean|imply|prove|show|suggest|think|believe|agree|say|the case|true|certain|possible|likely|correct"
            r"|right))"
            r"(?:\s+[\w']+){0,4}[\s\"'(]*$|n't(?:\s+[\w']+){0,4}[\s\"'(]*$"
            r"|(?:怀疑|不(?:能|是|敢|可|便|好)?(?:说|确认|断定|肯定|保证|认同|承认|知道|清楚|明白|确信)|不确定"
            r"|不肯定|不能确定|无法确定|不敢说|很难说|难说|难以|未必|不一定|不见得|谁说|难道|岂|误以为|误认为|以为"
            r"|看似|并不?意味着|不代表|不能说明?"
            r"|不能得出|不认为|不觉得|不同意|不赞[成同]|不相信|不信|反对|不太|从未|从不|没人|无人|没有人|不可能"
            r"|绝不|决不|绝非|并非|[怎哪岂]么?[会能可]|哪里|何必|千万别|不要|不会|不至于"
            r")[^,]{0,8}$",
            re.IGNORECASE,
        ),
    ),
    (
        "wrong",
        "sentence",
        re.compile(
            r"(?<!\w)(?:wrong|incorrect|false|untrue|mistake\w*|errors?|erroneous|inaccurate|unwise|foolish|silly"
            r"|premature"
            r"|misleading|myth|misconception|trap|fallacy|lie|nonsense|absurd|bad idea|easy|careless|risky)\s*"
            r"(?:[:\"'(]|(?:is|was)(?!\w)|(?:that|to|for \w+ to)(?!\w)(?:\s+\w+){0,3})?[\s\"'(]*$"
            r"|(?<!\w)(?:wrong|incorrect|false|worst|popular|common|possible)\s+(?:answer|option|choice|one"
            r"|response)s?(?:\s+(?:is|was|are|would be))?[\s:=\"'(-]*$"
            r"|(?:(?:错误|不正确|有误|干扰|错|不对|易错)的?(?:答案|选项|项|选择)|误区|陷阱|谬误|错误"
            r"|不正确)(?:的?是|的?认为|地|[:\"'(]|就是|在于)*$",
            re.IGNORECASE,
        ),
    ),
    (
        "past",
        "clause",
        re.compile(
            r"(?<!\w)(?:at first|initially|originally|previously|used to|(?:i|we)(?: had| have| first"
            r"| initially)? (?:thought|guessed|believed"
            r"|assumed|suspected)|my first|almost|nearly)(?!\w)"
            r"|起初|最初|一开始|原来|原本|原先|本来|先前|之前|刚才|刚开始|乍一?看|曾|差点|先$",
            re.IGNORECASE,
        ),
    ),
    (
        "past",
        "sentence",
        re.compile(r"(?<!\w)(?:at first (?:glance|sight)|on the face of it)(?!\w)|乍一?看|表面上", re.IGNORECASE),
    ),
    (
        "opinion",
        "sentence",
        re.compile(
            rf"(?<!\w)(?i:according to) (?:the )?(?:[\w']+ )?(?:(?i:{PEOPLE})|[A-Z][a-z]+(?!\w|'))(?!\w)"
            rf"|(?<!\w)(?i:in|by) (?:his|her|their|your|\w+'s) (?:opinion|view|words)"
            r"|(?<!\w)(?i:supposedly|allegedly|reportedly|\w+ has it)(?!\w)|据说|听说|据传|传言"
            r"|据[^,]{1,6}(?:说|称|讲)"
            rf"|(?:根据|按照?|依){PEOPLE_ZH}[^,]*的?(?:说法|观点|看法|意见|答案)",
        ),
    ),
    (
        "opinion",
        "sentence",
        re.compile(
            rf"(?:{PEOPLE_ZH}[^,]{{0,6}}?(?:说|认为|觉得|以为|主张|坚持|猜|声称|断言|相信|告诉|回答|建议"
            rf"|给出)[^,]{{0,6}}?[,:\"'“(]*"
            rf"|{PEOPLE_ZH}(?:都|也|们|就|会|可能|往往|常常?|容易|一般|最终|最后|曾|经常|错误地|误|错|只|的|所|选的?"
            rf"|写的?){{0,4}})$"
        ),
    ),
    (
        "opinion",
        "clause",
        re.compile(
            r"(?<!\w)(?!(?:let|that|it|here|what|there|question|problem|today|who)'s)(?:\w+'s|his|her|their|your"
            r"|whose)\s+(?:[\w-]+\s+)?$",
            re.IGNORECASE,
        ),
    ),
    (
        "opinion",
        "sentence",
        re.compile(r"^\W*(?:user|human|student|classmate|customer)\s*:(?!\w)", re.IGNORECASE),
    ),
    (
        "example",
        "sentence",
        re.compile(r"^\W*(?:for example|for instance|e\.g\.)(?!\w)|^\W*(?:例如|比如|譬如)", re.IGNORECASE),
    ),
    (
        "example",
        "clause",
        re.compile(
            r"(?<!\w)(?:format|form|template|such as|e\.g\.?|for example|example|for instance|like|write|reply with"
            r"|respond with"
            r"|in the style of|of the type|type)\W*$|(?:格式|形如|例如|比如|譬如|写成|如下|诸如|输入|填写)\W*$",
            re.IGNORECASE,
        ),
    ),
]
_INTRODUCTIONS.sort(key=lambda one: one[0] != "opinion")  # what others think unsettles less than what the writer does
_SAYING = re.compile(
    rf"(.*?)(?<!\w){SAYS}(?:\s+(?:me|us|him|her|it))?[\s,:\"'(]*(?:that(?!\w))?[\s\"'(]*$", re.IGNORECASE | re.DOTALL
)
_OWN = re.compile(
    r"(?:(?<!\w)(?:i|we|let's|let us|me|to|can|us|would|must|should)|^\W*)(?:'(?:d|ll|m|re|ve))?(?:\s+(?:would|will"
    r"|shall|should|must|have|to|am|are|do|can"
    r"|now|also|still|then|\w+ly|going|want|be|able|say|conclude|only|just|and))*\s*$",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"(?<!\w)(?:this|that|which|it|these|all|data|evidence|results?|graph|table|passage|text|above|author|and"
    r"|as)\s+(?:\w+ly\s+)?$",
    re.IGNORECASE,
)

_CONDITION_AFTER = re.compile(
    r"[\s,)]*(?:is |are )?(?:the )?(?:correct|right|true|best|answer)?[\s,]*(?:only |but only |just |just in case )?"
    r"(?:(?:if|unless|provided|assuming|in case|depending|as long as|under the assumption|supposing|iff"
    r"|only when)(?!\w)"
    r"|如果|若(?!干)|假如|除非|要是|只要|当且仅当|取决于)",
    re.IGNORECASE,
)
_PAST_AFTER = re.compile(
    r"[\s,(]*(?:(?:in|on|for|from|of|until) (?:the |an? |its |their )?"
    r"(?:previous|earlier|older?|prior|former|(?:last|first) (?:year|time|edition|version|test|exam|draft"
    r"|attempt))(?!\w)"
    r"|(?:previously|originally|initially|at first|back then|last (?:time|year)|until|before the)(?!\w))",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"(?:(?<!\w)(?:otherwise|or else|else)(?!\w)"
    r"|否则)[^.。\n]{0,20}?(?<![A-Za-z])[(\[\"']?[A-Z](?![A-Za-z'])(?!\W+(?:is|would be|was) (?:wrong"
    r"|false|incorrect))"
)
# The statement is what the sentence speaks of: "that the answer is B is a myth", "选B会导致矛盾".
_SUBJECT_AFTER = re.compile(
    r"[\s\"'”’」』]*(?:(?:is|are|was|were|would be|will be|seems|sounds|looks|leads?|would lead|contradicts"
    r"|remains)(?!\w)"
    r"|的话|将?会(?!选)|导致|使得|有点|未免|就会|则会|太|不太|略|是?(?:不对|错|不正确|有误|不合理|不妥)|这(?:个|种"
    r"|一)?(?:说法|观点|结论|答案)|但是?(?:有误|错|不对)|与否)",
    re.IGNORECASE,
)
_OPINION_AFTER = re.compile(
    rf"[\s,(\"']*(?:is (?:the )?(?:correct|right|answer)[\s,]*)?(?:(?:that|as|which|or so|at least|is what"
    rf"|the one)\s+)*(?:according to (?:the )?(?:[\w']+ )?(?:(?i:{PEOPLE})|[A-Z][a-z]+(?!\w|'))(?!\w)"
    rf"|(?:says?|said|claims?|thinks?) (?![iI](?!\w))\w+|(?:(?i:{PEOPLE})|(?!I(?!\w)"
    rf"|We(?!\w))[A-Z][a-z]+)(?:\s+\w+){{0,2}}\s+(?:{SAYS}|gives?|gave|chooses?|chose|picks?|picked|selects?"
    rf"|selected|prefers?)(?!\w)|supposedly|allegedly|reportedly"
    rf"|{PEOPLE_ZH}[^,]{{0,4}}(?:说|认为|觉得)|的(?:人|同学|学生|考生|网友|朋友))",
)


def certain(text: str) -> str:
    """The text with the phrases that only sound like doubt blanked out, each by as many blanks, so positions stay."""
    return _CERTAIN.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=1024)  # the rules ask for the same place again and again
def _last_part(before: str, edge: re.Pattern) -> str:
    edges = list(edge.finditer(before))
    return before[edges[-1].end() :] if edges else before


def clause_before(text: str, position: int) -> str:
    """The words of the clause that ends at ``position``."""
    return _last_part(text[max(0, position - _WINDOW) : position], _CLAUSE_EDGE)


def sentence_before(text: str, position: int) -> str:
    """The words of the sentence before ``position``, from the last "so", "but" or their like."""
    return _last_part(text[max(0, position - _WINDOW) : position], _SENTENCE_EDGE)


def sentence_after(text: str, position: int) -> str:
    """The rest of the sentence with its closing mark, at most a window of it."""
    end = _SENTENCE_END.search(text, position, position + 2 * _WINDOW)
    return text[position : end.end()] if end else text[position : position + 2 * _WINDOW]


def is_asked(text: str, position: int) -> bool:
    """The sentence around ``position`` ends as a question."""
    sentence = sentence_after(text, position).rstrip(" \n。)\"'")
    return sentence[-1:] == "?" or bool(re.search(r"[吗呢]$|对不对$|\S是不是$", sentence))


def doubt_before(text: str, position: int) -> str:
    """Why what stands at ``position`` is not plainly asserted by what introduces it: ``"condition"`` ("if ..."),
    ``"hedge"`` ("maybe"), ``"doubt"`` ("I doubt it"), ``"wrong"`` ("it is wrong that"), ``"past"`` ("I first thought"),
    ``"opinion"`` ("some say that"), ``"example"`` ("such as"); empty where it is."""
    return _doubt(clause_before(text, position), sentence_before(text, position))


@lru_cache(maxsize=1024)
def _doubt(clause: str, sentence: str) -> str:
    scopes = {"clause": _DETERMINERS.sub("", clause), "sentence": _DETERMINERS.sub("", sentence)}
    for name, scope, pattern in _INTRODUCTIONS:
        if pattern.search(scopes[scope]):
            return name
    said = _SAYING.match(scopes["sentence"])
    if said and not _OWN.search(said.group(1)) and not _EVIDENCE.search(said.group(1)):
        return "opinion"
    return ""


def doubt_after(text: str, position: int) -> str:
    """Why what follows ``position`` keeps what ends there from being asserted: ``"condition"``, ``"opinion"``,
    ``"past"``, ``"subject"`` (the sentence goes on to judge it), ``"question"``; empty where nothing does."""
    rest = sentence_after(text, position)
    if _CONDITION_AFTER.match(rest) or _OTHERWISE.search(text, position, position + _WINDOW):
        return "condition"
    if _OPINION_AFTER.match(rest):
        return "opinion"
    if _PAST_AFTER.match(rest):
        return "past"
    return "subject" if _SUBJECT_AFTER.match(rest) else "question" if is_asked(text, position) else ""
