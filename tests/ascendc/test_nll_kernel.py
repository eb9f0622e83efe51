"""The Ascend C kernel, run on the stand-in of the Ascend C API, against float64; and the host's choice of tiles."""

from __future__ import annotations

import math

import numpy as np
import pytest

DTYPES = ["float32", "float16", "bfloat16"]
UNIFIED_BUFFER = 192 * 1024
IGNORED, ELSEWHERE = -1, 2**31 - 1
MAX, SUM, TARGET, RANK = range(4)


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values as the device holds them; bfloat16 as its upper 16 bits, rounded to nearest even."""
    if dtype != "bfloat16":
        return np.ascontiguousarray(values, dtype)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return np.where(np.isnan(values), 0x7FC0, rounded >> 16).astype(np.uint16)


def as_float64(held: np.ndarray, dtype: str) -> np.ndarray:
    if dtype != "bfloat16":
        return held.astype(np.float64)
    return (held.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def reference(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """NLL in float64 and rank, row by row from the definition."""
    nll, rank = [], []
    for row, label in zip(logits, labels):
        top = row.max()
        nll.append(math.log(np.exp(row - top).sum()) + top - row[label])
        rank.append((row > row[label]).sum() + (row[:label] == row[label]).sum())
    return np.array(nll), np.array(rank)


def nll(statistics: np.ndarray) -> np.ndarray:
    """What the host makes of the kernel's numbers."""
    largest, total, target, _ = statistics.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(total) + (largest - target)


# Tails of every kind against units of 8 and 16 elements, vectors of 64 and tiles of 256; the last two
# need several tiles.
VOCABULARIES = [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 255, 256, 257, 1000, 32000, 32003]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", VOCABULARIES)
def test_statistics_match_float64(stand_in, dtype, vocab):
    generator = np.random.default_rng(vocab)
    rows = 70 if vocab < 2000 else 3  # more than one block of 64 rows on a core when there is one core
    held = stored(generator.normal(0, 3, (rows, vocab)), dtype)
    labels = generator.integers(0, vocab, rows)
    broken, statistics = stand_in.run(held, labels, dtype, cores=1)
    assert broken == ""
    logits = as_float64(held, dtype)
    expected, rank = reference(logits, labels)
    np.testing.assert_array_equal(statistics[MAX], logits.max(1))
    np.testing.assert_array_equal(statistics[TARGET], logits[np.arange(rows), labels])
    np.testing.assert_array_equal(statistics[RANK], rank)
    assert np.abs(nll(statistics) - expected).max() < 1e-6  # float32 sums; observed: 3e-7
    assert nll(statistics).min() >= 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_real_vocabulary_takes_several_tiles(stand_in, dtype):
    generator = np.random.default_rng(0)
    held = stored(generator.normal(0, 4, (2, 151_936)), dtype)
    labels = np.array([151_935, 70_000])
    broken, statistics = stand_in.run(held, labels, dtype, cores=2)
    assert broken == ""
    expected, rank = reference(as_float64(held, dtype), labels)
    assert np.abs(nll(statistics) - expected).max() < 1e-6
    np.testing.assert_array_equal(statistics[RANK], rank)


@pytest.mark.parametrize("cores", [1, 2, 5, 40, 48, 64])
def test_every_core_count_gives_the_same_bits(stand_in, cores):
    generator = np.random.default_rng(1)
    held = stored(generator.normal(0, 3, (131, 300)), "float16")
    labels = generator.integers(0, 300, 131)
    broken, statistics = stand_in.run(held, labels, "float16", cores=cores)
    assert broken == ""
    np.testing.assert_array_equal(statistics, stand_in.run(held, labels, "float16", cores=1)[1])


def test_rank_counts_equal_logits_at_lower_ids_only(stand_in):
    # ids        0    1    2    3    4    5
    row = np.array([[2.0, 1.0, 2.0, 3.0, 2.0, 0.0]] * 6, np.float32)
    broken, statistics = stand_in.run(row, np.arange(6), "float32")
    assert broken == ""
    # By hand: sorted by (logit descending, id ascending) the ids stand 3, 0, 2, 4, 1, 5.
    assert statistics[RANK].tolist() == [1, 4, 2, 0, 3, 5]


@pytest.mark.parametrize("label", [0, 255, 256, 511, 512, 1023, 1024, 1299])
def test_rank_is_right_wherever_the_label_lies_among_the_tiles(stand_in, label):
    held = stored(np.random.default_rng(2).integers(0, 4, (1, 1300)).astype(np.float32), "bfloat16")
    broken, statistics = stand_in.run(held, [label], "bfloat16", tile=512)
    assert broken == ""
    assert statistics[RANK][0] == reference(as_float64(held, "bfloat16"), [label])[1][0]


def test_without_rank_the_other_statistics_have_the_same_bits(stand_in):
    held = stored(np.random.default_rng(3).normal(0, 3, (5, 700)), "float32")
    labels = np.arange(5) * 100
    _, with_rank = stand_in.run(held, labels, "float32", tile=256)
    broken, without = stand_in.run(held, labels, "float32", tile=256, rank=False)
    assert broken == ""
    np.testing.assert_array_equal(without[:RANK], with_rank[:RANK])
    assert without[RANK].tolist() == [0] * 5


def test_ignored_rows_are_those_of_a_certain_token_and_are_not_read(stand_in):
    held = stored(np.random.default_rng(4).normal(0, 3, (140, 600)), "float32")
    labels = np.full(140, IGNORED)
    labels[[0, 65, 139]] = [5, 599, 0]
    held[labels == IGNORED] = np.nan
    broken, statistics = stand_in.run(held, labels, "float32", tile=256, cores=1)
    assert broken == ""
    assert statistics[:, labels == IGNORED].T.tolist() == [[0, 1, 0, 0]] * 137
    kept = labels != IGNORED
    expected, rank = reference(held[kept].astype(np.float64), labels[kept])
    assert np.abs(nll(statistics[:, kept]) - expected).max() < 1e-6
    np.testing.assert_array_equal(statistics[RANK, kept], rank)


def test_rows_that_are_all_ignored(stand_in):
    broken, statistics = stand_in.run(np.full((3, 10), np.nan, np.float32), [IGNORED] * 3, "float32")
    assert broken == ""
    assert statistics.T.tolist() == [[0, 1, 0, 0]] * 3


def test_a_label_in_another_shard_leaves_max_and_sum(stand_in):
    held = stored(np.random.default_rng(5).normal(0, 3, (2, 300)), "float32")
    _, here = stand_in.run(held, [7, 8], "float32")
    broken, statistics = stand_in.run(held, [ELSEWHERE, 8], "float32")
    assert broken == ""
    assert statistics[:, 0].tolist() == [here[MAX, 0], here[SUM, 0], 0, 0]
    assert statistics[:, 1].tolist() == here[:, 1].tolist()


def test_shards_combine_to_the_whole(stand_in):
    generator = np.random.default_rng(6)
    logits = generator.normal(0, 3, (4, 1000)).astype(np.float32)
    labels = np.array([0, 499, 500, 999])
    parts = []
    for start in (0, 500):
        local = labels - start
        local[(local < 0) | (local >= 500)] = ELSEWHERE
        broken, statistics = stand_in.run(logits[:, start : start + 500].copy(), local, "float32")
        assert broken == ""
        parts.append(statistics.astype(np.float64))
    largest = np.maximum(parts[0][MAX], parts[1][MAX])
    total = sum(part[SUM] * np.exp(part[MAX] - largest) for part in parts)
    target = parts[0][TARGET] + parts[1][TARGET]
    expected, _ = reference(logits.astype(np.float64), labels)
    assert np.abs(np.log(total) + largest - target - expected).max() < 1e-6


def test_a_padded_vocabulary_is_cut_at_vocab(stand_in):
    logits = np.random.default_rng(7).normal(0, 3, (3, 512)).astype(np.float32)
    logits[:, 500:] = 100
    broken, statistics = stand_in.run(logits, [0, 250, 499], "float32", vocab=500, row_stride=512)
    assert broken == ""
    expected, _ = reference(logits[:, :500].astype(np.float64), [0, 250, 499])
    assert np.abs(nll(statistics) - expected).max() < 1e-6


def test_a_view_without_the_last_position_needs_no_copy(stand_in):
    logits = np.random.default_rng(8).normal(0, 3, (3, 5, 77)).astype(np.float16)
    labels = np.random.default_rng(9).integers(0, 77, (3, 4))
    broken, statistics = stand_in.run(
        *(logits, labels.reshape(-1), "float16"), vocab=77, group_rows=4, group_stride=5 * 77, row_stride=77
    )
    assert broken == ""
    expected, _ = reference(logits[:, :-1].reshape(12, 77).astype(np.float64), labels.reshape(-1))
    assert np.abs(nll(statistics) - expected).max() < 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values(stand_in, dtype):
    logits = np.random.default_rng(10).normal(0, 3, (7, 1300)).astype(np.float32)
    logits[0, :600] = -np.inf  # masked entries, a whole first tile of them
    logits[1, 1000] = np.nan
    logits[2, 1299] = np.inf
    logits[3] = -np.inf
    logits[4, 3] = -np.inf  # the label itself is impossible
    logits[5] = -60000.0
    logits[6] = np.linspace(-60000, 60000, 1300)
    labels = np.array([700, 0, 0, 5, 3, 9, 1299])
    held = stored(logits, dtype)
    broken, statistics = stand_in.run(held, labels, dtype, tile=512)
    assert broken == ""
    values = nll(statistics)
    assert abs(values[0] - reference(as_float64(held, dtype)[:1], labels[:1])[0][0]) < 1e-6
    assert math.isnan(values[1])
    assert math.isnan(values[2])
    assert not np.isfinite(values[3])
    assert statistics[SUM, 3] == 0
    assert values[4] == math.inf
    assert abs(values[5] - math.log(1300)) < 1e-6
    assert abs(values[6] - reference(as_float64(held, dtype)[6:], labels[6:])[0][0]) < 1e-6


def test_a_confident_token_costs_almost_nothing_and_never_less_than_nothing(stand_in):
    logits = np.full((1, 5000), -30, np.float32)
    logits[0, 4321] = 30
    broken, statistics = stand_in.run(logits, [4321], "float32")
    assert broken == ""
    assert 0 <= nll(statistics)[0] < 1e-7


# ---- host tiling ----


@pytest.mark.parametrize("element_bytes", [2, 4])
@pytest.mark.parametrize("unified_buffer", [UNIFIED_BUFFER, 248 * 1024])
def test_every_tiling_stays_within_the_unified_buffer(stand_in, element_bytes, unified_buffer):
    for vocab in [*range(1, 600), 8191, 8192, 8193, 32_000, 49_152, 100_277, 128_256, 151_936, 256_000, 2**24]:
        for cores in (1, 8, 40, 48, 64):
            for rows in (1, cores, 2048):
                launched, tile = stand_in.choose_tiling(rows, vocab, element_bytes, cores, unified_buffer)
                assert 1 <= launched <= min(rows, cores)
                assert tile % 256 == 0
                assert 0 < tile < vocab + 256
                assert stand_in.unified_buffer_bytes(tile, element_bytes) <= unified_buffer
                assert tile * element_bytes < 2**21  # one transfer


def test_large_vocabularies_move_at_least_16_kib_at_a_time(stand_in):
    # Below 16 KiB a transfer does not reach the memory's bandwidth (CANN's performance notes).
    for vocab in (32_000, 49_152, 128_256, 151_936):
        for element_bytes in (2, 4):
            assert stand_in.choose_tiling(64, vocab, element_bytes, 48)[1] * element_bytes >= 16 * 1024


def test_a_tiling_for_a_buffer_that_is_too_small_says_so(stand_in):
    assert stand_in.choose_tiling(1, 100, 4, 1, 16 * 1024) == (1, 0)
