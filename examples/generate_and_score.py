"""BLEU and ROUGE of what a network generates, in English and in Chinese, within Model.eval.

A tiny network greedily generates token ids. The metrics turn ids into text by themselves, so that Model.eval can hand
them what the network returns: generated ids, and the ids of the references padded with -100.
"""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.dataset import GeneratorDataset
from mindspore.train import Model

from mindeval import BLEU, ROUGE, MetricCollection

PAIRS = {  # the prompt, which the network copies but for its habit, and the reference
    "English": [
        ("the cat sat on the mat", "the cat sat on the mat"),
        ("a dog barks in the yard", "a dog barks loudly in the yard"),
        ("it is sunny in the park today", "today it is sunny in the park"),
    ],
    "Chinese": [
        ("模型在昇腾上训练得很快", "模型在昇腾上训练得很快"),
        ("今天天气真好", "今天天气很好"),
        ("损失在第三轮之后不再下降", "损失从第三轮起不再下降"),
    ],
}
PAD, END = 0, 1


class CharacterTokenizer:
    """One id for each character, and batch_decode as the tokenizers of language models have it."""

    def __init__(self, texts: list[str]) -> None:
        self.characters = ["<pad>", "<end>", *sorted({character for text in texts for character in text})]
        self.ids = {character: place for place, character in enumerate(self.characters)}

    def encode(self, text: str, length: int, fill: int = PAD) -> list[int]:
        ids = [self.ids[character] for character in text] + [END]
        return ids + [fill] * (length - len(ids))

    def batch_decode(self, rows: list[list[int]]) -> list[str]:
        texts = []
        for row in rows:
            kept = row[: row.index(END)] if END in row else row
            texts.append("".join(self.characters[token] for token in kept if token != PAD))
        return texts


class Copier(nn.Cell):
    """Generates token by token: the most likely one given the prompt's token in its place and the one before.

    ``habit`` is a pair (before, instead): after the token ``before`` it always says ``instead``.
    """

    def __init__(self, vocabulary: int, habit: tuple[int, int]) -> None:
        super().__init__()
        follows = np.zeros((vocabulary, vocabulary), np.float32)
        follows[habit] = 2.0
        self.copied = ms.Tensor(np.eye(vocabulary, dtype=np.float32))
        self.follows = ms.Tensor(follows)

    def construct(self, prompts: ms.Tensor, references: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
        token = prompts[:, 0]
        generated = [token]
        for place in range(1, prompts.shape[1]):
            logits = self.copied[prompts[:, place]] + self.follows[token]
            token = ops.argmax(logits, dim=-1).astype(ms.int32)
            generated.append(token)
        return ops.stack(generated, axis=1), references


def main() -> dict[str, dict[str, float]]:
    texts = [text for pairs in PAIRS.values() for pair in pairs for text in pair]
    tokenizer = CharacterTokenizer(texts)
    length = max(map(len, texts)) + 1
    network = Copier(len(tokenizer.characters), habit=(tokenizer.ids["很"], tokenizer.ids["好"]))

    decode = tokenizer.batch_decode
    metrics = MetricCollection({"bleu": BLEU(decode=decode), "rouge-l": ROUGE("rouge-l", decode=decode)})
    model = Model(network, eval_network=network, metrics=metrics.as_metrics())

    def samples(pairs):
        for prompt, reference in pairs:
            yield np.int32(tokenizer.encode(prompt, length)), np.int32(tokenizer.encode(reference, length, fill=-100))

    scores = {}
    for language, pairs in PAIRS.items():
        for batch_size in (1, 2):  # the same bits for any batch size
            data = GeneratorDataset(lambda rows=pairs: samples(rows), ["prompts", "references"], shuffle=False)
            scores[language] = model.eval(data.batch(batch_size))
            values = ", ".join(f"{name} {float(value)!r}" for name, value in scores[language].items())
            print(f"{language}, batch size {batch_size}: {values}")
        print("  as sacrebleu has it:", metrics["bleu"].result()["sacrebleu"])
    return scores


if __name__ == "__main__":
    main()
