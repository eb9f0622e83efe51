"""The native kernel's algorithm in NumPy: the same IEEE operations in the same order, hence the same bits.

It is the fallback where there is no compiler, and the executable specification: mindeval/csrc/nll_rows.h explains the
algorithm, docs/kernels.md its error bound. Rows are worked on in groups, columns in chunks, so that memory stays small.
exp and log are in numpy_math.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .numpy_math import (
    FORMATS,
    LOG_LAMBDA,
    STEP,
    WINDOW,
    WINDOW_BITS,
    Format,
    Frame,
    f32,
    f64,
    log_of,
    log_of_one_plus,
    scaled_exp,
)
from .rows import Rows, TokenStats

LANES, TREE = 16, 8
BLOCK = LANES * TREE  # the unit in which a row is read
CHUNK = 2048  # logits between two looks at the window
GROUP = 16  # rows worked on together


def in_order(x: np.ndarray) -> np.ndarray:
    """Integers in the order of floats: subnormals differ even where the processor was told to take them for zero."""
    bits = x.view(np.int32)
    return np.where(bits < 0, np.int32(-(2**31)) - bits, bits)


@dataclass
class Sums:
    """What has been added up of each row."""

    exps: np.ndarray  # [R, 16]
    weighted: np.ndarray  # [R, 16]
    rank: np.ndarray  # [R]
    failed: np.ndarray  # [R]: a logit lies above the window, or is NaN


def in_lanes(values: np.ndarray, half: bool) -> np.ndarray:
    """[R, 128 k] -> [R, k, 8, 16]: of 32 adjacent 16-bit logits the even ones are one vector, the odd ones the next."""
    if half:
        pairs = values.reshape(len(values), -1, TREE // 2, LANES, 2)
        return pairs.transpose(0, 1, 2, 4, 3).reshape(len(values), -1, TREE, LANES)
    return values.reshape(len(values), -1, TREE, LANES)


def add_trees(sums: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Adds eight vectors at a time as a tree in float32."""
    lanes = lanes[:, :, 0::2] + lanes[:, :, 1::2]
    lanes = lanes[:, :, 0::2] + lanes[:, :, 1::2]
    trees = lanes[:, :, 0] + lanes[:, :, 1]
    sums = sums.copy()
    for k in range(trees.shape[1]):
        sums += trees[:, k]
    return sums


def add_precisely(sums: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Adds one vector after the other in float64."""
    sums = sums.copy()
    for k in range(lanes.shape[1]):
        for v in range(TREE):
            sums += lanes[:, k, v]
    return sums


def add_lanes(lanes: np.ndarray) -> np.ndarray:
    total = np.zeros(len(lanes))
    for k in range(LANES):
        total = total + lanes[:, k]
    return total


def add_chunk(
    x: np.ndarray, rows: np.ndarray, frame: Frame, form: Format, sums: Sums, clamped: bool, precise: bool, entropy: bool
) -> np.ndarray:
    """Adds logits [R, 128 k] of the rows `rows` of a group; those that leave the window are returned, not added."""
    if clamped:
        x = x - frame.shift[:, None]
        lowest = frame.lowest[:, None]
        x = np.where(lowest > x, lowest, x)  # NaN stays NaN
    exps, bits, logit = scaled_exp(x, frame.magic[:, None], form)
    seen = np.bitwise_or.reduce(bits, axis=1)
    good = (seen & ~np.uint32(WINDOW - 1)) == WINDOW_BITS
    lanes = in_lanes(exps, form.half)
    before = sums.exps[rows]
    after = (add_precisely if precise else add_trees)(before, lanes)
    again = np.zeros(len(rows), bool)
    if not precise:  # one lane got a quarter of the sum: the roundings of the trees may matter
        again = ((after - before) > (add_lanes(after) * 0.25)[:, None]).any(axis=1) & good
        if again.any():
            after[again] = add_precisely(before[again], lanes[again])
    kept = rows[good]
    sums.exps[kept] = after[good]
    if entropy:
        reference = frame.reference * form.high if form.half else frame.reference
        lanes = in_lanes(exps * (logit - reference[:, None]), form.half)
        before = sums.weighted[rows]
        after = (add_precisely if precise else add_trees)(before, lanes)
        if again.any():
            after[again] = add_precisely(before[again], lanes[again])
        sums.weighted[kept] = after[good]
    return rows[~good]


class Group:
    """Some rows, read chunk by chunk as float32."""

    def __init__(self, rows: Rows, members: np.ndarray) -> None:
        self.rows, self.members = rows, members
        self.labels = rows.labels[members]
        self.size = rows.vocab_size
        self.whole = self.size // BLOCK * BLOCK

    def read(self, start: int, stop: int) -> np.ndarray:
        return self.decode(self.rows.take(self.members, start, stop))

    def decode(self, stored: np.ndarray) -> np.ndarray:
        if self.rows.format == "bfloat16":
            return (stored.astype(np.uint32) << np.uint32(16)).view(f32)
        return stored.astype(f32, copy=False)

    def read_tail(self) -> np.ndarray:
        tail = self.read(self.whole, self.size)
        padding = np.full((len(tail), BLOCK - tail.shape[1]), -np.inf, f32)
        return np.concatenate([tail, padding], axis=1)

    def targets(self) -> np.ndarray:
        given = self.rows.targets
        return self.decode(self.rows.take_labels(self.members)) if given is None else given[self.members]

    def only(self, which: np.ndarray | int) -> Group:
        return Group(self.rows, np.atleast_1d(self.members[which]))

    def first_maximum(self) -> np.ndarray:
        return (self.read(0, BLOCK) if self.whole else self.read_tail()).max(axis=1)

    def maximum(self) -> np.ndarray:
        result = np.full(len(self.members), -np.inf, f32)
        for start in range(0, self.size, CHUNK):
            result = np.maximum(result, self.read(start, min(self.size, start + CHUNK)).max(axis=1))
        return result


def sum_rows(
    group: Group, targets: np.ndarray, frame: Frame, clamp: bool, form: Format, rank: bool, entropy: bool
) -> Sums:
    """Sums all rows of a group in their frames."""
    n = len(group.members)
    sums = Sums(np.zeros((n, LANES)), np.zeros((n, LANES)), np.zeros(n, np.int64), np.zeros(n, bool))
    clamped = np.full(n, clamp)
    for start in range(0, group.size, CHUNK):
        stop = min(group.size, start + CHUNK)
        x = group.read(start, stop)
        if rank:
            own, keys = in_order(targets)[:, None], in_order(x)
            equal_before = (keys == own) & (np.arange(start, stop) < group.labels[:, None])
            sums.rank += np.count_nonzero((keys > own) | equal_before, axis=1)
        whole = min(group.whole, stop) - start
        if whole > 0:
            block = x[:, :whole]
            plain = np.flatnonzero(~clamped)
            if len(plain):
                chosen = block if len(plain) == n else block[plain]
                clamped[add_chunk(chosen, plain, frame[plain], form, sums, False, False, entropy)] = True
            low = np.flatnonzero(clamped)
            if len(low):
                chosen = block if len(low) == n else block[low]
                sums.failed[add_chunk(chosen, low, frame[low], form, sums, True, False, entropy)] = True
        if stop == group.size and group.whole < group.size:
            every = np.arange(n)
            sums.failed[add_chunk(group.read_tail(), every, frame, form, sums, True, True, entropy)] = True
    return sums


def score_group(group: Group, form: Format, stats: TokenStats) -> None:
    """Fills in the statistics of a group of rows."""
    targets = group.targets()
    reference = group.first_maximum()
    usable = np.abs(reference) <= form.largest
    todo = np.arange(len(group.members))
    for attempt in range(2):  # the second: the first block was no guide to the row
        if attempt == 0:
            now = todo[usable]
            centre, shift = reference[now], np.zeros(len(now), f32)
        else:
            now = todo
            centre = group.only(now).maximum()
            if group.rows.targets is not None:
                score_masked(group, now[centre == -np.inf], targets, stats)
            finite = np.abs(centre) < np.inf  # not NaN, +inf, or nothing but -inf
            now, centre = now[finite], centre[finite]
            large = np.abs(centre) > form.largest
            shift, centre = np.where(large, centre, f32(0)), np.where(large, f32(0), centre)
        if not len(now):
            continue
        part, frame = group.only(now), Frame.around(centre, shift)
        wants = stats.rank is not None, stats.entropy is not None
        sums = sum_rows(part, targets[now], frame, attempt == 1, form, *wants)
        done = ~sums.failed
        finish(part.only(done), targets[now][done], frame[done], form, sums, done, stats)
        todo = np.setdiff1d(todo, now[done])
        if not len(todo):
            return


def score_masked(group: Group, which: np.ndarray, targets: np.ndarray, stats: TokenStats) -> None:
    """Rows of a part of the vocabulary that holds nothing but -inf."""
    members = group.members[which]
    stats.nll[members] = -np.inf
    if stats.rank is not None:
        before = np.clip(group.labels[which], 0, group.size)
        stats.rank[members] = np.where(targets[which] == -np.inf, before, 0)


def finish(
    group: Group,
    targets: np.ndarray,
    frame: Frame,
    form: Format,
    sums: Sums,
    done: np.ndarray,
    stats: TokenStats,
) -> None:
    """From the sums of rows to their statistics."""
    total = add_lanes(sums.exps[done])
    target = targets.astype(f64) - frame.shift.astype(f64)
    log_sum = (log_of(total) - LOG_LAMBDA) + frame.eighths.astype(f64) * STEP
    own = scaled_exp(target.astype(f32), frame.magic, form)[0].astype(f64)
    here = (target > frame.lowest) & (group.labels >= 0) & (group.labels < group.size)
    likely = here & (2 * own > total)  # errors of exp cancel, and nll >= 0
    members = group.members
    stats.nll[members] = np.where(likely, log_of_one_plus((total - own) / own), log_sum - target)
    if stats.rank is not None:
        stats.rank[members] = sums.rank[done]
    if stats.entropy is not None:
        mean = add_lanes(sums.weighted[done]) / total * (1 / f64(form.high) if form.half else 1.0)
        entropy = (log_sum - frame.reference.astype(f64)) - mean
        stats.entropy[members] = np.where(entropy > 0, entropy, 0.0)


def token_nll(rows: Rows, rank: bool, entropy: bool) -> TokenStats:
    """Statistics of the rows; the same bits as `native.token_nll`."""
    n = len(rows.labels)
    stats = TokenStats(
        np.full(n, np.nan), np.full(n, -1, np.int64) if rank else None, np.full(n, np.nan) if entropy else None
    )
    form = FORMATS[rows.format]
    with np.errstate(all="ignore"):
        for start in range(0, n, GROUP):
            score_group(Group(rows, np.arange(start, min(n, start + GROUP))), form, stats)
    return stats
