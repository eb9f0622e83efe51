"""Agreement: what fails on one rank of a training is raised, or logged, by all of them."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from mindeval import distributed, wire

logger = logging.getLogger("mindeval")


class Agreement:
    """Where the ranks of a training meet.

    Rank 0 writes the files. If it raised alone, the others would wait for it in their next collective until that times
    out. So a failure is logged at once and kept until the ranks meet, as they do for what they exchange anyway.

    Args:
        group: the ranks; by default all.
        on_error: ``"raise"``, or ``"log"``: failures are logged on all ranks, and the training goes on.
    """

    def __init__(self, group: str | None, on_error: str = "raise") -> None:
        self.group, self.on_error = group, on_error
        self._failure: tuple[bool, str, Exception] | None = None  # whether it is raised, in words, as it was

    @contextmanager
    def attempt(self, what: str, on_error: str | None = None) -> Iterator[None]:
        """Do what may fail on this rank alone. Where there is no other rank, it raises at once."""
        try:
            yield
        except Exception as error:
            is_raised = (on_error or self.on_error) == "raise"
            if is_raised and distributed.world_size(self.group) == 1:
                raise
            reason = f"{what} failed on rank {distributed.this_rank(self.group)}: {described(error)}"
            if not is_raised:
                logger.error("%s; training goes on without it", reason)
            else:
                logger.error("%s; all ranks raise it when they meet", reason, exc_info=error)
            if self._failure is None or (is_raised and not self._failure[0]):
                self._failure = is_raised, reason, error

    def exchange(self, text: str = "") -> list[str]:
        """Every rank's text, by rank. All ranks call it: one AllReduce if nobody has anything to say, otherwise two.

        Raises:
            RuntimeError: if an attempt failed on any rank since they met; where it failed, what was raised there.
        """
        return self._meet(text)[0]

    def succeeded(self) -> bool:
        """Whether no attempt failed on any rank since they met, which raises unless failures are logged."""
        return not self._meet("")[1]

    def _meet(self, text: str) -> tuple[list[str], list[str]]:
        """Every rank's text, and what failed."""
        if distributed.world_size(self.group) == 1:
            failures = [] if self._failure is None else [self._failure[1]]
            self._failure = None
            return [text], failures
        is_raised, reason, own = self._failure or (False, "", None)
        answers = wire.everywhere(json.dumps([is_raised, reason, text]) if reason or text else "", self.group)
        told: list[tuple[bool, str, str]] = [json.loads(answer or '[false, "", ""]') for answer in answers]
        self._failure = None
        failures = [reason for _, reason, _ in told if reason]
        if any(is_raised for is_raised, _, _ in told):
            raise own or RuntimeError("; ".join(failures))
        for other in failures:
            if other != reason:
                logger.error("%s; training goes on without it", other)
        return [text for _, _, text in told], failures


def described(error: BaseException | None) -> str:
    """An error in words; nothing if there is none."""
    return "" if error is None else "".join(traceback.format_exception_only(type(error), error)).strip()
