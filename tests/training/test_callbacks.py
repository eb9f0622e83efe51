"""Callbacks in Model.train and Model.fit: when they evaluate, what they keep, decide, restore and survive."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import time

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import nn, train

from mindeval import Accuracy, Loss, MetricCollection, Score
from mindeval.training import BestCheckpoint, EarlyStopping, EvalCallback, History


class Weight(nn.Cell):
    """Its loss is its weight times the input, so that each step of SGD lowers the weight by the learning rate."""

    def __init__(self, start=1.0):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([start], ms.float32), name="weight")
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        return (self.weight * x).sum()


class Logits(nn.Cell):
    """Logits and labels of two rows, one of which is right."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, x):
        rows = ms.Tensor([[0.0, 1.0], [0.0, 1.0]]) + 0 * x.sum()
        return rows, ms.Tensor([1, 0], ms.int32)


def ones(steps):
    return ds.NumpySlicesDataset(np.ones((steps, 1), np.float32), ["x"], shuffle=False).batch(1)


def fit(callbacks, steps=10, epochs=1, network=None, rate=0.125):
    network = network or Weight()
    model = train.Model(network, optimizer=nn.SGD(network.trainable_params(), rate))
    model.train(epochs, ones(steps), callbacks, dataset_sink_mode=False)
    return network


def values(*numbers, higher=None):
    """An evaluation function that gives one number after the other."""
    queue = list(numbers)
    return lambda: {"m": Score(queue.pop(0), {}, "", higher)}


def test_evaluates_at_multiples_of_steps_and_keeps_the_windows_between():
    callback = EvalCallback(values(0.5, 0.75), every_n_steps=4, history=None, log_every_n_steps=2, tokens_per_step=32)
    fit(callback)
    assert [(r["kind"], r["step"]) for r in callback.history.records] == [
        ("start", 0),
        ("train", 2),
        ("train", 4),
        ("eval", 4),
        ("train", 6),
        ("train", 8),
        ("eval", 8),
        ("train", 10),
    ]
    # the weight is 1, 7/8, 6/8, ... and the loss is the weight
    assert callback.history.series("loss", "train") == [
        (2, 15 / 16),
        (4, 11 / 16),
        (6, 7 / 16),
        (8, 3 / 16),
        (10, -1 / 16),
    ]
    window = callback.history.records[1]
    assert window["loss_max"] == 1.0 and window["steps"] == 2
    assert window["tokens_per_second"] == pytest.approx(32 * window["steps_per_second"])
    assert callback.history.series("m") == [(4, 0.5), (8, 0.75)]


def test_evaluates_at_the_ends_of_epochs_once():
    callback = EvalCallback(values(0.1, 0.2, 0.3), every_n_epochs=2, every_n_steps=4, history=None)
    fit(callback, steps=2, epochs=5)  # steps 4 and 8 are ends of epochs 2 and 4
    assert [step for step, _ in callback.history.series("m")] == [4, 8]


def test_another_run_of_the_same_callback_counts_on_and_misses_no_evaluation():
    by_epoch = EvalCallback(values(0.1, 0.2, 0.3), every_n_epochs=1, history=None)
    by_step = EvalCallback(values(*range(8)), every_n_steps=1, history=None)
    for _ in range(3):
        fit(by_epoch, steps=2)
    for _ in range(2):
        fit(by_step, steps=4)
    assert by_epoch.history.series("m") == [(2, 0.1), (4, 0.2), (6, 0.3)]
    assert [step for step, _ in by_step.history.series("m")] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_resumed_run_appends_and_counts_on(tmp_path):
    path = tmp_path / "history.jsonl"
    fit(EvalCallback(values(0.5), every_n_steps=4, history=path), steps=4)
    with path.open("ab") as file:
        file.write(b'{"kind": "train", "st')  # killed in the middle of a line
    second = EvalCallback(values(0.25), every_n_steps=4, history=path, first_step=4)
    fit(second, steps=4)
    assert History(path).series("m") == [(4, 0.5), (8, 0.25)]
    starts = [record for record in History(path).records if record["kind"] == "start"]
    assert [(start["step"], start["resumed"]) for start in starts] == [(0, False), (4, True)]


def test_the_loop_over_a_data_set_gives_the_values_of_the_metrics_and_their_direction():
    network = Weight()
    metrics = MetricCollection([Accuracy()])
    callback = EvalCallback((Logits(network), ones(3), metrics), every_n_steps=5, history=None)
    fit(callback, network=network)
    records = [record for record in callback.history.records if record["kind"] == "eval"]
    assert [record["metrics"] for record in records] == [{"accuracy": 0.5}] * 2
    assert records[0]["higher_is_better"] == {"accuracy": True}
    assert metrics["accuracy"].result()["total"] == 6


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def test_training_mode_is_put_back_as_it_was_cell_by_cell(mode):
    ms.set_context(mode=mode)
    network = Weight()
    seen = []

    class Look(train.Callback):
        def on_train_begin(self, run_context):
            network.dropout.set_train(False)  # frozen on purpose

        def on_train_step_end(self, run_context):
            cell = run_context.original_args().train_network
            seen.append((network.training, network.dropout.training, cell.training, cell.phase))

    evaluated = []

    def evaluate():
        network.set_train(False)
        evaluated.append(network.training)
        return {"m": 1.0}

    fit([Look(), EvalCallback(evaluate, every_n_steps=1, history=None), Look()], steps=2, network=network)
    assert evaluated == [False, False]
    assert seen == [(True, False, True, "train")] * 4
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_training_mode_is_put_back_after_an_evaluation_that_fails():
    network = Weight()

    def fails():
        network.set_train(False)
        raise OSError("no space left")

    callback = EvalCallback(fails, every_n_steps=2, history=None, on_error="log")
    seen = []

    class Look(train.Callback):
        def on_train_step_end(self, run_context):
            seen.append(network.training)

    fit([callback, Look()], steps=4, network=network)
    assert seen == [True] * 4
    errors = [(r["step"], r["error"]) for r in callback.history.records if r["kind"] == "error"]
    assert errors == [(2, "OSError: no space left"), (4, "OSError: no space left")]


def test_an_evaluation_that_fails_ends_the_training_unless_said_otherwise():
    def fails():
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        fit(EvalCallback(fails, every_n_steps=2, history=None))


def test_best_checkpoint_keeps_the_weights_of_the_best_evaluation(tmp_path):
    path = tmp_path / "best.ckpt"
    best = BestCheckpoint("m", path=path)
    callback = EvalCallback(values(3.0, 1.0, 2.0, 1.0, math.nan, higher=False), every_n_steps=2, history=None)
    fit([callback, best])
    assert (best.best, best.best_step) == (1.0, 4)  # the first of two equal ones; NaN is never better
    # after 4 steps of 1/8 the weight is 1/2
    assert ms.load_checkpoint(str(path))["weight"].asnumpy().tolist() == [0.5]
    assert json.loads((tmp_path / "best.json").read_text()) == {
        "monitor": "m",
        "mode": "min",
        "value": "1.0",
        "step": 4,
    }
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.ckpt", "best.json"]


def test_a_resumed_run_keeps_an_earlier_best(tmp_path):
    path = tmp_path / "best.ckpt"
    fit([EvalCallback(values(1.0, higher=False), every_n_steps=2, history=None), BestCheckpoint("m", path=path)], 2)
    content = path.read_bytes()
    again = BestCheckpoint("m", path=path)
    fit([EvalCallback(values(2.0, higher=False), every_n_steps=2, history=None), again], 2)
    assert again.best == 1.0 and path.read_bytes() == content


def test_a_note_without_its_weights_keeps_nobody_from_saving(tmp_path):
    path = tmp_path / "best.ckpt"
    fit([EvalCallback(values(1.0, higher=False), every_n_steps=2, history=None), BestCheckpoint("m", path=path)], 2)
    path.unlink()
    fit([EvalCallback(values(2.0, higher=False), every_n_steps=2, history=None), BestCheckpoint("m", path=path)], 2)
    assert path.exists() and json.loads((tmp_path / "best.json").read_text())["value"] == "2.0"


def best_of(path, number, monitor="m", mode=None, higher=False):
    """Train with one evaluation of a number, and give the callback that kept the best weights."""
    best = BestCheckpoint(monitor, mode, path=path)
    evaluate = values(number, higher=higher)
    fit([EvalCallback(lambda: {monitor: evaluate()["m"]}, every_n_steps=2, history=None), best], 2)
    return best


@pytest.mark.parametrize("mode", ["max", None])
def test_a_note_of_another_mode_is_not_taken_over(tmp_path, caplog, mode):
    path = tmp_path / "best.ckpt"
    best_of(path, 0.25, mode="min")
    again = best_of(path, 0.125, mode=mode, higher=True)  # below the best of "min", yet the first of "max"
    assert (again.best, json.loads((tmp_path / "best.json").read_text())["mode"]) == (0.125, "max")
    assert "is of the best 'm' (mode min), not of 'm' (mode max)" in caplog.text


def test_a_note_of_another_monitor_is_not_taken_over(tmp_path, caplog):
    path = tmp_path / "best.ckpt"
    best_of(path, 0.25, monitor="loss")
    again = best_of(path, 0.5, monitor="error")
    assert (again.best, json.loads((tmp_path / "best.json").read_text())["monitor"]) == (0.5, "error")
    assert "is of the best 'loss' (mode min), not of 'error' (mode as the metric says)" in caplog.text


@pytest.mark.parametrize(
    "note",
    [
        "",
        "not json",
        "\xff\xfe\x00",
        "[" * 100_000,
        "[]",
        '{"monitor": "m", "value": "0.1", "step": 1}',
        '{"monitor": "m", "mode": "min", "value": "x"}',
    ]
    + ['{"monitor": "m", "mode": "min", "value": "nan", "step": 1}'],
)
def test_a_note_that_cannot_be_read_keeps_nobody_from_saving(tmp_path, note):
    path = tmp_path / "best.ckpt"
    best_of(path, 0.25)
    (tmp_path / "best.json").write_text(note, encoding="latin-1")
    assert best_of(path, 0.5).best == 0.5


def test_a_folder_is_no_path_of_weights(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(IsADirectoryError, match="path must be that of a file, but got the folder .*checkpoints"):
        best_of(tmp_path / "checkpoints", 0.5)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoints"]


def test_names_with_dots_have_files_and_notes_of_their_own(tmp_path):
    first, second = best_of(tmp_path / "v1.0", 2.0), best_of(tmp_path / "v1.1", 3.0)
    assert (first.best, second.best) == (2.0, 3.0)  # the second did not go on from the first
    assert sorted(file.name for file in tmp_path.iterdir()) == ["v1.0.ckpt", "v1.0.json", "v1.1.ckpt", "v1.1.json"]
    assert set(ms.load_checkpoint(str(second.file))) == {"weight"}


def test_every_rank_has_a_file_of_its_own_under_a_name_with_dots(tmp_path):
    assert BestCheckpoint("m", path=tmp_path / "v1.0", every_rank=True).file.name == "v1.0_rank0.ckpt"


@pytest.mark.parametrize(("first_step", "warnings"), [(0, 1), (2, 0)])
def test_a_best_that_is_taken_over_is_named_unless_the_run_is_known_to_be_resumed(
    tmp_path, caplog, first_step, warnings
):
    path = tmp_path / "best.ckpt"
    best_of(path, 8.0)
    assert "is taken from" not in caplog.text
    again = BestCheckpoint("m", path=path)
    fit([EvalCallback(values(9.0, higher=False), every_n_steps=2, history=None, first_step=first_step), again], 2)
    assert (again.best, again.best_step) == (8.0, 2)
    named = f"the best 'm' so far is taken from {tmp_path / 'best.json'}: 8.0 of step 2; a run that is not resumed"
    assert caplog.text.count(named) == warnings


@pytest.mark.parametrize("on_error", ["raise", "log"])
def test_weights_that_cannot_be_saved_end_a_training_unless_said_otherwise(tmp_path, caplog, monkeypatch, on_error):
    """The disk is full at the second of four evaluations; MindSpore leaves what it had written by then."""
    save, saved = ms.save_checkpoint, []

    def nearly_full(network, name):
        saved.append(name)
        if len(saved) == 2:
            (tmp_path / ".best.unfinished.tmp").write_bytes(b"a piece")
            raise OSError(28, "No space left on device")
        save(network, name)

    monkeypatch.setattr(ms, "save_checkpoint", nearly_full)
    best = BestCheckpoint("m", "min", path=tmp_path / "best.ckpt", on_error=on_error)
    callbacks = [EvalCallback(values(4.0, 2.0, 3.0, 3.5), every_n_steps=2, history=None), best]
    if on_error == "raise":
        with pytest.raises(OSError, match="No space left on device"):
            fit(callbacks, steps=8)
        kept = (4.0, 2)
    else:
        fit(callbacks, steps=8)
        assert re.search("saving the best weights of step 4 failed .*; training goes on without it", caplog.text)
        kept = (3.0, 6)
    assert (best.best, best.best_step) == kept
    assert ms.load_checkpoint(str(best.file))["weight"].asnumpy().tolist() == [1 - kept[1] / 8]
    note = json.loads((tmp_path / "best.json").read_text())
    assert (float(note["value"]), note["step"]) == kept
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.ckpt", "best.json"]


@pytest.mark.parametrize("kind", [BestCheckpoint, EarlyStopping])
def test_another_training_begins_without_the_best_of_the_one_before(tmp_path, kind):
    callback = kind("m", path=tmp_path / "best.ckpt") if kind is BestCheckpoint else kind("m", patience=2)
    fit([EvalCallback(values(1.0, 2.0, 2.0, 2.0, higher=False), every_n_steps=1, history=None), callback], 4)
    assert callback.best == 1.0
    if kind is BestCheckpoint:  # with the files it would be a run that is resumed
        callback.path.unlink()
    else:
        assert (callback.waited, callback.stopped_step) == (2, 3)
    second = EvalCallback(values(5.0, 4.0, 3.0, 3.5, higher=False), every_n_steps=1, history=None)
    fit([second, callback], 4)
    assert (callback.best, callback.best_step) == (3.0, 3) and len(second.history.series("m")) == 4
    if kind is EarlyStopping:
        assert (callback.waited, callback.stopped_step) == (1, None)


def test_best_checkpoint_before_the_evaluation_is_refused(tmp_path):
    callbacks = [
        BestCheckpoint("m", path=tmp_path / "best.ckpt"),
        EvalCallback(values(1.0, higher=True), every_n_steps=2),
    ]
    callbacks[1].history = History()
    with pytest.raises(ValueError, match="put it behind EvalCallback"):
        fit(callbacks, steps=4)


@pytest.mark.parametrize(
    ("numbers", "higher", "stopped", "best"),
    [
        ((0.5, 0.0, 0.25, 0.25), False, 4, 0.0),  # 0.0 is a value: MindSpore's takes it for missing
        ((0.0, 0.0, 0.0, 0.0), True, 3, 0.0),
        ((0.5, 0.6, 0.55, 0.5), True, 4, 0.6),
        ((1.0, math.nan, math.nan, 0.5), False, 3, 1.0),
        ((4.0, 3.0, 2.0, 1.0), False, None, 1.0),
    ],
)
def test_early_stopping(numbers, higher, stopped, best):
    stopping = EarlyStopping("m", patience=2)
    callback = EvalCallback(values(*numbers, higher=higher), every_n_steps=1, history=None)
    fit([callback, stopping], steps=4)
    assert (stopping.stopped_step, stopping.best) == (stopped, best)
    assert len(callback.history.series("m")) == (stopped or 4)


def test_a_smaller_improvement_than_min_delta_does_not_count():
    stopping = EarlyStopping("m", "max", patience=2, min_delta=0.1)
    fit([EvalCallback(values(0.5, 0.55, 0.59, 0.9), every_n_steps=1, history=None), stopping], steps=4)
    assert stopping.stopped_step == 3


def test_a_direction_that_is_not_known_must_be_given():
    stopping = EarlyStopping("perplexity", patience=2)
    with pytest.raises(ValueError, match="give mode='min' or 'max': 'perplexity' does not say"):
        fit([EvalCallback(lambda: {"perplexity": 1.0}, every_n_steps=1, history=None), stopping])


class Losses(nn.Cell):
    """What Model.fit hands to metrics: a vector of losses, logits, labels. The losses are the weight's squares."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, x):
        return (self.network.weight * self.network.weight + 0 * x.sum()).reshape((1,)), x, x


def test_the_evaluations_of_model_fit_are_recorded_and_decided_on_beside_mindspores_callbacks(tmp_path):
    network = Weight()
    record = EvalCallback(None, history=tmp_path / "history.jsonl", log_every_n_steps=2)
    best, stopping = BestCheckpoint("loss", path=tmp_path / "best.ckpt"), EarlyStopping("loss", patience=2)
    model = train.Model(
        network,
        optimizer=nn.SGD(network.trainable_params(), 0.125),
        metrics={"loss": Loss()},
        eval_network=Losses(network),
        eval_indexes=[0, 1, 2],
    )
    mindspores = [train.LossMonitor(), train.TimeMonitor(), train.History()]
    model.fit(10, ones(4), ones(2), callbacks=[record, best, stopping, *mindspores], dataset_sink_mode=False)
    # the weight is 1/2, 0, -1/2, -1 at the ends of the epochs
    assert record.history.series("loss") == [(4, 0.25), (8, 0.0), (12, 0.25), (16, 1.0)]
    assert (best.best, best.best_step, stopping.stopped_step) == (0.0, 8, 16)
    (saved,) = ms.load_checkpoint(str(tmp_path / "best.ckpt")).values()
    assert saved.asnumpy().tolist() == [0.0]


def test_the_evaluations_of_model_fit_do_not_count_as_time_of_training(monkeypatch):
    class Clock:
        now = 0.0

    class Second(train.Callback):
        def on_train_step_end(self, run_context):
            Clock.now += 1

    class Slow(Losses):
        def construct(self, x):
            Clock.now += 100
            return super().construct(x)

    monkeypatch.setattr(time, "perf_counter", lambda: Clock.now)
    network = Weight()
    record = EvalCallback(None, history=None, log_every_n_steps=3, tokens_per_step=32)
    model = train.Model(
        network,
        optimizer=nn.SGD(network.trainable_params(), 0.125),
        metrics={"loss": Loss()},
        eval_network=Slow(network),
        eval_indexes=[0, 1, 2],
    )
    model.fit(3, ones(4), ones(2), callbacks=[Second(), record], dataset_sink_mode=False)
    assert Clock.now == 12 + 3 * 2 * 100
    # evaluations after steps 4, 8 and 12: two of them lie within a window
    assert record.history.series("seconds", "train") == [(3, 3.0), (6, 3.0), (9, 3.0), (12, 3.0)]
    assert record.history.series("tokens_per_second", "train") == [(3, 32.0), (6, 32.0), (9, 32.0), (12, 32.0)]


def test_summaries_hold_the_scalars(tmp_path):
    fit(EvalCallback(values(0.5, 0.25), every_n_steps=4, history=None, log_every_n_steps=4, summary=tmp_path), steps=8)
    (written,) = [file for file in tmp_path.iterdir() if file.is_file() and "mindeval" in file.name]
    content = written.read_bytes()
    assert all(name in content for name in (b"eval/m", b"train/loss"))
    if importlib.util.find_spec("tensorboard") is None:
        assert not (tmp_path / "tensorboard").exists()
        return
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("eval/m")] == [(4, 0.5), (8, 0.25)]


def test_another_training_has_summaries_of_its_own(tmp_path):
    callback = EvalCallback(values(0.5, 0.25), every_n_steps=4, history=None, summary=tmp_path)
    for _ in range(2):
        fit(callback, steps=4)
    files = [file for file in tmp_path.iterdir() if file.is_file() and "mindeval" in file.name]
    assert len(files) == 2 and all(b"eval/m" in file.read_bytes() for file in files)


@pytest.mark.parametrize("on_error", ["raise", "log"])
def test_a_summary_whose_folder_is_gone_ends_a_training_unless_said_otherwise(tmp_path, caplog, on_error):
    folder = tmp_path / "gone"

    def evaluate():
        shutil.rmtree(folder, ignore_errors=True)
        return {"m": 0.5}

    callback = EvalCallback(evaluate, every_n_steps=5, history=None, summary=folder, on_error=on_error)
    if on_error == "raise":
        with pytest.raises(FileNotFoundError, match="the folder of the summary is gone"):
            fit(callback)
        callback._board.close()  # MindSpore has one in a process
        return
    fit(callback)
    assert re.search("writing the summary of step 5 failed .*; training goes on without it", caplog.text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"every_n_steps": None}, "give every_n_steps or every_n_epochs"),
        ({"every_n_steps": 0}, "every_n_steps must be an int of at least 1, but got 0"),
        ({"every_n_epochs": True}, "every_n_epochs must be an int, but got True"),
        ({"every_n_steps": 2.0}, "every_n_steps must be an int, but got 2.0"),
        ({"every_n_steps": 1, "log_every_n_steps": None}, "log_every_n_steps must be an int, but got None"),
        ({"every_n_steps": 1, "tokens_per_step": "8"}, "tokens_per_step must be an int, but got '8'"),
        ({"every_n_steps": 1, "first_step": -1}, "first_step must be an int of at least 0, but got -1"),
        ({"every_n_steps": 1, "first_step": False}, "first_step must be an int, but got False"),
        ({"every_n_steps": 1, "on_error": "ignore"}, "on_error must be 'raise' or 'log', but got 'ignore'"),
        ({"every_n_steps": 1, "history": 3}, "history must be a path, but got 3"),
        ({"every_n_steps": 1, "summary": True}, "summary must be a path, but got True"),
        ({"every_n_steps": 1, "group": 0}, "group must be a name, but got 0"),
        ({"every_n_steps": 1, "evaluate": 3}, "evaluate must be a function, .*but got int"),
        ({"every_n_steps": 1, "evaluate": Weight()}, "evaluate must be a function, .*but got Weight"),
        ({"every_n_steps": 1, "evaluate": (Weight(), [])}, r"give \(network, dataset, metrics\), but got 2 of them"),
        ({"every_n_steps": 1, "evaluate": (Weight(), [], Accuracy())}, "the dataset must be one of MindSpore, .*list"),
        ({"every_n_steps": 1, "evaluate": (3, ones(1), Accuracy())}, "the network must be a Cell, but got int"),
    ],
)
def test_refused_arguments(arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'EvalCallback', {message}"):
        EvalCallback(**{"evaluate": dict, "history": None, **arguments})


@pytest.mark.parametrize("kind", [BestCheckpoint, EarlyStopping])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"monitor": None}, "monitor must be a name, but got None"),
        ({"monitor": ""}, "monitor must be a name, but got ''"),
        ({"mode": "auto"}, "mode must be 'min', 'max' or None, but got 'auto'"),
        ({"mode": True}, "mode must be 'min', 'max' or None, but got True"),
        ({"min_delta": -0.5}, "min_delta must be a number >= 0, but got -0.5"),
        ({"min_delta": math.nan}, "min_delta must be a number >= 0, but got nan"),
        ({"min_delta": math.inf}, "min_delta must be a number >= 0, but got inf"),
        ({"min_delta": "0.1"}, "min_delta must be a number >= 0, but got '0.1'"),
        ({"min_delta": True}, "min_delta must be a number >= 0, but got True"),
        ({"group": 1}, "group must be a name, but got 1"),
    ],
)
def test_refused_arguments_of_monitors(kind, arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"For '{kind.__name__}', {message}"):
        kind(**{"monitor": "m", **arguments})


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (EarlyStopping, {"patience": 0}, "patience must be an int of at least 1, but got 0"),
        (EarlyStopping, {"patience": True}, "patience must be an int, but got True"),
        (EarlyStopping, {"patience": "3"}, "patience must be an int, but got '3'"),
        (EarlyStopping, {"patience": 2.0}, "patience must be an int, but got 2.0"),
        (BestCheckpoint, {"every_rank": 1}, "every_rank must be True or False, but got 1"),
        (BestCheckpoint, {"on_error": "warn"}, "on_error must be 'raise' or 'log', but got 'warn'"),
        (BestCheckpoint, {"path": None}, "path must be a path, but got None"),
        (BestCheckpoint, {"path": ""}, "path must be that of a file, but got ''"),
        (BestCheckpoint, {"path": "checkpoints/"}, "path must be that of a file, but got 'checkpoints/'"),
    ],
)
def test_refused_arguments_of_one_monitor(kind, arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"For '{kind.__name__}', {message}"):
        kind("m", **arguments)


def test_a_monitored_value_that_is_no_number_is_refused():
    stopping = EarlyStopping("m", "min")
    with pytest.raises(TypeError, match="For 'EarlyStopping', 'm' must be a number, but got None"):
        fit([EvalCallback(lambda: {"m": None}, every_n_steps=1, history=None), stopping])


def test_an_evaluation_outside_of_training_moves_no_step():
    callback = EvalCallback(lambda: {"m": 0.5}, every_n_steps=4, every_n_epochs=1, history=None, first_step=100)
    callback.evaluate_now()
    callback.evaluate_now(step=104)
    fit(callback, steps=4)
    callback.evaluate_now(step=3)
    fit(callback, steps=4)
    assert [step for step, _ in callback.history.series("m")] == [100, 104, 104, 3, 108]
    assert [r["step"] for r in callback.history.records if r["kind"] == "start"] == [100, 104]


def test_a_failed_evaluation_outside_of_training_has_no_values_whatever_came_before():
    queue = [0.5, "no number"]
    callback = EvalCallback(lambda: {"m": queue.pop(0)}, every_n_steps=1, history=None, on_error="log")
    assert callback.evaluate_now() == {"m": 0.5} and callback.evaluate_now() is None


def test_evaluate_now_records_the_step_that_the_training_has_reached():
    callback = EvalCallback(lambda: {"m": 0.5}, every_n_steps=100, history=None)

    class Asks(train.Callback):
        def on_train_step_begin(self, run_context):
            callback.evaluate_now()

        on_train_step_end = on_train_step_begin

    callback.evaluate_now()
    fit([callback, Asks()], steps=2)
    callback.evaluate_now()
    fit([callback, Asks()], steps=1)
    callback.evaluate_now()
    # before a training, at the beginning and end of each step, after it; MindSpore counts a second training from 1
    assert [step for step, _ in callback.history.series("m")] == [0, 0, 1, 1, 2, 2, 2, 3, 3]


@pytest.mark.parametrize("step", ["a", 1.5, True, -3])
def test_a_step_that_is_none_is_refused_before_anything_is_evaluated(step):
    callback = EvalCallback(values(0.5), every_n_steps=1, history=None)
    with pytest.raises((TypeError, ValueError), match="For 'EvalCallback.evaluate_now', step must be an int"):
        callback.evaluate_now(step=step)
    assert callback.history.records == [] and callback.evaluate_now() is not None


UNFIT = [
    ({"m": "0.5"}, "evaluated values must be numbers, but got the str '0.5' as 'm'"),
    ({"m": np.ones(2)}, r"evaluated values must be numbers, but got float64 \[2\] as 'm'"),
    ({"m": {"a": 1.0}}, "evaluated values must be numbers, but got dict as 'm'"),
    ({"m": 10**400}, "'m' is a whole number that no float can hold"),
    ({1: 0.5}, "names of evaluated values must be str, but got 1"),
    (0.5, "an evaluation must give a dict of name -> number, but got float"),
]


@pytest.mark.parametrize(("unfit", "message"), UNFIT, ids=[str(row[0])[:12] for row in UNFIT])
def test_values_that_a_history_cannot_keep_are_errors_or_records_of_errors(unfit, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'EvalCallback', {message}"):
        fit(EvalCallback(lambda: unfit, every_n_steps=5, history=None))
    callback = EvalCallback(lambda: unfit, every_n_steps=5, history=None, on_error="log")
    fit(callback)
    errors = [record for record in callback.history.records if record["kind"] == "error"]
    assert [record["step"] for record in errors] == [5, 10]
    assert re.search(message, errors[0]["error"])


def test_flags_and_missing_values_are_kept():
    callback = EvalCallback(lambda: {"a": None, "b": True, "c": np.float32(0.5)}, every_n_steps=10, history=None)
    fit(callback)
    assert callback.history.records[-1]["metrics"] == {"a": None, "b": True, "c": 0.5}


@pytest.mark.parametrize("on_error", ["raise", "log"])
def test_a_history_whose_folder_is_gone_ends_a_training_unless_said_otherwise(tmp_path, caplog, on_error):
    folder = tmp_path / "gone"

    def evaluate():
        shutil.rmtree(folder, ignore_errors=True)
        return {"m": 0.5}

    callback = EvalCallback(evaluate, every_n_steps=5, history=folder / "eval.jsonl", on_error=on_error)
    best = BestCheckpoint("m", "max", path=tmp_path / "best.ckpt")
    if on_error == "raise":
        with pytest.raises(OSError, match="No such file"):
            fit([callback, best])
        return
    fit([callback, best])
    assert best.best_step == 5
    assert re.search("writing the record 'eval' of step 5 failed .*; training goes on without it", caplog.text)
    assert callback.history.series("m") == [(5, 0.5), (10, 0.5)]  # in memory alone


def test_an_evaluation_without_the_monitored_value_is_left_out_with_one_warning(caplog):
    queue = [{"m": 0.5}, {"other": 1.0}, {"other": 1.0}, {"m": 0.25}]
    stopping = EarlyStopping("m", "min", patience=1)
    fit([EvalCallback(lambda: queue.pop(0), every_n_steps=2, history=None), stopping], steps=8)
    assert (stopping.best, stopping.best_step, stopping.stopped_step) == (0.25, 8, None)
    assert caplog.text.count("an evaluation without 'm' is left out: it has ['other']") == 1


def test_evaluations_of_several_callbacks_are_all_seen(tmp_path):
    queue = [0.5, 0.4, 0.3]
    first = EvalCallback(lambda: {"m": queue.pop(0)}, every_n_steps=2, history=None)
    second = EvalCallback(lambda: {"other": 1.0}, every_n_steps=3, history=None)
    stopping, best = EarlyStopping("m", "min"), BestCheckpoint("other", "max", path=tmp_path / "best.ckpt")
    fit([first, second, stopping, best], steps=6)
    assert (stopping.best, stopping.best_step, best.best_step) == (0.3, 6, 3)


def test_of_two_evaluations_of_one_name_only_the_first_is_followed(tmp_path, caplog):
    """Two callbacks, on two data sets perhaps: 0.9 is no better than 0.5, and 0.1 of the other no best either."""
    first = EvalCallback(values(0.5, 0.6, 0.4), every_n_steps=2, history=None)
    second = EvalCallback(values(0.9, 0.1, 0.9), every_n_steps=2, history=None)
    stopping, best = EarlyStopping("m", "min", patience=2), BestCheckpoint("m", "min", path=tmp_path / "best.ckpt")
    fit([first, second, stopping, best], steps=6)
    assert (stopping.best, stopping.best_step, stopping.stopped_step) == (0.4, 6, None)
    assert (best.best, best.best_step) == (0.4, 6)
    for kind in ("EarlyStopping", "BestCheckpoint"):
        message = f"For '{kind}', 'm' is evaluated by EvalCallback, which is followed, and by another EvalCallback"
        assert caplog.text.count(message) == 1


class Rising(Losses):
    """The loss of an evaluation is its number: 1, 2, 3."""

    number = 0.0

    def construct(self, x):
        self.number += 1
        return ms.Tensor([self.number], ms.float32), x, x


def fitted(callbacks, epochs, network=None):
    network = network or Weight()
    model = train.Model(
        network,
        optimizer=nn.SGD(network.trainable_params(), 0.125),
        eval_network=Rising(network),
        metrics={"loss": Loss()},
        eval_indexes=[0, 1, 2],
    )
    model.fit(epochs, ones(4), ones(1), callbacks=callbacks, dataset_sink_mode=False)


def test_a_step_that_model_fit_and_a_callback_evaluate_counts_once_for_the_patience(caplog):
    queue = [0.5, 0.6, 0.7, 0.4, 0.3, 0.2]
    callback = EvalCallback(lambda: {"loss": queue.pop(0)}, every_n_epochs=1, history=None)
    stopping = EarlyStopping("loss", "min", patience=3)
    fitted([callback, stopping], epochs=6)
    assert (stopping.stopped_step, stopping.best, stopping.best_step) == (None, 0.2, 24)
    assert "'loss' is evaluated by EvalCallback, which is followed, and by Model.fit, which is left out" in caplog.text


def test_model_fit_is_followed_where_it_evaluated_first_and_where_nobody_else_has_the_name(caplog):
    late = EvalCallback(lambda: {"loss": 0.0}, every_n_epochs=2, history=None)
    stopping = EarlyStopping("loss", "min", patience=3)
    fitted([late, stopping], epochs=6)
    assert (stopping.stopped_step, stopping.best, stopping.best_step) == (16, 1.0, 4)  # of 1, 2, 3, 4
    assert "'loss' is evaluated by Model.fit, which is followed, and by another EvalCallback" in caplog.text
    caplog.clear()
    other, stopping = EvalCallback(values(*range(6)), every_n_epochs=1, history=None), EarlyStopping("loss", "min")
    fitted([other, stopping], epochs=6)
    assert (stopping.stopped_step, stopping.best) == (16, 1.0) and "followed" not in caplog.text


@pytest.mark.parametrize("kind", [BestCheckpoint, EarlyStopping])
def test_a_monitored_name_that_never_came_is_an_error_at_the_end_and_no_evaluation_a_warning(kind, caplog):
    fit([EvalCallback(lambda: {"m": 0.5}, every_n_steps=5, history=None), kind("wrong", "min")])
    assert "monitor must be one of ['m'], but got 'wrong'" in caplog.text  # the weights can still be saved
    fit([EvalCallback(lambda: {"m": 0.5}, every_n_steps=50, history=None), kind("m", "min")])
    assert "there was no evaluation: 'm' was never seen" in caplog.text


def test_early_stopping_before_the_evaluation_warns(caplog):
    fit([EarlyStopping("m", "min"), EvalCallback(lambda: {"m": 0.5}, every_n_steps=4, history=None)])
    assert caplog.text.count("put it behind EvalCallback in the list of callbacks: it sees values late") == 1


def test_best_checkpoint_before_the_only_evaluation_is_refused_at_the_end(tmp_path):
    best = BestCheckpoint("m", "min", path=tmp_path / "best.ckpt")
    with pytest.raises(ValueError, match="put it behind EvalCallback in the list of callbacks"):
        fit([best, EvalCallback(lambda: {"m": 0.5}, every_n_epochs=1, history=None)])


def test_in_model_fit_the_best_step_is_that_of_the_history_after_steps_that_were_done_before(tmp_path):
    network = Weight()
    callback = EvalCallback(None, history=None, first_step=100)
    best = BestCheckpoint("loss", "min", path=tmp_path / "best.ckpt")
    stopping = EarlyStopping("loss", "min")
    model = train.Model(
        network,
        optimizer=nn.SGD(network.trainable_params(), 0.125),
        eval_network=Losses(network),
        metrics={"loss": Loss()},
        eval_indexes=[0, 1, 2],
    )
    model.fit(2, ones(4), ones(4), callbacks=[callback, best, stopping], dataset_sink_mode=False)
    assert callback.history.series("loss") == [(104, 0.25), (108, 0.0)]  # the squares of 1/2 and 0
    assert (best.best_step, stopping.best_step) == (108, 108)
