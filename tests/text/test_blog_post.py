"""The example of blog posts, against scikit-learn, sacrebleu and rouge-score. Two ranks run it in tests/distributed."""

from __future__ import annotations

import math

import blog_post
import pytest
import sacrebleu
from rouge_score import rouge_scorer, tokenizers
from sacrebleu.metrics.bleu import _get_tokenizer
from sklearn.metrics import accuracy_score, f1_score


class ByCharacter(tokenizers.Tokenizer):
    """What "auto" takes, written out for these texts: each Chinese character or mark is a token, or English words."""

    def tokenize(self, text):
        english = text.isascii()
        return text.lower().split() if english else list(text)


def test_every_value_is_that_of_the_reference_tools():
    values = blog_post.evaluate()
    predictions, references = blog_post.generate(slice(None)), blog_post.REFERENCES
    classes = blog_post.classify(slice(None)).asnumpy()
    assert values["accuracy"] == accuracy_score(blog_post.LABELS, classes)
    assert values["f1"] == pytest.approx(f1_score(blog_post.LABELS, classes), rel=1e-15)

    names = ["13a" if text.isascii() else "zh" for text in references]
    tokens = [[_get_tokenizer(name)()(text) for name, text in zip(names, side)] for side in (predictions, references)]
    expected = sacrebleu.corpus_bleu(tokens[0], [tokens[1]], tokenize="none", force=True).score
    assert 100 * float(values["bleu"]) == pytest.approx(expected, rel=1e-12)

    scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=ByCharacter())
    scores = [scorer.score(one, other)["rougeL"].fmeasure for one, other in zip(references, predictions)]
    assert values["rouge-l"] == pytest.approx(math.fsum(scores) / len(scores), rel=1e-15)
