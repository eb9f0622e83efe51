"""What Model.eval hands to metrics, when, and what it does with their values."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, train

from mindeval import MetricCollection, Perplexity, inputs
from mindeval.score import Score


def is_tensor(texts):
    """Whether texts arrived as a string Tensor (up to MindSpore 2.7), not as a unicode array (since 2.8)."""
    if isinstance(texts, ms.Tensor):
        assert texts.dtype == ms.string
        return True
    assert isinstance(texts, np.ndarray) and texts.dtype.kind == "U"
    return False


def test_update_receives_tensors_by_position(kit, mode, five_rows):
    recorder = kit.Recorder()
    train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double()).eval(five_rows)
    # Recorder.update takes no keywords, so nothing came by keyword.
    assert [len(batch) for batch in recorder.received] == [2, 2, 2]
    values, _ = recorder.received[0]
    assert isinstance(values, ms.Tensor) and values.asnumpy().tolist() == [[0, 2], [4, 6]]


def test_texts_arrive_as_a_unicode_array_or_a_string_tensor(kit, mode, five_rows):
    recorder = kit.Recorder()
    outputs = kit.Outputs(lambda values, texts: (values, texts))  # not compiled, in either mode
    train.Model(nn.Identity(), metrics={"m": recorder}, eval_network=outputs).eval(five_rows)
    assert len({is_tensor(texts) for _, texts in recorder.received}) == 1
    assert [inputs.texts(texts, "texts") for _, texts in recorder.received] == [
        ["one", "two"],
        ["three", "four"],
        ["fünf"],
    ]


def test_texts_pass_through_a_compiled_network_unless_they_are_tensors_which_lose_them(kit, mode, five_rows):
    recorder = kit.Recorder()
    train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double()).eval(five_rows)
    received = [texts for _, texts in recorder.received]
    if mode == ms.GRAPH_MODE and is_tensor(received[0]):
        assert received[0].asnumpy().dtype == np.uint8
        with pytest.raises(TypeError, match="lost in a compiled network"):
            inputs.texts(received[0], "texts")
    else:
        assert [inputs.texts(texts, "texts") for texts in received] == [["one", "two"], ["three", "four"], ["fünf"]]


def test_a_string_tensor_loses_its_texts_in_a_compiled_network(kit, graph):
    """Why ``inputs.texts`` looks at the dtype of the array: these bytes must not be taken for numbers."""
    lost = kit.Double()(ms.Tensor([1.0]), ms.Tensor(np.array(["one", "two"])))[1]
    assert lost.dtype == ms.string and lost.asnumpy().dtype == np.uint8


def test_a_short_last_batch_is_delivered_short(kit, mode, five_rows):
    recorder = kit.Recorder()
    train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double()).eval(five_rows)
    assert [values.shape for values, _ in recorder.received] == [(2, 2), (2, 2), (1, 2)]


def test_default_eval_network_gives_logits_and_labels_but_a_loss_the_loss_whatever_its_name(kit, mode, labelled_rows):
    plain, loss = kit.Recorder(), kit.LossRecorder()
    model = train.Model(
        nn.Identity(), loss_fn=nn.CrossEntropyLoss(), metrics={"loss": plain, "accuracy": loss}, amp_level="O0"
    )
    model.eval(labelled_rows)
    logits, labels = plain.received[1]
    assert logits.asnumpy().tolist() == [[4, 5], [6, 7]] and labels.asnumpy().tolist() == [1, 0]
    (batch_loss,) = loss.received[1]
    # mean of log(1 + e^-1) and 1 + log(1 + e^-1), by hand
    assert batch_loss.shape == () and abs(float(batch_loss) - 0.8132617) < 1e-6


def test_eval_indexes_route_by_position_and_class(kit, five_rows):
    plain, loss = kit.Recorder(), kit.LossRecorder()
    outputs = kit.Outputs(lambda values, texts: ("label", "loss", "logits"))
    metrics = {"m": plain, "n": loss}
    train.Model(nn.Identity(), metrics=metrics, eval_network=outputs, eval_indexes=[1, 2, 0]).eval(five_rows)
    assert plain.received == [("logits", "label")] * 3
    assert loss.received == [("loss",)] * 3


def test_eval_indexes_leave_no_room_for_a_fourth_output(kit):
    with pytest.raises(ValueError, match="three"):
        train.Model(nn.Identity(), metrics={"m": kit.Recorder()}, eval_network=nn.Identity(), eval_indexes=[0, 1, 2, 3])


def test_a_custom_network_without_eval_indexes_gives_all_outputs_to_every_metric_a_loss_too(kit, five_rows):
    plain, loss = kit.Recorder(), kit.LossRecorder()
    outputs = kit.Outputs(lambda values, texts: (1, 2, 3, 4))
    train.Model(nn.Identity(), metrics={"m": plain, "loss": loss}, eval_network=outputs).eval(five_rows)
    assert plain.received == loss.received == [(1, 2, 3, 4)] * 3


def test_nested_tuples_and_lists_of_text_pass_through(kit, five_rows):
    recorder = kit.Recorder()
    outputs = kit.Outputs(lambda values, texts: (values, (texts, (7, ["a", "b"]))))
    train.Model(nn.Identity(), metrics={"m": recorder}, eval_network=outputs).eval(five_rows)
    values, (texts, rest) = recorder.received[0]
    assert isinstance(values, ms.Tensor) and rest == (7, ["a", "b"])
    assert inputs.texts(texts, "texts") == ["one", "two"]


class Nested(nn.Cell):
    def construct(self, values, labels):
        return values.sum(), (values, values > 1), labels


def test_nested_tuples_pass_through_a_compiled_network(kit, mode, labelled_rows):
    recorder = kit.Recorder()
    train.Model(Nested(), metrics={"m": recorder}, eval_network=Nested()).eval(labelled_rows)
    loss, (values, mask), labels = recorder.received[0]
    assert float(loss) == 6.0 and values.shape == (2, 2) and labels.asnumpy().tolist() == [0, 1]
    assert mask.dtype == ms.bool_ and mask.asnumpy().tolist() == [[False, False], [True, True]]


def test_a_lone_tensor_output_is_one_input(kit, five_rows):
    recorder = kit.Recorder()
    outputs = kit.Outputs(lambda values, texts: values)
    train.Model(nn.Identity(), metrics={"m": recorder}, eval_network=outputs).eval(five_rows)
    assert [len(batch) for batch in recorder.received] == [1, 1, 1]


@pytest.mark.parametrize("wrap", [lambda x: [x, x], lambda x: {"logits": x}], ids=["list", "dict"])
def test_list_and_dict_outputs_are_refused(kit, five_rows, wrap):
    outputs = kit.Outputs(lambda values, texts: wrap(values))
    with pytest.raises(ValueError, match="should be tuple"):
        train.Model(nn.Identity(), metrics={"m": kit.Recorder()}, eval_network=outputs).eval(five_rows)


def test_all_metrics_of_a_batch_get_the_same_objects(kit, mode, labelled_rows):
    first, second = kit.Recorder(), kit.Recorder()
    model = train.Model(nn.Identity(), loss_fn=nn.CrossEntropyLoss(), metrics={"a": first, "b": second})
    model.eval(labelled_rows)
    for one, other in zip(first.received, second.received):
        assert one[0] is other[0] and one[1] is other[1]
    assert first.received[0][0] is not first.received[1][0]


def test_outputs_of_a_batch_keep_their_values_in_later_batches(kit, mode, labelled_rows):
    recorder = kit.Recorder()
    train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double()).eval(labelled_rows)
    kept = [batch[0].asnumpy().tolist() for batch in recorder.received]
    assert kept == [[[0, 2], [4, 6]], [[8, 10], [12, 14]], [[16, 18]]]


def test_each_metric_is_cleared_first_then_updated_then_evaluated_once(kit, five_rows):
    recorder = kit.Recorder()
    model = train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double())
    model.eval(five_rows)
    assert recorder.calls == ["clear", "update", "update", "update", "eval"]


def test_state_stays_after_model_eval(five_rows):
    perplexity = Perplexity()

    class Tokens(nn.Cell):
        def construct(self, values, texts):
            return values  # the NLL of two tokens for each of five rows

    values = train.Model(Tokens(), metrics={"perplexity": perplexity}, eval_network=Tokens()).eval(five_rows)
    assert perplexity.eval() == values["perplexity"]
    assert perplexity.result()["tokens"] == 10


def test_values_are_visible_at_on_eval_end_and_not_before(kit, five_rows):
    epochs = kit.Epochs()
    model = train.Model(kit.Double(), metrics={"m": kit.Recorder(0.25)}, eval_network=kit.Double())
    model.eval(five_rows, callbacks=epochs)
    assert epochs.seen == {"on_eval_step_end": [None] * 3, "on_eval_epoch_end": [None], "on_eval_end": [{"m": 0.25}]}


def test_a_value_is_returned_as_the_object_that_eval_gave(kit, five_rows):
    score = Score(0.5, {"accuracy": 0.5, "correct": 5}, "accuracy|def:1|mindeval:0.1.0")
    model = train.Model(kit.Double(), metrics={"m": kit.Recorder(score)}, eval_network=kit.Double())
    assert model.eval(five_rows)["m"] is score


def test_the_same_object_under_two_names_is_updated_twice(kit, five_rows):
    recorder = kit.Recorder()
    model = train.Model(kit.Double(), metrics={"a": recorder, "b": recorder}, eval_network=kit.Double())
    model.eval(five_rows)
    assert recorder.calls == ["clear"] * 2 + ["update"] * 6 + ["eval"] * 2


def test_model_takes_a_dict_of_metrics_only():
    collection = MetricCollection([Perplexity()])
    for metrics in (collection, [Perplexity()], {"perplexity": object()}):
        with pytest.raises((TypeError, ValueError)):
            train.Model(nn.Identity(), metrics=metrics, eval_network=nn.Identity())
    train.Model(nn.Identity(), metrics=collection.as_metrics(), eval_network=nn.Identity())


def test_default_eval_network_takes_two_columns_only(kit, five_rows):
    three = five_rows.project(["values", "texts"]).map(lambda x: (x, x), ["values"], ["values", "more"])
    model = train.Model(nn.Identity(), loss_fn=nn.CrossEntropyLoss(), metrics={"m": kit.Recorder()})
    with pytest.raises(TypeError):
        model.eval(three)
