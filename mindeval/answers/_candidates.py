"""The token ids of short answers ("Yes", "B") as a model would write them after the real end of its prompt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

VARIANTS = ("all", "exact")


@dataclass(frozen=True)
class Candidate:
    """One surface form of a class, with the ids that continue the context.

    Attributes:
        label: The class that it stands for.
        text: The form, with its leading space if it has one; empty where ids were given.
        ids: Token ids after the context's own.
    """

    label: str
    text: str
    ids: tuple[int, ...]


def encoder(tokenizer: Any) -> Callable[[str], list[int]]:
    """``text -> ids`` of a tokenizer, without special tokens where it has a switch for them.

    Hugging Face, MindFormers, ``tokenizers``, mistral-common and tiktoken-like objects are understood, and any function
    from a text to ids.
    """
    encode = getattr(tokenizer, "encode", tokenizer)
    if not callable(encode):
        raise TypeError(f"tokenizer must have an encode() method or be a function, but got {type(tokenizer).__name__}")
    try:
        known = set(inspect.signature(encode).parameters)
    except (TypeError, ValueError):  # a compiled function without a signature
        known = set()
    switches = {name: False for name in ("add_special_tokens", "bos", "eos", "add_bos", "add_eos") if name in known}

    def ids(text: str) -> list[int]:
        encoded = encode(text, **switches)
        encoded = encoded["input_ids"] if isinstance(encoded, Mapping) else getattr(encoded, "ids", encoded)
        return [int(token) for token in encoded]

    return ids


def continuation(encode: Callable[[str], list[int]], context: str, text: str) -> tuple[int, ...] | None:
    """The ids that ``text`` adds after ``context``, or None where the context's own ids do not stay as they are.

    Both are encoded together: ``" Yes"`` by itself may be other ids than after ``"Answer:"``.
    """
    before, both = encode(context), encode(context + text)
    return tuple(both[len(before) :]) if both[: len(before)] == before and len(both) > len(before) else None


def build(
    tokenizer: Any, classes: Mapping[str, Sequence[str]], context: str, variants: str, cases: bool
) -> tuple[list[Candidate], dict[str, str]]:
    """The candidates of each class, and the forms that were left out with the reason.

    Args:
        tokenizer: See ``encoder``.
        classes: label -> surface forms.
        context: The text that precedes the answer: the end of the real prompt.
        variants: ``"exact"`` takes the forms as they are written, ``"all"`` each with and without a leading space.
        cases: Whether ``"all"`` also means lower case, upper case and a capital first letter.
    """
    if variants not in VARIANTS:
        raise ValueError(f"variants must be 'all' or 'exact', but got {variants!r}")
    encode = encoder(tokenizer)
    _refuse_appended(encode)
    found, left_out = [], {}
    for label, forms in classes.items():
        for form in _forms(forms, variants, cases):
            ids = continuation(encode, context, form)
            if ids is not None:
                found.append(Candidate(label, form, ids))
                continue
            left_out[form] = "the tokenizer merges it with the end of the context"
            if variants == "exact" or (context[-1:].isspace() and not form[:1].isspace()):
                raise ValueError(
                    f"the ids of the context {context!r} must stay as they are when {form!r} follows, but the "
                    f"tokenizer "
                    "merges them: end the context before the white space, and begin the form with it"
                )
    return _unique(found), left_out


def given(classes: Mapping[str, Sequence[Any]]) -> list[Candidate]:
    """Candidates from ids: each form is an id or a sequence of ids."""
    found = []
    for label, forms in classes.items():
        forms = forms.tolist() if isinstance(forms, np.ndarray) else forms
        if not _is_id(forms) and not isinstance(forms, (list, tuple)):
            raise TypeError(f"ids of {label!r} must be token ids or sequences of them, but got {forms!r}")
        for form in [forms] if _is_id(forms) else forms:
            ids: list[Any] = [form] if _is_id(form) else list(form) if isinstance(form, (list, tuple)) else []
            if not ids or not all(_is_id(token) and token >= 0 for token in ids):
                raise ValueError(f"ids of {label!r} must be token ids or sequences of them, but got {form!r}")
            found.append(Candidate(label, "", tuple(map(int, ids))))
    return _unique(found)


def _is_id(token: Any) -> bool:
    return isinstance(token, (int, np.integer)) and not isinstance(token, bool)


def check(candidates: Sequence[Candidate], labels: Sequence[str], single: bool) -> list[Candidate]:
    """The candidates to score: every class has one, no two classes can be confused.

    Args:
        single: Whether one row of logits is all there is, so that forms of several tokens are left out.

    Raises:
        ValueError: If a class has no form, or two classes share an id or one's form begins the other's.
    """
    kept = [c for c in candidates if len(c.ids) == 1 or not single]
    for label in labels:
        forms = [c for c in candidates if c.label == label]
        if not any(c.label == label for c in kept):
            raise ValueError(
                f"class {label!r} must have a form of one token to be read from next-token logits, but its forms are "
                f"{[(c.text, list(c.ids)) for c in forms]}: use log-likelihoods (inputs='nll') instead"
            )
    by_ids: dict[tuple[int, ...], str] = {}
    for c in kept:
        for length in range(1, len(c.ids) + 1):
            other = by_ids.get(c.ids[:length])
            if other is not None and other != c.label:
                raise ValueError(
                    f"classes {other!r} and {c.label!r} must differ, but both have the ids {list(c.ids[:length])}"
                )
        by_ids[c.ids] = c.label
    for c in kept:
        for length in range(1, len(c.ids)):
            if by_ids.get(c.ids[:length], c.label) != c.label:
                raise ValueError(
                    f"classes must differ, but {by_ids[c.ids[:length]]!r} begins {c.text!r} of {c.label!r}"
                )
    beginnings = {c.ids for c in kept}  # P("No") holds P("No way") already
    return [c for c in kept if not any(c.ids[:length] in beginnings for length in range(1, len(c.ids)))]


def exclusive(candidates: Sequence[Candidate]) -> bool:
    """Whether only one of the candidates can come next: each is one token."""
    return all(len(candidate.ids) == 1 for candidate in candidates)


def _forms(forms: Sequence[str], variants: str, cases: bool) -> list[str]:
    if isinstance(forms, str):
        raise TypeError(
            f"the forms of a class must be a sequence of str, such as ({forms!r},), but got the str {forms!r}"
        )
    if variants == "exact":
        return list(dict.fromkeys(forms))
    written = []
    for form in forms:
        bare = form.strip()
        spellings = [bare, bare.lower(), bare.upper(), bare.capitalize()] if cases else [bare]
        spaces = ("", " ") if bare[:1].isascii() else ("",)
        written += [space + spelling for spelling in spellings for space in spaces]
    return list(dict.fromkeys(written))


def _unique(candidates: list[Candidate]) -> list[Candidate]:
    return list({(c.label, c.ids): c for c in reversed(candidates)}.values())[::-1]


def _refuse_appended(encode: Callable[[str], list[int]]) -> None:
    """A tokenizer that ends every text with the same id would make that id the answer to everything."""
    ends = {tuple(encode(text)[-1:]) for text in ("one", "2", "Yes.")}
    if len(ends) == 1:
        raise ValueError(
            f"the tokenizer must not append a token to every text, but each ends in id {list(ends.pop())}: load it "
            "without the end-of-sequence token (add_eos_token=False)"
        )


def shown_ids(candidates: Sequence[Candidate], label: str) -> str:
    """The ids of a class's forms, for signatures: "3+5-6"."""
    return "+".join("-".join(map(str, c.ids)) for c in candidates if c.label == label)
