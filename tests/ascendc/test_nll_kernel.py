"""The Ascend C kernel on the stand-in of the Ascend C API: its numbers, its tiling, and proof that the stand-in catches mistakes."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "mindeval" / "csrc" / "ascend"
COMPILER = shutil.which("g++")
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2}
UNIFIED_BUFFER = 192 * 1024
STRICT = ("-O1", "-Wall", "-Wextra", "-Werror")
IGNORED, ELSEWHERE = -1, 2**31 - 1
MAX, SUM, TARGET, RANK = range(4)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++ to compile the Ascend C kernel for the stand-in")


def compile_library(source: Path, output: Path, *options: str) -> ctypes.CDLL:
    command = [COMPILER, "-std=c++17", "-shared", "-fPIC", f"-I{SOURCES}", f"-I{HERE}", *options, "-o", str(output)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return ctypes.CDLL(str(output))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = compile_library(HERE / "kernels.cpp", tmp_path_factory.mktemp("ascendc") / "kernels.so", *STRICT)
    library.run.restype = ctypes.c_char_p
    library.unified_buffer_bytes.restype = ctypes.c_uint64
    library.unified_buffer_bytes.argtypes = [ctypes.c_uint64] * 2
    library.choose_tiling.argtypes = [ctypes.c_uint64] * 5 + [ctypes.c_void_p]
    library.run.argtypes = (
        [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
        + [ctypes.c_uint32] * 4
        + [ctypes.c_uint64] * 2
        + [ctypes.c_uint32] * 2
    )
    return library


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


def choose_tiling(library, rows, vocab, element_bytes, cores, unified_buffer=UNIFIED_BUFFER) -> tuple[int, int]:
    chosen = (ctypes.c_uint32 * 2)()
    library.choose_tiling(rows, vocab, element_bytes, cores, unified_buffer, chosen)
    return chosen[0], chosen[1]


def run(
    library,
    held,
    labels,
    dtype,
    *,
    vocab=None,
    cores=3,
    tile=None,
    rank=True,
    group_rows=None,
    group_stride=0,
    row_stride=None,
    function=None,
):
    labels = np.ascontiguousarray(labels, np.int32)
    rows, vocab = len(labels), vocab or held.shape[-1]
    launched, chosen = choose_tiling(library, rows, vocab, held.itemsize, cores)
    statistics = np.full((4, rows), np.nan, np.float32)
    broken = (function or library.run)(
        *(DTYPES[dtype], held.ctypes.data, held.nbytes, labels.ctypes.data, statistics.ctypes.data),
        *(rows, vocab, group_rows or rows, int(rank), group_stride, row_stride or held.shape[-1]),
        *(tile or chosen, launched),
    )
    return broken.decode(), statistics


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


# Tails of every kind against units of 8 and 16 elements, vectors of 64 and tiles of 256; the last two need several tiles.
VOCABULARIES = [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 255, 256, 257, 1000, 32000, 32003]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", VOCABULARIES)
def test_statistics_match_float64(library, dtype, vocab):
    generator = np.random.default_rng(vocab)
    rows = 70 if vocab < 2000 else 3  # more than one block of 64 rows on a core when there is one core
    held = stored(generator.normal(0, 3, (rows, vocab)), dtype)
    labels = generator.integers(0, vocab, rows)
    broken, statistics = run(library, held, labels, dtype, cores=1)
    assert broken == ""
    logits = as_float64(held, dtype)
    expected, rank = reference(logits, labels)
    np.testing.assert_array_equal(statistics[MAX], logits.max(1))
    np.testing.assert_array_equal(statistics[TARGET], logits[np.arange(rows), labels])
    np.testing.assert_array_equal(statistics[RANK], rank)
    assert np.abs(nll(statistics) - expected).max() < 3e-6  # float32 sums of the stand-in: 32,003 terms
    assert nll(statistics).min() >= 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_real_vocabulary_takes_several_tiles(library, dtype):
    generator = np.random.default_rng(0)
    held = stored(generator.normal(0, 4, (2, 151_936)), dtype)
    labels = np.array([151_935, 70_000])
    broken, statistics = run(library, held, labels, dtype, cores=2)
    assert broken == ""
    expected, rank = reference(as_float64(held, dtype), labels)
    assert np.abs(nll(statistics) - expected).max() < 3e-6
    np.testing.assert_array_equal(statistics[RANK], rank)


@pytest.mark.parametrize("cores", [1, 2, 5, 40, 48, 64])
def test_every_core_count_gives_the_same_bits(library, cores):
    generator = np.random.default_rng(1)
    held = stored(generator.normal(0, 3, (131, 300)), "float16")
    labels = generator.integers(0, 300, 131)
    broken, statistics = run(library, held, labels, "float16", cores=cores)
    assert broken == ""
    np.testing.assert_array_equal(statistics, run(library, held, labels, "float16", cores=1)[1])


def test_rank_counts_equal_logits_at_lower_ids_only(library):
    # ids        0    1    2    3    4    5
    row = np.array([[2.0, 1.0, 2.0, 3.0, 2.0, 0.0]] * 6, np.float32)
    broken, statistics = run(library, row, np.arange(6), "float32")
    assert broken == ""
    # By hand: sorted by (logit descending, id ascending) the ids stand 3, 0, 2, 4, 1, 5.
    assert statistics[RANK].tolist() == [1, 4, 2, 0, 3, 5]


@pytest.mark.parametrize("label", [0, 255, 256, 511, 512, 1023, 1024, 1299])
def test_rank_is_right_wherever_the_label_lies_among_the_tiles(library, label):
    held = stored(np.random.default_rng(2).integers(0, 4, (1, 1300)).astype(np.float32), "bfloat16")
    broken, statistics = run(library, held, [label], "bfloat16", tile=512)
    assert broken == ""
    assert statistics[RANK][0] == reference(as_float64(held, "bfloat16"), [label])[1][0]


def test_without_rank_the_other_statistics_have_the_same_bits(library):
    held = stored(np.random.default_rng(3).normal(0, 3, (5, 700)), "float32")
    labels = np.arange(5) * 100
    _, with_rank = run(library, held, labels, "float32", tile=256)
    broken, without = run(library, held, labels, "float32", tile=256, rank=False)
    assert broken == ""
    np.testing.assert_array_equal(without[:RANK], with_rank[:RANK])
    assert without[RANK].tolist() == [0] * 5


def test_ignored_rows_are_those_of_a_certain_token_and_are_not_read(library):
    held = stored(np.random.default_rng(4).normal(0, 3, (140, 600)), "float32")
    labels = np.full(140, IGNORED)
    labels[[0, 65, 139]] = [5, 599, 0]
    held[labels == IGNORED] = np.nan
    broken, statistics = run(library, held, labels, "float32", tile=256, cores=1)
    assert broken == ""
    assert statistics[:, labels == IGNORED].T.tolist() == [[0, 1, 0, 0]] * 137
    kept = labels != IGNORED
    expected, rank = reference(held[kept].astype(np.float64), labels[kept])
    assert np.abs(nll(statistics[:, kept]) - expected).max() < 1e-6
    np.testing.assert_array_equal(statistics[RANK, kept], rank)


def test_rows_that_are_all_ignored(library):
    broken, statistics = run(library, np.full((3, 10), np.nan, np.float32), [IGNORED] * 3, "float32")
    assert broken == ""
    assert statistics.T.tolist() == [[0, 1, 0, 0]] * 3


def test_a_label_in_another_shard_leaves_max_and_sum(library):
    held = stored(np.random.default_rng(5).normal(0, 3, (2, 300)), "float32")
    _, here = run(library, held, [7, 8], "float32")
    broken, statistics = run(library, held, [ELSEWHERE, 8], "float32")
    assert broken == ""
    assert statistics[:, 0].tolist() == [here[MAX, 0], here[SUM, 0], 0, 0]
    assert statistics[:, 1].tolist() == here[:, 1].tolist()


def test_shards_combine_to_the_whole(library):
    generator = np.random.default_rng(6)
    logits = generator.normal(0, 3, (4, 1000)).astype(np.float32)
    labels = np.array([0, 499, 500, 999])
    parts = []
    for start in (0, 500):
        local = labels - start
        local[(local < 0) | (local >= 500)] = ELSEWHERE
        broken, statistics = run(library, logits[:, start : start + 500].copy(), local, "float32")
        assert broken == ""
        parts.append(statistics.astype(np.float64))
    largest = np.maximum(parts[0][MAX], parts[1][MAX])
    total = sum(part[SUM] * np.exp(part[MAX] - largest) for part in parts)
    target = parts[0][TARGET] + parts[1][TARGET]
    expected, _ = reference(logits.astype(np.float64), labels)
    assert np.abs(np.log(total) + largest - target - expected).max() < 1e-6


def test_a_padded_vocabulary_is_cut_at_vocab(library):
    logits = np.random.default_rng(7).normal(0, 3, (3, 512)).astype(np.float32)
    logits[:, 500:] = 100
    broken, statistics = run(library, logits, [0, 250, 499], "float32", vocab=500, row_stride=512)
    assert broken == ""
    expected, _ = reference(logits[:, :500].astype(np.float64), [0, 250, 499])
    assert np.abs(nll(statistics) - expected).max() < 1e-6


def test_a_view_without_the_last_position_needs_no_copy(library):
    logits = np.random.default_rng(8).normal(0, 3, (3, 5, 77)).astype(np.float16)
    labels = np.random.default_rng(9).integers(0, 77, (3, 4))
    broken, statistics = run(
        *(library, logits, labels.reshape(-1), "float16"), vocab=77, group_rows=4, group_stride=5 * 77, row_stride=77
    )
    assert broken == ""
    expected, _ = reference(logits[:, :-1].reshape(12, 77).astype(np.float64), labels.reshape(-1))
    assert np.abs(nll(statistics) - expected).max() < 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values(library, dtype):
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
    broken, statistics = run(library, held, labels, dtype, tile=512)
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


def test_a_confident_token_costs_almost_nothing_and_never_less_than_nothing(library):
    logits = np.full((1, 5000), -30, np.float32)
    logits[0, 4321] = 30
    broken, statistics = run(library, logits, [4321], "float32")
    assert broken == ""
    assert 0 <= nll(statistics)[0] < 1e-7


# ---- host tiling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element_bytes", [2, 4])
@pytest.mark.parametrize("unified_buffer", [UNIFIED_BUFFER, 248 * 1024])
def test_every_tiling_stays_within_the_unified_buffer(library, element_bytes, unified_buffer):
    for vocab in [*range(1, 600), 8191, 8192, 8193, 32_000, 49_152, 100_277, 128_256, 151_936, 256_000, 2**24]:
        for cores in (1, 8, 40, 48, 64):
            for rows in (1, cores, 2048):
                launched, tile = choose_tiling(library, rows, vocab, element_bytes, cores, unified_buffer)
                assert 1 <= launched <= min(rows, cores)
                assert tile % 256 == 0
                assert 0 < tile < vocab + 256
                assert library.unified_buffer_bytes(tile, element_bytes) <= unified_buffer
                assert tile * element_bytes < 2**21  # one transfer


def test_large_vocabularies_move_at_least_16_kib_at_a_time(library):
    # Below 16 KiB a transfer does not reach the memory's bandwidth (CANN's performance notes).
    for vocab in (32_000, 49_152, 128_256, 151_936):
        for element_bytes in (2, 4):
            assert choose_tiling(library, 64, vocab, element_bytes, 48)[1] * element_bytes >= 16 * 1024


def test_a_tiling_for_a_buffer_that_is_too_small_says_so(library):
    assert choose_tiling(library, 1, 100, 4, 1, 16 * 1024) == (1, 0)


# ---- the stand-in catches mistakes: each mutant breaks one rule ------------------------------------------------------------

# name -> (text of the kernel, what a careless author might have written, the rule that must be named)
MUTANTS = {
    "unified_buffer_overflow": (
        "pipe_.InitBuffer(tiles_, 2,",
        "pipe_.InitBuffer(tiles_, 200,",
        "unified buffer overflow",
    ),
    "buffer_not_whole_units": (
        "pipe_.InitBuffer(bits_, tile / 8);",
        "pipe_.InitBuffer(bits_, tile / 8 + 4);",
        "not a whole number of 32-byte units",
    ),
    "unaligned_transfer": (
        "DataCopyPad(stored[row * kPerUnit],",
        "DataCopyPad(stored[row],",
        "address is not aligned to 32 bytes",
    ),
    "unaligned_vector": (
        "ReduceMax(scalars[kMaxSlot], values,",
        "ReduceMax(scalars[kMaxSlot], values[1],",
        "address is not aligned to 32 bytes",
    ),
    "tail_past_the_row": (
        "const uint32_t length = Smaller(tile_, shape_.vocab - next.start);",
        "const uint32_t length = tile_;",
        "global memory read out of range",
    ),
    "row_past_the_end": (
        "const uint32_t last = first + share + (core < remainder ? 1 : 0);",
        "const uint32_t last = first + share + 1;",
        "out of range",
    ),
    "output_past_the_end": (
        "const DataCopyExtParams size{1, static_cast<uint32_t>(rows * sizeof(float)), 0, 0, 0};",
        "const DataCopyExtParams size{1, static_cast<uint32_t>(kRowsPerBlock * sizeof(float)), 0, 0, 0};",
        "bytes that nobody wrote",
    ),
    "two_cores_write_one_row": (
        "const uint32_t first = core * share + Smaller(core, remainder);",
        "const uint32_t first = core * share;",
        "global memory written twice",
    ),
    "a_core_leaves_rows_out": (
        "const uint32_t last = first + share + (core < remainder ? 1 : 0);",
        "const uint32_t last = first + share;",
        "a part of the output was never written",
    ),
    "undefined_tail_compared": (
        "Duplicate(values_.template Get<float>(), 0.0f, static_cast<int32_t>(tile_));",
        "",
        "bytes that nobody wrote",
    ),
    "scalar_reads_before_the_vector_is_done": (
        "    Wait<HardEvent::V_S>();\n    const float tileMax",
        "    const float tileMax",
        "scalar unit does not wait for the vector unit",
    ),
    "vector_overwrites_what_the_scalar_reads": (
        "    Wait<HardEvent::S_V>();  // the numbers of the tile before have been read\n",
        "",
        "vector unit does not wait for the scalar unit",
    ),
    "vector_before_the_transfer": (
        "    Wait<HardEvent::MTE2_V>();\n",
        "",
        "vector unit does not wait for the MTE2 unit",
    ),
    "transfer_overwrites_what_the_vector_reads": (
        "    Wait<HardEvent::V_MTE2>();  // the block before has been converted\n",
        "",
        "MTE2 unit does not wait for the vector unit",
    ),
    "labels_before_the_transfer": (
        "    Wait<HardEvent::MTE2_S>();\n",
        "",
        "scalar unit does not wait for the MTE2 unit",
    ),
    "transfer_overwrites_the_labels": (
        "    Wait<HardEvent::S_MTE2>();  // the labels of the block before are no longer needed\n",
        "",
        "MTE2 unit does not wait for the scalar unit",
    ),
    "statistics_leave_too_early": (
        "    Wait<HardEvent::S_MTE3>();\n",
        "",
        "MTE3 unit does not wait for the scalar unit",
    ),
    "statistics_overwritten_on_their_way": (
        "    Wait<HardEvent::MTE3_S>();  // the next block may overwrite them\n",
        "",
        "scalar unit does not wait for the MTE3 unit",
    ),
    "dependent_vector_instructions": (
        "    Exp(values, values, static_cast<int32_t>(length));\n    PipeBarrier<PIPE_V>();\n",
        "    Exp(values, values, static_cast<int32_t>(length));\n",
        "dependent vector instructions without a PipeBarrier",
    ),
    "queue_bypassed": (
        "    tiles_.EnQue(tile);\n",
        "    tiles_.EnQue(tile);\n    Adds(values_.template Get<float>(), tile, 0.0f, 8);\n",
        "tensor used between EnQue and DeQue",
    ),
    "tensor_used_after_free": (
        "    ToFloat32(values, tile, length);\n    tiles_.FreeTensor(tile);\n",
        "    tiles_.FreeTensor(tile);\n    ToFloat32(values, tile, length);\n",
        "tensor used after FreeTensor",
    ),
    "free_forgotten": (
        "    tiles_.FreeTensor(tile);\n",
        "",
        "AllocTensor without a free buffer",
    ),
    "tile_fetched_too_often": (
        "    FetchTile(next, first, rows);\n    for (uint32_t row = 0;",
        "    FetchTile(next, first, rows);\n    FetchTile(next, first, rows);\n    for (uint32_t row = 0;",
        "AllocTensor without a free buffer",
    ),
    "tile_never_fetched": (
        "    FetchTile(next, first, rows);\n    for (uint32_t row = 0;",
        "    for (uint32_t row = 0;",
        "DeQue of an empty queue",
    ),
    "enqueue_forgotten": (
        "    tiles_.EnQue(tile);\n",
        "",
        "DeQue of an empty queue",
    ),
    "flag_never_waited_for": (
        "    Wait<HardEvent::S_MTE3>();\n",
        "    Wait<HardEvent::S_MTE3>();\n    SetFlag<HardEvent::S_MTE3>(1);\n",
        "flag set",
    ),
    "wait_without_a_flag": (
        "    Wait<HardEvent::S_MTE3>();\n",
        "    WaitFlag<HardEvent::S_MTE3>(0);\n",
        "wait for a flag that was not set",
    ),
    "comparison_of_a_part_of_a_vector": (
        "target, mode, whole);",
        "target, mode, length);",
        "not whole 256-byte vectors",
    ),
    "work_space_too_small": (
        "pipe_.InitBuffer(work_, tile / 8);",
        "pipe_.InitBuffer(work_, 32);",
        "work space of a reduction is too small",
    ),
    "access_outside_its_buffer": (
        "pipe_.InitBuffer(indicator_, tile * sizeof(float));",
        "pipe_.InitBuffer(indicator_, kBlockBytes);",
        "unified buffer access out of range",
    ),
    "labels_outside_their_buffer": (
        "pipe_.InitBuffer(blockLabels_, kRowsPerBlock * sizeof(int32_t));",
        "pipe_.InitBuffer(blockLabels_, kBlockBytes);",
        "unified buffer access out of range",
    ),
    "input_overwritten": (
        "DataCopyPad(statistics_[static_cast<uint64_t>(statistic) * shape_.rows + first],",
        "statistics_.SetGlobalBuffer(reinterpret_cast<float *>(labels_.Bytes()), 4096);\n      DataCopyPad(statistics_[0],",
        "write to an input",
    ),
}


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    """All mutants in one library, each in a namespace of its own."""
    folder = tmp_path_factory.mktemp("mutants")
    original = (SOURCES / "nll_kernel.cpp").read_text()
    parts = ['#include "run_kernel.h"\n']
    for name, (text, mutation, _) in MUTANTS.items():
        assert original.count(text) == 1, f"{name}: the text to mutate must occur once, found {original.count(text)} times"
        body = original.replace(text, mutation).replace('extern "C" ', "")
        body = body[: body.index("__global__ __aicore__ void mindeval_nll_float16")]
        body = "\n".join(line for line in body.splitlines() if not line.startswith("#include"))
        body = body.replace("namespace mindeval {", "namespace mindeval {\nusing namespace ::mindeval;", 1)
        (folder / f"{name}.inc").write_text(body)
        parts.append(
            f'namespace {name} {{\n#include "{name}.inc"\n}}\n'
            f'extern "C" const char *run_{name}(int, void *logits, uint64_t bytes, int32_t *labels, float *statistics,\n'
            "    uint32_t rows, uint32_t vocab, uint32_t group_rows, uint32_t with_rank, uint64_t group_stride,\n"
            "    uint64_t row_stride, uint32_t tile, uint32_t cores) {\n"
            "  static std::string broken;\n"
            f"  broken = stand_in::Run({name}::mindeval_nll_float32, {{logits, bytes, labels, statistics, {{rows, vocab,\n"
            "      group_rows, with_rank, group_stride, row_stride}, tile, cores});\n"
            "  return broken.c_str();\n}\n"
        )
    (folder / "mutants.cpp").write_text("".join(parts))
    return compile_library(folder / "mutants.cpp", folder / "mutants.so", "-O0", f"-I{folder}")


@pytest.mark.parametrize("name", MUTANTS)
def test_the_stand_in_catches(library, mutants, name):
    function = getattr(mutants, f"run_{name}")
    function.restype, function.argtypes = ctypes.c_char_p, library.run.argtypes
    # Two cores with a row more on the first, two blocks each, three tiles a row with a tail: every path of the kernel runs.
    generator = np.random.default_rng(11)
    held = generator.normal(0, 3, (199, 1301)).astype(np.float32)
    labels = generator.integers(0, 1301, 199)
    assert run(library, held, labels, "float32", cores=2, tile=512)[0] == ""
    broken, _ = run(library, held, labels, "float32", cores=2, tile=512, function=function)
    assert MUTANTS[name][2] in broken
