"""Findings: what a diagnosis is made of, and when a finding is one. ``curves`` and ``scores`` look for them."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from mindeval.training.advice import TEXTS
from mindeval.training.numbers import as_float


@dataclass(frozen=True)
class Thresholds:
    """When a finding is one. Shares are relative: 0.02 is two per cent.

    Args:
        points: training windows that are needed to judge a curve.
        evaluations: evaluations that are needed to judge their curve.
        not_falling: the loss fell by less than this share from the first to the last fifth of the run, or than noise
            alone would make it.
        rising_again: after a fall it ends above its lowest level by this share.
        plateau: it fell (or rose) by less than this share in the last 60 % of the run, after it had fallen before.
        still_falling: it fell by more than this share from the last but one fifth to the last, and the evaluation loss,
            where it is known, got lower in the second half of its evaluations.
        spike: a window is above the median of the eight before it by this share of it and of the whole curve's ...
        spike_noise: ... and by so many times their noise.
        overfit_rise: the evaluation loss ends above its lowest value by this share ...
        overfit_noise: ... and by so many times its noise (or, of fewer than 8 evaluations, each is above the one before
            and the last ones by three times that share),
        overfit_train_fall: while the training loss fell by this share.
        gap: the evaluation loss is above the training loss by this share at the end.
        score_fall: a generation score fell by this share from its best, while the evaluation loss fell.
        chance: an accuracy is as near as this to chance; where its number of samples is known, within two standard
            errors.
        yes_rate: the share of "yes" is as near as this to 0 or 1.
        mass: the candidates' probability is below this.

    Raises:
        TypeError: for a threshold that is no number.
        ValueError: for one that is NaN or negative, or fewer points or evaluations than 2.
    """

    points: int = 10
    evaluations: int = 4
    not_falling: float = 0.02
    rising_again: float = 0.05
    plateau: float = 0.01
    still_falling: float = 0.08
    spike: float = 0.3
    spike_noise: float = 8.0
    overfit_rise: float = 0.03
    overfit_noise: float = 4.0
    overfit_train_fall: float = 0.02
    gap: float = 0.3
    score_fall: float = 0.1
    chance: float = 0.02
    yes_rate: float = 0.03
    mass: float = 0.1

    def __post_init__(self) -> None:
        for limit in fields(self):
            given = getattr(self, limit.name)
            number = as_float(given)
            if number is None:
                raise TypeError(f"For 'diagnose', the threshold {limit.name!r} must be a number, but got {given!r}")
            least = 2 if limit.name in ("points", "evaluations") else 0
            if not number >= least:
                raise ValueError(f"For 'diagnose', the threshold {limit.name!r} must be >= {least}, but got {given!r}")
            object.__setattr__(self, limit.name, number)


@dataclass(frozen=True)
class Finding:
    """One thing that was found: its kind, ``"error"``, ``"warning"`` or ``"note"``, and the numbers that show it."""

    kind: str
    severity: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def message(self, language: str = "en") -> str:
        """What was found, with its numbers."""
        return _text(self.kind, language)[0].format(**{k: _shown(v) for k, v in self.evidence.items()})

    def advice(self, language: str = "en") -> str:
        """What can be done about it."""
        return _text(self.kind, language)[1].format(**{k: _shown(v) for k, v in self.evidence.items()})


@dataclass(frozen=True)
class Diagnosis:
    """The findings, the worst first. It is false when there are none.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> from mindeval.training import diagnose
    >>> found = diagnose({"bleu": 0.0})
    >>> found.kinds, bool(found)
    (['zero_score'], True)
    """

    findings: tuple[Finding, ...]
    judged: tuple[str, ...] = ()  # the curves and scores that there was enough of to judge

    @property
    def kinds(self) -> list[str]:
        """The kinds of the findings."""
        return [finding.kind for finding in self.findings]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def text(self, language: str = "en") -> str:
        """The findings with evidence and advice, in English (``"en"``) or Chinese (``"zh"``)."""
        if not self.findings:
            judged = ", ".join(self.judged) or _text("nothing_to_judge", language)[0]
            return _text("nothing_found", language)[0].format(judged=judged)
        lines = []
        for number, finding in enumerate(self.findings, 1):
            lines.append(f"{number}. [{_text(finding.severity, language)[0]}] {finding.message(language)}")
            lines.append(f"   {_text('advice', language)[0]}{finding.advice(language)}")
        return "\n".join(lines)

    def to_dict(self, language: str = "en") -> dict[str, Any]:
        """JSON-ready: findings with kind, severity, evidence, message and advice, and what was judged."""
        found = [
            {**asdict(finding), "message": finding.message(language), "advice": finding.advice(language)}
            for finding in self.findings
        ]
        return {"findings": found, "judged": list(self.judged)}

    def json(self, language: str = "en") -> str:
        """``to_dict`` as JSON; numbers that are not finite are texts."""
        return json.dumps(_finite(self.to_dict(language)), ensure_ascii=False, indent=2, allow_nan=False)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def _text(kind: str, language: str) -> tuple[str, str]:
    if language not in ("en", "zh"):
        raise ValueError(f"For 'Diagnosis', language must be 'en' or 'zh', but got {language!r}")
    return TEXTS[kind][language]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(str, value[:6])) + (", ..." if len(value) > 6 else "")
    return str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
