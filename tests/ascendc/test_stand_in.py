"""Proof that the stand-in of the Ascend C API catches mistakes: each mutant of the kernel breaks one rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).resolve().parents[2] / "mindeval" / "csrc" / "ascend"

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
        "global memory written twice",
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
        "DataCopyPad(tile, logits_[",
        "DataCopyPad(values_.template Get<T>(), logits_[",
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
        "statistics_.SetGlobalBuffer((float *)labels_.Bytes(), 4096);\n      DataCopyPad(statistics_[0],",
        "write to an input",
    ),
}


RUNNER = """
namespace {name} {{
#include "{name}.inc"
}}
extern "C" const char *run_{name}(int, void *logits, uint64_t bytes, int32_t *labels, float *statistics, uint32_t rows,
                                  uint32_t vocab, uint32_t group_rows, uint32_t with_rank, uint64_t group_stride,
                                  uint64_t row_stride, uint32_t tile, uint32_t cores) {{
  static std::string broken;
  const mindeval::NllShape shape{{rows, vocab, group_rows, with_rank, group_stride, row_stride}};
  broken = stand_in::Run({name}::mindeval_nll_float32, {{logits, bytes, labels, statistics, shape, tile, cores}});
  return broken.c_str();
}}
"""


@pytest.fixture(scope="module")
def mutants(stand_in, tmp_path_factory):
    """All mutants of the float32 kernel in one library, each in a namespace of its own."""
    folder = tmp_path_factory.mktemp("mutants")
    original = (SOURCES / "nll_kernel.cpp").read_text()
    parts = ['#include "run_kernel.h"\n']
    for name, (text, mutation, _) in MUTANTS.items():
        assert original.count(text) == 1, f"{name}: the text to mutate must occur exactly once"
        body = original.replace(text, mutation).replace('extern "C" ', "")
        body = body[: body.index("__global__ __aicore__ void mindeval_nll_float16")]
        body = "\n".join(line for line in body.splitlines() if not line.startswith("#include"))
        body = body.replace("namespace mindeval {", "namespace mindeval {\nusing namespace ::mindeval;", 1)
        (folder / f"{name}.inc").write_text(body)
        parts.append(RUNNER.format(name=name))
    (folder / "mutants.cpp").write_text("".join(parts))
    return stand_in.compile_library(folder / "mutants.cpp", folder / "mutants.so", "-O0", f"-I{folder}")


# Two cores with a row more on the first, three blocks each, three tiles a row with a tail: every path of the kernel
# runs. Then one short tile.
LAUNCHES = [(259, 1101), (3, 100)]


def launch(stand_in, rows, vocab, function=None) -> str:
    generator = np.random.default_rng(11)
    held = generator.normal(0, 3, (rows, vocab)).astype(np.float32)
    labels = generator.integers(0, vocab, rows)
    return stand_in.run(held, labels, "float32", cores=2, tile=512, function=function)[0]


@pytest.mark.parametrize(("rows", "vocab"), LAUNCHES)
def test_the_kernel_itself_breaks_no_rule(stand_in, rows, vocab):
    assert launch(stand_in, rows, vocab) == ""


@pytest.mark.parametrize("name", MUTANTS)
def test_the_stand_in_catches(stand_in, mutants, name):
    function = stand_in.declare(getattr(mutants, f"run_{name}"))
    rule = MUTANTS[name][2]
    assert rule in "; ".join(launch(stand_in, rows, vocab, function) for rows, vocab in LAUNCHES)
