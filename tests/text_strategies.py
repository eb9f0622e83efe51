"""Texts for property tests: CJK, Latin, Arabic, Thai, emoji, combining marks, punctuation, numbers, and nothing."""

from __future__ import annotations

from hypothesis import strategies as st

ALPHABET = (
    "abcABC the cat 0123456789 .,;:!?-'\"()[]{}&%$#@/\\<>|~^_`+*= \t\n"
    "的是在昇腾模型训练今天天气，。！？《》（）“”—…、；：１２ＡＢ々ぁアﾊ한글"
    "éñüßİ\u0301\u0308مرحباไทยที่😀👍🏽\u200d\ufe0f\u3000\u00a0€𠀀"
)
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "3.14",
    "1,000",
    "don't",
    "今天",
    "天气",
    "很好",
    "，",
    ".",
    "&amp;",
    "U.S.",
]

characters = st.text(alphabet=sorted(set(ALPHABET)), max_size=25)
sentences = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
joined = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
texts = st.one_of(characters, sentences, joined, st.just(""))


@st.composite
def corpora(draw, max_samples: int = 5, max_references: int = 3):
    """Predictions, and as many references for each of them."""
    number = draw(st.integers(1, max_references))
    samples = draw(
        st.lists(st.tuples(texts, st.lists(texts, min_size=number, max_size=number)), min_size=1, max_size=5)
    )
    return [prediction for prediction, _ in samples], [references for _, references in samples]
