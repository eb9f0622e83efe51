"""Models of MindFormers that run on the CPU, and what they are to find, in float64."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import nn, ops

PAD = 0
ROWS = np.random.RandomState(0).randint(3, 100, (5, 12)).astype(np.int32)
ROWS[1, 7:] = PAD
ROWS[4, 3:] = PAD
LLAMA_ON_CPU = {
    "use_past": False,
    "use_flash_attention": False,  # this and the next two: operators that the CPU lacks
    "fused_rms_norm": False,
    "use_rope_slice": True,
    "compute_dtype": "float32",
    "layernorm_compute_type": "float32",
    "softmax_compute_type": "float32",
    "rotary_dtype": "float32",
    "param_init_type": "float32",
}


def legacy_llama(**settings):
    """MindFormers' legacy Llama with random weights."""
    from mindformers.models.llama import LlamaConfig, LlamaForCausalLM

    ms.set_seed(0)
    config = LlamaConfig(
        batch_size=2,
        seq_length=12,
        vocab_size=100,
        hidden_size=32,
        num_layers=1,
        num_heads=2,
        multiple_of=16,
        pad_token_id=PAD,
        **LLAMA_ON_CPU,
        **settings,
    )
    config.disable_lazy_inline = True  # lazy inlining does not compile on the CPU in parallel modes
    network = LlamaForCausalLM(config=config)
    spread(network)
    return network


def spread(network):
    """A larger head, so that tokens differ in their probability and wrong weights show."""
    for parameter in network.get_parameters():
        if "lm_head" in parameter.name or "output_layer" in parameter.name:
            random = np.random.RandomState(1).normal(0, 0.5, parameter.shape)
            parameter.set_data(ms.Tensor(random.astype(np.float32)))


class Outer(nn.Cell):
    """``ops.outer`` of operators that the CPU has."""

    def construct(self, a, b):
        return ops.mul(a.reshape(-1, 1), b.reshape(1, -1))

    def shard(self, *strategy):
        return self


class PlainAttention(nn.Cell):
    """FlashAttentionScore of operators that the CPU has, for as many key as query heads."""

    def __init__(self, head_num=1, keep_prob=1.0, scale_value=1.0, *rest, **more):
        super().__init__()
        self.scale = scale_value

    def add_prim_attr(self, *attribute):
        return self

    def shard(self, *strategy):
        return self

    def construct(self, query, key, value, alibi=None, drop=None, pad=None, mask=None, prefix=None):
        scores = ops.matmul(query, key.swapaxes(-1, -2)) * self.scale
        if mask is not None:
            hidden = mask.astype(ms.bool_).broadcast_to(scores.shape)
            scores = ops.select(hidden, ops.full_like(scores, -1e9), scores)
        return scores, scores, scores, ops.matmul(ops.softmax(scores, -1), value)


def mcore_qwen3(monkeypatch):
    """MindFormers' mcore Qwen3 with random weights. Shimmed: three of its operators are not on the CPU."""
    from mindformers.models.qwen3.configuration_qwen3 import Qwen3Config
    from mindformers.models.qwen3.modeling_qwen3_train import TrainingQwen3ForCausalLM
    from mindformers.parallel_core.training_graph.base_models.common.embeddings import rotary_pos_embedding
    from mindformers.parallel_core.training_graph.transformer import flash_attention, norm

    monkeypatch.setattr(norm.FusedNorm, "__new__", lambda cls, *args, **settings: norm.Norm(*args, **settings))
    monkeypatch.setattr(rotary_pos_embedding, "Outer", Outer)
    monkeypatch.setattr(flash_attention, "FlashAttentionScore", PlainAttention)
    ms.set_seed(0)
    config = Qwen3Config(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=12,
        seq_length=12,
        hidden_act="silu",
        pad_token_id=PAD,
        compute_dtype="float32",
        layernorm_compute_dtype="float32",
        softmax_compute_dtype="float32",
        rotary_dtype="float32",
        params_dtype="float32",
        hidden_dropout=0.0,
        attention_dropout=0.0,
        use_flash_attention=False,
        fused_norm=False,
        input_sliced_sig=True,
    )
    network = TrainingQwen3ForCausalLM(config)
    spread(network)
    return network


def nll_of_next_tokens(logits: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The NLL, in float64, of each token that is no padding, given logits ``[B, S, V]`` of the one before."""
    before, after = logits[:, :-1].astype(np.float64), tokens[:, 1:]
    largest = before.max(-1)
    total = np.log(np.exp(before - largest[..., None]).sum(-1)) + largest
    return (total - np.take_along_axis(before, after[..., None], -1)[..., 0])[after != PAD]
