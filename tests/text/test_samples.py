"""What update accepts, and what it says about the rest."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from mindeval.text.samples import only_texts, read_predictions, read_samples


def decode(rows):
    return ["".join(chr(97 + token) for token in row) for row in rows]


@pytest.mark.parametrize(
    ("predictions", "references", "expected"),
    [
        (["a", "b"], ["c", "d"], (["a", "b"], [["c"], ["d"]])),
        (("a", "b"), (["c"], ["d", "e"]), (["a", "b"], [["c"], ["d", "e"]])),
        (["a"], [["c", None, "d"]], (["a"], [["c", "d"]])),
        (np.array(["a", "b"]), np.array(["c", "d"]), (["a", "b"], [["c"], ["d"]])),
        (np.array(["a", "b"]), np.array([["c", "d"], ["e", "f"]]), (["a", "b"], [["c", "d"], ["e", "f"]])),
        (np.array(["a"], object), [np.array(["c", "d"])], (["a"], [["c", "d"]])),
        ([["a", "b"]], [["c", "d"]], ([["a", "b"]], [[["c", "d"]]])),
        ([["a"], []], [[["c"], ["d", "e"]], []], ([["a"], []], [[["c"], ["d", "e"]], [[]]])),
        ([], [], ([], [])),
    ],
)
def test_texts_and_tokens(predictions, references, expected):
    found = read_samples(predictions, references)
    assert (found.predictions, found.references) == expected


@pytest.mark.parametrize(
    "ids",
    [
        ms.Tensor([[0, 1], [2, -1]]),
        np.array([[0, 1], [2, -100]]),
        np.array([[0.0, 1.0], [2.0, -1.0]], np.float32),
        [[0, 1], [2]],
        [ms.Tensor([0, 1]), ms.Tensor([2])],
        [np.array([0, 1]), np.array([2])],
    ],
)
def test_ids_are_decoded_without_negative_ones(ids):
    assert read_predictions(ids, decode=decode) == ["ab", "c"]


@pytest.mark.parametrize(
    ("predictions", "references", "error", "message"),
    [
        ("ab", ["ab"], TypeError, "predictions must be a list with a text for each sample, but got the str 'ab'"),
        (["ab"], "ab", TypeError, "references must be a list with a text for each sample, but got the str 'ab'"),
        (["a", "b", "c"], [["d", "e", "f"]], ValueError, r"shape \[3, R\].*but got \[1, 3\]: this is transposed"),
        (["a", "b"], ["c"], ValueError, "got 1 references for 2 predictions"),
        (["a"], [[]], ValueError, r"references\[0\] must hold at least one reference"),
        (["a", "b"], [["c"], [None]], ValueError, r"references\[1\] must hold at least one reference"),
        (["a", 1], ["b", "c"], TypeError, r"predictions\[1\] is int"),
        (["a", ["b"]], ["b", "c"], TypeError, r"predictions\[1\] is a list of 1 str"),
        (["a"], [[["b"]]], TypeError, r"references\[0\] must be a str or a list of str, but got a list of 1 list"),
        (["a"], [3], TypeError, "decode=tokenizer.batch_decode"),
        ([["a"]], ["a"], TypeError, r"references\[0\] must be tokens"),
        ([None], ["a"], TypeError, r"predictions\[0\] is NoneType"),
        (None, ["a"], TypeError, "but got NoneType"),
        (np.array([["a"], ["b"]]), ["a", "b"], ValueError, r"shape \[N\], but got \[2, 1\]"),
        (ms.Tensor([[1, 2]]), ["a"], TypeError, r"got int64 \[1, 2\]: to score token ids, give the metric decode="),
    ],
)
def test_what_does_not_fit_is_named(predictions, references, error, message):
    with pytest.raises(error, match=message):
        read_samples(predictions, references)


def test_decode_must_give_a_text_for_each_row():
    with pytest.raises(TypeError, match="decode must turn 2 rows of ids"):
        read_predictions(np.array([[1], [2]]), decode=lambda rows: "ab")
    with pytest.raises(ValueError, match=r"shape \[N, T\]"):
        read_predictions(np.array([1, 2]), decode=decode)


def test_a_mask_is_boolean_and_as_long_as_the_batch():
    assert read_samples(["a", "b"], ["c", "d"], np.array([False, True])).predictions == ["b"]
    with pytest.raises(TypeError, match="mask must be boolean"):
        read_samples(["a"], ["b"], np.array([1]))
    with pytest.raises(ValueError, match=r"mask must have shape \[1\], but got \[2\]"):
        read_samples(["a"], ["b"], np.array([True, True]))


def test_nfkc_reaches_texts_and_tokens():
    assert read_samples(["Ａ"], [["ｂ", "①"]], nfkc=True)[:2] == (["A"], [["b", "1"]])
    assert read_samples([["Ａ"]], [["e\u0301"]], nfkc=True)[:2] == ([["A"]], [[["\u00e9"]]])


def test_tokens_are_refused_where_the_text_is_needed():
    with pytest.raises(TypeError, match="but got lists of tokens"):
        only_texts(read_samples([["a"]], [["b"]]))


@pytest.mark.parametrize(
    "references",
    [
        [[[0, 1], [2]], [[3]]],
        [[[0, 1], [2, -100]], [3]],
        [[np.array([0, 1]), (2,)], ms.Tensor([[3]])],
        [np.array([[0, 1], [2, -1]]), [[3]]],
    ],
)
def test_a_sample_may_have_its_own_number_of_references_as_ids(references):
    samples = read_samples([[0], [1]], references, decode=decode)
    assert (samples.predictions, samples.references) == (["a", "b"], [["ab", "c"], ["d"]])


def test_a_prediction_is_one_row_of_ids():
    with pytest.raises(ValueError, match="each of predictions must be a row of ids, but got shape"):
        read_predictions([[[1], [2]]], decode=decode)
