"""Answer extraction on real generations: precision, coverage, labels and published accuracies reproduced, speed.

    python benchmarks/answers.py --shared ../shared

The generations are not part of the repository: GPT-3's 5,276 solutions of GSM8K with OpenAI's labels
(openai/grade-school-math, MIT) and code-davinci-002's 13,022 answers to BIG-Bench Hard with the published accuracies
(suzgunmirac/BIG-Bench-Hard, MIT).

What a text says is read independently of mindeval by the procedure of each data set: the line "A: ..." for GSM8K, the
words after the last "the answer is" for BIG-Bench Hard (the whole text where the model answered directly). A text
"says" an option where that is one option, "(B)"; it says a number where that is one number. Then
    precision = extracted and equal to what the text says / extracted, over texts that say something or are extracted
    coverage  = extracted / all texts that say something
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from mindeval.answers.answer import AnswerAccuracy
from mindeval.answers.extraction import Extraction, extract_choice, extract_number, extract_yes_no

SOLUTIONS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
LETTERS = "ABCDEFGHIJKLMNOPQR"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    folder = parser.parse_args().shared / "corpora"
    gsm8k = lines(folder / "gsm8k_model_solutions.jsonl.gz")
    bbh = [row for row in lines(folder / "bbh_davinci002_outputs.jsonl.gz") if "task" in row]
    published = json.loads((folder / "bbh_published_accuracy.json").read_text())["published"]
    report_labels(gsm8k)
    report_published(bbh, published)
    report_extraction(gsm8k, bbh)


def lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def report_labels(rows: list[dict]) -> None:
    for name, extract in (("answer line", partial(extract_number, marker="A:")), ("any statement", extract_number)):
        agreeing = 0
        for row in rows:
            gold = extract(row["ground_truth"]).answer
            for solution in SOLUTIONS:
                found = extract(row[solution]["solution"]).answer
                right = None not in (found, gold) and Fraction(found) == Fraction(gold)
                agreeing += right == row[solution]["is_correct"]
        print(f"GSM8K labels reproduced ({name}): {agreeing} of {len(rows) * len(SOLUTIONS)}")


def report_published(rows: list[dict], published: dict[str, dict]) -> None:
    equal = 0
    for kind, tasks in published.items():
        for task, figure in tasks.items():
            mine = [row for row in rows if (row["kind"], row["task"]) == (kind, task)]
            metric = AnswerAccuracy("text")
            metric.update([row["prediction"] for row in mine], [row["target"] for row in mine])
            equal += abs(100 * metric.eval() - figure["accuracy"]) < 1e-9
    print(f"BIG-Bench Hard accuracies reproduced: {equal} of {sum(map(len, published.values()))}")


def report_extraction(gsm8k: list[dict], bbh: list[dict]) -> None:
    lettered = {row["task"] for row in bbh if re.fullmatch(r"\([A-Z]\)", row["target"])}
    yes_no = {row["task"] for row in bbh if row["target"].lower() in ("yes", "no")}
    numeric = {row["task"] for row in bbh if re.fullmatch(r"-?\d+", row["target"])}
    solutions = [row[name]["solution"] for row in gsm8k for name in SOLUTIONS]
    sets: list[tuple[str, list[str], Callable[[str], Extraction], Callable[[str], str | None]]] = [
        (
            "choices (BBH)",
            [row["prediction"] for row in bbh if row["task"] in lettered],
            partial(extract_choice, choices=LETTERS),
            said_option,
        ),
        ("Yes/No (BBH)", [row["prediction"] for row in bbh if row["task"] in yes_no], extract_yes_no, said_word),
        ("numbers (BBH)", [row["prediction"] for row in bbh if row["task"] in numeric], extract_number, said_number),
        ("numbers (GSM8K)", solutions, extract_number, said_line),
    ]
    heads = ("texts", "say one", "extracted", "precision", "coverage", "of all", "texts/s")
    widths = (6, 8, 10, 10, 9, 7, 8)
    print("\n" + " ".join([" " * 16, *(head.rjust(width) for head, width in zip(heads, widths))]))
    for name, texts, extract, said in sets:
        start = time.perf_counter()
        found = [extract(text) for text in texts]
        seconds = time.perf_counter() - start
        truths = [said(text) for text in texts]
        extracted = [(one, truth) for one, truth in zip(found, truths) if one.answer is not None]
        right = sum(same(one.answer, truth) for one, truth in extracted)
        covered = sum(one.answer is not None for one, truth in zip(found, truths) if truth is not None)
        saying = sum(truth is not None for truth in truths)
        print(
            f"{name:16} {len(texts):6} {saying:8} {len(extracted):10} {right / len(extracted):10.4%} "
            f"{covered / saying:9.3%} {len(extracted) / len(texts):7.2%} {len(texts) / seconds:8.0f}"
        )
        reasons = Counter("ambiguous" if one.ambiguous else one.rule for one in found if one.answer is None)
        print(f"{'':16} not extracted: {dict(reasons)}")


def same(answer: str | None, truth: str | None) -> bool:
    if answer is None or truth is None:
        return False
    if re.fullmatch(r"-?[\d./]+", truth):
        return Fraction(answer) == Fraction(truth)
    return answer.lower() == truth.lower()


def after_statement(text: str) -> str | None:
    """What follows the last "the answer is"; the whole of a direct answer; None where a chain of thought was cut."""
    if "the answer is" in text:
        return text.rsplit("the answer is", 1)[1].strip().rstrip(".")
    return text.strip() if "\n" not in text.strip() and len(text) < 40 else None


def said_option(text: str) -> str | None:
    said = re.fullmatch(r"\(([A-Z])\)", after_statement(text) or "")
    return said.group(1) if said else None


def said_word(text: str) -> str | None:
    said = re.fullmatch(r"yes|no", after_statement(text) or "", re.IGNORECASE)
    return said.group() if said else None


def said_number(text: str) -> str | None:
    said = re.fullmatch(r"-?\d[\d,]*(\.\d+)?", after_statement(text) or "")
    return said.group().replace(",", "") if said else None


def said_line(text: str) -> str | None:
    said: Any = re.findall(r"^A: (-?[\d,]*\.?\d+(?:/\d+)?)$", text, re.MULTILINE)
    return said[-1].replace(",", "") if said else None


if __name__ == "__main__":
    main()
