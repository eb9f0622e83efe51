"""Speed of BLEU and ROUGE against sacrebleu, rouge-score, nltk, torchmetrics and rouge-chinese in the same run.

Texts are made here, reproducibly; with the folder of corpora beside the checkout (or MINDEVAL_SHARED) the Chinese
documents are scored, too. Peers that are not installed are left out. Times are the least CPU time of interleaved runs
in one thread; peers that take minutes run once.

    python benchmarks/text.py [--quick] [--pairs 1000]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GLOG_v", "3")

import sacrebleu
from rouge_score import rouge_scorer, tokenizers

from mindeval.text.bleu import BLEU
from mindeval.text.bleu_counts import bleu_from_statistics, bleu_statistics
from mindeval.text.rouge import ROUGE
from mindeval.text.tokenizers import bleu_tokenizer, rouge_tokenizer

SHARED = Path(os.environ.get("MINDEVAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def made_texts(rng: random.Random, number: int, length: int) -> tuple[list[str], list[str]]:
    """Pairs of about ``length`` tokens of a vocabulary with Zipf's law, of which about two thirds agree."""
    words = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(1, 9))) for _ in range(20000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    references = []
    for _ in range(number):
        drawn = rng.choices(words, weights, k=round(length * rng.uniform(0.6, 1.2)))
        marks = [word + rng.choice([",", ".", ""]) if rng.random() < 0.15 else word for word in drawn]
        references.append(" ".join(marks).capitalize() + ".")
    hypotheses = [
        " ".join(word if rng.random() < 0.7 else rng.choices(words, weights)[0] for word in reference.split())
        for reference in references
    ]
    return hypotheses, references


def least_times(
    works: dict[str, Callable[[], float]], slow: dict[str, int], rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """The least CPU time of each work over interleaved rounds, and its value; ``slow`` works take part in fewer."""
    least = dict.fromkeys(works, float("inf"))
    values = {}
    for turn in range(rounds):
        for name, work in works.items():
            if turn < slow.get(name, rounds):
                clear_caches()
                began = time.process_time()
                values[name] = work()
                least[name] = min(least[name], time.process_time() - began)
    return least, values


def clear_caches() -> None:
    """sacrebleu keeps the sentences it has tokenised; a second run would not tokenise at all."""
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_zh

    for tokenizer in (tokenizer_13a.Tokenizer13a, tokenizer_re.TokenizerRegexp, tokenizer_zh.TokenizerZh):
        tokenizer.__call__.cache_clear()


def report(title: str, measured: tuple[dict, dict], peer: str, bound: float) -> bool:
    """Print a table; whether the bound is reached. The value must be the peer's."""
    times, values = measured
    assert abs(values["mindeval"] - values[peer]) < 1e-12 * values[peer], values
    print(f"\n### {title}\n\n| | CPU time | against {peer} |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds * 1e3:,.1f} ms | {times[peer] / seconds:,.2f}x |")
    reached = times[peer] / times["mindeval"]
    print(f"\nmindeval: {reached:.2f}x {peer}, wanted {bound:g}x: {'yes' if reached >= bound else 'NO'}", flush=True)
    return reached >= bound


def corpus_bleu(rounds: int) -> bool:
    hypotheses, references = made_texts(random.Random(1), 3000, 25)
    split = bleu_tokenizer("13a")
    of_hypotheses, of_references = [split(text) for text in hypotheses], [split(text) for text in references]
    joined = [" ".join(tokens) for tokens in of_hypotheses], [" ".join(tokens) for tokens in of_references]

    def mindeval_end_to_end() -> float:
        metric = BLEU(tokenize="13a")
        for start in range(0, 3000, 500):
            metric.update(hypotheses[start : start + 500], references[start : start + 500])
        return 100 * metric.eval()

    def mindeval_counting() -> float:
        rows = bleu_statistics(of_hypotheses, [[one] for one in of_references])
        return 100 * bleu_from_statistics(rows.sum(axis=0))["bleu"]

    def sacrebleu_end_to_end() -> float:
        return sacrebleu.corpus_bleu(hypotheses, [references]).score

    def sacrebleu_counting() -> float:
        return sacrebleu.corpus_bleu(joined[0], [joined[1]], tokenize="none", force=True).score

    end_to_end = {"sacrebleu": sacrebleu_end_to_end, "mindeval": mindeval_end_to_end}
    counting = {"sacrebleu": sacrebleu_counting, "mindeval": mindeval_counting}
    if installed("nltk"):
        from nltk.translate.bleu_score import corpus_bleu as nltk_bleu

        counting["nltk"] = lambda: 100 * nltk_bleu([[one] for one in of_references], of_hypotheses)
    slow = {}
    if installed("torchmetrics"):
        from torchmetrics.text import SacreBLEUScore

        def torchmetrics_end_to_end() -> float:
            metric = SacreBLEUScore(tokenize="13a")
            for start in range(0, 3000, 500):
                metric.update(hypotheses[start : start + 500], [[one] for one in references[start : start + 500]])
            return 100 * float(metric.compute())

        end_to_end["torchmetrics"], slow = torchmetrics_end_to_end, {"torchmetrics": 2}
    tokens = sum(map(len, of_hypotheses)) / 3000
    title = f"Corpus BLEU, 3,000 pairs of {tokens:.0f} tokens (13a)"
    ok = report(f"{title}, end to end", least_times(end_to_end, slow, rounds), "sacrebleu", 1.6)
    return ok & report(f"{title}, after the tokenizer", least_times(counting, {}, rounds), "sacrebleu", 4)


def rouge_l(rounds: int, pairs: int) -> bool:
    candidates, references = made_texts(random.Random(2), pairs, 550)
    scorer = rouge_scorer.RougeScorer(["rougeL"])

    def by_mindeval() -> float:
        metric = ROUGE("rouge-l", "rouge-score")
        for start in range(0, pairs, 100):
            metric.update(candidates[start : start + 100], references[start : start + 100])
        return metric.eval()

    def by_rouge_score() -> float:
        scores = [scorer.score(one, other)["rougeL"].fmeasure for one, other in zip(references, candidates)]
        return sum(scores) / pairs

    works: dict[str, Callable[[], float]] = {"rouge-score": by_rouge_score, "mindeval": by_mindeval}
    if installed("torchmetrics"):
        from torchmetrics.functional.text.rouge import rouge_score as torchmetrics_rouge

        works["torchmetrics"] = lambda: float(
            torchmetrics_rouge(candidates, references, rouge_keys="rougeL")["rougeL_fmeasure"]
        )
    if installed("rouge_chinese"):
        from rouge_chinese import Rouge

        sys.setrecursionlimit(100000)
        works["rouge-chinese"] = lambda: Rouge(metrics=["rouge-l"]).get_scores(candidates, references, avg=True)[
            "rouge-l"
        ]["f"]
    slow = {"rouge-score": 1, "torchmetrics": 1, "rouge-chinese": 1}
    tokens = sum(len(rouge_tokenizer("rouge-score")(text)) for text in references) / pairs
    return report(
        f"ROUGE-L, {pairs:,} pairs of {tokens:.0f} tokens, end to end",
        least_times(works, slow, rounds),
        "rouge-score",
        150,
    )


def chinese_documents(rounds: int, every: int) -> bool:
    path = SHARED / "corpora" / "zh_mindspore_docs_documents.jsonl"
    if not path.is_file():
        print("\nno Chinese documents here: ROUGE-Lsum left out")
        return True
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line][::every]
    candidates, references = [row["hyp"] for row in rows], [row["ref"] for row in rows]
    ok = True
    for name in ("zh", "char"):
        split = rouge_tokenizer(name)

        class Wrapped(tokenizers.Tokenizer):
            def tokenize(self, text: str, split: Callable = split) -> list[str]:
                return split(text)

        scorer = rouge_scorer.RougeScorer(["rougeLsum"], tokenizer=Wrapped())

        def by_rouge_score(scorer: rouge_scorer.RougeScorer = scorer) -> float:
            scores = [scorer.score(one, other)["rougeLsum"].fmeasure for one, other in zip(references, candidates)]
            return sum(scores) / len(scores)

        def by_mindeval(name: str = name) -> float:
            metric = ROUGE("rouge-lsum", name)
            metric.update(candidates, references)
            return metric.eval()

        works = {"rouge-score": by_rouge_score, "mindeval": by_mindeval}
        title = f"ROUGE-Lsum, {len(rows)} Chinese documents, tokens by {name!r}, end to end"
        ok &= report(title, least_times(works, {"rouge-score": 1}, rounds), "rouge-score", 100)
    return ok


def growth() -> None:
    """The cost of an update must be linear in its batch, and the state as large as before."""
    print(
        "\n### Cost and memory of BLEU updates\n\n| pairs in a batch | CPU time of an update | for each pair | state |"
    )
    print("|---|---|---|---|")
    hypotheses, references = made_texts(random.Random(3), 4096, 25)
    for size in (1, 16, 256, 4096):
        metric = BLEU(tokenize="13a")
        least = float("inf")
        for _ in range(5):
            began = time.process_time()
            metric.update(hypotheses[:size], references[:size])
            least = min(least, time.process_time() - began)
        words = sum(state.size for state in metric._states.values())
        print(f"| {size:,} | {least * 1e3:.2f} ms | {least / size * 1e6:.0f} us | {8 * words} bytes |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pairs and rounds")
    parser.add_argument("--pairs", type=int, default=1000, help="of ROUGE-L")
    options = parser.parse_args()
    quick = options.quick
    names = ["sacrebleu", "rouge-score", "nltk", "torchmetrics", "rouge-chinese", "rapidfuzz", "numpy"]
    found = [name for name in names if installed(name.replace("-", "_"))]
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in found))
    rounds = 3 if quick else 7
    ok = corpus_bleu(rounds)
    ok &= rouge_l(rounds, 50 if quick else options.pairs)
    ok &= chinese_documents(rounds, 8 if quick else 1)
    growth()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
