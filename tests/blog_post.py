"""What blog posts on evaluating a model show, with only imports and model changed. A test and two ranks run it."""

from __future__ import annotations

from typing import Any

import mindspore as ms

from mindeval import BLEU, ROUGE, Accuracy, F1Score

LABELS = [1, 0, 1, 1, 0, 1, 0]
REFERENCES = [
    "昇腾处理器让大模型训练得更快",
    "今天天气很好，我们去公园",
    "模型的困惑度在验证集上下降了",
    "The model is evaluated on eight cards",
    "评测结果与批大小无关",
]


def classify(rows: slice) -> ms.Tensor:
    """The model: predicted classes."""
    return ms.Tensor([1, 0, 0, 1, 0, 1, 0][rows])


def generate(rows: slice) -> list[str]:
    """The model: generated texts."""
    return [
        "昇腾处理器让大模型的训练更快",
        "今天天气很好，我们去爬山",
        "模型的困惑度在验证集上下降了",
        "The model was evaluated on eight cards",
        "评测结果和批大小没有关系",
    ][rows]


def evaluate(distributed: bool = False, rows: slice = slice(None)) -> dict[str, Any]:
    """Each metric is called on the predictions and labels of these rows."""
    accuracy = Accuracy(task="classification")
    f1 = F1Score(task="classification", num_classes=2)
    bleu = BLEU(n_gram=4)
    rouge = ROUGE(rouge_type="rouge-l")
    if distributed:
        for metric in (accuracy, f1, bleu, rouge):
            metric.set_distributed(True)

    labels = ms.Tensor(LABELS[rows])
    preds, texts, references = classify(rows), generate(rows), REFERENCES[rows]
    return {
        "accuracy": accuracy(preds, labels).asnumpy(),
        "f1": f1(preds, labels).asnumpy(),
        "bleu": bleu(texts, references).asnumpy(),
        "rouge-l": rouge(texts, references).asnumpy(),
    }
