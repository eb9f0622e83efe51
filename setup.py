"""Package metadata."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "mindeval/__init__.py").read_text()).group(1)

setup(
    name="mindeval",
    version=VERSION,
    description="Exact metrics for training and evaluating language models with MindSpore",
    license="Apache-2.0",
    python_requires=">=3.9,<3.13",
    packages=find_packages(include=["mindeval", "mindeval.*"]),
    package_data={"mindeval": ["py.typed"]},
    install_requires=["mindspore>=2.7", "numpy>=1.25,<2", "sacrebleu", "rouge-score", "nltk", "rapidfuzz"],
)
