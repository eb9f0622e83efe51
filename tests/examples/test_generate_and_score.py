"""The example of generation within Model.eval, against sacrebleu and rouge-score on the texts it must generate."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
import sacrebleu
from rouge_score import rouge_scorer, tokenizers

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import generate_and_score


class Characters(tokenizers.Tokenizer):
    def tokenize(self, text):
        return list(text)


@pytest.mark.parametrize(("language", "tokenize"), [("English", "13a"), ("Chinese", "zh")])
def test_scores_are_those_of_the_reference_tools(language, tokenize, capsys):
    scores = generate_and_score.main()[language]
    pairs = generate_and_score.PAIRS[language]
    # the network copies its prompt, and after 很 it says 好
    generated = [prompt.replace("很快", "很好") for prompt, _ in pairs]
    references = [reference for _, reference in pairs]
    expected = sacrebleu.corpus_bleu(generated, [references], tokenize=tokenize).score
    assert 100 * float(scores["bleu"]) == pytest.approx(expected, rel=1e-12)
    scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=Characters() if language == "Chinese" else None)
    rouge = [scorer.score(one, other)["rougeL"].fmeasure for one, other in zip(references, generated)]
    assert scores["rouge-l"] == pytest.approx(math.fsum(rouge) / len(rouge), rel=1e-15)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 6 and printed[0].split(": ")[1] == printed[1].split(": ")[1]
