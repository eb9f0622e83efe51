"""Preparing a generated text: reasoning blocks, character widths, markup."""

from __future__ import annotations

import re
import unicodedata

from mindeval.answers._result import Extraction

# Opening and closing marks of reasoning, as model families write them: <think>, </thinking>, <|begin_of_thought|>,
# [THINK], ◁/think▷; also with blanks, attributes, full-width or escaped brackets.
_REASONING_MARK = re.compile(
    r"(?:<|＜|&lt;|\\<|◁|(?-i:\[(?=/?(?:THINK|THOUGHT|REASONING)\])))\s*[|｜]?\s*(?P<close>/|end_of_"
    r"|end_)?\s*(?:begin_of_|begin_|start_of_)?"
    r"(?:seed:|ant:?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|analysis|rationale"
    r"|inner_?monologue"
    r"|chain_of_thought|cot|deliberation|思考|推理|思维链)"
    r"(?:\s[^<>＜＞]{0,60})?\s*[|｜]?\s*(?:>|＞|&gt;|▷|\])",
    re.IGNORECASE,
)
_VISIBLE_MARK = re.compile(r"<[|｜]\s*(?:begin|end)_of_(?:solution|answer|response)\s*[|｜]>")
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_OTHER_CHANNEL = re.compile(r"<\|channel\|>(?!final)\w+")

# Traditional characters of the words that the rules look for, so that each rule is written once.
_SIMPLIFIED = str.maketrans(
    "選擇項為對確錯誤應該題個這總結論綜問認說與終後無沒並樣來過從給會將僅種實雖須獨當視願見變歸難屬條關",
    "选择项为对确错误应该题个这总结论综问认说与终后无没并样来过从给会将仅种实虽须独当视愿见变归难属条关",
)
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")


def strip_reasoning(text: str) -> Extraction:
    """The part of a text that is meant for the reader, without its reasoning.

    Blocks such as ``<think>...</think>`` are removed. A closing mark without an opening one (the chat template wrote
    the opening one into the prompt) ends the reasoning that began with the text. An opening mark that is never closed
    means that the model was cut off while thinking: what follows it is not an answer.

    Args:
        text: What the model generated.

    Returns:
        Extraction: ``answer`` is the remaining text without outer white space (possibly empty), ``rule`` is
        ``"no reasoning"``, ``"closed reasoning"`` or ``"unclosed reasoning"``.

    Examples:
        >>> from mindeval.answers.extraction import strip_reasoning
        >>> strip_reasoning("<think>Is it B?</think>The answer is C.").answer
        'The answer is C.'
        >>> strip_reasoning("<think>Is it B? The answer").rule
        'unclosed reasoning'
    """
    visible, _, rule = split_reasoning(text)
    return Extraction(visible.strip(), rule)


def split_reasoning(text: str) -> tuple[str, str, str]:
    """(visible text, closed reasoning, rule), see strip_reasoning; white space is kept."""
    if not isinstance(text, str):
        raise TypeError(f"a generated text must be a str, but got {type(text).__name__}")
    if _FINAL_CHANNEL in text:
        reasoning, _, visible = text.rpartition(_FINAL_CHANNEL)
        return visible, reasoning, "closed reasoning"
    if _OTHER_CHANNEL.search(text):
        return "", "", "unclosed reasoning"
    return _without_blocks(_VISIBLE_MARK.sub("", text))


def _without_blocks(text: str) -> tuple[str, str, str]:
    """Remove the blocks between reasoning marks; nested and repeated marks are allowed."""
    marks = list(_REASONING_MARK.finditer(text))
    if not marks:
        return text, "", "no reasoning"
    visible: list[str] = []
    reasoning: list[str] = []
    depth, position = 0, 0
    for mark in marks:
        piece, position = text[position : mark.start()], mark.end()
        closes = mark.group("close") is not None
        if depth:
            reasoning.append(piece)
        elif closes:  # all that was written so far was reasoning
            reasoning, visible = [*reasoning, *visible, piece], []
        else:
            visible.append(piece)
        depth = max(0, depth - 1) if closes else depth + 1
    if depth:
        return "".join(visible), "".join(reasoning), "unclosed reasoning"
    return "".join(visible) + text[position:], "".join(reasoning), "closed reasoning"


def fold(text: str) -> str:
    """Full-width, circled and mathematical letters and digits as plain ones; the traditional characters of the rules'
    words as simplified ones; no invisible characters."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return text.translate(_SIMPLIFIED).replace("’", "'").replace("‘", "'").replace("`", "'")


_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BARE = re.compile(r"[^\s$.,;，。{}\\]+(?:[.,]\d+)*")
_LATEX_FONT = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|textsf|mathrm|mathbf|mathsf|mathit|mathbb|mbox|operatorname|bm"
    r"|boldsymbol|bf|rm)"
    r"\s*\{([^{}]*)\}"
)


def boxes(text: str) -> list[tuple[int, int, str]]:
    r"""(start, end, content) of each ``\boxed{...}``, ``\fbox{...}`` or ``\boxed x`` whose braces are balanced and that
    is not empty; of boxes in one another the outermost, with the content of the innermost if that is all it holds."""
    found: list[tuple[int, int, str]] = []
    marks = list(_BOX.finditer(text))
    closing = _closing_braces(text) if marks else {}
    reached = 0
    for match in marks:
        start = match.end()
        if match.start() < reached:
            continue
        if text[start : start + 1] != "{":
            if bare := _BARE.match(text, start):
                found.append((match.start(), bare.end(), bare.group()))
            continue
        end = reached = closing.get(start, -1)
        while (inner := _BOX.match(text, start + 1)) and closing.get(inner.end(), -2) == end - 1:
            start, end = inner.end(), end - 1
        if reached > 0 and text[start + 1 : end].strip("{} \n"):
            found.append((match.start(), reached + 1, text[start + 1 : end]))
    return found


def _closing_braces(text: str) -> dict[int, int]:
    """Where each brace that is opened is closed, in one pass."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            closing[opened.pop()] = match.start()
    return closing


def unwrap_fonts(text: str) -> str:
    r"""``\text{B}`` and its kind as ``B``."""
    for _ in range(20):  # deeper than anybody nests fonts, and a bound on the work
        text, changed = _LATEX_FONT.subn(r"\1", text)
        if not changed:
            break
    return text


BOX_MARK = "\ue000"  # a private character that stands for "here is a boxed or tagged answer"


def plain(text: str) -> str:
    """Folded text without Markdown, LaTeX and HTML wrappers; boxed and tagged answers begin with BOX_MARK."""
    for start, end, content in reversed(boxes(text)):
        text = f"{text[:start]}{BOX_MARK}{content}\n{text[end:]}"
    text = re.sub(r"<\s*(?:answer|final_answer|final|choice)\s*>", BOX_MARK, text, flags=re.IGNORECASE)
    text = re.sub(r"<\s*/\s*(?:answer|final_answer|final|choice)\s*>", "\n", text, flags=re.IGNORECASE)
    text = re.sub(r"<br\s*/?>", "\n", text)
    text = re.sub(r"</?(?:b|strong|i|em|p|span|u|mark|code|div|h\d|li|ul|ol)(?:\s[^<>]*)?>", "", text)
    text = re.sub(r"~~.*?~~", "", text)
    text = unwrap_fonts(text)
    text = re.sub(
        r"\\[()\[\]]|\\[,;:! ]|\\quad|\\left|\\right|\$|\*+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)", "", text
    )
    text = re.sub(r"^[ \t]*(?:#{1,6}(?!#)|>+)[ \t]*", "", text, flags=re.MULTILINE)
    return re.sub(r"[ \t]{2,}", " ", re.sub(r"[ \t]*\n\s*\n\s*", "\n\n", fold(text)))
