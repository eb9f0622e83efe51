"""Longest common subsequences: their length, and the tokens of a reference that rouge-score's choice of them covers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from rapidfuzz.distance import LCSseq

Tokens = Sequence[Hashable]

_REVERSED_BYTES = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def lcs_length(first: Tokens, second: Tokens) -> int:
    """The length of the longest common subsequence.

    >>> lcs_length("the cat sat".split(), "the dog sat".split())
    2
    """
    numbers: defaultdict[Hashable, int] = defaultdict()  # rapidfuzz compares hashes, and only numbers are their own
    numbers.default_factory = numbers.__len__
    return LCSseq.similarity(list(map(numbers.__getitem__, first)), list(map(numbers.__getitem__, second)))


def union_lcs_counts(reference: Sequence[Tokens], candidate: Sequence[Tokens]) -> Counter:
    """The tokens of the reference's sentences that a common subsequence with some candidate sentence covers.

    Two sentences may have several longest common subsequences, and ROUGE-Lsum depends on which one is taken. This is
    the one that rouge-score reads out of its table: from the end, the diagonal where the tokens are equal, else
    backwards in the candidate if the table is larger there, else backwards in the reference.

    All candidate sentences are bits of one integer, with a separator bit behind each. Hyyrö's recurrence (2004) makes
    a row of the table for each reference token, whose zero bits are where the row rises from left to right. Where a
    row is higher than the one before is what a subtraction of the bits it lost and gained leaves behind. The way back
    is made for all candidate sentences at once, too: a cursor for each that an addition carries over all cells it
    walks through. A carry moves to higher bits, so the way back needs the bits in reverse order.

    Args:
        reference: the tokens of each sentence of the reference.
        candidate: the tokens of each sentence of the candidate.

    Returns:
        token -> how many of its occurrences in the reference are covered.

    >>> union_lcs_counts([[1, 2, 3, 4, 5]], [[1, 2, 6, 7, 8], [1, 3, 8, 9, 5]]) == {1: 1, 2: 1, 3: 1, 5: 1}
    True
    """
    distinct = {tuple(sentence) for sentence in candidate if len(sentence)}
    table = _CandidateBits(distinct)
    covered: Counter = Counter()
    for sentence in reference:
        if tuple(sentence) in distinct:  # the diagonal all along
            covered.update(sentence)
        else:
            covered.update(table.covered(sentence))
    return covered


class _CandidateBits:
    """Where each token occurs in the sentences of a candidate, as bits of one integer."""

    def __init__(self, sentences: set[tuple]) -> None:
        places: dict[Hashable, int] = {}
        place_of = places.get
        separators = ends = 0
        bit = 1
        for sentence in sentences:
            for token in sentence:
                places[token] = place_of(token, 0) | bit
                bit <<= 1
            ends |= bit >> 1
            separators |= bit
            bit <<= 1
        self.places = places
        self.bytes = (bit.bit_length() + 7) // 8
        self.separators = separators
        self.tokens = (bit - 1) ^ separators
        self.ends_reversed = self.reversed(ends)
        self.views: dict[Hashable, tuple[int, int, int] | None] = {}

    def reversed(self, bits: int) -> int:
        return int.from_bytes(bits.to_bytes(self.bytes, "little").translate(_REVERSED_BYTES), "big")

    def view(self, token: Hashable) -> tuple[int, int, int] | None:
        """The places of a token, those of the other tokens, and its own in reverse order; None if it has none."""
        places = self.places.get(token)
        view = (places, self.tokens ^ places, self.reversed(places)) if places else None
        self.views[token] = view
        return view

    def covered(self, sentence: Tokens) -> list:
        """The tokens of a reference sentence on the way back through the tables with all candidate sentences."""
        found = []
        size = self.bytes
        cursors = self.ends_reversed
        for token, places, walked_over in reversed(self.rows(sentence)):
            if walked_over:
                walk = int.from_bytes(walked_over.to_bytes(size, "little").translate(_REVERSED_BYTES), "big")
                cursors = (cursors + walk) & ~walk
            equal = cursors & places
            if equal:
                found.append(token)
                cursors = (cursors ^ equal) | (equal << 1)  # a cursor that leaves its sentence rests on the separator
        return found

    def rows(self, sentence: Tokens) -> list[tuple[Hashable, int, int]]:
        """For each token that the candidate holds: it, its places reversed, and where the way back goes left."""
        rows = []
        flat = tokens = self.tokens  # no row rises anywhere yet
        separators, views = self.separators, self.views
        for token in sentence:
            view = views[token] if token in views else self.view(token)
            if view:
                places, others, places_reversed = view
                first = flat & places
                after = ((flat + first) | (flat ^ first)) & tokens
                changed = flat ^ after
                higher = ((changed & after) | separators) - (changed & flat)  # than the row before
                rows.append((token, places_reversed, higher & others))
                flat = after
        return rows
