"""Texts that name an option without choosing it, or choose another later: kinds x templates x letters x wrappers.

{x} is an option, {y} and {z} are two others. What each text chooses is the plain meaning of its words.
"""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice

WRAPPERS = {"bare": "{}", "bold": "**{}**", "full-width brackets": "（{}）", "quoted": '"{}"'}

# The text ends with choosing {x}.
CHOSEN = {
    "corrected": """The answer is {y}. Oops, I meant {x}.|The answer is {y}, no wait, {x}.
The answer is {y}. Sorry, {x}.
Answer: {y}. Make that {x}.|Answer: {y}. Edit: {x}|The answer is {y}. Wait, no. It's {x}.|{y}. No, {x}.
The answer is {y}. Scratch that, it's {x}.|I'd say {y}. On second thought, {x}.
I choose {y}. I change my answer to {x}.
The answer is {y}. My mistake, it is {x}.|{y}. Actually, it should be {x}.|Answer: {y}. Correction: {x}.
答案是{y}。更正：{x}|答案是{y}，哦不，是{x}。|先选{y}后改为{x}|答案是{y}。不对，应该是{x}。
答案是{y}。等等，应该是{x}。
应该选择{y}。但是仔细分析后，应该选择{x}。|答案是{y}。我写错了，是{x}。|答案是{y}。抱歉，我看错了，应该选{x}。
答案：{y}。修正：{x}
我先选{y}，后来改成{x}。|答案是{y}……不对，是{x}|刚才说错了，答案是{x}|起初我以为是{y}，后来发现应该是{x}
乍一看答案是{y}，其实答案是{x}。""",
    "the false one": """The incorrect statement is {x}.|The false statement is {x}.|All but {x} are wrong.
All except {x} are incorrect.
说法错误的是{x}|下列说法错误的是{x}。|表述不正确的是{x}|不正确的说法是{x}|除了{x}以外都是错的。
除{x}外，其他选项都错误。|不属于哺乳动物的是{x}""",
    "verdicts": """{y}: False / {x}: True / {z}: False|{y}: wrong, {x}: right, {z}: wrong
{y}：错误，{x}：正确，{z}：错误|{y} ✗ {x} ✓ {z} ✗""",
    "others disagree": """Many students choose {y}, but the answer is {x}.
The answer is {x}. Many students choose {y}.
Some say {y}, but the correct answer is {x}.|Although some argue for {y}, the answer is {x}.
答案是{x}。很多人会选{y}。|有人选{y}，但正确答案是{x}
很多人觉得答案是{y}，其实答案是{x}。|小明认为是{y}，但他错了，答案是{x}。
The answer is {x}. A common mistake is to choose {y}.""",
    "certain": """There is no doubt that the answer is {x}.|That is why the answer is {x}.|这就是为什么答案是{x}。
Without a doubt, {x}.
The most likely answer is {x}.|I believe the answer is {x}.
This shows that the answer is {x}.|According to Newton's second law, the answer is {x}.|You should choose {x}.
Even if it were hot, the answer is {x}.|毫无疑问，答案是{x}。|不难看出，答案是{x}。|最可能的答案是{x}。
我认为答案是{x}。|根据题意，答案是{x}。
这道题应该选{x}。|综合考虑，选{x}。|与其选{y}，不如选{x}。|因此，本题的正确答案是选项{x}。|我倾向于选{x}。|必选{x}""",
    "confirmed": """The answer is {x}. Let me double check: 2+2=4. Yes.
The answer is {x}. It is not true that heat flows uphill.
The answer is {x}. None of the other options is right.|The answer is {x}. If it were {y}, mass would vanish.
The answer is {x}. Is it {y}? No.|The answer is {x}. Please let me know if I made a mistake.
The answer is {x}, while {y} is wrong.
答案是{x}。其他选项都不对。|选{x}。{y}项错误，应为“光合作用”。|答案是{x}，{y}不如{x}准确。
答案：{x}。解析：如果选{y}，质量就会消失。""",
}
# The text chooses nothing, or leaves open what it chooses.
NOT_CHOSEN = {
    "retracted": """The answer is {x}. This is incorrect.|The answer is {x}. I no longer believe that.
答案是{x}。其实不是。|答案是{x}。我改主意了。
The answer is {x}. That's wrong.
The answer is {x}. Just kidding.
The answer is {x}. That's not it.|The answer is {x}. That can't be right.|The answer is {x}. I doubt it.
The answer is {x}. NOT!
The answer is {x}. I take that back.|The answer is {x}. Oops.|The answer is {x}. Wait,
The answer is {x}. However, this is not correct.
The answer is {x}. Ignore that.|The answer is {x} (wrong).|The answer is {x}, which is wrong.
The answer is {x}... or is it?
答案是{x}。这是错误的。|答案是{x}。我说错了。|答案是{x}。收回。|答案是{x}。不对。|答案是{x}，开玩笑的。
答案是{x}。才怪。|答案是{x}，但这是错的。
答案是{x}。这个答案不对。|答案是{x}。等等，|{x}。不对。""",
    "denied": """It cannot be {x}.|Never choose {x}.|You shouldn't pick {x}.|Nobody would pick {x}.
The answer is anything but {x}.
{x} would be a mistake.|Choosing {x} would be a mistake.|{x} is worse than {y}.|{x} is a trap.
Anything but {x}.|Not {x}.|Eliminated: {x}
绝非{x}|答案绝非{x}|不要选{x}|千万别选{x}|不能选{x}|{x}不如{y}|选{x}就错了|选{x}不太合适|{x}偷换概念|误选{x}
把{x}当作答案是错误的""",
    "doubted": """I doubt that the answer is {x}.|It is unlikely that the answer is {x}.
It is doubtful that {x} is correct.
It's hard to believe that the answer is {x}.|It's false that the answer is {x}.
It would be wrong to choose {x}.|It's a mistake to pick {x}.
I refuse to say that the answer is {x}.|I cannot confirm that the answer is {x}.
The idea that {x} is correct is absurd.
That the answer is {x} is a myth.|Incorrect answer: {x}|The wrong answer is {x}.|The most common answer is {x}.
错误答案：{x}|错误答案是{x}。|未必是{x}|答案未必是{x}|不一定选{x}|我怀疑答案是{x}|我不认为答案是{x}
很难说{x}正确|谁说答案是{x}
认为{x}正确是不对的|说答案是{x}是错误的|答案绝不可能是{x}|{x}正确与否不确定|干扰项是{x}""",
    "others' opinion": """Some say the answer is {x}.|A naive reader would pick {x}.
Legend has it that the answer is {x}.|一部分人选{x}，一部分人选{y}
粗心的同学会选{x}|谁会选{x}|Many students choose {x}.|He says the answer is {x}.
Bob thinks the answer is {x}.
According to Bob, the answer is {x}.|The student's answer is {x}.|My friend chose {x}.
It is often claimed that the answer is {x}.
Everyone thinks {x} is correct.|{x} is what most students choose.|{x} is the answer most people give.
Your answer is {x}.|Most chose {x}.
很多人会选{x}|小明选{x}|有人认为答案是{x}|据说答案是{x}|他的答案是{x}|大家都选{x}|老师说选{x}|选{x}的人很多
书上的答案是{x}|张三选{x}""",
    "hedged": """The answer could be {x}.|Maybe {x}.|Perhaps {x}|It might be {x}|{x} may be correct.
You might think the answer is {x}.
I'm tempted to choose {x}.|One possible answer is {x}.|{x} is almost correct.|{x} is not necessarily correct.
{x} seems plausible.
可能是{x}|也许是{x}|答案可能是{x}|恐怕是{x}|答案似乎是{x}|{x}可能正确|{x}不一定正确|{x}部分正确""",
    "superseded": """I used to think the answer was {x}.|At first glance, the answer is {x}.
The initial answer was {x}.|Had I chosen {x}, I'd be wrong.
I almost chose {x}.|一开始我以为是{x}|乍一看答案是{x}|之前的答案是{x}|{x}是我最初的答案""",
    "conditional": """Choose {x} if x>0, otherwise {y}.|When x>0 the answer is {x}, otherwise it's {y}.
当x>0时，答案是{x}；否则是{y}
If x > 0, the answer is {x}.
The answer is {x} if x > 0.|The answer is {x} unless x < 0.
Pick {x} when x > 0, otherwise {y}.|{x} is correct only if x>0.|Assume the answer is {x}.
如果x>0选{x}，否则选{y}|若x>0，则选{x}|只要x>0就选{x}|除非选{x}
假设答案是{x}|选{x}的话，质量就消失了|要是选{x}就好了""",
    "asked": """The answer is {x}?|Why is the answer {x}?|Could {x} be the answer?|What about {x}?|{x}?
难道是{x}？|选{x}吗|怎么可能是{x}|答案是不是{x}""",
    "several": """either {x} or {y}|The answer is either {x} or {y}.|{x}~{y}|{x} → {y}|{x}/{y}
The answer is {x} to {y}.|The answer is {x} → {y}.
The answer is {x}, or maybe {y}.|The answer is {x}. Or {y}.|The answer is {x}. {y} is also correct.
The answer is {x}, but {y} is better.
The answer is between {x} and {y}.|{x}, although {y} is also correct|Somewhere between {x} and {y}
{x} is as good as {y}.
可能选{x}也可能选{y}|{x}到{y}|答案是{x}到{y}|答案：{x}/{y}|答案是{x}，或者是{y}|选{x}还是选{y}|不是{x}就是{y}
要么{x}要么{y}|既可以选{x}也可以选{y}
答案是{x}。{y}也对。|从{x}到{y}|{x}、{y}都对|{x}比{y}更合适""",
    "excepted": """All except {x} are correct|All but {x} are right.|除了{x}以外都正确|除了{x}以外都对
The answer is none of {x}, {y}, {z}.
The answer is neither {x} nor {y}.""",
    "spoken of": """Consider option {x}.|Let's start with option {x}.|{x} says that heat flows.
The answer begins with {x}.|For example, the answer is {x}.
{x}. This option says heat flows. {y}. This option says cold flows.|I considered {x}.
Picking {x} gives 5, not 4.|选{x}会导致矛盾
选{x}必错|选{x}会扣分|选{x}是陷阱|选{x}没道理|I can't decide between {x} and {y}.""",
}
BOXED = """not \\boxed{{{x}}}|The answer is not \\boxed{{{x}}}|\\boxed{{{x}}} is wrong
\\boxed{{{x}}} is incorrect.|It cannot be \\boxed{{{x}}}.
\\boxed{{{x}}} or \\boxed{{{y}}}|$\\boxed{{{x}}}$ or $\\boxed{{{y}}}$|\\boxed{{{x}}} and \\boxed{{{y}}}
\\boxed{{{x}}}, \\boxed{{{y}}}|\\boxed{{{x} or {y}}}
\\boxed{{{x}}} to \\boxed{{{y}}}|The answer might be \\boxed{{{x}}}|The wrong answer is \\boxed{{{x}}}
Some say \\boxed{{{x}}}|\\boxed{{{x}}}? No.
答案不是\\boxed{{{x}}}|\\boxed{{{x}}}是错误的|\\boxed{{{x}}}或\\boxed{{{y}}}"""
TERMS = """Vitamin {x}|Vitamin {x} is correct.|{x}-52 is a bomber.|{x} major|The answer is {x} major.|Plan {x}
Hepatitis {x}|Type {x}|grade {x}
He is on team {x}.|{x}++ is a language|{x}# is a language|The blood type is {x}.|Mr. {x}|J. {x}. Smith
{x}. J. Smith wrote it.|Point {x} is on the line.
Let {x} = 3.|{x} = 3|{x} cells are immune cells.|{x} is for apple.|{x} students passed.|P({x}) = 0.5
{x} stands for amp.|Programming in {x} is fun.
维生素{x}|维生素{x}是正确的|{x}类|{x}超|{x}语言|{x}恤|{x}型血|血型是{x}|他的血型是{x}。|{x}级|{x}座|{x}大调
{x}轮融资|选手{x}|当选{x}|首选{x}|{x}是一个字母"""


def templates(text: str) -> list[str]:
    return [template for line in text.split("\n") for template in line.split("|")]


def texts(template: str, wrappers=("{}",)) -> list[tuple[str, str]]:
    """(a letter, the template filled with it and two others) for each letter and wrapper."""
    filled = []
    for wrapper in wrappers:
        for letter in "ABCD":
            rest = [other for other in "ABCD" if other != letter]
            y, z = rest[ord(letter) % 3], rest[(ord(letter) + 1) % 3]
            filled.append((letter, template.format(**{k: wrapper.format(v) for k, v in zip("xyz", (letter, y, z))})))
    return filled


@pytest.mark.parametrize(
    ("kind", "template"), [(kind, one) for kind, text in CHOSEN.items() for one in templates(text)]
)
def test_what_a_text_ends_with_choosing_is_read(kind, template):
    for letter, text in texts(template, WRAPPERS.values()):
        assert extract_choice(text).answer == letter, text


@pytest.mark.parametrize(
    ("kind", "template"), [(kind, one) for kind, text in NOT_CHOSEN.items() for one in templates(text)]
)
def test_what_is_not_asserted_or_is_taken_back_is_not_read(kind, template):
    for _, text in texts(template, WRAPPERS.values()):
        assert extract_choice(text).answer is None, text


@pytest.mark.parametrize("template", templates(BOXED))
def test_a_box_is_gated_as_any_statement(template):
    for _, text in texts(template):
        assert extract_choice(text).answer is None, text


def test_the_last_of_several_boxes_is_read_unless_they_are_joined():
    assert extract_choice(r"First \boxed{B}. Checking again gives another result. So \boxed{C}").answer == "C"
    assert extract_choice(r"\boxed{A} is wrong. \boxed{B}").answer == "B"
    assert extract_choice(r"\boxed{A} and \boxed{C}", multiple=True).answer == "AC"


@pytest.mark.parametrize("template", templates(TERMS))
def test_a_letter_that_is_part_of_a_term_is_no_option(template):
    for _, text in texts(template):
        assert extract_choice(text).answer is None, text


@pytest.mark.parametrize("doubtful", [*templates(NOT_CHOSEN["others' opinion"]), *templates(NOT_CHOSEN["conditional"])])
@pytest.mark.parametrize("then", ["\nThe answer is {y}.", "\n所以答案是{y}。", "\n\\boxed{{{y}}}"])
def test_a_doubtful_statement_does_not_hide_the_answer_after_it(doubtful, then):
    for letter, text in texts(doubtful.replace("{y}", "{z}").replace("{x}", "{z}") + then.replace("{y}", "{x}")):
        assert extract_choice(text).answer == letter, text


def test_the_pronoun_and_the_article_are_no_options():
    labels = "ABCDEFGHI"
    for text in (
        "I was wrong.",
        "I would say so.",
        "I",
        "I think so",
        "A right angle",
        "A well known fact",
        "As I said, I agree.",
    ):
        assert extract_choice(text, labels).answer == ("I" if text == "I" else None), text


@pytest.mark.parametrize("join", [" or ", " to ", "~", " → ", "或", "到", "还是"])
def test_an_open_list_chooses_nothing_even_where_several_may_be_chosen(join):
    for template in ("The answer is {}.", "答案是{}", "{}"):
        assert extract_choice(template.format(f"B{join}C"), multiple=True).answer is None


def test_the_text_of_an_option_is_gated_as_its_letter():
    options = ["oxygen", "carbon dioxide", "nitrogen", "C major scale"]
    for text in (
        "I doubt it is oxygen.",
        "Some say oxygen.",
        "Is it oxygen?",
        "If oxygen is there, it burns.",
        "not oxygen",
    ):
        assert extract_choice(text, options=options).answer is None, text
    assert extract_choice("D C major scale", options=options).answer == "D"
    assert extract_choice("Plants give off oxygen.", options=options).answer == "A"


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "A, ",
        "A→",
        "选A",
        "the answer is ",
        "answer ",
        "no, ",
        "\n",
        " \n",
        "\\boxed{",
        "\\boxed{A} or ",
        "not ",
        "是",
        "我",
        "if ",
        "<think",
    ]
    + ["A is right. ", "some say ", "a, "],
)
def test_long_repetitions_are_read_to_their_end(piece):
    text = piece * (3000 // len(piece)) + "\n\nSo, finally: the correct answer is C."
    assert extract_choice(text).answer == "C"
    assert extract_choice(text, options=["an oak", "a fir", "an elm", "a yew"]).answer == "C"


def test_a_loop_of_an_options_own_text_ends_and_is_no_other_option():
    assert extract_choice("no, " * 30_000, options=["Yes", "No", "5", "zinc"]).answer in ("B", None)
