"""Text metrics on ranks with different numbers of samples, or none: the value of one process, bit for bit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mindspore as ms
from harness import case, run_all
from mindspore.communication import init

ms.set_device("CPU")
init()

sys.path.insert(0, str(Path(__file__).parents[1]))

import blog_post  # noqa: E402

from mindeval import distributed  # noqa: E402
from mindeval.text.bleu import BLEU, SentenceBLEU  # noqa: E402
from mindeval.text.diversity import DistinctN  # noqa: E402
from mindeval.text.rouge import ROUGE  # noqa: E402

RANK, WORLD = distributed.this_rank(), distributed.world_size()
PREDICTIONS = [
    "the cat sat on a mat",
    "今天天气真好",
    "",
    "It's 3.5% faster.",
    "昇腾上的模型训练得很快",
    "a dog",
    "模型\n很好",
]
REFERENCES = [
    ["the cat sat on the mat", "a cat sat on the mat"],
    ["今天天气很好"],
    ["nothing was said"],
    ["It's 3.5% fast.", "Faster by 3.5%."],
    ["模型在昇腾上训练得很快", "模型训练得很快", "训练很快"],
    ["the dog"],
    ["很好\n模型"],
]


def rows_of(rank: int) -> range:
    """All samples but two are the first rank's, the last rank has the two, and ranks between have none."""
    if rank == 0:
        return range(len(PREDICTIONS) - 2)
    return range(len(PREDICTIONS) - 2, len(PREDICTIONS)) if rank == WORLD - 1 else range(0)


def check(make) -> None:
    whole = make()
    whole.update(PREDICTIONS, REFERENCES)
    metric = make().set_distributed(True)
    for row in rows_of(RANK):  # one update for each sample: ranks have different numbers of updates, too
        metric.update([PREDICTIONS[row]], [REFERENCES[row]])
    assert json.dumps([metric.eval(), metric.result()]) == json.dumps([whole.eval(), whole.result()])


@case
def bleu_of_uneven_ranks():
    check(BLEU)
    check(lambda: BLEU(tokenize="char", smooth="floor", effective_order=True))


@case
def sentence_bleu_of_uneven_ranks():
    check(SentenceBLEU)


@case
def rouge_of_uneven_ranks():
    check(lambda: ROUGE(["rouge-l", "rouge-1", "rouge-2", "rouge-lsum"]))
    check(lambda: ROUGE("rouge-lsum", "char", multiple="average", report="recall"))


@case
def distinct_ngrams_that_ranks_discover_apart():
    check(lambda: DistinctN(1))


@case
def the_example_of_blog_posts_covers_all_ranks():
    if WORLD == 2:
        values = blog_post.evaluate(distributed=True, rows=[slice(0, 4), slice(4, 7)][RANK])
        for name, value in blog_post.evaluate().items():
            assert values[name] == value, name


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), RANK)
