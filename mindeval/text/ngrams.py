"""Counting the n-grams that texts have in common: a whole batch at a time, exactly, without hashing n-grams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

Tokens = Sequence[str]

_CHUNK_TOKENS = 1 << 20  # so that two ranks and a place, 21 bits each, are sorted as one int64


def matched_ngrams(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]], max_order: int) -> np.ndarray:
    """How many n-grams of each hypothesis its references hold, for n = 1 to ``max_order``.

    An n-gram counts as often as the hypothesis holds it, but no more often than the reference that holds it most.

    Args:
        hypotheses: N lists of tokens.
        references: N lists of one or more references, each a list of tokens.
        max_order: the longest n-grams.

    Returns:
        int64 [N, max_order].

    >>> matched_ngrams([["a", "b", "a"]], [[["a", "b"], ["b", "a"]]], 2)
    array([[2, 2]])
    """
    parts = [_matched_in_chunk(*chunk, max_order) for chunk in _chunks(hypotheses, references)]
    return np.concatenate([np.zeros((0, max_order), np.int64), *parts])


def ngram_totals(lengths: np.ndarray, max_order: int) -> np.ndarray:
    """How many n-grams token lists of these lengths hold, for n = 1 to ``max_order``: int64 [N, max_order].

    >>> ngram_totals(np.array([3, 1]), 2)
    array([[3, 2],
           [1, 0]])
    """
    return np.maximum(np.asarray(lengths, np.int64)[:, None] - np.arange(max_order), 0)


def _chunks(hypotheses: Sequence, references: Sequence) -> Iterator[tuple[Sequence, Sequence]]:
    start = tokens = 0
    for row, (hypothesis, several) in enumerate(zip(hypotheses, references)):
        more = len(hypothesis) + sum(map(len, several)) + 1
        if row > start and tokens + more > _CHUNK_TOKENS:
            yield hypotheses[start:row], references[start:row]
            start, tokens = row, 0
        tokens += more
    if len(hypotheses) > start:
        yield hypotheses[start:], references[start:]


def _matched_in_chunk(hypotheses: Sequence, references: Sequence, max_order: int) -> np.ndarray:
    """Each n-gram gets a number (its rank) from the numbers of the two (n-1)-grams it consists of.

    The numbers are of one sample each, because those of the single tokens are. A longer n-gram can match only where
    both its parts do, so the work shrinks with n.
    """
    samples = len(hypotheses)
    sequences, owners, slots = _in_slots(hypotheses, references)
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    sequence = np.repeat(np.arange(len(sequences)), lengths)
    sample = owners[sequence]
    slot_edges = np.concatenate([[0], np.cumsum(lengths)])[slots]
    tokens, vocabulary = _numbered(sequences, len(sequence))

    matches = np.zeros((samples, max_order), np.int64)
    places = np.arange(len(sequence))
    keys = sample * vocabulary + tokens
    rank_at = np.zeros(len(sequence) + 1, np.int64)
    for order in range(max_order):
        ranks, kinds = _dense_ranks(keys)
        edges = np.searchsorted(places, slot_edges)
        in_hypothesis, *in_references = (
            np.bincount(ranks[start:end], minlength=kinds) for start, end in zip(edges, edges[1:])
        )
        matched = np.minimum(in_hypothesis, np.maximum.reduce(in_references))
        sample_of = np.zeros(kinds, np.int64)
        sample_of[ranks] = sample[places]
        matches[:, order] = np.bincount(sample_of, weights=matched, minlength=samples)

        alive = np.zeros(len(sequence) + 1, bool)
        alive[places] = matched[ranks] > 0
        rank_at[places] = ranks
        places = places[alive[places] & alive[places + 1]]
        places = places[sequence[places] == sequence[places + 1]]
        if not places.size:
            break
        keys = rank_at[places] * kinds + rank_at[places + 1]
    return matches


def _in_slots(hypotheses: Sequence, references: Sequence) -> tuple[list, np.ndarray, list[int]]:
    """All hypotheses, then all first references, all second ones, ...: with their samples and where each begins."""
    sequences, owners, slots = list(hypotheses), list(range(len(hypotheses))), [0, len(hypotheses)]
    for slot in range(max(map(len, references))):
        for row, several in enumerate(references):
            if slot < len(several):
                sequences.append(several[slot])
                owners.append(row)
        slots.append(len(sequences))
    return sequences, np.array(owners, np.int64), slots


def _numbered(sequences: Sequence, total: int) -> tuple[np.ndarray, int]:
    """The tokens of all sequences as numbers, and how many different ones there are."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    tokens = np.fromiter(map(numbers.__getitem__, chain.from_iterable(sequences)), np.int64, total)
    return tokens, len(numbers)


def _dense_ranks(keys: np.ndarray) -> tuple[np.ndarray, int]:
    """Equal keys get equal numbers from 0 on; and how many numbers there are."""
    bits = int(keys.size).bit_length()
    if keys.size == 0 or int(keys.max()) >> (63 - bits):
        kinds, ranks = np.unique(keys, return_inverse=True)
        return ranks, len(kinds)
    ordered = np.sort(keys << bits | np.arange(keys.size))  # key and place as one number: much faster than an argsort
    changes = (ordered[1:] >> bits) != (ordered[:-1] >> bits)
    ranks = np.empty(keys.size, np.int64)
    ranks[ordered & ((1 << bits) - 1)] = np.concatenate([[0], np.cumsum(changes)])
    return ranks, int(changes.sum()) + 1
