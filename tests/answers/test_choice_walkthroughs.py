"""Texts that examine several options, several cases or several questions: what they choose, where they choose.

{x} is an option, {y}, {z} and {w} are the others. What each text chooses is the plain meaning of its words.
"""

from __future__ import annotations

import pytest

from mindeval.answers.extraction import extract_choice

LISTED = """{y}: {no} / {z}: {no} / {w}: {no} / {x}: {yes}
- {x}: {yes} / - {y}: {no} / - {z}: {no} / - {w}: {no}
Option {y}: This is {no} because X. / Option {x}: This is {yes} because W. / Option {z}: This is {no} because Z.
{y} - this option is {no} / {z} - this option is {no} / {x} - this option is {yes} / {w} - this option is {no}
{y}) Too small - {no}. / {z}) Too large - {no}. / {x}) Fits the data - {yes}. / {w}) Has no unit - {no}.
({y}) Paris → {no} / ({z}) London → {no} / ({x}) Rome → {yes}
{y}. Paris ({no}) / {x}. Rome ({yes}) / {z}. London ({no})
| Option | Verdict | / |---|---| / | {y} | {no} | / | {x} | {yes} | / | {z} | {no} | / | {w} | {no} |
| Option | Why | Right? | / |:-:|---|---| / | {y} | small | {no} | / | {x} | fits | {yes} | / | {z} | big | {no} |"""
VERDICTS = [("incorrect", "correct"), ("wrong", "right"), ("False", "True"), ("❌", "✅"), ("✗", "✓")]
CHINESE_LISTED = """{y}项，{no}。 / {z}项，{no}。 / {x}项，{yes}。 / {w}项，{no}。
{y}：{no} / {x}：{yes} / {z}：{no}
{y}（{no}）{x}（{yes}）{z}（{no}）
{y}{no} {x}{yes} {z}{no} {w}{no}
| 选项 | 判断 | / |---|---| / | {y} | {no} | / | {x} | {yes} | / | {z} | {no} | / | {w} | {no} |
| 选项 | 理由 | 判断 | / |---|---|---| / | {y} | 过小 | {no} | / | {x} | 吻合 | {yes} | / | {z} | 过大 | {no} |"""
CHINESE_VERDICTS = [("错误", "正确"), ("不正确", "正确"), ("错", "对"), ("×", "√")]

CHOSEN = {
    "what is left": """{y}, {z} and {w} are incorrect.
{y}, {z}, and {w} are all wrong because they mix cause and effect.
{y} is wrong. {z} is wrong. {w} is wrong.|{y}、{z}、{w}三项均不正确。|{y}，{z}和{w}都错了|{y}、{z}和{w}都不对。
{y}错误，{z}错误，{w}错误。|We have ruled out {y}, {z} and {w}.|Only {x} remains.|Only {x} is left.|只剩下{x}。
Among the four options, only {x} satisfies the equation.|Only option {x} fits all three conditions.
只有{x}满足条件。|{y} and {z} are too small. Only {x} meets the requirement.""",
    "the best of its kind": """The most likely diagnosis is {x}.|The most appropriate next step is option {x}.
The closest option is {x}.|So the closest option to 3.98 is {x}.|The choice that best completes the sentence is {x}.
The best next step is a water test (option {x}).|The correct answer is photosynthesis ({x}).
The most likely diagnosis is acute appendicitis ({x}).|The answer is none of these ({x}).
{x} seems to be the most reasonable choice.|{x} is the most logical option.|{x} appears to be the best fit.
{x} accounts for inflation and is therefore the best choice.|I get 12, which matches option {x}.
This is best captured by option {x}.|Option {x} best captures the intent.|This aligns with option {x}.
The credited response is {x}.|我选择{x}作为答案。
最可能的诊断是{x}。|与选项都不符，最接近的是{x}。|x=3，对应选项{x}。|计算结果为25，与选项{x}一致。|错误的一项是{x}。
选项{x}的描述是准确的。""",
    "cases that do not hold": """Option {y} would be correct if it were hot. It is not, so option {x} is correct.
{y} would be the right answer, but it ignores heat. The answer is {x}.""",
    "all of the others": """The answer is {x}, all of the above, because {y}, {z}, and {w} are all correct.
{y}, {z} and {w} are all true, so the answer is {x}.|{x}. Both {y} and {z} are true.""",
    "what was asked for": """{y}项说法正确，不符合题意；{z}项正确，不符合题意；{x}项说法错误，符合题意。
{y}正确，不当选；{x}错误，当选。|{y}项正确，排除；{z}项正确，排除；{x}项错误，符合题意。""",
    "alone": """{x} would be my choice.|Q5. {x}|5. {x}|符合条件的只有{x}。
The court will most likely rule for the defendant (choice {x}).""",
    "marked": "❌ {y} / ❌ {z} / ✅ {x} / ❌ {w}|- ✓ {x} / - ✗ {y} / - ✗ {z}",
    "asked and answered": """{y}? No. {z}? No. {x}? Yes.|Is it {y}? No, that needs heat. Is it {x}? Yes.
Could it be {x}? Yes, exactly.""",
    "others' turn": """User: I think {y} / Assistant: Actually, the correct answer is {x}.
Q: Which planet is the largest? / A: {x}
The answer is {x}. Question: Which city is the largest? Answer: {y}|答案是{x}。问题：最大的城市是？答案：{y}
The answer is not {y}, as many students think, but {x}.|本题答案为{x}，{y}为干扰项。
Hence, ({x}).|The light is red. Thus, {x}.""",
}
NOT_CHOSEN = {
    "cases": """{x} for men and {y} for women.|The answer is {x} for men and {y} for women.
The answer is {x} in the US; in the UK it would be {y}.|The answer is {x}; in the UK it would be {y}.
Assuming you mean the US, the answer is {x}.|Otherwise, the answer is {x}.|男性选{x}，女性选{y}。
The answer is {x} when it rains, and {y} when it snows.|The answer is {x}, but for children it is {y}.""",
    "several questions": """1. {x} 2. {y}|1. {x} / 2. {y} / 3. {z}|(1) {x} (2) {y}|（1）{x}（2）{y}
第1题选{x}，第2题选{y}。
Question 1: {x} / Question 2: {y}|Q1: {x}, Q2: {y}|The answer to question 1 is {x} and to question 2 is {y}.
1. Answer: {x} / 2. Answer: {y}|第一题答案是{x}，第二题答案是{y}。|1-{x}, 2-{y}""",
    "another edition": """The answer was {x} in the previous edition.|The answer was {x} originally.|上一版的答案是{x}。
The answer was {x} last year.|去年的答案是{x}。|The answer was {x} in the last edition.""",
    "another name for it": """The answer is {x}. That is, {y}.|The answer is {x}, i.e. {y}.
The answer is {x}, namely {y}.""",
    "started again": """Answer: {x} / / Actually, let me reconsider.|The answer is {x}. Let me double check this...
The answer is {x}. Hmm, let me think again.|答案是{x}。让我重新考虑一下。|答案是{x}。我再检查一遍。
The answer is {x}. Wait, let me recalculate""",
    "none or several": """None of the options {x}, {y}, {z}, or {w} are correct.|None of {x}, {y} and {z} is correct.
{x}, {y} and {z} are all correct.|Both {x} and {y} are correct.|{x}、{y}、{z}都正确。
{x} is wrong. {y} is wrong.|{x}, {y} and {z} are wrong, and {w} is only partly right.
{x}, {y} and {z} are wrong. What about {w}?|{x} is wrong. {y} is wrong. {z} is wrong. {w}""",
    "likelihoods": """{x} (70%), {y} (20%), {z} (10%)|{x}: 60% / {y}: 30% / {z}: 10%
I think it's {x}, but I could be wrong.|The answer is {x}, though I'm not sure.
The answer is {x}. I'm not sure about this.|答案：{x}（存疑）|答案是{x}，但我不太确定。
The answer would be {x} if it were hot.""",
    "walked through": """Option {x}: This is plausible. / Option {y}: This is plausible. / Option {z}: This is unlikely.
- {x}: describes heat / - {y}: describes cold / - {z}: describes light""",
    "another's": """User: I think {x}|Student: the answer is {x}
The most common answer is {x}.|The most popular choice is {x}.""",
    "terms": "(C) major|The C: drive is full.|C: drive|Answer: A/B testing is used.",
}


def templates(text: str) -> list[str]:
    return [template.replace(" / ", "\n") for line in text.split("\n") for template in line.split("|")]


def filled(template: str, **words: str) -> list[tuple[str, str]]:
    return [
        (x, template.format(x=x, y=y, z=z, w=w, **words)) for x, y, z, w in ("ABCD", "BDAC", "CADB", "DCBA", "CBDA")
    ]


@pytest.mark.parametrize(
    ("listed", "verdicts"),
    [(text, pair) for pair in VERDICTS for text in LISTED.split("\n")]
    + [(text, pair) for pair in CHINESE_VERDICTS for text in CHINESE_LISTED.split("\n")],
)
def test_the_option_that_a_list_or_table_judges_right_is_read(listed, verdicts):
    for letter, text in filled(listed.replace(" / ", "\n"), no=verdicts[0], yes=verdicts[1]):
        assert extract_choice(text).answer == letter, text
        stated = f"{text}\n\nThe answer is {letter}."
        assert extract_choice(stated).answer == letter, stated


@pytest.mark.parametrize("listed", LISTED.split("\n"))
def test_a_list_that_judges_several_options_right_chooses_none(listed):
    for _, text in filled(listed.replace(" / ", "\n"), no="correct", yes="correct"):
        assert extract_choice(text).answer is None, text


@pytest.mark.parametrize("template", [one for text in CHOSEN.values() for one in templates(text)])
def test_what_an_examination_ends_with_is_read(template):
    for letter, text in filled(template):
        assert extract_choice(text).answer == letter, text


@pytest.mark.parametrize("template", [one for text in NOT_CHOSEN.values() for one in templates(text)])
def test_what_differs_between_cases_and_questions_is_not_read(template):
    for _, text in filled(template):
        assert extract_choice(text).answer is None, text


def test_a_list_of_options_that_are_judged_together_is_read_where_several_may_be_chosen():
    for text in ("A, B, and D are all correct.", "Both A and B are correct, and D is correct.", "A、B、D都正确。"):
        assert extract_choice(text, multiple=True).answer == "ABD", text
    assert extract_choice("A and C are correct. B and D are incorrect.", multiple=True).answer == "AC"
