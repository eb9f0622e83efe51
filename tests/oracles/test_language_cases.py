"""Handed cases and traps of loss, perplexity and accuracy, and the logits of a real language model."""

from __future__ import annotations

import json
import math

import mindspore as ms
import numpy as np
import pytest

from mindeval import Accuracy, Loss, Perplexity, kernels

DTYPES = {"float16": ms.float16, "bfloat16": ms.bfloat16, "float32": ms.float32}


def read(folder, name):
    return json.loads((folder / name).read_text())


def perplexity_of(batches, ignore_index=-100):
    """The result over batches of (logits, targets)."""
    metric = Perplexity(ignore_index=-100 if ignore_index is None else ignore_index)
    for logits, targets in batches:
        metric.update(np.float32(logits), np.array(targets))
    metric.eval()
    return metric.result()


def perplexity_of_nll(vectors, masks=None):
    metric = Perplexity()
    for place, nll in enumerate(vectors):
        metric.update(np.array(nll, np.float64), None if masks is None else np.array(masks[place]) != 0)
    return metric.eval()


def solve_perplexity(case):
    given, task = case["inputs"], case["task"]
    ignore = case["params"].get("ignore_index")
    if task == "perplexity_from_logits" and "weights" in given:  # real weights: from the token statistics themselves
        nll = kernels.token_nll(np.float32(given["logits"]), np.array(given["targets"]), ignore).nll
        weights = np.where(np.array(given["targets"]) == ignore, 0.0, np.array(given["weights"], float))
        return math.exp((nll * weights).sum() / weights.sum())
    if task == "perplexity_from_logits":
        return perplexity_of([(given["logits"], given["targets"])], ignore)["perplexity"]
    if task == "perplexity_from_logits_sharded":
        shards = [perplexity_shard(shard, ignore) for shard in given["shards"]]
        return shards[0].merge(shards[1]).eval()
    if task in ("perplexity_from_probs", "perplexity_picked_probability"):
        metric = Perplexity(ignore_index=-100 if ignore is None else ignore, from_probabilities=True)
        probabilities = np.array(given["probs"], np.float64)
        if task == "perplexity_from_probs":
            probabilities /= probabilities.sum(-1, keepdims=True)
        metric.update(probabilities, np.array(given["targets"]))
        return metric.eval()
    if task == "perplexity_from_logprobs":
        return perplexity_of_nll([-np.array(given["logprobs"])])
    raise AssertionError(f"no solver for {task}")


def perplexity_shard(shard, ignore):
    metric = Perplexity(ignore_index=-100 if ignore is None else ignore)
    metric.update(np.float32(shard["logits"]), np.array(shard["targets"]))
    return metric


def test_handed_perplexity_cases(shared_dir):
    cases = read(shared_dir / "cases", "cases_handed_perplexity.json")["cases"]
    assert cases
    for case in cases:
        if case["task"].startswith("corpus_perplexity"):
            continue
        assert solve_perplexity(case) == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]


def test_handed_corpus_perplexity_cases(shared_dir):
    cases = read(shared_dir / "cases", "cases_handed_perplexity.json")["cases"]
    cases = [case for case in cases if case["task"].startswith("corpus_perplexity")]
    assert cases
    for case in cases:
        samples = case["inputs"]["samples"]
        samples = [np.full(s["n_tokens"], -s["sum_logprob"] / s["n_tokens"]) for s in samples if s["n_tokens"]]
        if not samples:  # no token at all: raising is one of the two sound answers that the case names
            with pytest.raises(RuntimeError, match="no data"):
                Perplexity().eval()
        elif case["task"] == "corpus_perplexity_per_token":
            assert perplexity_of_nll(samples) == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]
        else:  # another convention: every sequence weighs the same
            means = np.array([sample.mean() for sample in samples])
            assert perplexity_of_nll([means]) == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]


def test_handed_loss_cases(shared_dir):
    for case in read(shared_dir / "cases", "cases_handed_loss.json")["cases"]:
        loss = Loss()
        for value in case["inputs"]["updates"]:
            loss.update(value)
        assert loss.eval() == pytest.approx(case["expected"], abs=case["tolerance"])
        assert loss.result()["exact"] is False  # bare scalars carry no weight


def test_handed_accuracy_cases(shared_dir):
    cases = read(shared_dir / "cases", "cases_handed_classification.json")["cases"]
    tasks = (
        "topk_accuracy",
        "topk_accuracy_sequences",
        "topk_accuracy_sequences_masked",
        "accuracy_from_scores",
        "accuracy_two_updates",
    )
    cases = [case for case in cases if case["task"] in tasks]
    assert cases
    for case in cases:
        metric = Accuracy(top_k=case["params"].get("k", 1))
        for update in case["inputs"].get("updates", [case["inputs"]]):
            mask = np.array(update["mask"]) != 0 if "mask" in update else None
            metric.update(np.array(update["scores"]), np.array(update["labels"]), mask)
        assert metric.eval() == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]


def test_traps_of_perplexity(shared_dir):
    traps = {trap["id"]: trap for trap in read(shared_dir / "cases", "traps_handed.json")}
    for name in ("ppl_fp32_underflow", "ppl_bf16_rounding", "ppl_minus100_default", "ppl_minus100_one_hot"):
        given, right = traps[name]["input"], traps[name]["right_value"]
        logits = ms.Tensor(given["logits"], DTYPES[given.get("dtype", "float32")])
        metric = Perplexity()
        metric.update(logits, ms.Tensor(given["targets"]))
        assert metric.eval() == pytest.approx(right, rel=1e-6), name
    given = traps["ppl_all_ignored_batch"]["input"]
    other = traps["ppl_minus100_default"]["input"]
    with_ignored = perplexity_of([(given["logits"], given["targets"]), (other["logits"], other["targets"])])
    assert with_ignored == perplexity_of([(other["logits"], other["targets"])])
    trap = traps["ppl_sequence_weighting_metrax"]
    metric = Perplexity()
    for batch in (trap["input"]["batch1"], trap["input"]["batch2"]):
        metric.update(np.float32(batch["logits"]), np.array(batch["targets"]), np.array(batch["weights"]) != 0)
    assert metric.eval() == pytest.approx(trap["right_value"], rel=1e-6)


def test_traps_of_loss(shared_dir):
    traps = {trap["id"]: trap for trap in read(shared_dir / "cases", "traps_handed.json")}
    loss = Loss()
    for mean, tokens in traps["loss_mean_of_batch_means"]["input"]["batch_mean_loss_and_tokens"]:
        loss.update((mean, tokens))
    assert loss.eval() == traps["loss_mean_of_batch_means"]["right_value"]
    trap, ranks = traps["loss_uneven_rank_mean"], [Loss(), Loss()]
    for rank, total, count in zip(ranks, trap["input"]["rank_sums"], trap["input"]["rank_counts"]):
        rank.update((total / count, count))
    assert ranks[0].merge(ranks[1]).eval() == trap["right_value"]
    loss = Loss()
    for _ in range(300):
        loss.update(ms.Tensor([1.0], ms.bfloat16))
    assert loss.eval() == 1.0
    assert loss.result()["weight"] == traps["bf16_running_sum_stuck"]["right_value"]
    loss = Loss()
    loss.update((1.0, 2**24))
    for _ in range(2000):
        loss.update(3.0)
    assert loss.eval() == pytest.approx(traps["keras_mean_saturates"]["right_value"], rel=1e-15)
    trap = traps["loss_sequence_weighting_keras"]
    loss = Loss()
    for batch in (trap["input"]["batch1"], trap["input"]["batch2"]):
        loss.update(kernels.token_nll(np.float32(batch["logits"]), np.array(batch["targets"])).nll)
    assert loss.eval() == pytest.approx(trap["right_value"], rel=1e-6)


def test_traps_of_accuracy(shared_dir):
    traps = {trap["id"]: trap for trap in read(shared_dir / "cases", "traps_handed.json")}
    trap = traps["accuracy_default_average"]
    metric = Accuracy()
    metric.update(np.array(trap["input"]["pred"]), np.array(trap["input"]["target"]))
    assert metric.eval() == trap["right_value"]


def test_handed_bug_inputs(shared_dir):
    items = {item["id"]: item for item in read(shared_dir / "cases", "bug_inputs_handed.json")["items"]}
    batch = items["bug-perplexity-02"]["input"]["batch"]
    expected = items["bug-perplexity-02"]["expected"]["perplexity"]
    nll, masks = [row["token_nll"] for row in batch], [row["mask"] for row in batch]
    assert perplexity_of_nll(nll, masks) == pytest.approx(expected, rel=1e-12)
    assert perplexity_of_nll([nll], [masks]) == perplexity_of_nll(nll, masks)

    ranks = [Perplexity(), Perplexity()]
    for rank, shard in zip(ranks, items["bug-perplexity-04"]["input"]["shards"]):
        tokens = shard["n_tokens"]
        nll = np.full(4, shard["sum_nll"] / max(tokens, 1))
        rank.update(nll, np.full(4, tokens > 0))
    assert ranks[0].merge(ranks[1]).eval() == pytest.approx(
        items["bug-perplexity-04"]["expected"]["perplexity"], rel=1e-12
    )

    half = items["bug-perplexity-07"]
    metric = Perplexity()
    metric.update(ms.Tensor([half["input"]["logits"]], ms.float16), ms.Tensor([half["input"]["target"]]))
    metric.eval()
    assert -metric.result()["nll"] == pytest.approx(half["expected"]["logprob_of_stored_values"], abs=1e-7)

    item = items["bug-perplexity-01"]
    assert perplexity_of_nll(item["input"]["token_nll"]) == pytest.approx(item["expected"]["token_weighted"], rel=1e-12)

    shards = items["bug-accuracy-03"]
    ranks = [Accuracy(), Accuracy()]
    for rank, right in zip(ranks, shards["input"]["shards"]):
        rank.update(np.array(right), np.ones(len(right), int))
    assert ranks[0].merge(ranks[1]).eval() == shards["expected"]["accuracy"]

    padded = items["bug-accuracy-02"]["input"]  # the ninth real sample fills rank 0; rank 1's last row is a copy
    ranks = [Loss(), Loss()]
    ranks[0].update(np.float64(padded["rank0"]))
    ranks[1].update(np.float64(padded["rank1"]), np.array([True, True, True, True, False]))
    assert ranks[0].merge(ranks[1]).eval() == items["bug-accuracy-02"]["expected"]["mean"]


def test_logits_of_a_real_language_model_give_the_published_perplexity(shared_dir):
    expected = read(shared_dir / "lm_fixtures", "real_logits_expected.json")["expected"]
    stored = np.load(shared_dir / "lm_fixtures" / "real_logits_fp16.npz")
    logits, labels = stored["logits"], stored["labels"]
    for batches in ([slice(None)], [slice(0, 1), slice(1, None)]):
        metric = Perplexity()
        for rows in batches:
            metric.update(ms.Tensor(logits[rows]), ms.Tensor(labels[rows]))
        metric.eval()
        result = metric.result()
        assert result["tokens"] == expected["n_tokens"]
        assert result["perplexity"] == pytest.approx(expected["perplexity_of_stored_fp16"], rel=1e-7)
        assert result["nll"] * result["tokens"] == pytest.approx(expected["sum_nll_of_stored_fp16"], rel=1e-7)


def test_nll_of_a_real_language_model_gives_its_figures_per_byte(shared_dir):
    rows = read(shared_dir / "lm_fixtures", "ppl_real.json")["rows"]
    metric = Perplexity()
    for row in rows:
        alone = Perplexity()
        alone.update(np.array(row["target_nll"]), texts=[row["text"]])
        assert alone.eval() == pytest.approx(row["perplexity"], rel=1e-12)
        assert (alone.result()["bytes"], alone.result()["tokens"]) == (row["n_bytes"], row["n_tokens"])
        metric.update(np.array(row["target_nll"]), n_bytes=row["n_bytes"])
    metric.eval()
    nats, n_bytes = sum(row["sum_nll"] for row in rows), sum(row["n_bytes"] for row in rows)
    assert metric.result()["bits_per_byte"] == pytest.approx(nats / math.log(2) / n_bytes, rel=1e-12)
