"""BLEU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

_CHUNK_TOKENS = 1 << 20  # three numbers of 20 bits, (n-1)-gram twice and position, are sorted as one int64


def bleu_statistics(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], n_gram: int = 4
) -> np.ndarray:
    return np.concatenate(
        [np.zeros((0, 2 + 2 * n_gram), np.int64)]
        + [_statistics_of_chunk(hyps, refs, n_gram) for hyps, refs in _chunks(hypotheses, references)]
    )


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


def _statistics_of_chunk(hypotheses: Sequence, references: Sequence, n_gram: int) -> np.ndarray:
    samples = len(hypotheses)
    slots = max(map(len, references))
    # One after the other: all hypotheses, all first references, all second references, ...
    sequences = list(hypotheses)
    owner = list(range(samples))
    ends = [samples]
    for slot in range(slots):
        held = [row for row in range(samples) if slot < len(references[row])]
        sequences += [references[row][slot] for row in held]
        owner += held
        ends.append(len(sequences))
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    owners = np.array(owner, np.int64)
    statistics = np.zeros((samples, 2 + 2 * n_gram), np.int64)
    statistics[:, 0] = lengths[:samples]
    statistics[:, 1] = _closest_lengths(lengths, owners, samples)
    for n in range(n_gram):
        statistics[:, 2 + n_gram + n] = np.maximum(lengths[:samples] - n, 0)

    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    total = int(lengths.sum())
    tokens = np.fromiter(map(vocabulary.__getitem__, chain.from_iterable(sequences)), np.int64, total)
    sequence = np.repeat(np.arange(len(sequences)), lengths)
    sample = owners[sequence]
    bounds = np.concatenate([[0], np.cumsum(lengths)])[[0, *ends]]  # of each slot in the tokens
    places = np.arange(total)
    keys = sample * len(vocabulary) + tokens
    rank = np.zeros(total + 1, np.int64)
    alive = np.zeros(total + 1, bool)
    for n in range(n_gram):
        ranks, kinds = _dense_ranks(keys)
        edges = np.searchsorted(places, bounds)
        counts = [np.bincount(ranks[a:b], minlength=kinds) for a, b in zip(edges, edges[1:])]
        in_references = counts[1]
        for more in counts[2:]:
            in_references = np.maximum(in_references, more)
        matched = np.minimum(counts[0], in_references)
        sample_of_rank = np.zeros(kinds, np.int64)
        sample_of_rank[ranks] = sample[places]
        statistics[:, 2 + n] = np.bincount(sample_of_rank, weights=matched, minlength=samples)
        # A longer n-gram can match only where its two parts do.
        alive[:] = False
        alive[places] = matched[ranks] > 0
        rank[places] = ranks
        places = places[alive[places] & alive[places + 1]]
        places = places[sequence[places] == sequence[places + 1]]
        if not places.size:
            break
        keys = rank[places] * kinds + rank[places + 1]
    return statistics


def _closest_lengths(lengths: np.ndarray, owners: np.ndarray, samples: int) -> np.ndarray:
    """The length of the reference that is closest to the hypothesis, of two equally close the shorter."""
    hypothesis, reference, owner = lengths[:samples], lengths[samples:], owners[samples:]
    order = np.lexsort((reference, np.abs(reference - hypothesis[owner]), owner))
    first = order[np.searchsorted(owner[order], np.arange(samples))]
    return reference[first]


def _dense_ranks(keys: np.ndarray) -> tuple[np.ndarray, int]:
    """Equal keys get equal numbers 0..kinds-1. Sorting key and place as one int64 is faster than an argsort."""
    bits = int(keys.size).bit_length()
    if int(keys.max(initial=0)) >> (63 - bits):
        kinds, ranks = np.unique(keys, return_inverse=True)
        return ranks, len(kinds)
    together = np.sort(keys << bits | np.arange(keys.size))
    ordered = together >> bits
    ranks_in_order = np.zeros(keys.size, np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=ranks_in_order[1:])
    ranks = np.empty_like(ranks_in_order)
    ranks[together & ((1 << bits) - 1)] = ranks_in_order
    return ranks, int(ranks_in_order[-1]) + 1 if keys.size else 0
