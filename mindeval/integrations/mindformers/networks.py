"""A network around a language model of MindFormers whose outputs metrics can take."""

from __future__ import annotations

import copy
from typing import Any

import mindspore as ms
from mindspore import ops

from mindeval.kernels.blockwise import statistics

from .labels import IGNORE
from .ranks import GRAPH_PARALLEL


def eval_network(network: Any, *, labels_shifted: bool | None = None, reduce: str = "auto") -> Any:
    """A network around a causal language model of MindFormers whose outputs metrics can take.

    In evaluation an mcore model returns nothing but logits ``[B * S, V]``, and a legacy model returns the tokens that
    it read, not the labels of the data set. This one returns ``(logits [B, S, V], labels [B, S])``: the label is what
    the logits of its position are scored on, and -100 where nothing counts. Any metric of mindeval over logits takes
    that, without ``shift``. It is for ``Trainer(model=...)``, ``Model(..., eval_network=...)`` and ``periodic_eval``;
    the weights are shared and keep their names.

    ``construct(input_ids, labels, loss_mask, position_ids, attention_mask, actual_seq_len)``, the order of the columns
    of the data set; all but the first may be missing, and ``construct_args_key`` in YAML may name others in any order.
    A position counts where its label is not ``ignore_token_id`` and ``loss_mask`` is not 0; without a ``loss_mask``,
    where the token is no padding: the token to predict, or where labels are shifted the token read, as in training.

    Args:
        network: of MindFormers, legacy or mcore.
        labels_shifted: whether the data set's labels are one token ahead of its input ids. By default True for mcore
            models and ``config.input_sliced_sig`` for legacy ones.
        reduce: ``"none"``: as above; ``"graph"``: ``(nll_sum, tokens, rows)`` summed on the device inside the graph,
            in float32, for perplexity in semi-auto and auto parallel mode, where these are global; ``"auto"``: by the
            mode.

    Raises:
        ValueError: if the network has no configuration of MindFormers, or labels are missing where they are shifted.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``. Semi-auto and auto parallel mode were not run on a card.
    """
    from mindformers.core.context.build_context import is_legacy_model
    from mindformers.models import PreTrainedModel

    config = getattr(network, "config", None)
    if config is None or not hasattr(config, "vocab_size"):
        raise ValueError(
            f"For 'eval_network', the network must be a language model of MindFormers, but got {type(network).__name__}"
        )
    if reduce not in ("auto", "none", "graph"):
        raise ValueError(f"For 'eval_network', reduce must be auto, none or graph, but got {reduce!r}")
    if labels_shifted is None:
        labels_shifted = bool(config.input_sliced_sig) if is_legacy_model() else True
    in_graph = ms.get_auto_parallel_context("parallel_mode") in GRAPH_PARALLEL

    class EvalNetwork(PreTrainedModel):
        def __init__(self, config: Any, network: Any, shifted: bool, summed: bool) -> None:
            super().__init__(config, auto_prefix=False)
            self.network = network
            self.shifted = shifted
            self.summed = summed
            self.pad = -1 if config.pad_token_id is None else int(config.pad_token_id)
            ignored = getattr(config, "ignore_token_id", None)
            self.ignored = IGNORE if ignored is None else int(ignored)

        def construct(
            self,
            input_ids: Any,
            labels: Any = None,
            loss_mask: Any = None,
            position_ids: Any = None,
            attention_mask: Any = None,
            actual_seq_len: Any = None,
        ) -> Any:
            outputs = self.network(
                input_ids=input_ids,
                labels=labels,
                loss_mask=loss_mask,
                position_ids=position_ids,
                attention_mask=attention_mask,
                actual_seq_len=actual_seq_len,
            )
            logits = outputs[0] if isinstance(outputs, tuple) else outputs
            aligned = self.aligned(input_ids, labels, loss_mask)
            if self.summed:
                return sums(logits.reshape(-1, logits.shape[-1]), aligned)
            return logits.reshape(*input_ids.shape, logits.shape[-1]), aligned

        def aligned(self, input_ids: Any, labels: Any, loss_mask: Any) -> Any:
            if self.shifted and labels is None:
                raise ValueError("For 'eval_network', labels must be given where they are shifted")
            wanted = input_ids if labels is None else labels
            counted = wanted != self.ignored
            if loss_mask is None:
                counted = ops.logical_and(counted, input_ids != self.pad)
            ignore = ops.full_like(wanted, IGNORE)
            wanted = ops.select(counted, wanted, ignore)
            if not self.shifted:
                wanted = ops.concat((wanted[:, 1:], ignore[:, :1]), 1)
            if loss_mask is not None:
                wanted = ops.select(loss_mask != 0, wanted, ignore)
            return wanted

    own = copy.copy(config)
    if getattr(own, "batch_size", None) is None:
        own.batch_size = 1  # MindFormers' checks read it; mcore configurations do not have it
    return EvalNetwork(own, network, labels_shifted, reduce == "graph" or (reduce == "auto" and in_graph))


def sums(logits: ms.Tensor, labels: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor, ms.Tensor]:
    """The sum of the NLL (float32), the number of tokens and of rows that count (int32), of logits ``[B * S, V]``."""
    counted = labels != IGNORE
    wanted = ops.select(counted, labels, ops.zeros_like(labels)).reshape(-1)
    nll = statistics(logits, wanted)[0]
    nll = ops.select(counted.reshape(-1), nll, ops.zeros_like(nll))
    return nll.sum(), counted.astype(ms.int32).sum(), counted.astype(ms.int32).max(axis=1).sum()
