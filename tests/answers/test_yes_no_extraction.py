"""Which of two words a text answers with: whole words that are asserted, in English and Chinese."""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_yes_no

CHINESE_WORDS = {"yes": ("是", "对", "正确"), "no": ("否", "不是", "错误")}

# What each text says, by the plain meaning of its words; the kinds are the comments.
ENGLISH = {
    "Yes": [
        # the word, its echo in the question, what only sounds like doubt
        "Yes it is.|No doubt, yes|Yes or no? Yes.|yes or no: yes|Yes/No: Yes|Without a doubt, yes.|I would say yes.",
        "Short answer: yes",
        # corrections, other people's opinions, another sentence with the other word
        "No. Wait, yes.|No... sorry, yes.|No, I mean yes.|Answer: No\nCorrection: Yes",
        "Many people say no, but the answer is yes.",
        "Yes. No fish is a mammal.|Yes, there is no problem with that.",
        # another word of agreement, the word in quotes, what it answers
        "Absolutely!|Of course.|Certainly.|Indeed.|I would answer yes to this question.|The answer is \u201cyes\u201d.",
        # judgements
        "That's correct.|It is true.|The statement is true.|That is right.|This is not false.",
    ],
    "No": [
        "No it is not|No because heat flows|Yes or no? No|Of course no.|I'd say no.|Yes. Sorry, no.",
        "Yes, no wait, no.|Yes. Actually, no.",
        "It isn't true.|It is not true.|This cannot be true.|That can't be true.|not correct|That is not correct.",
        "It's not true.",
        "That's not the case.|This is not the case|That is false.|That's incorrect.|This statement is wrong.",
        "The claim is false.",
        'Of course not.|Absolutely not!|Certainly not.|Not at all.|Never.|The answer is "no".',
        "No, that's not correct.|No. That's wrong.|No, this is not true.|The statement isn't correct.",
    ],
    None: [
        # an echo, both
        "yes or no|Yes or no?|Yes/No|Yes and no.|yes, no|It's neither yes nor no|The answer is either yes or no.",
        # "no" that is a determiner or part of a name, "true" that is another adjective
        "No idea|No problem!|No. 5|No doubt|No way to know|No one knows.|No longer needed.|No matter what",
        "No worries|no-one|Dr. No",
        "There is no answer.|No answer.|No evidence supports it.|True love|Nowhere|Yesterday",
        # doubt, opinion, condition, question, retraction, half negation
        "Maybe yes|Perhaps no.|It could be yes.|The answer might be yes.|I doubt it.|Some say yes.|Bob says yes.",
        "He said no.",
        "Yes if x > 0.|If yes, go on.|Is it yes?|Yes?|I wish it were true|I don't know whether yes or no|not yes",
        "The answer is not yes.",
        "Yes. Just kidding.|Yes. That's wrong.|Yes, but that's not true.|It isn't necessarily true.",
        "It is partly true.",
        # two cases, two answers, a refusal
        "yes for adults and no for children|Yes in some states, no in others.",
        "If it rains, then yes. Otherwise, no.|If it rains, no; otherwise, yes.|Otherwise, no.|Yes.\n\nNo.",
        "No, I cannot answer that.|No. I can't tell.|No, I don't know.|Yes, but I cannot say.",
        "No, I'm unable to answer.",
        "Yes, but it depends on the state.|Yes, although it depends.",
        "User: yes|The answer was yes in the previous edition.|Yes. Let me reconsider.",
    ],
}
CHINESE = {
    "是": [
        "是|是的。|对|对的|正确。|没错|没有错误。|这句话是对的。|这句话正确。|这个说法是正确的。|该命题正确",
        "答案是对|答案：对|答案是正确。",
        "是，因为热量守恒|对，这是真的。|是的，没有问题。|回答：是|这句话没有错误|这个说法没有错|不是错误的",
        "是真的。|答案是：是的。|答案是“是”。|当然是。|当然|所以是对的|因此正确|说得对。|判断：正确",
        "不对，应该是正确。|错误。更正：正确|我认为是对的",
    ],
    "否": [
        "否|不是|不是的|不对。|不正确|错误。|错|错了|这句话是错的。|这句话不正确。|这句话不对|这个说法是错误的。",
        "该命题错误|答案是否|答案：否",
        "并非如此。|事实并非如此。|不是这样的|不，这不正确|这个说法不成立。|说法有误|不是，因为热量守恒",
        "这个观点并不正确。|存在错误",
        "是假的。|答案是：不是。|答案：不是|答案是“否”。|当然不是。|肯定不是|正确。不对，应该是错误|正确。更正：错误",
    ],
    None: [
        # a word inside another
        "对不起，我不知道|相对论很难|但是我不知道|我是学生。|还是|总是下雨|是因为下雨|对于这个问题|面对困难|反对",
        "错过了|不错|否则|否认|能否|对称|绝对值|对数函数|是非",
        "正确答案|正确的做法是喝水|错误的做法",
        # an echo of the question, doubt, opinion, condition, question, half negation
        "是否|是不是|对不对|是还是不是|正确还是错误|正确或错误|不知道对不对|不知道是否正确|可能是对的|也许正确",
        "我不确定|无法判断",
        "有人说是|有人认为这是对的|小明说是对的|如果是，就去|是吗|对吗？|不一定正确|未必正确|不完全正确|部分正确",
        "很难说对|对错参半|答案不是“是”。|是对是错，众说纷纭。|是的，不过要看情况。|如果下雨，是；否则，不是。|上一版的答案是对。|不是，我无法回答。",
    ],
}


def cases(table: dict) -> list[tuple[str, str]]:
    return [(text, answer) for answer, groups in table.items() for group in groups for text in group.split("|")]


@pytest.mark.parametrize("wrapper", ["{}", "**{}**", "Heat flows.\n\n{}", "<think>Yes. No.</think>{}"])
@pytest.mark.parametrize(("text", "answer"), cases(ENGLISH))
def test_english_texts_are_read_by_their_meaning(text, answer, wrapper):
    assert extract_yes_no(wrapper.format(text)).answer == answer


@pytest.mark.parametrize("wrapper", ["{}", "**{}**", "<think>是。否。</think>{}"])
@pytest.mark.parametrize(("text", "answer"), cases(CHINESE))
def test_chinese_texts_are_read_by_their_meaning(text, answer, wrapper):
    assert extract_yes_no(wrapper.format(text), **CHINESE_WORDS).answer == answer
    default = {"是": "Yes", "否": "No", None: None}[answer]  # the same meaning in the default words
    assert extract_yes_no(wrapper.format(text)).answer == default


@pytest.mark.parametrize(
    "pair", [("True", "False"), ("Correct", "Incorrect"), ("valid", "invalid"), ("正确", "错误")], ids="/".join
)
def test_negated_judgements_are_their_opposites(pair):
    for word, other in (pair, pair[::-1]):
        template = "这句话{}是{}的。" if word == "正确" or word == "错误" else "The statement is {} {}."
        negation = "不" if "这" in template else "not"
        assert extract_yes_no(template.format("", word).replace("  ", " "), (pair[0],), (pair[1],)).answer == word
        assert extract_yes_no(template.format(negation, word), (pair[0],), (pair[1],)).answer == other


def test_words_of_another_kind_are_not_read_by_general_meaning():
    assert extract_yes_no("That is not true.", ("positive",), ("negative",)).answer is None
    assert extract_yes_no("The review is positive.", ("positive",), ("negative",)).answer == "positive"


BRACKETS = ["(not mentioned)", "(paragraph 3)", "(it was cancelled).", "(90%)", "[1]"]


@pytest.mark.parametrize("bracket", BRACKETS)
def test_a_word_before_brackets_is_read(bracket):
    for word in ("Yes", "No"):
        for template in ("{}", "Answer: {}", "The answer is {}"):
            assert extract_yes_no(f"{template.format(word)} {bracket}").answer == word
    assert extract_yes_no("答案：否（文中未提及）", yes=("是",), no=("否",)).answer == "否"


@pytest.mark.parametrize("word", ["Yes", "No", "yes", "no"])
@pytest.mark.parametrize("join", ["\n", "\n\n", ". "])
def test_a_word_that_is_repeated_is_no_retraction(word, join):
    for times in (2, 3, 5):
        assert extract_yes_no(join.join([word] * times)).answer == word.capitalize()


@pytest.mark.parametrize("rest", ["I don't think so.", "I do not believe so.", "I don't think it is."])
def test_a_no_is_confirmed_by_what_would_take_back_a_yes(rest):
    assert extract_yes_no(f"No, {rest}").answer == "No"


@pytest.mark.parametrize("between", [" ", "\n\n", "\n\nExplanation: "])
def test_a_concession_does_not_replace_the_answer(between):
    for rest in (
        "Yes, they are alike, but they're not the same.",
        "Yes, it was founded in 1990, but not public.",
    ):
        assert extract_yes_no(f"No.{between}{rest}").answer == "No"
    assert extract_yes_no("Based on the information provided, yes, the two are related.").answer == "Yes"
