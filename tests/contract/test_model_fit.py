"""What Model.fit, EarlyStopping and History need of an eval network and of a value."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import train

from mindeval.score import Score

NOTHING = ms.Tensor(0.0, ms.float32)


def constant(logits, labels):
    return NOTHING, logits, labels


def test_fit_needs_eval_indexes_with_a_custom_eval_network(kit, fit):
    with pytest.raises(TypeError, match="not subscriptable"):
        fit(constant, {"m": kit.Recorder()}, indexes=None)


def test_nested_tuples_carry_more_than_three_outputs_through_fit(kit, fit):
    recorder = kit.Recorder()
    fit(lambda logits, labels: (NOTHING, (logits, labels > 0), labels), {"m": recorder})
    (logits, mask), labels = recorder.received[0]
    assert mask.asnumpy().tolist() == [False, True] and labels.asnumpy().tolist() == [0, 1] and logits.shape == (2, 2)


def test_eval_loss_is_the_loss_of_the_last_batch(kit, fit):
    epochs = kit.Epochs()
    losses = iter([4.0, 2.0, 0.5])
    fit(lambda logits, labels: (ms.Tensor(next(losses)), logits, labels), {"m": kit.Recorder()}, [epochs])
    (results,) = epochs.seen["on_train_epoch_end"]
    assert float(results["eval_loss"]) == 0.5  # their mean is 2.1666


def test_fit_hands_the_first_output_to_mindspores_own_loss_which_refuses_a_pair(kit, fit):
    with pytest.raises(TypeError):
        fit(lambda logits, labels: ((NOTHING, 2), logits, labels), {"loss": kit.LossRecorder()})


def test_fit_hands_the_first_output_to_mindspores_own_loss_which_refuses_a_matrix(kit, fit):
    with pytest.raises(ValueError, match="dimension"):
        fit(lambda logits, labels: (logits, logits, labels), {"loss": kit.LossRecorder()})


def test_fit_hands_the_first_output_to_mindspores_own_loss_which_cannot_divide_bfloat16(kit, fit):
    loss = ms.Tensor(1.5, ms.bfloat16)
    with pytest.raises(TypeError, match="divide"):
        fit(lambda logits, labels: (loss, logits, labels), {"loss": kit.LossRecorder()})


def test_a_vector_of_losses_passes_through_fit(kit, fit):
    loss = kit.LossRecorder()
    fit(lambda logits, labels: (logits[:, 0], logits, labels), {"loss": loss})
    assert [inputs[0].asnumpy().tolist() for inputs in loss.received] == [[0, 2], [4, 6], [8]]


def test_users_callbacks_see_values_at_on_eval_end_in_fit_and_a_score_stays_a_score(kit, fit):
    epochs = kit.Epochs()
    score = Score(0.25, {"rate": 0.25}, "rate|def:1|mindeval:0.1.0")
    fit(constant, {"m": kit.Recorder(score)}, [epochs], epochs=2)
    assert epochs.seen["on_eval_end"] == [{"m": 0.25}] * 2
    copied = epochs.seen["on_train_epoch_end"][0]["m"]
    assert isinstance(copied, Score) and copied.parts == {"rate": 0.25} and copied.signature == score.signature


def test_history_holds_one_value_for_each_epoch(kit, fit):
    history = train.History()
    fit(constant, {"m": kit.Recorder(Score(0.25))}, [history], epochs=3)
    assert history.history["m"] == [0.25, 0.25, 0.25]


class Falling(train.Metric):
    """0.0 in the first epoch, 1.0 in the second and so on."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.epoch = kind, -1.0

    def clear(self):
        self.epoch += 1.0

    def update(self, *inputs):
        pass

    def eval(self):
        return self.kind(self.epoch)


@pytest.mark.parametrize(("kind", "best"), [(float, 1.0), (Score, 0.0)], ids=["float", "Score"])
def test_early_stopping_takes_a_plain_zero_for_missing_but_not_a_score_of_zero(fit, kind, best):
    stopping = train.EarlyStopping(monitor="error", mode="min", patience=2)
    fit(constant, {"error": Falling(kind)}, [stopping], epochs=3)
    assert float(stopping.best) == best


@pytest.mark.parametrize("value", [{"rate": 0.5}, np.array([0.5, 0.25])], ids=["dict", "array"])
def test_early_stopping_fails_on_a_value_that_is_no_number(kit, fit, value):
    with pytest.raises((TypeError, ValueError)):
        fit(constant, {"m": kit.Recorder(value)}, [train.EarlyStopping(monitor="m", patience=2)], epochs=2)


@pytest.mark.parametrize(
    ("name", "best"), [("perplexity", 0.0), ("loss_per_token", 2.0)], ids=["known to fall", "taken to rise"]
)
def test_early_stopping_knows_by_name_alone_that_perplexity_is_to_fall(fit, name, best):
    stopping = train.EarlyStopping(monitor=name, patience=5)
    fit(constant, {name: Falling(Score)}, [stopping], epochs=3)
    assert float(stopping.best) == best


def test_early_stopping_counts_nan_as_no_improvement(kit, fit):
    stopping = train.EarlyStopping(monitor="perplexity", patience=2)
    fit(constant, {"perplexity": kit.Recorder(Score(float("nan")))}, [stopping], epochs=5)
    assert stopping.stopped_epoch == 2
