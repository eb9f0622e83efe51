"""Run by several ranks: MindFormers' Llama on this rank's shard, with the metrics that YAML describes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["LOCAL_DEFAULT_PATH"] = f"{sys.argv[1]}/log{os.environ['RANK_ID']}"

import mindspore as ms
from mindformers.core.metric import PerplexityMetric, build_metric
from tiny_models import ROWS, legacy_llama

from mindeval import distributed
from mindeval.integrations.mindformers import register

ms.set_device("CPU")
ms.communication.init()
register()
rank = distributed.this_rank()
network = legacy_llama().set_train(False)
rows = ROWS[list(distributed.shard(len(ROWS)))]
together = build_metric({"type": "MindevalPerplexity", "distributed": True, "expected_samples": len(ROWS)})
last_stage = build_metric(
    {
        "type": "MindevalMetrics",
        "metrics": [{"type": "Perplexity"}],
        "distributed": True,
        "contributes": {"data_parallel": 1, "pipeline_stage": 2},
    }
)
theirs = PerplexityMetric()
theirs.clear()
for row in rows:
    outputs = network(ms.Tensor(row[None]))
    theirs.update(*outputs)
    together.update(*outputs)
    last_stage.update(*(outputs if rank == 1 else (None,)))
values = [together.eval()["perplexity"], last_stage.eval()["perplexity"]]
(Path(sys.argv[1]) / f"rank{rank}.json").write_text(json.dumps({"ours": values, "theirs": theirs.eval()["PPL"]}))
