"""The base class: atomic updates, names in messages, indexes, results, signatures, and what belongs to a collection."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import weakref

import mindspore as ms
import numpy as np
import pytest

from mindeval import AUROC, Accuracy, Loss, Metric, MetricCollection, Perplexity, Score, Signature
from mindeval.state import Count, Rows

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(11, 7)).astype(np.float32)
LABELS = RNG.integers(0, 7, 11)


def test_a_failed_update_changes_nothing_and_names_the_metric():
    metric = Perplexity()
    metric.update(LOGITS, LABELS)
    before = metric.state_dict()
    wrong = LABELS.copy()
    wrong[-1] = 99
    with pytest.raises(ValueError, match=r"For 'Perplexity.update', labels must lie in \[0, 7\).*but got 99"):
        metric.update(LOGITS, wrong)
    assert metric.state_dict() == before


def test_a_failed_merge_of_rows_changes_no_other_state():
    class Records(Metric):
        def __init__(self):
            super().__init__(states={"n": Count(), "rows": Rows(1)})

        def _contribution(self, rows, ids=None):
            return {"n": len(rows), "samples": len(rows), "rows": rows if ids is None else (rows, ids)}

        def _compute(self, states):
            return {"n": states["n"].value}

    records, without_ids = Records(), Records()
    records.update(np.array([[1]]), np.array([4]))
    without_ids.update(np.array([[1]]))
    before = records.state_dict()
    with pytest.raises(ValueError, match="For 'Records.update', some rows came with sample ids"):
        records.update(np.array([[1]]))
    with pytest.raises(ValueError, match="some rows came with sample ids"):
        records.merge(without_ids)
    assert records.state_dict() == before


def test_no_data_and_wrong_number_of_samples_raise_at_eval():
    metric = Accuracy()
    with pytest.raises(RuntimeError, match="For 'Accuracy.eval', there is no data"):
        metric.eval()
    metric.set_distributed(expected_samples=12)
    metric.update(LOGITS, LABELS)
    with pytest.raises(RuntimeError, match="11 samples were counted, 12 expected"):
        metric.eval()


def test_an_author_who_forgets_the_samples_or_a_method_is_told():
    class Forgetful(Metric):
        def __init__(self):
            super().__init__(states={"n": Count()})

        def _contribution(self, values):
            return {"n": 1}

    with pytest.raises(TypeError, match="For 'Forgetful.update', _contribution of Forgetful must count its samples"):
        Forgetful().update([1])
    with pytest.raises(TypeError, match="must define _compute"):
        Forgetful()._compute({})


def test_set_indexes_picks_inputs_and_nested_tuples_are_flattened():
    metric = Accuracy()
    metric.set_indexes([2, 1])
    metric.update("not used", LABELS, LABELS)
    assert metric.eval() == 1.0
    with pytest.raises(ValueError, match=r"set_indexes\(\[2, 1\]\) needs more than the 2 inputs"):
        metric.update(LABELS, LABELS)
    nested = Loss()
    nested.update((np.float32([1.0, 3.0]), np.array([True, False])))
    assert nested.eval() == 1.0


def test_eval_is_a_float_that_knows_its_parts_and_survives_json_and_pickle():
    metric = Accuracy(top_k=2)
    metric.update(LOGITS, LABELS)
    score = metric.eval()
    assert isinstance(score, float) and isinstance(score, Score)
    assert json.dumps({"a": score}) == json.dumps({"a": float(score)})
    assert str({"a": Score(1.5)}) == "{'a': 1.5}"
    assert score.asnumpy().shape == () and score.asnumpy() == score.item() == float(score)
    again = pickle.loads(pickle.dumps(score))
    assert (again, again.parts, again.signature) == (score, score.parts, score.signature)
    assert copy.deepcopy(score).signature == score.signature
    assert "accuracy" in score.describe() and str(score.signature) in score.describe()


def test_a_score_of_zero_is_not_missing():
    assert bool(Score(0.0)) is True
    assert Score(0.0) == 0.0


def test_signatures_name_the_settings_and_leave_the_library_version_out_of_the_definition():
    assert Perplexity().signature == "perplexity|ignore:-100|shift:no|unit:token|def:1|mindeval:0.1.0"
    assert Perplexity().signature.definition == "perplexity|ignore:-100|shift:no|unit:token|def:1"
    assert (
        Signature.build("m", {"a": "x|y", "b": None, "c": True}, 2).definition == 'm|a:"x\\u007cy"|b:null|c:yes|def:2'
    )


def test_states_of_another_definition_are_refused():
    other = Perplexity(ignore_index=0)
    other.update(LOGITS, LABELS)
    metric = Perplexity()
    metric.update(LOGITS, LABELS)
    before = metric.state_dict()
    with pytest.raises(ValueError, match="For 'Perplexity.merge', the state must be of perplexity.ignore:-100"):
        metric.merge(other)
    with pytest.raises(ValueError, match="For 'Perplexity.load_state_dict'"):
        metric.load_state_dict(other.state_dict())
    broken = {"signature": before["signature"], "states": {"nll": {}}}
    with pytest.raises(ValueError, match="For 'Perplexity.load_state_dict', the states must be"):
        metric.load_state_dict(broken)
    assert metric.state_dict() == before


def test_a_metric_or_a_collection_is_not_merged_into_itself():
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    before = metrics.state_dict()
    with pytest.raises(ValueError, match="For 'Perplexity.merge', a metric cannot be merged into itself"):
        metrics["ppl"].merge(metrics["ppl"])
    with pytest.raises(ValueError, match="For 'MetricCollection.merge', a collection cannot be merged into itself"):
        metrics.merge(metrics)
    assert metrics.state_dict() == before
    tokens = metrics["ppl"].merge(copy.deepcopy(metrics["ppl"])).state_dict()["states"]["tokens"]
    assert tokens == 2 * before["ppl"]["states"]["tokens"] == 22


def test_result_may_be_changed_by_its_reader():
    metric = Accuracy()
    metric.update(LABELS, LABELS)
    metric.eval()
    metric.result()["correct"] = 0
    assert metric.result()["correct"] == 11


def test_texts_and_cards_show_value_and_signature_and_escape_html():
    metric = Accuracy(name="<b>")
    assert "not evaluated yet" in metric._repr_html_()
    metric.update(LABELS, LABELS)
    metric.eval()
    assert "&lt;b&gt;" in metric._repr_html_() and "<b>&lt;b&gt;</b>" in metric._repr_html_()
    assert "11 samples" in repr(metric)
    assert metric.signature in metric.eval()._repr_html_()


def test_distributed_in_a_single_process_changes_nothing():
    metric = Accuracy(distributed=True)
    metric.update(LOGITS, LABELS)
    plain = Accuracy()
    plain.update(LOGITS, LABELS)
    assert metric.eval() == plain.eval()
    quiet = Accuracy().set_distributed(True, contributes=False)
    quiet.update("anything")
    with pytest.raises(RuntimeError, match="no data"):
        quiet.eval()


def test_launched_as_one_of_several_but_not_initialised_raises(monkeypatch):
    monkeypatch.setenv("MS_ROLE", "MS_WORKER")
    monkeypatch.setenv("MS_WORKER_NUM", "2")
    metric = Accuracy(distributed=True)
    metric.update(LOGITS, LABELS)
    with pytest.raises(RuntimeError, match=r"call mindspore.communication.init\(\) before"):
        metric.eval()


# -- collections -------------------------------------------------------------------------------------------------------


def pair() -> MetricCollection:
    return MetricCollection({"ppl": Perplexity(), "acc": Accuracy()})


def test_a_collection_gives_what_its_members_give_alone():
    metrics, alone = pair(), Perplexity()
    metrics.update(LOGITS, LABELS)
    alone.update(LOGITS, LABELS)
    assert metrics.eval() == {"ppl": alone.eval(), "acc": metrics["acc"].eval()}
    assert metrics.result()["ppl"] == alone.result()
    assert list(metrics) == ["ppl", "acc"] and len(metrics) == 2
    assert "ppl" in metrics.describe() and "ppl" in repr(metrics) and "acc" in metrics._repr_html_()


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        (lambda a: {"a": a, "b": a}, ValueError, "same metric object appears twice under"),
        (lambda a: [Accuracy(), Accuracy()], ValueError, "names must differ"),
        (lambda a: [], ValueError, "at least one metric"),
        (lambda a: {"a": ms.train.Accuracy()}, TypeError, "must be mindeval metrics, but got Accuracy"),
        (lambda a: {"a": Accuracy(distributed=True)}, ValueError, "distribute the collection"),
        (lambda a: {"a": MetricCollection([a])["accuracy"]}, ValueError, "already belongs to a collection"),
    ],
)
def test_a_collection_refuses_members_it_cannot_keep_apart(members, error, message):
    with pytest.raises(error, match=message):
        MetricCollection(members(Accuracy()))


def test_a_call_of_a_collection_gives_the_values_of_its_inputs_alone():
    metrics = MetricCollection([Perplexity(), Accuracy()]).set_distributed(expected_samples=11)
    metrics.update(LOGITS, LABELS)
    values, before = metrics.eval(), metrics.state_dict()
    alone = {"perplexity": Perplexity()(LOGITS[:3], LABELS[:3]), "accuracy": Accuracy()(LOGITS[:3], LABELS[:3])}
    assert metrics(LOGITS[:3], LABELS[:3]) == alone
    assert metrics["accuracy"](LOGITS[:3], LABELS[:3]) == alone["accuracy"]
    assert metrics.state_dict() == before
    assert metrics.result()["accuracy"]["total"] == 11
    with pytest.raises(ValueError, match="labels must lie"):
        metrics(LOGITS, LABELS + 99)
    assert metrics.eval() == values


def test_a_member_cannot_be_distributed_by_itself():
    with pytest.raises(ValueError, match="call set_distributed of the collection"):
        pair()["acc"].set_distributed()


def test_a_member_updated_between_the_evaluation_of_another_and_its_own_raises():
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    metrics["ppl"].eval()
    metrics.update(LOGITS, LABELS)
    with pytest.raises(RuntimeError, match="evaluate all members"):
        metrics["acc"].eval()
    metrics["ppl"].eval()
    assert metrics["acc"].eval() == metrics.eval()["acc"]


def test_collections_copy_merge_and_load_exactly():
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    value = metrics.eval()
    loaded = pair()
    loaded.load_state_dict(json.loads(json.dumps(metrics.state_dict())))
    for other in (copy.deepcopy(metrics), pickle.loads(pickle.dumps(metrics)), loaded):
        assert other.eval() == value
        assert other["ppl"]._scope is other["acc"]._scope
        other.merge(metrics)
        assert other.result()["ppl"]["tokens"] == 11
        assert other.eval() == value and other.result()["ppl"]["tokens"] == 22
        assert metrics.eval() == value and metrics.result()["ppl"]["tokens"] == 11
    with pytest.raises(ValueError, match=r"the metrics must be \['ppl', 'acc'\]: missing are \['ppl'\]"):
        metrics.merge(MetricCollection({"acc": Accuracy()}))
    with pytest.raises(TypeError, match="For 'MetricCollection.merge', the other must be a collection, but got Acc"):
        metrics.merge(Accuracy())
    lone = copy.deepcopy(metrics["ppl"])
    assert lone.eval() == value["ppl"] and list(lone._scope.members) == ["ppl"]


def test_members_that_agree_share_one_pass_over_the_logits(monkeypatch):
    from mindeval import tokens

    passes = []
    original = tokens.kernels.token_nll
    monkeypatch.setattr(tokens.kernels, "token_nll", lambda *a, **k: passes.append(k["rank"]) or original(*a, **k))
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    assert passes == [True]
    metrics.update(ms.Tensor(LOGITS), ms.Tensor(LABELS))
    assert len(passes) == 2
    logits, labels = ms.Tensor(LOGITS), ms.Tensor(LABELS)  # Model.eval updates member by member
    for metric in metrics.as_metrics().values():
        metric.update(logits, labels)
    assert len(passes) == 3
    for metric in metrics.as_metrics().values():  # the same objects again are a new batch
        metric.update(logits, labels)
    assert len(passes) == 4
    MetricCollection([Perplexity(), Accuracy(ignore_index=0)]).update(LOGITS, LABELS)
    assert passes[4:] == [False, True]


def test_a_buffer_that_is_filled_anew_between_members_is_read_anew():
    metrics, fresh = pair(), pair()
    buffer = LOGITS.copy()
    metrics["ppl"].update(buffer, LABELS)
    buffer[:] = 0
    metrics["acc"].update(buffer, LABELS)
    fresh["acc"].update(np.zeros_like(LOGITS), LABELS)
    fresh["ppl"].update(LOGITS, LABELS)
    assert metrics.eval() == fresh.eval()


def test_logits_are_not_kept_alive():
    metrics = pair()
    logits = ms.Tensor(LOGITS)
    metrics["ppl"].update(logits, LABELS)
    gone = weakref.ref(logits)
    del logits
    gc.collect()
    assert gone() is None


# -- faults that were found by attacking -------------------------------------------------------------------------------


def test_a_mask_that_is_gone_is_not_taken_for_no_mask():
    members = pair().as_metrics()
    logits, labels = ms.Tensor(LOGITS), ms.Tensor(LABELS)
    members["ppl"].update(logits, labels, ms.Tensor(LABELS == 0))
    gc.collect()
    members["acc"].update(logits, labels)
    members["acc"].eval()
    assert members["acc"].result()["total"] == 11


def test_a_collection_update_that_fails_changes_no_member():
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    before = metrics.state_dict()
    wrong = LOGITS.copy()
    wrong[0] = np.nan  # perplexity is nan then, accuracy refuses it
    with pytest.raises(ValueError, match="For 'Accuracy.update', predictions must not be NaN"):
        metrics.update(wrong, LABELS)
    assert metrics.state_dict() == before


def test_a_collection_hands_a_keyword_to_the_members_that_know_it():
    metrics = pair()
    metrics.update(LOGITS, LABELS, n_bytes=22)
    metrics.eval()
    assert metrics.result()["ppl"]["bytes"] == 22
    assert metrics.result()["acc"]["total"] == 11
    with pytest.raises(TypeError, match=r"no member takes the keywords \['masks'\]"):
        metrics.update(LOGITS, LABELS, masks=None)


def test_inputs_that_do_not_fit_are_answered_with_the_names_of_those_that_do():
    expected = r"For 'Loss.update', the inputs must be \(loss, weight=\), but got 3 inputs"
    with pytest.raises(TypeError, match=expected):
        Loss().update(1.0, 2, 3)
    with pytest.raises(TypeError, match=r"but got 2 inputs and masks="):
        Accuracy().update(LABELS, LABELS, masks=None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": None}, "the states must be"),
        ({"states": {"total": 1}}, "the states must be"),
        ({"tokens": -4}, "'tokens' cannot be read: a saved count must be an int >= 0, but got -4"),
        ({"tokens": 1.5}, "but got 1.5"),
        ({"tokens": True}, "but got True"),
        ({"nll": {"units": "x"}}, "'nll' cannot be read"),
        ({"nll": {"units": "0x1", "nan": -1, "pinf": 0, "ninf": 0}}, "but got -1"),
    ],
)
def test_a_state_that_was_tampered_with_is_refused_and_nothing_is_lost(change, message):
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    before = metrics.state_dict()
    saved = copy.deepcopy(before)
    if "states" in change:
        saved["ppl"]["states"] = change["states"]
    else:
        saved["ppl"]["states"].update(change)
    saved["acc"]["states"]["total"] = 5
    with pytest.raises(ValueError, match="For 'Perplexity.load_state_dict', .*" + message):
        metrics.load_state_dict(saved)
    assert metrics.state_dict() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: saved.pop("acc"), r"'MetricCollection.load_state_dict', the metrics .*: missing are \['acc'\]$"),
        (lambda saved: saved.update(bleu={}), r"the metrics must be .*: unknown are \['bleu'\]$"),
        (
            lambda saved: saved.update(saved.pop("ppl")),
            r"missing are \['ppl'\], unknown are \['signature', 'states'\]$",
        ),
        (
            lambda saved: saved.update(ppl=dict(saved)),
            r"For 'Perplexity.*missing are \['signature', 'states'\], unknown",
        ),
        (lambda saved: saved.update(ppl=None), "For 'Perplexity.load_state_dict', the state must be .* but got None"),
        (
            lambda saved: saved["ppl"].update(v=2),
            r"the state must be what state_dict\(\) gives.*: unknown are \['v'\]$",
        ),
        (lambda saved: saved["ppl"].pop("signature"), r"what state_dict\(\) gives.*: missing are \['signature'\]$"),
        (lambda saved: saved["ppl"]["states"].pop("nll"), r"the states must be \[.*\]: missing are \['nll'\]$"),
        (lambda saved: saved["ppl"]["states"].update(correct=3), r"the states must be .*: unknown are \['correct'\]$"),
        (lambda saved: saved["ppl"]["states"]["nll"].pop("nan"), r"the state 'nll' cannot.*: missing are \['nan'\]$"),
        (lambda saved: saved["ppl"]["states"]["nll"].update(b=1), r"the state 'nll' cannot be.*: unknown are \['b'\]$"),
    ],
)
def test_entries_that_are_missing_or_unknown_are_named_and_nothing_is_lost(change, message):
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    before = metrics.state_dict()
    saved = pair().state_dict()
    change(saved)
    with pytest.raises(ValueError, match=message):
        metrics.load_state_dict(saved)
    assert metrics.state_dict() == before


def test_a_collection_of_which_one_member_cannot_be_merged_merges_none():
    def with_ids(ids):
        metrics = MetricCollection([Accuracy(), AUROC(task="binary")])
        metrics["accuracy"].update([1, 0], [1, 1])
        metrics["auroc"].update([0.5, 0.25], [1, 0], None, ids)
        return metrics

    metrics = with_ids([1, 2])
    before = metrics.state_dict()
    for other in (with_ids(None), with_ids([2, 1])):
        with pytest.raises(ValueError, match="For 'AUROC.merge', "):
            metrics.merge(other)
        assert metrics.state_dict() == before


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Perplexity(ignore_index=2.7), TypeError, "For 'Perplexity', ignore_index must be an int, but got 2.7"),
        (lambda: Accuracy(ignore_index=True), TypeError, "ignore_index must be an int, but got True"),
        (lambda: Accuracy(ignore_index=2**64), ValueError, "ignore_index must fit 64 bits"),
        (lambda: Perplexity(vocab_size="5"), TypeError, "vocab_size must be an int, but got '5'"),
        (lambda: Perplexity(shift="no"), TypeError, "shift must be True or False, but got 'no'"),
        (lambda: Accuracy(name=3), TypeError, "name must be a str, but got 3"),
        (lambda: Accuracy().set_distributed(3), TypeError, "enabled must be True or False, but got 3"),
        (lambda: Accuracy().set_distributed(expected_samples="2"), TypeError, "expected_samples must be an int"),
        (lambda: Metric(states=["a"]), TypeError, "states must be a dict"),
        (lambda: Metric(states={"samples": Count()}), ValueError, "give yours another name"),
        (lambda: MetricCollection(Accuracy()), TypeError, "a dict of name -> metric or a list"),
        (lambda: MetricCollection({1: Accuracy()}), TypeError, "names must be str"),
        (lambda: Accuracy().merge(5), TypeError, "the other must be a metric, but got 5"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_by_name(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_numpy_integers_are_integers():
    metric = Perplexity(ignore_index=np.int64(-100), vocab_size=np.int32(7))
    metric.update(LOGITS, LABELS)
    assert metric.eval().signature.startswith("perplexity|ignore:-100|shift:no|unit:token|vocab:7|")


def test_a_group_may_be_given_in_the_place_of_true():
    metric = Accuracy().set_distributed("my-group")
    assert (metric._scope.distribution.enabled, metric._scope.distribution.group) == (True, "my-group")


def test_an_author_learns_what_compute_and_contribution_must_give():
    class Wrong(Metric):
        def __init__(self):
            super().__init__(states={"n": Count()})

        def _contribution(self, values):
            return {"m" if values else "n": 1, "samples": 1}

        def _compute(self, states):
            return 0.5

    with pytest.raises(TypeError, match=r"name states out of \['n', 'samples'\], but gave \['m', 'samples'\]"):
        Wrong().update(1)
    metric = Wrong()
    metric.update(0)
    with pytest.raises(TypeError, match="_compute of Wrong must return a dict of results, but gave 0.5"):
        metric.eval()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([1, 2**64 - 100], np.uint64), "labels must fit int64, but got 18446744073709551516"),
        (np.array([1, 2049], np.float16), "float16 merges numbers from 2048 on"),
        (ms.Tensor([1.0, 300.0], ms.bfloat16), "bfloat16 merges numbers from 256 on"),
        (np.ma.array([1, 2], mask=[0, 1]), "must not be a NumPy masked array"),
        (ms.Tensor(np.complex64([1, 2])), "must be real numbers"),
        ([np.nan, 1.0], "not whole numbers, such as nan"),
    ],
)
def test_labels_that_would_change_on_the_way_are_refused(labels, message):
    for metric in (Accuracy(), Perplexity()):
        with pytest.raises((TypeError, ValueError), match=f"For '{type(metric).__name__}.update', .*{message}"):
            metric.update(np.zeros((2, 4000), np.float32), labels)
