"""Samplers repeat samples to even the shards out: with a mask, or uneven shards, ranks together equal one card."""

from __future__ import annotations

import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore.mindrecord import FileWriter

from mindeval import Accuracy, MetricCollection, Perplexity, distributed

BATCH = 3
RNG = np.random.default_rng(0)
LOGITS = RNG.normal(scale=3, size=(23, 5)).astype(np.float32)
LABELS = RNG.integers(0, 5, 23).astype(np.int32)


class Rows:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, row):
        return np.int64(row)


# Each gives the rows of one rank. Shuffled ones have one seed on all ranks, as MindSpore wants it.


def generator(n, world, rank, files):
    return ds.GeneratorDataset(Rows(n), ["row"], shuffle=False, num_shards=world, shard_id=rank)


def shuffled_generator(n, world, rank, files):
    return ds.GeneratorDataset(Rows(n), ["row"], shuffle=True, num_shards=world, shard_id=rank)


def numpy_slices(n, world, rank, files):
    return ds.NumpySlicesDataset({"row": np.arange(n)}, shuffle=False, num_shards=world, shard_id=rank)


def shuffled_numpy_slices(n, world, rank, files):
    return ds.NumpySlicesDataset({"row": np.arange(n)}, shuffle=True, num_shards=world, shard_id=rank)


def mind_dataset(n, world, rank, files):
    return ds.MindDataset(str(files / f"{n}.mindrecord"), ["row"], shuffle=False, num_shards=world, shard_id=rank)


def text_file(n, world, rank, files):
    # With more workers, a rank that has the file's end and repeats its beginning mixes the two: [8, 0, 9, 1].
    return ds.TextFileDataset(
        str(files / f"{n}.txt"), shuffle=False, num_shards=world, shard_id=rank, num_parallel_workers=1
    )


def csv_file(n, world, rank, files):
    return ds.CSVDataset(
        str(files / f"{n}.txt"),
        column_defaults=[0],
        column_names=["row"],
        shuffle=False,
        num_shards=world,
        shard_id=rank,
        num_parallel_workers=1,
    )


def distributed_sampler(n, world, rank, files):
    return ds.GeneratorDataset(Rows(n), ["row"], sampler=ds.DistributedSampler(world, rank, shuffle=False))


def shuffled_distributed_sampler(n, world, rank, files):
    return ds.GeneratorDataset(Rows(n), ["row"], sampler=ds.DistributedSampler(world, rank, shuffle=True))


def distributed_sampler_with_offset(n, world, rank, files):
    return ds.GeneratorDataset(Rows(n), ["row"], sampler=ds.DistributedSampler(world, rank, shuffle=False, offset=0))


def subset_sampler(n, world, rank, files):
    rows = list(distributed.shard(n, rank, world))
    return ds.GeneratorDataset(Rows(n), ["row"], sampler=ds.SubsetSampler(rows))


def padded_dataset(n, world, rank, files):
    padding = -n % world
    whole = ds.GeneratorDataset(Rows(n), ["row"], shuffle=False)
    if padding:
        whole = whole + ds.PaddedDataset([{"row": np.array(-1, np.int64)}] * padding)
    whole.use_sampler(ds.DistributedSampler(world, rank, shuffle=False))
    return whole


REPEATING = [
    generator,
    shuffled_generator,
    numpy_slices,
    shuffled_numpy_slices,
    mind_dataset,
    text_file,
    csv_file,
    distributed_sampler,
    shuffled_distributed_sampler,
]
WORLDS = [(10, 2), (10, 3), (10, 4), (23, 2), (23, 3), (23, 4), (2, 4)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Text files and MindRecords that hold the numbers of their rows."""
    folder = tmp_path_factory.mktemp("rows")
    for n in {n for n, _ in WORLDS}:
        (folder / f"{n}.txt").write_text("".join(f"{row}\n" for row in range(n)))
        writer = FileWriter(str(folder / f"{n}.mindrecord"), shard_num=1)
        writer.add_schema({"row": {"type": "int64"}}, "rows")
        writer.write_raw_data([{"row": row} for row in range(n)])
        writer.commit()
    return folder


@pytest.fixture(autouse=True)
def seed():
    before = ds.config.get_seed()
    ds.config.set_seed(7)
    yield
    ds.config.set_seed(before)


def batches(data):
    for (rows,) in data.batch(BATCH).create_tuple_iterator(num_epochs=1, output_numpy=True):
        yield rows.astype(np.int64)


def metrics_of(rows_and_masks):
    metrics = MetricCollection([Perplexity(), Accuracy()])
    for rows, mask in rows_and_masks:
        metrics.update(LOGITS[rows], LABELS[rows], mask)
    return metrics


def one_card(n):
    metrics = metrics_of([(np.arange(n), None)])
    return metrics.eval(), metrics.result()["accuracy"]["samples"]


def all_ranks(parts):
    metrics = parts[0]
    for part in parts[1:]:
        metrics.merge(part)
    return metrics.eval(), metrics.result()["accuracy"]["samples"]


def masked(kind, n, world, rank, files):
    first = 0
    for rows in batches(kind(n, world, rank, files)):
        yield rows, distributed.valid_mask(first, len(rows), n, rank, world, blocks=kind in (text_file, csv_file))
        first += len(rows)


@pytest.mark.parametrize(("n", "world"), WORLDS)
@pytest.mark.parametrize("kind", [*REPEATING, distributed_sampler_with_offset], ids=lambda kind: kind.__name__)
def test_masked_ranks_together_equal_one_card(kind, n, world, files):
    parts = [metrics_of(masked(kind, n, world, rank, files)) for rank in range(world)]
    assert all_ranks(parts) == one_card(n)


@pytest.mark.parametrize(("n", "world"), WORLDS)
@pytest.mark.parametrize("kind", REPEATING, ids=lambda kind: kind.__name__)
def test_without_a_mask_repeated_samples_are_counted_and_change_the_value(kind, n, world, files):
    parts = [metrics_of((rows, None) for rows in batches(kind(n, world, rank, files))) for rank in range(world)]
    values, samples = all_ranks(parts)
    assert samples == n + -n % world
    if samples % n:  # else each sample was counted as often
        assert values["perplexity"] != one_card(n)[0]["perplexity"]


@pytest.mark.parametrize(("n", "world"), [pair for pair in WORLDS if pair[0] >= pair[1]])  # [] crashes SubsetSampler
def test_uneven_shards_together_equal_one_card(n, world, files):
    parts = [
        metrics_of((rows, None) for rows in batches(subset_sampler(n, world, rank, files))) for rank in range(world)
    ]
    assert all_ranks(parts) == one_card(n)


@pytest.mark.parametrize(("n", "world"), WORLDS)
def test_rows_of_a_padded_dataset_are_masked_by_what_they_hold(n, world, files):
    parts = [
        metrics_of((rows, rows >= 0) for rows in batches(padded_dataset(n, world, rank, files)))
        for rank in range(world)
    ]
    assert all_ranks(parts) == one_card(n)


def test_the_bias_of_ten_samples_on_four_ranks():
    # MindSpore deals 10 samples out as [0, 4, 8] [1, 5, 9] [2, 6, 0] [3, 7, 1]: samples 0 and 1 count twice.
    # Only they are right here: 2 of 10, and 4 of the 12 that are counted.
    right = np.arange(10) < 2
    naive, by_mask = [], []
    for rank in range(4):
        rows = np.concatenate(list(batches(numpy_slices(10, 4, rank, None))))
        naive.append(Accuracy())
        naive[-1].update(right[rows].astype(np.int32), np.ones(len(rows), np.int32))
        by_mask.append(Accuracy())
        mask = distributed.valid_mask(0, len(rows), 10, rank, 4)
        by_mask[-1].update(right[rows].astype(np.int32), np.ones(len(rows), np.int32), mask)
    assert all_ranks_of_one(naive) == 4 / 12
    assert all_ranks_of_one(by_mask) == 2 / 10


def all_ranks_of_one(parts):
    for part in parts[1:]:
        parts[0].merge(part)
    return parts[0].eval()
