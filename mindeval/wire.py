"""The wire format: states as int64 words, and their exact sum over ranks by one AllReduce.

Every rank sends one frame of ``FRAME`` words. Its header says whether all ranks agree on what is summed and whether
any of them failed: each part h of the agreement's hash is sent as h and h squared, and by the Cauchy-Schwarz
inequality ``(sum h)^2 == W * sum h^2`` holds only if all ranks sent the same. So a plain sum gives every rank the
same verdict. What does not fit the frame follows in a second AllReduce. States whose size is not known beforehand are
exchanged in between, by an AllReduce in which every rank fills a segment of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindeval import distributed
from mindeval.communicator import Communicator, DistributedError, MindSporeCommunicator
from mindeval.state import State

FORMAT = 1
FRAME = 1024
_MAGIC = 0x6D696E64
_RANKS, _FAILED, _HASH, _BODY = 1, 2, 3, 16  # places in the frame; the magic is at 0
_HASH_PARTS, _HASH_BITS = 3, 21  # a square has 42 bits: exact for up to 2^21 ranks

States = Mapping[str, Mapping[str, State]]


class Disagreement(DistributedError):
    """Ranks hold different metrics, or evaluated or cleared them a different number of times."""


def reduce(
    states: States, agreement: list[str], error: BaseException | None, contributes: bool, communicator: Communicator
) -> dict[str, dict[str, State]]:
    """The states of all ranks, merged.

    Args:
        states: metric -> state name -> this rank's state. They are left as they are.
        agreement: lines that must be the same on every rank; the layouts of the states are added.
        error: what failed on this rank before, if anything did.
        contributes: False: this rank sends empty states.
        communicator: the ranks.

    Raises:
        DistributedError: on every rank alike, if any of them failed or they do not agree.
    """
    world = communicator.world
    order = [
        (metric, name, state) for metric, members in sorted(states.items()) for name, state in sorted(members.items())
    ]
    lines = [f"format {FORMAT}", *agreement, *(f"{metric}.{name} {state.layout}" for metric, name, state in order)]
    merged = [state.zero() for _, _, state in order]
    mine = [state if contributes else state.zero() for _, _, state in order]
    any_dynamic = any(state.dynamic for state in mine)

    announced: list[bytes] = []
    words = np.zeros(sum(state.size for state in mine if not state.dynamic), np.int64)
    if error is None:
        try:
            words = _concatenated([state.pack(world) for state in mine if not state.dynamic])
            announced = [state.announce() for state in mine if state.dynamic]
            for state in mine:
                if state.dynamic:
                    state.pack(world)  # in time: once ranks have agreed, no single one may fail
        except Exception as failure:  # a rank that cannot pack must still take part
            error = failure
    content = b"".join(len(part).to_bytes(8, "little") + part for part in announced)
    lengths = np.zeros(world if any_dynamic else 0, np.int64)
    if any_dynamic:
        lengths[communicator.rank] = len(content)

    inline = FRAME - _BODY
    fits = lengths.size + words.size <= inline
    body = np.concatenate([lengths, words]) if fits else lengths
    frame = communicator.all_reduce(packed_frame("\n".join(lines), body if body.size <= inline else None, error))
    _raise_verdict(frame, "\n".join(lines), error, communicator)
    body = frame[_BODY : _BODY + body.size] if body.size <= inline else communicator.all_reduce(body)
    lengths, reduced = body[: lengths.size], body[lengths.size :]

    late = [(own, state) for own, state in zip(mine, merged) if own.dynamic]
    if late:
        everything = _exchanged(content, lengths, communicator)
        for place, (_, state) in enumerate(late):
            state.absorb([_part(rank_content, place) for rank_content in everything])
    if not fits or any(state.size for _, state in late):
        sent = [] if fits else [words]
        received = communicator.all_reduce(_concatenated(sent + [_widened(own, state, world) for own, state in late]))
        reduced = reduced if fits else received[: words.size]
        _unpack([state for _, state in late], received[0 if fits else words.size :])
    _unpack([state for own, state in zip(mine, merged) if not own.dynamic], reduced)

    result: dict[str, dict[str, State]] = {metric: {} for metric in states}
    for (metric, name, _), state in zip(order, merged):
        result[metric][name] = state
    return result


def packed_frame(agreement: str, body: np.ndarray | None, error: BaseException | None) -> np.ndarray:
    """The frame that a rank sends: header and, unless it failed, the body."""
    frame = np.zeros(FRAME, np.int64)
    frame[0], frame[_RANKS], frame[_FAILED] = _MAGIC, 1, int(error is not None)
    for place, part in enumerate(_hash_parts(agreement)):
        frame[_HASH + 2 * place : _HASH + 2 * place + 2] = part, part * part
    if error is None and body is not None:
        frame[_BODY : _BODY + body.size] = body
    return frame


def verdict(frame: np.ndarray, world: int) -> str:
    """What a reduced frame says, on every rank the same: ``ok``, ``foreign``, ``failed`` or ``differ``."""
    if int(frame[0]) != _MAGIC * world or int(frame[_RANKS]) != world:
        return "foreign"
    if frame[_FAILED]:
        return "failed"
    pairs = ((int(frame[_HASH + 2 * p]), int(frame[_HASH + 2 * p + 1])) for p in range(_HASH_PARTS))
    return "ok" if all(total**2 == world * squares for total, squares in pairs) else "differ"


def _hash_parts(text: str) -> list[int]:
    digest = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    return [(digest >> (_HASH_BITS * place)) & ((1 << _HASH_BITS) - 1) for place in range(_HASH_PARTS)]


def _raise_verdict(frame: np.ndarray, agreement: str, error: BaseException | None, communicator: Communicator) -> None:
    found = verdict(frame, communicator.world)
    if found == "foreign":
        communicator.give_up("another collective met the metrics' AllReduce, so ranks do not make the same calls")
    if found == "failed":
        reasons = _texts("" if error is None else _described(error), communicator)
        failed = "; ".join(f"rank {rank}: {reason}" for rank, reason in enumerate(reasons) if reason)
        raise DistributedError(f"a metric failed on {failed}") from error
    if found == "differ":
        raise Disagreement(
            "ranks hold different metrics, or evaluated or cleared them a different number of times:"
            + _difference(_texts(agreement, communicator))
        )


def everywhere(text: str, group: str | None = None) -> list[str]:
    """Every rank's text, by rank: for decisions that all ranks must take alike. Two AllReduces; alone without any."""
    if distributed.world_size(group) == 1:
        return [text]
    return _texts(text, MindSporeCommunicator(group), None)


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # the others wait for this rank's reason, whatever it is
        return f"{type(error).__name__}, which cannot be printed"


def _texts(text: str, communicator: Communicator, most: int | None = 16384) -> list[str]:
    """Every rank's text, or so many bytes of it. The metrics use it only where something is wrong."""
    content = text.encode(errors="backslashreplace")[:most]  # a broken text is a reason like any other
    lengths = np.zeros(communicator.world, np.int64)
    lengths[communicator.rank] = len(content)
    parts = _exchanged(content, communicator.all_reduce(lengths), communicator)
    return [part.decode(errors="replace") for part in parts]


def _exchanged(content: bytes, lengths: np.ndarray, communicator: Communicator) -> list[bytes]:
    """Every rank's bytes, given their lengths: an AllReduce in which each rank fills its own segment of words."""
    counts = [-(-int(length) // 8) for length in lengths]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
    segment = np.frombuffer(content.ljust(counts[communicator.rank] * 8, b"\0"), "<i8")
    words = np.zeros(int(starts[-1]), np.int64)
    if words.size == 0:
        return [b""] * communicator.world
    words[starts[communicator.rank] : starts[communicator.rank] + segment.size] = segment
    everything = communicator.all_reduce(words).astype("<i8").tobytes()
    return [everything[8 * start : 8 * start + int(length)] for start, length in zip(starts, lengths)]


def _part(content: bytes, place: int) -> bytes:
    """The ``place``-th of the parts that each came behind its length."""
    at = 0
    for _ in range(place):
        at += 8 + int.from_bytes(content[at : at + 8], "little")
    return content[at + 8 : at + 8 + int.from_bytes(content[at : at + 8], "little")]


def _widened(own: State, agreed: State, world: int) -> np.ndarray:
    """The words of this rank's state in the layout of the agreed one, which has every rank's groups."""
    if not agreed.size:
        return np.zeros(0, np.int64)
    wide: Any = agreed.zero()
    wide.absorb([agreed.announce()])
    wide.merge(own)
    return wide.pack(world)


def _unpack(states: list[State], words: np.ndarray) -> None:
    at = 0
    for state in states:
        state.unpack(words[at : at + state.size])
        at += state.size


def _concatenated(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _difference(texts: list[str]) -> str:
    """The lines that not all ranks have, by ranks."""
    lines = [text.split("\n") for text in texts]
    common = set(lines[0]).intersection(*lines)
    ranks_of: dict[str, list[int]] = {}
    for rank, own in enumerate(lines):
        ranks_of.setdefault("; ".join(line for line in own if line not in common) or "(nothing more)", []).append(rank)
    return "".join(f"\n  ranks {ranks}: {text}" for text, ranks in ranks_of.items())
