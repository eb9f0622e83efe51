"""How results are shown: tables below their names, long ones cut, nothing twice, everything escaped."""

from __future__ import annotations

import numpy as np

from mindeval import ConfusionMatrix, F1Score
from mindeval.display import html_card, text_pairs, text_table


def test_the_table_of_classes_and_the_matrix_are_aligned():
    f1 = F1Score(average="macro")([2, 1, 0, 1], [2, 1, 0, 0])
    assert "\n  class  precision  recall        f1  support  predicted\n" in f1.describe()
    assert "\n      1        0.5       1  0.666667        1          2\n" in f1.describe()
    confusion = ConfusionMatrix(num_classes=2)(np.zeros(12, int), np.array([0] * 10 + [1] * 2))
    assert "\nmatrix\n  10  0\n   2  0\n" in confusion.describe()  # rows are labels


def test_long_tables_are_cut_and_wide_ones_stay_a_line():
    shown = text_pairs({"per_class": {"class": list(range(1000)), "f1": [0.5] * 1000}})
    assert len(shown.split("\n")) == 1 + 2 + 20 + 1 and shown.endswith("... 1,000 rows in all")
    assert len(text_pairs({"matrix": np.eye(13, dtype=int).tolist()}).split("\n")) == 1


def test_names_stand_to_the_left_and_numbers_to_the_right():
    assert text_table(["k", "n"], [["law", 5], ["physics", 10]]).split("\n")[2] == "law       5"
    assert text_table(["id", "n"], [[5, 5], [1000, 10]]).split("\n")[2] == "    5   5"


def test_a_card_shows_the_value_once_and_escapes_the_tables():
    card = html_card("f1", 0.25, {"f1": 0.25, "by_group": {"<law>": {"accuracy": 0.75}}, "mean": 0.25})
    assert card.count(">0.25<") == 2  # the value, and another figure that happens to equal it
    assert ">f1</td>" not in card and "&lt;law&gt;" in card and "<law>" not in card
    assert html_card("f1", float("nan"), {"f1": float("nan")}).count("nan") == 1
