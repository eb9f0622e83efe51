"""A word to those who give one-hot labels where they would be read as labels of many binary problems."""

from __future__ import annotations

import warnings

import numpy as np

from mindeval.classification._labels import is_one_hot


def warn_of_one_hot_labels(labels: np.ndarray) -> None:
    """Warn where labels [N, L], which come with as many scores, look like one-hot rows.

    No error: labels of binary problems may look so by chance, and whether a batch is taken must not depend on how the
    data was cut.
    """
    if is_one_hot(labels):
        warnings.warn(
            f"labels {list(labels.shape)} look one-hot, but are taken for {labels.size} labels of binary problems: "
            f"give labels.argmax(-1), with num_classes={labels.shape[1]} for curves, or say task='multilabel' "
            "(task='binary' if they are binary labels)",
            RuntimeWarning,
            stacklevel=3,
        )
