"""Loss: the mean of the losses that a network returns, weighted by what they are means of."""

from __future__ import annotations

from typing import Any

import mindspore.train
import numpy as np

from mindeval import inputs
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum


class Loss(Metric, mindspore.train.Loss):
    r"""The mean loss :math:`\sum_i w_i \ell_i / \sum_i w_i` over samples or tokens.

    As a subclass of ``mindspore.train.Loss`` it is handed the loss by ``Model.eval``. ``mindspore.train.Loss``
    averages the means of batches, so a short last batch weighs too much; here each loss has the weight of what it
    stands for, where that can be known.

    ``update(loss)``, ``update((loss, count))`` or ``update(loss, mask)``:

    ============================== ======================================= =======================================
    loss                           second input                            weight
    ============================== ======================================= =======================================
    vector or array, any shape     none                                    1 for each element
    vector or array, any shape     boolean mask of the same shape          1 for each element where the mask is True
    scalar (shape ``[]``)          an integer: how many it is the mean of  that integer
    scalar (shape ``[1]``)         an integer of shape ``[]``              that integer
    scalar (shape ``[]``)          none                                    1, a guess: ``result()["exact"]`` is False
    ============================== ======================================= =======================================

    Losses may be float16, bfloat16, float32 or float64, Tensors, arrays or numbers. The sum is exact whatever the
    dtype. NaN and infinite losses are counted in ``result()["nan"]`` and ``["inf"]`` and make the value nan or inf;
    masked ones never count.

    Args:
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError: ``update``: if the loss is not numbers, or the mask is not boolean.
        ValueError: ``update``: if mask and loss have different shapes, the count is negative or not whole, or the
            loss is empty.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> loss = Loss()
    >>> loss.update(np.float32([1.0, 1.0, 1.0, 1.0]))
    >>> loss.update(np.float32([5.0]))
    >>> loss.eval(), loss.result()["exact"]
    (1.8, True)
    >>> loss.clear()
    >>> loss.update((1.0, 4))
    >>> loss.update((5.0, 1))
    >>> loss.eval()
    1.8
    """

    higher_is_better = False

    def __init__(self, *, distributed: bool | str = False, name: str | None = None) -> None:
        super().__init__(
            states={"total": ExactSum(), "weight": Count(), "guessed": Count()}, distributed=distributed, name=name
        )

    def _contribution(self, loss: Any, weight: Any = None) -> dict[str, Any]:
        losses = inputs.to_numpy(loss, "loss")
        if losses.dtype.kind == "b":
            raise TypeError("loss must be numbers, but got bool: the mask comes second, as update(loss, mask)")
        if losses.size == 0:
            raise ValueError(f"loss must hold at least one value, but got shape {list(losses.shape)}")
        second = None if weight is None else inputs.to_numpy(weight, "the second input (a mask or a count)")
        if losses.ndim == 0 or (losses.shape == (1,) and second is not None and second.ndim == 0):
            return _scalar(losses.reshape(()), second)
        if second is None:
            return {"total": losses, "weight": losses.size, "samples": len(losses)}
        mask = inputs.boolean_mask(second, losses.shape)
        rows = mask.reshape(len(mask), -1).any(axis=1)
        return {"total": losses[mask], "weight": int(mask.sum()), "samples": int(rows.sum())}

    def _compute(self, states: Any) -> dict[str, Any]:
        total, weight = states["total"], states["weight"].value
        return {
            "loss": total.over(weight) if weight else float("nan"),
            "weight": weight,
            "exact": states["guessed"].value == 0,
            "nan": total.nan,
            "inf": total.pinf + total.ninf,
        }


def _scalar(loss: np.ndarray, count: np.ndarray | None) -> dict[str, Any]:
    if count is None:
        return {"total": loss, "weight": 1, "guessed": 1, "samples": 1}
    if count.size != 1 or count.dtype.kind not in "iuf" or not float(count.item()).is_integer() or count.item() < 0:
        raise ValueError(
            f"the count of a scalar loss must be one whole number >= 0, but got {inputs.describe(count)}: {count}"
        )
    times = int(count.item())
    return {"total": (loss, times), "weight": times, "samples": times}
