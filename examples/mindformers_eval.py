"""From a YAML file to numbers: MindFormers' Trainer evaluates a checkpoint with its own perplexity and with mindeval.

The model is MindFormers' Llama with weights set so that it is a bigram model of English letters: then every number can
be checked by counting. It runs on the CPU; on cards the YAML file is the same without the lines that say so.
"""

import contextlib
import io
import os
import tempfile
from collections import Counter
from pathlib import Path
from string import Template

import mindspore as ms
import numpy as np
from mindspore.mindrecord import FileWriter

LEARNT_FROM = "the cat sat on the mat. the cat ate the rat. the rat sat on the mat."
TEXTS = [LEARNT_FROM, "how vexingly quick daft zebras jump!", "the rat sat."]
LETTERS = 128  # ASCII, where 0 is padding

CONFIG = Path(__file__).resolve().with_suffix(".yaml")

THEIRS = "{type: PerplexityMetric}"
OURS = """
  type: MindevalMetrics
  metrics: [{type: Perplexity}, {type: Accuracy, name: next_letter}, {type: Accuracy, top_k: 3, name: next_in_top3}]
  expected_samples: 3"""


def chances():
    """P[a, b]: the chance that letter b follows letter a, learnt by counting pairs, with 0.01 for pairs not seen."""
    counts = np.full((LETTERS, LETTERS), 0.01)
    for (a, b), times in Counter(zip(LEARNT_FROM, LEARNT_FROM[1:])).items():
        counts[ord(a), ord(b)] += times
    return counts / counts.sum(axis=1, keepdims=True)


def write_texts():
    rows = np.zeros((len(TEXTS), LETTERS), np.int32)
    for row, text in zip(rows, TEXTS):
        row[: len(text)] = [ord(letter) for letter in text]
    writer = FileWriter("texts.mindrecord", overwrite=True)
    writer.add_schema({"input_ids": {"type": "int32", "shape": [-1]}})
    writer.write_raw_data([{"input_ids": row} for row in rows])
    writer.commit()


def write_checkpoint(config):
    """One-hot embeddings pass the blocks unchanged; the head turns them into log P. RMSNorm scales by sqrt(128)."""
    from mindformers.models import build_network

    network = build_network(config.model)
    for parameter in network.get_parameters():
        if parameter.name.endswith("embedding_weight"):
            parameter.set_data(ms.Tensor(np.eye(LETTERS, dtype=np.float32)))
        elif parameter.name.endswith(("wo.weight", "w2.weight")):  # what attention and feed-forward add
            parameter.set_data(ms.Tensor(np.zeros(parameter.shape, np.float32)))
        elif parameter.name == "lm_head.weight":
            head = np.log(chances()).T / np.sqrt(LETTERS)
            parameter.set_data(ms.Tensor(head.astype(np.float32)))
    ms.save_checkpoint(network, "bigram.ckpt")


def load_config(batch_size, metric):
    from mindformers import MindFormerConfig, build_context

    Path("eval.yaml").write_text(Template(CONFIG.read_text()).substitute(batch_size=batch_size, metric=metric))
    config = MindFormerConfig("eval.yaml")
    build_context(config)
    return config


def evaluate(batch_size, metric):
    """The trainer after its evaluation. MindFormers prints its whole configuration meanwhile."""
    from mindformers import Trainer

    with contextlib.redirect_stdout(io.StringIO()):
        trainer = Trainer(args=load_config(batch_size, metric))
        trainer.evaluate(eval_checkpoint=str(Path("bigram.ckpt").resolve()))
    return trainer


def main(batch_sizes=(1, 2, 3)):
    from mindformers.tools.logger import get_logger

    from mindeval.integrations.mindformers import register, results

    get_logger().setLevel("ERROR")
    register()
    write_texts()
    write_checkpoint(load_config(1, THEIRS))
    print("batch size   PerplexityMetric   mindeval: perplexity   next letter   in the top 3")
    for batch_size in batch_sizes:
        theirs = evaluate(batch_size, THEIRS).trainer.compute_metrics["PerplexityMetric"].eval()["PPL"]
        ours = results(evaluate(batch_size, OURS))
        first, third = ours["next_letter"]["accuracy"], ours["next_in_top3"]["accuracy"]
        perplexity = ours["perplexity"]["perplexity"]
        print(f"{batch_size:>10}   {theirs:>16.5f}   {perplexity:>20.5f}   {first:>11.5f}   {third:>12.5f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LOCAL_DEFAULT_PATH"] = folder
        os.chdir(folder)
        main()
