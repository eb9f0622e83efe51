"""EvalCallback: evaluate while a model trains, and keep a history."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from typing import Any, Callable

from mindspore import train

from mindeval import distributed
from mindeval.training import arguments
from mindeval.training.agreement import Agreement
from mindeval.training.board import Board
from mindeval.training.data_set_evaluation import evaluation_function, training_mode_kept
from mindeval.training.evaluation import Evaluation, checked, evaluation_of, outcome_of, publish
from mindeval.training.history import History
from mindeval.training.window import Window

logger = logging.getLogger("mindeval")


class EvalCallback(train.Callback):
    """Evaluates while ``Model.train`` runs and keeps a history of losses, speed and values.

    The training mode of every Cell is put back after each evaluation. All ranks must have this callback: they evaluate
    at the same steps; rank 0 writes. Training losses are averaged over the ranks; speeds are summed.

    Args:
        evaluate: a function without arguments that returns name -> number, or ``(network, dataset, metrics)``:
            ``network(*batch)`` gives what ``metrics.update`` takes, as ``EvalCell`` does; metrics are a metric, a
            ``MetricCollection`` or a dict. None records training losses alone, for ``Model.fit``, whose own
            evaluations are recorded as well.
        every_n_steps: evaluate when the number of steps passes a multiple of this.
        every_n_epochs: evaluate at the end of every n-th epoch.
        history: a path, a ``History`` (made with ``write=False`` on ranks above 0), or None for memory alone. An
            existing file is continued.
        log_every_n_steps: the window of training losses and speed.
        tokens_per_step: the tokens of a batch on this rank, for tokens per second.
        first_step: steps that were done before this run, for a run that is resumed.
        summary: a folder for MindSpore summary scalars and, where the package ``tensorboard`` is installed, its events
            (in the folder ``tensorboard`` within).
        on_error: ``"raise"``, or ``"log"``: an evaluation that fails is recorded as an error, and training goes on. All
            ranks do the same if any of them fails; a function must fail on all ranks or come back on all. A history or
            summary that cannot be written (its folder is gone, the disk is full) is logged as well, and its record is
            kept in memory alone. With ``evaluate=None`` it is MindSpore that evaluates: an evaluation that fails within
            ``Model.fit`` ends it whatever is said here.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError: if it is not said when to evaluate, or a number is not positive.
        TypeError: for an argument of another type. In training: for an evaluated value that is no number, unless
            ``on_error="log"``.
        OSError: if a file cannot be opened or, unless ``on_error="log"``, written. On several ranks all raise where
            they meet next, the others a RuntimeError with the reason.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> callback = EvalCallback(lambda: {"accuracy": 0.5}, every_n_steps=100, history=None)
    >>> callback.evaluate_now(step=100)["accuracy"]
    0.5
    >>> callback.history.series("accuracy")
    [(100, 0.5)]
    """

    def __init__(
        self,
        evaluate: Callable[[], Mapping[str, Any]] | tuple | None,
        *,
        every_n_steps: int | None = None,
        every_n_epochs: int | None = None,
        history: str | os.PathLike | History | None = "eval.jsonl",
        log_every_n_steps: int = 10,
        tokens_per_step: int | None = None,
        first_step: int = 0,
        summary: str | os.PathLike | None = None,
        on_error: str = "raise",
        group: str | None = None,
    ) -> None:
        super().__init__()
        kind = "For 'EvalCallback',"
        if evaluate is not None and every_n_steps is None and every_n_epochs is None:
            raise ValueError(f"{kind} give every_n_steps or every_n_epochs, but got neither")
        counts = {"every_n_steps": every_n_steps, "every_n_epochs": every_n_epochs, "tokens_per_step": tokens_per_step}
        for name, number in counts.items():
            if number is not None:
                arguments.whole(number, 1, f"{kind} {name}")
        arguments.whole(log_every_n_steps, 1, f"{kind} log_every_n_steps")
        self.evaluate = evaluation_function(evaluate)
        self.every_n_steps, self.every_n_epochs = every_n_steps, every_n_epochs
        self.first_step = arguments.whole(first_step, 0, f"{kind} first_step")
        self.on_error = arguments.on_error(on_error, f"{kind} on_error")
        self.group = None if group is None else arguments.name(group, f"{kind} group")
        if summary is not None:
            arguments.file_path(summary, f"{kind} summary")
        if history is not None and not isinstance(history, History):
            arguments.file_path(history, f"{kind} history")
        self.history = history if isinstance(history, History) else History()
        self.last: Evaluation | None = None
        self._window = Window(log_every_n_steps, tokens_per_step)
        self._board: Board | None = None
        self._agreement = Agreement(self.group, on_error)
        self._files, self._opened = (history, summary), False
        self._open()
        self._step = first_step
        self._evaluated_at: int | None = None  # the last evaluation in training, failed or not
        self._training = self._has_warned = False

    def _open(self) -> None:
        """Open the files. Whatever ``on_error`` says: nothing is lost yet, and a wrong path is better known now."""
        if self._opened:
            return
        history, summary = self._files
        writes = distributed.this_rank(self.group) == 0
        with self._agreement.attempt("opening the history or the summary", on_error="raise"):
            if not isinstance(history, History):
                self.history = History(history, write=writes)
            if summary is not None and writes:
                self._board = Board(summary)
            self._opened = True

    # -- hooks of MindSpore ------------------------------------------------------------------------------------------

    def on_train_begin(self, run_context: Any) -> None:
        self._open()
        if self._board is not None:
            with self._agreement.attempt("opening the summary"):
                self._board.open()
        # Nobody writes before all have read, and what counts is what rank 0 has read.
        known = int(self._agreement.exchange(str(len(self.history.records)))[0])
        resumed = known > 0
        self.first_step = self._step  # MindSpore counts the steps of another run from 1 again
        ranks = distributed.world_size(self.group)
        self._keep({"kind": "start", "step": self.first_step, "resumed": resumed, "ranks": ranks})
        run_context.original_args().mindeval_first_step = self.first_step  # for BestCheckpoint and EarlyStopping
        self._evaluated_at = None
        self._window.start(self.first_step)
        self._training = True

    def on_train_step_end(self, run_context: Any) -> None:
        context = run_context.original_args()
        before, self._step = self._step, self.first_step + int(context.cur_step_num)
        self._window.add(context.net_outputs, self._step)
        if self._window.due(self._step):
            self._log(context)
        if self.evaluate is not None and _passes(before, self._step, self.every_n_steps):
            self._log(context)
            self._evaluate_in_training(context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        context = run_context.original_args()
        done_at_this_step = self._evaluated_at == self._step
        due = self.every_n_epochs is not None and int(context.cur_epoch_num) % self.every_n_epochs == 0
        if self.evaluate is not None and due and not done_at_this_step:
            self._log(context)
            self._evaluate_in_training(context)

    def on_eval_begin(self, run_context: Any) -> None:
        """``Model.fit`` evaluates in the middle of a window: its time is not one of training."""
        self._window.pause()

    def on_eval_end(self, run_context: Any) -> None:
        """The evaluations of ``Model.fit``."""
        context = run_context.original_args()
        metrics = context.get("metrics")
        if self.evaluate is None and metrics and self._training:
            self._of_fit(metrics, context)
        self._window.go_on()

    def on_train_end(self, run_context: Any) -> None:
        self._log(run_context.original_args())
        self._training = False
        if self._board is not None:
            with self._agreement.attempt("closing the summary"):
                self._board.close()
        self._agreement.exchange()  # the last to do so: what failed since the last window

    # -- evaluations ---------------------------------------------------------------------------------------------------

    def evaluate_now(self, step: int | None = None) -> dict[str, Any] | None:
        """Evaluate and record beside the evaluations of the training, on all ranks.

        Args:
            step: what is recorded; by default the step that the training has reached, in it, after it, or before it,
                where that is ``first_step``. A callback that calls this in a training stands behind this one.

        Returns:
            The values, or None if the evaluation failed with ``on_error="log"``. ``BestCheckpoint`` and
            ``EarlyStopping`` do not see them, and where a training goes on from is not changed.
        """
        if self.evaluate is None:
            raise ValueError("For 'EvalCallback', there is nothing to evaluate: evaluate is None")
        if step is None:
            step = self._step
        arguments.whole(step, 0, "For 'EvalCallback.evaluate_now', step")
        self._window.pause()
        evaluation = self._evaluate(None, step)
        self._window.go_on()
        return None if evaluation is None else evaluation.metrics

    def _evaluate_in_training(self, context: Any) -> None:
        self._evaluated_at = self._step
        evaluation = self._evaluate(context, self._step)
        self._window.start(self._step)
        if evaluation is not None:
            publish(evaluation, context)

    def _evaluate(self, context: Any, step: int) -> Evaluation | None:
        """The evaluation, kept; None if it failed."""
        assert self.evaluate is not None
        networks = [] if context is None else [context.get("train_network"), context.get("network")]
        self._open()
        started, values, failure = time.perf_counter(), {}, None
        with training_mode_kept(*networks, getattr(self.evaluate, "network", None)):
            try:
                values = checked(self.evaluate())
            except Exception as error:
                failure = error
        seconds = time.perf_counter() - started
        errors, seconds, differing = outcome_of(failure, seconds, values, self._agreement.exchange)
        if not errors:
            if differing and not self._has_warned:
                logger.warning(
                    "For 'EvalCallback', %s differ between the ranks, and are recorded as they are", differing
                )
                self._has_warned = True
            evaluation = evaluation_of(step, values, self, getattr(self.evaluate, "higher_is_better", {}))
            self._record(evaluation, context, seconds)
            self._agreement.exchange()
            return evaluation
        if self.on_error == "raise":
            raise failure or RuntimeError(f"the evaluation at step {step} failed on other ranks: {errors}")
        self._failed(step, context, errors, failure)
        return None

    def _of_fit(self, values: Mapping[str, Any], context: Any) -> None:
        """What ``Model.fit`` has evaluated."""
        try:
            evaluation = evaluation_of(self._step, checked(values))
        except (TypeError, ValueError) as error:
            if self.on_error == "raise":
                raise
            self._failed(self._step, context, str(error), error)
            return
        self._record(evaluation, context)

    def _failed(self, step: int, context: Any, errors: str, failure: Exception | None) -> None:
        logger.error("the evaluation at step %d failed; training goes on: %s", step, errors, exc_info=failure)
        self._keep({"kind": "error", "step": step, "epoch": _epoch(context), "error": errors})

    def _record(self, evaluation: Evaluation, context: Any, seconds: float | None = None) -> None:
        self.last = evaluation
        values = evaluation.metrics
        record: dict[str, Any] = {"kind": "eval", "step": evaluation.step, "epoch": _epoch(context), "metrics": values}
        if seconds is not None:
            record["seconds"] = seconds
        self._keep({**record, "higher_is_better": evaluation.higher_is_better})
        self._draw({f"eval/{name}": value for name, value in values.items() if value is not None}, evaluation.step)

    def _log(self, context: Any) -> None:
        figures = self._window.close(self._step, self._agreement.exchange)
        if figures is None:
            return
        self._keep({"kind": "train", "step": self._step, "epoch": _epoch(context), **figures})
        names = ("loss", "tokens_per_second", "steps_per_second")
        self._draw({f"train/{name}": figures[name] for name in names if name in figures}, self._step)

    def _keep(self, record: dict[str, Any]) -> None:
        with self._agreement.attempt(f"writing the record {record['kind']!r} of step {record['step']}"):
            try:
                self.history.append(record)
            except OSError:  # in memory all ranks have the same history
                unwritten = History()
                unwritten.append(record)
                self.history.records.extend(unwritten.records)
                raise

    def _draw(self, values: Mapping[str, float], step: int) -> None:
        if self._board is not None:
            with self._agreement.attempt(f"writing the summary of step {step}"):
                self._board.write(values, step)


def _epoch(context: Any) -> int | None:
    number = None if context is None else context.get("cur_epoch_num")
    return None if number is None else int(number)


def _passes(before: int, step: int, every: int | None) -> bool:
    """Whether a multiple of ``every`` lies in (before, step]: in sink mode many steps pass at once."""
    return every is not None and step // every > before // every
