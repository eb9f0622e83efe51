"""Loss, perplexity, bits per byte and token accuracy of SmolLM2-135M-Instruct, through `Model.eval` with mindeval.

    python examples/evaluate_llm.py                            # the English and Chinese passages of examples/data
    python examples/evaluate_llm.py --text a.txt --text b.txt --json numbers.json
    python examples/evaluate_llm.py --ranks 2                  # the same numbers from two ranks of this machine

Every text is cut into windows of one fixed shape, so the network is compiled once. Every token of a text but its
first is scored exactly once. A window's first `--context` positions repeat the tokens before it and are not scored
again: each scored token is conditioned on at least that many tokens of its text, or on all before it near the
beginning of the text. No token is put before a text. Bits per byte are over the UTF-8 bytes of the scored tokens,
that is, of the text without its first token.

With `--ranks N` the script starts itself on N ranks under `msrun`. They deal the windows out in turn, so that none is
scored twice and none is left out also where N does not divide their number, and every rank gets the numbers of all.

It ran on CPU in GRAPH and PYNATIVE mode. `--device Ascend` and `--device GPU` are handed to MindSpore and have
never been run on a card.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.communication import init
from questions import score_questions
from ranks import is_started, start
from smollm2 import Llama, load_model, load_tokenizer, open_model_file, require_packages
from tqdm import tqdm

from mindeval import Accuracy, Loss, MetricCollection, Perplexity, distributed
from mindeval.display import text_table

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DATA = Path(__file__).parent / "data"
PASSAGES = {"English": DATA / "english.txt", "Chinese": DATA / "chinese.txt"}
IGNORE = -100
QUESTION_BATCH = 8
BEGIN_OF_TEXT = 1

REFERENCE_NAME = "reference passage"
# Its perplexity was computed once in float64 with NumPy: 10.668471.
REFERENCE = (
    "The quick brown fox jumps over the lazy dog. Water boils at 100 degrees Celsius at sea level, and it freezes at "
    "0 degrees. Paris is the capital of France, and Tokyo is the capital of Japan. The Pacific Ocean is the largest "
    "ocean on Earth."
)
EXPECTED, TOLERANCE = 10.668, 0.001


# Texts -> windows of one shape.


@dataclass(frozen=True)
class Window:
    """One row of a batch: what the network reads, the next token at each position, and the scored tokens' bytes."""

    input_ids: np.ndarray  # int32 [window]
    labels: np.ndarray  # int32 [window]; IGNORE where nothing is scored
    n_bytes: int


def make_windows(ids: list[int], n_bytes: list[int], window: int, context: int, pad_id: int = 0) -> list[Window]:
    """Cuts one text into windows that score each token but the first exactly once.

    A window that follows another starts at least `context` tokens before its first scored token. The last one reaches
    back further where that fills it: context costs nothing there. A shorter text is padded at its end.

    Args:
        ids: the tokens of the text.
        n_bytes: the number of UTF-8 bytes of each token.
        window: the length of a row.
        context: how many positions of a row repeat tokens that an earlier row scored; less than `window`.
        pad_id: the token that pads the end; a causal network's scored positions never see it.
    """
    if not 0 <= context < window:
        raise ValueError(f"context must be at least 0 and less than the window of {window}, but got {context}")
    if len(ids) != len(n_bytes):
        raise ValueError(f"n_bytes must have one entry for each of the {len(ids)} tokens, but got {len(n_bytes)}")
    if len(ids) < 2:
        raise ValueError(f"a text needs two tokens, as the first one is not scored, but got {len(ids)}")
    windows, first = [], 1
    while first < len(ids):
        start = max(0, min(first - 1 - context, len(ids) - 1 - window))
        stop = min(start + window + 1, len(ids))
        input_ids, labels = np.full(window, pad_id, np.int32), np.full(window, IGNORE, np.int32)
        input_ids[: stop - 1 - start] = ids[start : stop - 1]
        labels[first - 1 - start : stop - 1 - start] = ids[first:stop]
        windows.append(Window(input_ids, labels, sum(n_bytes[first:stop])))
        first = stop
    return windows


def fill_batches(windows: list[Window], batch_size: int) -> list[Window]:
    """Appends rows that score nothing until every batch is whole: another shape would be compiled again."""
    empty = Window(np.zeros_like(windows[0].input_ids), np.full_like(windows[0].labels, IGNORE), 0)
    return windows + [empty] * (-len(windows) % batch_size)


def deal_out(windows: list[Window]) -> list[Window]:
    """The windows of this rank. One that scores nothing where there are fewer windows than ranks."""
    empty = Window(np.zeros_like(windows[0].input_ids), np.full_like(windows[0].labels, IGNORE), 0)
    return [windows[place] for place in distributed.shard(len(windows))] or [empty]


def make_dataset(windows: list[Window], batch_size: int) -> ds.Dataset:
    """Batches of (input_ids int32 [batch, window], labels int32 [batch, window], n_bytes int64 [batch])."""
    windows = fill_batches(windows, batch_size)
    columns = {
        "input_ids": np.stack([window.input_ids for window in windows]),
        "labels": np.stack([window.labels for window in windows]),
        "n_bytes": np.array([window.n_bytes for window in windows], np.int64),
    }
    return ds.NumpySlicesDataset(columns, shuffle=False).batch(batch_size)


def encode(tokenizer: Tokenizer, text: str, name: str) -> tuple[list[int], list[int]]:
    """The tokens of a text and the number of UTF-8 bytes of each, which add up to the bytes of the text."""
    encoding = tokenizer.encode(text)
    n_bytes = [len(token) for token in encoding.tokens]  # byte-level BPE writes each byte as one character
    if sum(n_bytes) != len(text.encode()):
        raise ValueError(f"{name} holds characters that the model's tokenizer has no token for (control characters?)")
    if len(encoding.ids) < 2:
        raise ValueError(f"{name} must hold two tokens, as the first is not scored, but holds {len(encoding.ids)}")
    return encoding.ids, n_bytes


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error


def read_passages(path: Path) -> list[str]:
    """The passages of a file, which blank lines separate."""
    return [passage.strip() for passage in read_text(path).split("\n\n") if passage.strip()]


# Windows -> numbers.


class EvalNetwork(nn.Cell):
    """Of each batch: logits, labels, the mask of scored positions, the bytes of each row and the loss of each token."""

    def __init__(self, network: nn.Cell):
        super().__init__()
        self.network = network

    def construct(self, input_ids, labels, n_bytes):
        logits = self.network(input_ids)
        scored = labels != IGNORE
        targets = ops.expand_dims(ops.masked_fill(labels, labels == IGNORE, 0), -1)
        loss = -ops.squeeze(ops.gather_elements(ops.log_softmax(logits, -1), 2, targets), -1)
        return logits, labels, scored, n_bytes, loss


def make_metrics(name: str) -> MetricCollection:
    """The metrics over all ranks, each with the positions of `EvalNetwork`'s outputs that it takes."""
    metrics = {
        "loss": Loss().set_indexes([4, 2]),
        "perplexity": Perplexity(ignore_index=IGNORE).set_indexes([0, 1, 2, 3]),
        "accuracy": Accuracy(ignore_index=IGNORE).set_indexes([0, 1, 2]),
    }
    return MetricCollection(metrics, name=name, distributed=True)


class Advance(ms.Callback):
    """Moves the progress bar by one batch."""

    def __init__(self, progress: tqdm):
        super().__init__()
        self.progress = progress

    def on_eval_step_end(self, run_context):
        self.progress.update()


def evaluate(network: nn.Cell, groups: dict[str, list[Window]], batch_size: int, together: list[str]) -> list[dict]:
    """A row of numbers for each group of windows; after the last group of `together`, one for all of these merged.

    Merging is exact, so the merged row has the numbers of one evaluation of all their windows; nothing runs twice.
    """
    groups = {name: deal_out(windows) for name, windows in groups.items()}
    metrics, merged = make_metrics("one group"), make_metrics("merged groups")
    model = ms.Model(network, eval_network=EvalNetwork(network), metrics=metrics.as_metrics())
    batches = sum(-(-len(windows) // batch_size) for windows in groups.values())
    rows, seconds = [], 0.0
    with tqdm(total=batches, unit="batch", file=sys.stderr, disable=distributed.this_rank() > 0) as progress:
        for name, windows in groups.items():
            progress.set_description(name)
            began = time.perf_counter()
            model.eval(make_dataset(windows, batch_size), callbacks=Advance(progress))
            rows.append(row(name, metrics, time.perf_counter() - began))
            if name in together:
                merged.merge(metrics)
                seconds += rows[-1]["seconds"]
            if name == together[-1]:
                merged.eval()
                rows.append(row(" + ".join(together), merged, seconds))
    return rows


def row(name: str, metrics: MetricCollection, seconds: float) -> dict:
    """The results of the last `eval()`, which `Model.eval` has called."""
    results = metrics.result()
    perplexity = results["perplexity"]
    return {
        "name": name,
        "loss": results["loss"]["loss"],
        "perplexity": perplexity["perplexity"],
        "bits_per_byte": perplexity["bits_per_byte"],
        "token_accuracy": results["accuracy"]["accuracy"],
        "tokens": perplexity["tokens"],
        "bytes": perplexity["bytes"],
        "seconds": seconds,
        "signatures": [result["signature"] for result in results.values()],
    }


def table(rows: list[dict]) -> str:
    """The rows as aligned text."""
    columns = {
        "loss": ".4f",
        "perplexity": ".3f",
        "bits_per_byte": ".4f",
        "token_accuracy": ".2%",
        "tokens": ",",
        "bytes": ",",
        "seconds": ".1f",
    }
    headers = ["", *(name.replace("_", " ") for name in columns)]
    cells = [[row["name"], *(format(row[name], form) for name, form in columns.items())] for row in rows]
    return text_table(headers, cells)


def question_table(answers: dict[str, dict]) -> str:
    """Yes/No and four-choice questions, by how they are scored."""
    yes_no, letters, options = answers["yes_no"], answers["letters"], answers["options"]
    rows = [
        ("Yes/No by logits", yes_no["accuracy"], yes_no["samples"]),
        ("four choices by the letter's logits", letters["accuracy"], letters["samples"]),
    ]
    for name, accuracy in options["by_normalisation"].items():
        rows.append((f"four choices by the option's text, {name}", accuracy, options["samples"]))
    return text_table(["", "accuracy", "questions"], [[name, f"{value:.2%}", number] for name, value, number in rows])


def load(options: argparse.Namespace) -> tuple[Llama, Tokenizer, dict[str, list[Window]]]:
    """The network, its tokenizer and the windows; texts are read first, as a wrong file is quickly said."""
    file = open_model_file()
    tokenizer = load_tokenizer(file)
    groups = read_groups(tokenizer, options)
    return load_model(file, options.window), tokenizer, groups


def read_groups(tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, list[Window]]:
    """The windows of the reference passage, of each language and of each `--text`, by name."""
    texts = {REFERENCE_NAME: [REFERENCE], **{name: read_passages(path) for name, path in PASSAGES.items()}}
    for path in options.text:
        if str(path) in texts:
            raise ValueError(f"--text {path} was given twice, or has the name of another row")
        texts[str(path)] = [read_text(path)]
    groups = {}
    for name, passages in texts.items():
        encoded = [encode(tokenizer, passage, name) for passage in passages]
        rows = [make_windows(ids, n_bytes, options.window, options.context) for ids, n_bytes in encoded]
        groups[name] = [window for windows in rows for window in windows]
    return groups


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.ranks > 1 and not is_started():
        return start_ranks(options, sys.argv[1:] if arguments is None else arguments)
    ms.set_device(options.device)
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    if is_started():
        init()  # the scheduler stays in here
    ranks = distributed.world_size()
    print(f"Loading SmolLM2-135M-Instruct{f' on {ranks} ranks' if ranks > 1 else ''} ...", flush=True)
    began = time.perf_counter()
    try:
        network, tokenizer, groups = load(options)
    except (ModuleNotFoundError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    loading = time.perf_counter() - began
    print(
        f"Loaded in {loading:.1f} s. The first batch takes longer in graph mode: it compiles the network.", flush=True
    )

    rows = evaluate(network, groups, options.batch_size, list(PASSAGES))
    if distributed.this_rank() > 0:
        return 0  # rank 0 has the same numbers and shows them
    reference = next(row["perplexity"] for row in rows if row["name"] == REFERENCE_NAME)
    agrees = abs(reference - EXPECTED) <= TOLERANCE
    print(f"\n{table(rows)}\n\n{REFERENCE_NAME}: {reference:.3f} (expected {EXPECTED} +- {TOLERANCE})")
    answers = (
        score_questions(network, tokenizer, batch_size=QUESTION_BATCH, begin=[BEGIN_OF_TEXT])
        if options.questions
        else {}
    )
    if answers:
        print(f"\n{question_table(answers)}")
    if options.json:
        report = {
            "model": "SmolLM2-135M-Instruct",
            "mindspore": ms.__version__,
            "ranks": ranks,
            **{name: getattr(options, name) for name in ("device", "mode", "window", "context", "batch_size")},
            "loading_seconds": loading,
            "reference": {"perplexity": reference, "expected": EXPECTED, "tolerance": TOLERANCE, "agrees": agrees},
            "rows": rows,
            "questions": answers,
        }
        options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if agrees else 1


def start_ranks(options: argparse.Namespace, arguments: list[str]) -> int:
    """Starts this script on the ranks, after what can be found out without them."""
    try:
        require_packages()
        for path in options.text:
            read_text(path)
    except (ModuleNotFoundError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"Starting {options.ranks} ranks under msrun ...", flush=True)
    return start(Path(sys.argv[0]), arguments, options.ranks)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--text", action="append", type=Path, default=[], metavar="FILE", help="also this UTF-8 text")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to this file")
    parser.add_argument("--device", choices=["Ascend", "CPU", "GPU"], default="CPU", help="only CPU was ever run")
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph", help="graph is faster")
    parser.add_argument("--window", type=int, default=128, help="tokens of a row")
    parser.add_argument("--context", type=int, default=32, help="tokens that a row repeats of the one before")
    parser.add_argument("--batch-size", type=int, default=2, help="rows of a batch")
    parser.add_argument("--ranks", type=int, default=1, metavar="N", help="evaluate on N ranks of this machine")
    parser.add_argument("--questions", action="store_true", help="also Yes/No and four-choice questions (minutes)")
    options = parser.parse_args(arguments)
    if options.ranks < 1:
        parser.error(f"--ranks must be at least 1, but got {options.ranks}")
    if options.questions and options.ranks > 1:
        parser.error("--questions are scored in one process, but --ranks is above 1")
    if options.batch_size < 1:
        parser.error(f"--batch-size must be at least 1, but got {options.batch_size}")
    return options


if __name__ == "__main__":
    sys.exit(main())
